"""Words that a model takes for related (Wei et al. 2018)."""
