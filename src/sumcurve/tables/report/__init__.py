"""What people read of a study: what came out, in sentences, and the summaries themselves."""
