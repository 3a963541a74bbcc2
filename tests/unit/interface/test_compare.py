"""Comparisons of anybody's items, against the study's own tables and against the forms that they come in."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import sumcurve as sc
from sumcurve.machine.arguments import CommandError
from sumcurve.statistics.design import Design, Replicates
from sumcurve.statistics.family import family
from sumcurve.tables.results import Results

ITEMS = 60


def scores(systems: dict[str, float], seeds: tuple[int, ...] = (), seed: int = 0) -> pd.DataFrame:
    """A row for every item, system and seed: items are easy or hard for all, in groups of three."""
    generator = np.random.default_rng(seed)
    easy = generator.normal(0, 10, ITEMS)
    rows = []
    for name, level in systems.items():
        for run in seeds or ("",):
            luck = generator.normal(0, 1) if seeds else 0
            values = 50 + level + luck + easy + generator.normal(0, 4, ITEMS)
            rows += [(f"i{item}", f"g{item // 3}", name, run, value) for item, value in enumerate(values.tolist())]
    frame = pd.DataFrame(rows, columns=["item", "group", "system", "seed", "score"])
    return frame if seeds else frame.drop(columns="seed")


def test_a_study_s_items_give_the_study_s_own_pairs(study, evidence, settings) -> None:
    """All sizes and seeds of a corpus, and its blind baselines; seeds that draw records, and no size of all records."""
    outputs = [
        replace(output, percent=None)
        for output in evidence((1, 2, 3))
        if output.corpus == "notes" and output.part == "study" and output.search != "paper" and output.role != "bound"
    ]
    results = Results(replace(study, outputs=outputs, statistics=[], evidence={}), settings)
    rows = [
        {"item": name, "group": group, "system": output.method, "records": output.records, "seed": output.seed}
        | dict(zip((metric.name for metric in items.metrics), values, strict=True))
        for output in results.outputs
        for items in [output.scores["rouge"]]
        for name, group, values in zip(items.ids, items.groups, items.values.T.tolist(), strict=True)
    ]
    found = sc.compare(pd.DataFrame(rows))
    largest = max(results.sizes("notes"))
    pairs = found.to_pandas("pairs").dropna(subset="p").set_index(["metric", "first", "second"])
    assert len(pairs.index.unique("metric")) == 3
    for metric in pairs.index.unique("metric"):
        own = results.pairs("notes", metric, largest)
        tested = {cells: pair for cells, pair in own.items() if pair.p is not None}
        assert len(tested) > 2
        assert {*pairs.loc[metric].index} == {(first[0], second[0]) for first, second in tested}
        for (first, second), pair in tested.items():
            row = pairs.loc[(metric, first[0], second[0])]
            assert row.difference == pytest.approx(pair.difference.mean, abs=1e-9)
            assert (row.difference_low, row.difference_high) == pytest.approx(pair.interval, abs=1e-9)
            assert (row.p, row.detectable) == pytest.approx((pair.p, pair.seen))
            assert row.better == (pair.ahead[0] if pair.ahead else "no significant difference")


def test_single_runs_are_tested_over_items_as_one_family() -> None:
    frame = scores({"a": 6, "b": 1, "c": 0})
    found = sc.compare(frame)
    wide = frame.pivot(index="item", columns="system", values="score").loc[frame.item.unique()]
    design = Design([Replicates(name, None, (), wide[[name]].to_numpy().T) for name in wide], frame.group[:ITEMS], None)
    own = family(design, [(("a", None), ("b", None)), (("a", None), ("c", None)), (("b", None), ("c", None))])
    pairs = found.to_pandas("pairs")
    assert pairs.p.tolist() == pytest.approx([test.p_family for test in own.tests])
    assert pairs.difference_low.tolist() == pytest.approx([test.interval[0] for test in own.tests])
    assert pairs.better.tolist() == ["a", "a", "no significant difference"]
    assert (pairs.wins + pairs.ties + pairs.losses == ITEMS).all()
    assert found.sentences[0].startswith("a is significantly better than b (by ")


def test_the_form_of_the_items_decides_nothing(tmp_path) -> None:
    frame = scores({"a": 3, "b": 0})
    frame.to_csv(tmp_path / "long.csv", index=False)
    shuffled = frame.sample(frac=1, random_state=1).rename(columns={"item": "doc", "system": "who", "score": "x"})
    wide = frame.pivot(index=["item", "group"], columns="system", values="score").reset_index()
    wide.to_csv(tmp_path / "wide.tsv", index=False, sep="\t")
    for name, own in frame.groupby("system"):
        own.drop(columns="system").to_json(tmp_path / f"{name}.jsonl", orient="records", lines=True)
    files = [tmp_path / f"{name}.jsonl" for name in "ab"]
    forms = [
        sc.compare(tmp_path / "long.csv"),
        sc.compare(shuffled.sort_values("who"), item="doc", system="who", metric="x"),
        sc.compare(tmp_path / "wide.tsv"),
        sc.compare(files),
        sc.compare(dict(zip("ab", files, strict=True))),
    ]
    for form in forms:
        pairs = form.to_pandas("pairs").drop(columns="metric")
        pd.testing.assert_frame_equal(pairs, forms[0].to_pandas("pairs").drop(columns="metric"), atol=1e-9)
    assert "<table " in forms[0]._repr_html_()
    assert json.dumps(forms[0].to_dict())


def test_the_unit_and_the_direction_of_scores_change_no_verdict() -> None:
    frame = scores({"a": 3, "b": 0, "c": -2})
    plain, small = sc.compare(frame), sc.compare(frame.assign(score=frame.score * 1e-7))
    turned = sc.compare(frame.assign(score=-frame.score), lower_is_better=True)
    of = {name: form.to_pandas("pairs") for name, form in (("plain", plain), ("small", small), ("turned", turned))}
    assert of["small"].difference.tolist() == pytest.approx((1e-7 * of["plain"].difference).tolist())
    for name in ("small", "turned"):
        assert of[name].p.tolist() == pytest.approx(of["plain"].p.tolist())
        assert of[name].better.tolist() == of["plain"].better.tolist()
        assert of[name].wins.tolist() == of["plain"].wins.tolist()


def samples(folder, task: str, values: list[float], filters: tuple[str, ...] = ("none",)) -> None:
    folder.mkdir(exist_ok=True, parents=True)
    rows = [
        {
            "doc_id": number,
            "doc": {"question": f"q{number}", "subject": f"s{number // 3}"},
            "target": "4",
            "arguments": [["q", ""]],
            "resps": [["5"]],
            "filtered_resps": ["5"],
            "filter": name,
            "metrics": ["exact_match"],
            "doc_hash": f"h{task}{number}",
            "exact_match": value * (place + 1),
        }
        for place, name in enumerate(filters)
        for number, value in enumerate(values)
    ]
    path = folder / f"samples_{task}_2026-01-02T03-04-05.678.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_samples_of_lm_evaluation_harness_are_named_after_their_folders(tmp_path) -> None:
    draw = np.random.default_rng(3)
    values = {name: (draw.random(30) < share).astype(float).tolist() for name, share in (("base", 0.4), ("tuned", 0.8))}
    for name, own in values.items():
        samples(tmp_path / name, "gsm8k", own, ("strict", "flexible"))
        samples(tmp_path / name, "boolq", own[::-1])
    files = {task: sorted(tmp_path.glob(f"*/samples_{task}_*")) for task in ("gsm8k", "boolq")}
    found = sc.compare(files["gsm8k"], group="doc.subject")
    assert found.to_pandas("pairs").metric.tolist() == ["exact_match,strict", "exact_match,flexible"]
    first = found.to_pandas("pairs").iloc[0]
    assert (first["first"], first["second"]) == ("base", "tuned")
    assert first.difference == pytest.approx(np.mean(values["base"]) - np.mean(values["tuned"]))
    assert found.to_pandas("systems").groups.tolist() == [10] * 4
    both = sc.compare([*files["boolq"], *files["gsm8k"]], metric=["exact_match"])
    assert [*both.to_pandas("pairs").metric.unique()] == ["exact_match", "exact_match,strict", "exact_match,flexible"]
    for option in ({"group": "doc.subjct"}, {"metric": "acc"}):
        with pytest.raises(CommandError, match=r"did you mean doc.subject|no metric acc; there are: exact_match"):
            sc.compare(files["boolq"], **option)
    samples(tmp_path / "other", "boolq", values["base"])
    changed = tmp_path / "other" / files["boolq"][0].name
    changed.write_text(changed.read_text().replace("hboolq7", "another"))
    with pytest.raises(CommandError, match="2 values of content"):
        sc.compare([changed, files["boolq"][0]])


def test_samples_of_two_tasks_without_hashes_are_not_the_same_items(tmp_path) -> None:
    for task, target in (("boolq", "yes"), ("rte", "entailed")):
        samples(tmp_path / "base", task, [0.5, 1.0, 0.0, 1.0, 0.5, 0.0])
        (path,) = tmp_path.glob(f"base/samples_{task}_*")
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        kept = [{key: value for key, value in row.items() if key != "doc_hash"} | {"target": target} for row in rows]
        path.write_text("".join(json.dumps(row) + "\n" for row in kept))
    with pytest.raises(CommandError, match="not the same"):
        sc.compare(sorted(tmp_path.glob("base/samples_*")))


def test_samples_in_one_folder_or_in_folders_of_one_name_are_named_by_what_tells_them_apart(tmp_path) -> None:
    draw = np.random.default_rng(3)
    values = {name: draw.random(30).round(2).tolist() for name in ("short", "long", "other")}
    for task in ("short", "long"):  # of one task, under two prompts: its documents, and so their hashes, are the same
        samples(tmp_path / "base", task, values[task])
    files = [tmp_path / "base" / f"samples_{task}_2026-01-02T03-04-05.678.jsonl" for task in ("short", "long")]
    files[1].write_text(files[1].read_text().replace("hlong", "hshort"))
    renamed = [files[0].rename(tmp_path / "base" / "plain.jsonl"), files[1]]
    again = [tmp_path / "base" / f"samples_short_2026-01-0{day}T03-04-05.678.jsonl" for day in (3, 4)]
    samples(tmp_path / "runs" / "base", "short", values["other"])
    (apart,) = (tmp_path / "runs" / "base").iterdir()
    for path, content in zip((files[0], *again), (renamed[0], *renamed), strict=True):
        path.write_text(content.read_text())
    expected = np.mean(values["short"]) - np.mean(values["long"])
    for given, names, difference in (
        (files, ("short", "long"), expected),
        (renamed, ("plain", "long"), expected),
        (again, tuple(path.stem for path in again), expected),
        ([files[0], apart], None, np.mean(values["short"]) - np.mean(values["other"])),
    ):
        found = sc.compare(given).to_pandas("pairs").iloc[0]
        assert names is None or (found["first"], found["second"]) == names
        assert found["first"] != found["second"]
        assert found.difference == pytest.approx(difference)


@pytest.mark.parametrize(("systems", "seeds", "is_said"), [(2, 2, True), (2, 3, False), (3, 2, False), (2, 1, False)])
def test_two_systems_with_two_seeds_are_told_how_often_their_test_errs(systems, seeds, is_said) -> None:
    generator = np.random.default_rng(1)
    rows = [
        {"item": str(item), "system": f"s{system}", "seed": seed, "score": generator.normal(50, 5)}
        for system in range(systems)
        for seed in range(seeds)
        for item in range(20)
    ]
    notes = sc.compare(rows).tables[0].notes
    assert any("up to 6.7 % of tests err" in note for note in notes) == is_said


def test_a_group_that_makes_the_others_count_for_less_is_named() -> None:
    groups = np.r_[np.full(27, "novel"), np.arange(33).astype(str)]
    for count, said in ((27, True), (3, False)):
        named = np.where(np.arange(60) < count, groups, np.arange(60).astype(str))
        table = pd.DataFrame({"item": np.arange(60), "a": np.cos(np.arange(60)), "b": np.sin(np.arange(60))})
        notes = sc.compare(table.assign(group=named)).tables[0].notes
        assert any("45 % of the test items, so that 34 groups count as 4.7 equal ones" in one for one in notes) == said


REFUSED = {
    "twice": (lambda frame: pd.concat([frame, frame[:1]]), {}, "row 121: item 'i0' of 'a' comes a second time"),
    "lacking": (lambda frame: frame[1:], {}, "item 'i0' has no score of 'a' .*--common"),
    "alone": (lambda frame: frame[:ITEMS], {}, "scores of one system, 'a'"),
    "no number": (lambda frame: frame.assign(score="x"), {"metric": "score"}, "row 1: column score holds 'x'"),
    "empty": (lambda frame: frame.assign(score=[None, *frame.score[1:]]), {}, "row 1: column score holds 'nan'"),
    "no number in one row": (
        lambda frame: frame.assign(score=["abc", *frame.score[1:].astype(str)]),
        {},
        r"row 1: column score holds 'abc': .*write one.*--metric",
    ),
    "no number, wide": (
        lambda frame: (
            frame.pivot(index="item", columns="system", values="score")
            .astype(str)
            .replace({"a": {str(frame.score[5]): "NaN"}})
            .reset_index()
        ),
        {},
        r"row \d+: column a holds 'NaN': .*write one.*--metric",
    ),
    "no column": (lambda frame: frame, {"metric": "scor"}, "no column 'scor'; did you mean score"),
    "no item": (lambda frame: frame.drop(columns="item"), {}, "no column of items"),
    "groups": (lambda frame: frame.assign(group=["z", *frame.group[1:]]), {}, "2 values of group"),
    "no group": (
        lambda frame: frame.assign(group=frame.group.where(frame.item != "i7", "")),
        {},
        r"row 8: no group, and other items have one \(1 item of 60 without\)",
    ),
    "a seed written twice": (
        lambda frame: pd.concat([frame.assign(seed="1"), frame.assign(seed="01")]),
        {},
        "row 121: item 'i0' of 'a', seed 1 comes a second time",
    ),
}


@pytest.mark.parametrize("harmed", REFUSED)
def test_what_cannot_be_compared_is_named(harmed) -> None:
    change, options, message = REFUSED[harmed]
    with pytest.raises(CommandError, match=message):
        sc.compare(change(scores({"a": 3, "b": 0})), **options)


def test_a_key_that_stands_twice_in_a_line_is_named(tmp_path) -> None:
    (tmp_path / "s.jsonl").write_text('{"item": 1, "a": 0.5, "b": 0.3}\n{"item": 2, "a": 0.5, "a": 0.9, "b": 0.3}\n')
    with pytest.raises(CommandError, match=r"s\.jsonl:2: not JSON \(the key 'a' stands twice"):
        sc.compare(tmp_path / "s.jsonl")


@pytest.mark.parametrize("written", ["NaN", "Infinity", "-Infinity", "1e999"])
@pytest.mark.parametrize("options", [{}, {"metric": "score"}])
def test_a_score_that_is_no_finite_number_is_named_as_it_is_written(tmp_path, written, options) -> None:
    rows = [("1", "a", "0.5"), ("1", "b", written), ("2", "a", "0.25"), ("2", "b", "0.125")]
    lines = [f'{{"item": "{item}", "system": "{system}", "score": {score}}}' for item, system, score in rows]
    (tmp_path / "lines.jsonl").write_text("\n".join(lines))
    (tmp_path / "list.json").write_text("[" + ",\n".join(lines) + "]")
    (tmp_path / "table.csv").write_text("\n".join(["item,system,score", *map(",".join, rows)]))
    for name, line in (("lines.jsonl", 2), ("list.json", 2), ("table.csv", 3)):
        with pytest.raises(CommandError, match=f"{name}:{line}: column score holds '{written}': "):
            sc.compare(tmp_path / name, **options)
    frame = pd.DataFrame(rows, columns=["item", "system", "score"]).astype({"score": float})
    with pytest.raises(CommandError, match=r"row 2: column score holds '-?(nan|inf)': "):
        sc.compare(frame, **options)


@pytest.mark.parametrize("missing", [float("nan"), None, pd.NA])
def test_a_missing_group_is_none(missing) -> None:
    """NaN is a missing value of a data frame, not a group of that name."""
    rows = scores({"a": 6, "b": 0}).to_dict("records")
    without, empty = ([row | {"group": group} for row in rows] for group in (missing, ""))
    assert str(sc.compare(without)) == str(sc.compare(empty))


def test_seeds_that_are_left_out_are_called_as_in_the_file() -> None:
    frame = scores({"a": 3, "b": 0}, seeds=(11, 12, 13))
    result = sc.compare(frame[(frame.system == "a") | (frame.seed != 13)])
    assert "without seeds 13" in " ".join(str(sentence) for sentence in [*result.sentences, *result.taken, result])


def wide(systems: dict[str, float], **columns) -> pd.DataFrame:
    frame = scores(systems).pivot(index="item", columns="system", values="score").reset_index()
    return frame.assign(**columns)


NO_SCORES = {
    "groups in order": (wide({"a": 3, "b": 0}, doc=np.arange(ITEMS) // 5), "column doc .*growing order.*--group doc"),
    "numbers of items": (wide({"a": 3, "b": 0}, row=np.arange(ITEMS)[::-1]), "column row .*all different.*--metric a"),
    "a constant": (wide({"a": 3, "b": 0}, fold=3), "column fold holds 3 in every row"),
    "groups beside shares": (
        wide(
            {"a": 3, "b": 0}, a=np.linspace(0, 1, ITEMS), b=0.5 - np.linspace(0, 0.5, ITEMS), doc=np.arange(ITEMS) % 7
        ),
        "column doc .*from 0 to 1",
    ),
    "long, groups": (scores({"a": 3, "b": 0}).assign(doc=[*range(ITEMS)] * 2), "column doc .*all rows of an item"),
    "long, a constant": (scores({"a": 3, "b": 0}).assign(fold=2), "column fold holds the same in every row"),
}


@pytest.mark.parametrize("case", NO_SCORES)
def test_numbers_that_are_no_scores_are_not_taken_for_some(case) -> None:
    frame, message = NO_SCORES[case]
    with pytest.raises(CommandError, match=message):
        sc.compare(frame)
    metrics = ["score"] if "score" in frame else ["a", "b"]
    assert len(sc.compare(frame, metric=metrics).to_pandas("pairs")) == 1


def test_what_columns_are_taken_for_is_said_first() -> None:
    frame = wide({"a": 3, "b": 0}, topic="news", doc=np.arange(ITEMS) // 5)
    found = sc.compare(frame, group="doc")
    first = "Columns: item (item); doc (group); a, b (a system each); not used: topic."
    assert repr(found).splitlines()[0] == first == found.to_dict()["taken"][0]
    assert found.to_pandas("systems").groups.tolist() == [ITEMS // 5] * 2
    assert repr(sc.compare(scores({"a": 3, "b": 0}))).startswith("Columns: item (item); system (system); group (group)")
    ints = {"a": np.arange(ITEMS) % 2, "b": np.arange(ITEMS) % 3 % 2, "c": 0 * np.arange(ITEMS)}
    assert len(sc.compare(wide({"a": 3, "b": 0}, **ints)).to_pandas("systems")) == 3


def test_items_that_one_system_lacks_are_left_out_where_asked_and_counted() -> None:
    frame = scores({"a": 3, "b": 0})
    assert sc.compare(frame[1:], common=True).to_pandas("systems")["items"].tolist() == [ITEMS - 1] * 2
    assert "Left out: 1 item of 60" in repr(sc.compare(frame[1:], common=True))


def test_scores_at_smaller_sizes_are_said_to_be_left_out() -> None:
    sizes = [scores({"a": 3, "b": 0}, seed=size).assign(records=size) for size in (100, 2000)]
    frame = pd.concat([*sizes, scores({"c": 1}).assign(records=100)])
    left_out = "Sizes: compared at 2,000 records, the largest; scores at 100 are left out."
    absent = "Not compared: c, which is not scored at 2,000 records."
    assert repr(sc.compare(frame)).splitlines()[2:5:2] == [left_out, absent]
    seeded = pd.concat([scores({"a": 3, "b": 0}, seeds=(1, 2, 3), seed=n).assign(records=n) for n in (100, 200)])
    assert "scores at 100 are used for what seeds vary by alone" in repr(sc.compare(seeded))


def test_a_single_run_beside_methods_is_not_tested() -> None:
    frame = scores({"a": 3, "b": 0, "c": 1}, seeds=(1, 2, 3))
    frame = frame[(frame.system != "c") | (frame.seed == 1)]
    pairs = sc.compare(frame).to_pandas("pairs")
    assert pairs[pairs["second"] == "c"].p.isna().all()
    assert pairs[pairs["second"] == "b"].p.notna().all()


def test_systems_that_are_equal_on_every_item_share_the_best_mean() -> None:
    frame = scores({"first": 0})
    result = sc.compare(pd.concat([frame, frame.assign(system="second")]))
    assert result.sentences[0].startswith(f"first and second share the best mean; {ITEMS} items")


@pytest.mark.parametrize(
    ("scale", "warned"), [({}, False), ({"a": 0.01}, True), ({"a": 0.01, "b": 0.01}, False), ({"a": 0.0}, False)]
)
def test_shares_beside_points_are_warned_of_first(scale: dict[str, float], warned: bool) -> None:
    items = {name: {f"i{i}": scale.get(name, 1.0) * (40 + i) for i in range(20)} for name in ("a", "b")}
    rows = [{"item": i, "system": name, "f1": value} for name, of in items.items() for i, value in of.items()]
    first = sc.compare(pd.DataFrame(rows)).sentences[0]
    assert first.startswith("WARNING: a's highest f1 is 0.59, b's highest f1 is 59:") is warned
    runs = [
        {"method": name, "records": size, "score": scale.get(name, 1.0) * (10 + 5 * np.log2(size / 100))}
        for name in ("a", "b")
        for size in (100, 200, 400, 800)
    ]
    if scale.get("a") != 0.0:
        first = sc.curve(pd.DataFrame(runs)).sentences[0]
        assert first.startswith("WARNING: a's highest score is 0.25, b's highest score is 25:") is warned


@pytest.mark.parametrize(("count", "said"), [(1, "1 test item"), (2, "2 test items"), (9, "9 test items")])
def test_few_items_are_why_nothing_is_tested(count: int, said: str) -> None:
    rows = [{"item": f"i{n}", "system": s, "acc": n + (s == "B")} for n in range(count) for s in "AB"]
    printed = str(sc.compare(rows))
    assert f"No interval: {said}; it takes 10 to tell what items vary by; nothing is tested." in printed
    assert " group" not in printed.partition("Items count")[0]


@pytest.mark.parametrize("other", ["{}.0", "00{}", "{} ", "'{}'"])
def test_ids_that_differ_in_spelling_alone_are_named(other: str) -> None:
    rows = [{"item": f"{n}", "system": "A", "acc": n} for n in range(1, 12)]
    rows += [{"item": other.format(n), "system": "B", "acc": 2 * n} for n in range(1, 12)]
    if other == "{} ":  # blanks at the ends are no part of a cell
        assert "11 items" in sc.compare(rows).sentences[0]
        return
    with pytest.raises(CommandError, match=r"'1' and .* differ in spelling alone: write them alike"):
        sc.compare(rows)
    rows[-11]["item"] = "q"
    with pytest.raises(CommandError) as caught:
        sc.compare([*rows[:1], rows[-11], *rows[1:11], *({**row, "system": "B"} for row in rows[1:11])])
    assert "spelling" not in str(caught.value)


@pytest.mark.parametrize(
    "form", ["{system}_{metric}", "{metric}.{system}", "out.{system}.scores.{metric}", "{system} {metric}"]
)
def test_columns_of_a_system_and_a_metric_are_no_systems(form) -> None:
    draw = np.random.default_rng(5)
    values = {(s, m): draw.random(30) + (s == "t5") for s in ("bart", "t5") for m in ("rouge1", "rouge2")}
    wide = pd.DataFrame({"item": range(30)} | {form.format(system=s, metric=m): of for (s, m), of in values.items()})
    found = sc.compare(wide).to_pandas("pairs")
    assert {*found["first"]} | {*found["second"]} == {"bart", "t5"}
    for metric, difference in zip(found.metric, found.difference, strict=True):
        name = next(one for one in ("rouge1", "rouge2") if one in metric)
        assert difference == pytest.approx((values["bart", name] - values["t5", name]).mean())


def test_files_without_a_column_of_items_are_joined_by_their_rows(tmp_path) -> None:
    frames = [pd.DataFrame({"bleu": np.arange(12) % k / k}) for k in (3, 5)]
    for name, frame in zip("ab", frames, strict=True):
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    result = sc.compare([tmp_path / "a.csv", tmp_path / "b.csv"])
    assert "rows in their order" in result.taken[0]
    assert result.to_pandas("pairs").difference[0] == pytest.approx((frames[0] - frames[1]).bleu.mean())
    frames[0][:5].to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(CommandError, match=r"item '6' has no score of 'a"):
        sc.compare([tmp_path / "a.csv", tmp_path / "b.csv"])


def test_items_of_an_older_file_of_rouge_are_its_ids(tmp_path) -> None:
    """Its column `item` counts rows, of which two files may have other orders."""
    for name, ids in (("a", "xyzw"), ("b", "wzyx")):
        rows = [f"candidates,{n},{one},0,{'xyzw'.index(one) / 4}\n" for n, one in enumerate(ids, start=1)]
        (tmp_path / f"{name}.csv").write_text("system,item,id,empty,rouge1_f\n" + "".join(rows))
    found = sc.compare({name: tmp_path / f"{name}.csv" for name in "ab"}).to_pandas("pairs")
    assert (found.ties[0], found.difference[0]) == (4, 0)
