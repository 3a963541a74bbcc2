"""The scorer `bertscore`, by a pinned encoder. Precision, which may prefer a text without its end, ranks nothing.

Texts are the tokens of summaries and references, joined by blanks, since a trained system writes tokens only. Scores
are computed on the CPU.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from sumcurve.capabilities.metrics.settings import BertScoreSettings
from sumcurve.scores.files import ReadsFiles
from sumcurve.scores.scorer import AgainstAll, Claim, Metric, Scores, group_of, summaries_of
from sumcurve.settings.models import NO_PLACE
from sumcurve.sources.pinned import File
from sumcurve.store.records import Record, RecordError

MODEL = "model"


class BertScored(ReadsFiles, AgainstAll):
    """BERTScore against the best of all references, in points: 100 times the paper's.

    The first hex digits of the model's sha256 are in the signature.
    """

    version = 2
    Settings = BertScoreSettings
    claims: ClassVar[Mapping[str, Claim]] = {"bertscore_recall": "coverage"}
    metrics = (
        Metric("bertscore", "BERTScore F1", "BERTScore", "points"),
        Metric("bertscore_precision", "BERTScore precision", "precision", "points", ranks=False),
        Metric("bertscore_recall", "BERTScore recall", "recall", "points"),
    )

    def files(self, output: str) -> Mapping[File, str]:
        file = self.settings.file()
        return {} if file is None else {file: MODEL}

    def check(self, outputs: Collection[str]) -> None:
        if self.settings.file() is None:
            raise RecordError(NO_PLACE)

    def score(self, output: Path, records: Sequence[Record], inputs: Mapping[Path, Any]) -> Scores:
        import torch
        import transformers

        from sumcurve.capabilities.metrics.bert_score import BertScore

        settings: BertScoreSettings = self.settings
        (folder,) = (path for path, role in inputs.items() if role == MODEL)
        summaries = [row["summary"] for row in summaries_of(output, records)]
        texts = [" ".join(summary) for summary in summaries]
        references = [[" ".join(reference) for reference in record.all_references] for record in records]
        rows = BertScore(folder, settings.layer).scores(texts, references, settings.idf, settings.baseline)
        precision, recall, f1 = ([100 * score for score in column] for column in zip(*rows, strict=True))
        low = "none" if settings.baseline is None else ",".join(map(str, settings.baseline))
        how = f"BERTScore|layer:{settings.layer}|idf:{'yes' if settings.idf else 'no'}|baseline:{low}|multi:best"
        versions = f"transformers:{transformers.__version__}|torch:{torch.__version__}"
        return Scores(
            ids=[record.id for record in records],
            groups=[group_of(record) for record in records],
            values={"bertscore": f1, "bertscore_precision": precision, "bertscore_recall": recall},
            signature=f"{how}|model:{settings.sha256[:12]}|{versions}|text:tokens",
            counts={"empty": sum(not any(summary) for summary in summaries)},
        )
