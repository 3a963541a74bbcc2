"""From raw text to an ordered, split, tokenised corpus."""
