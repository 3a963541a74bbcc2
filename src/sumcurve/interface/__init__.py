"""Interface of `import sumcurve`: functions over the rooms below, whose results print as tables. Verbs use the same."""
