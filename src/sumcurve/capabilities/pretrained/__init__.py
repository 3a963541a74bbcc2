"""Pretrained models of subwords, and their pretraining."""
