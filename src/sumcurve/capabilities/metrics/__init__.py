"""A further metric, computed with a model in a pinned folder: BERTScore."""
