"""Freed memory is used again: no page of a temporary is made anew."""

import os
import platform
import subprocess
import sys

import pytest

PAGES = """
import resource
import numpy as np
from sumcurve.machine import memory
{call}
def pages():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    blocks = [np.ones(1_000_000, dtype=np.float32) for _ in range(16)]  # 64 MB
    del blocks
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
pages(), pages()
print(pages())
"""


def pages(call: str) -> int:
    """How many pages the kernel makes for temporaries that a process had twice before."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-c", PAGES.format(call=call)]
    return int(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="memory is glibc's to keep")
def test_freed_memory_is_used_again() -> None:
    assert pages("memory.keep_freed()") < 100
