import csv
import gzip
import io
from collections.abc import Iterable
from decimal import ROUND_DOWN, ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import t as student

from sumcurve.curves.errors import ResultsError
from sumcurve.curves.published import Comparison, bounds, compare, published_file, read_published
from sumcurve.curves.results_file import efficiency_rows, quotients, read_results, results_file

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


def decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


# Cells of Čano and Bojar's Tables 3 and 4 that their own Table 2 does not give.
SLIPS = {
    ("CNNDM", "ABS", "12", "epsilon2"),
    ("CNNDM", "NATS", "23", "sigma1_pct"),
    ("CNNDM", "NATS", "23", "sigma2_pct"),
    ("CNNDM", "TRANS", "12", "epsilon2"),
    ("CNNDM", "FASTRL", "12", "epsilonL"),
    ("OAGS", "PCOV", "23", "sigma2_pct"),
}


def paper(by_column: bool = False) -> Comparison:
    results = read_results(results_file(PAPER))
    published = read_published(published_file(PAPER), results.scores)
    return compare(results, published, by_column)


def test_the_shipped_data_are_the_papers() -> None:
    trained = rows_of(results_file(PAPER))
    assert len(trained) == 33
    assert sum(int(row["train_seconds"]) for row in trained) / 86400 == pytest.approx(83.3, abs=0.05)  # facts' days
    assert {row["method"] for row in trained if row["corpus"] == "OAGS"} == {"ABS", "PCOV", "TRANS", "PGRL"}
    assert read_results(results_file(PAPER)).rounding == {**dict.fromkeys(SCORES.values(), 0.005), "train_seconds": 0.5}
    assert paper().cells == 154
    assert not paper().unpublished


@pytest.mark.parametrize("by_column", [False, True])
def test_the_mismatches_are_those_of_exact_decimal_arithmetic(by_column) -> None:
    trained = {(row["corpus"], row["method"], row["split"]): row for row in rows_of(results_file(PAPER))}
    table = rows_of(published_file(PAPER))
    longest = {column: max(len(row[column].partition(".")[2]) for row in table) for column in table[0]}
    expected = {}
    for row in table:
        values = exact(*(trained[row["corpus"], row["method"], split] for split in row["interval"]))
        for column in list(row)[3:]:
            digits = longest[column] if by_column else len(row[column].partition(".")[2])
            value = decimal(values[column])
            unit = Decimal(1).scaleb(-digits)
            if all(value.quantize(unit, mode) != Decimal(row[column]) for mode in (ROUND_HALF_UP, ROUND_HALF_DOWN)):
                expected[row["corpus"], row["method"], row["interval"], column] = value, Decimal(row[column]), unit
    found = paper(by_column)
    assert {(one.corpus, one.method, one.interval, one.column) for one in found.mismatches} == set(expected)
    assert len(found.mismatches) == len(expected) > 0
    for one in found.mismatches:
        value, printed, unit = expected[one.corpus, one.method, one.interval, one.column]
        assert one.computed == pytest.approx(float(value), rel=1e-12)
        assert one.published == printed
        assert ("truncated" in one.note) == (value.quantize(unit, ROUND_DOWN) == printed)
    if not by_column:
        assert set(expected) == SLIPS
        strict = paper(True).mismatches
        assert {(one.method, one.interval, one.column) for one in found.mismatches + found.coarse} == {
            (one.method, one.interval, one.column) for one in strict
        }


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


