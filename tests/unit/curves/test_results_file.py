import csv
import gzip
import io
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

from examples import examples
from sumcurve.curves.results_file import efficiency_rows, results_file, results_of
from sumcurve.files.sheet import read_sheet
from sumcurve.machine.arguments import CommandError

PAPER = "cano-bojar-2020"
SCORES = {"1": "rouge1", "2": "rouge2", "L": "rougeL"}


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text())))


def write(path: Path, header: str, *rows: Iterable[object] | str) -> Path:
    lines = [row if isinstance(row, str) else ",".join(str(cell) for cell in row) for row in rows]
    path.write_text("\n".join([header, *lines]) + "\n")
    return path


def exact(first: dict[str, str], second: dict[str, str]) -> dict[str, Fraction]:
    """All columns in rational numbers, straight from the formulas."""
    d, t = Fraction(first["records"]), Fraction(first["train_seconds"])
    added, longer = Fraction(second["records"]) - d, Fraction(second["train_seconds"]) - t
    values = {"theta_pct": 100 * longer / t / (added / d), "Theta": longer / added}
    for short, column in SCORES.items():
        s = Fraction(first[column])
        more = Fraction(second[column]) - s
        values[f"sigma{short}_pct"] = 100 * (more / s) / (added / d)
        values[f"epsilon{short}"] = (more / s) / (longer / t)
        values[f"Sigma{short}"] = more / added
        values[f"E{short}"] = more / longer
    return values


def test_the_shipped_data_are_the_papers() -> None:
    trained = rows_of(results_file(PAPER))
    assert len(trained) == 33
    assert sum(int(row["train_seconds"]) for row in trained) / 86400 == pytest.approx(83.3, abs=0.05)  # facts' days
    assert {row["method"] for row in trained if row["corpus"] == "OAGS"} == {"ABS", "PCOV", "TRANS", "PGRL"}


CENTS = st.integers(100, 9999)  # scores of 1.00 to 99.99
TIMES = st.integers(10, 10**6)


@st.composite
def curves(draw) -> list[dict[str, str]]:
    rows = []
    for method in ("A", "B"):
        records, seconds = 0, 0
        for split in (1, 2, 3):
            records += draw(st.integers(1, 10**6))
            seconds += draw(TIMES)
            scores = {column: str(Decimal(draw(CENTS)) / 100) for column in SCORES.values()}
            keys = {"corpus": "C", "method": method, "split": str(split), "records": str(records)}
            rows.append({**keys, **scores, "train_seconds": str(seconds)})
    return rows


def saved(path: Path, rows: list[dict[str, str]]) -> Path:
    with path.open("w") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


@examples(40)
@given(rows=curves())
def test_every_column_is_its_formula_in_rational_numbers(rows, tmp_path_factory) -> None:
    results = results_of(read_sheet(saved(tmp_path_factory.mktemp("table") / "results.csv", rows)))
    trained = {(row["method"], row["split"]): row for row in rows}
    found = efficiency_rows(results)
    assert [(row.method, row.interval) for row in found] == [(m, i) for m in "AB" for i in ("12", "23", "13")]
    for row in found:
        values = exact(*(trained[row.method, split] for split in row.interval))
        assert row.values == pytest.approx({column: float(value) for column, value in values.items()}, rel=1e-9)


TWO = "corpus,method,split,records,rouge1,seconds"


def test_seeds_count_by_mean_scores_and_geometric_mean_seconds_in_any_order(tmp_path) -> None:
    header = "seed,corpus,method,split,records,rouge1,rougeL,seconds,parameters"
    rows = ["x,C,A,2,200,30,20,100,5", "x,C,A,1,100,20.5,11,40,5", "y,C,A,1,100,21.5,12,90,5", "y,C,A,2,200,32,21,81,5"]
    seeded = results_of(read_sheet(write(tmp_path / "seeds.csv", header, *rows)))
    lines = "C,A,1,100,21,60,11.5", "C,A,2,200,31,90,20.5"
    means = results_of(read_sheet(write(tmp_path / "means.csv", f"{TWO},rougeL", *lines)))
    (one,), (other,) = efficiency_rows(seeded), efficiency_rows(means)
    assert one.values == pytest.approx(other.values)
    assert (one.first.seeds, one.second.seeds) == (2, 2)
    assert seeded.seeded
    assert not means.seeded
    assert seeded.scores == ("rouge1", "rougeL")
    assert seeded.left_out == ("parameters",)


