"""Steps of planning a study: checks, then the folders of corpora, runs, outputs and scores."""
