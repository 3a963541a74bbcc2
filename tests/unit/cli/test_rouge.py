import argparse
import csv
import gzip
import importlib.metadata
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from rouge_score.rouge_scorer import RougeScorer
from scipy import stats

import sumcurve as sc
from sumcurve.cli import power as power_command
from sumcurve.cli import rouge as rouge_command
from sumcurve.machine.arguments import CommandError, Verbs
from sumcurve.statistics.power import Aim, Noise, items_needed, paired_sd, pooled_sd, power, seeds_needed
from sumcurve.statistics.ungrouped import holm, sign_flip_p

METRICS = ("rouge1", "rouge2", "rougeLsum")


@pytest.fixture
def sumcurve(capsys) -> Callable[..., str]:
    """Runs a command line and returns what it prints."""

    def run(*words: object) -> str:
        parser = argparse.ArgumentParser()
        verbs = parser.add_subparsers(required=True, action=Verbs)
        rouge_command.add_parser(verbs)
        power_command.add_parser(verbs)
        arguments = parser.parse_args([str(word) for word in words])
        arguments.run(arguments)
        return capsys.readouterr().out

    return run


@pytest.fixture
def texts(tmp_path) -> SimpleNamespace:
    """40 items of several sentences: references `r`, candidates `c`, better ones `d`, all as lists and in files."""
    generator = np.random.default_rng(1)

    def drawn(number: int) -> list[str]:
        return [" ".join(generator.choice(list("abcdefghijkl"), generator.integers(2, 7))) for _ in range(number)]

    r = [drawn(2) for _ in range(40)]
    c = [drawn(2) for _ in range(39)] + [[]]
    d = [[text[0], *drawn(1)] for text in r]  # half right
    made = SimpleNamespace(r=r, c=c, d=d)
    for name in "rcd":
        rows = [json.dumps({"id": f"i{number}", "summary": text}) for number, text in enumerate(getattr(made, name))]
        path = tmp_path / f"{name}.jsonl"
        path.write_text("\n".join(rows) + "\n")
        setattr(made, f"{name}_file", path)
    return made


def reference_scores(texts: SimpleNamespace, name: str, stem: bool = False) -> dict[str, np.ndarray]:
    """(precision, recall, F) of every item by the package rouge-score: ``[items, 3]`` of each metric."""
    scorer = RougeScorer(METRICS, use_stemmer=stem)
    rows = [scorer.score("\n".join(r), "\n".join(c)) for r, c in zip(texts.r, getattr(texts, name), strict=True)]
    return {metric: np.array([tuple(row[metric]) for row in rows]) for metric in METRICS}


def test_the_json_holds_means_and_intervals_as_the_issue_asks(sumcurve, texts, tmp_path) -> None:
    out = tmp_path / "out.json"
    printed = sumcurve("rouge", "--references", texts.r_file, "--candidates", texts.c_file, "--json", out, "--seed", 4)
    found = json.loads(out.read_text())
    assert set(found) == {"signature", "items", "empty_references", *METRICS}
    assert found["items"] == 40
    assert "mode:rouge-score-0.1.2" in found["signature"]
    assert found["signature"] in printed
    expected = reference_scores(texts, "c")
    for metric in METRICS:
        assert set(found[metric]) == {"precision", "recall", "f", "low", "high"}
        means = [found[metric][part] for part in ("precision", "recall", "f")]
        assert means == pytest.approx(list(expected[metric].mean(axis=0)), rel=1e-12)
        line = next(line for line in printed.splitlines() if line.startswith(metric))
        assert line.split()[1:4] == [f"{100 * mean:.2f}" for mean in means]
        f = expected[metric][:, 2]
        interval = stats.bootstrap([f], np.mean, n_resamples=2000, method="BCa", rng=np.random.default_rng(4))
        assert (found[metric]["low"], found[metric]["high"]) == pytest.approx(interval.confidence_interval)


def test_the_comparison_is_candidates_minus_the_other_file(sumcurve, texts, tmp_path) -> None:
    out = tmp_path / "out.json"
    files = ("--references", texts.r_file, "--candidates", texts.d_file, "--compare", texts.c_file)
    printed = sumcurve("rouge", *files, "--json", out, "--resamples", 500)
    found = json.loads(out.read_text())
    assert set(found) == {"signature", "items", "empty_references", *METRICS, "comparison"}
    d, c = reference_scores(texts, "d"), reference_scores(texts, "c")
    differences = np.stack([d[metric][:, 2] - c[metric][:, 2] for metric in METRICS])
    p = sign_flip_p(differences, 500, 1)
    for metric, one, p_one, p_holm in zip(METRICS, differences, p, holm(p), strict=True):
        row = found["comparison"][metric]
        assert row["difference"] == pytest.approx(found[metric]["f"] - row["f"])
        assert row["difference"] > 0.1
        bootstrap = stats.bootstrap([one], np.mean, n_resamples=500, method="BCa", rng=np.random.default_rng(1))
        assert (row["low"], row["high"]) == pytest.approx(bootstrap.confidence_interval)
        assert (row["p"], row["p_holm"]) == pytest.approx((p_one, p_holm))
        assert (row["wins"], row["losses"]) == ((one > 0).sum(), (one < 0).sum())
        assert f"d.jsonl minus {texts.c_file.name} is {100 * row['difference']:.2f} [" in printed
    assert row["wins"] + row["ties"] + row["losses"] == 40


