"""Shapes of corpora as people have them, from `sumcurve add` to the prepared corpus: what each says is kept."""

import csv
import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import workplace
from adding import add, prepared, said_of, sentence
from sumcurve.sources import SOURCES
from sumcurve.sources.content import Content
from sumcurve.sources.raw import Dropped
from sumcurve.store.errors import CorpusError
from sumcurve.study.plan import Plan
from workplace import configured

Texts = tuple[str, list[str]]  # a source and its summaries
PARTS = {"train": 60, "valid": 10, "test": 20}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    configured(tmp_path, "smoke")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def pairs(count: int, several: int = 1, seed: int = 1, sentences: int = 1) -> list[Texts]:
    """Invented texts, each with so many summaries."""
    draw = random.Random(seed)

    def text(number: int) -> str:
        return " ".join(sentence(draw, draw.randint(5, 8)) for _ in range(number))

    return [(text(4), [text(sentences) for _ in range(several)]) for _ in range(count)]


def in_parts(test: int = 1, train: int = 1) -> dict[str, list[Texts]]:
    counts = {"train": train, "valid": test, "test": test}
    return {part: pairs(PARTS[part], counts[part], seed) for seed, part in enumerate(PARTS)}


def found(study: str) -> dict[str, dict[str, list[str]]]:
    """The summaries of every source of the prepared corpus, by part."""
    _, corpus = prepared(study)
    return {
        part: {" ".join(text.source): [" ".join(one) for one in (text.target, *text.references)] for text in texts}
        for part in PARTS
        for texts in [[*corpus.part(part).text]]
    }


def check(study: str, expected: Sequence[Texts] | Mapping[str, Sequence[Texts]]) -> None:
    kept = found(study)
    if isinstance(expected, Mapping):
        assert kept == {part: dict(texts) for part, texts in expected.items()}
    else:
        assert {source: texts for part in kept.values() for source, texts in part.items()} == dict(expected)


def json_lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def table(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(dict.fromkeys(key for row in rows for key in row)))
        writer.writeheader()
        writer.writerows(rows)


def text_lines(path: Path, lines: Sequence[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines))


