"""Errors of statistics."""


class Undefined(ValueError):
    """A number without a meaningful value here; the message is the reason, fit for a table's cell."""
