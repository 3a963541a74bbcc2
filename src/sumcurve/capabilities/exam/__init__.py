"""Metric validation: tests that a metric must pass on a corpus before it may rank systems there."""