def text(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


# --- several references

ONE, THREE = pairs(80), pairs(80, 3)
UNEVEN = [(source, texts[: 1 + number % 3]) for number, (source, texts) in enumerate(THREE)]
SCITLDR = in_parts(test=3)
HINDI = [(f"शब्द {n} नया है। " * 3 + "अंत है।", [f"सार {n} है। और भी।", f"यह {n} है। वह है।"]) for n in range(60)]


def rows_of(texts: Sequence[Texts], source: str, target: str, **more: Callable[[int], object]) -> list[dict[str, Any]]:
    """A row for each summary, those of one source apart."""
    return [
        {**{key: value(number) for key, value in more.items()}, source: of, target: summaries[turn]}
        for turn in range(3)
        for number, (of, summaries) in enumerate(texts)
        if turn < len(summaries)
    ]


SEVERAL: dict[str, tuple[Callable[[Path], None], Any, str, str]] = {
    "a row for each, with a number of the paper": (
        lambda at: table(at / "mine.csv", rows_of(UNEVEN, "text", "summary", paper_id=lambda n: f"p{n}")),
        UNEVEN,
        "mine.csv",
        "79 rows repeat a source with another target, and are further references",
    ),
    "a row for each, with the same id": (
        lambda at: json_lines(at / "mine.jsonl", rows_of(THREE, "source", "target", id=lambda n: f"p{n}")),
        THREE,
        "mine.jsonl",
        "160 rows repeat a source",
    ),
    "a row for each, of the test part alone": (
        lambda at: [
            table(at / "mine" / f"{part}.csv", rows_of(texts, "dialogue", "summary"))
            for part, texts in (in_parts(3) | {"valid": pairs(10, 1, 5)}).items()
        ],
        in_parts(3) | {"valid": pairs(10, 1, 5)},
        "mine",
        "40 rows repeat a source",
    ),
    "numbered columns": (
        lambda at: json_lines(
            at / "mine.jsonl", [{"dialogue": s, "summary1": a, "summary2": b, "summary3": c} for s, (a, b, c) in THREE]
        ),
        THREE,
        "mine.jsonl",
        "references: summary2, summary3, a summary each, beside the target summary1",
    ),
    "numbered columns of a table, some cells empty": (
        lambda at: table(
            at / "mine.csv",
            [{"Article": s, **{f"Summary {n}": one for n, one in enumerate(texts, 1)}} for s, texts in UNEVEN],
        ),
        UNEVEN,
        "mine.csv",
        "Summary 2",
    ),
    "columns of references beside the target": (
        lambda at: json_lines(
            at / "mine.jsonl", [{"text": s, "ref_0": b, "ref_1": c, "summary": a} for s, (a, b, c) in THREE]
        ),
        THREE,
        "mine.jsonl",
        "ref_0, ref_1",
    ),
    "numbered columns in the test part alone": (
        lambda at: [
            json_lines(
                at / "mine" / f"talk.{part}.jsonl",
                [
                    {
                        "dialogue": s,
                        **({f"summary{n}": t for n, t in enumerate(texts, 1)} if texts[1:] else {"summary": texts[0]}),
                    }
                    for s, texts in of
                ],
            )
            for part, of in in_parts(3).items()
        ],
        in_parts(3),
        "mine",
        "summary1, summary2, summary3",
    ),
    "a list that begins with the target": (
        lambda at: json_lines(
            at / "mine.jsonl", [{"source": s, "target": texts[0], "references": texts} for s, texts in UNEVEN]
        ),
        UNEVEN,
        "mine.jsonl",
        "not counted twice",
    ),
    "a list alone": (
        lambda at: json_lines(at / "mine.jsonl", [{"source": s, "references": texts} for s, texts in UNEVEN]),
        UNEVEN,
        "mine.jsonl",
        "references: its lists are several summaries",
    ),
    "one in training, several in test": (
        lambda at: json_lines(
            at / "mine.jsonl",
            [{"split": p, "source": s, "target": texts} for p, of in SCITLDR.items() for s, texts in of],
        ),
        SCITLDR,
        "mine.jsonl",
        "one element in 60 of 60 training records, several in 20 of 20 of test",
    ),
    "one in training, several in test, by files": (
        lambda at: [
            json_lines(at / "mine" / f"{part}.jsonl", [{"source": s, "title": texts} for s, texts in of])
            for part, of in SCITLDR.items()
        ],
        SCITLDR,
        "mine",
        "--target-list sentences says otherwise",
    ),
    "lists of lists of sentences": (
        lambda at: json_lines(
            at / "mine.jsonl", [{"source": s, "summary": [[one] for one in texts]} for s, texts in THREE]
        ),
        THREE,
        "mine.jsonl",
        "an element is a list itself",
    ),
    "whole texts": (
        lambda at: json_lines(
            at / "mine.jsonl", [{"source": s, "summary": texts} for s, texts in pairs(60, 2, 4, sentences=2)]
        ),
        pairs(60, 2, 4, sentences=2),
        "mine.jsonl",
        "120 of 120 elements have several sentences",
    ),
    "whole texts of another script": (
        lambda at: json_lines(at / "mine.jsonl", [{"source": s, "summary": texts} for s, texts in HINDI]),
        HINDI,
        "mine.jsonl",
        "120 of 120 elements have several sentences",
    ),
    "sentences of one summary": (
        lambda at: json_lines(at / "mine.jsonl", [{"source": s, "summary": texts} for s, texts in THREE]),
        [(source, [" ".join(texts)]) for source, texts in THREE],
        "mine.jsonl",
        "the sentences of one summary (elements are single sentences, .*; --target-list alternatives says otherwise",
    ),
}


@pytest.mark.parametrize("kind", SEVERAL)
def test_every_reference_of_a_source_is_kept_and_the_first_is_the_target(place, monkeypatch, capsys, kind) -> None:
    write, expected, name, said = SEVERAL[kind]
    write(place)
    add(monkeypatch, name, "--name", "mine")
    printed = capsys.readouterr().out
    pattern = said.split(".*")
    assert all(part in printed for part in pattern), printed
    check("mine", expected)


def test_flags_say_otherwise(place, monkeypatch, capsys) -> None:
    json_lines(place / "mine.jsonl", [{"source": s, "summary": texts} for s, texts in THREE])
    add(monkeypatch, "mine.jsonl", "--name", "mine", "--target-list", "alternatives")
    assert "several summaries, of which the first is the target and all are references (--target-list" in (
        capsys.readouterr().out
    )
    check("mine", THREE)
    add(monkeypatch, "mine.jsonl", "--name", "same", "--target", "summary", "--references", "summary")
    assert said_of("same")["raw"]["fields"] == said_of("mine")["raw"]["fields"]
    rows = rows_of(UNEVEN, "text", "summary", paper=lambda n: f"p{n}")
    json_lines(place / "rows.jsonl", rows)
    add(monkeypatch, "rows.jsonl", "--name", "rows", "--gather", "none")
    assert "79 of the rows that repeat a source have another target, and are dropped" in (capsys.readouterr().out)
    check("rows", [(source, texts[:1]) for source, texts in UNEVEN])
    for number, row in enumerate(rows):
        row["text"] += f" {number}"  # which an id alone gathers
    json_lines(place / "ids.jsonl", rows)
    add(monkeypatch, "ids.jsonl", "--name", "ids", "--gather", "id", "--id", "paper")
    assert [len(texts) for part in found("ids").values() for texts in part.values()].count(3) == 26


def test_a_few_repeats_are_dropped_and_said(place, monkeypatch, capsys) -> None:
    rows = [{"text": source, "summary": texts[0]} for source, texts in ONE]
    json_lines(place / "mine.jsonl", [*rows, {**rows[0], "summary": "Another one."}])
    add(monkeypatch, "mine.jsonl", "--name", "mine")
    assert "WARNING: 1 of the rows that repeat a source have another target" in capsys.readouterr().out
    assert "gather" not in said_of("mine")["raw"]


def test_a_row_that_repeats_source_and_target_stays_a_duplicate(tmp_path) -> None:
    rows = [
        {"id": str(n), "source": source, "target": target}
        for n, (source, target) in enumerate([("A b", "c"), ("a  B", "d"), ("a b", "C"), ("e", "c")])
    ]
    json_lines(tmp_path / "mine.jsonl", rows)
    kept = list(Content(tmp_path / "mine.jsonl", SOURCES["jsonl"], gather="source").records())
    assert [(raw.id, raw.target, raw.references) for raw in kept] == [
        ("0", "c", ["d"]),
        ("2", "C", []),
        ("3", "c", []),
    ]


def test_a_column_of_references_that_no_row_has_is_refused(tmp_path) -> None:
    json_lines(tmp_path / "mine.jsonl", [{"id": "1", "source": "a b", "target": "c"}])
    fields = {"references": ["summary2"]}
    with pytest.raises(CorpusError, match="no record has the field 'summary2', a column of references"):
        list(Content(tmp_path / "mine.jsonl", SOURCES["jsonl"], fields).records())


# --- files of lines, and of texts


def lines_as(source: str, *targets: str, folder: str = "mine") -> Callable[[Path], None]:
    """Files of each part by these names, with {} for the part."""

    def write(at: Path) -> None:
        for part, texts in in_parts(len(targets), len(targets)).items():
            text_lines(at / folder / source.format(part), [of for of, _ in texts])
            for number, name in enumerate(targets):
                text_lines(at / folder / name.format(part), [summaries[number] for _, summaries in texts])

    return write


def texts_as(source: str, target: str, folder: str = "mine") -> Callable[[Path], None]:
    def write(at: Path) -> None:
        for number, (of, (summary,)) in enumerate(ONE):
            text(at / folder / source.format(number), of)
            text(at / folder / target.format(number), summary)

    return write


def crowded(at: Path) -> None:
    text_lines(at / "data" / "mine.src", [source for source, _ in ONE])
    text_lines(at / "data" / "mine.tgt", [texts[0] for _, texts in ONE])
    text_lines(at / "data" / "other.src", ["Not meant."])
    text_lines(at / "data" / "other.tgt", ["No."])
    text_lines(at / "data" / "README.txt", ["Of two."])


def stories(at: Path) -> None:
    for part, texts in in_parts(2, 2).items():
        for number, (source, highlights) in enumerate(texts):
            marked = "".join(f"\n\n@highlight\n\n{one}" for one in highlights)
            text(at / "mine" / part / f"{part}-{number}.story", source + marked)


FILES: dict[str, tuple[Callable[[Path], None], Any, str, str]] = {
    "src and tgt among other files": (crowded, ONE, "data/mine.src", "parallel"),
    "one of several pairs": (lines_as("{}.src", "{}.tgt"), in_parts()["train"], "mine/train.tgt", "parallel"),
    "src and tgt of parts": (lines_as("{}.src", "{}.tgt"), in_parts(), "mine", "parallel"),
    "document and summary": (lines_as("x.{}.document", "x.{}.summary"), in_parts(), "mine", "parallel"),
    "words before the part": (lines_as("src-{}.txt", "tgt-{}.txt"), in_parts(), "mine", "parallel"),
    "folders of sides": (lines_as("source/{}.txt", "target/{}.txt"), in_parts(), "mine", "parallel"),
    "several simplifications": (
        lines_as("a.{}.orig", "a.{}.simp.0", "a.{}.simp.1", "a.{}.simp.2"),
        in_parts(3, 3),
        "mine",
        "parallel",
    ),
    "TurkCorpus": (
        lines_as("{}.8turkers.norm", "{}.8turkers.turk.0", "{}.8turkers.turk.1"),
        in_parts(2, 2)["train"],
        "mine/train.8turkers.norm",
        "parallel",
    ),
    "a text and its summary": (texts_as("{}.txt", "{}.summary"), ONE, "mine", "texts"),
    "a text and its abstract": (texts_as("{}.txt", "{}.abstract.txt"), ONE, "mine", "texts"),
    "two folders": (texts_as("News Articles/uk/{}.txt", "Summaries/uk/{}.txt"), ONE, "mine", "texts"),
    "a folder each": (texts_as("p{}/text.txt", "p{}/abstract.txt"), ONE, "mine", "texts"),
    "stories": (
        stories,
        {part: [(source, [" ".join(texts)]) for source, texts in of] for part, of in in_parts(2, 2).items()},
        "mine",
        "texts",
    ),
}


@pytest.mark.parametrize("kind", FILES)
def test_files_beside_each_other_are_pairs(place, monkeypatch, capsys, kind) -> None:
    write, expected, name, form = FILES[kind]
    write(place)
    add(monkeypatch, name, "--name", "mine")
    assert f"records ({form})" in capsys.readouterr().out
    check("mine", expected)


def test_a_text_without_a_summary_is_dropped_and_two_that_could_be_meant_are_refused(tmp_path) -> None:
    texts_as("{}.txt", "{}.summary", "")(tmp_path)
    text(tmp_path / "README.txt", "About it.")
    rows = list(Content(tmp_path, SOURCES["texts"]).records())
    (dropped,) = [row for row in rows if isinstance(row, Dropped)]
    assert (dropped.place.file, dropped.value) == ("README.txt", "no file of a summary beside it")
    assert len(rows) == len(ONE) + 1
    text(tmp_path / "3.title", "Another.")
    with pytest.raises(CorpusError, match=r"3\.summary, 3\.title, 3\.txt: which is the summary of which"):
        list(Content(tmp_path, SOURCES["texts"]).records())


def test_lines_of_unequal_files_are_refused(tmp_path) -> None:
    lines_as("{}.src", "{}.tgt", folder="")(tmp_path)
    text_lines(tmp_path / "valid.tgt", ["One.", "Two."])
    with pytest.raises(CorpusError, match=r"valid\.tgt ends behind line 2, and .*valid\.src goes on"):
        list(Content(tmp_path, SOURCES["parallel"]).records())


# --- parts

NAMED = {
    "between points": ("corp.train.jsonl", "corp.dev.jsonl", "corp.test.jsonl"),
    "before a version": ("train_v2.jsonl", "val_v2.jsonl", "test_v2.jsonl"),
    "with capitals": ("TalkTrain.jsonl", "TalkDev.jsonl", "TalkTest.jsonl"),
    "with a number": ("mine-Train2019.jsonl", "mine-Validation2019.jsonl", "mine-Test2019.jsonl"),
    "folders": ("data/train/a.jsonl", "data/valid/a.jsonl", "data/testing/a.jsonl"),
}


@pytest.mark.parametrize("kind", NAMED)
def test_files_are_of_the_part_that_any_word_of_their_path_names(place, monkeypatch, capsys, kind) -> None:
    for name, (_, texts) in zip(NAMED[kind], in_parts().items(), strict=True):
        json_lines(place / "mine" / name, [{"text": source, "summary": of[0]} for source, of in texts])
    json_lines(place / "mine" / "hiddentest.jsonl", [{"text": "No summary."}])
    json_lines(place / "mine" / "old" / "train.jsonl", [{"text": "Not meant."}])
    add(monkeypatch, "mine", "--name", "mine")
    assert "left out: hiddentest.jsonl, old/train.jsonl\n" in capsys.readouterr().out
    check("mine", in_parts())


def test_two_files_of_one_part_have_one_pattern(place, monkeypatch) -> None:
    for part, texts in in_parts().items():
        rows = [{"text": source, "summary": of[0]} for source, of in texts]
        for number in range(2):
            json_lines(place / "mine" / f"c_{part}_{number}.jsonl", rows[number::2])
    add(monkeypatch, "mine", "--name", "mine")
    assert said_of("mine")["split"]["ready"] == {part: f"*_{part}_*" for part in PARTS}
    check("mine", in_parts())


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["tune.jsonl", "test.jsonl"], "tune.jsonl is valid, .* has a word of train: .* or name one file alone"),
        (["devset.jsonl", "testset_w_refs.jsonl"], "devset.jsonl is valid, testset_w_refs.jsonl is test, .* train:"),
        (["my_dev.jsonl", "rest.jsonl"], "my_dev.jsonl is valid, .* has a word of train and test"),
        (["train.jsonl", "dev-test.jsonl", "dev.jsonl"], "dev-test.jsonl has words of test and valid"),
        (["train.jsonl", "dev.jsonl", "val.jsonl", "test.jsonl"], "dev.jsonl and val.jsonl are files of valid"),
        (["train.jsonl", "dev.jsonl", "test.jsonl", "test_hard.jsonl"], "test.jsonl and test_hard.jsonl are files of"),
        ([f"{of}/{part}.jsonl" for of in ("a", "b") for part in PARTS], "mine: a and b have parts each: name one"),
    ],
)
def test_parts_that_are_half_there_are_refused(place, monkeypatch, names, message) -> None:
    for name in names:
        json_lines(place / "mine" / name, [{"text": source, "summary": of[0]} for source, of in ONE])
    with pytest.raises(SystemExit, match=f"(?s){message}"):
        add(monkeypatch, "mine", "--name", "mine")