def test_seeds_give_intervals_from_their_pooled_variance(tmp_path) -> None:
    generator = np.random.default_rng(3)
    scores = {(method, split): generator.normal(20 + 3 * split, 0.4, 3) for method in "AB" for split in (1, 2)}
    seconds = {place: np.exp(generator.normal(2 + place[1], 0.05, 3)) for place in scores}
    rows = [
        f"C,{method},{split},{100 * split},{scores[method, split][seed]},{seconds[method, split][seed]},{seed}"
        for method, split in scores
        for seed in range(3)
    ]
    one = efficiency_rows(results_of(read_sheet(write(tmp_path / "results.csv", f"{TWO},seed", *rows))))[0]
    variance = np.mean([values.var(ddof=1) for values in scores.values()])  # cells of three seeds each
    reach = student.ppf(0.975, 8) * (variance * 2 / 3) ** 0.5
    gain = scores["A", 2].mean() - scores["A", 1].mean()
    assert one.intervals["Sigma1"] == pytest.approx(((gain - reach) / 100, (gain + reach) / 100))
    logs = {place: np.log(values) for place, values in seconds.items()}
    spread = np.mean([values.var(ddof=1) for values in logs.values()])
    growth = logs["A", 2].mean() - logs["A", 1].mean()
    reach = student.ppf(0.975, 8) * (spread * 2 / 3) ** 0.5
    ends = [100 * (np.exp(growth + sign * reach) - 1) for sign in (-1, 1)]
    assert one.intervals["theta_pct"] == pytest.approx(tuple(ends))
    for column in ("sigma1_pct", "epsilon1", "E1", "Theta"):
        low, high = one.intervals[column]
        assert low < one.values[column] < high
        assert one.as_dict()[f"{column}_low"] == low


@pytest.mark.parametrize(
    ("header", "rows", "missing", "reason"),
    [
        (TWO, ["C,A,1,100,20,", "C,A,2,200,21,"], "theta_pct epsilon1 Theta E1", "E1: no training cost is known"),
        (TWO, ["C,A,1,100,0,9", "C,A,2,200,21,8"], "sigma1_pct epsilon1", "epsilon1: the smaller training scores 0"),
        (TWO, ["C,A,1,100,-20,5", "C,A,2,200,21,6"], "sigma1_pct", "the smaller training scores 0 or less"),
        (TWO, ["C,A,1,100,1e-300,5", "C,A,2,200,1e20,6"], "sigma1_pct epsilon1", "beyond any number"),
        (
            f"{TWO},seed",
            ["C,A,1,100,20,0,x", "C,A,1,100,20,5,y", "C,A,2,200,21,6,x"],
            "theta_pct epsilon1",
            "theta_pct, epsilon1: the smaller training costs 0",
        ),
        (
            f"{TWO},seed",
            ["C,A,1,100,20,0,1", "C,A,1,100,20,5,2", "C,A,2,200,21,6,1", "C,A,2,200,23,7,2"],
            "theta_pct",
            "interval of E1: a seed has 0 seconds",
        ),
    ],
)
def test_what_cannot_be_computed_has_a_reason_and_the_rest_its_value(tmp_path, header, rows, missing, reason) -> None:
    (row,) = efficiency_rows(results_of(read_sheet(write(tmp_path / "results.csv", header, *rows))))
    unknown = {column for column, value in row.values.items() if value is None}
    assert set(missing.split()) <= unknown < set(row.values)
    assert reason in row.reason
    assert not row.intervals or "no training cost is known" not in row.reason


def test_many_splits_have_hyphens_and_marks(tmp_path) -> None:
    rows = [["C", "A", split, 100 * split, 20 + split, 50 * split] for split in range(1, 13)]
    results = results_of(read_sheet(write(tmp_path / "results.csv", TWO, *rows)))
    rows = efficiency_rows(results)
    names = [row.interval for row in rows]
    assert names == ["12", "23", "34", "45", "56", "67", "78", "89", "9-10", "10-11", "11-12", "1-12"]
    assert {row.interval: row.place for row in rows if row.place} == {
        "12": "leftmost",
        "67": "middle",
        "11-12": "rightmost",
        "1-12": "whole",
    }


