"""Evidence of an invented study, and a copy of the configuration."""

from unit.study.test_plan import config  # noqa: F401
from unit.tables.conftest import evidence, papers, settings, statistics, study  # noqa: F401