def test_every_items_scores_are_written(sumcurve, texts, tmp_path) -> None:
    out = tmp_path / "items.csv"
    files = ("--references", texts.r_file, "--candidates", texts.c_file, "--compare", texts.d_file)
    sumcurve("rouge", *files, "--per-item", out, "--stem")
    with out.open() as stream:
        rows = list(csv.DictReader(stream))
    assert [row["system"] for row in rows] == ["c.jsonl"] * 40 + ["d.jsonl"] * 40
    assert [row["item"] for row in rows] == 2 * [f"i{number}" for number in range(40)]
    assert [row["empty"] for row in rows].index("1") == 39
    for name, part in (("c", rows[:40]), ("d", rows[40:])):
        for metric, expected in reference_scores(texts, name, stem=True).items():
            columns = [[float(row[f"{metric}_{one}"]) for row in part] for one in ("precision", "recall", "f")]
            assert np.array_equal(np.transpose(columns), expected)  # to the last bit


@pytest.mark.parametrize("form", [str, Path])
def test_python_reads_the_same_files_and_prints_the_same(sumcurve, texts, tmp_path, monkeypatch, form) -> None:
    """Of other orders, joined by ids; in a table of semicolons; with a second system."""
    monkeypatch.chdir(tmp_path)
    rows = [(f"i{number}", " ".join(text)) for number, text in enumerate(texts.d)][::-1]
    (tmp_path / "d.csv").write_text("id;text\n" + "".join(f"{name};{text}\n" for name, text in rows))
    words = ["--candidates", "c.jsonl", "--references", "r.jsonl", "--compare", "d.csv", "--compare-column", "text"]
    printed = sumcurve("rouge", *words, "--metrics", "rouge1")
    result = sc.rouge(form("c.jsonl"), form("r.jsonl"), form("d.csv"), metrics=["rouge1"], compare_column="text")
    assert f"{result}\n" == printed
    assert "Delimiter of d.csv: ';', a guess" in printed
    as_lists = sc.rouge(texts.c, [[text] for text in texts.r], texts.d, metrics=["rouge1"])
    mixed = sc.rouge(texts.c, form("r.jsonl"), texts.d, metrics=["rouge1"])
    assert mixed.items.equals(as_lists.items)
    assert result.items.rouge1_f.tolist() == as_lists.items.rouge1_f.tolist()


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        ("none.jsonl", r"none\.jsonl: no such file"),
        ("c.jsonl.gz", r"c\.jsonl\.gz: no such file; did you mean c\.jsonl\?"),
        ("my answers.txt", "my answers.txt: no such file"),
        (["c.jsonl", "d.csv"], "d.csv: no such file"),
    ],
)
def test_names_of_files_are_never_scored_as_texts(texts, tmp_path, monkeypatch, candidates, message) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CommandError, match=message):
        sc.rouge(candidates, "r.jsonl")
    assert sc.rouge("He read c.jsonl, twice.", "He read c.jsonl.").items.rouge1_f.mean() > 0.8  # texts


def test_several_systems_are_named_after_their_files(sumcurve, texts, tmp_path) -> None:
    out, files = tmp_path / "items.csv", [texts.c_file, texts.d_file, texts.r_file]
    sumcurve("rouge", "--references", texts.r_file, "--candidates", *files, "--per-item", out)
    with out.open() as stream:
        names = dict.fromkeys(row["system"] for row in csv.DictReader(stream))
    assert [*names] == ["c.jsonl", "d.jsonl", "r.jsonl"]
    sumcurve("rouge", "--references", texts.r_file, "--candidates", *files[:2], "--per-item", out)
    assert "items" in sumcurve("power", "--per-item", out)


def test_empty_summaries_are_counted_before_the_scores_and_quiet_prints_no_table(sumcurve, texts) -> None:
    files = ("--references", texts.r_file, "--candidates", texts.c_file, texts.d_file)
    first = f"WARNING: 1 of 40 summaries has no word (first: {texts.c_file}:40); they score 0"
    assert sumcurve("rouge", *files).startswith(first)
    warning, *differences, c, d = sumcurve("rouge", *files, "-q").splitlines()
    assert warning.startswith(first)
    assert c.startswith(f"{texts.c_file.name}: ROUGE-1 ")
    assert d.startswith(f"{texts.d_file.name}: ROUGE-1 ")
    shown = f"ROUGE-1: significantly worse: {texts.c_file.name} minus {texts.d_file.name} is −"
    assert [line.startswith(shown) for line in differences] == [True, False, False]


def test_plain_text_packed_text_and_json_lines_score_alike(sumcurve, texts, tmp_path) -> None:
    results = []
    marked = {name: ["".join(f"<t> {s} </t>" for s in text) for text in getattr(texts, name)] for name in "rc"}
    for name, lines in marked.items():
        (tmp_path / f"{name}.txt.gz").write_bytes(gzip.compress("\n".join([*lines, ""]).encode()))
    both = tmp_path / "both.jsonl"
    rows = ({"reference": r, "candidate": c} for r, c in zip(texts.r, texts.c, strict=True))
    both.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for r, c in (
        (texts.r_file, texts.c_file),
        (tmp_path / "r.txt.gz", tmp_path / "c.txt.gz"),
        (tmp_path / "r.txt.gz", texts.c_file),
        (both, both),
    ):
        out = tmp_path / "out.json"
        sumcurve("rouge", "--references", r, "--candidates", c, "--json", out, "--threads", len(results) % 2 + 1)
        results.append(out.read_text())
    assert len(set(results)) == 1


