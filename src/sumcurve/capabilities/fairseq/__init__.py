"""What runs in fairseq's own environment (`make fairseq-env`) and never in ours: see `capabilities.fairseq.model`."""
