"""Human judgements: blind sheets are sent, filled ones read; answers become agreement, results and a scorer."""
