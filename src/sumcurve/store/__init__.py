"""Folders of results: manifests, records, state that outlives a kill."""
