"""Scorers of models in pinned folders. They describe: none ranks systems before it has been shown to measure.

Texts are the tokens of summaries, references and sources, joined by blanks, since they are all that a trained system
writes. They are computed on the CPU.
"""

from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from sumcurve.capabilities.metrics.settings import BartScoreSettings, BertScoreSettings, EntailmentSettings
from sumcurve.scores.files import ReadsFiles
from sumcurve.scores.scorer import AgainstAll, Claim, Metric, Scores, group_of, summaries_of
from sumcurve.settings.base import MODEL_FILES
from sumcurve.store.records import Record, RecordError

MODEL = "model"


class ByModel(ReadsFiles):
    """Reads the model's folder; the first hex digits of its sha256 stand in the signature."""

    shards = MODEL_FILES

    def files(self, output: str) -> Mapping[str, tuple[str, str]]:
        return {self.settings.sha256: (self.settings.path, MODEL)}

    def check(self, outputs: Collection[str]) -> None:
        if not self.settings.path:
            raise RecordError("path: say where the model's folder with that sha256 lies")

    @abstractmethod
    def values(
        self, model: Path, summaries: Sequence[Sequence[str]], records: Sequence[Record]
    ) -> tuple[Mapping[str, Sequence[float]], str]:
        """Values of every metric, by the model in a folder, and what of the settings the signature tells."""

    def score(self, output: Path, records: Sequence[Record], inputs: Mapping[Path, Any]) -> Scores:
        import torch
        import transformers

        (folder,) = (path for path, role in inputs.items() if role == MODEL)
        summaries = [row["summary"] for row in summaries_of(output, records)]
        values, how = self.values(folder, summaries, records)
        versions = f"transformers:{transformers.__version__}|torch:{torch.__version__}"
        return Scores(
            ids=[record.id for record in records],
            groups=[group_of(record) for record in records],
            values=values,
            signature=f"{how}|model:{self.settings.sha256[:12]}|{versions}|text:tokens",
            counts={"empty": sum(not any(summary) for summary in summaries)},
        )


class BertScored(ByModel, AgainstAll):
    """BERTScore against the best of all references."""

    Settings = BertScoreSettings
    claims: ClassVar[Mapping[str, Claim]] = {"bertscore_recall": "coverage"}
    metrics = (
        Metric("bertscore", "BERTScore F1", "BERTScore", "cosine", 4, ranks=False),
        Metric("bertscore_precision", "BERTScore precision", "precision", "cosine", 4, ranks=False),
        Metric("bertscore_recall", "BERTScore recall", "recall", "cosine", 4, ranks=False),
    )

    def values(
        self, model: Path, summaries: Sequence[Sequence[str]], records: Sequence[Record]
    ) -> tuple[Mapping[str, Sequence[float]], str]:
        from sumcurve.capabilities.metrics.bert_score import BertScore

        settings: BertScoreSettings = self.settings
        references = [[" ".join(reference) for reference in record.all_references] for record in records]
        texts = [" ".join(summary) for summary in summaries]
        rows = BertScore(model, settings.layer).scores(texts, references, settings.idf, settings.baseline)
        precision, recall, f1 = (list(column) for column in zip(*rows, strict=True))
        low = "none" if settings.baseline is None else ",".join(map(str, settings.baseline))
        how = f"BERTScore|layer:{settings.layer}|idf:{'yes' if settings.idf else 'no'}|baseline:{low}|multi:best"
        return {"bertscore": f1, "bertscore_precision": precision, "bertscore_recall": recall}, how


class BartScored(ByModel, AgainstAll):
    """BARTScore of the summary given its source, and against the best reference in either direction."""

    Settings = BartScoreSettings
    claims: ClassVar[Mapping[str, Claim]] = {"bartscore_source": "faithfulness", "bartscore_recall": "coverage"}
    metrics = (
        Metric("bartscore_source", "BARTScore, source to summary", "from source", "nats", 3, ranks=False),
        Metric("bartscore_precision", "BARTScore, reference to summary", "precision", "nats", 3, ranks=False),
        Metric("bartscore_recall", "BARTScore, summary to reference", "recall", "nats", 3, ranks=False),
    )

    def values(
        self, model: Path, summaries: Sequence[Sequence[str]], records: Sequence[Record]
    ) -> tuple[Mapping[str, Sequence[float]], str]:
        from sumcurve.capabilities.metrics.bart_score import BartScore

        by = BartScore(model)
        texts = [" ".join(summary) for summary in summaries]
        sources = [" ".join(record.source) for record in records]
        pairs = [
            (place, " ".join(reference)) for place, record in enumerate(records) for reference in record.all_references
        ]
        written = [texts[place] for place, _ in pairs]
        wanted = [reference for _, reference in pairs]
        values = {"bartscore_source": by.scores(sources, texts)}
        directions = {"precision": (wanted, written), "recall": (written, wanted)}
        for name, (source, target) in directions.items():
            best = [float("-inf")] * len(records)
            for (place, _), value in zip(pairs, by.scores(source, target), strict=True):
                best[place] = max(best[place], value)
            values[f"bartscore_{name}"] = best
        return values, "BARTScore|multi:best"


class Entailed(ByModel):
    """Whether a summary's sentences follow from the source."""

    Settings = EntailmentSettings
    claim = "faithfulness"
    metrics = (Metric("entailment", "Entailment", "entailed", "probability", 3, ranks=False),)

    def values(
        self, model: Path, summaries: Sequence[Sequence[str]], records: Sequence[Record]
    ) -> tuple[Mapping[str, Sequence[float]], str]:
        from sumcurve.capabilities.metrics.entailment import Entailment

        settings: EntailmentSettings = self.settings
        by = Entailment(model, settings.label, settings.contradiction)
        values = by.scores([record.source for record in records], summaries, settings.premise == "chunks")
        how = f"entailment|premise:{settings.premise}|label:{settings.label or 'entail*'}"
        return {"entailment": values}, f"{how}|less:{settings.contradiction or 'none'}"
