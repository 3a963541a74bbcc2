"""The system of a trained run of Chen and Bansal's method."""

from collections.abc import Sequence

from sumcurve.capabilities.extract_rewrite.decoder import ExtractRewriteDecoder
from sumcurve.systems.system import Alternatives, Likelihoods
from sumcurve.systems.trained import Trained


class RewritingSystem(Trained):
    decoder: ExtractRewriteDecoder

    def weigh(self, alternatives: Sequence[Alternatives]) -> list[Likelihoods]:
        """Likelihoods of all targets, each sentence as a rewrite of an extracted one (`contrasts.likelihoods`)."""
        from sumcurve.capabilities.extract_rewrite.contrasts import likelihoods

        return [likelihoods(self.decoder, item, self.device) for item in alternatives]
