"""What a study's file says of printed results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sumcurve.capabilities.published.settings import PublishedResult
from sumcurve.tables.evidence import Evidence


@dataclass(frozen=True)
class Published(Evidence):
    """Printed results by corpus, in the order of the study's file."""

    results: Mapping[str, Sequence[PublishedResult]]
