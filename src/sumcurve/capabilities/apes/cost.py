"""What questions and their readers cost before they are made."""

from typing import TYPE_CHECKING

import numpy as np

from sumcurve.capabilities.apes.settings import AttentiveSettings, reader_settings
from sumcurve.settings.config import PlanError

if TYPE_CHECKING:
    from sumcurve.study.plan import Folder, Plan
    from sumcurve.watch.costs import Cost, Costs

READ = 5e-10  # seconds of a multiply-add of what a reader learns from, measured on jobs of the recorded studies


def cost_of(plan: "Plan", folder: "Folder", costs: "Costs") -> "Cost | None":
    """See `Capability.cost`. A reader: its multiply-adds, and updates anywhere between its patience and its most."""
    specification = folder.specification
    if folder.kind == "questions" and "recogniser" in specification:
        raise PlanError(costs.of_recognisers)
    if folder.kind == "score" and specification["settings"].get("reader", {}).get("kind") == "transformers":
        raise PlanError(costs.from_elsewhere)
    if folder.kind != "reader":
        return None
    settings = reader_settings(specification["reader"])
    if not isinstance(settings, AttentiveSettings):  # which is not trained
        return costs.job, 0, 0.0
    corpus = plan.corpora[plan.corpus_name(specification["corpus"])]
    width, training = settings.embedding, settings.training()
    stop = training.phases[0].stop
    least = min(stop.max_updates, stop.every_updates * (1 + stop.patience))
    updates = np.linspace(least, stop.max_updates, 3)
    read = corpus.source_tokens + corpus.target_tokens  # by two directions of three gates
    adds = training.batch * read * 6 * settings.hidden * (width + settings.hidden)
    weights = settings.vocabulary * width + 12.0 * settings.hidden**2
    return costs.job + updates * adds * READ, 0, costs.bytes_of_weight * weights
