"""Evidence of finished folders about contrasts: likelihoods by systems, and by language models without a source."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sumcurve.capabilities.capability import Folders
from sumcurve.capabilities.contrasts.judged import Judged, digest, margins, read_judged
from sumcurve.capabilities.contrasts.planning import JUDGING, judged_folders, judges
from sumcurve.capabilities.contrasts.sets import read
from sumcurve.capabilities.contrasts.settings import contrasts_of
from sumcurve.corpora.store import Corpus
from sumcurve.planning.study import PlannedStudy
from sumcurve.scores.scorer import group_of
from sumcurve.settings.corpus import Judgements
from sumcurve.statistics.design import Cell
from sumcurve.tables.evidence import Evidence, Study, Unranked
from sumcurve.tables.results import Results
from sumcurve.tables.table import Table, number

TIED = "§"  # marks results of a system whose score is often the same for a gold and another summary
MOST_TIES = 5.0  # percent of the contrasts that a system sees, with exactly their gold's score: above it has no rank
MANY_TIES = f"its score ties too often ({TIED})"


@dataclass(frozen=True)
class Preferences:
    """Likelihoods of golds and their contrasts by the systems of a corpus.

    `items` names the record of every contrast, `rules` its rule and `groups` its record's group; `systems` holds the
    likelihoods by each run, by method, records and seed, and `words` those by language models of targets, by name.
    `targets` are those of the contrasts, `golds` those of items, as sentences of tokens. `twins` are methods whose runs
    are the same. `by_people`: people, not models in their place, judged some.
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
    by_people: bool = False


@dataclass(frozen=True)
class JudgedContrasts(Evidence):
    """Evidence about the contrasts of every corpus that has any."""

    corpora: Sequence[Preferences] = ()

    def often_ties(self, corpus: str, cell: Cell) -> bool:
        """Tell whether more than `MOST_TIES` percent of the contrasts visible to a system tie with their gold."""
        return self.tie_shares.get((corpus, cell), 0.0) > MOST_TIES

    @cached_property
    def tie_shares(self) -> dict[tuple[str, Cell], float]:
        """Percentages, by corpus and system, of visible contrasts with exactly their gold's score.

        The mean over seeds.
        """
        by_system: dict[tuple[str, Cell], list[float]] = {}
        for preferences in self.corpora:
            for (method, records, _), judged in preferences.systems.items():
                by_system.setdefault((preferences.corpus, (method, records)), []).append(tied_share(judged))
        return {key: float(np.mean(shares)) for key, shares in by_system.items()}

    @cached_property
    def tie_notes(self) -> list[str]:
        """A sentence for every method of a corpus that is not ranked by its contrasts."""
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
            "rank, tell ahead and correlate."
            for (corpus, method), of in sizes.items()
        ]

    def unranked(self, corpus: str, metric: str, cell: Cell) -> Unranked | None:
        """Mark systems whose scores often tie with their gold's as unranked by a metric of contrasts."""
        return Unranked(TIED, MANY_TIES) if metric in JUDGING and self.often_ties(corpus, cell) else None

    def notes(self, study: Study) -> Sequence[str]:
        return self.tie_notes

    def levels(self, tables: Mapping[str, Table]) -> Sequence[Mapping[str, Any]]:
        from sumcurve.capabilities.contrasts.tables.contrasts import levels

        return levels(tables["contrasts"])


def tied_share(judged: Judged) -> float:
    """Percentage of a run's visible contrasts with exactly their gold's score."""
    seen = judged.visible[judged.contrast]
    return 100 * float((margins(judged.own, judged)[seen] == 0).mean()) if seen.any() else 0.0


def judged_contrasts(folders: Folders) -> JudgedContrasts:
    """Read the evidence of every corpus with a scored output and requested contrasts."""
    named = {folders.plan.corpus_name(folder.specification["corpus"]) for folder in judged_folders(folders.plan)}
    return JudgedContrasts(
        [_of(folders, corpus) for corpus in sorted(named & {row.corpus for row, _ in folders.outputs})]
    )


def _of(folders: Folders, corpus: str) -> Preferences:
    """Read the likelihoods of golds and contrasts in a corpus's finished folders."""
    plan, results = folders.plan, folders.results
    finished = [gold for gold in judged_folders(plan, corpus) if folders.finished(gold.key)]
    specification = judged_folders(plan, corpus)[0].specification
    contrasted = list(read(results / specification["contrasts"]))
    of = digest(contrasted)
    group = {record.id: group_of(record) for record in Corpus(results / specification["corpus"]).part("test")}
    systems = {}
    methods: dict[str, dict[str, None]] = {}
    for judge, run, cell in judged_systems(folders, corpus):
        methods.setdefault(judge, {})[cell[0]] = None
        systems[cell] = read_judged(results / judge / f"{run}.safetensors", of)
    words = {
        name: read_judged(results / folder.key / f"{name}.safetensors", of)
        for folder in finished
        for name in folder.specification.get("orders", ())
    }
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
        by_people=any(not sheets.judges for sheets in sheets_of(plan, corpus)),
    )


def judged_systems(folders: Folders, corpus: str) -> Iterator[tuple[str, str, tuple[str, int | None, int | None]]]:
    """Folder, name of the run, and method, records and seed of every scored output of a corpus whose run is judged."""
    judge_of = judges(folders.plan, corpus)
    for row, output in folders.outputs:
        judge = judge_of.get(row.output) if row.corpus == corpus else None
        if judge is not None and folders.finished(judge):
            yield judge, str(row.run).split("/")[1], (row.method, output.records, row.seed)


def sheets_of(plan: PlannedStudy, corpus: str) -> Sequence[Judgements]:
    """The sheets of people about contrasts of a corpus; held-out parts have none."""
    keys = contrasts_of(plan.corpora[corpus])
    of_test_part = plan.folder(judged_folders(plan, corpus)[0].specification["corpus"]).kind == "corpus"
    return keys.people if keys is not None and of_test_part else ()


def judged_of(results: Results) -> JudgedContrasts:
    """Evidence of a study about contrasts; empty where it has none."""
    evidence = results.study.evidence.get("contrasts")
    return evidence if isinstance(evidence, JudgedContrasts) else JudgedContrasts()
