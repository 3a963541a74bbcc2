"""What finished folders say of contrasts: what systems, and words alone, find of them, and people of some."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from sumcurve.capabilities.capability import Folders
from sumcurve.capabilities.contrasts.judged import Judged, digest, margins, read_judged
from sumcurve.capabilities.contrasts.planning import JUDGING, judged_folders, judges
from sumcurve.capabilities.contrasts.sets import read
from sumcurve.capabilities.contrasts.settings import contrasts_of
from sumcurve.corpora.store import Corpus
from sumcurve.scores.scorer import group_of
from sumcurve.statistics.design import Cell
from sumcurve.tables.evidence import Evidence, Unranked
from sumcurve.tables.table import Table, number

if TYPE_CHECKING:
    from sumcurve.capabilities.people.results import Results as PeopleResults
    from sumcurve.tables.results import Results

TIED = "§"  # beside what a system dodges whose score often is the same for a gold and another summary
MOST_TIES = 5.0  # percent of the contrasts that a system sees, with exactly their gold's score: above it has no rank
MANY_TIES = f"its score ties too often ({TIED})"


@dataclass(frozen=True)
class Preferences:
    """What the systems of a corpus find of golds and their contrasts.

    `items` names the record of every contrast, `rules` its rule and `groups` its record's group; `systems` holds what
    each run finds, by method, records and seed, and `words` what language models of targets do, by name. `targets` are
    those of the contrasts, `golds` those of items, as sentences of tokens. `twins` are methods whose runs are the same.
    `people` holds what people said of some.
    """

    corpus: str
    items: tuple[str, ...]
    rules: tuple[str, ...]
    groups: tuple[str, ...]
    systems: Mapping[tuple[str, int | None, int | None], Judged]
    words: Mapping[str, Judged]
    targets: Sequence[Sequence[str]]
    golds: Mapping[str, Sequence[str]]
    twins: Sequence[tuple[str, ...]] = ()
    people: Sequence["JudgedByPeople"] = ()

    @property
    def by_people(self) -> bool:
        """Whether people, not models in their place, judged any."""
        return any(not judged.judges for judged in self.people)


@dataclass(frozen=True)
class JudgedByPeople:
    """What people said of contrasts that one run failed to dodge: its method, records and seed; by rule, and of all.

    `judges` says who answered where it was not people.
    """

    method: str
    records: int | None
    seed: int | None
    annotators: int
    results: "PeopleResults"
    judges: str = ""


@dataclass(frozen=True)
class JudgedContrasts(Evidence):
    """What is found of the contrasts of every corpus that has any."""

    corpora: Sequence[Preferences] = ()

    def often_ties(self, corpus: str, cell: Cell) -> bool:
        """Whether more than `MOST_TIES` of the contrasts that a system sees have exactly their gold's score."""
        return self.tie_shares.get((corpus, cell), 0.0) > MOST_TIES

    @cached_property
    def tie_shares(self) -> dict[tuple[str, Cell], float]:
        """By corpus and system, of the contrasts that it sees other than their golds, in percent those that tie.

        The mean over seeds.
        """
        by_system: dict[tuple[str, Cell], list[float]] = {}
        for preferences in self.corpora:
            for (method, records, _), judged in preferences.systems.items():
                by_system.setdefault((preferences.corpus, (method, records)), []).append(tied_share(judged))
        return {key: float(np.mean(shares)) for key, shares in by_system.items()}

    @cached_property
    def tie_notes(self) -> list[str]:
        """A sentence for every method of a corpus that has no rank by its contrasts."""
        sizes: dict[tuple[str, str], dict[int | None, float]] = {}
        for (corpus, (method, records)), share in self.tie_shares.items():
            if share > MOST_TIES:
                sizes.setdefault((corpus, method), {})[records] = share
        return [
            f"{corpus}: {TIED} {method} cannot tell many contrasts from their golds though it reads them: its score is "
            "exactly the same for "
            + ", ".join(
                f"{number(share, 1)} %" + (f" at {number(records)} records" if records is not None else "")
                for records, share in of.items()
            )
            + f". Above {number(MOST_TIES)} % dodged and escaped say how ties are counted: it is left out of what they "
            "rank, tell ahead and correlate. Table contrasts has its figures either way."
            for (corpus, method), of in sizes.items()
        ]

    def unranked(self, results: "Results", corpus: str, metric: str, cell: Cell) -> Unranked | None:
        """Of a metric of contrasts, systems whose score often is exactly their gold's."""
        return Unranked(TIED, MANY_TIES) if metric in JUDGING and self.often_ties(corpus, cell) else None

    def notes(self, results: "Results") -> Sequence[str]:
        return self.tie_notes

    def levels(self, tables: Mapping[str, Table]) -> Sequence[Mapping[str, Any]]:
        from sumcurve.capabilities.contrasts.tables.contrasts import levels

        return levels(tables["contrasts"])

    def sections(self, results: "Results") -> Sequence[Markup]:
        from sumcurve.capabilities.contrasts.fooled import section

        return section(results)


