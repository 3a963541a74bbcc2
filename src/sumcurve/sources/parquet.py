"""Parquet, the format of most published corpora: rows of named columns, read in batches by `files.parquet`."""

from collections.abc import Sequence
from pathlib import Path

from sumcurve.files import parquet
from sumcurve.sources.lines import as_corpus_error
from sumcurve.sources.source import Rows, Source, with_inner


def rows(path: Path, names: Sequence[str] | None) -> Rows:
    """Every row, with the columns that are `names`.

    Raises CorpusError for a file that is missing, damaged or no Parquet file, and for a column that it does not have.
    """
    with as_corpus_error():
        for row in parquet.rows(path, names):
            yield with_inner(row, names)


SOURCE = Source(suffixes=[".parquet", ".pq"], unit="row", rows=rows)