def test_tables_and_files_in_other_orders_score_as_the_files(sumcurve, texts, tmp_path) -> None:
    def scores(*words: object) -> tuple[dict, str]:
        printed = sumcurve("rouge", *words, "--json", tmp_path / "out.json")
        return json.loads((tmp_path / "out.json").read_text()), " ".join(printed.split())

    table, plain = tmp_path / "all.tsv", tmp_path / "r.txt"
    order = np.random.default_rng(2).permutation(40)
    with table.open("w", newline="") as stream:
        writer = csv.writer(stream, delimiter="\t")
        writer.writerow(["id", "reference", "c", "d"])
        writer.writerows([f"i{n}", *("\n".join(getattr(texts, name)[n]) for name in "rcd")] for n in order)
    shuffled = tmp_path / "d.csv"
    shuffled.write_text("id,d\n" + "".join(f'i{n},"{chr(10).join(texts.d[n])}"\n' for n in order))
    plain.write_text("".join("".join(f"<t> {one} </t>" for one in text) + "\n" for text in texts.r))
    expected, _ = scores("--references", texts.r_file, "--candidates", texts.c_file, "--compare", texts.d_file)
    both = ("--column", "c", "--compare-column", "d")
    by_id, said = scores("--references", texts.r_file, "--candidates", table, "--compare", table, *both)
    assert f"Joined: {table}, column 'c' by id" in said
    others = ("--candidates", texts.c_file, "--compare", shuffled, "--compare-column", "d")
    by_order, said = scores("--references", plain, *others)
    assert f"Joined: {texts.c_file} by" in said  # and compare by id with the candidates
    assert f"WARNING: no ids in {plain}, but in another file" in said
    assert by_id == by_order == expected
    one_file, _ = scores("--references", table, "--candidates", table, "--column", "c")
    assert one_file["rouge1"]["f"] == pytest.approx(expected["rouge1"]["f"])


def test_empty_references_are_told_first_and_score_nothing(sumcurve, texts, tmp_path) -> None:
    r, c, out = tmp_path / "r.txt", tmp_path / "c.txt", tmp_path / "out.json"
    texts.r[3], texts.r[7] = [], ["…"]
    for path, items in ((r, texts.r), (c, texts.c)):
        path.write_text("".join("".join(f"<t> {one} </t>" for one in text) + "\n" for text in items))
    printed = sumcurve("rouge", "--references", r, "--candidates", c, "--json", out)
    assert printed.startswith(f"WARNING: 2 of 40 items have an empty reference (first: {r}:4); they score 0")
    found = json.loads(out.read_text())
    assert found["empty_references"] == 2
    for metric, rows in reference_scores(texts, "c").items():  # rouge-score leaves none out
        assert found[metric]["f"] == pytest.approx(rows[:, 2].mean())
    r.write_text("\n…\n" * 20)
    with pytest.raises(CommandError, match=r"r\.txt: none of its 40 items has a reference with a word"):
        sumcurve("rouge", "--references", r, "--candidates", c)


def test_of_several_references_the_best_counts_and_the_signature_counts_them(sumcurve, tmp_path) -> None:
    r, c, out = tmp_path / "r.jsonl", tmp_path / "c.txt", tmp_path / "out.json"
    r.write_text(json.dumps({"references": ["a b", "x y"]}) + "\n" + json.dumps({"references": ["q", "c d"]}) + "\n")
    c.write_text("x y\nc d\n")
    printed = sumcurve("rouge", "--references", r, "--candidates", c, "--json", out, "--metrics", "rouge1,rougeL")
    found = json.loads(out.read_text())
    assert set(found) == {"signature", "items", "empty_references", "rouge1", "rougeL"}
    assert found["rouge1"]["f"] == found["rougeL"]["f"] == 1
    assert "refs:2" in found["signature"]
    assert found["signature"] in printed
    pooled = ("--mode", "rouge-1.5.5", "--metrics", "rouge1", "--json", out)
    sumcurve("rouge", "--references", r, "--candidates", c, *pooled)
    assert json.loads(out.read_text())["rouge1"]["precision"] == 0.5  # -f A counts every reference
    sumcurve("rouge", "--references", r, "--candidates", c, *pooled, "--multi", "best")
    assert json.loads(out.read_text())["rouge1"]["precision"] == 1


