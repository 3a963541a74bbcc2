"""Systems by kind: what says something of the test items and is not trained by the study (`system.py`)."""

from sumcurve.systems.baselines import BestSentence, Lead, Random
from sumcurve.systems.command import Command
from sumcurve.systems.file import File
from sumcurve.systems.lexrank import LexRank
from sumcurve.systems.lsa import Lsa
from sumcurve.systems.sumbasic import SumBasic
from sumcurve.systems.system import System

SYSTEMS: dict[str, type[System]] = {  # by `kind` below `systems:` of a study
    "lead": Lead,
    "random": Random,
    "best-sentence": BestSentence,
    "sumbasic": SumBasic,
    "lexrank": LexRank,
    "lsa": Lsa,
    "file": File,
    "command": Command,
}
