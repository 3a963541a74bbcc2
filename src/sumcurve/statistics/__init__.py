"""Intervals, tests and power for systems that are trained with several seeds and scored on groups of test items."""
