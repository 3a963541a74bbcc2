from sumcurve.machine.arguments import CommandError


class FileError(CommandError):
    """A user's file that cannot be used; the message names file, line, column, value and remedy."""
