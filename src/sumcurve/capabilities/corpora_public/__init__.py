"""Readers of public corpora that are published in a form of their own."""
