"""The scorer `chrf`: chrF2 of every summary, by sacreBLEU, in points.

It counts characters, so that a word in another form earns what it shares. On short texts it agrees with people better
than counts of words (Popović, 2015, who introduced it for translation).
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sumcurve.scores.scorer import AgainstAll, Metric, Scores, group_of, summaries_of
from sumcurve.store.records import Record


class ChrF(AgainstAll):
    """`score` compares the tokens of summary and references, lower-cased, as `rouge` does.

    The tokens are all that a trained system writes. chrF leaves white space out of its n-grams, so that tokens give
    what the text that they were made from gives, but for its case. Of several references the best counts.
    """

    version = "b5a5aeb3552e9581"
    metrics = (Metric("chrf", "chrF2", "chrF", "points"),)

    def score(self, output: Path, records: Sequence[Record], inputs: Mapping[Path, Any]) -> Scores:
        from sacrebleu.metrics import CHRF

        metric = CHRF(char_order=6, word_order=0, beta=2, lowercase=True, whitespace=False, eps_smoothing=False)
        summaries = [" ".join(row["summary"]) for row in summaries_of(output, records)]
        references = [[" ".join(reference) for reference in record.all_references] for record in records]
        points = [metric.sentence_score(*pair).score for pair in zip(summaries, references, strict=True)]
        counts = {len(of) for of in references}
        metric.num_refs = counts.pop() if len(counts) == 1 else -1  # sacreBLEU's for a number that varies
        return Scores(
            ids=[record.id for record in records],
            groups=[group_of(record) for record in records],
            values={"chrf": points},
            signature=f"chrF2|{metric.get_signature()}|text:tokens|multi:best",
            counts={"empty": sum(not summary for summary in summaries)},
        )
