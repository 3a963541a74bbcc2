"""How a study is planned, step by step: checks, then the folders of corpora, runs, outputs and scores."""
