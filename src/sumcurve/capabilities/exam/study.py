"""Material of a metric validation from a study: its scorers with their inputs, a corpus's test part, and outputs.

Folders are read after their files were hashed, and compared with the specification of each.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sumcurve.capabilities.exam.judgements import Material
from sumcurve.machine.arguments import CommandError
from sumcurve.machine.spelling import there_are
from sumcurve.planning.study import PlannedStudy
from sumcurve.scores.needs import Needing
from sumcurve.scores.scorer import Scorer, summaries_of
from sumcurve.store import manifest
from sumcurve.store.records import read_records

HUMAN = "human"  # who wrote the last of several references
UNTRAINED = ("baseline", "outside")
UNREAD = {"committed": "were restored without summaries", "missing": "not made"}  # by state of an output


def reads_outputs(scorer: Scorer) -> bool:
    """Tell whether a scorer reads more of an output than its summaries, or cannot score one given by these only."""
    return scorer.inputs("exam", ["exam"], {"exam": {}}) != {}


class Entries:
    """A corpus of a study, whose folders lie in `results`; CommandError where it has several and none is named."""

    def __init__(self, plan: PlannedStudy, corpus: str | None, results: Path) -> None:
        self.plan, self.results = plan, results
        names = list(dict.fromkeys(row.corpus for row in plan.rows))
        if corpus not in names and (corpus is not None or len(names) != 1):
            lack = f"--of {corpus}: no such corpus of study {plan.study}" if corpus else "no --of; name a corpus"
            raise CommandError(f"{lack}; {there_are(corpus, names)}")
        self.corpus = corpus or names[0]
        self.rows = [row for row in plan.rows if row.corpus == self.corpus]
        self._contents: dict[str, str] = {}  # by key, of folders whose files were hashed

    def scorers(self, names: Sequence[str]) -> tuple[dict[str, Scorer], list[str]]:
        """The study's scorers that can be examined, by name, and the others' names; CommandError for a named one."""
        scorers = {}
        for name, scorer in self.plan.scorers.items():
            if any(name in row.scores for row in self.rows) and not reads_outputs(scorer):
                scorers[name] = scorer
        for name in names:
            if name not in self.plan.scorers:
                there = there_are(name, self.plan.scorers)
                raise CommandError(f"--metric {name}: not below `scores:` of study {self.plan.study}; {there}")
            if name not in scorers:
                why = "it reads more of an output than its summaries, or nothing of this corpus"
                raise CommandError(f"--metric {name}: {why}; {there_are(name, scorers)}")
        kept = {name: scorer for name, scorer in scorers.items() if not names or name in names}
        return kept, [] if names else [name for name in self.plan.scorers if name not in scorers]

    def needs(self, name: str) -> Mapping[Path, Any]:
        """The folders that a scorer needs, with the specification of each; empty where it needs none."""
        if not isinstance(self.plan.scorers[name], Needing):
            return {}
        score = next(row.scores[name] for row in self.rows if name in row.scores)
        inputs = self.plan.folders[score].specification["inputs"]
        keys = [key for key in inputs if key in self.plan.folders and self.plan.folders[key].step != "outputs"]
        return {self._verified(key, f"--metric {name}: "): inputs[key] for key in keys}

    def material(self, trained: bool = False) -> tuple[Material, dict[str, str]]:
        """The test part with the finished systems of one kind (`outputs`), and by system the output of its summaries.

        The records are the same for both kinds. The person is a system beside those without a training.
        """
        outputs = self.outputs(trained)
        if not outputs:
            kind = "trained methods" if trained else "systems without a training"
            raise CommandError(
                f"corpus {self.corpus} of study {self.plan.study} has no finished output of {kind} in {self.results}; "
                f"make some: `make study STUDY={self.plan.study}`"
            )
        test = self._verified(self.plan.folders[next(iter(outputs.values()))].specification["corpus"]) / "test.jsonl"
        records = list(read_records(test))
        if len(records) < 2:
            raise CommandError(f"{test}: {len(records)} records; a validation takes two at least")
        summaries = {
            name: [line["summary"] for line in summaries_of(self._verified(key), records)]
            for name, key in outputs.items()
        }
        if all(record.references for record in records):
            if not trained:
                summaries[HUMAN] = [record.references[-1] for record in records]
            records = [replace(record, references=record.references[:-1]) for record in records]
        kinds = [""] * len(summaries)
        return Material(self.corpus, records, [*summaries], kinds, [*summaries.values()]), outputs

    def outputs(self, trained: bool) -> dict[str, str]:
        """The finished outputs of what the plan chooses, by system; those of trained methods, or of the others."""
        return {name: key for name, key in self._chosen(trained).items() if self._state(key) not in UNREAD}

    def absent(self) -> dict[str, list[str]]:
        """The systems whose outputs cannot be read, by the reason."""
        chosen = self._chosen(False) | self._chosen(True)
        names = {why: [name for name in chosen if self._state(chosen[name]) == state] for state, why in UNREAD.items()}
        return {why: absent for why, absent in names.items() if absent}

    def _chosen(self, trained: bool) -> dict[str, str]:
        """Outputs that the validation takes, by system, made or not: the plan alone chooses them.

        Of a trained method it is the one of the largest size with the first seed.
        """
        if trained:
            rows = [row for row in self.rows if row.size is not None and row.part == "study" and row.search != "paper"]
        else:
            rows = [row for row in self.rows if row.role in UNTRAINED and row.size is None]
        chosen: dict[str, str] = {}
        for row in sorted(rows, key=lambda row: -(row.size or 0)):
            chosen.setdefault(row.method, row.output)
        return chosen

    def _state(self, key: str) -> str:
        return manifest.state(self.results / key)

    def _verified(self, key: str, whose: str = "") -> Path:
        """Path of the folder, after its files were hashed; CommandError where it is missing or incomplete."""
        folder = self.results / key
        if key in self._contents:
            return folder
        if (state := self._state(key)) in UNREAD:
            lack = "is not made yet" if state == "missing" else "was restored without all of its files"
            target = f"{self.results.name}/{key}/{manifest.MANIFEST}"
            raise CommandError(
                f"{whose}{folder} {lack}; make it: `snakemake --config study={self.plan.study} -- {target}`"
            )
        sealed = manifest.verify(folder, self.plan.folders[key].specification)
        assert sealed is not None
        manifest.require(manifest.changed_inputs(folder, sealed["inputs"], self._contents))
        self._contents[key] = manifest.content(sealed)
        return folder
