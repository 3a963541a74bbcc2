"""Addresses in messages."""

import re


def without_password(text: str) -> str:
    """A text whose addresses have no user and no password any more: it goes into logs."""
    return re.sub(r"//[^/\s]*@", "//", text)
