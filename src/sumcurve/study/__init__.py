"""A study: its plan, the kinds of folders, and what its folders hold as evidence."""
