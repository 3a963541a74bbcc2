"""Runs as trackers and evaluation programs write them give the curves of a plain table."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sumcurve as sc
from sumcurve.__main__ import parser
from sumcurve.machine.arguments import CommandError, UsageError

SIZES, SEEDS = (1000, 2000, 4000, 8000, 16000), (1, 2, 3)
MODELS = {"bart-base": 30.0, "t5-small": 26.0}


def runs(sizes: tuple[float, ...] = SIZES, seeds: tuple[int, ...] = SEEDS) -> pd.DataFrame:
    """A plain table: two models, of which the first is ahead by 4 points at every size."""
    draw = np.random.default_rng(3)
    rows = [
        (model, size, seed, round(level + 1.5 * np.log2(size / sizes[0]) + draw.normal(0, 0.3), 4))
        for model, level in MODELS.items()
        for size in sizes
        for seed in seeds
    ]
    return pd.DataFrame(rows, columns=["method", "records", "seed", "score"])


def table(**names: str):
    """A tracker's table: columns of these names in place of the plain ones, and constant or empty ones."""

    def made(frame: pd.DataFrame) -> pd.DataFrame:
        beside = {"Created": "2026-11-20", "learning_rate": 5e-5, "Tags": "", "train_samples_per_second": 7.5}
        return frame.rename(columns=names).assign(**beside)

    return made


def named(frame: pd.DataFrame) -> pd.DataFrame:
    names = [f"{row.method}-{row.records}-s{row.seed}" for row in frame.itertuples()]
    return pd.DataFrame({"Name": names, "State": "finished", "Runtime": 3.5, "eval/rouge1": frame.score})


def with_crashed(frame: pd.DataFrame) -> pd.DataFrame:
    crashed = frame[:2].assign(seed=9, score=0.5)
    every = pd.concat([frame.assign(Status="FINISHED"), crashed.assign(Status="FAILED")])
    return every.rename(columns={"records": "train_samples", "score": "rouge1", "method": "model_name"})


TABLES = {
    "Weights & Biases": table(method="model", records="max_train_samples", score="eval/rouge1"),
    "MLflow": with_crashed,
    "neptune": table(
        method="parameters/model", records="parameters/n_train", seed="parameters/seed", score="metrics/test/rougeL"
    ),
    "sacred": table(
        method="config.model", records="config.train.num_examples", seed="config.seed", score="metrics.bleu"
    ),
    "TensorBoard's hparams": table(method="arch", records="train_set_size", seed="random_seed", score="chrf"),
    "names of runs alone": named,
}


@pytest.mark.parametrize("tracker", TABLES)
def test_a_tracker_s_table_gives_the_curves_of_a_plain_one(tracker, tmp_path) -> None:
    TABLES[tracker](runs()).to_csv(tmp_path / "runs.csv", index=False)
    found, plain = sc.curve(tmp_path / "runs.csv"), sc.curve(runs())
    for name in ("expected", "verdicts", "needed"):
        pd.testing.assert_frame_equal(found.to_pandas(name), plain.to_pandas(name))
    assert [*found.sentences] == [*plain.sentences]


def chart(frame: pd.DataFrame, name: str, size: str, ends: bool = False) -> pd.DataFrame:
    made = pd.DataFrame({size: sorted({*frame.records})})
    for (method, seed), own in frame.groupby(["method", "seed"], sort=False):
        column = name.format(method=method, seed=seed)
        made[column] = own.sort_values("records").score.to_numpy()
        if ends:
            made[f"{column}__MIN"] = made[f"{column}__MAX"] = ""
    return made


@pytest.mark.parametrize(
    ("name", "size", "ends"),
    [
        ("{method}-s{seed} - eval/rouge1", "Step", True),
        ("model: {method}_seed{seed} - test/bleu", "max_train_samples", False),
        ("{method}-s{seed}", "records", False),
    ],
)
def test_a_column_a_run_gives_the_curves_of_a_row_a_run(name, size, ends) -> None:
    found, plain = sc.curve(chart(runs(), name, size, ends)), sc.curve(runs().sort_values("records", kind="stable"))
    pd.testing.assert_frame_equal(found.to_pandas("verdicts"), plain.to_pandas("verdicts"))
    assert found.sentences[0].startswith("WARNING: sizes are column Step") == (size == "Step")