def test_annotators_have_a_file_each_or_a_line_each_of_a_block(sumcurve, tmp_path) -> None:
    """As of machine translation and ASSET, and of E2E; equal to lists of references, and to the best of each."""
    first, second, ours = ["a b c", "d e", "f"], ["a x", "d f g", "h f"], ["a b x", "d f", "f f"]
    for name, texts in (("1", first), ("2", second), ("c", ours)):
        (tmp_path / f"{name}.txt").write_text("".join(f"{text}\n" for text in texts))
    (tmp_path / "b.txt").write_text("\n".join(f"{one}\n{two}\n" for one, two in zip(first, second, strict=True)))
    files, blocks = (tmp_path / f"{name}.txt" for name in "1b")
    words = ["--candidates", tmp_path / "c.txt", "--metrics", "rouge1"]
    scorer = RougeScorer(["rouge1"])
    pairs = zip(first, second, ours, strict=True)
    best = [max(scorer.score(one, text)["rouge1"].fmeasure for one in targets) for *targets, text in pairs]
    for given in (["--references", files, "--references", tmp_path / "2.txt"], ["--references", blocks]):
        out = tmp_path / "items.csv"
        printed = sumcurve("rouge", *given, *words, "--per-item", out)
        assert "refs:2" in printed
        assert [float(row["rouge1_f"]) for row in csv.DictReader(out.open())] == best
    both, out = (files, tmp_path / "2.txt"), tmp_path / "out.json"
    printed = sumcurve("rouge", "--references", both[0], "--references", both[1], *words, "--json", out)
    assert " ".join(printed.split()).count(f"{both[0]}, {both[1]}. ") == 2
    assert json.loads(out.read_text())["references"] == [*map(str, both)]
    again = tmp_path / ".." / tmp_path.name / "1.txt"
    with pytest.raises(CommandError, match=r"\.\./\S+/1\.txt: this file of references is given twice: name each once"):
        sumcurve("rouge", "--references", files, "--references", again, *words)
    (tmp_path / "short.txt").write_text("a\n")
    with pytest.raises(CommandError, match=r"1\.txt has 3 items, \S+short\.txt 1"):
        sumcurve("rouge", "--references", files, "--references", tmp_path / "short.txt", *words)


def test_another_mode_counts_its_own_tokens(sumcurve, tmp_path) -> None:
    r, c, out = tmp_path / "r.txt", tmp_path / "c.txt", tmp_path / "out.json"
    r.write_text("上海天气\n")
    c.write_text("上海很热\n")
    line = ("rouge", "--references", r, "--candidates", c, "--json", out, "--metrics", "rouge1")
    sumcurve(*line, "--mode", "characters")
    assert json.loads(out.read_text())["rouge1"]["f"] == 0.5
    with pytest.raises(CommandError, match=r"r\.txt: none of its 1 items has a reference with a word .* characters"):
        sumcurve(*line)  # rouge-score sees no Chinese word
    with pytest.raises(CommandError, match="stem"):
        sumcurve(*line, "--mode", "characters", "--stem")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--metrics", "rouge0"], "rouge0"),
        (["--metrics", ","], "metric"),
        (["--mode", "rouge-1.5.5", "--metrics", "rougeL"], "rougeLsum"),
        (["--multi", "average"], "average"),
        (["--compare-column", "d"], "no --compare"),
        (["--column", "d"], r"c\.jsonl:1: an object without 'd'; it has 'id', 'summary'"),
        (["--json", "nowhere/out.json"], "no folder nowhere"),
        (["--per-item", "nowhere/out.csv"], "no folder nowhere"),
        (["--json", "."], "this is a folder"),
        (["--json", "out", "--per-item", "./out"], "two results would be written to it"),
    ],
)
def test_what_cannot_be_done_is_said(sumcurve, texts, words, message) -> None:
    with pytest.raises(CommandError, match=message):
        sumcurve("rouge", "--references", texts.r_file, "--candidates", texts.c_file, *words)


def test_no_file_that_is_read_is_written_over(sumcurve, texts, tmp_path) -> None:
    files = ("--references", texts.r_file, "--candidates", texts.c_file, "--compare", texts.d_file)
    before = {path: path.read_bytes() for path in (texts.r_file, texts.c_file, texts.d_file)}
    for option in ("--json", "--per-item"):
        for path in before:
            with pytest.raises(CommandError, match=f"{path.name}: this file is read, and would be lost"):
                sumcurve("rouge", *files, option, tmp_path / "." / path.name)
    items = tmp_path / "items.csv"
    sumcurve("rouge", *files, "--per-item", items)
    with pytest.raises(CommandError, match=r"items\.csv: this file is read"):
        sumcurve("power", "--per-item", items, "--json", items)
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize(("count", "words", "warned"), [(1, [], True), (2, [], False), (40, ["--resamples", 99], True)])
def test_intervals_of_one_item_or_few_resamples_come_with_a_warning(sumcurve, tmp_path, count, words, warned) -> None:
    path = tmp_path / "r.txt"
    path.write_text("a b\n" * count)
    result = tmp_path / "r.json"
    files = ("--references", path, "--candidates", path, "--compare", path, "--json", result)
    printed = sumcurve("rouge", *files, *words)
    assert ("its intervals are none" in printed or "resamples are too few" in printed) is warned
    assert (" [" in printed) is (count > 1)
    scores = json.loads(result.read_text())
    assert (scores["rouge1"]["low"] is None) is (scores["comparison"]["rouge1"]["high"] is None) is (count == 1)


