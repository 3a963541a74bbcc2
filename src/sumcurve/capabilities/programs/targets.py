"""What an outside program is asked of a target."""

from collections.abc import Sequence

WORD, MARK, END = 0, 1, 2


def tokens_of(target: Sequence[str], most: int) -> tuple[list[str], list[int]]:
    """A target's first `most` words and marks, as sentences of words; and what each of its tokens is.

    Counted as `Vocabulary.target` does: a mark stands between two sentences, and an end follows what is not cut.
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
