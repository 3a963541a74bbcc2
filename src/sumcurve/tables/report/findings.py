"""Findings of a study, the most important first, in short sentences; every number is a cell of its tables.

A finding has one interval at most. A page shows `SHOWN` findings; comparisons without a significant difference are
counted and stand in the tables.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from types import MappingProxyType

from sumcurve.curves.fit import LEAST_SIZES
from sumcurve.scores.doubled import Doubled
from sumcurve.scores.reading import READS
from sumcurve.settings.base import HELD_OUT
from sumcurve.tables.comparisons import NOT_SHOWN, SIZE
from sumcurve.tables.numbers import NO_WORD
from sumcurve.tables.pairs import SINGLE_RUN
from sumcurve.tables.ranking import Effect, Ranking, effect, recorded
from sumcurve.tables.report.facts import Corpus, Record, Records, corpora_of, learned
from sumcurve.tables.table import listed, number, without_markup

SHOWN = 8  # findings on a first page
NAMED = 4  # methods that a sentence names
BETTER, WORSE, EQUAL, NOT_TESTED = "better", "worse", "no significant difference", "not tested"  # of a test
NO_WINNER = "no winner"
DOUBLED = Doubled.metrics[0].title
ANSWERING = (1.0, 2.0, 2.8)  # ranks of findings that answer a study's question: best, baseline, forecast scores
LOWERED = 0.001  # of a reward, the last digit that is printed
UNSEEN = "whole groups unseen in training"
ELSEWHERE = 4  # addition to the rank of sentences on a corpus that is not the study's first
BASELINES = {  # titles of systems of the core that are not trained
    "lead": "Lead",
    "lexrank": "LexRank",
    "lsa": "LSA",
    "random": "random sentences",
    "sumbasic": "SumBasic",
    "best-sentence": "best single sentence",
    "gold": "reference",
    "shuffled-gold": "shuffled reference",
    "source": "whole source",
}


@dataclass(frozen=True)
class Finding:
    """Finding of a table on a corpus: `head` is a sentence, in bold on pages, `text` the sentences after it, if any.

    `rank` orders findings, the most important lowest. `outcomes` are those of the comparisons that it is about.
    """

    corpus: str
    head: str
    text: str
    table: str
    rank: float
    outcomes: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        return f"{self.head} {self.text}".strip()

    @property
    def markdown(self) -> str:
        return f"**{without_markup(self.head)}** {without_markup(self.text)}".strip()


class Titles(dict[str, str]):
    """Titles of methods and systems on pages, by name; a name without a title stands for itself.

    `about` describes each in a clause, without its title and where it was published.
    """

    def __init__(self, titles: Mapping[str, str], about: Mapping[str, str] = MappingProxyType({})) -> None:
        super().__init__(BASELINES | dict(titles))
        self.about = {name: re.sub(r" \([^()]*\)$", "", text) for name, text in about.items()}
        self.about = {name: text.removeprefix(f"{self[name]}: ") for name, text in self.about.items()}

    def __missing__(self, name: str) -> str:
        return name

    def all(self, names: Sequence[str]) -> str:
        """Titles in a sentence; of more than `NAMED` the others are counted."""
        unique = list(dict.fromkeys(names))
        more = [f"{len(unique) - NAMED} more"] if len(unique) > NAMED + 1 else []
        return listed([self[name] for name in unique[: NAMED if more else None]] + more)


Brought = Callable[[Corpus, Titles], Iterable[Finding]]  # a capability's findings on a corpus


def findings(tables: Records, titles: Titles, brought: Sequence[Brought] = ()) -> list[Finding]:
    """The findings of a study, the most important first; `brought` are those of capabilities."""
    all_findings = []
    for place, corpus in enumerate(corpora_of(tables)):
        here = [*_of_core(corpus, titles), *(finding for more in brought for finding in more(corpus, titles))]
        all_findings += [(finding.rank + (place and _elsewhere(finding)), place, finding) for finding in here]
    return [finding for *_, finding in sorted(all_findings, key=lambda ranked: ranked[:2])]


def _elsewhere(finding: Finding) -> float:
    """Addition to the rank of a finding on another corpus than the first: who is best there stands on a first page."""
    return ELSEWHERE if finding.rank > 1 else 1.2


def counted(every: Sequence[Finding], shown: int = SHOWN) -> str:
    """State how many findings a page leaves out, and how many comparisons are open."""
    left_out = len(every) - shown
    outcomes = [outcome for finding in every for outcome in finding.outcomes if outcome not in ("alone", NOT_TESTED)]
    parts = []
    if left_out > 0:
        parts.append(f"{left_out} more {'finding stands' if left_out == 1 else 'findings stand'} in the report.")
    ended = {EQUAL: f"show {EQUAL}", SINGLE_RUN: "are single runs, not tested"}
    counts = [f"{outcomes.count(outcome)} {words}" for outcome, words in ended.items() if outcome in outcomes]
    if counts:
        parts.append(f"Of {len(outcomes)} comparisons in all findings {' and '.join(counts)}.")
    return " ".join(parts)


def headed(every: Sequence[Finding]) -> list[Finding]:
    """The findings as a page has them: those on another corpus than the first begin with it, explained once."""
    shown: list[Finding] = []
    for finding in every:
        if finding.corpus != every[0].corpus:
            new = finding.corpus.endswith(HELD_OUT) and finding.corpus not in {other.corpus for other in shown}
            where = f"{UNSEEN} ({finding.corpus})" if new else finding.corpus
            finding = replace(finding, head=f"On {where}: {finding.head}")
        shown.append(finding)
    return shown


def _of_core(corpus: Corpus, titles: Titles) -> Iterator[Finding]:
    """The findings of the core."""
    rankings = {metric: corpus.rankings(metric) for metric in corpus.metrics}
    of_first = rankings.get(corpus.metric, {})
    says = (
        (0.2, "scores_long", _uncounted(corpus)),
        (1.0, "answers", _best(of_first, corpus, titles)),
        (3.0, "answers", _sizes(of_first, titles)),
        (2.0, "comparisons", _baseline(corpus, titles)),
        (2.2, "answers", _by_others(rankings, corpus, titles)),
        (4.0, "answers", _doubling(corpus, titles)),
        (5.0, "answers", _needed(corpus, titles)),
        (3.5, "scores", _source(corpus, titles)),
        (4.5, "descriptions", _template(corpus, titles)),
        (2.7, "verdicts", _beyond(corpus, titles)),
        (2.8, "answers", _forecast(corpus, titles)),
        (6.8, "own_searches", _own_searches(corpus, titles)),
        (0.5, "phases", _reward(corpus, titles)),
        (2.3, "phases", _phases(corpus, titles)),
        (2.35, "phases", _doubled(corpus, titles)),
        (8.0, "scores", _untrained(corpus, titles)),
    )
    for rank, table, said in says:
        if said is not None:
            (first, *others), outcomes = said
            text = " ".join(f"{sentence}." for sentence in others)
            yield Finding(corpus.name, f"{first}.", text, table, rank, tuple(outcomes))


Said = tuple[Sequence[str], Iterable[str]]  # sentences without a full stop, outcomes of comparisons they are about


def interval(effect: Effect | None, decimals: int = 1) -> str:
    """A number with its interval for a sentence."""
    return "–" if effect is None else effect.text(decimals)


def _uncounted(corpus: Corpus) -> Said | None:
    """The metrics that count no word in many references, with their number."""
    reasons = {row["why"]: None for row in corpus.rows("scores_long") if NO_WORD in (row.get("why") or "")}
    return (["Metrics that find no words rank no method", *reasons], ()) if reasons else None


def _best(rankings: Mapping[int, Ranking], corpus: Corpus, titles: Titles) -> Said | None:
    """The largest size."""
    if not rankings:
        return None
    size = max(rankings)
    claim, said = rankings[size].claim(titles.all), rankings[size].sentences(corpus.metric, titles.all)
    if rankings[size].outcome not in ("alone", BETTER):
        said[:0] = [claim]
    return [f"With {number(size)} records {said[0]}", *said[1:]], [ranking.outcome for ranking in rankings.values()]


def _sizes(rankings: Mapping[int, Ranking], titles: Titles) -> Said | None:
    """The smaller sizes, the largest of them first."""
    smaller = [*rankings.items()][:-1]
    if not smaller:
        return None
    sizes: dict[str, list[str]] = {}
    for records, ranking in smaller[::-1]:
        claim, untested = ranking.claim(titles.all), [standing.name for standing in ranking.of("untested")]
        behind = [standing.name for standing in ranking.of("behind")]
        claim += " (†)" if len(ranking.standings) < 2 else ""
        if ranking.outcome == BETTER:
            claim += f" over {titles.all(behind)}" if len(behind) <= NAMED else ""
            claim += f" ({titles.all(untested)} {_is(untested)} not tested)" if untested else ""
        sizes.setdefault(claim, []).insert(0, number(records))
    return [f"With {listed(some)} records {claim}" for claim, some in sizes.items()], []


def _outcome(row: Record) -> str:
    """Outcome of a test of two systems, for the first."""
    ahead = row["ahead"]
    outcomes = {row["first"]: BETTER, row["second"]: WORSE, NOT_SHOWN: EQUAL, SINGLE_RUN: SINGLE_RUN}
    return outcomes.get(ahead, NOT_TESTED)


def _against_baseline(corpus: Corpus) -> list[Record]:
    """The tests of every method at the largest size, by every metric, against the best untrained baseline."""
    if corpus.blind is None or not corpus.sizes:
        return []
    cells = {"first_records": corpus.largest, "second": corpus.blind[0], "second_records": None}
    return corpus.rows("comparisons", question=SIZE, **cells)


def _baseline(corpus: Corpus, titles: Titles) -> Said | None:
    """The methods that beat the best untrained baseline, and those that do not."""
    every, metric = _against_baseline(corpus), corpus.metric
    rows = sorted((row for row in every if row["metric"] == metric), key=lambda row: -row["difference"])
    if not rows:
        return None
    size = f", with {number(corpus.largest)} records" if len(corpus.sizes) > 1 else ""
    baseline = f"{titles[rows[0]['second']]}, the best baseline by {metric}{size}"
    methods: dict[str, list[str]] = {}
    for row in rows:
        methods.setdefault(_outcome(row), []).append(row["first"])
    if better := methods.get(BETTER):
        nearest = next(row for row in rows if row["first"] == better[0])
        said = [f"{titles.all(better)} {_is(better)} significantly better than {baseline}"]
        which = "It" if len(better) == 1 else titles[better[0]]
        above = f"{interval(effect(nearest, 'difference'))} {metric} above {titles[nearest['second']]}"
        said.append(f"{which} is {above}")
    elif (worse := methods.get(WORSE)) and len(worse) == len(rows):
        said = [f"{titles.all(worse)} {_is(worse)} significantly worse than {baseline}"]
        return said, [_outcome(row) for row in every]
    elif EQUAL in methods or WORSE in methods:
        said = [f"No trained method is significantly better than {baseline}"]
    else:
        said = [f"No method is tested against {baseline}"]
    if names := methods.get(EQUAL):
        said.append(f"{titles.all(names)} {_do(names)} not differ significantly from the baseline")
    if names := methods.get(WORSE):
        said.append(f"{titles.all(names)} {_is(names)} significantly worse")
    if names := methods.get(SINGLE_RUN):
        said.append(f"{titles.all(names)} {_is(names)} not tested ({SINGLE_RUN}{'s' * (len(names) > 1)})")
    return said, [_outcome(row) for row in every]


def _by_others(rankings: Mapping[str, Mapping[int, Ranking]], corpus: Corpus, titles: Titles) -> Said | None:
    """Outcomes of the first metric that other metrics do not share: the best at a size, and sides of the baseline."""
    best, outcomes = _best_by_others(rankings, titles)
    turned = _turned_at_baseline(corpus, titles)
    what = "The ranking" if turned or any(NO_WINNER not in sentence for sentence in best) else "Significance"
    return ([f"{what} depends on the metric", *best, *turned], outcomes) if best or turned else None


def _best_by_others(rankings: Mapping[str, Mapping[int, Ranking]], titles: Titles) -> tuple[list[str], list[str]]:
    """A sentence for every size at which other metrics name another winner, at the largest also none; and outcomes."""

    def best(ranking: Ranking) -> str:
        """Name of the significantly best method; empty where that was not tested."""
        return {BETTER: titles.all(ranking.best), EQUAL: NO_WINNER}.get(ranking.outcome, "")

    parts, outcomes = list[str](), list[str]()
    largest = max((size for of_metric in rankings.values() for size in of_metric), default=0)
    first, *others = [*rankings] or [""]
    for size, ranking in rankings.get(first, {}).items():
        differing: dict[str, list[str]] = {}  # metrics, by their best method
        for metric in others:
            other = rankings[metric].get(size)
            if other is None or not best(ranking) or best(other) in ("", best(ranking)):
                continue
            if best(other) != NO_WINNER or size == largest:
                differing.setdefault(best(other), []).append(metric)
                outcomes.append(other.outcome)
        if differing:
            theirs = [f"{listed(names)} name{'s' * (len(names) == 1)} {method}" for method, names in differing.items()]
            parts.append(f"With {number(size)} records {first} names {best(ranking)}, but {listed(theirs)}")
    return parts, outcomes


def _turned_at_baseline(corpus: Corpus, titles: Titles) -> list[str]:
    """A sentence for methods that the first metric and others have significantly on two sides of the baseline."""
    every = _against_baseline(corpus)
    by_first = {row["first"]: _outcome(row) for row in every if row["metric"] == corpus.metric}
    turned: dict[str, list[str]] = {}  # metrics by method
    for row in every:
        if row["metric"] in corpus.metrics[1:] and {_outcome(row), by_first.get(row["first"])} == {BETTER, WORSE}:
            turned.setdefault(row["first"], []).append(row["metric"])
    groups: dict[tuple[str, str], list[str]] = {}
    for method, metrics in turned.items():
        groups.setdefault((by_first[method], listed(metrics)), []).append(method)
    parts = []
    for (outcome, metrics_named), methods in groups.items():
        turn = WORSE if outcome == BETTER else BETTER
        ours = f"{titles.all(methods)} {_is(methods)} significantly {outcome} than {titles[every[0]['second']]}"
        parts.append(f"{ours} by {corpus.metric}, but {turn} by {metrics_named}")
    return parts


def _is(several: Sequence[object]) -> str:
    return "are" if len(several) > 1 else "is"


def _do(several: Sequence[object]) -> str:
    return "do" if len(several) > 1 else "does"


def _doubling(corpus: Corpus, titles: Titles) -> Said | None:
    """Gain of each method from twice the records, over its sizes."""
    seeds = {row["method"]: row["seeds"] for row in corpus.trainings if row["records"] == corpus.largest}
    of_all = [
        (row["method"], gain)
        for row in corpus.at(corpus.metric, corpus.largest)
        if (gain := effect(row, "per_doubling")) is not None
    ]
    several = any(seeds.get(name) != 1 for name, _ in of_all)
    gains = [(name, gain) for name, gain in of_all if not several or seeds.get(name) != 1]
    if not gains:
        return None
    gains.sort(key=lambda pair: -pair[1].value)
    rows = corpus.rows("answers", metric=corpus.metric, basis="measured")
    start = {name: min(row["records"] for row in rows if row["method"] == name) for name, _ in gains}
    least = min(start.values())
    rising = {name: gain for name, gain in gains if gain.low is None or gain.low > 0}
    others = [name for name, _ in gains if name not in rising]
    parts = [f"{number(gain.value, 1)} for {titles[name]}" for name, gain in rising.items()]
    more = listed(parts[: NAMED + 1]).replace(" for", f" {corpus.metric} for", 1)
    head = f"Twice the records add {more}" if parts else f"Twice the records are not shown to add {corpus.metric}"
    said = [
        head,
        f"By pointwise intervals, the gains are means from {number(least)} to {number(corpus.largest)} records",
    ]
    later: dict[int, list[str]] = {}
    for name in rising:
        later.setdefault(start[name], []).append(name)
    from_more = [f"from {number(size)} for {titles.all(later[size])}" for size in sorted(later) if size > least]
    said[1] += f", but {listed(from_more)}" if from_more else ""
    if rising and others:
        said.append(f"No gain is shown for {titles.all(others)}")
    if runs := [name for name, _ in of_all if name not in dict(gains)]:
        said.append(f"{titles.all(runs)} {_is(runs)} not tested (single run{'s' if len(runs) > 1 else ''})")
    ranked = [row["method"] for row in corpus.at(corpus.metric, corpus.largest)]
    if single := [name for name in ranked if name not in dict(of_all)]:
        said.append(f"{titles.all(single)} {_is(single)} ranked at one size alone")
    return said, []


def _needed(corpus: Corpus, titles: Titles) -> Said | None:
    """Records with which the best method reaches the score that the nearest method behind it has with all of them."""
    rows = corpus.at(corpus.metric, corpus.largest)
    behind = {standing.name for standing in recorded(rows).of("behind")}
    row = next((row for row in rows if row["method"] in behind and row["records_needed"] is not None), None)
    if row is None:
        return None
    share = effect({name: cell and 100 * cell for name, cell in row.items() if name.startswith("ratio")}, "ratio")
    with_few = f"{'at most ' if row['bound'] else ''}{number(row['records_needed'])} records"
    best, other = titles[rows[0]["method"]], titles[row["method"]]
    said = [f"With {with_few} {best} matches the {corpus.metric} that {other} has with {number(corpus.largest)}"]
    return [*said, f"That is {interval(share, 0)} % of the records"], []


def _source(corpus: Corpus, titles: Titles) -> Said | None:
    """Methods without significant source sensitivity, with the sizes."""
    if not corpus.ignoring:
        return None
    sizes: dict[str, list[int]] = {}
    for row in corpus.ignoring:
        sizes.setdefault(row["method"], []).append(row["records"])
    always = [
        name for name, of in sizes.items() if len(of) == len([*filter(learned, corpus.rows("scores", method=name))])
    ]
    parts = [f"{titles.all(always)} at any size"] if always else []
    by_sizes: dict[tuple[int, ...], list[str]] = {}
    for name, of in sizes.items():
        if name not in always:
            by_sizes.setdefault((*of,), []).append(name)
    for some, methods in by_sizes.items():
        parts.append(f"{titles.all(methods)} with {listed([number(size) for size in some])} records")
    said = [f"No source sensitivity is shown (†) for {', nor for '.join(parts)}"]
    said.append(f"{'It is' if len(sizes) == 1 else 'They are'} not ranked: {unshown(corpus)}")
    unmeasured = [row["method"] for row in corpus.trainings if not row.get("reads_source")]
    return [*said, *([f"Of {titles.all(unmeasured)} it is not measured"] if unmeasured else [])], []


def unshown(corpus: Corpus) -> str:
    """Explain by which measure a method has no significant source sensitivity."""
    if all(row.get("gap") is not None for row in corpus.ignoring):
        return (
            f"a reference is not shown to be more than {READS:g} nats a word likelier with its own source than with "
            "another one"
        )
    return "summaries are not significantly nearer to their reference than to another's"


def _template(corpus: Corpus, titles: Titles) -> Said | None:
    """Methods that write most of their summaries by one sentence template, beside the references' share."""
    rows = corpus.rows("descriptions")
    references = next((row.get("commonest_frame") for row in rows if row["method"] == "references"), None)
    framed = [row for row in rows if row.get("one_frame") == "yes" and learned(row)]
    if not framed:
        return None
    worst = max(framed, key=lambda row: (row["records"], row["commonest_frame"]))
    others = [row["method"] for row in framed if row["method"] != worst["method"]]
    share = interval(effect(worst, "commonest_frame"), 0)
    who = f"{titles[worst['method']]} with {number(worst['records'])} records"
    said = [f"{who} writes {share} % of its summaries by one sentence template"]
    if references is not None:
        said.append(f"The commonest template of the references has {number(references, 0)} %")
    if others:
        said.append(f"{titles.all(others)} {_do(others)} so in most summaries at some size")
    return said, []


