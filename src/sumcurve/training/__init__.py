"""Fitting a model in phases, with one stopping rule and exact resume."""
