"""Evidence of an invented study, and the configuration in a folder of its own."""

from unit.decoding.conftest import one_thread  # noqa: F401
from unit.study.test_plan import config  # noqa: F401
from unit.tables.conftest import evidence, invented, papers, settings, statistics, study  # noqa: F401
