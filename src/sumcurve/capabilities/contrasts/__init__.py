"""Contrastive tests (Kumar and Cheung 2019): broken references, and what systems prefer."""
