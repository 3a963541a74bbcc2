"""How many examples a property-based test draws: 25 here, as many as it states where tests are run for a record."""

import os

import hypothesis

# SUMCURVE_EXAMPLES caps them at another number. Services of continuous integration set CI.
AT_MOST = int(os.environ.get("SUMCURVE_EXAMPLES") or (1_000_000 if os.environ.get("CI") else 25))


def examples(number: int) -> hypothesis.settings:
    """A decorator: so many examples, or as many as are drawn at most."""
    return hypothesis.settings(max_examples=min(number, AT_MOST))
