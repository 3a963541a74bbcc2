"""Comparison of several corpora: best methods, agreement of rankings, crossings of curves, gains from more data.

All numbers come from the recorded tables of studies (`tables.report.facts`): nothing is tested again, and scores are
not interpolated between sizes. Scores of two corpora are never compared, only differences and ranks. Ranks are those of
table answers.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import cached_property
from itertools import combinations, groupby, pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from sumcurve.scores.scorer import Metric
from sumcurve.tables.comparisons import NOT_SHOWN, SIZE
from sumcurve.tables.ranking import Effect, Ranking, recorded
from sumcurve.tables.report.facts import Corpus, Record
from sumcurve.tables.report.findings import EQUAL
from sumcurve.tables.table import Column, Table, Value, number

Array = NDArray[np.float64]

NEAR = 2.0  # factor within which a recorded size stands for a requested one
FEWEST = 5  # methods with which Kendall's tau can be significant: with 4, p is 2/24 at least
DRAWS, SEED = 2000, 1  # of seeds, for the intervals of shares
LEVEL = 0.05
PARTS = ("corpus", "method", "rest")
DIFFER = "settings differ between studies, or are not known"
UNTESTED, UNRANKED = "not compared", "not in table answers"
HOLDS, REVERSES, UNDECIDED = "holds", "reverses", "undecided"
SIDES = ("on no side", "on one side", "on both sides")
AGREE, REVERSED = "agree significantly", "are reversed significantly"
LACKING = "table seeds of some corpus lacks two seeds that all these trainings have"
MEASURES = {"points per doubling": False, "elasticity": True}  # slopes over log records; whether of log scores


@dataclass(frozen=True)
class Contrast:
    """First minus second method at one size; `says` is the better one, `EQUAL`, or `UNTESTED` for the reason `why`."""

    difference: Effect
    says: str
    why: str = ""


@dataclass(frozen=True)
class Recorded:
    """Recorded results of a study on one corpus under one metric, higher is better; `settings` are by method."""

    study: str
    corpus: Corpus
    metric: Metric
    settings: Mapping[str, str]

    @property
    def name(self) -> str:
        return self.corpus.name

    @cached_property
    def cells(self) -> dict[tuple[str, int], Record]:
        """Rows of table scores of trained systems, by method and records."""
        rows = [row for row in self.corpus.rows("scores") if row.get(self.metric.name) is not None]
        return {(row["method"], row["records"]): row for row in rows if row["records"]}

    @cached_property
    def sizes(self) -> list[int]:
        return sorted({size for _, size in self.cells})

    @cached_property
    def methods(self) -> list[str]:
        return sorted({method for method, _ in self.cells})

    def nearest(self, at: int) -> int | None:
        """The recorded size nearest to `at` by ratio, within a factor of `NEAR`."""
        near = [size for size in self.sizes if 1 / NEAR <= size / at <= NEAR]
        return min(near, key=lambda size: abs(math.log(size / at)), default=None)

    @cached_property
    def rankings(self) -> dict[int, Ranking]:
        """The ranking of table answers at each size; empty where the table has none."""
        return {size: recorded(self.corpus.at(self.metric.title, size)) for size in self.sizes}

    def rank(self, method: str, size: int) -> int | None:
        """The place of a ranked method; methods that share the best mean have rank 1."""
        names, best = self.rankings[size].names, self.rankings[size].best
        return 1 if method in best else names.index(method) + 1 if method in names else None

    def why(self, method: str, size: int) -> str:
        """Explain why a method has no rank at a size, as table scores_long does; empty where it has one."""
        if method in self.rankings[size].names:
            return ""
        rows = self.corpus.rows("scores_long", part="study", method=method, records=size, metric=self.metric.name)
        return next((row["why"] for row in rows if row["search"] != "paper" and row["why"]), UNRANKED)

    def unranked(self, size: int) -> str:
        """Explain why no method has a rank at a size; empty where one has."""
        reasons = dict.fromkeys(self.why(name, at) for name, at in self.cells if at == size)
        return "" if self.rankings[size].standings else "; ".join(reasons)

    def is_replicated(self, method: str, size: int) -> bool:
        """Tell whether a method is ranked at a size and has two seeds or more."""
        return method in self.rankings[size].names and (self.cells[method, size]["seeds"] or 0) > 1

    def mean(self, method: str, size: int) -> float:
        return float(self.cells[method, size][self.metric.name])

    def contrast(self, first: str, second: str, size: int) -> Contrast:
        """The recorded test of two methods: of all pairs at the largest size, elsewhere against the best alone."""
        means = Effect(self.mean(first, size) - self.mean(second, size))
        if why := self.why(first, size) or self.why(second, size):
            return Contrast(means, UNTESTED, why)
        pair = (first, second)
        for row in self.corpus.rows("comparisons", question=SIZE, first_records=size, second_records=size):
            if {row["first"], row["second"]} == {*pair} and row["metric"].partition(" (")[0] == self.metric.title:
                difference = Effect(row["difference"], row["difference_low"], row["difference_high"])
                difference = difference.times(1 if row["first"] == first else -1)
                if row["ahead"] in (*pair, NOT_SHOWN):
                    return Contrast(difference, EQUAL if row["ahead"] == NOT_SHOWN else row["ahead"])
                return Contrast(difference, UNTESTED, row["ahead"])
        ranking = self.rankings[size]
        for best, other, sign in ((first, second, 1), (second, first, -1)):
            standing = next(standing for standing in ranking.standings if standing.name == other)
            if ranking.first == best and standing.lead is not None:
                says = {"behind": best, "untested": UNTESTED}.get(standing.outcome, EQUAL)
                return Contrast(standing.lead.times(sign), says, standing.why)
        return Contrast(means, UNTESTED, "below the largest size tables test against the best method alone")

    def significant(self, first: str, second: str, sizes: Sequence[int], leader: str) -> list[int]:
        """Select the sizes at which the leader is significantly better."""
        return [size for size in sizes if self.contrast(first, second, size).says == leader]

    def seeds(self, cells: Sequence[tuple[str, int]]) -> Array | None:
        """Scores (cells, seeds) of the seeds that all cells have; None where these are fewer than two."""
        scores: dict[tuple[str, int], dict[str, float]] = {cell: {} for cell in cells}
        for row in self.corpus.rows("seeds", part="study", search="common"):
            cell = (row["method"], row["records"])
            if cell in scores and row.get(self.metric.name) is not None:
                scores[cell][row["seed"]] = row[self.metric.name]
        common = sorted(set.intersection(*({*own} for own in scores.values())))
        return np.array([[scores[cell][seed] for seed in common] for cell in cells]) if len(common) > 1 else None


def shared(corpora: Sequence[Recorded]) -> list[str]:
    """The methods that two corpora or more have."""
    counts = [name for corpus in corpora for name in corpus.methods]
    return sorted({name for name in counts if counts.count(name) > 1})


def altered(corpora: Sequence[Recorded]) -> list[str]:
    """The methods whose settings are not known to be the same in all studies."""
    methods = {
        name: {corpus.settings.get(name) for corpus in corpora if name in corpus.methods} for name in shared(corpora)
    }
    return [name for name, settings in methods.items() if len(settings) > 1 or None in settings]


def _rows(columns: Sequence[Column], rows: Iterable[Sequence[Any]]) -> list[dict[str, Any]]:
    return [dict(zip([column.name for column in columns], row, strict=True)) for row in rows]


def _columns(**titles: str) -> list[Column]:
    """Columns of counts where a title ends with "#", else of texts."""
    return [
        Column(name, title.removesuffix("#"), "count" if title.endswith("#") else "text")
        for name, title in titles.items()
    ]


def scores_table(corpora: Sequence[Recorded], sizes: Sequence[int]) -> Table:
    """A row for every method of a corpus at the recorded size nearest to each of `sizes`, with its rank there."""
    metric, changed = corpora[0].metric, altered(corpora)
    columns = _columns(at="near#", corpus="corpus", study="study", records="records#", method="method")
    columns.append(Column("score", metric.title, "number", metric.decimals, interval=True))
    columns += _columns(rank="rank#", ranked="of#", place="place")
    columns += _columns(seeds="seeds#", settings="settings", marks="marks")
    rows: list[Sequence[Any]] = []
    for at, corpus in product(sizes, corpora):
        size = corpus.nearest(at)
        if size is None:
            rows.append((at, corpus.name, corpus.study, *[None] * 8, f"no recorded size within a factor of {NEAR:g}"))
            continue
        places = {row["method"]: row["place"] for row in corpus.corpus.at(metric.title, size)}
        trained = [name for name in corpus.methods if (name, size) in corpus.cells]
        for name in sorted(trained, key=lambda name: -corpus.mean(name, size)):
            row = corpus.cells[name, size]
            marks = "; ".join(filter(None, (corpus.why(name, size), DIFFER if name in changed else "")))
            score = Value(*(row[f"{metric.name}{end}"] for end in ("", "_low", "_high")))
            cells = (score, corpus.rank(name, size), len(places), places.get(name), row["seeds"] or 0)
            rows.append((at, corpus.name, corpus.study, size, name, *cells, corpus.settings.get(name), marks))
    note = "Scores of two corpora are not comparable. Ranks, by means, and places are those of table answers."
    return Table("across", f"{metric.title} by corpus", columns, _rows(columns, rows), [note])


def pairs_table(corpora: Sequence[Recorded], sizes: Sequence[int]) -> Table:
    """A row for every two methods, corpus and size: difference, the better one, and whether corpora agree."""
    columns = _columns(at="near#", first="first", second="second", corpus="corpus", records="records#")
    columns.append(Column("difference", "first − second", "number", corpora[0].metric.decimals, interval=True))
    columns += _columns(says="better", why="why not", ranking="ranking", same_settings="same settings")
    rows: list[Sequence[Any]] = []
    for at, pair in product(sizes, combinations(shared(corpora), 2)):
        here = [
            (corpus.name, size, corpus.contrast(*pair, size))
            for corpus in corpora
            if (size := corpus.nearest(at)) is not None and all((name, size) in corpus.cells for name in pair)
        ]
        agreement = ranking_of([contrast.says for *_, contrast in here], pair)
        same = "no" if {*pair} & {*altered(corpora)} else "yes"
        for name, size, contrast in here:
            difference = Value(*astuple(contrast.difference))
            rows.append((at, *pair, name, size, difference, contrast.says, contrast.why, agreement, same))
    notes = [
        f"Ranking: {HOLDS} where one method is significantly better on two corpora or more and the other on none, "
        f"{REVERSES} where each is on one or more, else {UNDECIDED}. Tests are those of tables comparisons and "
        "answers, a family for each corpus, size and metric."
    ]
    return Table("across_pairs", "Pairs of methods by corpus", columns, _rows(columns, rows), notes)


def ranking_of(says: Sequence[str], pair: tuple[str, str]) -> str:
    """Tell whether two methods rank the same on all corpora with a significant difference, of which two are needed."""
    ahead = [name for name in says if name in pair]
    return REVERSES if len({*ahead}) == 2 else HOLDS if len(ahead) > 1 else UNDECIDED


def crossings_table(corpora: Sequence[Recorded]) -> Table:
    """A row for every change of the lead of two methods between recorded sizes, or one for none."""
    columns = _columns(corpus="corpus", first="first", second="second", crossing="crossing")
    columns += _columns(from_records="from#", to_records="to#", before="leads before", before_at="significantly at#")
    columns += _columns(after="leads after", after_at="significantly at#", significant="significant")
    rows = [
        (corpus.name, *pair, *crossing)
        for pair in combinations(shared(corpora), 2)
        for corpus in corpora
        if {*pair} <= {*corpus.methods}
        for crossing in crossings(corpus, *pair)
    ]
    note = (
        "By means at sizes where both methods are ranked. Significant on a side: at a recorded size of it, up to the "
        "next change, of which the nearest is named."
    )
    return Table("crossings", "Where curves cross", columns, _rows(columns, rows), [note])


def crossings(corpus: Recorded, first: str, second: str) -> Iterator[tuple[Any, ...]]:
    """The cells of each change of the lead, from `crossing` on; a difference of 0 leaves the lead where it was."""
    sizes = [size for size in corpus.sizes if {first, second} <= {*corpus.rankings[size].names}]
    if len(sizes) < 2:
        yield (f"both ranked at {len(sizes) or 'no'} size{'s' * (len(sizes) != 1)}", *[None] * 7)
        return
    lead, leads = "", []
    for size in sizes:
        difference = corpus.mean(first, size) - corpus.mean(second, size)
        lead = first if difference > 0 else second if difference < 0 else lead
        leads.append((lead, size))
    sides = [(lead, [size for _, size in group]) for lead, group in groupby(leads, key=lambda pair: pair[0]) if lead]
    if len(sides) < 2:
        at = max(corpus.significant(first, second, sizes, lead), default=None)
        yield (f"not within {number(sizes[0])}–{number(sizes[-1])}", None, None, lead, at, None, None, None)
    for (before, left), (after, right) in pairwise(sides):
        before_at = max(corpus.significant(first, second, left, before), default=None)
        after_at = min(corpus.significant(first, second, right, after), default=None)
        where = f"between {number(left[-1])} and {number(right[0])}"
        significant = SIDES[(before_at is not None) + (after_at is not None)]
        yield (where, left[-1], right[0], before, before_at, after, after_at, significant)


def ranks_table(corpora: Sequence[Recorded], sizes: Sequence[int]) -> Table:
    """Kendall's tau of the methods ranked on both of two corpora, at the recorded sizes nearest to each of `sizes`."""
    columns = _columns(at="near#", first="first", first_records="records#", second="second", second_records="records#")
    columns += [*_columns(methods="methods#"), Column("tau", "Kendall's τ", "number"), Column("p", "p", "p")]
    columns += _columns(says="says", named="of")
    rows: list[Sequence[Any]] = []
    for at, (first, second) in product(sizes, combinations(corpora, 2)):
        left, right = first.nearest(at), second.nearest(at)
        if left is None or right is None:
            continue
        both = ((first, left), (second, right))
        common = [name for name in first.rankings[left].names if second.rank(name, right)]
        ranks = [[corpus.rank(name, size) for name in common] for corpus, size in both]
        tau, p = map(float, stats.kendalltau(*ranks)) if len(common) > 1 else (math.nan, math.nan)
        says = AGREE if p < LEVEL and tau > 0 else REVERSED if p < LEVEL else "no significant agreement"
        if len(common) < FEWEST:
            says = f"cannot be significant with fewer than {FEWEST} methods"
        reasons = [f"{corpus.name} is not ranked: {why}" for corpus, size in both if (why := corpus.unranked(size))]
        says = "; ".join(reasons) or says
        rows.append((at, first.name, left, second.name, right, len(common), tau, p, says, ", ".join(common)))
    note = "Ranks of table answers, whether or not means differ significantly or are tested; p of each row alone."
    return Table("across_ranks", "Agreement of rankings", columns, _rows(columns, rows), [note])


