"""What people ask of a study: its state, its cost, the way of a number, what is damaged."""