def test_scores_may_be_named_and_blanks_and_a_byte_order_mark_do_no_harm(tmp_path) -> None:
    text = "\ufeffcorpus, method ,split,records,quality,notes,size\nC,A,1,100,2.5,3,7\n\nC,A,2,1000,3.5, ,8\n"
    path = tmp_path / "results.csv.gz"
    path.write_bytes(gzip.compress(text.encode()))
    results = results_of(read_sheet(path), ["quality"])
    assert (results.scores, results.left_out, results.seconds) == (("quality",), ("notes", "size"), None)
    (row,) = efficiency_rows(results)
    assert row.values["sigma_quality_pct"] == pytest.approx(100 * 0.4 / 9)
    with pytest.raises(CommandError, match=r":4: column notes holds ''.*--scores"):
        results_of(read_sheet(path))
    for scores in (["rouge9"], ["records"], ["quality", "quality"], [""]):
        with pytest.raises(CommandError, match="cannot be taken as a score"):
            results_of(read_sheet(path), scores)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        (f"{TWO}\n", "only a header"),
        ("corpus,method,split,rouge1\nC,A,1,3\n", "no column records"),
        (f"{TWO}\nC,A,1,100,20,5\n".replace("corpus", "Corpus"), "no column corpus"),
        (f'{TWO}\nC,A,1,"1,000",20,5\nC,A,2,200,22,5\n', ":2: column records holds '1,000'"),
        ("corpus,method,split,records,seconds\nC,A,1,100,5\nC,A,2,200,6\n", "no column of scores"),
        (f"{TWO},rouge1\nC,A,1,100,20,5,20\n", "column rouge1 stands twice"),
        (f"{TWO},\nC,A,1,100,20,5,7\n", "a column has no name"),
        (f"{TWO},train_seconds\nC,A,1,100,20,5,5\n", "train_seconds and seconds both mean"),
        (f"{TWO}\nC,A,1,100,1e308,5\nC,A,2,200,20,5\n", ":2: column rouge1 holds '1e308': no result is beyond 1e"),
        (f"{TWO},ROUGE-1\nC,A,1,100,20,5,5\nC,A,2,200,20,5,5\n", "one short name"),
        (f"{TWO}\nC,A,1,100,20\n", ":2: 5 cells, 6 columns"),
        (f"{TWO}\nC,A,1,96,000,20,5\n", ":2: 7 cells, 6 columns"),
        (f"{TWO}\nC,,1,100,20,5\n", ":2: column method holds ''"),
        (f"{TWO}\nC,A,1,100,20,5\nC,A,2,200,2l,5\n", ":3: column rouge1 holds '2l'"),
        (f"{TWO}\nC,A,1,100,20,5\nC,A,2,200,nan,5\n", ":3: column rouge1 holds 'nan'"),
        (f"{TWO}\nC,A,1,100,20,5\nC,A,2,200,21,-5\n", ":3: column seconds holds '-5'"),
        (f"{TWO}\nC,A,1,96K,20,5\n", ":2: column records holds '96K'"),
        (f"{TWO}\nC,A,1,10.5,20,5\n", ":2: column records holds '10.5'"),
        (f"{TWO}\nC,A,half,100,20,5\n", ":2: column split holds 'half'"),
        (f"{TWO}\nC,A,0,100,20,5\n", ":2: column split holds '0'"),
        (f"{TWO}\nC,A,1,200,20,5\n\nC,A,2,200,21,6\n", ":4: column records holds '200': split 1 has 200"),
        (f"{TWO}\nC,A,1,100,20,5\nC,A,1,100,20,5\n", ":3: column split holds '1': .*:2 has it, too.*seed"),
        (f"{TWO}\nC,A,1,100,20,5\nC,B,2,200,20,5\n", "no method has two splits"),
        (f"{TWO},seed\nC,A,1,100,20,5,1\nC,A,1,100,20,5,01\n", ":3: column seed holds '01': an earlier row"),
        (f"{TWO},seed\nC,A,1,100,20,5,1\nC,A,1,100,20,5,1.0\n", r":3: column seed holds '1\.0': an earlier row"),
        (f"{TWO},seed\nC,A,1,100,20,5,1\nC,A,1,101,20,5,2\n", ":3: column records holds '101'"),
        (f"{TWO},seed\nC,A,1,100,20,5,1\nC,A,1,100,20,,2\n", ":3: column seconds holds ''"),
        (f"{TWO},seed\nC,A,1,100,20,5,1\nC,A,1,100,20,5,\n", ":3: column seed holds ''"),
        (f'{TWO}\n"C\nD",A,1,100,20,5\nC,A,1,many,20,5\n', ":4: column records holds 'many'"),
        (f'{TWO}\nC,"A,1,100,20,5,6\n', ":2: no row of a table"),
        (b"corpus,method\n\x81\xfe", ":2: neither UTF-8 nor windows-1252"),
    ],
)
def test_a_results_file_that_cannot_be_used_is_refused_with_line_and_remedy(tmp_path, text, message) -> None:
    path = tmp_path / "results.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(CommandError, match=message) as caught:
        results_of(read_sheet(path))
    assert str(path) in str(caught.value)


def test_a_file_that_is_not_there_names_the_shipped_ones(tmp_path) -> None:
    with pytest.raises(CommandError, match=f"nothing.csv: no such file.*{PAPER}"):
        results_file(str(tmp_path / "nothing.csv"))