def _beyond(corpus: Corpus, titles: Titles) -> Said | None:
    """Forecast beyond the data: who is expected to be overtaken, and who to stay ahead, up to how many records."""
    rows = corpus.rows("verdicts", metric=corpus.metric)
    says = {"overtaken": "is forecast to be overtaken by", "ahead throughout": "is forecast to stay ahead of"}
    sizes: dict[int, list[str]] = {}  # how far a pair's forecast goes depends on the largest size that both have
    for up_to, kind in product(sorted({row["up_to_records"] for row in rows}, reverse=True), says):
        if claimed := [row for row in rows if (row["up_to_records"], row["verdict"]) == (up_to, kind)]:
            pairs = [f"{titles[row['first']]} {says[kind]} {titles[row['second']]}" for row in claimed]
            least = min(row["probability"] for row in claimed)
            sizes.setdefault(up_to, []).append(
                f"{listed(pairs[:NAMED])} (probability "
                f"{min(round(least, 2), 0.99) if len(pairs) == 1 else math.floor(100 * least) / 100:.2f}"
                f"{'' if len(pairs) == 1 else ' or more, each pair alone'}, all sizes together)"
            )
    if not sizes:
        return None
    said = [f"With up to {number(up_to)} records {claim}" for up_to, claims in sizes.items() for claim in claims]
    fitted = {row[name] for row in rows for name in ("first", "second")}
    ranked = [row["method"] for row in corpus.at(corpus.metric, corpus.largest)]
    if without := [name for name in ranked if name not in fitted]:
        said.append(
            f"Nothing is forecast for {titles.all(without)}, which have no fit (of {LEAST_SIZES} sizes or more)"
        )
    return said, [BETTER if row["verdict"] in says else EQUAL for row in rows]


