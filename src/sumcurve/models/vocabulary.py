"""Vocabulary of a model, and slots for words that only a source has.

Ids below `len(vocabulary)` are vocabulary words. An *extended* id `len(vocabulary) + k` is the example's own
k-th unknown source word, which a copying model can write (See et al. 2017, section 2.2).
"""

from collections.abc import Iterable, Sequence
from typing import Any

PAD, UNK, BOS, EOS, SEP = 0, 1, 2, 3, 4
"""Padding, unknown word, begin and end of a target, and the mark between two sentences of a target."""

MARKS = ("<pad>", "<unk>", "<bos>", "<eos>", "<sep>")


class Vocabulary:
    """Five marks and the words of a corpus; a corpus word spelled like a mark is a word, never the mark."""

    def __init__(self, words: Iterable[str]) -> None:
        self.words: list[str] = [*MARKS, *words]
        self._ids = {word: number for number, word in enumerate(self.words[len(MARKS) :], start=len(MARKS))}
        if len(self._ids) != len(self.words) - len(MARKS):
            raise ValueError("a vocabulary lists a word twice; count each word once")

    @classmethod
    def from_counts(cls, counts: Iterable[tuple[str, int]], most: int, least_count: int) -> "Vocabulary":
        """The first `most` words with at least `least_count` occurrences.

        `counts` must be sorted by falling count, then by word; any other order raises ValueError, because the
        words would then depend on how the counts were made.
        """
        words: list[str] = []
        previous: tuple[int, str] | None = None
        for word, count in counts:
            key = (-count, word)
            if previous is not None and key <= previous:
                raise ValueError(f"word counts are not sorted by falling count, then word, at {word!r}; sort them")
            previous = key
            if count < least_count or len(words) == most:
                break
            words.append(word)
        return cls(words)

    def __len__(self) -> int:
        return len(self.words)

    def to_json(self) -> dict[str, Any]:
        """A value that `json` writes: the words without the marks, in order."""
        return {"words": self.words[len(MARKS) :]}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Vocabulary":
        return cls(value["words"])

    def known(self, words: Iterable[str]) -> tuple[int, ...]:
        """The ids of those of `words` that the vocabulary has."""
        return tuple(self._ids[word] for word in words if word in self._ids)

    def source(self, words: Sequence[str]) -> tuple[list[int], list[int], list[str]]:
        """Ids (unknown words as UNK), extended ids, the example's unknown words in order of appearance."""
        slots, size = dict[str, int](), len(self.words)
        known = [*map(self._ids.get, words)]
        extended = [
            size + slots.setdefault(word, len(slots)) if number is None else number
            for word, number in zip(words, known, strict=True)
        ]
        return [UNK if number is None else number for number in known], extended, list(slots)

    def target(
        self, sentences: Sequence[Sequence[str]], unknowns: Sequence[str], most: int
    ) -> tuple[list[int], list[int]]:
        """Decoder inputs, led by BOS, and the extended ids to predict, ended by EOS; both equally long.

        SEP stands between sentences. A word that neither the vocabulary nor the source holds is UNK; an
        input is never an extended id. `most` counts words and SEPs. A target with more is cut *and has no
        EOS*: it is an unfinished text, so its likelihood is that of its first tokens. An EOS there would
        teach the model to stop in mid-sentence. Where many targets are cut a model rarely sees an end;
        choose `most` so that few are.
        """
        slots = {word: len(self.words) + number for number, word in enumerate(unknowns)}
        target: list[int] = []
        for number, sentence in enumerate(sentences):
            if number:
                target.append(SEP)
            target += [self._ids.get(word, slots.get(word, UNK)) for word in sentence]
        target = target[:most] if len(target) > most else [*target, EOS]
        inputs = [BOS] + [token if token < len(self.words) else UNK for token in target[:-1]]
        return inputs, target

    def sentences(self, extended: Iterable[int], unknowns: Sequence[str]) -> list[list[str]]:
        """Sentences of words; reading stops at EOS or PAD, SEP parts them, empty ones are dropped."""
        sentences: list[list[str]] = [[]]
        for token in extended:
            if token in (EOS, PAD):
                break
            if token == SEP:
                sentences.append([])
            elif token < len(self.words):
                sentences[-1].append(self.words[token])
            else:
                sentences[-1].append(unknowns[token - len(self.words)])
        return [sentence for sentence in sentences if sentence]
