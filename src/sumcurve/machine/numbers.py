"""Decimal numbers as people write them in files and on command lines."""

import math
import re

WRITTEN = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,3})?\s*", re.ASCII)


def finite(text: str | None) -> float | None:
    """The finite number that a text is; None for any other text (`nan`, `inf`, `1_0`, `1,5`), and for none."""
    number = float(text) if text and WRITTEN.fullmatch(text) else math.nan
    return number if math.isfinite(number) else None
