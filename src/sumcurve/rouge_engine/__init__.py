"""The ROUGE engine, for training, extracts and scores alike."""
