import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sumcurve.capabilities.contrasts.tags import apart, load
from sumcurve.corpora.pipeline import PipelineError

TEXTS = [
    [["The", "bank's", "owner", "isn't", "in", "Paris", "."], ["Dogs", "bark", "/", "*"]],
    [["ο", "γάτος", "κοιμάται"]],
    [["Rain"]],
]


@pytest.fixture(scope="module")
def pipelines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pipelines on disk; the tags and arcs of `whole` are of random weights."""
    spacy = pytest.importorskip("spacy")
    from spacy.tokens import Doc
    from spacy.training import Example

    folder = tmp_path_factory.mktemp("pipelines")
    spacy.blank("en").to_disk(folder / "blank")
    treebank, universal = ["NN", "IN", "VB", "JJ"], ["NOUN", "ADP", "VERB", "ADJ"]
    for name, language, tags in (
        ("whole", "en", treebank),
        ("universal", "en", universal),
        ("german", "de", universal),
    ):
        nlp = spacy.blank(language)
        nlp.meta.update(name="of_tests", version="1.2.3")
        for component in ("tagger", "parser"):
            nlp.add_pipe(component)
        words = ["a", "b", "c", "d"]
        doc = Doc(nlp.vocab, words=words, tags=tags, heads=[1, 1, 1, 1], deps=["det", "ROOT", "prep", "mark"])
        nlp.initialize(lambda nlp=nlp, doc=doc: [Example(Doc(nlp.vocab, words=doc.text.split()), doc)])
        nlp.to_disk(folder / name)
    return folder


def check(tagger: Any) -> None:
    """What holds of any tagger."""
    found = list(tagger.parse(TEXTS))
    assert len(found) == len(TEXTS)
    for text, parsed in zip(TEXTS, found, strict=True):
        assert parsed.words == tuple(token for sentence in text for token in sentence)
        assert len(parsed.tags) == len(parsed.words)
        assert parsed.sentence == tuple(number for number, sentence in enumerate(text) for _ in sentence)
        assert [tag.count("+") for tag in parsed.tags] == [len(apart(word)) - 1 for word in parsed.words]
        if parsed.labels is not None:
            assert parsed.heads is not None
            assert len(parsed.labels) == len(parsed.heads) == len(parsed.words)
            assert all(parsed.sentence[head] == parsed.sentence[i] for i, head in enumerate(parsed.heads))
    assert list(tagger.parse(TEXTS)) == found


def test_textblob_tags_our_tokens_as_they_are() -> None:
    pytest.importorskip("textblob")
    tagger = load("textblob")
    check(tagger)
    assert tagger.facts["name"] == "textblob"
    (parsed,) = tagger.parse([[["The", "owner", "isn't", "in", "Paris", "now", "."]]])
    assert parsed.tags == ("DT", "NN", "VBZ+RB", "IN", "NNP", "RB", ".")
    assert parsed.labels is None


def test_a_pipeline_tags_and_parses_our_tokens_as_they_are(pipelines: Path) -> None:
    tagger = load(str(pipelines / "whole"))
    check(tagger)
    assert tagger.facts["name"] == "en_of_tests"


def test_taggers_together_are_the_first_with_the_others_beside_it(pipelines: Path) -> None:
    pytest.importorskip("textblob")
    names = ["textblob", str(pipelines / "whole")]
    taggers = [load(name) for name in names]
    together = load(names)
    check(together)
    assert together.facts["name"] == "textblob + en_of_tests"
    for first, second, both in zip(*(one.parse(iter(TEXTS)) for one in (*taggers, together)), strict=True):
        assert both == replace(first, further=(second,))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("blank", "no component tagger and no parser, only nothing.*or to textblob"),
        ("german", "language 'de', not English.*or to textblob"),
        ("universal", "no tag IN, JJ, NN, VB of the Penn Treebank.*or to textblob"),
        ("none_such", "there is no spaCy pipeline.*or to textblob"),
        ("textblob", r"pip install 'sumcurve\[contrasts\]'"),
    ],
)
def test_what_cannot_tag_is_named_with_the_remedy(pipelines: Path, monkeypatch, name: str, message: str) -> None:
    monkeypatch.setitem(sys.modules, "textblob.en", None)
    with pytest.raises(PipelineError, match=message):
        load(name if name == "textblob" else str(pipelines / name))


@pytest.mark.parametrize(
    ("token", "parts"),
    [
        ("bank's", ["bank", "'s"]),
        ("Isn’t", ["Is", "n’t"]),
        ("O'Neil", ["O'Neil"]),
        ("'s", ["'s"]),
        ("we'll", ["we", "'ll"]),
    ],
)
def test_a_token_ends_with_a_clitic_or_is_whole(token: str, parts: list[str]) -> None:
    assert apart(token) == parts
