"""Fetching from elsewhere: files of the hub, and folders of git repositories."""
