"""Per-item scores of outputs, by scorer; each describes its columns and signs its values."""

from importlib import import_module

from sumcurve.scores.scorer import Scorer

SCORERS: dict[str, type[Scorer]] = {  # by the key below `scores:` of a study, a class of a module beside this one
    key: getattr(import_module(f"{__name__}.{module}"), name)
    for key, (module, name) in {
        "rouge": ("rouge_f1", "RougeF1"),
        "chrf": ("chrf", "ChrF"),
        "references": ("references", "References"),
        "extractiveness": ("extractiveness", "Extractiveness"),
        "frames": ("frames", "Frames"),
        "doubled": ("doubled", "Doubled"),
        "reading": ("reading", "Reads"),
        "reading_rouge": ("reading", "ReadsByRouge"),
    }.items()
}
