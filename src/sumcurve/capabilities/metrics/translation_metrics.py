"""BLEU and TER by sacreBLEU, METEOR by NLTK, of every summary against all of its references. They describe.

METEOR here matches words and their Porter stems: WordNet's synonyms are no part of the package, which is signed.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sumcurve.scores.scorer import AgainstAll, Metric, Scores, group_of, summaries_of
from sumcurve.store.records import Record


class NoSynonyms:
    """In place of WordNet."""

    def synsets(self, word: str) -> Iterable[Any]:
        return ()


class TranslationMetrics(AgainstAll):
    """Over tokens, lower-cased, as `rouge` and `chrf` do. TER counts edits by the reference that needs fewest."""

    metrics = (
        Metric("bleu", "BLEU-4", "BLEU", "points", ranks=False),
        Metric("meteor", "METEOR without synonyms", "METEOR", "points", ranks=False),
        Metric("ter", "TER", "TER", "edits per 100 words", 1, higher_is_better=False, ranks=False),
    )

    def score(self, output: Path, records: Sequence[Record], inputs: Mapping[Path, Any]) -> Scores:
        import nltk
        from nltk.translate.meteor_score import meteor_score
        from sacrebleu.metrics import BLEU, TER

        bleu = BLEU(lowercase=True, tokenize="none", effective_order=True)
        ter = TER()
        summaries = [" ".join(row["summary"]).lower() for row in summaries_of(output, records)]
        references = [[" ".join(reference).lower() for reference in record.all_references] for record in records]
        pairs = list(zip(summaries, references, strict=True))
        values = {
            "bleu": [bleu.sentence_score(*pair).score for pair in pairs],
            "ter": [ter.sentence_score(*pair).score for pair in pairs],
            "meteor": [
                100 * meteor_score([text.split() for text in some], summary.split(), wordnet=NoSynonyms())
                for summary, some in pairs
            ],
        }
        meteor = f"METEOR|nltk:{nltk.__version__}|synonyms:none"
        counts = {len(some) for some in references}
        bleu.num_refs = ter.num_refs = counts.pop() if len(counts) == 1 else -1  # sacreBLEU's for a number that varies
        return Scores(
            ids=[record.id for record in records],
            groups=[group_of(record) for record in records],
            values=values,
            signature=" ".join([f"BLEU|{bleu.get_signature()}", f"TER|{ter.get_signature()}", meteor]),
            counts={"empty": sum(not summary for summary in summaries)},
        )
