"""APES of every system by each reader."""

from sumcurve.capabilities.apes.tables.apes import by_reader
from sumcurve.tables.results import Results
from sumcurve.tables.table import Table


def table(results: Results) -> Table:
    """A row for every system, size and reader."""
    return by_reader(results)
