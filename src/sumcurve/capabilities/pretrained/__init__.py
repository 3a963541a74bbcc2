"""Pretrained models of subwords: fine-tuned by a study, or without any training (zero shot)."""
