"""The fifths of a source and what is shared out over them, for the scorer of entity attention and for its table."""

ORDINALS = ("first", "second", "third", "fourth", "last")
KINDS = {"attention": "attention", "salient": "salient tokens"}
