"""Prompted models as systems: any server with the interface chat/completions."""
