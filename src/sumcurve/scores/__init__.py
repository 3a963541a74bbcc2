"""Per-item scores of outputs, by scorer; each describes its columns and signs its values."""

from sumcurve.scores.reading import Reads
from sumcurve.scores.rouge_f1 import RougeF1
from sumcurve.scores.scorer import Scorer

SCORERS: dict[str, type[Scorer]] = {"rouge": RougeF1, "reading": Reads}  # by the key below `scores:` of a study
