"""What a study's scores say, worked out once: every table and figure reads it here, so that none contradicts another.

A *cell* is a system at one size (`statistics.design.Cell`): a method with the number of its training records, or a
system that is not trained. All cells of one corpus and metric form a design. Who is ahead of whom at one size is one
question: all replicated methods of that size, each pair of them and each against the systems that see no reference,
are one family of tests. Whether more data helped is another question, with a family of its own.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from sumcurve.scores.frames import commonest
from sumcurve.scores.references import JACKKNIFE, NAME
from sumcurve.scores.scorer import Metric
from sumcurve.settings.study import Bootstrap
from sumcurve.statistics.design import Cell, Design, Replicates, common_seeds
from sumcurve.statistics.intervals import Estimate, contrast, draws, estimate
from sumcurve.tables.evidence import (
    BLIND,
    Optimum,
    OptimumWords,
    Study,
    Unranked,
    checked,
    metrics_of,
)
from sumcurve.tables.pairs import SINGLE_RUN, Pair, tested, turned
from sumcurve.tables.systems import System, systems_of
from sumcurve.tables.table import Column, Name, Value, number, span

OPTIMUM = "optimum"  # the best that is possible, as a system
FULL_SIZE = ("paper", "finetune")  # beginnings of names of forms whose models are as large as their papers'
NO_FINDINGS = "Small models: rankings here say nothing about the full-size methods."
PHASE_UPDATES = 100  # of its last phase, below which a system is not called by its method's name without a word
MARK = "†"  # beside a system that does not read its source
UNREAD = "‡"  # beside a metric that is not to be read of a corpus
NO_MEASURE = "no valid measure"
NOT_TESTED = "not tested"  # in place of yes and no, of other parts and searches than tables rank
FRAMED = "¶"  # beside a system that fills one frame
FRAME_SHARE = "commonest_frame"  # the metric of the scorer `frames`
# Percent of a system's summaries with its commonest frame, above which the interval of one that is marked begins: most
# of what it writes is one sentence with other words. References of the default corpus have 4, its methods at their best
# about 20.
MOST_OF_ONE_FRAME = 50.0
WHOLES = {"%": 100.0, "percent": 100.0, "shares": 1.0}  # of metrics that are shares, by their unit's first word
SAME = 1e-9  # between means: a smaller difference is none


class Results:
    """A study's evidence with its designs, estimates, pairs and bests; everything is worked out when first asked for.

    `metrics` are all metrics by name, in the order of the study's scorers; `systems` those of the common search.
    """

    def __init__(self, study: Study, settings: Bootstrap) -> None:
        self.study, self.settings = study, settings
        self.outputs = checked(study.outputs)
        of_study = [output for output in self.outputs if output.part == "study"]
        self.systems = systems_of(output for output in of_study if output.search != "paper")
        self.paper = systems_of(output for output in of_study if output.search == "paper")
        self._metrics = metrics_of(self.outputs, study.rank_by)
        self._pairs: dict[tuple[str, str, int | None], dict[tuple[Cell, Cell], Pair]] = {}
        self._designs: dict[tuple[str, str], Design | None] = {}
        self._kept: dict[str, Any] = {}
        self.cut: dict[str, str] = {}  # by corpus, what common seeds leave out

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """What `make` returns, made when it is first asked for under this name."""
        if name not in self._kept:
            self._kept[name] = make()
        return self._kept[name]

    @property
    def metrics(self) -> list[Metric]:
        return [metric for metric, _ in self._metrics.values()]

    @property
    def ranking(self) -> list[Metric]:
        """The metrics that systems are ranked by."""
        return [metric for metric in self.metrics if metric.ranks]

    def ranked(self, corpus: str) -> list[Metric]:
        """Of these the ones that are to be read of a corpus."""
        return [metric for metric in self.ranking if not self.unread(corpus, metric.name)]

    def unread(self, corpus: str, metric: str) -> str:
        """Why nobody is ranked by a metric on a corpus; empty where there is no reason."""
        reasons = (evidence.unread(self, corpus, metric) for evidence in self.study.evidence.values())
        return next(filter(None, reasons), "")

    def titled(self, corpus: str, metric: Metric, unit: str = "") -> Name:
        """A metric's title, with its unit where it is given; marked where it is not to be read of a corpus."""
        behind = f" ({unit})" if unit else ""
        why = self.unread(corpus, metric.name)
        if not why:
            return Name(f"{metric.title}{behind}", facts={"ranked": "yes" if metric.ranks else "no", "why": ""})
        facts = {"ranked": "no", "why": why}
        return Name(f"{metric.title}{behind}", f"{metric.title}{UNREAD}{behind}", facts)

    def drawn(self, corpora: Iterable[str]) -> list[Metric]:
        """The ranking metrics for a figure of these corpora; the title of one that is not to be read there is marked.

        Where only some of the corpora are so, the notes say which.
        """
        named = list(corpora)
        marks = {metric.name: any(self.unread(corpus, metric.name) for corpus in named) for metric in self.ranking}
        return [
            replace(metric, title=metric.title + UNREAD) if marks[metric.name] else metric for metric in self.ranking
        ]

    @property
    def compared(self) -> list[Metric]:
        """The metrics that systems are ranked by, and those that say whether they do what they are compared for."""
        return [metric for metric in self.metrics if not metric.describes]

    @property
    def describing(self) -> list[Metric]:
        """The metrics that say what summaries are like, by which nobody is ahead; table references has its own."""
        return [metric for metric in self.metrics if metric.describes and self.scorer(metric.name) != NAME]

    @property
    def decimals(self) -> int:
        """Of a column that holds values of several metrics, in a CSV; people see each metric's own."""
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
        """The best that is possible on a corpus under a metric; None where no capability knows it."""
        known = (evidence.optimum(self, corpus, metric) for evidence in self.study.evidence.values())
        return next((optimum for optimum in known if optimum is not None), None)

    @property
    def optimum_words(self) -> OptimumWords:
        """What pages call it."""
        words_of = (evidence.optimum_words for evidence in self.study.evidence.values())
        return next((words for words in words_of if words is not None), OptimumWords())

    def design_of(self, systems: Sequence[System], metric: str) -> Design:
        """These systems of one corpus and part alone, of the seeds that all of them have."""
        kept, _ = common_seeds([self.replicates(system, metric) for system in systems])
        groups = systems[0].scored(self.scorer(metric))[0].groups
        return Design(kept, groups, self.full_records(systems[0].corpus), self.settings.confidence)

    def replicates(self, system: System, metric: str) -> Replicates:
        """The system's per-item values of one metric, of the seeds that it is known of.

        Those of a ratio of sums vary as it does, and come with the ratio by each who judges.
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
            place = [scored.name for scored in items[0].metrics].index(metric)
            values = np.stack([scored.values[place] for scored in items])
        return Replicates(system.method, system.records, seeds, values, judges, system.beside)

    def kind(self, corpus: str, metric: str, cell: Cell) -> str:
        """ "replicated", "single" or "fixed"."""
        design = self._known(corpus, metric)
        return design.kinds[design.place(cell)]

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

    def placed(self, corpus: str, metric: str, records: int) -> list[Cell]:
        """The methods of one size that take part in what a metric ranks."""
        here = self.of(corpus, True, metric)
        return [system.cell for system in here if system.records == records and self.counts(system, metric)]

    def sharing(self, corpus: str, metric: str, records: int) -> list[Cell]:
        """The methods with the best mean among those of one size that take part: several where means are equal."""
        better = self.sign(metric)
        means = {
            cell: better * self.estimate(corpus, metric, cell).mean for cell in self.placed(corpus, metric, records)
        }
        return [cell for cell, mean in means.items() if mean >= max(means.values()) - SAME]

    def best(self, corpus: str, metric: str, records: int) -> Cell | None:
        """The method with the best mean among those of one size that take part, the first of several; None of none."""
        return next(iter(self.sharing(corpus, metric, records)), None)

    def ahead(self, corpus: str, metric: str, records: int) -> Cell | None:
        """The best method of a size where it is ahead of every other that reads there beyond chance; of what ranks."""
        best = self.best(corpus, metric, records)
        others = [cell for cell in self.placed(corpus, metric, records) if cell != best]
        if best is None or not others or not self._metrics[metric][0].ranks or self.unread(corpus, metric):
            return None
        sure = all(self.pair(corpus, metric, records, best, other).ahead == best for other in others)
        return best if sure else None

    def sign(self, metric: str) -> int:
        """1 where higher is better, else -1."""
        return 1 if self._metrics[metric][0].higher_is_better else -1

    def reads(self, system: System) -> bool | None:
        """Whether a system depends on its source, by every metric that has a threshold for it; None where unknown.

        It does where the interval's lower end is above the threshold of every metric that it is asked by.
        """
        lows = [(self.estimate(system.corpus, metric.name, system.cell).low, metric) for metric in self.gates(system)]
        shown = [low > metric.threshold for low, metric in lows if low is not None and metric.threshold is not None]
        return all(shown) if shown else None

    def gates(self, system: System) -> list[Metric]:
        """The metrics that say whether a system reads its source.

        One that stands in for another is asked only where the other is not known. Baselines and bounds are not asked:
        they are what to compare with.
        """
        if system.role in ("baseline", "bound"):
            return []
        known = {name for name, (_, scorer) in self._metrics.items() if scorer in system.scorers}
        metrics = [metric for name, (metric, _) in self._metrics.items() if name in known]
        return [gate for gate in metrics if gate.threshold is not None and gate.stands_in_for not in known]

    def counts(self, system: System, metric: str | None = None) -> bool:
        """Whether a system takes part in answers and verdicts: not where it is known that it does not read.

        Nor in those of a `metric` that a capability leaves it out of.
        """
        left_out = metric is not None and self.unranked(system.corpus, metric, system.cell) is not None
        return self.reads(system) is not False and not left_out

    def unranked(self, corpus: str, metric: str, cell: Cell) -> Unranked | None:
        """Why a capability leaves a system out of what a metric ranks; None where none does."""
        reasons = (evidence.unranked(self, corpus, metric, cell) for evidence in self.study.evidence.values())
        return next((reason for reason in reasons if reason is not None), None)

    @cached_property
    def titles(self) -> dict[str, str]:
        """By name how people read of a method; what was trained outside has a name and a sentence in its place."""
        outside = {system.method for system in self.systems if system.outputs[0].search == "own"}
        return {name: title for name, title in self.study.titles.items() if name not in outside}

    def title_of(self, method: str) -> str:
        """How people read of a method; its name where it has no title."""
        return self.titles.get(method, method)

    @property
    def about(self) -> dict[str, str]:
        """By name what a method or system is, in a sentence or less."""
        outside = {name: title for name, title in self.study.titles.items() if name not in self.titles}
        return {**self.study.systems, **outside, **self.study.about}

    def name(self, *systems: System) -> Name:
        """Their method's name, marked where one of them does not read its source, and where one fills one frame."""
        reads, framed = ([of(system) for system in systems] for of in (self.reads, self.framed))
        facts = {"reads_source": "no" if False in reads else "yes" if True in reads else ""}
        if self._has_frames:
            facts["one_frame"] = "yes" if True in framed else "no" if False in framed else ""
        marks = (MARK if False in reads else "") + (FRAMED if True in framed else "")
        marks += "".join(evidence.mark(systems[0]) for evidence in self.study.evidence.values())
        method = systems[0].method
        human = systems[0].own_reference
        title = self.title_of(method)
        if human is not None:  # `gold` where it is one of several people
            named = "" if method.startswith("human") else f"{title}: "
            title = f"{named}human {human}, against the others"
        return Name(method, title + marks, facts)

    def marked(self, corpus: str, cell: Cell) -> Name:
        """`name` of the system of a cell; the cell's own where none has it, as of the optimum."""
        return next((self.name(system) for system in self.of(corpus) if system.cell == cell), Name(cell[0]))

    def unasked(self, method: str, shown: str = "") -> Name:
        """A method's name where marks are not known of what a row is about, such as weights before a last phase."""
        facts = ("reads_source", "one_frame") if self._has_frames else ("reads_source",)
        return Name(method, shown, dict.fromkeys(facts, NOT_TESTED))

    @property
    def _has_frames(self) -> bool:
        return FRAME_SHARE in self._metrics

    def framed(self, system: System) -> bool | None:
        """Whether a system is shown to fill one frame in most of its summaries; None where it was not asked.

        It does where the interval of its share lies above `MOST_OF_ONE_FRAME`; without an interval where all have the
        frame. Of a corpus whose references do so themselves no system does: it writes as people do there.
        """
        if not self._has_frames or self.scorer(FRAME_SHARE) not in system.scorers:
            return None
        references = system.scorers[self.scorer(FRAME_SHARE)].references[FRAME_SHARE]
        share = self.estimate(system.corpus, FRAME_SHARE, system.cell)
        least = share.low if share.low is not None else share.mean if share.mean == WHOLES["percent"] else 0.0
        return references <= MOST_OF_ONE_FRAME < least

    @cached_property
    def frame_notes(self) -> list[str]:
        """A sentence for every method of a corpus that fills one frame, with share and frame of each size."""
        sizes: dict[tuple[str, str], list[str]] = {}
        references: dict[str, float] = {}
        for system in self.systems:
            if self.framed(system):
                items = system.scored(self.scorer(FRAME_SHARE))
                references[system.corpus] = items[0].references[FRAME_SHARE]
                frames = dict.fromkeys(f"“{commonest(scored.details['frame'])}”" for scored in items)
                share = self.estimate(system.corpus, FRAME_SHARE, system.cell)
                at = f" with {number(system.records)} records" if system.records is not None else ""
                sentence = f"{span(share.mean, share.low, share.high, 1)} %{at} ({', '.join(frames)})"
                sizes.setdefault((system.corpus, system.method), []).append(sentence)
        return [
            f"{corpus}: {FRAMED} {method} fills one frame in most of its summaries: {', '.join(sentences)}. "
            f"References have one in {number(references[corpus], 1)} %."
            for (corpus, method), sentences in sizes.items()
        ]

    @cached_property
    def identical(self) -> list[str]:
        """A sentence for every group of methods that wrote the same summaries at one size, byte for byte."""
        groups: dict[tuple[Any, ...], list[System]] = {}
        for system in self.systems:
            if system.summaries and system.records is not None:
                at = f"{number(system.records)} records" if system.percent is None else f"{system.percent} %"
                groups.setdefault((system.corpus, at, system.summaries), []).append(system)
        return [
            f"{corpus}: {' and '.join(system.method for system in group)} wrote the same summaries at {at}, "
            "byte for byte: one system under several names."
            for (corpus, at, _), group in groups.items()
            if len(group) > 1
        ]

    @property
    def share(self) -> str:
        return f"{100 * self.settings.confidence:g} %"

    @property
    def caveat(self) -> str:
        """What a study with models smaller than the papers' must say of rankings."""
        return "" if self.study.form.startswith(FULL_SIZE) else NO_FINDINGS

    def title(self, caption: str) -> str:
        """A caption with the study's title, which says where the study is in part."""
        parts = [self.study.title, self.study.in_part, caption]
        return ". ".join(part.rstrip(".") for part in parts if part) + "."

    @cached_property
    def seeds_note(self) -> str:
        """How many seeds there are, and what intervals cover."""
        counts = [len(system.seeds) for system in self.systems if system.records is not None]
        if not counts:
            return "No trained method."
        many = f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
        items = "Groups of test items are drawn together."
        if max(counts) == 1:
            return f"One seed for each training: intervals cover test items alone ({SINGLE_RUN}). {items}"
        full = ""
        if any(self.full_records(corpus) for corpus in self.corpora):
            full = " At all records seeds share them: such an interval is conditional on this training set."
        cut = "".join(f" {corpus}: {what}." for corpus, what in self.cut.items())
        return f"Seeds of each training: {many}, paired over methods. {items}{full}{cut}"

    @cached_property
    def gaps(self) -> list[str]:
        """A sentence for every corpus whose methods have no size to be compared with, or not the same sizes."""
        sentences = []
        for corpus in self.corpora:
            sizes = self.sizes(corpus)
            if len(sizes) == 1:
                sentences.append(f"{corpus}: one size, {number(sizes[0])} records; what more data buys takes two.")
            own = {method: self.sizes(corpus, method) for method in self.methods(corpus)}
            fewer = [
                f"{self.title_of(method)} (only {', '.join(map(number, there))})"
                for method, there in own.items()
                if there != sizes
            ]
            if fewer:
                sentences.append(
                    f"{corpus}: not with every number of records: {', '.join(fewer)}; methods are compared where they "
                    "have the same."
                )
        return sentences

    @cached_property
    def without_interval(self) -> list[str]:
        """A sentence for every corpus whose test items allow no interval, and for scores that never vary."""
        places: dict[tuple[str, str], list[str]] = {}
        for corpus in self.corpora:
            for metric in self.compared:
                design = self.design(corpus, metric.name)
                if design is None:
                    continue
                if design.why:
                    places[corpus, f"{design.why}, and nothing is tested"] = []
                    continue
                for system in self.of(corpus, metric=metric.name):
                    if why := self.estimate(corpus, metric.name, system.cell).why:
                        at = f" at {number(system.records)}" if system.records is not None else ""
                        named = places.setdefault((f"{corpus}, {metric.title}", why), [])
                        named.append(self.title_of(system.method) + at)
        return [f"{': '.join((*where, *([', '.join(names)] if names else [])))}." for where, names in places.items()]

    @cached_property
    def cut_short(self) -> str:
        """Which systems of several phases are scored with few updates of the last one, or none; empty without any."""
        sizes_of: dict[str, dict[str, None]] = {}
        for system in self.systems:
            for output in system.outputs:
                if output.training is None or len(output.training.ended) < 2:
                    continue
                (last, reason), (phase, update) = output.training.ended[-1], output.training.selected
                updates = f"{update} of {last}" if phase == last else f"none of {last}, weights of phase {phase}"
                if phase != last or update < PHASE_UPDATES:
                    title = self.title_of(system.method)
                    key = f"{system.corpus}, {title}: {updates}, which ended by {reason}"
                    sizes_of.setdefault(key, {})[number(system.records)] = None
        named = "; ".join(f"{key} (at {', '.join(sizes)} records)" for key, sizes in sizes_of.items())
        return f"Scored with fewer than {PHASE_UPDATES} updates of the last phase. {named}." if named else ""

    @property
    def marks_note(self) -> str:
        """What the marks at methods' names mean; empty where none is marked."""
        return " ".join(note for note in (self.reading_note, self._framed_note) if note)

    @property
    def _framed_note(self) -> str:
        if not self.frame_notes:
            return ""
        return (
            f"{FRAMED} fills one frame, the same function words in the same order, in most of its summaries: the "
            f"interval of their share is above {number(MOST_OF_ONE_FRAME, 0)} %, and references do not (table "
            "descriptions); ranked all the same."
        )

    @cached_property
    def reading_note(self) -> str:
        """What the mark at a method's name means; empty where none is marked."""
        if not any(self.reads(system) is False for system in self.systems):
            return ""
        gates = []
        for metric in self.metrics:
            if metric.threshold is not None:
                instead = self._metrics.get(metric.stands_in_for or "")
                of = f" of systems without {instead[0].title}" if instead else ""
                limit = f"{number(metric.threshold, metric.decimals)} {metric.unit}"
                gates.append(f"{metric.title}{of}: its interval is not above {limit}")
        return f"{MARK} is not shown to read its source ({'; '.join(gates)}); left out of answers and verdicts."

    @cached_property
    def corpora_notes(self) -> list[str]:
        """What each corpus is, where its title tells, and what is not to be read of it (`unread_notes`)."""
        here = sorted(self.study.statistics, key=lambda statistics: statistics.corpus)
        return [
            *(f"{statistics.corpus}: {statistics.title}" for statistics in here if statistics.title),
            *self.unread_notes,
        ]

    @cached_property
    def unread_notes(self) -> list[str]:
        """A sentence for every metric that a capability does not interpret, and every system that it gives no rank."""
        return [note for evidence in self.study.evidence.values() for note in evidence.notes(self)]


