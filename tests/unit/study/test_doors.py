"""What the core and capabilities bring has one meaning a name."""

import pytest

from sumcurve.scores import SCORERS
from sumcurve.study import doors


def test_a_name_that_two_capabilities_bring_is_refused():
    name = next(iter(doors.CAPABILITIES["metrics"].scorers))
    with pytest.raises(ValueError, match=rf"capability metrics: {name} stands in scorers already; rename it"):
        doors._joined("scorers", {**SCORERS, name: SCORERS["rouge"]})
    assert doors._joined("scorers", SCORERS).keys() == doors.SCORERS.keys()


def test_a_table_of_a_capability_follows_one_that_there_is():
    """Else it stands at the end, without a word."""
    listings = doors.LISTINGS.values()
    assert [listing.name for listing in listings if listing.after and listing.after not in doors.LISTINGS] == []
