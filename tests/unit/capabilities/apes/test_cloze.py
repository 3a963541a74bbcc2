"""Questions about a whole corpus: what is written, counted, and guessed, on invented records."""

import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from news import Story, tarball
from sumcurve.capabilities.apes.cloze import ask, ask_by_files, salient_spans
from sumcurve.capabilities.apes.entities import Finder, Named, load
from sumcurve.capabilities.apes.folders import QuestionsSpecification, questions
from sumcurve.capabilities.apes.questions import (
    NOT_ASKED,
    Asked,
    Question,
    anonymise,
    answerable,
    asked_of,
    candidates,
    chance,
    most_frequent,
)
from sumcurve.corpora.store import Corpus, read_salient
from sumcurve.corpora.tokenizers import tokenizer
from sumcurve.store.errors import CorpusError
from sumcurve.store.records import Record, Text, write_jsonl
from sumcurve.store.stage import Stage

NAMES = ("Marta Lind", "Lind", "Bergen", "Aarhus", "Oslo", "Oslo Fjord")
TARGETS = {
    "train": [["Marta Lind left Aarhus for Bergen .", "Lind wept ."], ["Bergen wept ."], ["Nobody came ."]],
    "valid": [["Oslo met Bergen ."]],
    "test": [["Bergen met Marta Lind in Oslo ."], ["Aarhus and Oslo ."]],
}
SOURCES = {
    "train": [["It was Marta Lind who left .", "In Bergen Lind , in Bergen !"], ["Bergen ."], ["Rain ."]],
    "valid": [["Oslo , Oslo , Bergen ."]],
    "test": [["Marta Lind is from Oslo Fjord , not Oslo ."], ["Rain ."]],
}


class OfNames(Finder):
    """Finds these names, whole, in their own case: an independent stand-in for a pipeline."""

    def __init__(self) -> None:
        pass

    @property
    def facts(self) -> dict:
        return {"name": "of tests"}

    def names(self, texts, never=()):
        for text in texts:
            padded = f" {' '.join(text)} "
            yield Named({name.lower(): name.lower() for name in NAMES if f" {name} " in padded}, {})


def make_corpus(folder: Path, parts=("train", "valid", "test"), ids=lambda part, number: f"{part}{number}") -> Corpus:
    folder.mkdir()
    for part in parts:
        records, texts = [], []
        for number, (target, source) in enumerate(zip(TARGETS[part], SOURCES[part], strict=True)):
            name = ids(part, number)
            records.append(Record(name, [one.lower() for one in source], [one.lower() for one in target]))
            texts.append(Text(name, source, target))
        write_jsonl(folder / f"{part}.jsonl", (one.as_dict() for one in records))
        write_jsonl(folder / f"{part}.text.jsonl", (one.as_dict() for one in texts))
    return Corpus(folder)


def test_every_reference_is_asked_about_or_counted_and_guesses_are_those_of_its_source(tmp_path: Path) -> None:
    corpus, folder = make_corpus(tmp_path / "corpus"), tmp_path / "questions"
    folder.mkdir()
    told = ask(corpus, folder, OfNames())
    assert json.loads((folder / "statistics.json").read_text()) == told
    assert (told["recogniser"], told["fewest_entities"]) == ({"name": "of tests"}, 2)
    train = told["parts"]["train"]
    assert [train[reason] for reason in (*NOT_ASKED, "asked")] == [1, 1, 0, 1]
    # of marta lind twice, of aarhus and bergen once each; aarhus is not in the source
    assert (train["entities"], train["questions"], train["answerable"]) == (3, 4, 3)
    learned = Counter()
    for part in corpus.parts:
        statistics = told["parts"][part.name]
        assert statistics["records"] == statistics["asked"] + sum(statistics[reason] for reason in NOT_ASKED)
        found = []
        for record, asked in asked_of(part, folder):
            found += answerable(anonymise(record.source_tokens, asked.source_names), asked.questions)
        if part.name == "train":
            learned = Counter(answer for _, _, answer in found)
        assert statistics["answerable"] == len(found)
        if found:
            most = min(number for number, count in learned.items() if count == max(learned.values()))
            shares = {
                "chance": sum(chance(read, answer) for read, _, answer in found),
                "majority": sum(answer == most for _, _, answer in found),
                "frequency": sum(most_frequent(read) == answer for read, _, answer in found),
            }
            for guess, right in shares.items():
                assert statistics[guess] == pytest.approx(right / len(found), abs=1e-6)
    assert told["parts"]["valid"]["frequency"] == 0.5  # oslo is asked for, and bergen


