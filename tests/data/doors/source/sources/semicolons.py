"""Semicolon-separated values with a header."""

import csv

from sumcurve.sources.source import Source


def rows(path, names):
    with path.open(newline="", encoding="utf-8") as stream:
        yield from csv.DictReader(stream, delimiter=";", strict=True)


SOURCE = Source(suffixes=[".ssv"], unit="row", rows=rows)