def best_mean(titles: Sequence[str]) -> str:
    """Who has the best mean, or who share it."""
    *others, last = titles
    return f"{', '.join(others)} and {last} share the best mean" if others else f"{last} has the best mean"


def value(estimated: Estimate, bold: bool = False, decimals: int | None = None, mark: str = "") -> Value:
    """An estimate as a cell; the reason for a lacking interval stays a note of its own."""
    return Value(estimated.mean, estimated.low, estimated.high, bold=bold, decimals=decimals, mark=mark)


def units(metrics: Sequence[Metric]) -> str:
    """The titles of metrics by unit."""
    by_unit: dict[str, list[str]] = {}
    for metric in metrics:
        by_unit.setdefault(metric.unit, []).append(metric.title)
    return "; ".join(f"{', '.join(titles)} in {unit}" for unit, titles in by_unit.items())


def metric_columns(results: Results) -> list[Column]:
    """A column with intervals for every metric; people see those that are compared, and what ranks people, if any."""
    shown = {metric.name for metric in results.compared}
    if any(system.own_reference for system in results.systems):
        shown |= {metric.name for metric in results.metrics if metric.name.endswith(f"_{JACKKNIFE}")}
    return [
        Column(metric.name, metric.title if metric.name in shown else None, "number", metric.decimals, interval=True)
        for metric in results.metrics
    ]
