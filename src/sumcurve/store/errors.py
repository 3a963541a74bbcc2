class CorpusError(ValueError):
    """A corpus that cannot be made; the message names file, line or value, and remedy."""
