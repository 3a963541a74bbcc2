"""What a study can name: scorers and systems of the core, and those of capabilities."""

from importlib import import_module

from sumcurve import scores, systems
from sumcurve.scores.scorer import Scorer
from sumcurve.systems.system import System

SCORERS: dict[str, type[Scorer]] = scores.SCORERS | {
    key: getattr(import_module(f"sumcurve.capabilities.{module}"), name)
    for key, (module, name) in {
        "people": ("people.scorer", "People"),
        "apes": ("apes.scorer", "AnswersQuestions"),
        "entity_attention": ("apes.entity_attention", "LooksAt"),
        "dodged": ("contrasts.scorer", "Dodged"),
        "escaped": ("contrasts.scorer", "Escaped"),
    }.items()
}
SYSTEMS: dict[str, type[System]] = systems.SYSTEMS | {
    key: getattr(import_module(f"sumcurve.capabilities.{module}"), name)
    for key, (module, name) in {
        "extractive-optimum": ("extracts.system", "Optimum"),
        "command": ("programs.command", "Command"),
    }.items()
}
