"""Settings of BERTScore: the model's folder, and the use of the model."""

from typing import Annotated

from pydantic import Field

from sumcurve.settings.base import Boolean, Positive, Settings, Sha256


class BertScoreSettings(Settings):
    """An encoder (AutoModel) in a folder of Hugging Face transformers (safetensors).

    Nothing is downloaded, and no code of the folder is run.
    """

    path: Annotated[str, Field(exclude=True)] = ""
    """The folder; where it lies is no part of any name."""
    sha256: Sha256
    """sha256 of its files: of the lines that `sha256sum` prints of them, in the order of their names."""
    layer: Positive
    """Whose vectors are compared. As published: 17 of roberta-large, 10 of roberta-base, 9 of bert-base-uncased, 18 of
    bert-large-uncased, 8 of bert-base-chinese.
    """
    idf: Boolean = False
    """True where a subword weighs by how few of the corpus's references have it."""
    baseline: tuple[float, float, float] | None = None
    """Precision, recall and F1 of unrelated texts, as published for model and layer: scores are rescaled so that these
    are 0. null: cosines as they are.
    """
