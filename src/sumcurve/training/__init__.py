"""Fitting a model in phases, with one stopping rule and exact resume.

Under `sums: portable` and `compiled`, `numerics.sums.apply` has replaced aten's `mm`, `addmm` and `bmm` on the CPU by
numpy's products for the process: every matrix product of torch goes there, whatever code calls it.
"""