def test_a_mark_without_its_other_half_is_said_with_its_line(sumcurve, tmp_path) -> None:
    path = tmp_path / "r.txt"
    path.write_text("<t> a b </t>\n<t> a b\n")
    printed = sumcurve("rouge", "--references", path, "--candidates", path)
    assert f"WARNING: {path}:2: its marks <t> and </t> are no pairs" in printed


MARKS = ["<q>", "<n>", "</s>", "[SEP]", "<S>", "<sep>", "<br />", "[X_SEP]", "</sent>"]


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("form", ["lines", "strings", "sentences"])
def test_marks_of_sentences_are_bounds_and_no_words(sumcurve, tmp_path, mark, form) -> None:
    candidates = [["police found the car", "the driver fled"], ["a cat sat", "it slept"]]
    references = [["the driver ran away", "police found a car"], ["it slept well", "a cat"]]
    expected = [
        RougeScorer(METRICS).score("\n".join(r), "\n".join(c)) for r, c in zip(references, candidates, strict=True)
    ]
    paths = []
    for name, texts in (("r", references), ("c", candidates)):
        marked = [mark.join(text) for text in texts]
        rows = {"lines": marked, "strings": [*map(json.dumps, marked)], "sentences": [json.dumps([t]) for t in marked]}
        paths.append(tmp_path / (f"{name}.txt" if form == "lines" else f"{name}.jsonl"))
        paths[-1].write_text("\n".join(rows[form]) + "\n")
    printed = sumcurve("rouge", "--references", paths[0], "--candidates", paths[1], "--json", tmp_path / "out.json")
    assert "WARNING" not in printed
    found = json.loads((tmp_path / "out.json").read_text())
    of_python = [mark.join(text) for text in candidates], [mark.join(text) for text in references]
    if form == "sentences":
        of_python = [[text] for text in of_python[0]], [[[text]] for text in of_python[1]]
    result = sc.rouge(*of_python)
    for metric in METRICS:
        mean = np.mean([scores[metric].fmeasure for scores in expected])
        assert found[metric]["f"] == mean == result.items[f"{metric}_f"].mean()


@pytest.mark.parametrize(
    ("mark", "words"),
    [
        ("<sent_end>", "sent end"),
        ("{SEP}", "sep"),
        ("##SENT##", "sent"),
        ("<unk>", "unk"),
        ("[EOT]", "eot"),
        ("<|x|>", "x"),
    ],
)
def test_what_looks_like_a_mark_and_is_scored_is_named(sumcurve, tmp_path, mark, words) -> None:
    r, c = tmp_path / "r.txt", tmp_path / "c.txt"
    r.write_text("one\ntwo < three [1] <3\nfour\n")
    c.write_text(f"one\ntwo {mark} three\nfive {mark}\n")
    message = mark + " stands in 2 of 3 texts of {name} (first: {place}) and is scored as " + repr(words)
    printed = sumcurve("rouge", "--references", r, "--candidates", c)
    assert printed.count("WARNING") == 1
    assert message.replace("{name}", c.name).replace("{place}", f"{c}:2") in printed
    in_python = sc.rouge(c.read_text().splitlines(), r.read_text().splitlines()).sentences
    assert message.replace("{name}", "candidates").replace("{place}", "item 2") in in_python[0]


def test_files_of_one_name_are_told_apart_by_their_folders(sumcurve, tmp_path) -> None:
    for folder, text in (("a", "one two\nthree\n"), ("b", "one\nfour\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "out.txt").write_text(text)
    files = [tmp_path / folder / "out.txt" for folder in ("a", "b")]
    printed = sumcurve("rouge", "--references", files[0], "--candidates", *files)
    assert "a/out.txt minus b/out.txt is" in printed
    assert f"{tmp_path}/a/out.txt minus" not in printed


def test_a_file_that_is_compared_with_itself_and_rows_of_annotators_are_said(sumcurve, tmp_path) -> None:
    table = tmp_path / "a.csv"
    rows = [f"{item},text {item} of some,its summary {item},{worker}" for item in range(4) for worker in range(3)]
    table.write_text("\n".join(["bbcid,document,summary,worker", *rows]) + "\n")
    lines = ("rouge", "--references", table, "--candidates", table)
    same = "a.csv, column 'summary' and the references are the same texts in all 12 items"
    printed = sumcurve(*lines)
    assert same in printed
    assert "8 of 12 items repeat an earlier one" in printed
    assert f"(first: {table}:3)" in printed
    printed = sumcurve(*lines, "--reference-column", "document")
    assert "same texts" not in printed
    assert "8 of 12 items repeat" in printed
    result = sc.rouge(["a b", "c"], ["a b", "d"], ["a b", "c"])
    assert "compare and candidates are the same texts in all 2 items" in result.sentences[0]
    assert "same texts" in sc.rouge(["a", "b"], [["x", "a"], ["b"]]).sentences[0]
    assert "WARNING" not in str(sc.rouge(["a", "b", "a"], ["a", "c", "b"]))  # texts that repeat with other references


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("s.csv", "id,R1,RL,BERTScore\n1,0.3,0.2,0.8\n", "R1, RL, BERTScore are metrics: `sumcurve compare`"),
        ("s.csv", "id,rouge1\n1,0.3\n2,0.5\n", "column 'rouge1', the only one beside 'id', holds numbers, no texts"),
        ("s.csv", "id,grade\n1,3\n2,5\n", "column 'grade', the only one beside 'id', holds numbers, no texts"),
        ("s.jsonl", '{"id": 1, "rouge-2 f1": 0.2, "bleu": 3}\n', "rouge-2 f1, bleu are metrics"),
        ("s.tsv", "doc_id\tmeteor\tchrF2\n1\t0.3\t4\n", "meteor, chrF2 are metrics"),
    ],
)
def test_a_table_of_metrics_is_told_from_texts(sumcurve, tmp_path, name, text, message) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(CommandError, match=re.escape(message)):
        sumcurve("rouge", "--references", path, "--candidates", path)


