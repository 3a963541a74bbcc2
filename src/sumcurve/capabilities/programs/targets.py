"""Words of a target for which an outside program returns log-probabilities."""

from collections.abc import Sequence

WORD, MARK, END = 0, 1, 2


def tokens_of(target: Sequence[str], most: int) -> tuple[list[str], list[int]]:
    """A target's first `most` words and marks, as sentences of words; and the kind of each of its tokens.

    Counted as in `Vocabulary.target`: a mark stands between two sentences, and an end follows a target that is not cut.
    """
    kept: list[list[str]] = []
    kinds: list[int] = []
    words = 0
    for sentence in (sentence.split(" ") for sentence in target if sentence):
        words += len(sentence) + bool(words)
        room = most - len(kinds)
        if kept and room > 0:
            kinds.append(MARK)
            room -= 1
        if room > 0:
            kept.append(sentence[:room])
            kinds += [WORD] * len(sentence[:room])
    if words <= most:
        kinds.append(END)
    return [" ".join(sentence) for sentence in kept], kinds
