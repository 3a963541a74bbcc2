"""Memory that a process frees stays with it, where the C library is glibc.

glibc gives the end of its heap back when blocks there are freed, and the kernel zeroes every page that a process gets
again: a training's update on a CPU, whose temporaries are megabytes, spends time on that.
"""

import ctypes

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # names of glibc's mallopt, in malloc.h
MOST_KEPT = 1 << 30
LARGEST_KEPT = 32 << 20  # the most that glibc takes for this threshold; larger blocks are mapped as ever


def keep_freed() -> None:
    """Let this process use freed blocks of up to `LARGEST_KEPT` again; it holds at most `MOST_KEPT` free at its end.

    No value of any sum depends on it. Another C library stays as it is.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(MMAP_THRESHOLD, LARGEST_KEPT)
        mallopt(TRIM_THRESHOLD, MOST_KEPT)