def _forecast(corpus: Corpus, titles: Titles) -> Said | None:
    """Scores that are forecast for twice the largest size, the best first."""
    rows = corpus.rows("answers", metric=corpus.metric, basis="fit")
    if not rows:
        return None
    first, *others = [row for row in rows if row["records"] == rows[0]["records"]][:NAMED]
    score = f"{titles[first['method']]} {interval(effect(first, 'score'))} {corpus.metric}"
    behind = [f"{titles[row['method']]} {number(row['score'], 1)}" for row in others]
    return [f"Forecast with twice the records ({number(first['records'])}): {listed([score, *behind])}"], []


def _own_searches(corpus: Corpus, titles: Titles) -> Said | None:
    """The largest difference by the first metric between methods that are each decoded by their papers' search."""
    rows = corpus.rows("own_searches", metric=corpus.metric)
    tested = [row for row in rows if _outcome(row) not in (SINGLE_RUN, NOT_TESTED)]
    if not tested:
        return None
    shown = [row for row in tested if _outcome(row) != EQUAL]
    most = max(shown or tested, key=lambda row: abs(row["difference"]))
    count = f"{len(shown)} of {len(tested)} pairs" if shown else "no two methods"
    pair = f"{titles[most['first']]} minus {titles[most['second']]}"
    said = [f"Each decoded by its paper's search, {count} differ significantly"]
    said.append(f"The largest difference is {pair}: {interval(effect(most, 'difference'))} {corpus.metric}")
    return [*said, "Other findings are by one search"], map(_outcome, rows)