def tied_share(judged: Judged) -> float:
    """Of the contrasts that a run sees other than their golds, in percent those with exactly their gold's score."""
    seen = judged.visible[judged.contrast]
    return 100 * float((margins(judged.own, judged)[seen] == 0).mean()) if seen.any() else 0.0


def judged_contrasts(folders: Folders) -> JudgedContrasts:
    """Of every corpus that has a scored output and is asked for."""
    named = {folders.plan.corpus_name(folder.specification["corpus"]) for folder in judged_folders(folders.plan)}
    return JudgedContrasts(
        [_of(folders, corpus) for corpus in sorted(named & {row.corpus for row, _ in folders.outputs})]
    )


def _of(folders: Folders, corpus: str) -> Preferences:
    """What the finished folders of a corpus hold of golds and contrasts."""
    plan, results = folders.plan, folders.results
    finished = [gold for gold in judged_folders(plan, corpus) if folders.finished(gold.key)]
    specification = judged_folders(plan, corpus)[0].specification
    contrasted = list(read(results / specification["contrasts"]))
    of = digest(contrasted)
    group = {record.id: group_of(record) for record in Corpus(results / specification["corpus"]).part("test")}
    judge_of = judges(plan, corpus)
    systems = {}
    methods: dict[str, dict[str, None]] = {}
    runs: dict[str, tuple[str, int | None, int | None]] = {}
    for row, output in folders.outputs:
        judge = judge_of.get(row.output) if row.corpus == corpus else None
        if judge is not None and folders.finished(judge):
            methods.setdefault(judge, {})[row.method] = None
            run, cell = str(row.run).split("/")[1], (row.method, output.records, row.seed)
            systems[cell] = read_judged(results / judge / f"{run}.safetensors", of)
            runs.setdefault(run, cell)
    words = {
        name: read_judged(results / folder.key / f"{name}.safetensors", of)
        for folder in finished
        for name in folder.specification.get("orders", ())
    }
    keys = contrasts_of(plan.corpora[corpus])
    of_test_part = plan.folder(specification["corpus"]).kind == "corpus"  # of what is held out nobody is asked
    people: list[JudgedByPeople] = []
    if keys is not None and keys.people and of_test_part:
        from sumcurve.capabilities.contrasts.people import judged_by_people  # which reads sheets of `people`

        where, prepared = f"study {plan.study}: {corpus}", specification["corpus"].split("/")[1]
        bootstrap = plan.settings.bootstrap
        people = [judged_by_people(where, gold, prepared, contrasted, runs, bootstrap) for gold in keys.people]
    return Preferences(
        corpus=corpus,
        items=tuple(gold.item for gold in contrasted for _ in gold.contrasts),
        rules=tuple(contrast.rule for gold in contrasted for contrast in gold.contrasts),
        groups=tuple(group[gold.item] for gold in contrasted for _ in gold.contrasts),
        systems=systems,
        words=words,
        targets=[contrast.sentences for gold in contrasted for contrast in gold.contrasts],
        golds={gold.item: gold.sentences for gold in contrasted},
        twins=[tuple(names) for names in methods.values() if len(names) > 1],
        people=people,
    )


def judged_of(results: "Results") -> JudgedContrasts:
    """What a study has found of contrasts; nothing where it asks for none."""
    evidence = results.study.evidence.get("contrasts")
    return evidence if isinstance(evidence, JudgedContrasts) else JudgedContrasts()
