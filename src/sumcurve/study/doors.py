"""Components that a study can name, of core and capabilities: settings, formats, scorers, systems, models, tables."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pydantic import create_model

from sumcurve import capabilities, scores, sources, systems, tables
from sumcurve.capabilities.capability import Capability
from sumcurve.scores.scorer import Scorer
from sumcurve.settings import content, corpus, study
from sumcurve.sources.source import Source
from sumcurve.systems import families
from sumcurve.systems.family import Family
from sumcurve.systems.system import System, Trainable
from sumcurve.tables import Listing, ranked

CAPABILITIES: dict[str, Capability] = {
    name: import_module(f"sumcurve.capabilities.{name}.capability").CAPABILITY for name in capabilities.CAPABILITIES
}


def _joined(part: str, core: Mapping[str, Any]) -> dict[str, Any]:
    """Join one `part` of the core and of all capabilities; ValueError where two of them have one name."""
    joined = dict(core)
    for name, capability in CAPABILITIES.items():
        brought = getattr(capability, part)
        if twice := sorted(joined.keys() & brought.keys()):
            raise ValueError(f"capability {name}: {', '.join(twice)} stands in {part} already; rename it in its folder")
        joined |= brought
    return joined


SOURCES: dict[str, Source] = _joined("sources", sources.SOURCES)

if TYPE_CHECKING:
    from sumcurve.settings.content import Raw
    from sumcurve.settings.corpus import CorpusSettings
    from sumcurve.settings.study import StudySettings
else:
    Raw = create_model(
        "Raw",
        __base__=(
            *(capability.raw_settings for capability in CAPABILITIES.values() if capability.raw_settings),
            content.Raw,
        ),
        __doc__=content.Raw.__doc__,
    )
    Raw.sources = SOURCES
    CorpusSettings = create_model(
        "CorpusSettings",
        __base__=(
            *(capability.corpus_settings for capability in CAPABILITIES.values() if capability.corpus_settings),
            corpus.CorpusSettings,
        ),
        __doc__=corpus.CorpusSettings.__doc__,
        raw=(Raw, ...),
    )
    StudySettings = create_model(
        "StudySettings",
        __base__=(
            *(capability.study_settings for capability in CAPABILITIES.values() if capability.study_settings),
            study.StudySettings,
        ),
        __doc__=study.StudySettings.__doc__,
        corpora=(dict[str, CorpusSettings], ...),
    )


SCORERS: dict[str, type[Scorer]] = _joined("scorers", scores.SCORERS)
SYSTEMS: dict[str, type[System]] = _joined("systems", systems.SYSTEMS)
MODELS: dict[str, Family] = _joined("families", families.MODELS)
TRAINABLES: dict[str, type[Trainable]] = _joined("trainables", {})


def _placed(listings: Iterable[Listing]) -> dict[str, Listing]:
    """Listings by name: the core's tables, and each of `listings` behind the one that it follows, or at the end."""
    order, waiting = list(tables.CORE), list(listings)
    while waiting:
        names = [other.name for other in order]
        listing = next((other for other in waiting if other.after in names), waiting[0])
        waiting.remove(listing)
        order.insert(names.index(listing.after) + 1 if listing.after in names else len(order), listing)
    return {listing.name: listing for listing in order}


LISTINGS = _placed(listing for capability in CAPABILITIES.values() for listing in capability.listings)
for _one in CAPABILITIES.values():
    for _name, _kinds in _one.behind.items():
        LISTINGS[_name] = replace(LISTINGS[_name], folders=LISTINGS[_name].folders + _kinds)
TABLES, APPENDIX = ranked(LISTINGS), ranked(LISTINGS, appendix=True)
# Files that hold measured time, by their stems: tables, and the figure over training seconds.
MEASURED = (*(name for name in (*TABLES, *APPENDIX) if LISTINGS[name].measured), "seconds")
