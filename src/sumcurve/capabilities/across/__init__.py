"""Recorded studies of several corpora side by side."""
