"""Per-item scores of outputs, by scorer; each describes its columns and signs its values."""

from importlib import import_module

from sumcurve.scores.scorer import Scorer

SCORERS: dict[
    str, type[Scorer]
] = {  # by the key below `scores:` of a study, a class of a module, by its name below this package
    key: getattr(import_module(f"sumcurve.{module}"), name)
    for key, (module, name) in {
        "rouge": ("scores.rouge_f1", "RougeF1"),
        "chrf": ("scores.chrf", "ChrF"),
        "extractiveness": ("scores.extractiveness", "Extractiveness"),
        "frames": ("scores.frames", "Frames"),
        "reading": ("scores.reading", "Reads"),
        "reading_rouge": ("scores.reading", "ReadsByRouge"),
        "people": ("capabilities.people.scorer", "People"),
        "apes": ("capabilities.apes.scorer", "AnswersQuestions"),
        "entity_attention": ("capabilities.apes.entity_attention", "LooksAt"),
        "dodged": ("capabilities.contrasts.scorer", "Dodged"),
        "escaped": ("capabilities.contrasts.scorer", "Escaped"),
    }.items()
}
