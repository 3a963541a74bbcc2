"""Notes below many tables on intervals, marks and missing outputs; each is computed once."""

from functools import cached_property
from typing import Any

from sumcurve.scores.frames import commonest
from sumcurve.tables.numbers import FRAME_SHARE, MOST_OF_ONE_FRAME, Numbers
from sumcurve.tables.pairs import SINGLE_RUN
from sumcurve.tables.systems import System
from sumcurve.tables.table import number, span

FULL_SIZE = ("paper", "finetune")  # beginnings of names of forms whose models are as large as their papers'
NO_FINDINGS = "Small models: rankings here say nothing about the full-size methods."
PHASE_UPDATES = 100  # of its last phase, below which a system is not called by its method's name without a word
MARK = "†"  # beside a system without significant source sensitivity
FRAMED = "¶"  # beside a system that fills one frame


class Notes:
    """The notes of a study's results, as sentences; empty where there is nothing to note."""

    def __init__(self, results: Numbers) -> None:
        self.results = results

    @cached_property
    def frames(self) -> list[str]:
        """A sentence for every method of a corpus that fills one frame, with share and frame of each size."""
        sizes: dict[tuple[str, str], list[str]] = {}
        references: dict[str, float] = {}
        for system in self.results.systems:
            if self.results.framed(system):
                items = system.scored(self.results.scorer(FRAME_SHARE))
                references[system.corpus] = items[0].references[FRAME_SHARE]
                frames = dict.fromkeys(f"“{commonest(scored.details['frame'])}”" for scored in items)
                share = self.results.estimate(system.corpus, FRAME_SHARE, system.cell)
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
        for system in self.results.systems:
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
    def caveat(self) -> str:
        """The caveat of a study with models smaller than the papers'; empty of others."""
        return "" if self.results.study.form.startswith(FULL_SIZE) else NO_FINDINGS

    @cached_property
    def seeds(self) -> str:
        """State how many seeds there are, and what intervals cover."""
        counts = [len(system.seeds) for system in self.results.systems if system.records is not None]
        if not counts:
            return "No trained method."
        many = f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
        items = "Groups of test items are drawn together."
        if max(counts) == 1:
            return f"One seed for each training: intervals cover test items alone ({SINGLE_RUN}). {items}"
        full = ""
        if any(self.results.full_records(corpus) for corpus in self.results.corpora):
            full = " At all records seeds share them: such an interval is conditional on this training set."
        cut = "".join(f" {corpus}: {what}." for corpus, what in self.results.cut.items())
        return f"Seeds of each training: {many}, paired over methods. {items}{full}{cut}"

    @cached_property
    def gaps(self) -> list[str]:
        """A sentence for every corpus whose methods have no size to be compared with, or not the same sizes."""
        sentences = []
        for corpus in self.results.corpora:
            sizes = self.results.sizes(corpus)
            if len(sizes) == 1:
                sentences.append(f"{corpus}: one size, {number(sizes[0])} records; what more data buys takes two.")
            own = {method: self.results.sizes(corpus, method) for method in self.results.methods(corpus)}
            fewer = [
                f"{self.results.title_of(method)} (only {', '.join(map(number, there))})"
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
        for corpus in self.results.corpora:
            for metric in self.results.compared:
                design = self.results.design(corpus, metric.name)
                if design is None:
                    continue
                if design.why:
                    places[corpus, f"{design.why}, and nothing is tested"] = []
                    continue
                for system in self.results.of(corpus, metric=metric.name):
                    if why := self.results.estimate(corpus, metric.name, system.cell).why:
                        at = f" at {number(system.records)}" if system.records is not None else ""
                        named = places.setdefault((f"{corpus}, {metric.title}", why), [])
                        named.append(self.results.title_of(system.method) + at)
        return [f"{': '.join((*where, *([', '.join(names)] if names else [])))}." for where, names in places.items()]

    @cached_property
    def cut_short(self) -> str:
        """List systems of several phases that are scored with few or no updates of the last one; empty without any."""
        sizes_of: dict[str, dict[str, None]] = {}
        for system in self.results.systems:
            for output in system.outputs:
                if output.training is None or len(output.training.ended) < 2:
                    continue
                (last, reason), (phase, update) = output.training.ended[-1], output.training.selected
                updates = f"{update} of {last}" if phase == last else f"none of {last}, weights of stage {phase}"
                if (phase, update) == (last, 0):  # of reinforcement
                    updates = f"none of {last}, no checkpoint of which is better than its start"
                if phase != last or update < PHASE_UPDATES:
                    title = self.results.title_of(system.method)
                    key = f"{system.corpus}, {title}: {updates}, which ended by {reason}"
                    sizes_of.setdefault(key, {})[number(system.records)] = None
        named = "; ".join(f"{key} (at {', '.join(sizes)} records)" for key, sizes in sizes_of.items())
        return f"Scored with fewer than {PHASE_UPDATES} updates of the final training stage. {named}." if named else ""

    @property
    def marks(self) -> str:
        """Explain the marks at methods' names; empty where none is marked."""
        return " ".join(note for note in (self.reading, self._framed) if note)

    @property
    def _framed(self) -> str:
        if not self.frames:
            return ""
        return (
            f"{FRAMED} fills one frame, the same function words in the same order, in most of its summaries: the "
            f"interval of their share is above {number(MOST_OF_ONE_FRAME, 0)} %, and references do not (table "
            "descriptions); ranked all the same."
        )

    @cached_property
    def reading(self) -> str:
        """Explain the source-sensitivity mark at a method's name; empty where none is marked."""
        if not any(self.results.reads(system) is False for system in self.results.systems):
            return ""
        titles = {metric.name: metric.title for metric in self.results.metrics}
        gates = []
        for metric in self.results.metrics:
            if metric.threshold is not None:
                instead = titles.get(metric.stands_in_for or "")
                of = f", where {instead} is not known," if instead else ""
                limit = f"{number(metric.threshold, metric.decimals)} {metric.unit}"
                gates.append(f"the interval of {metric.title}{of} is not above {limit}")
        return f"{MARK} no significant source sensitivity: {'; '.join(gates)}. Left out of tables answers and verdicts."

    @cached_property
    def corpora(self) -> list[str]:
        """Describe each corpus, where its title does, and list the metrics that are not valid on it (`unread`)."""
        every = sorted(self.results.study.statistics, key=lambda statistics: statistics.corpus)
        return [*(f"{one.corpus}: {one.title}" for one in every if one.title), *self.unread]

    @cached_property
    def unread(self) -> list[str]:
        """A sentence for every metric that is not interpreted, and every system that a capability gives no rank."""
        metrics = [metric for metric in self.results.metrics if metric.ranks]
        return [
            f"{corpus}: {why}: not ranked."
            for corpus in self.results.corpora
            for metric in metrics
            if (why := self.results.uncounted(corpus, metric.name))
        ] + [note for evidence in self.results.study.evidence.values() for note in evidence.notes(self.results.study)]
