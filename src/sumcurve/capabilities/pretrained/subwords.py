"""Input and output of a pretrained model: plain text, in the subwords of its own tokenizer.

A corpus counts in its own tokens, here called words. The words of a source that a model may read and those of a target
that it is trained to write are the same first words for every method; here they are the text up to the end of the last
of them.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from sumcurve.corpora.tokenizers import Tokenizer, tokenizer
from sumcurve.corpora.tokens import TOKEN
from sumcurve.models.batch import Batch
from sumcurve.store.records import Record, Text


class PretrainedError(ValueError):
    """A pretrained model that cannot be used; the message names folder or setting, value and remedy."""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of text: of a corpus's word from `start` to `end`; of the mark between two sentences it is empty."""

    start: int
    end: int


def first_words(sentences: Sequence[str], lower: bool, most: int) -> tuple[str, list[Span], bool]:
    """The text of the sentences up to their first `most` words, the spans of these in it, and True if nothing was cut.

    Sentences are joined by a blank, and between two of them a mark is counted as a word, as `Vocabulary.target` does.
    `lower`: True where the corpus's tokenizer reads small letters. A character that is longer in small letters
    (Turkish İ) is in small letters here, so that words and text stay aligned.
    """
    text, spans = "", list[Span]()
    for sentence in sentences:
        read, shown = sentence, sentence
        if lower:
            read = sentence.lower()
            shown = "".join(sign if len(sign.lower()) == 1 else sign.lower() for sign in sentence)
        words = [match.span() for match in TOKEN.finditer(read)]
        if not words:
            continue
        if text:
            spans.append(Span(len(text), len(text)))
            text += " "
        spans += [Span(len(text) + start, len(text) + end) for start, end in words]
        text += shown
    if len(spans) <= most:
        return text, spans, True
    return text[: max(span.end for span in spans[:most])], spans[:most], False


NO_TEXT = {"-LRB-": "(", "-RRB-": ")", "-LCB-": "{", "-RCB-": "}", "-LSB-": "[", "-RSB-": "]", "``": '"', "''": '"'}
MOST_BACK = 40  # characters; no token of a text is longer than a few dozen


def first_sentences(sentences: Sequence[str], words: Tokenizer, lower: bool, most: int) -> tuple[list[str], bool]:
    """The text of the sentences up to their first `most` tokens by any tokenizer, and True if nothing was cut.

    Marks between sentences are counted as `first_words` counts them.
    """
    kept, left = list[str](), most
    for sentence, line in zip(sentences, words.tokens(sentences, lower), strict=True):
        if not line:
            continue
        left -= bool(kept)
        tokens = line.split(" ")
        if len(tokens) > left:
            beginning = _beginning(sentence, tokens[: max(left, 0)], words, lower)
            return [*kept, *([beginning] if beginning else [])], False
        kept.append(sentence)
        left -= len(tokens)
    return kept, True


def _beginning(sentence: str, first: Sequence[str], words: Tokenizer, lower: bool) -> str:
    """The longest beginning of a sentence whose tokens are these, its first ones; else one with as many."""

    def tokens(length: int) -> list[str]:
        return words.tokens([sentence[:length]], lower)[0].split()

    low, high = 0, len(sentence)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if len(tokens(middle)) <= len(first) else (low, middle - 1)
    fitting = (length for length in range(low, max(0, low - MOST_BACK), -1) if tokens(length) == [*first])
    return sentence[: next(fitting, low)].rstrip()


@dataclass(frozen=True, slots=True)
class TextExample:
    """One record in subwords. `target` ends with the end mark, unless the record's target was cut.

    `words` holds for each subword of the target the number of the target's word (or mark) that it belongs to, `size`
    their number, the end mark counted. `truncated`: the source exceeds the model's positions.
    """

    record: Record
    source: list[int]
    target: list[int]
    words: list[int]
    size: int
    truncated: bool


