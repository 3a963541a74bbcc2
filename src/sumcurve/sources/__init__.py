"""Formats in which raw records come: a file of this folder each, and a line here; capabilities bring more.

Nothing heavy is imported, because the Snakefile reads this on every parse.
"""

from collections.abc import Mapping
from importlib import import_module
from pathlib import PurePath

from sumcurve.sources.source import Source

SOURCES: dict[str, Source] = {  # by name of the module beside this one, the `format` of a study's raw content
    name: import_module(f"{__name__}.{name}").SOURCE
    for name in (
        "jsonl",
        "csv",
        "parquet",
        "oags",
        "scientific_papers",
        "lcsts",
        "gigaword",
        "parallel",
        "texts",
    )
}


def format_of(path: str, sources: Mapping[str, Source]) -> str | None:
    """The format by the ending of a path's name, as `parquet` of train.parquet; None where it is unknown.

    An ending that several formats have means JSON lines, where that is one of them, and else no format: the name of a
    zip does not show its content.
    """
    file = PurePath(path).name
    formats = [name for name, source in sources.items() if file.endswith(tuple(source.suffixes))]
    return formats[0] if len(formats) == 1 or formats[:1] == ["jsonl"] else None
