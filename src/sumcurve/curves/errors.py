class ResultsError(ValueError):
    """A file of results that cannot be used; the message names file, line, column, value, and remedy."""