TWO: dict[str, Callable[[Path, dict[str, list[Texts]]], None]] = {
    "files": lambda at, texts: [
        json_lines(at / "mine" / f"{part}.jsonl", [{"text": s, "summary": t, "site": s[:3]} for s, (t,) in of])
        for part, of in texts.items()
    ],
    "records": lambda at, texts: json_lines(
        at / "mine",
        [{"split": part, "text": s, "summary": t, "site": s[:3]} for part, of in texts.items() for s, (t,) in of],
    ),
}


@pytest.mark.parametrize("kind", TWO)
@pytest.mark.parametrize("lacks", ["valid", "test"])
def test_a_part_that_two_lack_is_drawn_from_train_by_groups_and_the_other_is_kept(
    place, monkeypatch, capsys, kind, lacks
) -> None:
    texts = {part: of for part, of in (in_parts() | {"train": pairs(200, seed=9)}).items() if part != lacks}
    TWO[kind](place, texts)
    add(monkeypatch, "mine", "--name", "mine", "--format", "jsonl", "--group", "site")
    (count,) = {"valid": [10], "test": [20]}[lacks]
    assert (
        f"of the training part {said_of('mine')['published'][lacks]} are drawn for {lacks}" in capsys.readouterr().out
    )
    kept = found("mine")
    other = "test" if lacks == "valid" else "valid"
    groups = {part: {source[:3] for source in of} for part, of in kept.items()}
    if lacks == "valid":  # a published test part stays, whatever train has
        assert kept["test"] == dict(texts["test"])
    assert set(kept[other]) <= {source for source, _ in texts[other]}
    assert len(kept[lacks]) == count == said_of("mine")["split"][lacks]
    assert set(kept[lacks]) <= {source for source, _ in texts["train"]}
    assert not groups[lacks] & groups["train"]


