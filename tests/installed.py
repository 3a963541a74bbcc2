"""What a machine may lack: a test that runs another program is skipped without it, by the program's name."""

import shutil

import pytest


def needs(*programs: str) -> pytest.MarkDecorator:
    missing = [name for name in programs if shutil.which(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")
