"""Evidence of an invented study."""

from unit.tables.conftest import evidence, long_curves, papers, settings, statistics, study  # noqa: F401
