"""Contrastive tests (Kumar and Cheung 2019): broken references, and the preferences of systems."""
