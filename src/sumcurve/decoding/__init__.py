"""How trained models write: searches over batches, log-probabilities, and the files that hold them."""
