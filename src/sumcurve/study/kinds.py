"""The steps of a study, and one row for every kind of folder in them.

`corpora → annotations → runs → outputs → scores → tables`: each reads only folders of steps to its left. The plan, the
rules and the command line read this table. The rows stand beside the builders, in the modules
`folders` of rooms and capabilities.

Imports nothing heavy: the Snakefile reads it on every parse.
"""

from dataclasses import replace
from functools import partial

from sumcurve.corpora import folders as corpora
from sumcurve.store.kind import Kind
from sumcurve.study import folders as study
from sumcurve.study.doors import CAPABILITIES, MODELS, SOURCES, TRAINABLES
from sumcurve.systems import folders as systems

STEPS = ("corpora", "annotations", "runs", "outputs", "scores", "tables")
_ROWS = {**corpora.KINDS, **systems.KINDS, **study.KINDS}
for _capability in CAPABILITIES.values():
    _ROWS |= _capability.kinds


def _with_parts(row: Kind) -> Kind:
    """A row whose builder has been given the parts that it needs: formats, families of models, trained systems."""
    if row.of_sources:
        row = replace(row, builder=partial(row.builder, SOURCES))
    if row.of_models:
        row = replace(row, builder=partial(row.builder, MODELS))
    if row.of_trainables:
        row = replace(row, builder=partial(row.builder, TRAINABLES))
    return row


KINDS: dict[str, Kind] = {name: _with_parts(row) for step in STEPS for name, row in _ROWS.items() if row.step == step}
