"""The capability `published`: results as papers print them, apart from a study's own."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sumcurve.capabilities.capability import Capability, Folders
from sumcurve.capabilities.published.settings import CorpusKeys, PublishedResult
from sumcurve.planning.study import PlannedStudy
from sumcurve.settings.study import StudySettings
from sumcurve.tables import Listing

if TYPE_CHECKING:
    from sumcurve.capabilities.published.table import Published
    from sumcurve.tables.report.facts import Corpus
    from sumcurve.tables.report.leaderboard import Printed


class PublishedResults(Capability):
    corpus_settings = CorpusKeys
    listings = (Listing("published", "sumcurve.capabilities.published.table", after="references", outputs=False),)

    def digest(self, plan: PlannedStudy) -> Mapping[str, Any]:
        results = {
            name: [result.model_dump(mode="json") for result in rows] for name, rows in _results(plan.settings).items()
        }
        return {"published": results} if results else {}

    def leaderboard_rows(self, corpus: "Corpus") -> "Iterable[Printed]":
        from sumcurve.capabilities.published.table import leaderboard_rows

        return leaderboard_rows(corpus)

    def evidence(self, folders: Folders) -> "Published":
        from sumcurve.capabilities.published.table import Published

        return Published(_results(folders.plan.settings))


def _results(settings: StudySettings) -> dict[str, Sequence[PublishedResult]]:
    """Printed results by corpus, of corpora that have some."""
    return {
        name: corpus.published_results
        for name, corpus in settings.corpora.items()
        if isinstance(corpus, CorpusKeys) and corpus.published_results
    }


CAPABILITY = PublishedResults()
