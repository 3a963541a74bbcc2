"""A user's program as a system: trained and run by commands."""
