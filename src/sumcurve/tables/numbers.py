"""Statistics of a study's scores, computed once: every table and figure reads them, so that none contradicts another.

A *cell* is a system at one size (`statistics.design.Cell`): a method with the number of its training records, or a
system that is not trained. All cells of one corpus and metric form a design. The ranking at one size is one
question: all replicated methods of that size, each pair of them and each against the systems that see no reference,
are one family of tests. Whether more data helped is another question, with a separate family.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from sumcurve.scores.references import NAME
from sumcurve.scores.rouge_f1 import EMPTY_REFERENCES
from sumcurve.scores.scorer import Metric
from sumcurve.settings.study import Bootstrap
from sumcurve.statistics.design import Cell, Design, Replicates, common_seeds
from sumcurve.statistics.intervals import Estimate, contrast, draws, estimate
from sumcurve.tables.evidence import BLIND, Optimum, Study, Unranked, checked
from sumcurve.tables.pairs import Pair, tested, turned
from sumcurve.tables.ranking import Ranking, ranked
from sumcurve.tables.systems import System, systems_of

OPTIMUM = "optimum"  # the best that is possible, as a system
WHOLES = {"%": 100.0, "percent": 100.0, "shares": 1.0}  # of metrics that are shares, by their unit's first word
FRAME_SHARE = "commonest_frame"  # the metric of the scorer `frames`
# Percent of a system's summaries with its commonest frame, above which the interval of one that is marked begins: most
# of what it writes is one sentence with other words. References of the default corpus have 4, its methods at their best
# about 20.
MOST_OF_ONE_FRAME = 50.0
NO_WORD = "counts no word in"  # of a metric that ranks nothing where it finds nothing to count in many references


class Numbers:
    """A study's evidence with its designs, estimates, pairs and rankings; everything is computed at its first use.

    `metrics` are all metrics by name, in the order of the study's scorers; `systems` those of the common search.
    """

    def __init__(self, study: Study, settings: Bootstrap) -> None:
        self.study, self.settings = replace(study, outputs=checked(study.outputs)), settings
        self.outputs = self.study.outputs
        of_study = [output for output in self.outputs if output.part == "study"]
        self.systems = systems_of(output for output in of_study if output.search != "paper")
        self.paper = systems_of(output for output in of_study if output.search == "paper")
        self._metrics = self.study.metrics
        self._pairs: dict[tuple[str, str, int | None], dict[tuple[Cell, Cell], Pair]] = {}
        self._designs: dict[tuple[str, str], Design | None] = {}
        self._kept: dict[str, Any] = {}
        self.cut: dict[str, str] = {}  # by corpus, outputs that common seeds leave out

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """Return the value of `make`, which is called once for each name."""
        if name not in self._kept:
            self._kept[name] = make()
        return self._kept[name]

    @property
    def metrics(self) -> list[Metric]:
        return [metric for metric, _ in self._metrics.values()]

    def ranking_metrics(self, corpus: str | None = None) -> list[Metric]:
        """The metrics that systems are ranked by; of a corpus those that are valid on it."""
        ranks = [metric for metric in self.metrics if metric.ranks]
        return ranks if corpus is None else [metric for metric in ranks if not self.unread(corpus, metric.name)]

    def unread(self, corpus: str, metric: str) -> str:
        """Explain why a metric ranks no system on a corpus; empty where there is no reason."""
        reasons = (evidence.unread(self.study, corpus, metric) for evidence in self.study.evidence.values())
        return self.uncounted(corpus, metric) or next(filter(None, reasons), "")

    def uncounted(self, corpus: str, metric: str) -> str:
        """State in how many references a metric counts no word, where they are many; empty where they are not."""
        title, scorer = self._metrics[metric][0].title, self.scorer(metric)
        scored = (
            output.scores[scorer] for output in self.outputs if output.corpus == corpus and scorer in output.scores
        )
        items = next((items for items in scored if EMPTY_REFERENCES in items.counts), None)
        if items is None:
            return ""
        remedy = "; mode unicode or characters reads other scripts" if "mode:rouge" in items.signature else ""
        return f"{title} {NO_WORD} {items.counts[EMPTY_REFERENCES]} of {len(items.ids)} references{remedy}"

    def validation(self, corpus: str, metric: str) -> str:
        """Outcome of the validation of a metric on a corpus: "passed", or a clause; empty where none is asked for."""
        outcomes = (evidence.validation(self.study, corpus, metric) for evidence in self.study.evidence.values())
        return next(filter(None, outcomes), "")

    @property
    def compared(self) -> list[Metric]:
        """The metrics that systems are ranked by, and those that check whether they do the task of the comparison."""
        return [metric for metric in self.metrics if not metric.describes]

    @property
    def describing(self) -> list[Metric]:
        """The metrics that describe summaries and rank no system; table references has its own."""
        return [metric for metric in self.metrics if metric.describes and self.scorer(metric.name) != NAME]

    @property
    def decimals(self) -> int:
        """Decimals of a CSV column that holds values of several metrics; other formats show each metric's own."""
        return max((metric.decimals for metric in self.metrics), default=2)

    def scorer(self, metric: str) -> str:
        return self._metrics[metric][1]

    @cached_property
    def corpora(self) -> list[str]:
        return list(dict.fromkeys(system.corpus for system in self.systems))

    def of(self, corpus: str, trained: bool | None = None, metric: str | None = None) -> list[System]:
        """The systems of a corpus; only trained ones or none of them, and only those that a metric is known of."""
        return [
            system
            for system in self.systems
            if system.corpus == corpus
            and trained in (None, system.records is not None)
            and (metric is None or system.scored(self.scorer(metric)))
        ]

    def methods(self, corpus: str) -> list[str]:
        return list(dict.fromkeys(system.method for system in self.of(corpus, trained=True)))

    def sizes(self, corpus: str, method: str | None = None) -> list[int]:
        """The numbers of training records, rising; of one method where it is named."""
        return sorted(
            {system.records for system in self.of(corpus, True) if method in (None, system.method) and system.records}
        )

    def largest(self, corpus: str) -> dict[str, System]:
        """Every method of a corpus at its largest size."""
        return {system.method: system for system in self.of(corpus, trained=True)}  # by rising percent

    def full_records(self, corpus: str) -> int | None:
        """The number of all training records, where a method was trained on them: there all seeds share them."""
        whole = {statistics.train_records for statistics in self.study.statistics if statistics.corpus == corpus}
        return next(
            (system.records for system in self.of(corpus, True) if system.percent == 100 or system.records in whole),
            None,
        )

    @cached_property
    def titles(self) -> dict[str, str]:
        """Titles of methods by name; systems trained outside have none, but a sentence in `about`."""
        outside = {system.method for system in self.systems if system.outputs[0].search == "own"}
        return {name: title for name, title in self.study.titles.items() if name not in outside}

    def title_of(self, method: str) -> str:
        """Title of a method; its name where it has no title."""
        return self.titles.get(method, method)

    def design(self, corpus: str, metric: str) -> Design | None:
        """All systems of a corpus under a metric, the optimum too where it is known; None where no system has it."""
        key = corpus, metric
        if key not in self._designs:
            here = self.of(corpus, metric=metric)
            if not here:
                self._designs[key] = None
            else:
                replicates = [self.replicates(system, metric) for system in here]
                if (optimum := self.optimum(corpus, metric)) is not None:
                    replicates.append(Replicates(OPTIMUM, None, (), optimum.scores[None]))
                kept, cut = common_seeds(replicates)
                if cut:
                    self.cut[corpus] = cut
                groups = here[0].scored(self.scorer(metric))[0].groups
                self._designs[key] = Design(kept, groups, self.full_records(corpus), self.settings.confidence)
        return self._designs[key]

    def optimum(self, corpus: str, metric: str) -> Optimum | None:
        """The best that is possible on a corpus under a metric; None where no capability has it."""

        def make() -> Optimum | None:
            every = (evidence.optimum(self.study, corpus, metric) for evidence in self.study.evidence.values())
            return next((optimum for optimum in every if optimum is not None), None)

        optimum: Optimum | None = self.once(f"optimum {corpus} {metric}", make)
        return optimum

    def design_of(self, systems: Sequence[System], metric: str) -> Design:
        """These systems of one corpus and part alone, of the seeds that all of them have."""
        kept, _ = common_seeds([self.replicates(system, metric) for system in systems])
        groups = systems[0].scored(self.scorer(metric))[0].groups
        return Design(kept, groups, self.full_records(systems[0].corpus), self.settings.confidence)

    def replicates(self, system: System, metric: str) -> Replicates:
        """The system's per-item values of one metric, of the seeds that it is known of.

        Values of a ratio of sums are linearized, and come with the ratio by each judge.
        """
        scorer = self.scorer(metric)
        items = system.scored(scorer)
        seeds = tuple(scored.seed for scored in system.outputs if scored.seed is not None and scorer in scored.scores)
        judges = None
        for evidence in self.study.evidence.values():
            ratios = [ratio for scored in items if (ratio := evidence.ratio(metric, scored)) is not None]
            if ratios:
                values, judges = (np.stack(column) for column in zip(*ratios, strict=True))
                break
        else:
            values = np.stack([scored.of(metric) for scored in items])
        return Replicates(system.method, system.records, seeds, values, judges, system.beside)

    def _known(self, corpus: str, metric: str) -> Design:
        design = self.design(corpus, metric)
        if design is None:
            raise KeyError(f"no system of {corpus} has {metric}")
        return design

    def estimate(self, corpus: str, metric: str, cell: Cell) -> Estimate:
        """The mean score of a system."""
        return self.within(metric, estimate(self._known(corpus, metric), cell))

    def within(self, metric: str, estimated: Estimate) -> Estimate:
        """The estimate of a metric that is a share ends at nothing and at all; of others it is as it was."""
        whole = WHOLES.get(self._metrics[metric][0].unit.split(" ")[0])
        return estimated if whole is None else estimated.within(whole)

    def contrast(self, corpus: str, metric: str, weights: Mapping[Cell, float]) -> Estimate:
        """A weighted sum of mean scores."""
        return contrast(self._known(corpus, metric), weights)

    def draws(self, corpus: str, metric: str) -> np.ndarray:
        """Joint draws ``[draws, cells]`` of the true means of all cells of a design; ValueError without intervals."""
        generator = np.random.default_rng([self.settings.seed, 5])
        design, count = self._known(corpus, metric), 2 * self.settings.resamples
        drawn: np.ndarray = self.once(f"draws {corpus} {metric}", lambda: draws(design, count, generator))
        return drawn

    def pairs(self, corpus: str, metric: str, records: int) -> dict[tuple[Cell, Cell], Pair]:
        """Every two methods at one size, and each against the systems that see no reference: one family of tests."""
        key = corpus, metric, records
        if key not in self._pairs:
            here = self.of(corpus, metric=metric)
            blind = [system for system in here if system.role in BLIND]
            methods = [system for system in here if system.records == records]
            self._pairs[key] = self._tested(corpus, metric, list(combinations([*methods, *blind], 2)))
        return self._pairs[key]

    def pair(self, corpus: str, metric: str, records: int, first: Cell, second: Cell) -> Pair:
        """First minus second at one size."""
        pairs = self.pairs(corpus, metric, records)
        if (first, second) in pairs:
            return pairs[first, second]
        return turned(pairs[second, first])

    def growth(self, corpus: str, metric: str) -> dict[tuple[Cell, Cell], Pair]:
        """Every method at its largest size minus itself at its smallest: one family of tests."""
        key = corpus, metric, None
        if key not in self._pairs:
            pairs = []
            for method in self.methods(corpus):
                sizes = [system for system in self.of(corpus, metric=metric) if system.method == method]
                if len(sizes) > 1:
                    pairs.append((sizes[-1], sizes[0]))
            self._pairs[key] = self._tested(corpus, metric, pairs)
        return self._pairs[key]

    def _tested(
        self, corpus: str, metric: str, pairs: Sequence[tuple[System, System]]
    ) -> dict[tuple[Cell, Cell], Pair]:
        design = self._known(corpus, metric) if pairs else None
        if design is None:
            return {}
        cells = dict.fromkeys(system.cell for pair in pairs for system in pair)
        reasons = {cell: why.why for cell in cells if (why := self.unranked(corpus, metric, cell))}
        return tested(design, self._metrics[metric][0], pairs, self.settings, reasons)

    def ranking(self, corpus: str, metric: str, records: int) -> Ranking:
        """Ranking of the methods of one size that a metric ranks."""

        def make() -> Ranking:
            systems = [system for system in self.of(corpus, True, metric) if system.records == records]
            cells = [system.cell for system in systems if self.counts(system, metric)]
            means = {cell: self.estimate(corpus, metric, cell).mean for cell in cells}
            return ranked(means, self.sign(metric), lambda *cells: self.pair(corpus, metric, records, *cells))

        ranking: Ranking = self.once(f"ranking {corpus} {metric} {records}", make)
        return ranking

    def sign(self, metric: str) -> int:
        """1 where higher is better, else -1."""
        return 1 if self._metrics[metric][0].higher_is_better else -1

    def reads(self, system: System) -> bool | None:
        """Tell whether a system depends on its source, by every metric that has a threshold for it; None where unknown.

        It does where the interval's lower end is above the threshold of every metric in `gates`.
        """
        lows = [(self.estimate(system.corpus, metric.name, system.cell).low, metric) for metric in self.gates(system)]
        shown = [low > metric.threshold for low, metric in lows if low is not None and metric.threshold is not None]
        return all(shown) if shown else None

    def gates(self, system: System) -> list[Metric]:
        """The metrics of source sensitivity of a system.

        One that stands in for another is used only where the other is not known. Baselines and bounds have none:
        other systems are compared with them.
        """
        if system.role in ("baseline", "bound"):
            return []
        known = {name for name, (_, scorer) in self._metrics.items() if scorer in system.scorers}
        metrics = [metric for name, (metric, _) in self._metrics.items() if name in known]
        return [gate for gate in metrics if gate.threshold is not None and gate.stands_in_for not in known]

    def counts(self, system: System, metric: str | None = None) -> bool:
        """Tell whether a system takes part in answers and forecasts: not where it is known to ignore its source.

        Nor in those of a `metric` that a capability leaves it out of.
        """
        left_out = metric is not None and self.unranked(system.corpus, metric, system.cell) is not None
        return self.reads(system) is not False and not left_out

    def unranked(self, corpus: str, metric: str, cell: Cell) -> Unranked | None:
        """Explain why a capability excludes a system from a metric's ranking; None where none does."""
        reasons = (evidence.unranked(corpus, metric, cell) for evidence in self.study.evidence.values())
        return next((reason for reason in reasons if reason is not None), None)

    @property
    def _has_frames(self) -> bool:
        return FRAME_SHARE in self._metrics

    def framed(self, system: System) -> bool | None:
        """Tell whether a system is shown to fill one frame in most of its summaries; None where it was not measured.

        It does where the interval of its share lies above `MOST_OF_ONE_FRAME`; without an interval where all have the
        frame. On a corpus whose references do so themselves no system does: it writes as people do there.
        """
        if not self._has_frames or self.scorer(FRAME_SHARE) not in system.scorers:
            return None
        references = system.scorers[self.scorer(FRAME_SHARE)].references[FRAME_SHARE]
        share = self.estimate(system.corpus, FRAME_SHARE, system.cell)
        least = share.low if share.low is not None else share.mean if share.mean == WHOLES["percent"] else 0.0
        return references <= MOST_OF_ONE_FRAME < least
