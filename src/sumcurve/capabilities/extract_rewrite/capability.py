"""The capability `extract_rewrite`: Chen and Bansal's method, which extracts sentences and rewrites them."""

from sumcurve.capabilities.capability import Capability
from sumcurve.capabilities.extract_rewrite.family import ExtractRewrite


class ExtractsAndRewrites(Capability):
    families = {"extract-rewrite": ExtractRewrite()}


CAPABILITY = ExtractsAndRewrites()
