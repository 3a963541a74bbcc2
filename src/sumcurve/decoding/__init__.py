"""What a system says of the test set."""
