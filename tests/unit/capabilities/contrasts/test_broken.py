import json
from pathlib import Path

import pytest

from sumcurve.capabilities.contrasts import sets as contrasts
from sumcurve.capabilities.contrasts.broken import annotate, first
from sumcurve.capabilities.contrasts.rules import FILTERS
from sumcurve.capabilities.contrasts.sets import RULES, Contrast, Contrasted
from sumcurve.capabilities.contrasts.settings import Contrasts
from sumcurve.corpora.pipeline import PipelineError
from sumcurve.corpora.tokens import tokenize
from sumcurve.store.records import Record, RecordError, Text, write_jsonl

pytest.importorskip("textblob")

# id: source and target, sentence by sentence. All of it is invented.
TEXTS = {
    "storm": (
        [
            "A storm closed three schools in Bergen on Monday.",
            "The mayor asked parents to keep small children at home.",
        ],
        ["The schools in Bergen closed after a heavy storm.", "The mayor warned parents."],
    ),
    "chess": (
        ["The old club sold its tables because members left for Oslo.", "A young player bought the last board."],
        ["The club in Oslo sold its tables to a player."],
    ),
    "nounless": (["Nobody knew why it was so."], ["It was so."]),
    "one": (["Snow and water covered the roof."], ["Water"]),
    "again": (["The cat slept near the stove."], ["The cat slept.", "The cat slept.", "The cat slept."]),
    "greek": (["Ο γάτος κοιμάται στη στέγη."], ["The cat sleeps on the roof."]),
    "long": (["The baker sold bread."], ["The farmer sold " + "bread and milk and " * 60 + "eggs in Turin."]),
    "bare": (["The man's dog isn't here."], ["The dog's bowl isn't full."]),
}


def corpus(folder: Path, ids: list[str], texts: dict[str, tuple[list[str], list[str]]] = TEXTS) -> Path:
    """The test part of a prepared corpus in lower case."""
    folder.mkdir(parents=True)

    def tokens(sentences: list[str]) -> list[str]:
        return [" ".join(tokenize(sentence, lower=True)) for sentence in sentences]

    write_jsonl(folder / "test.jsonl", (Record(one, *map(tokens, texts[one])).as_dict() for one in ids))
    write_jsonl(folder / "test.text.jsonl", (Text(one, *texts[one]).as_dict() for one in ids))
    return folder


def made(tmp_path: Path, name: str, ids: list[str], texts=TEXTS, **told) -> tuple[dict[str, Contrasted], dict]:
    folder = tmp_path / f"{name}-contrasts"
    folder.mkdir()
    annotate(corpus(tmp_path / name, ids, texts), folder, Contrasts(**told))
    rows = {row.item: row for row in contrasts.read(folder)}
    return rows, json.loads((folder / "statistics.json").read_text())


def test_every_gold_has_a_line_and_every_candidate_an_account(tmp_path: Path) -> None:
    rows, told = made(tmp_path, "all", list(TEXTS))
    assert list(rows) == list(TEXTS)
    assert told["golds"] == len(TEXTS)
    assert told["golds_with_contrasts"] == sum(bool(row.contrasts) for row in rows.values())
    assert told["contrasts"] == sum(len(row.contrasts) for row in rows.values())
    for rule in RULES:
        counted = told["rules"][rule]
        assert counted["candidates"] == sum(counted[name] for name in FILTERS) + counted["left"]
        assert counted["sampled"] == sum(one.rule == rule for row in rows.values() for one in row.contrasts)
    for row in rows.values():
        assert all(one.words != row.gold for one in row.contrasts)
        assert len(set(row.contrasts)) == len(row.contrasts) <= 50


def test_contrasts_are_in_the_corpuss_words_and_sentences(tmp_path: Path) -> None:
    rows, _ = made(tmp_path, "words", ["storm"])
    row = rows["storm"]
    assert row.sentences == ["the schools in bergen closed after a heavy storm .", "the mayor warned parents ."]
    told = {(one.rule, *one.sentences) for one in row.contrasts}
    rest = "the mayor warned parents ."
    assert ("gold_noun", "the parents in bergen closed after a heavy storm .", "the mayor warned schools .") in told
    assert ("gold_verb", "the schools in bergen warned after a heavy storm .", "the mayor closed parents .") in told
    assert ("source_adjective", "the schools in bergen closed after a small storm .", rest) in told


def test_golds_that_give_little_are_there_and_empty(tmp_path: Path) -> None:
    rows, _ = made(tmp_path, "bad", ["nounless", "one", "again", "greek", "bare"])
    assert not any("noun" in one.rule for one in rows["nounless"].contrasts)
    nouns = [(one.rule, one.words) for one in rows["one"].contrasts]
    assert nouns == [("source_noun", ("snow",)), ("source_noun", ("roof",))]
    assert not any(one.rule == "gold_noun" for one in rows["again"].contrasts)
    assert [one.rule for one in rows["greek"].contrasts if "source" in one.rule] == []
    words = {word for row in rows.values() for one in row.contrasts for word in one.words}
    assert "isn't" in words  # where it stood
    assert not any("'" in word for one in rows["bare"].contrasts for word in set(one.words) - set(rows["bare"].gold))


def test_what_is_longer_than_systems_read_is_cut_and_counted(tmp_path: Path) -> None:
    rows, told = made(tmp_path, "long", ["long", "storm"], target_tokens=12, source_tokens=9)
    assert told["cut_golds"] == 2
    assert told["cut_sources"] == 1
    assert " ".join(rows["long"].gold) == "the farmer sold bread and milk and bread and milk and bread"
    assert rows["storm"].lengths == (10, 2)
    whole, told = made(tmp_path, "whole", ["long", "storm"])
    assert (told["cut_golds"], len(whole["long"].gold)) == (1, 100)


def test_items_depend_on_no_other_item_and_some_are_the_same_whatever_their_order(tmp_path: Path) -> None:
    ids = list(TEXTS)
    together, _ = made(tmp_path, "together", ids, each=5)
    assert made(tmp_path, "reversed", ids[::-1], each=5)[0] == together
    alone, _ = made(tmp_path, "alone", ["chess"], each=5)
    assert alone["chess"] == together["chess"]
    assert made(tmp_path, "other", ids, each=5, seed=2)[0] != together
    some, told = made(tmp_path, "some", ids, golds=3)
    assert told["golds"] == 3
    assert set(made(tmp_path, "turned", ids[::-1], golds=3)[0]) == set(some)
    assert [one for one in ids if one in some] == list(some)
    assert set(first(ids, 3, 1)) < set(first(ids, 5, 1))


def test_a_tagger_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match="no spaCy pipeline 'en_none_such'"):
        made(tmp_path, "spacy", ["one"], tagger="en_none_such")


def test_what_is_written_is_read(tmp_path: Path) -> None:
    rows = [
        Contrasted("a", ("b", "c"), (Contrast("gold_noun", ("c", "b")),)),
        Contrasted("d", ("e", "f", "g"), (Contrast("source_verb", ("e", "x", "g"), (1, 2)),), (2, 1)),
        Contrasted("h", ("i",), ()),
    ]
    assert contrasts.write(tmp_path, rows) == 3
    assert list(contrasts.read(tmp_path)) == rows
    assert rows[1].sentences == ["e f", "g"]
    (tmp_path / contrasts.FILE).write_text('{"id": "a", "gold": null}\n')
    with pytest.raises(RecordError, match=r"contrasts.jsonl:1: no item with its contrasts"):
        list(contrasts.read(tmp_path))
