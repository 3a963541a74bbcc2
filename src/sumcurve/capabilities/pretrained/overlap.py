"""What a pretraining that several studies share has read, and what of it overlaps a corpus that it is used on."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from sumcurve.capabilities.pretrained.denoising import read_bodies
from sumcurve.capabilities.pretrained.model import EncoderDecoder
from sumcurve.capabilities.pretrained.outside import HeldOut
from sumcurve.capabilities.pretrained.subwords import Subwords, first_words
from sumcurve.corpora.store import Corpus
from sumcurve.store.records import write_json, write_jsonl


def write_overlap(
    outside: Corpus, model: EncoderDecoder, tokens: int, held_out: HeldOut, folder: Path
) -> dict[str, Any]:
    """Write overlap.jsonl, a line for every record of `outside` that overlaps what is held out of a corpus.

    overlap.json counts them by reason (`overlapping`) of the records `read`. It has the subwords of the training part's
    texts as they are denoised, `tokens` of each at most (`subwords`), and how many subwords a word of these and of the
    corpus's training sources has (`of_a_word`, `of_a_word_here`). Returns what overlap.json holds.
    """
    rows, read = [], 0
    for part in outside.parts:
        for record in part:
            read += 1
            if (row := held_out.row(record, part.name)) is not None:
                rows.append(row)
    write_jsonl(folder / "overlap.jsonl", rows)
    subwords = model.subwords
    overlap = {
        "read": read,
        "overlapping": dict(sorted(Counter(row["reason"] for row in rows).items())),
        "subwords": sum(len(body.ids) for body in read_bodies(outside, "train", model, tokens)),
        "of_a_word": of_a_word(subwords, (text.source for text in outside.part("train").text)),
        "of_a_word_here": of_a_word(subwords, (text.source for text in held_out.corpus.part("train").text)),
    }
    write_json(folder / "overlap.json", overlap)
    return overlap


def of_a_word(subwords: Subwords, texts: Iterable[Sequence[str]]) -> float:
    """How many subwords a word has on average; 0 where there is no word."""
    counts: Counter[str] = Counter()
    for text in texts:
        whole, spans, _ = first_words(text, subwords.lower, sum(map(len, text)) + len(text))
        counts["words"] += sum(span.end > span.start for span in spans)
        counts["subwords"] += len(subwords.tokenizer(whole, add_special_tokens=False)["input_ids"])
    return counts["subwords"] / counts["words"] if counts["words"] else 0.0
