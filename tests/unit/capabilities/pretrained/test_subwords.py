from types import SimpleNamespace
from typing import Any

import pytest
import transformers
from tokenizers import processors

import pretrained
from sumcurve.capabilities.pretrained.subwords import PretrainedError, Subwords, first_sentences, first_words
from sumcurve.corpora.tokenizers import tokenizer
from sumcurve.corpora.tokens import tokenize
from sumcurve.store.records import Record, Text

TEXTS = [
    "The CAT sat on 1,000 mats; it's fine... really!",
    "Naïve İstanbul re-reads `numpy.linalg` — twice.",
    "日本語 の 文章。 Ω≈ç√",
]


@pytest.fixture(scope="module")
def tokenizers() -> dict[str, Any]:
    return {kind: pretrained.make_tokenizer(TEXTS, kind) for kind in ("bart", "t5", "gpt2")}


def subwords(tokenizer: Any, **told: Any) -> Subwords:
    given = {"template": "{source}", "positions": None, "positions_written": None, "lower": True, "encoder": True}
    return Subwords(tokenizer, **given | told)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("most", [1, 3, 9, 10, 11, 500])
def test_the_first_words_are_the_corpus_s(lower: bool, most: int) -> None:
    sentences = [*TEXTS, " ", "End."]
    words = []
    for sentence in sentences:
        if tokens := tokenize(sentence, lower):
            words += [*([None] if words else []), *tokens]
    text, spans, whole = first_words(sentences, lower, most)
    shown = [text[span.start : span.end] or None for span in spans]
    assert [one and (one.lower() if lower else one) for one in shown] == words[:most]
    assert whole == (most >= len(words))
    if not whole:
        assert text == first_words(sentences, lower, 500)[0][: len(text)]


@pytest.mark.parametrize("name", ["ptb", "blanks", "characters", "words"])
@pytest.mark.parametrize("most", [1, 3, 9, 10, 11, 500])
def test_a_text_is_cut_where_any_tokenizer_has_given_as_many_tokens(name: str, most: int) -> None:
    words = tokenizer(name)
    sentences = [*TEXTS, " ", 'She said "no (never)," and didn\'t re-read it.', "End."]
    wanted = []
    for line in words.tokens(sentences, True):
        wanted += [*([None] if wanted else []), *line.split()] if line else []
    kept, whole = first_sentences(sentences, words, True, most)
    counted = []
    for line in words.tokens(kept, True):
        counted += [*([None] if counted else []), *line.split()]
    assert counted == wanted[: len(counted)]
    assert most - 1 <= len(counted) <= most or whole  # a mark at the end has no text
    assert whole == (most >= len(wanted))
    if name == "words":
        assert first_words(kept, True, 500)[0] == first_words(sentences, True, most)[0].rstrip()


def test_tokens_of_the_penn_treebank_are_read_as_the_text_that_they_were() -> None:
    own = subwords(pretrained.make_tokenizer(TEXTS, "bart"))
    tokens = tokenizer("ptb").tokens(['She said "no (never)."'], True)
    assert own.as_text(tokens) == tokens
    own.words = "ptb"
    assert own.as_text(tokens) == ['she said " no ( never ) . "']


@pytest.mark.parametrize("kind", ["bart", "t5", "gpt2"])
@pytest.mark.parametrize("most", [4, 12, 500])
def test_the_subwords_of_a_target_spell_its_words(kind: str, most: int, tokenizers: dict[str, Any]) -> None:
    own = subwords(tokenizers[kind])
    ids, words, size = own.target(TEXTS, most)
    text, spans, whole = first_words(TEXTS, True, most)
    assert own.tokenizer.decode(ids, skip_special_tokens=True) == text
    assert (ids[-1] == own.end) == whole
    assert size == len(spans) + whole
    assert words == sorted(words)
    assert len(words) == len(ids)
    assert max(words) == size - 1 or not whole  # a subword may begin in a word and go on behind the cut
    assert size - 3 <= max(words) < size
    _, offsets = own._ids(text)
    for (start, end), word in zip(offsets, words, strict=False):
        assert start < spans[word].end
        assert end >= spans[word].start


