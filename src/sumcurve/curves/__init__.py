"""Data efficiency and learning curves."""
