"""Settings of the data axis."""

from sumcurve.settings.base import Settings


class StudyKeys(Settings):
    axis: str | None = None
    """The metric, one that ranks, of table `data_axis`: from how many records on is a method ahead of a prompt?
    Figures then have a marker for every kind: prompted, fine-tuned, from scratch. null: there is none.
    """
