"""What leaves a study: a model to use, an export, packs."""