def test_a_chart_is_compared_with_a_warning_and_its_ends_are_no_systems() -> None:
    found = sc.compare(chart(runs(seeds=(1,)), "{method} - eval/rouge1", "Step", ends=True))
    assert found.to_pandas("systems").system.tolist() == ["bart-base", "t5-small"]
    assert found.sentences[0].startswith("WARNING: items are column Step of a chart")


FILES = {
    "all_results.json": lambda row: {"epoch": 3.0, "train_samples": row.records, "predict_rouge1": row.score},
    "results_2026-01-02.json": lambda row: {
        "results": {"cnn": {"alias": "cnn", "rouge1,none": row.score, "rouge1_stderr,none": 0.3, "rouge2,none": 9.0}},
        "configs": {"cnn": {"metric_list": [{"metric": "rouge1"}]}},
    },
    "score.json": lambda row: {"rouge1": row.score},
}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("name", FILES)
def test_files_of_a_run_are_named_after_their_folders(name, indent, tmp_path, capsys) -> None:
    paths = []
    for row in runs().itertuples():
        folder = tmp_path / f"{row.method}-{row.records}-s{row.seed}"
        folder.mkdir()
        (folder / name).write_text(json.dumps(FILES[name](row), indent=indent))
        paths.append(folder / name)
    plain, found = sc.curve(runs()), sc.curve(paths)
    pd.testing.assert_frame_equal(found.to_pandas("verdicts"), plain.to_pandas("verdicts"))
    arguments = parser().parse_args(["curve", *map(str, paths), "-q"])
    arguments.run(arguments)
    assert capsys.readouterr().out == "\n".join(found.sentences) + "\n"
    with pytest.raises(CommandError, match=f"one row, which is one training: .*sumcurve curve .*{name}"):
        sc.curve(paths[0])


def test_means_over_items_are_not_compared(tmp_path) -> None:
    for model in MODELS:
        (tmp_path / f"{model}.json").write_text(json.dumps(FILES["results_2026-01-02.json"](runs().iloc[0]), indent=2))
    with pytest.raises(CommandError, match=r"bart-base\.json: means over all items, .*samples_\*\.jsonl"):
        sc.compare([tmp_path / f"{model}.json" for model in MODELS])


COURSES = {
    "log history": pd.DataFrame({"epoch": [1, 2], "step": [10, 20], "loss": [2.0, 1.0], "eval_rouge1": [20.0, 21.0]}),
    "TensorBoard's scalars": pd.DataFrame({"Wall time": [1.0, 2.0], "Step": [10, 20], "Value": [20.0, 21.0]}),
    "a run's history": pd.DataFrame({"_step": [1, 2], "_timestamp": [5, 6], "eval/rouge1": [20.0, 21.0]}),
}


@pytest.mark.parametrize("course", COURSES)
def test_a_training_s_course_is_no_curve_over_sizes(course) -> None:
    with pytest.raises(CommandError, match=r"course of one training .*a row for each training.*sumcurve curve FILE"):
        sc.curve(COURSES[course])


def test_a_trainer_s_state_is_a_course(tmp_path) -> None:
    state = {"global_step": 20, "log_history": [{"epoch": 1, "step": 10, "loss": 2.0}, {"step": 20, "eval_loss": 1.5}]}
    (tmp_path / "trainer_state.json").write_text(json.dumps(state, indent=2))
    with pytest.raises(CommandError, match=r"trainer_state\.json: the course of one training"):
        sc.curve(tmp_path / "trainer_state.json")


def test_all_that_is_not_clear_is_asked_for_at_once(tmp_path) -> None:
    frame = runs().rename(columns={"records": "budget", "score": "quality"}).assign(bonus=range(30))
    frame.to_csv(tmp_path / "my runs.csv", index=False)
    asked = "no column of sizes is clear; scores may be budget, quality, bonus (found: method (method), seed (seed); "
    asked += "columns of numbers: budget, quality, bonus): name them: "
    with pytest.raises(CommandError) as error:
        sc.curve(tmp_path / "my runs.csv")
    assert asked in str(error.value)
    assert f"sumcurve curve '{tmp_path / 'my runs.csv'}' --size SIZE --score " in str(error.value)
    assert sc.curve(tmp_path / "my runs.csv", size="budget", score="quality").tables


