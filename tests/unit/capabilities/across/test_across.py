"""Studies side by side, on invented tables: what is known of them must come out, and nothing that they do not hold.

In these tables a difference of more than a point is significant where neither method is a single run, every test of the
largest size is recorded, and below it those against the best method alone, as a study's tables have it.
"""

import csv
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations, permutations
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import sumcurve as sc
from sumcurve.__main__ import main, parser
from sumcurve.capabilities.across.interface import METRICS
from sumcurve.capabilities.across.tables import HOLDS, REVERSES, UNDECIDED, shares
from sumcurve.machine.arguments import CommandError
from sumcurve.store import manifest

ROOT = Path(__file__).parents[4]
RECORDED = [  # not what somebody has made beside them in this checkout
    path for path in sorted((ROOT / "results" / "tables").iterdir()) if (ROOT / "studies" / path.name).is_dir()
]
Curves = Mapping[str, Mapping[int, float]]
SEEDS = (-0.2, 0.0, 0.2)  # what each adds to a mean
PAIRS = ["corpus", "metric", "question", "first", "first_records", "second", "second_records", "difference"]
PAIRS += ["difference_low", "difference_high", "pointwise_low", "ahead"]


def write(path: Path, rows: Sequence[Mapping[str, object]], columns: Sequence[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, columns)
        writer.writeheader()
        for row in rows:
            writer.writerow({name: f"{cell:.4f}" if isinstance(cell, float) else cell for name, cell in row.items()})


def study(
    home: Path,
    name: str,
    curves: Curves,
    form: str = "small",
    blind: Sequence[str] = (),
    single: Sequence[str] = (),
    spread: Mapping[str, Sequence[float]] | None = None,
    unread: str = "",
) -> Path:
    """Tables and settings of an invented study of the corpus `name` (with underscores); `spread` is by method.

    `unread` is the reason why the metric ranks no method.
    """
    folder, corpus = home / "results" / "tables" / name, name.replace("-", "_")
    cells = [(method, size, score) for method, curve in curves.items() for size, score in curve.items()]
    scores, seeds, answers, long = [], [], [], []
    for method, size, score in cells:
        count = 1 if method in single else 3
        known = {"corpus": corpus, "method": method, "role": "trained", "percent": "", "records": size, "seeds": count}
        ends = {"rouge1": score, "rouge1_low": score - 1, "rouge1_high": score + 1}
        scores.append({**known, **ends, "reads_source": "no" if method in blind else "yes"})
        why = unread or ("no significant source sensitivity" if method in blind else "")
        long.append({**known, "part": "study", "search": "common", "metric": "rouge1", "why": why})
        for seed, more in enumerate((spread or {}).get(method, SEEDS)[:count]):
            drawn = {"seed": seed, "search": "common", "part": "study", "draw": "", "rouge1": score + more}
            seeds.append({"corpus": corpus, "method": method, "records": size} | drawn)
    sizes = sorted({size for _, size, _ in cells})
    for size in sizes:
        placed = sorted(
            (-score, method) for method, at, score in cells if at == size and method not in blind and not unread
        )
        for minus, method in placed:
            behind = minus - placed[0][0]
            place = "best" if method == placed[0][1] else "behind" if behind > 1 else "not distinguishable"
            place = "single run" if place != "best" and {method, placed[0][1]} & {*single} else place
            place = "the only one" if len(placed) == 1 else place
            ends = {"behind_best": behind, "behind_best_low": behind - 1, "behind_best_high": behind + 1}
            ends |= dict.fromkeys(ends, "") if place == "best" else {}
            known = {"corpus": corpus, "metric": "ROUGE-1", "records": size, "basis": "measured"}
            answers.append(known | {"method": method, "place": place, **ends})
    comparisons = []
    largest = {method: score for method, size, score in cells if size == sizes[-1]}
    for first, second in combinations(sorted(largest), 2):
        value = largest[first] - largest[second]
        ahead = "not shown" if abs(value) <= 1 else first if value > 0 else second
        ahead = "single run" if {first, second} & {*single} else "no valid measure" if unread else ahead
        pair = {"first": first, "first_records": sizes[-1], "second": second, "second_records": sizes[-1]}
        ends = {"difference": value, "difference_low": value - 1, "difference_high": value + 1, "pointwise_low": ""}
        known = {"corpus": corpus, "metric": "ROUGE-1", "question": "which method"}
        comparisons.append(known | pair | ends | {"ahead": ahead})
    for table, rows in (("scores", scores), ("scores_long", long), ("seeds", seeds), ("answers", answers)):
        write(folder / f"{table}.csv", rows, list(rows[0]) if rows else [])
    write(folder / "comparisons.csv", comparisons, PAIRS)
    settings = home / "config" / "studies" / f"{name}.yaml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(f"form: {form}\nmethods: [{', '.join(curves)}]\n")
    for method in curves:
        path = home / "config" / "methods" / f"{method}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"title: {method.upper()}\n")
    return folder


def line(start: float, step: float, sizes: Sequence[int] = (250, 1000, 4000)) -> dict[int, float]:
    """A curve that rises by `step` with every doubling."""
    return {size: start + step * float(np.log2(size / sizes[0])) for size in sizes}


def rows(result, table: str, **cells: object) -> list[dict]:
    frame = result.to_pandas(table)
    for name, cell in cells.items():
        frame = frame[frame[name] == cell]
    return frame.astype(object).where(frame.notna(), None).to_dict("records")


def test_a_recorded_size_stands_for_one_that_is_near_and_ranks_are_those_of_the_means(tmp_path) -> None:
    one = study(tmp_path, "one", {"a": line(10, 1), "b": line(20, 1), "c": line(15, 1)})
    two = study(tmp_path, "two", {"a": line(30, 1, (380, 761, 6339)), "b": line(20, 1, (380, 761, 6339))})
    result = sc.across([one, two], at=[1000, 10000, 1000])
    assert result.to_dict() == sc.across([one, two], at=[1000, 10000]).to_dict()
    assert {row["records"] for row in rows(result, "across", corpus="two")} == {761, 6339}
    near = rows(result, "across", corpus="one", at=1000)
    assert [(row["method"], row["rank"], row["ranked"], row["records"]) for row in near] == [
        ("b", 1, 3, 1000),
        ("c", 2, 3, 1000),
        ("a", 3, 3, 1000),
    ]
    (none,) = rows(result, "across", corpus="one", at=10000)  # 4,000 is not near
    assert none["records"] is None
    assert none["marks"] == "no recorded size within a factor of 2"
    assert not rows(result, "across_pairs", corpus="one", at=10000)
    assert result.sentences[0] == (
        "Of the methods that are tested, B leads near 1,000 records on one; "
        "A leads near 1,000 records on two and near 10,000 records on two; elsewhere none leads."
    )


def test_rankings_hold_reverse_or_are_undecided_and_a_test_that_is_not_recorded_is_none(tmp_path) -> None:
    levels = {"one": (30, 20, 25, 20.5), "two": (20, 10, 25, 10.5), "three": (20.5, 10, 20, 15)}
    folders = [
        study(tmp_path, name, {m: {1000: v} for m, v in zip("abcd", own, strict=True)}) for name, own in levels.items()
    ]
    result = sc.across(folders, at=[1000])
    ranking = {(row["first"], row["second"]): row["ranking"] for row in rows(result, "across_pairs")}
    assert ranking == {
        ("a", "b"): HOLDS,
        ("a", "c"): REVERSES,
        ("a", "d"): HOLDS,
        ("b", "c"): HOLDS,
        ("b", "d"): UNDECIDED,  # on one corpus alone
        ("c", "d"): HOLDS,
    }
    agreed, reversed_ = result.sentences[1:3]
    for said in ranking.items():
        (first, second), outcome = said
        assert (
            f"{first.upper()} over {second.upper()}" in agreed or f"{second.upper()} over {first.upper()}" in agreed
        ) == (outcome == HOLDS)
    assert "A and C reverse near 1,000 records, with A better on one and C better on two" in reversed_
    path = folders[0] / "comparisons.csv"
    kept = [
        text for text in path.read_text().splitlines() if ",b,1000,d,1000," not in text and ",a,1000,b," not in text
    ]
    path.write_text("\n".join(kept) + "\n")
    result = sc.across(folders, at=[1000])
    (missing,) = rows(result, "across_pairs", first="b", second="d", corpus="one")
    assert (missing["says"], missing["difference"], missing["difference_low"]) == ("not compared", -0.5, None)
    (kept_by_answers,) = rows(result, "across_pairs", first="a", second="b", corpus="one")
    assert (kept_by_answers["says"], kept_by_answers["difference"], kept_by_answers["difference_low"]) == ("a", 10, 9)


def test_below_the_largest_size_only_the_best_is_tested(tmp_path) -> None:
    curves = {"a": line(30, 1), "b": line(20, 1), "c": line(10, 1)}
    result = sc.across([study(tmp_path, "one", curves), study(tmp_path, "two", curves)], at=[1000, 4000])
    says = {(row["at"], row["first"], row["second"]): row["says"] for row in rows(result, "across_pairs", corpus="one")}
    assert says[1000, "a", "c"] == "a"
    assert says[1000, "b", "c"] == "not compared"
    assert says[4000, "b", "c"] == "b"


def test_curves_cross_between_recorded_sizes(tmp_path) -> None:
    a = {250: 20.0, 1000: 20.0, 4000: 20.0, 16000: 20.0}
    curves = {
        "a": a,
        "both": {250: 15.0, 1000: 19.5, 4000: 20.5, 16000: 30.0},
        "early": {250: 15.0, 1000: 20.5, 4000: 20.5, 16000: 20.6},
        "never": {250: 21.0, 1000: 21.0, 4000: 21.0, 16000: 21.0},
        "weak": {250: 19.5, 1000: 20.5, 4000: 20.5, 16000: 20.5},
        "late": {16000: 30.0},
    }
    folders = [
        study(tmp_path, name, {"a": a, other: curves[other]}) for name in curves if name != "a" for other in [name]
    ]
    for other in [name for name in curves if name != "a"]:
        again = study(tmp_path, f"{other}-again", {"a": a, other: curves[other]})
        result = sc.across([folders[[f.name for f in folders].index(other)], again])
        (row,) = rows(result, "crossings", corpus=other)
        seen = [row[key] for key in ("crossing", "before", "before_at", "after", "after_at", "significant")]
        assert (
            seen
            == {
                "both": ["between 1,000 and 4,000", "a", 250, "both", 16000, "on both sides"],
                "early": ["between 250 and 1,000", "a", 250, "early", None, "on one side"],
                "never": ["not within 250–16,000", "never", None, None, None, None],
                "weak": ["between 250 and 1,000", "a", None, "weak", None, "on no side"],
                "late": ["both ranked at 1 size", None, None, None, None, None],
            }[other]
        )


def side_by_side(taken: Path) -> list[Path]:
    """A recorded study, and those that share no corpus with it or among them."""
    folders, there = [], set()
    for path in [taken, *RECORDED]:
        with (path / "scores.csv").open(newline="") as stream:
            corpora = {row["corpus"] for row in csv.DictReader(stream)}
        if corpora.isdisjoint(there):
            folders.append(path)
            there |= corpora
    return folders


@pytest.mark.parametrize("taken", RECORDED, ids=lambda path: path.name)
@pytest.mark.parametrize("metric", ["rouge1", "rouge2", "rougeLsum", "chrf"])
def test_recorded_studies_are_ranked_as_table_answers_has_it(metric, taken) -> None:
    folders = side_by_side(taken)
    recorded: dict[tuple[str, str, int], list[dict[str, str]]] = {}
    sizes = set()
    for folder in folders:
        with (folder / "scores.csv").open(newline="") as stream:
            sizes |= {int(row["records"]) for row in csv.DictReader(stream) if int(row["records"] or 0)}
        answers = folder / "answers.csv"  # which a study without a ranked metric has not
        for row in csv.DictReader(answers.read_text().splitlines()) if answers.is_file() else ():
            if row["basis"] == "measured" and row["metric"] == METRICS[metric].title:
                recorded.setdefault((folder.name, row["corpus"], int(row["records"])), []).append(row)
    result = sc.across(folders, at=sorted(sizes), metric=metric)
    of_size: dict[tuple[str, str, int], list[dict]] = {}
    for row in rows(result, "across"):
        if row["at"] == row["records"]:
            of_size.setdefault((row["study"], row["corpus"], row["records"]), []).append(row)
    assert of_size
    for key, every in of_size.items():
        answers = recorded.get(key, [])
        ranked = sorted((row for row in every if row["rank"]), key=lambda row: row["rank"])
        first = ("best", "the only one", "shares the best mean")
        ranks = {row["method"]: 1 if row["place"] in first else n for n, row in enumerate(answers, start=1)}
        assert {row["method"]: row["rank"] for row in ranked} == ranks
        assert {row["method"]: row["place"] for row in ranked} == {row["method"]: row["place"] for row in answers}
        assert all(row["marks"] for row in every if not row["rank"])
        if not answers:
            pairs = rows(result, "across_pairs", at=key[2], corpus=key[1])
            assert {row["says"] for row in pairs} <= {"not compared"}
            agreement = rows(result, "across_ranks", at=key[2], first=key[1])
            assert all(row["tau"] is None and f"{key[1]} is not ranked: " in row["says"] for row in agreement)


def test_a_metric_that_is_not_validated_ranks_nothing_and_the_recorded_reason_is_shown(tmp_path) -> None:
    curves = {name: line(10 * place, 1) for place, name in enumerate("abcde", start=1)}
    why = "not validated on this corpus: failed: repeated 0.5"
    result = sc.across([study(tmp_path, "one", curves, unread=why), study(tmp_path, "two", curves)], at=[1000])
    near = rows(result, "across", corpus="one")
    assert {(row["rank"], row["place"], row["marks"]) for row in near} == {(None, None, why)}
    pairs = rows(result, "across_pairs", corpus="one")
    assert {(row["says"], row["why"]) for row in pairs} == {("not compared", why)}
    (agreement,) = rows(result, "across_ranks")
    assert (agreement["methods"], agreement["tau"], agreement["says"]) == (0, None, f"one is not ranked: {why}")
    assert "E leads near 1,000 records on two; elsewhere none leads." in result.sentences[0]
    assert not rows(result, "across_efficiency")


def test_single_runs_have_their_recorded_rank_and_no_test_and_other_settings_are_marked(tmp_path) -> None:
    curves = {"a": line(30, 1), "b": line(20, 1), "c": line(10, 1), "e": line(15, 1)}
    one = study(tmp_path, "one", curves, blind=["a"], single=["e"])
    two = study(tmp_path, "two", {"b": line(20, 1), "c": line(10, 1), "d": line(5, 1), "e": line(1, 1)}, form="large")
    result = sc.across([one, two], at=[1000])
    ranks = {row["method"]: (row["rank"], row["place"], row["marks"]) for row in rows(result, "across", corpus="one")}
    differ = "settings differ between studies, or are not known"
    assert ranks == {
        "a": (None, None, "no significant source sensitivity"),
        "b": (1, "best", differ),
        "e": (2, "single run", differ),
        "c": (3, "behind", differ),
    }
    says = {row["first"] + row["second"]: row for row in rows(result, "across_pairs", corpus="one")}
    assert (says["be"]["says"], says["be"]["why"], says["be"]["same_settings"]) == ("not compared", "single run", "no")
    assert says["bc"]["says"] == "b"
    assert result.sentences[0].startswith("Of the methods that are tested, B leads near 1,000 records on one and two;")
    assert result.taken[0].startswith("B, C and E are not trained alike in all studies (one: form small")
    assert repr(result).startswith(result.taken[0])
    (efficiency, *_) = rows(result, "across_efficiency")
    assert efficiency["methods"] == "b, c"  # slopes need seeds to draw
    (tmp_path / "config" / "studies" / "two.yaml").write_text("form: small\nmethods: [b, c, d, e]\n")
    same = sc.across([one, two], at=[1000])
    assert not same.taken
    assert rows(same, "across_pairs", corpus="one")[0]["same_settings"] == "yes"
    (tmp_path / "config" / "studies" / "two.yaml").unlink()
    assert "two: settings not known" in sc.across([one, two], at=[1000]).taken[0]


def test_shares_are_those_of_least_squares() -> None:
    generator = np.random.default_rng(3)
    values = generator.normal(size=(4, 3))
    place, method = np.indices(values.shape).reshape(2, -1)
    columns = {"mean": np.ones((12, 1)), "corpus": np.eye(4)[place][:, 1:], "method": np.eye(3)[method][:, 1:]}

    def left(*names: str) -> float:
        matrix = np.hstack([columns[name] for name in names])
        fitted = matrix @ np.linalg.lstsq(matrix, values.ravel(), rcond=None)[0]
        return float(((values.ravel() - fitted) ** 2).sum())

    total, rest = left("mean"), left("mean", "corpus", "method")
    wanted = [(left("mean", "method") - rest) / total, (left("mean", "corpus") - rest) / total, rest / total]
    np.testing.assert_allclose(shares(values), wanted)
    np.testing.assert_allclose(shares(np.stack([values, 2 * values + 5]))[:, 1], wanted)
    np.testing.assert_allclose(shares(np.add.outer([1.0, 2, 4], [0.0, 5]))[2], 0, atol=1e-12)


def test_slopes_are_of_common_sizes_and_intervals_of_seeds(tmp_path) -> None:
    sizes = (250, 1000, 4000)
    one = {"a": line(10, 1) | {64000: 99.0}, "b": line(10, 3), "lone": line(5, 1)}  # 64,000 is not in both
    two = {"a": line(20, 2, (250, 500, 4000)), "b": line(20, 4, (250, 500, 4000))}
    folders = [study(tmp_path, "one", one), study(tmp_path, "two", two)]
    exact = rows(sc.across(folders), "across_efficiency", measure="points per doubling")
    assert [(row["part"], row["methods"], row["from_records"], row["to_records"]) for row in exact] == [
        (part, "a, b", 250, 4000) for part in ("corpus", "method", "rest")
    ]
    np.testing.assert_allclose([row["share"] for row in exact], [20, 80, 0], atol=1e-6)
    # Each seed shifts a whole curve: means of drawn seeds move, slopes do not.
    np.testing.assert_allclose(
        [[row["share_low"], row["share_high"]] for row in exact], [[20, 20], [80, 80], [0, 0]], atol=1e-6
    )
    logs = np.log([list(line(10, step).values()) for step in (1, 3)])
    first = [np.polyfit(np.log(sizes), own, 1)[0] for own in logs]
    second = [np.polyfit(np.log((250, 500, 4000)), np.log(list(two[name].values())), 1)[0] for name in "ab"]
    elasticity = rows(sc.across(folders), "across_efficiency", measure="elasticity")
    np.testing.assert_allclose([row["share"] / 100 for row in elasticity], shares(np.array([first, second])))
    assert elasticity[0]["share_low"] < elasticity[0]["share_high"]
    (folders[0] / "seeds.csv").unlink()
    result = sc.across(folders)
    assert all(row["share_low"] is None for row in rows(result, "across_efficiency"))
    assert "No interval is estimated" in repr(result)


def test_agreement_is_that_of_pairs_in_order_and_needs_five_methods(tmp_path) -> None:
    def agreement(name: str, first: Sequence[float], second: Sequence[float]) -> dict:
        folders = [
            study(tmp_path, f"{name}-{part}", {f"m{n}": {1000: v} for n, v in enumerate(own)})
            for part, own in (("one", first), ("two", second))
        ]
        (row,) = rows(sc.across(folders, at=[1000]), "across_ranks")
        return row

    few = agreement("few", [1, 2, 3, 4], [10, 20, 30, 40])
    assert (few["methods"], few["tau"], few["says"]) == (4, 1, "cannot be significant with fewer than 5 methods")
    assert few["p"] == pytest.approx(2 / 24)
    second = (3.0, 1.0, 2.0, 5.0, 4.0)
    every = [sum(np.sign(order[j] - order[i]) for i, j in combinations(range(5), 2)) for order in permutations(second)]
    mine = sum(np.sign(second[j] - second[i]) for i, j in combinations(range(5), 2))
    some = agreement("some", [1, 2, 3, 4, 5], second)
    assert some["tau"] == pytest.approx(mine / 10)
    assert some["p"] == pytest.approx(np.mean(np.abs(every) >= mine))
    assert agreement("all", [1, 2, 3, 4, 5], [1, 2, 3, 4, 5])["says"] == "agree significantly"
    assert agreement("none", [1, 2, 3, 4, 5], [5, 4, 3, 2, 1])["says"] == "are reversed significantly"


def test_the_verb_writes_tables_and_a_figure_that_says_what_it_shows(tmp_path, capsys) -> None:
    folders = [study(tmp_path, "one", {"a": line(10, 1), "b": line(20, 1), "c": line(5, 1)})]
    folders.append(study(tmp_path, "two", {"b": line(30, 1), "c": line(9, 2)}))
    words = [
        "across",
        *map(str, folders),
        "--at",
        "1000",
        "--out",
        str(tmp_path / "out"),
        "--json",
        str(tmp_path / "a.json"),
    ]
    arguments = parser().parse_args(words)
    arguments.run(arguments)
    result = sc.across(folders, at=[1000])
    assert capsys.readouterr().out == f"{result!r}\n"
    assert json.loads((tmp_path / "a.json").read_text()) == json.loads(json.dumps(result.to_dict()))
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names >= {"across.csv", "across_pairs.csv", "crossings.csv", "across_ranks.csv", "across_efficiency.csv"}
    svg = ElementTree.fromstring((tmp_path / "out" / "across.svg").read_text())
    words = {child.get("id"): child.text for child in svg if child.get("id")}
    assert str(svg.get("aria-labelledby")).split() == [*words]
    assert "two: ROUGE-1, 250 to 4,000 records: B 30.0 to 34.0, C 9.0 to 17.0." in words["across-desc"]
    assert "A 10.0" not in words["across-desc"]  # on one corpus alone
    assert float(svg.get("width", 999)) <= 390
    drawn = (tmp_path / "out" / "across.svg").read_text()
    colours = Counter(re.findall(r'stroke="(#[0-9A-F]{6})"', drawn))
    del colours["#222222"]  # axes
    assert len(colours) == 2  # one a method, as often in one panel as in the other
    assert len({*colours.values()}) == 1


def test_what_cannot_be_compared_is_named(tmp_path, monkeypatch) -> None:
    one = study(tmp_path, "one", {"a": line(10, 1)})
    two = study(tmp_path, "two", {"a": line(10, 1)})
    for studies, options, message in (
        ([one, tmp_path / "other"], {}, r"other: no folder with a study's tables .*make study STUDY="),
        ([one, two], {"metric": "rogue1"}, "metric 'rogue1' .*did you mean rouge1"),
        ([one, two], {"metric": "chrf"}, r"one/scores.csv has no metric 'chrf'; .*there are: rouge1"),
        ([one, two], {"at": []}, r"at is \[\]; give a number of records"),
        ([one, two], {"at": [0]}, "at is 0; give a whole number of at least 1"),
        ([one], {}, "two corpora are compared at least; name more"),
        ([one, one], {}, r"one is the corpus of several \(one, one\): name one"),
    ):
        with pytest.raises(CommandError, match=message):
            sc.across(studies, **options)
    sealed = {"study": "two", "inputs": {}, "facts": {}, "files": manifest.hashes(two)}
    manifest.write_sealed(two / "manifest-12345678.json", sealed)
    with pytest.raises(CommandError, match="two corpora are compared at least"):
        sc.across([two])
    whole = (two / "comparisons.csv").read_bytes()
    (two / "comparisons.csv").write_bytes(whole[:-20])
    with pytest.raises(CommandError, match=r"comparisons\.csv is not what manifest-12345678\.json records: restore it"):
        sc.across([one, two])
    (two / "comparisons.csv").unlink()
    with pytest.raises(CommandError, match=r"comparisons\.csv is missing, and manifest-12345678\.json records it"):
        sc.load(two)
    (two / "comparisons.csv").write_bytes(whole)
    (two / "manifest-partial.json").write_text("{}")
    with pytest.raises(CommandError, match=r"manifest-partial\.json: these tables are of what was finished; finish it"):
        sc.across([one, two])
    monkeypatch.setattr("sys.argv", ["sumcurve", "across", str(one), "--at", "many"])
    with pytest.raises(SystemExit):
        main()
