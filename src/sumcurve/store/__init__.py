"""Folders of results: manifests, records, fingerprints of code, state that outlives a kill."""
