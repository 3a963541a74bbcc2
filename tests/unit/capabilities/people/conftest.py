"""Evidence of an invented study."""

from unit.tables.conftest import evidence, papers, settings, statistics, study  # noqa: F401
