"""Evidence of an invented study, and models with peaked distributions."""

from unit.decoding.conftest import make_examples, make_model, name, one_thread, vocabulary  # noqa: F401
from unit.tables.conftest import evidence, papers, settings, statistics, study  # noqa: F401
