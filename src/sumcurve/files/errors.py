from sumcurve.machine.arguments import CommandError

EXCERPT = 80  # characters of a bad value that are shown


class FileError(CommandError):
    """A user's file that cannot be used; the message names file, line, column, value and remedy."""


class Refused(Exception):
    """Error of a row that is no record: a reason and the value that decided."""

    def __init__(self, reason: str, value: object) -> None:
        super().__init__(reason)
        self.reason = reason
        self.value = excerpt(value)


def excerpt(value: object) -> str:
    text = str(value)
    return text if len(text) <= EXCERPT else text[: EXCERPT - 1] + "…"
