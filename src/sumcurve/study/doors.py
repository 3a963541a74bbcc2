"""What a study can name: settings, scorers, systems, kinds of folders and tables of the core and of capabilities."""

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING

from pydantic import create_model

from sumcurve import capabilities, scores, settings, systems, tables
from sumcurve.capabilities.capability import Capability
from sumcurve.scores.scorer import Scorer
from sumcurve.systems.system import System
from sumcurve.tables import Listing, ranked

CAPABILITIES: dict[str, Capability] = {
    name: import_module(f"sumcurve.capabilities.{name}.capability").CAPABILITY for name in capabilities.CAPABILITIES
}

if TYPE_CHECKING:
    from sumcurve.settings import CorpusSettings, StudySettings
else:
    CorpusSettings = create_model(
        "CorpusSettings",
        __base__=(
            *(one.corpus_settings for one in CAPABILITIES.values() if one.corpus_settings),
            settings.CorpusSettings,
        ),
        __doc__=settings.CorpusSettings.__doc__,
    )
    StudySettings = create_model(
        "StudySettings",
        __base__=(*(one.study_settings for one in CAPABILITIES.values() if one.study_settings), settings.StudySettings),
        __doc__=settings.StudySettings.__doc__,
        corpora=(dict[str, CorpusSettings], ...),
    )

SCORERS: dict[str, type[Scorer]] = scores.SCORERS | {
    key: getattr(import_module(f"sumcurve.capabilities.{module}"), name)
    for key, (module, name) in {
        "people": ("people.scorer", "People"),
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
for _one in CAPABILITIES.values():
    SCORERS |= _one.scorers
    SYSTEMS |= _one.systems

_C = "sumcurve.capabilities.contrasts.tables."
_E = "sumcurve.capabilities.extracts.tables."
_P = "sumcurve.capabilities.people.tables."
JUDGED = ("contrasts", "judge_words")
_LISTINGS = (
    Listing("extracts", _E + "extracts", after="methods", folders=("prove",), outputs=False),
    Listing("oracle_pairs", _E + "oracle_pairs", "decoding", appendix=True, folders=("prove",), outputs=False),
    Listing(
        "oracle_features", _E + "oracle_features", "oracle_pairs", appendix=True, folders=("prove",), outputs=False
    ),
    Listing(
        "oracle_timings",
        _E + "oracle_timings",
        "oracle_features",
        appendix=True,
        measured=True,
        folders=("prove",),
        outputs=False,
    ),
    Listing(
        "pretraining",
        "sumcurve.capabilities.pretrained.tables.pretraining",
        "corpora",
        measured=True,
        folders=("pretrain",),
        whole_corpus=True,
    ),
    Listing("correlations", _P + "correlations", "cloze", whole_corpus=True),
    Listing("contrasts", _C + "contrasts", "correlations", folders=JUDGED),
    Listing("contrast_rules", _C + "contrast_rules", "contrasts", folders=JUDGED),
    Listing("contrast_links", _C + "contrast_links", "contrast_rules", folders=JUDGED, whole_corpus=True),
    Listing("contrast_people", _P + "contrast_people", "contrast_links"),
)


def _placed(listings: Iterable[Listing]) -> dict[str, Listing]:
    """By name the core's tables, and each of `listings` behind the one that it follows, or at the end."""
    order, waiting = list(tables.CORE), list(listings)
    while waiting:
        names = [one.name for one in order]
        listing = next((one for one in waiting if one.after in names), waiting[0])
        waiting.remove(listing)
        order.insert(names.index(listing.after) + 1 if listing.after in names else len(order), listing)
    return {one.name: one for one in order}


LISTINGS = _placed([*_LISTINGS, *(listing for one in CAPABILITIES.values() for listing in one.listings)])
TABLES, APPENDIX = ranked(LISTINGS), ranked(LISTINGS, appendix=True)
MEASURED = tuple(name for name in (*TABLES, *APPENDIX) if LISTINGS[name].measured)
