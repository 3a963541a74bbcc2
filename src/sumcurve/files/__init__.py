"""Rows of users' files, each with its place: tables, JSON lines, JSON lists, plain text."""
