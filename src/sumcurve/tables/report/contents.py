"""Contents of all pages of a study: README.md beside its tables, the page for browsers, pages of the documentation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from sumcurve.settings.base import HELD_OUT
from sumcurve.tables.report.facts import Corpus, Records, corpora_of, detectable, detectable_with_fewer, identical
from sumcurve.tables.report.findings import NOT_READING, SHOWN, UNSEEN, Finding, Titles, counted, unshown
from sumcurve.tables.report.leaderboard import BEST, JACKKNIFED, Brought, Entry, Printed, leaderboard
from sumcurve.tables.results import UNREAD
from sumcurve.tables.table import number

SIGNIFICANCE = (
    "Significant: at 5 % over all comparisons (family-wise), in pairs on the same items and seeds; methods of one size "
    "by the step-down max-|t| test. Brackets at differences are that test's."
)
OVERLAP = (
    "Brackets cover test items and seeds (of single runs, items alone). Those of two methods may overlap although "
    "their paired difference is significant."
)


@dataclass(frozen=True)
class Board:
    """The leaderboard of a corpus, `notes` on it, and `printed` results of others, which stand below."""

    corpus: Corpus
    entries: Sequence[Entry]
    notes: Sequence[str]
    printed: Sequence[Printed] = ()

    @property
    def metric(self) -> str:
        return self.corpus.shown

    @property
    def held_out(self) -> str:
        """Note on a test part that holds out whole groups; empty for others."""
        return UNSEEN if self.corpus.name.endswith(HELD_OUT) else ""


@dataclass(frozen=True)
class Contents:
    """The rows of a study's tables, how methods are called, and the findings.

    `study` is its name in commands, `described` describes each corpus, and so the task. `brought` are published results
    by capabilities, which stand below leaderboards.
    """

    study: str
    title: str
    records: Records
    titles: Titles
    findings: Sequence[Finding] = ()
    described: Mapping[str, str] = field(default_factory=dict)
    brought: Sequence[Brought] = ()

    @cached_property
    def corpora(self) -> list[Corpus]:
        """Corpora: that of the first finding, then those with most sizes."""
        first = self.findings[0].corpus if self.findings else ""
        return sorted(corpora_of(self.records), key=lambda corpus: corpus.name != first)

    @property
    def question(self) -> str:
        """Question of the study, by the methods and sizes of the first corpus; empty where its title is a question."""
        trained = self.corpora[0].trainings if self.findings else []
        methods, sizes = {row["method"] for row in trained}, {row["records"] for row in trained}
        if len(methods) < 2 or "?" in self.title:
            return ""
        ends = " to ".join(number(size) for size in sorted({min(sizes), max(sizes)}))
        if not self.corpora[0].metrics:
            how = "How do scores of" if len(sizes) > 1 else "What are the scores of"
            grow = "grow from" if len(sizes) > 1 else "after training on"
            return f"{how} {len(methods)} methods {grow} {ends} {'training ' * (len(sizes) > 1)}records?"
        return (
            f"Which of {len(methods)} methods summarizes best after training on {ends} records, and how sure is that?"
        )

    def significance(self, shown: int = SHOWN) -> str:
        """Note below the first `shown` findings."""
        return " ".join(filter(None, (counted(self.findings, shown), SIGNIFICANCE)))

    def board(self, corpus: Corpus, baselines: int = BEST) -> Board:
        """The leaderboard of a corpus with as many untrained `baselines`, and notes on marks and detectable effects."""
        entries = leaderboard(corpus, self.titles, baselines)
        notes = []
        if corpus.unread:
            notes.append(f"{UNREAD} {corpus.unread}. Not ranked: rows are in the order of names.")
        if not all(entry.reads for entry in entries):
            is_explained = any(finding.head == NOT_READING for finding in self.findings[:SHOWN])
            meaning = "" if is_explained else f": {unshown(corpus)}"
            notes.append(f"† no significant source sensitivity{meaning}; not ranked.")
            notes.append("Its text may still be made of source words.")
        if any(entry.template for entry in entries):
            notes.append("¶ writes most summaries by one sentence template.")
        if groups := [self.titles.all(group) for group in identical(corpus)]:
            notes.append(f"The same in every score: {'; '.join(groups)}.")
        notes += [OVERLAP, *([JACKKNIFED] if any(entry.jackknife for entry in entries) else [])]
        if (effect := detectable(corpus)) is not None:
            least = detectable_with_fewer(corpus) or 0
            fewer = f", up to {number(least, 1)} with fewer records" if round(least, 1) > round(effect, 1) else ""
            notes.append(f"Minimum detectable effect (80 % power): about {number(effect, 1)} {corpus.metric}{fewer}.")
        return Board(corpus, entries, notes, [row for rows in self.brought for row in rows(corpus)])