class Subwords:
    """A tokenizer with further data that a model needs.

    `template` holds `{source}`; `positions` are those of the model's input, None: no limit. `writes` is the number of
    subwords that a decoder has positions for after its prefix; None: no limit, or those that the input leaves.
    """

    def __init__(
        self,
        tokenizer: Any,
        template: str,
        positions: int | None,
        positions_written: int | None,
        lower: bool,
        encoder: bool,
    ) -> None:
        """`encoder`: True where the input is a text of its own, with the marks that the tokenizer puts around one.

        Raises PretrainedError for a tokenizer without an end mark, and one without offsets of its subwords.
        """
        if tokenizer.eos_token_id is None:
            raise PretrainedError(
                f"{tokenizer.name_or_path}: its tokenizer has no end mark, so that no summary could end; name one as "
                "`eos_token` in its tokenizer_config.json"
            )
        if not tokenizer.is_fast:
            raise PretrainedError(
                f"{tokenizer.name_or_path}: its tokenizer does not say where its subwords stand in the text; save it "
                "with tokenizer.json (a fast tokenizer)"
            )
        self.tokenizer, self.template, self.positions = tokenizer, template, positions
        self.lower, self.encoder = lower, encoder
        self.words = "words"  # the corpus's tokenizer, by name
        self.end: int = tokenizer.eos_token_id
        around = list(tokenizer("")["input_ids"])
        # Beginning of targets: all marks that the tokenizer puts before the end mark of an empty text.
        self.before = around[: around.index(self.end)] if encoder and self.end in around else []
        # Beginning of prompts: the marks that the tokenizer puts before any text; those after a text would end it.
        self.opening = [] if encoder else self._before_text()
        self.writes = None if positions_written is None else positions_written - 1 - len(self.before)

    def __len__(self) -> int:
        return len(self.tokenizer)

    def as_text(self, sentences: Sequence[str]) -> list[str]:
        """A corpus's tokens as text: the Penn Treebank's brackets and quotation marks become ordinary ones."""
        if self.words != "ptb":
            return [*sentences]
        return [" ".join(NO_TEXT.get(word.upper(), word) for word in sentence.split(" ")) for sentence in sentences]

    def _first_words(self, sentences: Sequence[str], most: int) -> tuple[str, list[Span], bool]:
        """Apply `first_words` to text whose tokens the corpus's tokenizer counts; spans are of its words, too."""
        if self.words == "words":
            return first_words(sentences, self.lower, most)
        kept, whole = first_sentences(sentences, tokenizer(self.words), self.lower, most)
        text, spans, _ = first_words(kept, self.lower, sum(map(len, kept)) + len(kept))
        return text, spans, whole

    def _before_text(self) -> list[int]:
        text = "a"
        whole, bare = list(self.tokenizer(text)["input_ids"]), self._ids(text)[0]
        return whole[: next(at for at in range(len(whole)) if whole[at : at + len(bare)] == bare)]

    def _ids(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        encoded = self.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        return list(encoded["input_ids"]), list(encoded["offset_mapping"])

    def _read(self, source: str) -> list[int]:
        text = self.template.replace("{source}", source)
        ids = self.tokenizer(text, add_special_tokens=self.encoder, verbose=False)["input_ids"]
        return [*self.opening, *ids]

    def source(self, sentences: Sequence[str], most_words: int, room: int = 0) -> tuple[list[int], bool]:
        """Ids that the model reads of a source, and True where it exceeds the model's positions.

        `room` are positions to be left free. The source's end is cut, never the template. Raises PretrainedError
        for a source without a word, and where the template alone is too long.
        """
        text, spans, _ = self._first_words(sentences, most_words)
        if not spans:
            raise PretrainedError("a source is empty; drop it when the corpus is prepared")
        ids = self._read(text)
        truncated = False
        while self.positions is not None and (excess := len(ids) + room - self.positions) > 0:
            truncated = True
            _, offsets = self._ids(text)
            if excess >= len(offsets):
                raise PretrainedError(
                    f"template {self.template!r} and {room} subwords to be written leave no room in the model's "
                    f"{self.positions} positions; shorten the template or the corpus's longest summary"
                )
            text = text[: offsets[len(offsets) - excess][0]].rstrip()
            ids = self._read(text)
        return ids, truncated

    def target(self, sentences: Sequence[str], most_words: int) -> tuple[list[int], list[int], int]:
        """A target's subwords, the word that each belongs to, and the number of these words (see `TextExample`).

        A subword belongs to the first word that ends after the subword's start. Of a target with more than
        `most_words` words, marks counted, the first ones are kept, and no end mark.
        """
        text, spans, whole = self._first_words(sentences, most_words)
        if not spans:
            return [self.end], [0], 1
        ids, offsets = self._ids(text)
        ends = [span.end for span in spans]
        words = [min(bisect_right(ends, start), len(spans) - 1) for start, _ in offsets]
        if whole:
            return [*ids, self.end], [*words, len(spans)], len(spans) + 1
        return ids, words, len(spans)

    def example(self, record: Record, text: Text, source_words: int, target_words: int, room: int = 0) -> TextExample:
        """The record as the model's input. A decoder-only model has `room` positions left to write in and for targets.

        PretrainedError, naming the record, for an empty source and a target that the decoder has no positions for.
        """
        ids, words, size = self.target(text.target, target_words)
        try:
            if self.writes is not None and len(ids) > self.writes:
                raise PretrainedError(
                    f"its target has {len(ids)} subwords, and the decoder positions for {self.writes}; lower the "
                    "corpus's target_tokens"
                )
            source, truncated = self.source(text.source, source_words, 0 if self.encoder else max(room, len(ids)))
        except PretrainedError as error:
            raise PretrainedError(f"record {record.id!r}: {error}") from None
        return TextExample(record, source, ids, words, size, truncated)

    def text(self, ids: Sequence[int]) -> str:
        """Text written, up to the end mark."""
        ids = list(ids)
        if self.end in ids:
            ids = ids[: ids.index(self.end)]
        text: str = self.tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return text.strip()


def padded(rows: Sequence[Sequence[int]], pad: int, left: bool = False) -> torch.Tensor:
    """Ids as one tensor [B, longest]."""
    longest = max(len(row) for row in rows)
    fill = [[pad] * (longest - len(row)) for row in rows]
    whole = [[*more, *row] if left else [*row, *more] for row, more in zip(rows, fill, strict=True)]
    return torch.tensor(whole, dtype=torch.long)


def collate(
    examples: Sequence[TextExample], pad: int, source_pad: int, prefix: Sequence[int], left: bool = False
) -> Batch:
    """Examples as a batch: `src` [B, S] padded on the right or left, `tgt` [B, T] padded with `pad`.

    `inp` are decoder inputs: the prefix, then the target without its last subword.
    """
    src = padded([example.source for example in examples], source_pad, left)
    return Batch(
        src=src,
        src_ext=src,
        src_len=torch.tensor([len(example.source) for example in examples]),
        inp=padded([[*prefix, *example.target[:-1]] for example in examples], source_pad),
        tgt=padded([example.target for example in examples], pad),
        n_ext=torch.zeros(len(examples), dtype=torch.long),
        unknowns=[[] for _ in examples],
        records=[example.record for example in examples],
    )


def lengths(example: TextExample) -> tuple[int, int]:
    """Lengths by which training batches are bucketed."""
    return len(example.target), len(example.source)
