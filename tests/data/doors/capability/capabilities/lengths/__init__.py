"""How long references are."""