def test_parts_of_other_names_are_named_by_flags(place, monkeypatch) -> None:
    names = dict(zip(PARTS, ("aprendizaje", "ajuste", "prueba"), strict=True))
    for part, texts in in_parts().items():
        json_lines(place / "mine" / names[part] / "a.jsonl", [{"text": s, "summary": t} for s, (t,) in texts])
    flags = [word for part, name in names.items() for word in (f"--{part}", f"{name}/*")]
    add(monkeypatch, "mine", "--name", "mine", *flags)
    check("mine", in_parts())
    add(monkeypatch, "mine", "--name", "two", *flags[:2], *flags[4:])
    assert said_of("two")["split"] == {
        "ready": {"train": "aprendizaje/*", "test": "prueba/*"},
        "drawn": "valid",
        "valid": 3,
    }
    assert found("two")["test"] == dict(in_parts()["test"])


# --- fields


def said(user: Any, assistant: str, role: str = "role", text: str = "content") -> list[dict[str, Any]]:
    """A chat as one tool or another writes it."""
    users = ("user", "assistant") if role == "role" else ("human", "gpt")
    return [
        {role: "system", text: "You summarize."},
        {role: users[0], text: user},
        {role: users[1], text: assistant},
    ]


FORMS: dict[str, tuple[Callable[[str, str, int], dict[str, Any]], str]] = {
    "capitals": (lambda s, t, n: {"Text": s, "Summary": t}, ""),
    "all capitals": (lambda s, t, n: {"ARTICLE": s, "HighLights": t}, ""),
    "of India": (lambda s, t, n: {"ctext": s, "headlines": t}, ""),
    "of Indonesia": (lambda s, t, n: {"judul": t, "isi": s}, ""),
    "simplification": (lambda s, t, n: {"Original": s, "Simplified": t}, ""),
    "input and output": (lambda s, t, n: {"input": s, "output": t}, ""),
    "prompt and completion": (lambda s, t, n: {"prompt": s, "completion": t}, ""),
    "a title beside the target": (lambda s, t, n: {"title": f"Paper {n}.", "source": s, "target": t}, ""),
    "one instruction": (
        lambda s, t, n: {"instruction": "Summarize.", "input": s, "output": t},
        "instruction is the same in all rows",
    ),
    "messages": (
        lambda s, t, n: {"messages": said(s, t)},
        "the assistant's first answer the target; not read: messages",
    ),
    "messages of parts": (
        lambda s, t, n: {"chat": said([{"type": "text", "text": s}], t)},
        "the user's words are the source",
    ),
    "conversations": (
        lambda s, t, n: {"id": n, "conversations": said(s, t, role="from", text="value")},
        "the user's words are the source",
    ),
    "a part in another column": (lambda s, t, n: {"fold": part_of_row(n), "input": s, "output": t}, "field 'fold'"),
}


