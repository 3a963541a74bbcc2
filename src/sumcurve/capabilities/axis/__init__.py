"""A common axis of records for models that are prompted, fine-tuned and trained from scratch."""