def test_a_source_s_own_names_are_distractors_and_mask_what_they_hold(tmp_path: Path) -> None:
    corpus, folder = make_corpus(tmp_path / "corpus"), tmp_path / "questions"
    folder.mkdir()
    ask(corpus, folder, OfNames())
    (record, asked), (_, other) = asked_of(corpus.part("test"), folder)
    assert asked.names == {"marta lind": 0, "bergen": 1, "oslo": 2, "lind": 0}
    assert asked.further == {"oslo fjord": 2}  # oslo is a part of it, as the authors merge
    document = anonymise(record.source_tokens, asked.source_names)
    assert " ".join(document) == "@entity0 is from @entity2 , not @entity2 ."
    assert candidates(anonymise(record.source_tokens, asked.names)) == {0: 1, 2: 2}
    assert len(other.questions) == 2
    assert other.further == {}


def test_salient_are_mentions_of_answers_or_every_word_of_their_names(tmp_path: Path) -> None:
    record = Record("r", ["the museum of the north and marta .", "lind likes the museum ."], ["t"])
    asked = Asked(
        "r",
        {"the museum of the north": 0, "marta lind": 1, "lind": 1, "likes": 2},
        (Question("r", 0, ("@placeholder",), 0), Question("r", 0, ("@placeholder",), 1)),
    )
    assert salient_spans(record, asked, "names") == [(0, 5), (8, 9)]
    marked = [start for start, end in salient_spans(record, asked, "words") if end == start + 1]
    tokens = record.source_tokens
    assert [tokens[place] for place in marked] == "the museum of the north marta lind the museum".split()  # noqa: SIM905
    corpus = make_corpus(tmp_path / "corpus")
    for salient in ("names", "words"):
        (folder := tmp_path / salient).mkdir()
        ask(corpus, folder, OfNames(), salient)
        for part in corpus.parts:
            spans = list(read_salient(folder, part.name))
            expected = [salient_spans(record, asked, salient) for record, asked in asked_of(part, folder)]
            assert spans == expected
    assert spans[0]


class Terror(OfNames):
    """Finds al-Qaeda, joined or in its parts, Qaeda alone, and Bergen."""

    def names(self, texts, never=()):
        for text in texts:
            padded = f" {' '.join(text)} ".lower()
            names = ("al-qaeda", "al - qaeda", "qaeda", "bergen")
            yield Named({one: one for one in names if f" {one} " in padded}, {})


def test_a_hyphen_ends_a_word_where_the_corpus_says_so(tmp_path: Path, monkeypatch) -> None:
    """Joined tokens are asked about as those of a tokenizer that joins none: Qaeda is a mention of al-Qaeda."""
    target, source = (
        "al-Qaeda left Bergen .",
        "Men of Qaeda , pro-Qaeda , in a Qaeda-Bergen talk -LRB- al-Qaeda -RRB- -- .",
    )
    asked, spans = {}, {}
    for corpus, hyphenated in (("joined", "parts"), ("apart", "whole"), ("joined", "whole")):
        said = [text if corpus == "joined" else re.sub(r"\b-\b", " - ", text) for text in (target, source)]
        for part in ("train", "valid", "test"):
            monkeypatch.setitem(TARGETS, part, [[said[0]]])
            monkeypatch.setitem(SOURCES, part, [[said[1]]])
        made, folder = make_corpus(tmp_path / f"{corpus}-{hyphenated}"), tmp_path / f"asked-{corpus}-{hyphenated}"
        folder.mkdir()
        ask(made, folder, Terror(), hyphenated=hyphenated)
        ((record, one),) = asked_of(made.part("test"), folder)
        asked[corpus, hyphenated] = one.names, one.further, one.questions, one.anonymised(record.source_tokens)
        spans[corpus, hyphenated] = [" ".join(record.source_tokens[start:end]) for start, end in one.salient]
    assert asked["joined", "parts"] == asked["apart", "whole"]
    assert spans["joined", "parts"] == ["qaeda", "pro-qaeda", "qaeda-bergen", "al-qaeda"]
    assert asked["joined", "whole"][1] == {"qaeda": 2}  # another entity
    assert spans["joined", "whole"] == ["al-qaeda"]


