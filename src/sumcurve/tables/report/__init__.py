"""Reports of a study: its findings in sentences, and the summaries themselves."""
