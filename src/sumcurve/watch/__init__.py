"""Observation of a study: its state, its cost, the origin of its numbers, its damaged folders."""
