"""How settings are chosen: the same budget of trials for every method, on validation records alone."""