@settings(max_examples=40, deadline=None)
@given(data=st.data(), rows=curves())
def test_a_correct_table_has_no_mismatch_and_a_wrong_cell_is_the_only_one(data, rows, tmp_path_factory) -> None:
    folder = tmp_path_factory.mktemp("table")
    results = read_results(saved(folder / "results.csv", rows))
    trained = {(row["method"], row["split"]): row for row in rows}
    columns = [column.name for column in quotients(results.scores)]
    table = []
    for method in ("A", "B"):
        for interval in ("12", "23", "13"):
            values = exact(*(trained[method, split] for split in interval))
            cells = {}
            for column in columns:
                unit = Decimal(1).scaleb(-data.draw(st.integers(0, 7)))
                mode = data.draw(st.sampled_from([ROUND_HALF_UP, ROUND_HALF_DOWN]))
                cells[column] = f"{decimal(values[column]).quantize(unit, mode):f}"
            table.append({"corpus": "C", "method": method, "interval": interval, **cells})
    published = read_published(saved(folder / "published.csv", table), results.scores)
    found = compare(results, published)
    assert found.mismatches == []
    assert found.cells == len(table) * len(columns)

    wrong, column = data.draw(st.sampled_from(table)), data.draw(st.sampled_from(columns))
    unit = Decimal(1).scaleb(Decimal(wrong[column]).as_tuple().exponent)
    off = data.draw(st.sampled_from([-20, -2, 2, 20]))  # one unit off may be the other side of a tie
    wrong[column] = f"{Decimal(wrong[column]) + off * unit:f}"
    published = read_published(saved(folder / "published.csv", table), results.scores)
    (cell,) = compare(results, published).mismatches
    assert (cell.method, cell.interval, cell.column) == (wrong["method"], wrong["interval"], column)
    assert list(cell.as_dict()) == ["corpus", "method", "interval", "column", "published", "computed"]
    assert cell.as_dict()["published"] == float(wrong[column])


NUMBERS = st.lists(st.fractions(2, 90, max_denominator=10**4), min_size=2, max_size=2)
WAITS = st.lists(st.fractions(100, 10**5, max_denominator=100), min_size=2, max_size=2)


@settings(max_examples=60, deadline=None)
@given(scores=NUMBERS, seconds=WAITS)
def test_bounds_hold_what_unrounded_results_would_give(scores, seconds, tmp_path_factory) -> None:
    assume(seconds[1] > seconds[0] + 1)
    full = [
        {"records": str(records), "train_seconds": t, **dict.fromkeys(SCORES.values(), s)}
        for records, s, t in zip((1000, 2500), scores, seconds, strict=True)
    ]
    rows = [
        {
            "corpus": "C",
            "method": "A",
            "split": str(split),
            "records": one["records"],
            **{column: f"{decimal(one[column]).quantize(Decimal('0.01')):f}" for column in SCORES.values()},
            "train_seconds": f"{decimal(one['train_seconds']).quantize(Decimal(1)):f}",
        }
        for split, one in enumerate(full, start=1)
    ]
    results = read_results(saved(tmp_path_factory.mktemp("bounds") / "results.csv", rows))
    (row,) = efficiency_rows(results)
    for column, value in exact(*full).items():
        ends = bounds(row, column, results)
        if ends is None:  # the rounded seconds may have grown by no more than their rounding
            assert seconds[1] - seconds[0] < 3
            continue
        low, high = ends
        slack = 1e-9 * max(abs(low), abs(high))
        assert low - slack <= float(value) <= high + slack


TWO = "corpus,method,split,records,rouge1,seconds"
CLOSE = ["C,A,1,100,20.00,1000", "C,A,2,200,20.43,1333"]  # sigma 2.15, theta 33.3, epsilon 0.064565


@pytest.mark.parametrize(
    ("cells", "notes"),
    [
        ({"sigma1_pct": "2.15", "theta_pct": "33.30", "epsilon1": "0.0646"}, {}),
        ({"sigma1_pct": "2.1"}, {}),  # a tie goes either way
        ({"sigma1_pct": "2.2"}, {}),
        ({"epsilon1": "0.0645"}, {"epsilon1": "truncated, within input rounding"}),
        ({"theta_pct": "33.38"}, {"theta_pct": "within input rounding"}),
        ({"theta_pct": "33.48"}, {"theta_pct": "slip"}),
        ({"epsilon1": "0.07"}, {"epsilon1": "within input rounding"}),  # 0.0054 off, at a unit of 0.01
        ({"theta_pct": "-33.30"}, {"theta_pct": "slip"}),
        (
            {"sigma1_pct": "3.1", "theta_pct": "33.3", "epsilon1": "0.093"},
            {"sigma1_pct": "slip", "epsilon1": "printed"},
        ),
        ({"theta_pct": ""}, {}),
    ],
)
def test_what_may_explain_a_mismatch_is_noted(tmp_path, cells, notes) -> None:
    results = read_results(write(tmp_path / "results.csv", TWO, *CLOSE))
    path = write(tmp_path / "published.csv", ",".join(["corpus,method,interval", *cells]), ["C,A,12", *cells.values()])
    found = compare(results, read_published(path, results.scores))
    assert found.cells == sum(bool(cell) for cell in cells.values())
    assert {cell.column for cell in found.mismatches} == set(notes)
    for cell in found.mismatches:
        assert notes[cell.column] in cell.note