def part_of_row(number: int) -> str:
    return "train" if number < 60 else "val" if number < 70 else "test"


@pytest.mark.parametrize("kind", FORMS)
def test_forms_and_names_of_fields_are_found(place, monkeypatch, capsys, kind) -> None:
    row, note = FORMS[kind]
    json_lines(place / "mine.jsonl", [row(source, texts[0], n) for n, (source, texts) in enumerate(ONE)])
    add(monkeypatch, "mine.jsonl", "--name", "mine")
    assert note in capsys.readouterr().out
    check("mine", {"train": ONE[:60], "valid": ONE[60:70], "test": ONE[70:]} if "fold" in note else ONE)


def test_instructions_that_differ_are_read_with_their_inputs(place, monkeypatch, capsys) -> None:
    rows = [
        {
            "instruction": f"Summarize case {n}.",
            "input": source if n % 4 else "",
            "output": texts[0],
            "text": f"Below is an instruction. {source} {texts[0]}",  # of which no source is made
        }
        for n, (source, texts) in enumerate(ONE)
    ]
    json_lines(place / "mine.jsonl", rows)
    add(monkeypatch, "mine.jsonl", "--name", "mine", "--form", "smoke")
    assert "source: instruction and input, joined by an empty line; --source input takes" in capsys.readouterr().out
    fields = said_of("mine")["raw"]["fields"]
    assert fields["source"] == ["instruction", "input"]
    kept = list(Content(place / "mine.jsonl", SOURCES["jsonl"], fields).records())
    assert [raw.source for raw in kept] == ["\n\n".join(filter(None, (r["instruction"], r["input"]))) for r in rows]


