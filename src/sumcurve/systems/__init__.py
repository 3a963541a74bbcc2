"""Systems by kind: summarizers of the test items that the study does not train (`system.py`)."""

from importlib import import_module

from sumcurve.systems.system import System

SYSTEMS: dict[str, type[System]] = {  # by `kind` below `systems:` of a study, a class of a module beside this one
    key: getattr(import_module(f"{__name__}.{module}"), name)
    for key, (module, name) in {
        "lead": ("baselines", "Lead"),
        "random": ("baselines", "Random"),
        "best-sentence": ("baselines", "BestSentence"),
        "sumbasic": ("sumbasic", "SumBasic"),
        "lexrank": ("lexrank", "LexRank"),
        "lsa": ("lsa", "Lsa"),
        "source": ("bounds", "Source"),
        "gold": ("bounds", "Gold"),
        "shuffled-gold": ("bounds", "ShuffledGold"),
        "human": ("bounds", "Human"),
        "file": ("file", "File"),
    }.items()
}
