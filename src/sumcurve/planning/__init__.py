"""Plans as capabilities see them: folders, corpora while they are planned, rows; nothing here knows a capability."""
