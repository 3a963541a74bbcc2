"""Human judgements of contrasts: evidence and table. It needs the capability `contrasts`."""
