"""Numbers of records with which a curve reaches a score."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def records_for(sizes: NDArray[np.int64] | Array, curves: Array, scores: Array) -> Array:
    """The records with which each curve ``[draws, sizes]`` first has its score ``[draws]``, linear in log records.

    The smallest size where the score is reached already, the largest where it is never reached.
    """
    logs = np.log(sizes.astype(float))
    reached = curves >= scores[:, None]
    first = np.where(reached.any(axis=1), reached.argmax(axis=1), len(sizes) - 1)
    before = np.maximum(first - 1, 0)
    rows = np.arange(len(curves))
    rise = curves[rows, first] - curves[rows, before]
    wanted = scores - curves[rows, before]
    share = np.clip(np.divide(wanted, rise, out=np.ones_like(rise), where=rise > 0), 0.0, 1.0)
    crossing = np.exp(logs[before] + share * (logs[first] - logs[before]))
    return np.asarray(np.where(first == 0, sizes[0], crossing))