def test_marks_stand_around_what_an_encoder_reads_alone_and_end_what_is_written(tokenizers: dict[str, Any]) -> None:
    bart = tokenizers["bart"]
    ids, _ = subwords(bart).source(["a b"], 5)
    assert (ids[0], ids[-1]) == (bart.bos_token_id, bart.eos_token_id)
    assert subwords(bart).before == [bart.bos_token_id]
    t5 = subwords(tokenizers["t5"])
    assert t5.before == []
    assert t5.text([*t5._ids("the cat")[0], t5.end, *t5._ids("the cat")[0]]) == "the cat"
    alone = subwords(tokenizers["gpt2"], encoder=False, template="{source}\nSummary:")
    assert alone.text(alone.source(["a b"], 5)[0]) == "a b\nSummary:"


@pytest.mark.parametrize("end", ["<e>", "<s>"])
def test_a_prompt_begins_with_the_mark_that_the_tokenizer_puts_before_a_text(end: str) -> None:
    """As Llama's and OPT's do, whose end mark is another one or the same; nothing is put behind it."""
    inner = pretrained.make_tokenizer(TEXTS, "gpt2").backend_tokenizer
    inner.add_special_tokens(["<s>", "<e>"])
    inner.post_processor = processors.TemplateProcessing(
        single=f"<s> $A {end}", special_tokens=[(mark, inner.token_to_id(mark)) for mark in sorted({"<s>", end})]
    )
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=inner, eos_token=end, bos_token="<s>")
    told: dict[str, Any] = {"encoder": False, "template": "{source}\nSummary:"}
    ids, _ = subwords(tokenizer, **told).source(["a b"], 5)
    assert ids == [inner.token_to_id("<s>"), *subwords(tokenizer, **told)._ids("a b\nSummary:")[0]]
    ids, truncated = subwords(tokenizer, positions=len(ids) - 1, **told).source(["a b"], 5)
    assert truncated
    assert ids[0] == inner.token_to_id("<s>")


@pytest.mark.parametrize("kind", ["bart", "gpt2"])
@pytest.mark.parametrize("room", [0, 5])
def test_a_long_source_loses_its_end_and_the_template_stays(kind: str, room: int, tokenizers: dict[str, Any]) -> None:
    source = ["one two three four five six seven eight nine ten"]
    whole = subwords(tokenizers[kind], template="Read: {source} Now:")
    full, truncated = whole.source(source, 100)
    assert not truncated
    for positions in range(len(full) - 1, len(full) - 12, -1):
        own = subwords(tokenizers[kind], template="Read: {source} Now:", positions=positions)
        ids, truncated = own.source(source, 100, room)
        assert truncated
        assert len(ids) + room <= positions
        text = own.tokenizer.decode(ids, skip_special_tokens=True)
        assert text.startswith("Read: one")
        assert text.endswith(" Now:")
        assert source[0].startswith(text.removeprefix("Read: ").removesuffix(" Now:"))
    with pytest.raises(PretrainedError, match="template"):
        subwords(tokenizers[kind], template="Read: {source} Now:", positions=8).source(source, 100, room)


def test_what_has_no_end_mark_or_no_positions_is_refused_by_name(tokenizers: dict[str, Any]) -> None:
    own = subwords(tokenizers["bart"], positions_written=6)
    with pytest.raises(PretrainedError, match=r"record 'r1'.*target_tokens"):
        own.example(Record("r1", ["a"], ["b"]), Text("r1", ["a"], TEXTS), 10, 100)
    for end, fast, message in ((None, True, r"models/mine.*no end mark.*eos_token"), (1, False, r"tokenizer\.json")):
        with pytest.raises(PretrainedError, match=message):
            subwords(SimpleNamespace(eos_token_id=end, is_fast=fast, name_or_path="models/mine"))
