"""Systems by kind: what says something of the test items and is not trained by the study (`system.py`)."""

from importlib import import_module

from sumcurve.systems.system import System

SYSTEMS: dict[
    str, type[System]
] = {  # by `kind` below `systems:` of a study, a class of a module, by its name below this package
    key: getattr(import_module(f"sumcurve.{module}"), name)
    for key, (module, name) in {
        "lead": ("systems.baselines", "Lead"),
        "random": ("systems.baselines", "Random"),
        "best-sentence": ("systems.baselines", "BestSentence"),
        "sumbasic": ("systems.sumbasic", "SumBasic"),
        "lexrank": ("systems.lexrank", "LexRank"),
        "lsa": ("systems.lsa", "Lsa"),
        "source": ("systems.bounds", "Source"),
        "gold": ("systems.bounds", "Gold"),
        "shuffled-gold": ("systems.bounds", "ShuffledGold"),
        "extractive-optimum": ("systems.bounds", "Optimum"),
        "file": ("systems.file", "File"),
        "command": ("capabilities.programs.command", "Command"),
    }.items()
}
