"""Words that a model confuses with a label, called related (Wei et al. 2018)."""