def _phases(corpus: Corpus, titles: Titles) -> Said | None:
    """Effect of the final training stage of a method, against a control that had the same updates without it."""
    rows = [
        row
        for row in corpus.rows("phases")
        if row["metric"].partition(" (")[0] == corpus.metric and row["after_minus_control"] is not None
    ]
    if not rows:
        return None
    outcome = {BETTER: BETTER, WORSE: WORSE, SINGLE_RUN: SINGLE_RUN}
    outcomes = [outcome.get(row["worth"], EQUAL) for row in rows]
    single = [row for row in rows if row["worth"] == SINGLE_RUN]
    tested = [row for row in rows if row not in single]
    shown = [row for row in rows if row["worth"] in (BETTER, WORSE)]
    if shown:
        row = shown[0]
        change = f"{interval(effect(row, 'after_minus_control'), 2)} {corpus.metric}"
        said = [f"The final stage ({row['phase']}) makes {titles[row['method']]} significantly {row['worth']}"]
        return [*said, f"The change is {change}, against as many updates without it"], outcomes
    said = [f"No final training stage {f'changes {corpus.metric} significantly' if tested else 'is tested'}"]
    if tested:
        most = max(tested, key=lambda row: abs(row["after_minus_control"]))
        at_most = " at most" if len(tested) > 1 else ""
        said.append(
            f"Against as many updates without it, {_by_stage(tested, titles)} change{'' if at_most else 's'} by "
            f"{interval(effect(most, 'after_minus_control'))} {corpus.metric}{at_most}"
        )
    if single:
        runs = f"{SINGLE_RUN}{'s' * (len(single) > 1)}"
        said.append(f"{_by_stage(single, titles)} {_is(single)} not tested ({runs})")
    return said, outcomes