def shares(values: Array) -> Array:
    """Shares (3, ...) of the sum of squares about the mean due to corpora, to methods, and to neither.

    `values` are (..., corpora, methods), one a cell: the last share is interaction and noise together.
    """
    mean = values.mean(axis=(-2, -1), keepdims=True)
    rows, columns = (values.mean(axis=axis, keepdims=True) - mean for axis in (-1, -2))
    effects = (rows, columns, values - mean - rows - columns)
    squares = np.stack([np.sum(np.broadcast_to(part, values.shape) ** 2, axis=(-2, -1)) for part in effects])
    with np.errstate(invalid="ignore"):
        return np.asarray(squares / squares.sum(axis=0))


def efficiency_table(corpora: Sequence[Recorded]) -> Table:
    """Shares of the gain from more data due to the corpus and to the method, for methods that all corpora have.

    Slopes are of lines through the recorded sizes that lie within what all corpora have. Intervals: seeds drawn again,
    the same for all trainings of a corpus.
    """
    columns = [*_columns(measure="measure", part="part"), Column("share", "share, %", "number", 1, interval=True)]
    columns += [Column("expected", "expected, %", "number", 1), *_columns(corpora="corpora#", methods="methods")]
    columns += _columns(from_records="from#", to_records="to#")
    low, high = max(corpus.sizes[0] for corpus in corpora), min(corpus.sizes[-1] for corpus in corpora)
    everywhere = [name for name in shared(corpora) if all(name in corpus.methods for corpus in corpora)]
    cells = [
        {
            name: [size for size in corpus.sizes if low <= size <= high and corpus.is_replicated(name, size)]
            for name in everywhere
        }
        for corpus in corpora
    ]
    methods = [name for name in everywhere if all(len(sizes[name]) > 1 for sizes in cells)]
    left_out = [name for name in everywhere if name not in methods]
    notes = [
        "Slopes of lines through scores over the logarithm of records, at recorded sizes within what all corpora have; "
        "elasticity: of the score's logarithm. Rest: interaction and noise. Expected: of noise alone, as the degrees "
        "of freedom."
    ]
    if left_out:
        where = f"{number(low)}–{number(high)}"
        notes.append(f"Left out, with two seeds at fewer than two sizes of {where} on a corpus: {', '.join(left_out)}.")
    rows: list[Sequence[Any]] = []
    if len(methods) > 1:
        count, width = len(corpora), len(methods)
        freedom = np.array([count - 1, width - 1, (count - 1) * (width - 1)]) / (count * width - 1)
        scores = [[(name, size) for name in methods for size in sizes[name]] for sizes in cells]
        seeds = [corpus.seeds(own) for corpus, own in zip(corpora, scores, strict=True)]
        known = [own for own in seeds if own is not None]
        means = [np.array([[corpus.mean(*cell)] for cell in own]) for corpus, own in zip(corpora, scores, strict=True)]
        generator = np.random.default_rng(SEED)
        drawn = [own[:, generator.integers(own.shape[1], size=(DRAWS, own.shape[1]))].mean(axis=2) for own in known]
        for measure, log in MEASURES.items():
            ends = np.full((2, 3), np.nan)
            if len(known) == count:
                ends = np.quantile(shares(_slopes(scores, drawn, methods, log)), [0.025, 0.975], axis=1)
            whole = shares(_slopes(scores, means, methods, log))[:, 0]
            for place, part in enumerate(PARTS):
                share = (whole[place], *ends[:, place])
                value, least, most = (None if math.isnan(end) else 100 * float(end) for end in share)
                expected = 100 * float(freedom[place])
                rows.append((measure, part, Value(value, least, most), expected, count, ", ".join(methods), low, high))
        drawing = (
            f"95 % of {number(DRAWS)} draws of each corpus's seeds; few seeds make them rough, and items are not drawn."
        )
        notes.append(f"Brackets: {drawing}" if len(known) == count else f"No interval is estimated: {LACKING}.")
    else:
        notes.append("No shares: fewer than two methods are ranked with two seeds at two such sizes on all corpora.")
    title = "What of data efficiency is the corpus's and what the method's"
    return Table("across_efficiency", title, columns, _rows(columns, rows), notes)


def _slopes(
    cells: Sequence[Sequence[tuple[str, int]]], scores: Sequence[Array], methods: Sequence[str], log: bool
) -> Array:
    """Slopes (draws, corpora, methods) of scores (cells, draws) of each corpus: least squares over log records."""
    slopes = []
    for own, drawn in zip(cells, scores, strict=True):
        for name in methods:
            places = [place for place, cell in enumerate(own) if cell[0] == name]
            x = (np.log if log else np.log2)([float(own[place][1]) for place in places])
            weights = (x - x.mean()) / np.sum((x - x.mean()) ** 2)
            slopes.append(weights @ (np.log(drawn[places]) if log else drawn[places]))
    return np.stack(slopes, axis=-1).reshape(-1, len(cells), len(methods))