def test_numbers_of_records_and_their_shares_are_one_size_and_units_are_no_names() -> None:
    frame = runs(seeds=(1,)).drop(columns="seed")
    frame = frame.rename(columns={"method": "Model", "records": "Train Size", "score": "Val Macro F1"})
    share, seconds = frame["Train Size"] / max(SIZES), frame["Train Size"] / 10
    frame = frame.assign(**{"Train Frac": share, "Train Time (s)": seconds, "Infer Speed (samples/s)": 7.5})
    assert sc.curve(frame).sentences == sc.curve(runs(seeds=(1,)).drop(columns="seed")).sentences
    assert "Train Time (s) (train_seconds); Val Macro F1 (scores)" in str(sc.efficiency(frame))
    frame["Train Frac"] = [*share[1:], 0.3]
    with pytest.raises(CommandError, match="no column of sizes is clear"):
        sc.curve(frame)


@pytest.mark.parametrize("name", ["cv_MAE", "eval/WER", "rmse", "val-loss", "Brier", "test_ppl"])
def test_a_score_of_which_less_is_better_is_warned_of(name) -> None:
    said = f"WARNING: {name}: higher counts as better; for losses say --lower-is-better."
    assert said in sc.curve(runs().rename(columns={"score": name}), score=name).sentences
    assert said not in sc.curve(runs().rename(columns={"score": name}), score=name, lower_is_better=True).sentences


@pytest.mark.parametrize("name", ["answer", "formae", "rouge1", "kmeans_score"])
def test_names_with_such_letters_inside_are_scores(name) -> None:
    assert not any("WARNING" in said for said in sc.curve(runs().rename(columns={"score": name}), score=name).sentences)


def test_two_errors_of_one_model_are_no_two_methods() -> None:
    frame = runs(seeds=(1,))[:5].drop(columns=["method", "seed"]).rename(columns={"records": "train_rows"})
    with pytest.raises(CommandError, match=r"scores may be cv_MAE, train_MAE \(found: train_rows \(size\)"):
        sc.curve(frame.assign(cv_MAE=100 - frame.score, train_MAE=90 - frame.score).drop(columns="score"))


@pytest.mark.parametrize("written", ["{:,}", "{}k"])
@pytest.mark.parametrize("name", ["records", "max_train_samples"])
def test_the_first_error_names_a_size_that_is_no_plain_number(tmp_path, name, written) -> None:
    frame = runs(seeds=(1,))
    sizes = frame.records if "," in written else frame.records // 1000
    frame.assign(records=sizes.map(written.format)).rename(columns={"records": name}).to_csv(tmp_path / "runs.csv")
    message = rf"runs\.csv:2: column {name} holds '1(,000|k)': .* without sign for thousands, such as 1000"
    with pytest.raises(ValueError, match=message):
        sc.curve(tmp_path / "runs.csv")


def test_sizes_from_names_of_runs_are_said_and_a_number_with_a_nought_before_it_is_none() -> None:
    frame = runs(seeds=(1,))
    name = [f"{row.method}-{row.records}" for row in frame.itertuples()]
    found = sc.curve(pd.DataFrame({"name": name, "rouge1": frame.score}))
    assert "Sizes, by the same: 1000, 2000, 4000, 8000, 16000 (--size)." in str(found)
    name = [f"substitute_{part}" for part in ("02", "04", "06", "08", "10")]
    with pytest.raises(CommandError, match="no column of sizes is clear"):
        sc.curve(pd.DataFrame({"name": name, "test_acc": frame.score[:5]}))


def test_files_of_a_run_in_one_folder_are_named_after_themselves(tmp_path) -> None:
    frame, paths = runs(seeds=(1,)), []
    for row in frame.itertuples():
        paths.append(tmp_path / f"{row.method}-{row.records}.json")
        paths[-1].write_text(json.dumps({"rouge1": row.score}))
    plain = sc.curve(frame.drop(columns="seed"))
    pd.testing.assert_frame_equal(sc.curve(paths).to_pandas("verdicts"), plain.to_pandas("verdicts"))
    for number, path in enumerate(paths):
        path.rename(tmp_path / f"checkpoint{number}.json")
    with pytest.raises(CommandError, match="; or call the files, or their folders, by method and size, as bart"):
        sc.curve([*tmp_path.glob("*.json")])


def test_rows_that_repeat_are_numbered_where_asked() -> None:
    frame = runs().drop(columns="seed")
    with pytest.raises(CommandError, match=r"--repeats"):
        sc.curve(frame)
    assert "pooled over all sizes" in repr(sc.curve(frame, repeats=True))


