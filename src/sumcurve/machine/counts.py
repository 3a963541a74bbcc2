"""Counts with their nouns, for sentences."""


def counted(count: int, noun: str) -> str:
    """A count with its noun: 1 item, 1,000 items."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
