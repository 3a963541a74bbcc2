"""What the core and capabilities bring has one meaning a name."""

import pytest

from sumcurve.scores import SCORERS
from sumcurve.study import doors


def test_a_name_that_two_capabilities_bring_is_refused():
    name = next(iter(doors.CAPABILITIES["metrics"].scorers))
    with pytest.raises(ValueError, match=rf"capability metrics: {name} stands in scorers already; rename it"):
        doors._joined("scorers", {**SCORERS, name: SCORERS["rouge"]})
    assert doors._joined("scorers", SCORERS).keys() == doors.SCORERS.keys()