def test_who_is_ahead_is_said_at_the_sizes_measured_and_beyond() -> None:
    found = sc.curve(runs())
    said = (
        "bart-base is ahead of t5-small at every size from 1,000 to 16,000, and is forecast to stay ahead up to 64,000"
    )
    assert found.sentences[0].startswith(said)
    later = runs()
    later.loc[(later.method == "bart-base") & (later.records == 1000), "score"] -= 9
    assert "bart-base is ahead of t5-small from 2,000 to 16,000 (not at 1,000)" in sc.curve(later).sentences[0]
    crossing = pd.DataFrame(
        [(name, size, seed, level + gain * np.log2(size / 1000) + 0.02 * seed)
         for name, level, gain in (("steep", 20, 3.0), ("flat", 33, 0.5)) for size in SIZES for seed in SEEDS],
        columns=["method", "records", "seed", "score"],
    )  # fmt: skip
    first = sc.curve(crossing).sentences[0]
    assert "flat is ahead of steep at every size from 1,000 to 16,000" in first
    assert "steep is forecast to" in first


def test_sizes_that_are_fractions_are_told_apart() -> None:
    sizes = (0.001, 0.1, 0.25, 0.5, 1.0)
    found = sc.curve(runs(sizes))
    assert found.to_pandas("expected")["size"].tolist()[:5] == [*sizes]
    text = repr(found)
    assert "at every size from 0.001 to 1.000" in text
    assert "Size needed for a score" in text
    assert "ecords" not in text.replace("records (size)", "")


@pytest.mark.parametrize("factor", [1e-13, 1e-3])
def test_small_scores_are_printed_as_they_are(factor) -> None:
    frame = runs().assign(score=lambda rows: factor * rows.score)
    gain = next(one for one in sc.curve(frame).sentences if one.startswith("bart-base: "))
    assert float(gain.rpartition(" by ")[2].partition(" [")[0]) == pytest.approx(1.5 * factor, rel=0.4)
    items = pd.DataFrame({"item": range(30), "a": factor * np.sin(range(30)), "b": factor * np.cos(range(30))})
    assert "lead 0.0" not in sc.compare(items).sentences[0] or factor == 1e-3


def test_a_constant_score_is_not_called_a_number_of_points() -> None:
    with pytest.raises(CommandError, match=r"its score is the same at every size; what never moves has no .*curve$"):
        sc.curve(runs().assign(score=0.5))


def test_efficiency_finds_the_columns_that_a_curve_finds(tmp_path) -> None:
    frame = runs().assign(Runtime=lambda rows: 0.1 * rows.records + rows.seed)
    plain = frame.rename(columns={"score": "rouge1", "Runtime": "seconds"}).assign(corpus="all")
    plain["split"] = plain.records.map({size: place for place, size in enumerate(SIZES, start=1)})
    tracked = frame.rename(columns={"records": "max_train_samples", "method": "model", "score": "eval/rouge1"})
    tracked.to_csv(tmp_path / "runs.csv", index=False)
    found, known = sc.efficiency(tmp_path / "runs.csv").to_pandas(), sc.efficiency(plain).to_pandas()
    assert np.array_equal(found.filter(like="sigma"), known.filter(like="sigma"), equal_nan=True)
    assert np.array_equal(found.filter(like="theta"), known.filter(like="theta"), equal_nan=True)


# --- items


def samples(folder: Path, seed: int) -> Path:
    draw = np.random.default_rng(seed)
    folder.mkdir()
    rows = [
        {
            "doc_id": number,
            "target": "the cat sat",
            "resps": [["a cat sat"]],
            "filtered_resps": ["a cat sat" if number % 3 else "nothing"],
            "metrics": ["strict", "parts", "word_perplexity", "f1"],
            "strict": float(draw.random() < 0.5),
            "parts": [bool(value) for value in draw.random(2) < 0.5],
            "word_perplexity": [-12.5, 7],
            "f1": [1, 0],
        }
        for number in range(30)
    ]
    path = folder / "samples_ifeval_2026-01-02T03-04-05.678.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_lists_of_an_item_are_averaged_and_pairs_are_named(tmp_path) -> None:
    paths = [samples(tmp_path / name, seed) for seed, name in enumerate(("a", "b"))]
    found = sc.compare(paths)
    rows = [json.loads(line) for line in paths[0].read_text().splitlines()]
    means = found.to_pandas("systems").set_index(["metric", "system"])["mean"]
    assert means["parts", "a"] == pytest.approx(np.mean([row["parts"] for row in rows]))
    assert {*means.index.get_level_values("metric")} == {"strict", "parts"}
    assert "means of each item's list: parts" in found.taken[-1]
    assert "word_perplexity, f1" in found.taken[-1]
    with pytest.raises(CommandError, match=r"no metric f1; .*pairs.*word_perplexity"):
        sc.compare(paths, metric="f1")