def test_of_a_chat_the_first_answer_is_read_and_one_without_it_is_dropped(tmp_path) -> None:
    chats = [
        [("user", "A b."), ("user", "C d."), ("assistant", "E."), ("user", "Shorter!"), ("assistant", "F.")],
        [("assistant", "Hello."), ("user", "A b."), ("assistant", "E.")],
        [("user", "A b.")],
    ]
    json_lines(
        tmp_path / "mine.jsonl", [{"chat": [{"role": role, "content": of} for role, of in chat]} for chat in chats]
    )
    first, second, third = Content(tmp_path / "mine.jsonl", SOURCES["jsonl"], {"id": None, "chat": "chat"}).records()
    assert (first.source, first.target) == ("A b.\n\nC d.", "E.")
    assert (second.source, second.target) == ("A b.", "E.")
    assert third.reason == "no message of a user with an answer"


def test_lists_of_objects_are_named_with_a_line_that_makes_texts_of_them(place, monkeypatch) -> None:
    names = ("Jane Roe", "John Q. Public")  # of annotators, which no text may hold; most turns are shorter
    turns = [[{"who": names[0], "says": s}, *2 * [{"who": names[1], "says": "Yes."}]] for s, _ in ONE]
    json_lines(place / "mine.jsonl", [{"turns": of, "summary": t} for of, (_, (t,)) in zip(turns, ONE, strict=True)])
    line = (
        r"turns holds lists of objects with says, who \(if says is not the text, name another\): texts .* "
        r"`jq -c '\(arrays\[\], objects\) \| \.\"turns\"\[\]\? \|= \.\"says\"' mine.jsonl > texts.jsonl`"
    )
    for more in ([], ["--source", "turns"]):
        with pytest.raises(SystemExit, match=line):
            add(monkeypatch, "mine.jsonl", "--name", "mine", *more)