def test_what_is_not_there_is_listed(tmp_path) -> None:
    rows = ["C,A,1,100,20,", "C,A,2,200,21,", "C,B,1,100,0,9", "C,B,2,200,21,8", "C,D,1,100,1,1", "C,D,2,300,2,2"]
    results = read_results(write(tmp_path / "results.csv", TWO, *rows))
    header = "corpus,method,interval,sigma1_pct,theta_pct"
    path = write(tmp_path / "published.csv", header, "C,A,12,5,7", "C,B,1-2,5,-11.11", "C,New,12,1,", "C,A,23,3,")
    found = compare(results, read_published(path, results.scores))
    assert {(cell.method, cell.interval, cell.column, cell.computed) for cell in found.mismatches} == {
        ("A", "12", "theta_pct", None),
        ("B", "1-2", "sigma1_pct", None),
        ("New", "12", "sigma1_pct", None),
        ("A", "23", "sigma1_pct", None),
    }
    assert [row.method for row in found.unpublished] == ["D"]
    path = write(tmp_path / "published.csv", header, "Other,A,12,5,7")
    with pytest.raises(ResultsError, match="no row of the published table"):
        compare(results, read_published(path, results.scores))


def test_seeds_count_by_mean_scores_and_geometric_mean_seconds_in_any_order(tmp_path) -> None:
    header = "seed,corpus,method,split,records,rouge1,rougeL,seconds,parameters"
    rows = ["x,C,A,2,200,30,20,100,5", "x,C,A,1,100,20.5,11,40,5", "y,C,A,1,100,21.5,12,90,5", "y,C,A,2,200,32,21,81,5"]
    seeded = read_results(write(tmp_path / "seeds.csv", header, *rows))
    means = read_results(write(tmp_path / "means.csv", f"{TWO},rougeL", "C,A,1,100,21,60,11.5", "C,A,2,200,31,90,20.5"))
    (one,), (other,) = efficiency_rows(seeded), efficiency_rows(means)
    assert one.values == pytest.approx(other.values)
    assert (one.first.seeds, one.second.seeds) == (2, 2)
    low, high = bounds(one, "theta_pct", seeded)  # of seconds that were rounded to whole ones
    times = [((40 + a) * (90 + b)) ** 0.5 for a in (-0.5, 0.5) for b in (-0.5, 0.5)]
    later = [((100 + a) * (81 + b)) ** 0.5 for a in (-0.5, 0.5) for b in (-0.5, 0.5)]
    assert (low, high) == pytest.approx(
        (100 * (min(later) / max(times) - 1), 100 * (max(later) / min(times) - 1)), rel=1e-12
    )
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
    one = efficiency_rows(read_results(write(tmp_path / "results.csv", f"{TWO},seed", *rows)))[0]
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
    (row,) = efficiency_rows(read_results(write(tmp_path / "results.csv", header, *rows)))
    unknown = {column for column, value in row.values.items() if value is None}
    assert set(missing.split()) <= unknown < set(row.values)
    assert reason in row.reason
    assert not row.intervals or "no training cost is known" not in row.reason


def test_many_splits_have_hyphens_and_marks(tmp_path) -> None:
    rows = [["C", "A", split, 100 * split, 20 + split, 50 * split] for split in range(1, 13)]
    results = read_results(write(tmp_path / "results.csv", TWO, *rows))
    rows = efficiency_rows(results)
    names = [row.interval for row in rows]
    assert names == ["12", "23", "34", "45", "56", "67", "78", "89", "9-10", "10-11", "11-12", "1-12"]
    assert {row.interval: row.place for row in rows if row.place} == {
        "12": "leftmost",
        "67": "middle",
        "11-12": "rightmost",
        "1-12": "whole",
    }
    header = "corpus,method,interval,sigma1_pct"
    table = [["C", "A", row.interval, f"{row.values['sigma1_pct']:.6f}"] for row in rows]
    published = read_published(write(tmp_path / "published.csv", header, *table), ["rouge1"])
    found = compare(results, published)
    assert (found.cells, found.mismatches, found.unpublished) == (12, [], [])


