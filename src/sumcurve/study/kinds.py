"""The steps of a study, and one row for every kind of folder in them.

`corpora → annotations → runs → outputs → scores → tables`: each reads only what stands to its left. The plan, the
rules, the command line, recipes and fingerprints read this table. The rows stand beside the builders, in the modules
`folders` of rooms and capabilities.

Imports nothing heavy: the Snakefile reads it on every parse.
"""

from dataclasses import replace
from functools import partial

from sumcurve.corpora import folders as corpora
from sumcurve.sources import SOURCES
from sumcurve.store.kind import Kind
from sumcurve.study import folders as study
from sumcurve.study.doors import APPENDIX, CAPABILITIES, LISTINGS, MODELS, TABLES, TRAINABLES
from sumcurve.systems import folders as systems
from sumcurve.training import folders as training

STEPS = ("corpora", "annotations", "runs", "outputs", "scores", "tables")
_ROWS = {**corpora.KINDS, **training.KINDS, **systems.KINDS, **study.KINDS}
for _capability in CAPABILITIES.values():
    _ROWS |= _capability.kinds
_FAMILIES = tuple(dict.fromkeys(type(family).__module__ for family in MODELS.values()))
_PROGRAMS = tuple(dict.fromkeys(kind.__module__ for kind in TRAINABLES.values()))


def _with_models(row: Kind) -> Kind:
    """A row whose builder has been given what it asks for: families of models, systems that are trained."""
    if row.of_models:
        row = replace(row, builder=partial(row.builder, MODELS), modules=(*row.modules, *_FAMILIES))
    if row.of_trainables:
        row = replace(row, builder=partial(row.builder, TRAINABLES), modules=(*row.modules, *_PROGRAMS))
    return row


KINDS: dict[str, Kind] = {name: _with_models(row) for step in STEPS for name, row in _ROWS.items() if row.step == step}

# The last step has no kinds: a study has one folder of tables, which bears its name and is made anew.
TABLES_MODULES = (
    "sumcurve.study.tables",
    "sumcurve.study.collect",
    *(LISTINGS[name].path for name in (*TABLES, *APPENDIX)),
)
# Rows of recipes.yaml, each with the modules that it stands for. What a raw format, a tokenizer or a step of cleaning
# writes has a version of its own, which stands in the names of corpora that use it where it is above 1.
CORPUS_PARTS = {name: (source.rows.__module__,) for name, source in SOURCES.items()} | {
    "boilerplate": ("sumcurve.sources.cleaning",),
    "encoding": ("sumcurve.sources.cleaning",),
    "markup": ("sumcurve.sources.cleaning",),
    "wayback": ("sumcurve.sources.cleaning",),
    "ptb": ("sumcurve.corpora.tokenizers",),
}
RECIPES: dict[str, tuple[str, ...]] = {
    **{name: kind.modules for name, kind in KINDS.items() if not kind.part},
    **{
        f"{name}/{part}": kind.code({kind.part: part})
        for name, kind in KINDS.items()
        if kind.part
        for part in kind.parts
    },
    **{f"corpus/{part}": modules for part, modules in CORPUS_PARTS.items()},
    "tables": TABLES_MODULES,
}
OWNERS = {  # the capability of each row that is not the core's
    row: name
    for name, capability in CAPABILITIES.items()
    for row in RECIPES
    if row.split("/")[0] in capability.kinds
    or row in {*(f"score/{part}" for part in capability.scorers), *(f"system/{part}" for part in capability.systems)}
}
