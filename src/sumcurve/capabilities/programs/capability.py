"""The capability `programs`: users' programs as systems, trained ones, too."""

from dataclasses import replace

from sumcurve.capabilities.capability import Capability
from sumcurve.capabilities.programs.command import Command, CommandSettings
from sumcurve.capabilities.programs.folders import KINDS, DecodeProgramSpecification, TrainProgramSpecification
from sumcurve.planning.folder import PlannedCorpus
from sumcurve.planning.study import PlannedStudy
from sumcurve.settings.study import Reading
from sumcurve.sources.pinned import File
from sumcurve.systems.rows import Scored

# Words of its fraction for which an outside program gives log-probabilities: all in the methods' vocabularies.
EVERY_WORD = {"vocabulary": 10**9, "least_count": 1}


class Programs(Capability):
    item_seconds = None
    kinds = KINDS
    systems = trainables = {"command": Command}

    def plan_curve(self, plan: PlannedStudy, corpus: PlannedCorpus, row: Scored) -> None:
        """Add a training of an outside program, and its output."""
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

    def plan_output(self, plan: PlannedStudy, corpus: PlannedCorpus, row: Scored, stem: str, variant: str) -> None:
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


CAPABILITY = Programs()
