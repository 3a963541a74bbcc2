"""Settings of BERTScore: the model, and the use of the model."""

from sumcurve.settings.base import Boolean, Positive, Sha256
from sumcurve.settings.models import PinnedModel


class BertScoreSettings(PinnedModel):
    """An encoder (AutoModel) of Hugging Face transformers (safetensors): of a folder, the hub or a package."""

    sha256: Sha256
    """sha256 of the model's files, which `sumcurve model` prints."""
    layer: Positive
    """Whose vectors are compared. As published: 17 of roberta-large, 10 of roberta-base, 9 of bert-base-uncased, 18 of
    bert-large-uncased, 8 of bert-base-chinese, 5 of distilbert-base-uncased and distilroberta-base.
    """
    idf: Boolean = False
    """True where a subword weighs by how few of the corpus's references have it."""
    baseline: tuple[float, float, float] | None = None
    """Precision, recall and F1 of unrelated texts, as published for model and layer: scores are rescaled so that these
    are 0. null: cosines as they are.
    """
