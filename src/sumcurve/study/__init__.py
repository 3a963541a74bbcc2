"""A study: its plan, the kinds of folders, and the evidence in them."""