def _doubled(corpus: Corpus, titles: Titles) -> Said | None:
    """Effect of final training stages on the share of summaries with a word twice in a row, against controls."""
    rows = [
        row
        for row in corpus.rows("phases")
        if row["metric"].startswith(DOUBLED) and row["after_minus_control"] is not None
    ]
    if not rows:
        return None
    said: list[str] = []
    for row in sorted(rows, key=lambda row: row["worth"] not in (BETTER, WORSE)):
        stage, change = _by_stage([row], titles), effect(row, "after_minus_control")
        what = "it" if said else f"the share of summaries with {DOUBLED}"
        points = f"{number(row['after_minus_control'], 1) if said else interval(change)} points"
        if row["worth"] in (BETTER, WORSE):
            said.append(f"{stage} changes {what} by {points}")
        else:
            why = f", {SINGLE_RUN}" if row["worth"] == SINGLE_RUN else ""
            said.append(f"{stage} is not shown to change {what} ({points}{why})")
    return [*said, "That is against as many updates without the stage"], []


def _reward(corpus: Corpus, titles: Titles) -> Said | None:
    """State where reinforcement learning ended with a reward that is lower by LOWERED at least than its first."""
    lowered = {
        row["method"]: f"{titles[row['method']]} from {row['reward_at_start']:.3f} to {row['reward_at_end']:.3f}"
        for row in corpus.rows("phases")
        if row.get("reward_at_start") is not None and row["reward_at_start"] - row["reward_at_end"] >= LOWERED
    }
    if not lowered:
        return None
    said = ["Reinforcement learning reduced the reward that it optimises"]
    fell = listed([*lowered.values()])
    said.append(f"From the stage's start to its end, ROUGE-L of validation summaries (0 to 1) fell for {fell}")
    return [*said, "The scored checkpoint may lie between"], []


def _by_stage(rows: Sequence[Record], titles: Titles) -> str:
    return listed([f"{titles[row['method']]} ({row['phase']})" for row in rows[:NAMED]])


def _untrained(corpus: Corpus, titles: Titles) -> Said | None:
    """The best untrained baseline of a corpus on which nothing is trained."""
    if corpus.sizes or corpus.blind is None or corpus.unread:
        return None
    name, _ = corpus.blind
    (row, *_) = corpus.rows("scores", method=name)
    metric = next((of["title"] for of in corpus.rows("scores_long", metric=corpus.column)), corpus.column)
    score = interval(effect(row, corpus.column))
    return [f"Without training, {titles[name]} has the best mean, {score} {metric}"], []
