"""Choice of settings: the same budget of trials for every method, on validation records only."""
