"""Preparation of raw text as an ordered, split, tokenised corpus."""
