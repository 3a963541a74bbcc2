"""Contents of all pages of a study: README.md, the page for browsers, pages of the documentation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from sumcurve.settings.base import HELD_OUT
from sumcurve.tables.report.facts import Corpus, Record, Records, corpora_of, detectable, identical
from sumcurve.tables.report.findings import ANSWERING, SHOWN, UNSEEN, Finding, Titles, counted, unshown
from sumcurve.tables.report.leaderboard import BEST, JACKKNIFED, Brought, Entry, Printed, leaderboard
from sumcurve.tables.results import UNREAD
from sumcurve.tables.table import listed, number

SIGNIFICANCE = (
    "A method leads where it is significantly better than every other one that is tested. Significant: at 5 % over all "
    "comparisons of one size, metric and corpus (family-wise), in pairs on the same items and seeds; methods of one "
    "size by the step-down max-|t| test. Brackets at tested differences are that test's, others are pointwise."
)
CHARACTERS = "mode:characters"  # in the signature of ROUGE
FEW = 5  # passes over the training records; a leaderboard names methods with fewer
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

    @property
    def legend(self) -> list[str]:
        """Explain the brackets and, where people wrote several references, the two kinds of scores of a leaderboard."""
        return [OVERLAP, *([JACKKNIFED] if any(entry.jackknife for entry in self.entries) else [])]


@dataclass(frozen=True)
class Contents:
    """The rows of a study's tables, how methods are called, and the findings.

    `study` is its name in commands. By corpus: `described` describes it, and so the task; `lengths` are the tokens of a
    source that trained methods read, and those of a baseline's summary at most. `brought` are published results by
    capabilities, which stand below leaderboards.
    """

    study: str
    title: str
    records: Records
    titles: Titles
    findings: Sequence[Finding] = ()
    described: Mapping[str, str] = field(default_factory=dict)
    brought: Sequence[Brought] = ()
    lengths: Mapping[str, tuple[int, int]] = field(default_factory=dict)

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

    @property
    def leading(self) -> list[Finding]:
        """Findings that answer the question; empty where no method is ranked.

        They are the best method at the largest size, how methods stand to the best baseline, and forecast scores.
        """
        if not self.findings:
            return []
        corpus = self.corpora[0]
        if not any(ranking.standings for ranking in corpus.rankings(corpus.metric).values()):
            return []
        return [one for one in self.findings if one.corpus == corpus.name and one.rank in ANSWERING]

    @property
    def headline(self) -> str:
        """Answer to the question, without marks; where no method is ranked, the reason and the scores."""
        if not self.corpora:
            return ""
        if self.leading:
            first, *others = self.leading
            return " ".join([first.sentence, *(one.head for one in others)])
        corpus = self.corpora[0]
        entries = [entry for entry in leaderboard(corpus, self.titles, 1) if entry.score and entry.role != "bound"]
        trained = [entry for entry in entries if entry.role == "trained"]
        why = f"No ranking: no automatic score is validated on {corpus.name}. " if corpus.unread else ""
        if not why and trained and not any(entry.reads for entry in trained):
            why = "No ranking: no method is shown to use its source. "
        scores = [
            f"{entry.title} {number(entry.score.value, 1)}{'' if entry in trained else ' (without training)'}"
            for entry in entries
            if entry.score
        ]
        size = f" with {number(corpus.largest)} records" if trained else ""
        return f"{why}Mean {corpus.shown.removesuffix(UNREAD)}{size}: {listed(scores)}." if scores else why

    @property
    def about(self) -> dict[str, str]:
        """Data of the first corpus, test items, sizes, methods and seeds, and lengths, each by its heading."""
        if not self.findings:
            return {}
        corpus = self.corpora[0]
        rows = {"data": self.described.get(corpus.name, corpus.name)}
        rows["test items"] = number(corpus.rows("scores")[0]["items"])
        if trained := corpus.trainings:
            most = max((row.get("validated") or 0 for row in corpus.rows("methods")), default=0)
            valid = [row["records"] for row in corpus.rows("corpora", part="valid")]
            chosen = f"; {number(min([most, *valid]))} more choose checkpoints" if most else ""
            if any(row.get("validated") == 0 for row in corpus.rows("methods")):
                chosen = "; a part of them chooses checkpoints"
            sizes = sorted({row["records"] for row in trained})
            rows["training records"] = listed([number(size) for size in sizes]) + chosen
            rows["methods"] = runs(trained, self.titles)
        if corpus.name in self.lengths:
            read, most = map(number, self.lengths[corpus.name])
            rows["lengths"] = (
                f"trained methods read a source's first {read} tokens; their summaries, those of baselines and the "
                f"best single sentence have {most} tokens at most"
            )
        return rows

    @property
    def commands(self) -> dict[str, str]:
        """Commands for this study, and for a reader's own data, each by what it is for."""
        return {
            "this study, from raw text": f"make study STUDY={self.study}",
            "your corpus": "make add CORPUS=data/mine.jsonl NAME=mine",
            "your own runs": "sumcurve curve runs.csv",
        }

    @property
    def significance(self) -> str:
        """Note below the first findings."""
        parts = [counted(self.findings), SIGNIFICANCE]
        if "own_searches" in self.records:
            parts.append("All methods write by one search; table own_searches has that of each paper.")
        return " ".join(filter(None, parts))

    def board(self, corpus: Corpus, baselines: int = BEST) -> Board:
        """The leaderboard of a corpus with as many untrained `baselines`, and notes on marks and detectable effects."""
        entries = leaderboard(corpus, self.titles, baselines)
        notes = []
        if corpus.unread:
            notes.append(f"{UNREAD} {corpus.unread}. Not ranked: rows are in the order of names.")
        if not all(entry.reads for entry in entries):
            is_explained = any(finding.table == "scores" for finding in self.findings[:SHOWN])
            meaning = "" if is_explained else f": {unshown(corpus)}"
            notes.append(f"† not shown to use its source (no significant source sensitivity{meaning}): not ranked.")
            notes.append("Its text may still be made of source words.")
        if any(entry.template for entry in entries):
            notes.append("¶ writes most summaries by one sentence template.")
        if few := [f"{entry.title} {number(entry.epochs, 1)}" for entry in entries if (entry.epochs or FEW) < FEW]:
            notes.append(f"Fewer than {FEW} passes over the training records: {listed(few)}.")
        if falling := [entry.title for entry in entries if entry.falling]:
            notes.append(f"Stopped by the limit on updates, with the loss still falling: {listed(falling)}.")
        if any(CHARACTERS in (row.get("signature") or "") for row in corpus.rows("seeds")):
            notes.append("ROUGE counts characters in place of words.")
        if groups := [self.titles.all(group) for group in identical(corpus)]:
            notes.append(f"The same in every score: {'; '.join(groups)}.")
        if effects := detectable(corpus):
            ends = " to ".join(dict.fromkeys([number(effects[0], 1), number(effects[-1], 1)]))
            true = f"A true difference of {ends} {corpus.metric}{', by pair of methods,' if len(effects) > 1 else ''}"
            notes.append(f"{true} would be found significant in 80 of 100 such studies, a smaller one in fewer.")
        return Board(corpus, entries, notes, [row for rows in self.brought for row in rows(corpus)])


def runs(rows: Sequence[Record], titles: Titles) -> str:
    """State which methods have how many seeds, and sizes where they differ in these."""
    trained: dict[str, list[Record]] = {}
    for row in rows:
        trained.setdefault(row["method"], []).append(row)
    groups: dict[tuple[tuple[int, ...], int], list[str]] = {}
    for method, its in trained.items():
        groups.setdefault((tuple(row["records"] for row in its), its[-1]["seeds"]), []).append(method)
    several = len({sizes for sizes, _ in groups}) > 1
    parts = []
    for (sizes, seeds), methods in sorted(groups.items(), key=lambda group: (-len(group[0][0]), group[0][0])):
        at = f"{listed([number(size) for size in sizes])} records, " if several else ""
        parts.append(f"{titles.all(methods)} with {at}{seeds} seed{'s' * (seeds > 1)}")
    return "; ".join(parts)
