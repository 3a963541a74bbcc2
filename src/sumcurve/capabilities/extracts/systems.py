"""Extractive systems that do not use the abstract: lead, SumBasic, LexRank and LSA.

Each takes as many sentences as the abstract has, in document order, so that it is comparable with the searches of
Akhmetov et al. (2022), which use that number, too. They are those of every study (`sumcurve.systems`), with defaults.
"""

from sumcurve.capabilities.extracts.article import Article
from sumcurve.systems.extractive import Extractive
from sumcurve.systems.lexrank import LexRank
from sumcurve.systems.lsa import Lsa
from sumcurve.systems.sumbasic import SumBasic

EXTRACTIVE: dict[str, type[Extractive]] = {"SumBasic": SumBasic, "LexRank": LexRank, "LSA": Lsa}


def extracts(article: Article) -> dict[str, tuple[int, ...]]:
    """Sentences that each system takes, ascending, by system."""
    count = min(len(article.abstract), len(article.sentences))
    extracts_by_name = {"Lead": tuple(range(count))}
    for name, kind in EXTRACTIVE.items():
        extracts_by_name[name] = tuple(kind(kind.Settings().own(), {}).extract(article.sentences, count))
    return extracts_by_name
