"""Decoding with trained models: searches over batches, log-probabilities, and the files that hold them."""
