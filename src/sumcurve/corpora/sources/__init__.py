"""The forms in which raw records come: a file of this folder each, and a line here.

What a harvest makes (`corpora.harvest`, which no package may be needed for) is JSON lines. Nothing heavy is imported,
because the Snakefile reads this on every parse.
"""

from importlib import import_module
from pathlib import PurePath

from sumcurve.corpora.sources.source import Source

SOURCES: dict[str, Source] = {  # by the `form` of a study's raw content, which is the name of a module beside this one
    form: import_module(f"{__name__}.{form}").SOURCE
    for form in (
        "jsonl",
        "parquet",
    )
}


def form_of(path: str) -> str | None:
    """The form that the ending of a path's name says, as `parquet` of train.parquet; None where it says none."""
    name = PurePath(path).name
    for form, source in SOURCES.items():
        if name.endswith(tuple(source.suffixes)):
            return form
    return None