def test_scores_may_be_named_and_blanks_and_a_byte_order_mark_do_no_harm(tmp_path) -> None:
    text = "\ufeffcorpus, method ,split,records,quality,notes,size\nC,A,1,100,2.5,3,7\n\nC,A,2,1000,3.5, ,8\n"
    path = tmp_path / "results.csv.gz"
    path.write_bytes(gzip.compress(text.encode()))
    results = read_results(path, ["quality"])
    assert (results.scores, results.left_out, results.seconds) == (("quality",), ("notes", "size"), None)
    (row,) = efficiency_rows(results)
    assert row.values["sigma_quality_pct"] == pytest.approx(100 * 0.4 / 9)
    with pytest.raises(ResultsError, match=r":4: column notes holds ''.*--scores"):
        read_results(path)
    for scores in (["rouge9"], ["records"], ["quality", "quality"], [""]):
        with pytest.raises(ResultsError, match="cannot be taken as a score"):
            read_results(path, scores)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        (f"{TWO}\n", "only a header"),
        ("corpus,method,split,rouge1\nC,A,1,3\n", "no column records"),
        (f"{TWO}\nC,A,1,100,20,5\n".replace(",", ";"), "cells are parted by ';': part them by commas"),
        (f"{TWO}\nC,A,1,100,20,5\n".replace("corpus", "Corpus"), "'Corpus' is no 'corpus'.* small letters"),
        (f'{TWO}\nC,A,1,100,"20,5",5\nC,A,2,200,"22,5",5\n', ":2: column rouge1 holds '20,5': write 20.5"),
        ("corpus,method,interval,sigma1_pct\nC,A,12,3\n", "--compare"),
        ("corpus,method,split,records,seconds\nC,A,1,100,5\nC,A,2,200,6\n", "no column of scores"),
        (f"{TWO},rouge1\nC,A,1,100,20,5,20\n", "column rouge1 stands twice"),
        (f"{TWO},\nC,A,1,100,20,5,\n", "a column has no name"),
        (f"{TWO},train_seconds\nC,A,1,100,20,5,5\n", "train_seconds and seconds both mean"),
        (f"{TWO}\nC,A,1,100,1e308,5\nC,A,2,200,20,5\n", ":2: column rouge1 holds '1e308': no result is beyond 1e"),
        (f"{TWO},ROUGE-1\nC,A,1,100,20,5,5\nC,A,2,200,20,5,5\n", "one short name"),
        (f"{TWO}\nC,A,1,100,20\n", ":2: 5 cells, but the header has 6"),
        (f"{TWO}\nC,A,1,96,000,20,5\n", ":2: 7 cells, but the header has 6"),
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
        (f'{TWO}\nC,"A,1,100,20,5\n', ":2: not a CSV"),
        (b"corpus,method\n\xff\xfe", "not a CSV in UTF-8"),
    ],
)
def test_a_results_file_that_cannot_be_used_is_refused_with_line_and_remedy(tmp_path, text, message) -> None:
    path = tmp_path / "results.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ResultsError, match=message) as caught:
        read_results(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("corpus,method,split,sigma1_pct\nC,A,1,2\n", "comes first"),
        ("corpus,method,interval\nC,A,12\n", "no column to compare"),
        ("corpus,method,interval,sigma3_pct\nC,A,12,3\n", "column sigma3_pct cannot be compared"),
        ("corpus,method,interval,sigma1_pct\nC,A,12,3%\n", ":2: column sigma1_pct holds '3%'"),
        ("corpus,method,interval,sigma1_pct\nC,A,12,3\nC,A,1-2,3\n", ":3: column interval holds '1-2': an earlier"),
        *(
            (f"corpus,method,interval,sigma1_pct\nC,A,{interval},3\n", f":2: column interval holds '{interval}'")
            for interval in ("21", "11", "1", "123", "first", "0-2", "10-9", "")
        ),
    ],
)
def test_a_published_file_that_cannot_be_used_is_refused(tmp_path, text, message) -> None:
    path = tmp_path / "published.csv"
    path.write_text(text)
    with pytest.raises(ResultsError, match=message):
        read_published(path, ["rouge1"])


def test_a_file_that_is_not_there_names_the_shipped_ones(tmp_path) -> None:
    for find in (results_file, published_file):
        with pytest.raises(ResultsError, match=f"nothing.csv: no such file.*{PAPER}"):
            find(str(tmp_path / "nothing.csv"))