@pytest.mark.parametrize(
    ("ours", "theirs"), [("7", "7.0"), ("7", "007"), ("doc-7", "Doc-07"), ("a b", "ab"), ("'7'", "7")]
)
def test_ids_that_differ_in_spelling_alone_are_named(sumcurve, tmp_path, ours, theirs) -> None:
    r, c = tmp_path / "r.jsonl", tmp_path / "c.jsonl"
    for path, name in ((r, ours), (c, theirs)):
        path.write_text("".join(json.dumps({"id": one, "summary": "a"}) + "\n" for one in ("x", name)))
    with pytest.raises(CommandError) as caught:
        sumcurve("rouge", "--references", r, "--candidates", c)
    assert f"{theirs!r} and {ours!r} differ in spelling alone" in str(caught.value)
    c.write_text(c.read_text().replace(json.dumps(theirs), json.dumps("70")))
    with pytest.raises(CommandError) as caught:
        sumcurve("rouge", "--references", r, "--candidates", c)
    assert "spelling" not in str(caught.value)


def test_a_line_break_inside_a_text_is_named_where_lines_are_too_many(sumcurve, tmp_path) -> None:
    r, c = tmp_path / "r.txt", tmp_path / "c.txt"
    r.write_text("a\nb\n")
    c.write_text("a\nb c\nd\n")
    with pytest.raises(
        CommandError, match=r"in .*c\.txt every line is an item, so that a line break inside a text makes two;"
    ):
        sumcurve("rouge", "--references", r, "--candidates", c)
    c.write_text("a\nb c\n\n")
    with pytest.raises(CommandError, match="and its last line is empty"):
        sumcurve("rouge", "--references", r, "--candidates", c)


@pytest.mark.parametrize("option", ["--reference-column", "--column", "--compare-column", "--candidates"])
def test_an_option_that_stands_twice_is_refused(sumcurve, texts, capsys, option) -> None:
    files = ("--references", texts.r_file, "--candidates", texts.c_file)
    with pytest.raises(SystemExit):
        sumcurve("rouge", *files, option, "a", option, "b")
    assert f"{option} stands twice" in capsys.readouterr().err


def test_unequal_files_are_refused_and_leave_no_file(sumcurve, texts, tmp_path) -> None:
    short, broken = tmp_path / "short.jsonl", tmp_path / "broken.jsonl"
    short.write_text("".join(texts.c_file.read_text().splitlines(keepends=True)[:-1]))
    broken.write_text('"one"\ntwo\n')
    message = r"short\.jsonl: no summary of id 'i39' \(.*r\.jsonl:40; 1 of 40 items have none\)"
    files = ("--references", texts.r_file, "--json", tmp_path / "out.json", "--per-item", tmp_path / "out.csv")
    for words, said in (
        (("--candidates", short), message),
        (("--candidates", texts.c_file, "--compare", short), message),
        (("--candidates", broken), r"broken\.jsonl:2: not JSON"),
    ):
        with pytest.raises(CommandError, match=said):
            sumcurve("rouge", *files, *words)
    assert not list(tmp_path.glob("out*"))


@pytest.mark.skipif(not os.environ.get("SUMCURVE_REFERENCE_DATA"), reason="SUMCURVE_REFERENCE_DATA names no folder")
@pytest.mark.parametrize("stem", [False, True])
def test_the_official_lines_are_the_scripts(sumcurve, stem) -> None:
    if stem and not any(one.metadata["Name"] == "py-rouge" for one in importlib.metadata.distributions()):
        pytest.skip("no table of exceptions: py-rouge is not installed")
    folder = Path(os.environ["SUMCURVE_REFERENCE_DATA"])
    averages = sorted(folder.glob("*.average.csv"))
    assert averages
    for path in averages:
        texts = path.with_name(path.name.replace(".average.csv", ".jsonl"))
        words = ["--mode", "rouge-1.5.5", "--metrics", "rouge1,rouge2,rougeLsum,rougeSU4", "--resamples", "10"]
        printed = sumcurve("rouge", "--references", texts, "--candidates", texts, *words, *["--stem"] * stem)
        with path.open() as stream:
            rows = [row for row in csv.DictReader(stream) if row["mode"] == ("stem" if stem else "plain")]
        assert rows
        for row in rows:
            mean, low, high = (f"{float(row[key]):.5f}" for key in ("mean", "ci_low", "ci_high"))
            line = f"{row['metric']} Average_{row['statistic']}: {mean} (95%-conf.int. {low} - {high})"
            assert f"1 {line}" in printed


