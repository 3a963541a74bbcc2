"""A metric sits an exam before it may rank."""