def test_lists_of_words_are_no_sentences_and_one_line_makes_texts_of_all_of_them(place, monkeypatch) -> None:
    rows = [{"text": [line.split() for line in s.split(". ")], "summary": t.split()} for s, (t,) in ONE]
    json_lines(place / "mine.jsonl", rows)
    with pytest.raises(SystemExit) as refused:
        add(monkeypatch, "mine.jsonl", "--name", "mine")
    assert "text holds lists of words, summary holds lists of words: texts are made" in str(refused.value)
    assert str(refused.value).count("jq -c") == 1  # a second one would read the first file again
    rows = [{"text": s.split(". "), "summary": t} for s, (t,) in ONE]  # sentences, which stay
    json_lines(place / "mine.jsonl", rows)
    add(monkeypatch, "mine.jsonl", "--name", "mine", "--form", "smoke")


def test_a_list_in_a_cell_is_no_text(place, monkeypatch) -> None:
    table(place / "mine.csv", [{"text": s, "summary": str(texts)} for s, texts in THREE])  # as pandas writes it
    with pytest.raises(SystemExit, match="a list in a cell of 'summary'; write lists as JSON lines"):
        add(monkeypatch, "mine.csv", "--name", "mine")


def test_an_object_in_a_cell_is_no_text(place, monkeypatch) -> None:
    rows = [{"text": s, "summary": str([{"annotator": "anna", "text": text} for text in texts])} for s, texts in THREE]
    table(place / "mine.csv", rows)
    with pytest.raises(SystemExit, match="an object in a cell of 'summary'; write lists as JSON lines"):
        add(monkeypatch, "mine.csv", "--name", "mine")


@pytest.mark.parametrize("more", [(), ("--target", "ref_1"), ("--target", "ref_2")])
def test_numbered_references_are_found_whichever_is_the_target(place, monkeypatch, more) -> None:
    rows = [{"text": s, **{f"ref_{n}": t for n, t in enumerate(texts, start=1)}} for s, texts in THREE]
    table(place / "mine.csv", rows)
    add(monkeypatch, "mine.csv", "--name", "mine", "--form", "smoke", *more)
    fields = said_of("mine")["raw"]["fields"]
    assert fields["target"] == (more[1] if more else "ref_1")
    assert {fields["target"], *fields["references"]} == {"ref_1", "ref_2", "ref_3"}


def test_parts_that_rows_state_are_read_in_any_case_and_with_blanks_and_none_is_lost_unseen(place, monkeypatch) -> None:
    names = {"train": "Train", "valid": "Validation ", "test": " TEST"}
    rows = [{"text": s, "summary": t, "split": names[part]} for part, of in in_parts().items() for s, (t,) in of]
    table(place / "mine.csv", rows)
    add(monkeypatch, "mine.csv", "--name", "mine", "--form", "smoke")
    assert {part: len(of) for part, of in found("mine").items()} == PARTS
    table(place / "other.csv", [row | {"split": row["split"].replace("TEST", "heldout")} for row in rows])
    with pytest.raises(SystemExit, match=r"a part is missing, and rows state .*20 for unknown split.* heldout"):
        add(monkeypatch, "other.csv", "--name", "other", "--form", "smoke")


def test_short_words_of_parts_in_names_are_known(place, monkeypatch) -> None:
    for part, word in (("train", "trn"), ("valid", "vld"), ("test", "tst")):
        table(place / "mine" / f"a_{word}.csv", [{"text": s, "summary": t} for s, (t,) in in_parts()[part]])
    add(monkeypatch, "mine", "--name", "mine", "--form", "smoke")
    assert {part: len(of) for part, of in found("mine").items()} == PARTS


def test_all_that_is_missing_is_asked_for_at_once_with_the_command_to_type(place, monkeypatch) -> None:
    rows = [{"Artigo": source, "Sumario": texts[0], "ano": n} for n, (source, texts) in enumerate(ONE)]
    table(place / "my data.csv", rows)
    with pytest.raises(SystemExit) as refused:
        add(monkeypatch, "my data.csv", "--sizes", "20,40")
    message = str(refused.value)
    assert "which field is the source (none is known as one)? say --source FIELD; which field is the target" in message
    command = "sumcurve add 'my data.csv' --name my_data --sizes 20,40 --source ??? --target ???"
    assert f"`{command}`" in message
    assert f"Artigo ({rows[0]['Artigo'][:20]}" in message
    assert f"Sumario ({rows[0]['Sumario'][:20]}" in message
    assert not Path("config/studies/my_data.yaml").exists()
    with pytest.raises(SystemExit, match=r"`sumcurve add 'my data.csv' --name mine --source Artigo --target \?\?\?`"):
        add(monkeypatch, "my data.csv", "--name", "mine", "--source", "Artigo")