def test_power_takes_its_noise_from_per_item_files(sumcurve, texts, tmp_path) -> None:
    both, first, alone, backwards = (tmp_path / f"{name}.csv" for name in ("both", "first", "alone", "backwards"))
    files = ("rouge", "--references", texts.r_file, "--candidates")
    sumcurve(*files, texts.c_file, "--compare", texts.d_file, "--per-item", both)
    sumcurve(*files, texts.c_file, "--per-item", first)
    sumcurve(*files, texts.d_file, "--per-item", alone)
    heads, *rows = alone.read_text().splitlines()
    backwards.write_text("\n".join([heads, *reversed(rows)]) + "\n")  # joined by id all the same
    c, d = (100 * reference_scores(texts, name)["rouge2"][:, 2] for name in "cd")
    noise = Noise(float(np.std(c - d, ddof=1)))
    need = items_needed(noise, Aim(2.5))
    for paths in ([both], [first, alone], [first, backwards]):
        out = tmp_path / "out.json"
        printed = sumcurve("power", "--per-item", *paths, "--metric", "rouge2", "--effect", 2.5, "--json", out)
        found = json.loads(out.read_text())
        assert (found["noise"]["sd_items"], found["noise"]["sd_seed"]) == pytest.approx((noise.sd_items, 0))
        assert [row["items"] for row in found["answers"]] == [need]
        assert f"{need:,} items" in printed
        assert "two trained models" in printed


def test_power_reads_json_lines_and_names_the_row_that_lacks_a_key(sumcurve, texts, tmp_path) -> None:
    table, lines = tmp_path / "items.csv", tmp_path / "items.jsonl"
    sumcurve(
        "rouge",
        "--references",
        texts.r_file,
        "--candidates",
        texts.c_file,
        "--compare",
        texts.d_file,
        "--per-item",
        table,
    )
    with table.open() as stream:
        rows = list(csv.DictReader(stream))
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert sumcurve("power", "--per-item", lines) == sumcurve("power", "--per-item", table)
    for key in ("system", "rouge1_f"):  # items are joined by id
        lacking = {name: cell for name, cell in rows[1].items() if name != key}
        lines.write_text("".join(json.dumps(row) + "\n" for row in (rows[0], lacking, *rows[2:])))
        with pytest.raises(CommandError, match=rf"items\.jsonl:2: column {key} holds ''"):
            sumcurve("power", "--per-item", lines)


def test_power_answers_what_was_asked(sumcurve, tmp_path) -> None:
    out = tmp_path / "out.json"
    noise = Noise(12.0, pooled_sd([[31.2, 31.5, 30.9], [28.0, 28.4, 28.3]]))

    def ask(*words: object) -> tuple[str, list[dict]]:
        seeds = ("--seed-scores", "31.2,31.5,30.9", "28.0,28.4,28.3")
        printed = sumcurve("power", "--sd-items", 12, *seeds, "--json", out, *words)
        return printed, json.loads(out.read_text())["answers"]

    def cells(rows: list[dict]) -> list[tuple]:
        return [(row["items"], row["seeds"]) for row in rows]

    printed, rows = ask()
    assert [row["seeds"] for row in rows] == [2, 3, 5, 10, 20]
    assert rows[0]["items"] is None
    assert cells(rows)[3:] == [(items_needed(noise, Aim(), seeds), seeds) for seeds in (10, 20)]
    assert "seeds are the limit" in printed
    assert "trained models" not in printed
    assert cells(ask("--seeds", 10)[1]) == [(items_needed(noise, Aim(), 10), 10)]
    assert cells(ask("--items", 3000)[1]) == [(3000, seeds_needed(noise, Aim(), 3000))]
    _, rows = ask("--items", 1500, "--seeds", 3)
    assert 0 < rows[0]["power"] < 0.8
    assert rows[0]["effect"] > 1
    assert cells(rows)[1:] == [(1500, seeds_needed(noise, Aim(), 1500)), (items_needed(noise, Aim(), 3), 3)]
    printed, rows = ask("--items", 100)
    assert cells(rows) == [(100, None)]
    assert "items are the limit" in printed


