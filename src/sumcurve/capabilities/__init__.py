"""What a study may have beside the core: a folder each."""
