"""Types of command-line arguments, for `add_argument(type=…)`. They raise ArgumentTypeError."""

import argparse


def natural(text: str, least: int = 0) -> int:
    """A whole number of at least `least`, in ASCII digits."""
    number = int(text) if text.isascii() and text.isdigit() else -1
    if number < least:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of at least {least}")
    return number


def positive(text: str) -> int:
    """A whole number of at least 1."""
    return natural(text, least=1)
