"""Families of models by the `kind` of a method's model: how each is trained, and put to use (`systems.family`)."""

from importlib import import_module
from typing import Any

from sumcurve.systems.families.words import OfWords

MODELS: dict[str, OfWords] = {  # by `kind`, a class of a module or package beside this one
    key: getattr(import_module(f"{__name__}.{module}"), name)()
    for key, (module, name) in {
        "recurrent": ("words", "Recurrent"),
        "transformer": ("words", "Transformer"),
        "ngram": ("words", "Ngram"),
        "extract-rewrite": ("extract_rewrite", "ExtractRewrite"),
    }.items()
}


def build(settings: Any, words: int, seed: int) -> Any:
    """A new model of the family of its settings, for a vocabulary of this size."""
    return MODELS[settings.kind].build(settings, words, seed)