def test_power_alone_and_in_a_family_of_paired_seeds(sumcurve, tmp_path) -> None:
    out = tmp_path / "out.json"
    seeds = ["20.1,20.9,22.1", "18.0,18.7,20.2", "17.2,17.9,19.0"]
    words = ["--sd-items", 12, "--design-effect", 1.6, "--items", 1000, "--seeds", 3, "--effect", 2.2, "--json", out]
    printed = sumcurve("power", *words, "--seed-scores", *seeds, "--paired", "--systems", 3)
    rows = json.loads(out.read_text())["answers"]
    alone, family = (next(row for row in rows if row["question"] == one) for one in ("alone", "all pairs of 3"))
    assert 0.5 < family["power"] < alone["power"] < 1
    assert f"alone: 1,000 items and 3 seeds: power {alone['power']:.3f}" in printed
    assert f"all pairs of 3: 1,000 items and 3 seeds: power {family['power']:.3f}" in printed
    noise = Noise(12, paired_sd([[float(one) for one in text.split(",")] for text in seeds]), 1.6, True, 3)
    assert alone["power"] == pytest.approx(float(power(noise, Aim(2.2), 1000, 3)))
    assert noise.sd_seed < 0.2  # seeds rise and fall together
    with pytest.raises(CommandError, match="paired seeds take"):
        sumcurve("power", *words, "--seed-scores", "1,2,3", "1,2", "--paired")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--sd-items", "0"], "sd_items is 0"),
        (["--sd-items", "-3"], "sd_items is -3; a standard deviation is at least 0$"),
        (["--sd-items", "5", "--sd-seed", "-0.5"], "sd_seed is -0.5; a standard deviation is at least 0$"),
        (["--sd-items", "1e200"], r"sd_items is 1e\+200; its square is beyond any number"),
        (["--sd-items", "9", "--effect", "1e308"], "--effect 1e\\+308"),
        (["--sd-items", "9", "--items", "99999999999999999999"], "--items 99999999999999999999"),
        (["--sd-items", "9", "--sd-seed", "1", "--seeds", "99999999999999999999"], "--seeds 99999999999999999999"),
        (["--sd-items", "9", "--sd-seed", "1e200"], "sd_seed is 1e\\+200"),
        (["--sd-items", "9", "--design-effect", "1e-300"], "--design-effect 1e-300"),
        (["--sd-items", "9", "--seed-scores", "31.2,31.5", "30"], "one seed says nothing"),
        (["--sd-items", "9", "--seed-scores", "31.3,31.3,31.3", "30,30"], "seed_scores: .* score the same"),
        (["--sd-items", "9", "--seed-scores", "31.1,31.4", "30.2,30.5", "--paired"], "but for what all systems share"),
        (["--sd-items", "9", "--paired"], "paired: without noise of seeds"),
        (["--sd-items", "9", "--seeds", "3"], "seeds: without noise of seeds"),
        (["--sd-items", "9", "--metric", "rouge2"], "--metric rouge2: no --per-item"),
        (["--per-item", "nowhere.csv"], r"nowhere\.csv: no such file"),
    ],
)
def test_power_refuses_senseless_questions(sumcurve, words, message) -> None:
    with pytest.raises(CommandError, match=message):
        sumcurve("power", *words)


ITEM = "system,item,rouge1_f\n"


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (["item,rouge1_f\n1,0.5"], "no column of systems|one column of scores"),
        ([f"{ITEM}candidates,1,0.5\ncandidates,2,0.4"], "scores of one system"),
        ([f"{ITEM}a,1,0.5\nb,1,0.5\nc,1,0.5"], r"3 systems \(a, b, c\): "),
        ([f"{ITEM}candidates,1,0.5\ncompare,1,many"], r"0\.csv:3: column rouge1_f holds 'many'"),
        ([f"{ITEM}candidates,1,nan\ncompare,1,0.5"], r"0\.csv:2: column rouge1_f holds 'nan'"),
        ([f"{ITEM}candidates,1,0.5\ncompare,2,0.5"], "item '1' has no score of 'compare'"),
        ([f"{ITEM}candidates,1,0.5\ncompare,1,0.4"], "two items or more"),
        ([f"{ITEM}candidates,1,0.5\ncandidates,2,41.5"], r"0\.csv:3: rouge1_f is a share, 0 to 1"),
        ([f"{ITEM}a,1,0.5\na,1,0.5\nb,1,0.5"], r"0\.csv:3: item '1' of 'a' comes a second time, after"),
        ([f"{ITEM}candidates,1,0.5\ncandidates,,0.4"], r"0\.csv:3: column item holds '': fill it in"),
        (["system,item,rouge1_f,rouge1_f\ncandidates,1,0.5,0.4"], r"0\.csv:1: column rouge1_f stands twice"),
        (["system,item,rouge1_f"], r"0\.csv has only a header"),
        ([f"{ITEM}candidates,1,0.5\ncandidates,2,0.4", f"{ITEM}candidates,1,0.5"], r"item '2' has no score of '1.csv'"),
        ([f"{ITEM}a,1,0.5\nb,1,0.5", f"{ITEM}a,1,0.4"], r"item '1' of '0.csv' comes a second time"),
    ],
)
def test_files_that_are_not_per_item_files_of_the_same_items_are_named(sumcurve, tmp_path, contents, message) -> None:
    paths = [tmp_path / f"{number}.csv" for number in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_text(f"{content}\n")
    with pytest.raises(CommandError, match=message):
        sumcurve("power", "--per-item", *paths)


@pytest.mark.parametrize(("mode", "warned"), [("rouge-score", True), ("unicode", False)])
def test_letters_that_a_mode_cannot_read_are_warned_of_first(sumcurve, tmp_path, mode, warned) -> None:
    """A digit or a borrowed word in each item is enough for scores that look like any others."""
    path = tmp_path / "r.txt"
    path.write_text("кошка 1 сидит\nthe cat\n")
    printed = sumcurve("rouge", "--references", path, "--candidates", path, "--mode", mode)
    assert printed.startswith("WARNING: 62 % of the references' letters are not a to z") is warned
    (path.parent / "e.txt").write_text("a cat in a café said " * 5 + "that all was well " * 60)
    printed = sumcurve("rouge", "--references", path.parent / "e.txt", "--candidates", path.parent / "e.txt")
    assert "not a to z" not in printed