def test_a_first_row_of_a_script_without_blanks_is_no_line_of_names(place, monkeypatch) -> None:
    rows = [("".join(chr(0x4E00 + (7 * n + 13 * k) % 900) for k in range(150)), f"题{n}") for n in range(80)]
    text_lines(place / "mine.tsv", [f"to title\t{source}\t{target}" for source, target in rows])
    with pytest.raises(SystemExit, match=r"mine\.tsv:1: .* is no name of a column: say --no-heads"):
        add(monkeypatch, "mine.tsv", "--name", "mine")


def test_a_name_that_few_rows_have_is_not_taken_for_one_that_all_have(place, monkeypatch) -> None:
    rows = [{"text": s, "title": t[0] if n < 9 else "", "reference_summary": t[0]} for n, (s, t) in enumerate(ONE)]
    json_lines(place / "mine.jsonl", rows)
    add(monkeypatch, "mine.jsonl", "--name", "mine")
    check("mine", ONE)


def test_texts_in_folders_of_other_names_are_told_how_to_call_them(place, monkeypatch) -> None:
    texts_as("wiki/{}.txt", "children/{}.txt")(place)
    for more in ([], ["--format", "texts"]):
        with pytest.raises(SystemExit, match=r"texts, a file each, call folders or files by their sides, as source/a"):
            add(monkeypatch, "mine", "--name", "mine", *more)


def test_references_are_counted_of_the_records_that_stay(place, monkeypatch, capsys) -> None:
    texts = pairs(90, 2)
    rows = [{"text": source, "summary1": one, "summary2": two} for source, (one, two) in [*texts, *texts[:4]]]
    json_lines(place / "mine.jsonl", rows)
    add(monkeypatch, "mine.jsonl", "--name", "mine")
    assert "references: 90 records of 90 have several" in capsys.readouterr().out


# --- lengths


@pytest.mark.parametrize(("words", "warned"), [(5, False), (300, False), (700, True)])
def test_limits_follow_the_targets(place, monkeypatch, capsys, words, warned) -> None:
    draw = random.Random(2)
    rows = [
        {"source": sentence(draw, 2 * words + 10), "target": sentence(draw, words), "id": str(n)} for n in range(60)
    ]
    json_lines(place / "mine.jsonl", rows)
    add(monkeypatch, "mine.jsonl", "--name", "mine")
    printed = capsys.readouterr().out
    corpus = said_of("mine")
    assert corpus["search"]["min_tokens"] < corpus["search"]["max_tokens"] == corpus["target_tokens"]
    assert ("WARNING: 100 % of targets are longer than the 512 tokens" in printed) is warned
    assert warned or corpus["target_tokens"] == words + 1  # the full stop
    assert ("of sources are longer than the 400 tokens" in printed) is (words > 200)


# --- to the end


def in_english(texts: Sequence[Texts]) -> list[Texts]:
    """Texts in which the words are that tell English, for scorers of English alone."""
    return [(source.replace(" ", " of the "), [one.replace(" ", " of the ") for one in of]) for source, of in texts]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["rows", "parallel", "messages"])
def test_such_a_corpus_is_a_study_that_ends(place, monkeypatch, kind) -> None:
    name = "mine.jsonl"
    if kind == "rows":
        json_lines(place / name, rows_of(in_english(UNEVEN), "text", "summary"))
    elif kind == "messages":
        json_lines(place / name, [{"messages": said(source, texts[0])} for source, texts in in_english(ONE)])
    else:
        name = "mine"
        for part, texts in in_parts(2, 2).items():
            english = in_english(texts)
            text_lines(place / name / f"{part}.src", [source for source, _ in english])
            for number in range(2):
                text_lines(place / name / f"{part}.ref{number}", [of[number] for _, of in english])
    add(monkeypatch, name, "--name", "mine", "--form", "smoke", "--models", "pcov", "--sizes", "10,40")
    tables = workplace.tables_of(place, Plan.read(Path("config"), "mine"))
    scores = [row for row in tables["scores"] if row["method"] == "lead"]
    assert scores
    assert float(scores[0]["rouge1"]) > 0
    lead = {row["method"]: row for row in tables["references"]}["lead"]
    assert (lead["rouge1_mean"] != lead["rouge1_first"]) is (kind != "messages")
