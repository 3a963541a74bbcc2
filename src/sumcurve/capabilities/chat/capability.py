"""The capability `chat`: prompted models as systems, with examples from the records of trainings, and as judges."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sumcurve.capabilities.capability import Capability, Folders
from sumcurve.capabilities.chat.folders import KINDS, ChatSpecification
from sumcurve.capabilities.chat.judge import JUDGE, Judge
from sumcurve.capabilities.chat.service import TIMES
from sumcurve.capabilities.chat.system import Chat, ChatSettings
from sumcurve.planning.folder import Folder, PlannedCorpus
from sumcurve.planning.study import PlannedStudy
from sumcurve.settings.base import ZERO_SHOT
from sumcurve.settings.config import PlanError
from sumcurve.store.records import RecordError
from sumcurve.systems.rows import Scored
from sumcurve.tables import Listing

if TYPE_CHECKING:
    from sumcurve.capabilities.chat.evidence import Prompts


ALONE = 7  # a subword is written in the time in which so many are read at once: SmolLM2-135M, one answer at a time


class PromptedModels(Capability):
    item_seconds = None
    kinds = KINDS
    systems = {"chat": Chat}
    scorers = {JUDGE: Judge}
    listings = (Listing("prompts", "sumcurve.capabilities.chat.table", after="references", measured=True),)

    def plan_system(self, plan: PlannedStudy, corpus: PlannedCorpus, name: str) -> bool:
        """Add answers with each number of examples; without any there is one row, at 0 records."""
        kind, settings = plan.systems[name]
        if not isinstance(settings, ChatSettings):
            return False
        if corpus.seen is not None:  # of the test items alone
            return True
        _check_examples(plan, corpus, name, settings)
        try:
            specification: ChatSpecification = {
                "corpus": corpus.prepared,
                "settings": kind.specify(settings, corpus.settings),
                "examples": 0,
            }
        except RecordError as error:
            raise PlanError(f"{plan.where('systems', name)}: {error}") from None
        file = settings.weights and settings.weights.file(plan.where("systems", name))
        files = [file] if file else []
        if 0 in settings.examples:
            stem = {"corpus": corpus.name, "system": f"{name}-n0"}
            output = plan.add("chat", specification, [corpus.prepared], files, **stem)
            plan.rows.append(Scored(corpus.name, name + ZERO_SHOT, None, None, None, None, output, role=kind.role))
        counted = replace(
            corpus, settings=corpus.settings.model_copy(update={"percents": None})
        )  # examples are records
        for count, seed in settings.trainings([], plan.settings.seeds):
            row = plan.plan_learned(counted, name, count, seed)
            assert row.fraction is not None
            drawn: ChatSpecification = {**specification, "examples": count, "fraction": row.fraction, "seed": seed}
            stem = {"corpus": corpus.name, "system": f"{name}-n{count}-s{seed}"}
            output = plan.add("chat", drawn, [corpus.prepared, row.fraction], files, **stem)
            plan.rows.append(replace(row, output=output))
        return True

    def system_titles(self, plan: PlannedStudy) -> Mapping[str, str]:
        return {
            name + ZERO_SHOT: f"{settings.title or kind.title} without an example"
            for name, (kind, settings) in plan.systems.items()
            if isinstance(settings, ChatSettings) and 0 in settings.examples
        }

    def writer(self, folder: Folder) -> tuple[Mapping[str, Any], int, int] | None:
        settings = folder.specification["settings"]
        if "url" in settings:
            return None
        model = {"kind": "transformers", "sha256": settings["weights"], "architecture": "decoder", "chat": True}
        words = settings["longest"] // TIMES
        return model, settings.get("source_words", words), ALONE * words

    def digest(self, plan: PlannedStudy) -> Mapping[str, Any]:
        """Prices of users, which determine table prompts."""
        prices = {
            name: settings.price and settings.price.model_dump(mode="json")
            for name, (_, settings) in plan.systems.items()
            if isinstance(settings, ChatSettings)
        }
        return {"prices": prices} if prices else {}

    def evidence(self, folders: Folders) -> "Prompts":
        from sumcurve.capabilities.chat.evidence import prompts  # which reads pandas

        return prompts(folders)


def _check_examples(plan: PlannedStudy, corpus: PlannedCorpus, name: str, settings: ChatSettings) -> None:
    """PlanError for more examples than the corpus has training records, where their number is known."""
    known = (corpus.settings.split.train, corpus.settings.published.get("train"))
    least = min((records for records in known if records is not None), default=None)
    if least is not None and (most := max(settings.examples)) > least:
        raise PlanError(
            f"{plan.where('systems', name, 'examples')}: {most:,}, but {corpus.name} has {least:,} training records; "
            "lower it"
        )


CAPABILITY = PromptedModels()