def test_words_that_are_never_entities_hide_no_name_beside_them(tmp_path: Path, monkeypatch) -> None:
    """Speakers' names are neither asked for nor listed, alone or in one with another name; what is beside them is."""
    target = ["Speaker2 tells Bergen that Speaker1 Oslo left .", "Speaker1'll miss Bergen ."]
    source = ["Speaker1 : we met Bergen , Oslo .", "Speaker2 : Speaker2 and Oslo said so ."]
    for part in ("train", "valid", "test"):
        monkeypatch.setitem(TARGETS, part, [target])
        monkeypatch.setitem(SOURCES, part, [source])
    corpus = make_corpus(tmp_path / "corpus")
    asked = {}
    for never in ((), (r"speaker\d", "^x$")):
        (folder := tmp_path / f"asked{len(never)}").mkdir()
        ask(corpus, folder, load("names"), never=never)
        ((_, asked[bool(never)]),) = asked_of(corpus.part("test"), folder)
    assert any("speaker1" in name for name in asked[False].names)
    assert asked[True].names == {"bergen": 0, "oslo": 1}
    assert asked[True].further == {}
    assert [" ".join(question.words) for question in asked[True].questions] == [
        "speaker2 tells @placeholder that speaker1 @entity1 left .",
        "speaker2 tells @entity0 that speaker1 @placeholder left .",
        "speaker1'll miss @placeholder .",
    ]


def test_what_a_corpus_holds_out_has_no_training_part_to_learn_a_majority_from(tmp_path: Path) -> None:
    corpus, folder = make_corpus(tmp_path / "corpus", ("test",)), tmp_path / "questions"
    folder.mkdir()
    shutil.copy(corpus.folder / "test.jsonl", corpus.folder / "unseen.jsonl")
    told = ask(corpus, folder, OfNames())["parts"]
    assert set(told) == {"test"}
    assert (told["test"]["majority"], told["test"]["frequency"] is None) == (None, False)


def stories(part: str, number: int) -> Story:
    return Story(f"http://cnn.example/{part}/{number}", part, [], [])


def test_ready_made_files_ask_about_the_records_of_their_stories(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "corpus", ids=lambda part, number: stories(part, number).id)
    entities = {"@entity5": "Marta Lind", "@entity2": "Bergen", "@entity7": "Oslo"}
    listed = "\n".join(f"{one}:{name}" for one, name in entities.items())

    def file(story: Story, question: str, answer: str) -> bytes:
        return "\n\n".join([story.url, "@entity5", question, answer, listed]).encode()

    files = {
        "x/a.question": file(stories("test", 0), "@entity2 met @placeholder in @entity7", "@entity5"),
        "x/b.question": file(stories("test", 0), "@placeholder met @entity5 in @entity7", "@entity2"),
        "x/c.question": file(stories("train", 0), "@entity5 left for @placeholder", "@entity2"),
        "x/d.question": file(stories("train", 9), "@entity5 left for @placeholder", "@entity2"),
    }
    (folder := tmp_path / "questions").mkdir()
    archive = tarball(tmp_path / "cnn.tgz", files)
    told = ask_by_files(corpus, folder, archive, lambda texts: tokenizer("words").tokens(texts, True))
    asking = {"corpus": "c", "files": {"sha256": "f", "tokenizer": "words", "lower": True}}
    made = built(asking, corpus, tmp_path, archive)
    written, expected = ([path.read_bytes() for path in sorted(one.iterdir())] for one in (made, folder))
    assert written == expected
    assert told["files"] == {"read": 4, "asked": 3, "dropped": {"story of no record": 1}}
    assert json.loads((folder / "statistics.json").read_text()) == told
    counted = {part: (one["asked"], one["questions"], one["no entity"]) for part, one in told["parts"].items()}
    assert counted == {"train": (1, 1, 2), "valid": (0, 0, 1), "test": (1, 2, 1)}
    (record, asked), _ = asked_of(corpus.part("test"), folder)
    assert asked.names == {"marta lind": 5, "bergen": 2, "oslo": 7}
    document = anonymise(record.source_tokens, asked.source_names)
    assert " ".join(document) == "@entity5 is from @entity7 fjord , not @entity7 ."
    ((_, question, answer),) = answerable(document, asked.questions)
    assert (question, answer) == (("@entity2", "met", "@placeholder", "in", "@entity1"), 0)


def built(specification: dict, corpus: Corpus, folder: Path, file: Path | None = None) -> Path:
    """The folder that the builder makes; `file` is what the specification's sha256 "f" names."""
    made = folder / "made"
    made.mkdir()
    stage = Stage(made, "notes-questions-12345678", folder, note=lambda line: None)
    inputs = {"c": corpus.folder} | ({"f": file} if file is not None else {})
    questions(QuestionsSpecification(**specification), inputs, stage)
    return made


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"pipeline": "en_no_such_model"}, r"notes-questions.*no spaCy pipeline 'en_no_such_model'.*spacy download"),
        ({"pipeline": {"sha256": "f"}}, r"no spaCy pipeline '.*nowhere'.*'rules'"),
    ],
)
def test_a_pipeline_that_is_not_there_is_named_with_the_remedy(tmp_path: Path, told, message) -> None:
    with pytest.raises(CorpusError, match=message):
        built({"corpus": "c", **told}, make_corpus(tmp_path / "corpus"), tmp_path, tmp_path / "nowhere")
