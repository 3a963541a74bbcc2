"""The capability `programs`: somebody's programs as systems, trained ones, too."""

from dataclasses import replace
from typing import TYPE_CHECKING

from sumcurve.capabilities.capability import Capability
from sumcurve.capabilities.programs.command import Command, CommandSettings
from sumcurve.capabilities.programs.folders import KINDS, DecodeProgramSpecification, TrainProgramSpecification
from sumcurve.settings.config import PlanError
from sumcurve.settings.study import Reading
from sumcurve.sources.pinned import File
from sumcurve.systems.rows import Scored

if TYPE_CHECKING:
    from sumcurve.study.plan import Folder, Plan, PlannedCorpus
    from sumcurve.watch.costs import Cost, Costs
    from sumcurve.watch.estimate import Sizes

# What of its fraction's words an outside program is asked about: all, as far as the study's methods know them.
EVERY_WORD = {"vocabulary": 10**9, "least_count": 1}


class Programs(Capability):
    kinds = KINDS
    systems = trainables = {"command": Command}

    def plan_curve(self, plan: "Plan", corpus: "PlannedCorpus", row: Scored) -> None:
        """A training of an outside program, and what it says then."""
        _, settings = plan.systems[row.method]
        if not isinstance(settings, CommandSettings):
            return
        assert row.fraction is not None
        assert row.seed is not None
        assert row.size is not None
        learning = settings.training()
        specification: TrainProgramSpecification = {
            "fraction": row.fraction,
            "told": learning,
            "seed": row.seed,
            "threads": plan.settings.threads,
            "training": EVERY_WORD,
        }
        files = [File(sha256, path) for path, sha256 in learning["files"].items()]
        named = {"corpus": corpus.name, "method": row.method, "size": corpus.called(row.size), "seed": row.seed}
        run = plan.add("train_program", specification, [corpus.prepared, row.fraction], files, **named)
        self.plan_output(plan, corpus, replace(row, run=run), KINDS["train_program"].stem.format(**named), "")

    def plan_output(self, plan: "Plan", corpus: "PlannedCorpus", row: Scored, stem: str, variant: str) -> None:
        kind, settings = plan.systems[row.method]
        if not isinstance(settings, CommandSettings):
            return
        specification: DecodeProgramSpecification = {
            "run": str(row.run),
            "corpus": corpus.prepared,
            "system": settings.kind or row.method,
            "told": kind.specify(settings, corpus.settings),
        }
        if corpus.decoded == "valid":
            specification["part"] = "valid"
        elif settings.logp is not None:
            reading = Reading.model_validate(plan.settings.scores.get("reading", {}))
            specification["reading"] = reading.model_dump(mode="json")
            specification["target_tokens"] = corpus.settings.target_tokens
        files = [File(sha256, path) for sha256, path in kind.files(settings).items()]
        inputs = [str(row.run), corpus.prepared]
        plan.decoded(row, plan.add("decode_program", specification, inputs, files, run=stem, variant=variant))

    def cost(self, plan: "Plan", folder: "Folder", costs: "Costs", sizes: "Sizes") -> "Cost | None":
        """PlanError: nobody but their authors knows."""
        if folder.kind in KINDS or folder.specification.get("system") in self.systems:
            raise PlanError(costs.of_programs)
        return None


CAPABILITY = Programs()
