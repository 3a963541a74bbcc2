"""Families of models by the `kind` of a method's model: how each is trained, and put to use (`systems.family`)."""

from importlib import import_module

from sumcurve.systems.families.words import OfWords

MODELS: dict[str, OfWords] = {  # by `kind`, a class of a module or package beside this one
    key: getattr(import_module(f"{__name__}.{module}"), name)()
    for key, (module, name) in {
        "recurrent": ("words", "Recurrent"),
        "transformer": ("words", "Transformer"),
        "ngram": ("words", "Ngram"),
    }.items()
}
