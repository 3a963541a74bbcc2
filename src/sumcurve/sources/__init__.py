"""The formats in which raw records come: a file of this folder each, and a line here.

What a harvest makes (`harvest.harvest`, which no package may be needed for) is JSON lines. Nothing heavy is imported,
because the Snakefile reads this on every parse.
"""

from importlib import import_module
from pathlib import PurePath

from sumcurve.sources.source import Source

SOURCES: dict[
    str, Source
] = {  # by the `format` of a study's raw content, which is the name of a module beside this one
    name: import_module(f"{__name__}.{name}").SOURCE
    for name in (
        "jsonl",
        "csv",
        "parquet",
        "oags",
        "oag",
        "scientific_papers",
        "lcsts",
        "debian",
        "gigaword",
        "aeslc",
        "dialogsum",
        "acl_anthology",
    )
}


def format_of(path: str) -> str | None:
    """The format that the ending of a path's name says, as `parquet` of train.parquet; None where it says none.

    An ending that several formats have says JSON lines, where that is one of them, and else none: what a zip holds, its
    name does not say.
    """
    file = PurePath(path).name
    formats = [name for name, source in SOURCES.items() if file.endswith(tuple(source.suffixes))]
    return formats[0] if len(formats) == 1 or formats[:1] == ["jsonl"] else None
