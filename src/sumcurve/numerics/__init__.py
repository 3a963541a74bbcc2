"""Kernels with one entry: `operations` has the operations of models, `sums` decides the last bits of their results."""
