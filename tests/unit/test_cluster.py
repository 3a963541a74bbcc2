"""The throw-away Slurm of the tests says what it lacks, and installs nothing."""

import os
import shutil

import pytest

import cluster


def test_without_root_it_is_refused(monkeypatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(cluster.NoCluster, match="needs root"), cluster.cluster():
        pass


def test_without_slurm_the_packages_are_named(monkeypatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(shutil, "which", lambda name: None if name in ("slurmd", "munged") else f"/usr/bin/{name}")
    with (
        pytest.raises(cluster.NoCluster, match=r"installs nothing: apt-get install .* munge slurmd$"),
        cluster.cluster(),
    ):
        pass
