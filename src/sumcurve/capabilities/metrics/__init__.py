"""Further metrics: of models in pinned folders (BERTScore, BARTScore, entailment), and BLEU, TER and METEOR."""
