"""Corpora of docstrings, harvested from pinned packages."""
