"""What a study may say of its data axis."""

from sumcurve.settings.base import Settings


class StudyKeys(Settings):
    axis: str | None = None
    """The metric, one that ranks, of table and figure `data_axis`: from how many records on is a method ahead of a
    prompt? null: there are none.
    """
