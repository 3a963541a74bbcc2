"""Question-answering scores (APES, Eyal et al. 2019): questions, readers, answers."""