def test_samples_are_scored_by_rouge(tmp_path, capsys) -> None:
    path = str(samples(tmp_path / "a", 1))
    arguments = parser().parse_args(["rouge", "--references", path, "--candidates", path, "-q", "--metrics", "rouge1"])
    arguments.run(arguments)
    assert "ROUGE-1 44.44" in capsys.readouterr().out  # two of three items have two of three words


@pytest.mark.parametrize("names", [("R1", "BERTScore"), ("rouge1", "rougeL"), ("bleu", "chrF")])
def test_metrics_that_would_be_systems_are_warned_of(names) -> None:
    table_of = pd.DataFrame({"id": range(30), **{name: np.sin(np.arange(30) * n) for n, name in enumerate(names, 2)}})
    assert sc.compare(table_of).sentences[0].startswith(f"WARNING: {', '.join(names)}: called as metrics are")
    assert "WARNING" not in repr(sc.compare(table_of.set_axis(["id", "bart", "t5"], axis=1)))


def test_paths_are_shortened_to_what_tells_them_apart(tmp_path) -> None:
    scores = pd.DataFrame({"item": [*range(30)] * 2, "score": np.sin(np.arange(60))})
    folders = [["/out/long/bart/summaries"] * 30, ["/out/long/t5/summaries"] * 30]
    systems = sc.compare(scores.assign(system=[*folders[0], *folders[1]])).to_pandas("systems").system
    assert {*systems} == {"bart/summaries", "t5/summaries"}
    hub = runs().replace({"method": {"bart-base": "facebook/bart-base", "t5-small": "google-t5/t5-small"}})
    assert sc.curve(hub).sentences == sc.curve(runs()).sentences
    for name, own in (("a", scores[:30]), ("b", scores[30:])):
        (tmp_path / name).mkdir()
        own.to_csv(tmp_path / name / "scores.csv", index=False)
    files = sc.compare([tmp_path / name / "scores.csv" for name in "ab"])
    assert {*files.to_pandas("systems").system} == {"a/scores", "b/scores"}


def test_ids_may_be_the_index_of_a_frame() -> None:
    frame = pd.DataFrame({"item": [f"d{n}" for n in range(30)], "a": np.sin(range(30)), "b": np.cos(range(30))})
    plain = sc.compare(frame).to_pandas("pairs")
    for indexed in (frame.set_index("item"), frame[["a", "b"]].set_axis(frame["item"].tolist())):
        pd.testing.assert_frame_equal(sc.compare(indexed).to_pandas("pairs"), plain)


def test_a_generator_and_texts_are_named(tmp_path) -> None:
    with pytest.raises(UsageError, match=r"scores is a generator.*list"):
        sc.compare(row for row in [{"item": 1}])
    with pytest.raises(CommandError, match=r"texts, no scores: sumcurve rouge"):
        sc.compare([{"prediction": "a", "reference": "b"}])
    (tmp_path / "generated_predictions.txt").write_text("the cat sat\na dog ran\nrain\n")
    for tool in (sc.compare, sc.curve):
        with pytest.raises(CommandError, match=r"generated_predictions\.txt: .*sumcurve rouge"):
            tool(tmp_path / "generated_predictions.txt")


# --- the picture


@pytest.mark.parametrize("sizes", [SIZES, (250, 300, 500, 750, 1000, 1100, 16000), (0.01, 0.25, 0.5, 1.0)])
def test_the_picture_has_labels_that_do_not_touch_and_names_at_the_ends(sizes, tmp_path) -> None:
    found = sc.curve(runs(sizes))
    for ending in ("svg", "png"):
        found.plot(tmp_path / f"curves.{ending}")
    drawn = (tmp_path / "curves.svg").read_text()
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert "bart-base (" in drawn
    assert "t5-small (" in drawn
    assert "beyond" not in drawn
    with pytest.raises(CommandError, match=r"curves\.pdf: a picture is written as \.svg or \.png"):
        found.plot(tmp_path / "curves.pdf")


