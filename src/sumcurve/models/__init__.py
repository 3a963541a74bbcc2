"""Encoder-decoders over one emission and one query axis."""
