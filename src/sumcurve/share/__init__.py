"""Sharing of a study's results: models to use, exports, committed results."""