def test_labels_of_an_axis_are_apart() -> None:
    from sumcurve.tables.chart import LETTER, spaced

    places = [250, 300, 310, 500, 1000, 16000, 64000]
    kept = spaced(places, "{:,}".format, 460)
    assert kept[-1] == 64000
    at = 460 * np.log(np.array(kept) / 250) / np.log(64000 / 250)
    widths = np.array([LETTER * len(f"{place:,}") for place in kept])
    assert (np.diff(at) > (widths[1:] + widths[:-1]) / 2).all()
    assert spaced([8], str, 460) == [8]


def test_the_command_draws_and_says_what_is_missing(tmp_path, monkeypatch) -> None:
    runs().to_csv(tmp_path / "runs.csv", index=False)
    arguments = parser().parse_args(["curve", str(tmp_path / "runs.csv"), "--plot", str(tmp_path / "out.svg")])
    arguments.run(arguments)
    assert (tmp_path / "out.svg").read_text().startswith("<svg")
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(CommandError, match=r"needs the package altair, .*: pip install altair vl-convert-python"):
        arguments.run(arguments)


def test_log_likelihoods_of_choices_are_no_texts(tmp_path) -> None:
    for name, response in (("a", [["-1.5", "False"], ["-2.5", "True"]]), ("b", [[-1.5, False]])):
        row = {"doc_id": 1, "target": "1", "filtered_resps": response, "acc": 1.0}
        path = tmp_path / f"{name}.jsonl"
        path.write_text(json.dumps(row) + "\n")
        with pytest.raises(CommandError, match=r"\.jsonl:1: log-likelihoods of choices, no texts; sumcurve compare"):
            sc.rouge(path, path)


def test_an_object_of_many_ids_is_not_listed_in_full(tmp_path) -> None:
    path = tmp_path / "predictions.json"
    path.write_text(json.dumps({f"id{number}": "a cat" for number in range(5000)}))
    with pytest.raises(CommandError, match=r"it has 'id0', .*'id19', …; rename") as refused:
        sc.rouge(["a cat"] * 5000, path)
    assert len(str(refused.value)) < 1000


@pytest.mark.parametrize("form", ["long", "wide", "a file each", "shares of another name"])
def test_power_takes_scores_of_items_in_every_form(tmp_path, form) -> None:
    draw = np.random.default_rng(1)
    first, second = draw.random(40).round(3), draw.random(40).round(3)
    name = "rouge1" if form in ("long", "a file each") else "acc"
    both = {"a": first, "b": second}
    if form == "wide":
        files = {"wide.csv": ["id,a,b", *(f"{n},{x},{y}" for n, (x, y) in enumerate(zip(first, second, strict=True)))]}
    elif form == "a file each":
        files = {f"{s}.csv": [f"id,{name}", *(f"{n},{x}" for n, x in enumerate(of))] for s, of in both.items()}
    else:
        files = {
            "long.csv": [f"item,system,{name}", *(f"{n},{s},{x}" for s, of in both.items() for n, x in enumerate(of))]
        }
    for file, lines in files.items():
        (tmp_path / file).write_text("\n".join(lines))
    paths = [tmp_path / file for file in files]
    expected = 100 * np.std(first - second, ddof=1)
    assert sc.power(per_item=paths).noise.sd_items == pytest.approx(expected)
    for lone in (paths[0], str(paths[0])) if len(paths) == 1 else ():
        assert sc.power(per_item=lone).noise.sd_items == pytest.approx(expected)
    if form != "wide":
        assert sc.power(per_item=paths, metric=name).noise.sd_items == pytest.approx(expected)


def test_power_asks_which_score_is_meant_and_takes_no_metric_for_a_system(tmp_path) -> None:
    rows = [f"{n},{s},{n / 40},{n / 50}" for s in "ab" for n in range(30)]
    (tmp_path / "long.csv").write_text("\n".join(["item,system,bleu,chrf", *rows]))
    with pytest.raises(CommandError, match=r"scores of bleu, chrf: name one \(--metric\)"):
        sc.power(per_item=[tmp_path / "long.csv"])
    (tmp_path / "one.csv").write_text("\n".join(["id,rouge1,rouge2", *(f"{n},{n / 40},{n / 90}" for n in range(30))]))
    with pytest.raises(CommandError, match="called as metrics are, and taken for systems"):
        sc.power(per_item=[tmp_path / "one.csv"])
