"""Somebody's program as a system: trained, asked and kept by commands."""
