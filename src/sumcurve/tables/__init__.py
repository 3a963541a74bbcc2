"""Comparisons for people: CSV, Markdown, LaTeX, figures."""
