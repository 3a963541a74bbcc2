"""Findings of a study, a sentence a question, the most important first; every number is a cell of its tables.

A sentence has one interval at most. A page shows `SHOWN` sentences; comparisons without a significant difference are
counted and stand in the tables.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from types import MappingProxyType

from sumcurve.scores.reading import READS
from sumcurve.settings.base import HELD_OUT
from sumcurve.tables.comparisons import NOT_SHOWN, SIZE
from sumcurve.tables.numbers import NO_WORD
from sumcurve.tables.pairs import SINGLE_RUN
from sumcurve.tables.ranking import Effect, Ranking, effect, recorded
from sumcurve.tables.report.facts import Corpus, Record, Records, corpora_of, learned
from sumcurve.tables.table import listed, number

SHOWN = 7  # sentences on a first page
NAMED = 4  # methods that a sentence names
BETTER, WORSE, EQUAL, NOT_TESTED = "better", "worse", "no significant difference", "not tested"  # of a test
BEST_WITH, AGAINST = "Best with", "Against"  # how heads of findings on the best, and on baselines, begin
LOWERED = 0.001  # of a reward, the last digit that is printed
FINAL_STAGE = "Final training stage"  # the head of a finding, as is the next
NOT_READING = "No significant source sensitivity (†)"  # the head of a finding
UNSEEN = "groups, such as packages, unseen in training"
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
    """A sentence on one question about a corpus: `head` in bold, then `text`; `table` is where the numbers stand.

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
        return f"{self.head}: {self.text}"


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


def findings(tables: Records, titles: Mapping[str, str], brought: Sequence[Brought] = ()) -> list[Finding]:
    """The findings of a study, the most important first; `brought` are those of capabilities."""
    names = Titles(titles)
    all_findings = []
    for place, corpus in enumerate(corpora_of(tables)):
        here = [*_of_core(corpus, names), *(finding for more in brought for finding in more(corpus, names))]
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
        parts.append(f"Of {len(outcomes)} outcomes {' and '.join(counts)}.")
    return " ".join(parts)


def headed(every: Sequence[Finding]) -> list[Finding]:
    """The findings as a page has them: those on another corpus than the first begin with it, explained once."""
    shown: list[Finding] = []
    for finding in every:
        if finding.corpus != every[0].corpus:
            new = finding.corpus.endswith(HELD_OUT) and finding.corpus not in {other.corpus for other in shown}
            where = f"{UNSEEN} ({finding.corpus})" if new else finding.corpus
            finding = replace(finding, head=f"On {where}, {finding.head[0].lower()}{finding.head[1:]}")
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
        (6.8, "own_searches", _own_searches(corpus, titles)),
        (0.5, "phases", _reward(corpus, titles)),
        (7.0, "phases", _phases(corpus, titles)),
        (8.0, "scores", _untrained(corpus, titles)),
    )
    for rank, table, said in says:
        if said is not None:
            head, text, outcomes = said
            yield Finding(corpus.name, head, text, table, rank, tuple(outcomes))


Said = tuple[str, str, Iterable[str]]  # head, text and the outcomes of comparisons that they are about


def interval(effect: Effect | None, decimals: int = 1) -> str:
    """A number with its interval for a sentence."""
    return "–" if effect is None else effect.text(decimals)


def _uncounted(corpus: Corpus) -> Said | None:
    """The metrics that count no word in many references, with their number."""
    reasons = {row["why"]: None for row in corpus.rows("scores_long") if NO_WORD in (row.get("why") or "")}
    return ("Not ranked", f"{'; '.join(reasons)}.", ()) if reasons else None


def _best(rankings: Mapping[int, Ranking], corpus: Corpus, titles: Titles) -> Said | None:
    """The largest size; where another table compares methods each by its paper's search, that this is by one search."""
    if not rankings:
        return None
    size = max(rankings)
    text = rankings[size].sentence(corpus.metric, titles.all)
    text += "; all by one search." if corpus.rows("own_searches") else "."
    return f"{BEST_WITH} {number(size)} records", text, [ranking.outcome for ranking in rankings.values()]


def _sizes(rankings: Mapping[int, Ranking], titles: Titles) -> Said | None:
    """The smaller sizes; where fewer methods are ranked than at the largest, how many."""
    *smaller, largest = rankings.values() or [Ranking()]
    if not smaller:
        return None
    ranked: list[int] = []
    by_leader: dict[str, list[str]] = {}
    alone: dict[tuple[str, ...], list[str]] = {}
    single: dict[tuple[str, ...], list[str]] = {}
    for records, ranking in [*rankings.items()][:-1]:
        size = number(records)
        if ranking.outcome == "alone":
            alone.setdefault((*ranking.best,), []).append(size)
        elif ranking.outcome not in (BETTER, EQUAL):
            single.setdefault((*ranking.best,), []).append(size)
        else:
            ranked.append(len(ranking.standings))
            by_leader.setdefault(titles.all(ranking.best) if ranking.outcome == BETTER else "", []).append(size)
    undecided = by_leader.pop("", [])
    tested = [ranking for ranking in smaller if ranking.outcome in (BETTER, EQUAL)]
    untested = sorted({standing.name for ranking in tested for standing in ranking.of("untested")})
    leaders = [f"{leader} with {listed(sizes)}" for leader, sizes in by_leader.items()]
    parts = [f"significantly best is {', '.join(leaders)}"] if leaders else []
    if undecided and leaders:
        parts.append(f"with {listed(undecided)} none is")
    elif undecided:
        parts.append("no method is significantly best" + (f" with {listed(undecided)}" if alone or single else ""))
    if untested and parts:
        parts[0] = f"without {titles.all(untested)}, which {_is(untested)} not tested, {parts[0]}"
    if parts and ranked and min(ranked) < len(largest.standings):
        ends = " to ".join(str(count) for count in sorted({min(ranked), max(ranked)}))
        parts[-1] += f" ({ends} methods ranked)"
    for methods, sizes in single.items():
        parts.append(f"with {listed(sizes)} {titles.all(methods)} {_has(methods)} the best mean, not tested")
    for methods, sizes in alone.items():
        parts.append(f"with {listed(sizes)} {f'only {titles.all(methods)}' if methods else 'none'} is ranked")
    return "With fewer records", f"{'; '.join(parts)}.", []


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
    outcomes = [_outcome(row) for row in every]
    head = f"{AGAINST} {titles[rows[0]['second']]}, the best baseline mean"

    def methods(outcome: str) -> list[str]:
        return [row["first"] for row in rows if _outcome(row) == outcome]

    better = methods(BETTER)
    if better:
        first = f"{titles.all(better)} {_is(better)} significantly better"
        whose = f"{titles[better[0]]} " if len(better) > 1 else ""
        nearest = next(row for row in rows if row["first"] == better[0])
        first += f" ({whose}by {interval(effect(nearest, 'difference'))} {metric})"
    elif not (methods(EQUAL) or methods(WORSE)):
        return head, "single runs, not tested.", outcomes
    else:
        first = "no trained method is significantly better"
    parts = [first]
    for outcome, say in {EQUAL: "no significant difference for", WORSE: "significantly worse:"}.items():
        if names := methods(outcome):
            parts.append(f"{say} {titles.all(names)}")
    return head, f"{'; '.join(parts)}.", outcomes


def _by_others(rankings: Mapping[str, Mapping[int, Ranking]], corpus: Corpus, titles: Titles) -> Said | None:
    """Outcomes of the first metric that other metrics do not share: the best at a size, and sides of the baseline."""
    best, outcomes = _best_by_others(rankings, titles)
    parts = [*best, *_turned_at_baseline(corpus, titles)]
    return ("Depends on the metric", f"{'; '.join(parts)}.", outcomes) if parts else None


def _best_by_others(rankings: Mapping[str, Mapping[int, Ranking]], titles: Titles) -> tuple[list[str], list[str]]:
    """A part for every size at which other metrics find another best, at the largest also none; and their outcomes."""

    def best(ranking: Ranking) -> str:
        """Name of the significantly best method; empty where that was not tested."""
        return {BETTER: titles.all(ranking.best), EQUAL: "none"}.get(ranking.outcome, "")

    parts, outcomes = list[str](), list[str]()
    largest = max((size for of_metric in rankings.values() for size in of_metric), default=0)
    first, *others = [*rankings] or [""]
    for size, ranking in rankings.get(first, {}).items():
        differing: dict[str, list[str]] = {}  # metrics, by their best method
        for metric in others:
            other = rankings[metric].get(size)
            if other is None or not best(ranking) or best(other) in ("", best(ranking)):
                continue
            if best(other) != "none" or size == largest:
                differing.setdefault(best(other), []).append(metric)
                outcomes.append(other.outcome)
        if differing:
            theirs = ", ".join(f"{method} by {listed(names)}" for method, names in differing.items())
            records, is_best = ("", "") if parts else (" records", " is significantly best")
            parts.append(f"with {number(size)}{records} {best(ranking)}{is_best} by {first}, {theirs}")
    return parts, outcomes


def _turned_at_baseline(corpus: Corpus, titles: Titles) -> list[str]:
    """A part for methods that the first metric has significantly on one side of the baseline, others on the other."""
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
        ours = f"{titles.all(methods)} {_is(methods)} significantly {outcome} by {corpus.metric}"
        turn = WORSE if outcome == BETTER else BETTER
        parts.append(f"against {titles[every[0]['second']]} {ours}, {turn} by {metrics_named}")
    return parts


def _is(several: Sequence[object]) -> str:
    return "are" if len(several) > 1 else "is"


def _has(several: Sequence[object]) -> str:
    return "have" if len(several) > 1 else "has"


def _doubling(corpus: Corpus, titles: Titles) -> Said | None:
    """Gain of each method from twice the records, over its sizes."""
    gains = [
        (row["method"], gain)
        for row in corpus.at(corpus.metric, corpus.largest)
        if (gain := effect(row, "per_doubling")) is not None
    ]
    if not gains:
        return None
    gains.sort(key=lambda pair: -pair[1].value)
    rows = corpus.rows("answers", metric=corpus.metric, basis="measured")
    start = {name: min(row["records"] for row in rows if row["method"] == name) for name, _ in gains}
    least = min(start.values())
    rising = [(name, gain) for name, gain in gains if gain.low is None or gain.low > 0]
    others = [titles[name] for name, gain in gains if (name, gain) not in rising]
    parts = [
        f"{number(gain.value, 1)} for {titles[name]}"
        + (f" (from {number(start[name])})" if start[name] > least else "")
        for name, gain in rising
    ]
    rise = (
        f"{corpus.metric} rises by {listed(parts[: NAMED + 1])}" if parts else f"{corpus.metric} is not shown to rise"
    )
    text = f"{rise}, on average from {number(least)} to {number(corpus.largest)} records"
    text += f"; not shown for {listed(others)}." if parts and others else "."
    return "Twice the records", text, []


def _needed(corpus: Corpus, titles: Titles) -> Said | None:
    """Records with which the best method reaches the score that the nearest method behind it has with all of them."""
    rows = corpus.at(corpus.metric, corpus.largest)
    behind = {standing.name for standing in recorded(rows).of("behind")}
    row = next((row for row in rows if row["method"] in behind and row["records_needed"] is not None), None)
    if row is None:
        return None
    share = effect({name: cell and 100 * cell for name, cell in row.items() if name.startswith("ratio")}, "ratio")
    with_few = f"{'at most ' if row['bound'] else ''}{number(row['records_needed'])} records"
    text = (
        f"{titles[rows[0]['method']]} trained on {with_few} matches the {corpus.metric} of "
        f"{titles[row['method']]} trained on {number(corpus.largest)} ({interval(share, 0)} % of them)."
    )
    return "Records needed", text, []


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
    parts = [f"{titles.all(always)} at every size"] if always else []
    by_sizes: dict[tuple[int, ...], list[str]] = {}
    for name, of in sizes.items():
        if name not in always:
            by_sizes.setdefault((*of,), []).append(name)
    for some, methods in by_sizes.items():
        parts.append(f"{titles.all(methods)} with {listed([number(size) for size in some])} records")
    return NOT_READING, f"{unshown(corpus)}: {'; '.join(parts)}. Not ranked there.", []


def unshown(corpus: Corpus) -> str:
    """Explain by which measure a method has no significant source sensitivity."""
    if all(row.get("gap") is not None for row in corpus.ignoring):
        return (
            f"references are not significantly likelier, by {READS:g} nats a word, given their source than given "
            "another's"
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
    text = (
        f"{titles[worst['method']]} with {number(worst['records'])} records fills a single one in "
        f"{interval(effect(worst, 'commonest_frame'), 0)} % of its summaries"
    )
    text += f" (references: {number(references, 0)} %)" if references is not None else ""
    text += f"; {titles.all(others)} in most of theirs at some size" if others else ""
    return "Sentence template", f"{text}.", []


def _beyond(corpus: Corpus, titles: Titles) -> Said | None:
    """Forecast beyond the data: who is expected to be overtaken, and who to stay ahead, up to how many records."""
    rows = corpus.rows("verdicts", metric=corpus.metric)
    says = {"overtaken": "is overtaken by", "ahead throughout": "is ahead of"}
    sizes: dict[int, list[str]] = {}  # how far a pair's forecast goes depends on the largest size that both have
    for up_to, kind in product(sorted({row["up_to_records"] for row in rows}, reverse=True), says):
        if claimed := [row for row in rows if (row["up_to_records"], row["verdict"]) == (up_to, kind)]:
            pairs = [f"{titles[row['first']]} {says[kind]} {titles[row['second']]}" for row in claimed]
            least = min(row["probability"] for row in claimed)
            sizes.setdefault(up_to, []).append(
                f"{listed(pairs[:NAMED])} (probability "
                f"{min(round(least, 2), 0.99) if len(pairs) == 1 else math.floor(100 * least) / 100:.2f}"
                f"{'' if len(pairs) == 1 else ' or more, each singly'})"
            )
    if not sizes:
        return None
    text = "; ".join(f"with up to {number(up_to)} records {'; '.join(said)}" for up_to, said in sizes.items())
    fitted = {row[name] for row in rows for name in ("first", "second")}
    ranked = [row["method"] for row in corpus.at(corpus.metric, corpus.largest)]
    without = [titles[name] for name in ranked if name not in fitted]
    text += f"; no fit: {listed(without)}." if without else "."
    return "Forecast beyond the data", text, [BETTER if row["verdict"] in says else EQUAL for row in rows]


def _own_searches(corpus: Corpus, titles: Titles) -> Said | None:
    """The largest difference by the first metric between methods that are each decoded by their papers' search."""
    rows = corpus.rows("own_searches", metric=corpus.metric)
    tested = [row for row in rows if _outcome(row) not in (SINGLE_RUN, NOT_TESTED)]
    if not tested:
        return None
    shown = [row for row in tested if _outcome(row) != EQUAL]
    most = max(shown or tested, key=lambda row: abs(row["difference"]))
    difference = f"{interval(effect(most, 'difference'))} {corpus.metric}"
    pair = f"{titles[most['first']]} minus {titles[most['second']]} is {difference}"
    differ = f"{len(shown)} of {len(tested)} pairs differ significantly" if shown else "no two differ significantly"
    return "Each by its paper's search", f"{differ}; {pair}, the most.", map(_outcome, rows)


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
    if not tested:
        return FINAL_STAGE, f"{_by_stage(single, titles)}: {_not_tested(single)}.", outcomes
    if shown:
        row = shown[0]
        text = (
            f"{row['phase']} changes {titles[row['method']]} by {interval(effect(row, 'after_minus_control'), 2)} "
            f"{corpus.metric} (significantly {row['worth']} than as many updates without it)."
        )
        return FINAL_STAGE, text, outcomes
    most = max(tested, key=lambda row: abs(row["after_minus_control"]))
    text = f"no significant change of {corpus.metric} against as many updates without the stage"
    text += f": {_by_stage(tested, titles)}, at most {interval(effect(most, 'after_minus_control'))}"
    text += f"; {_by_stage(single, titles)}: {_not_tested(single)}" if single else ""
    return FINAL_STAGE, f"{text}.", outcomes


def _reward(corpus: Corpus, titles: Titles) -> Said | None:
    """State where reinforcement learning ended with a reward that is lower by LOWERED at least than its first."""
    lowered = {
        row["method"]: f"{titles[row['method']]} from {row['reward_at_start']:.3f} to {row['reward_at_end']:.3f}"
        for row in corpus.rows("phases")
        if row.get("reward_at_start") is not None and row["reward_at_start"] - row["reward_at_end"] >= LOWERED
    }
    if not lowered:
        return None
    text = (
        f"ROUGE-L of greedy validation summaries, 0 to 1: {listed(list(lowered.values()))}, from the stage's start to "
        "its end; the scored checkpoint may lie between."
    )
    return "Reinforcement learning reduced the reward that it optimises", text, []


def _by_stage(rows: Sequence[Record], titles: Titles) -> str:
    return listed([f"{titles[row['method']]} ({row['phase']})" for row in rows[:NAMED]])


def _not_tested(rows: Sequence[Record]) -> str:
    return "single runs, not tested" if len(rows) > 1 else "a single run, not tested"


def _untrained(corpus: Corpus, titles: Titles) -> Said | None:
    """The best untrained baseline of a corpus on which nothing is trained."""
    if corpus.sizes or corpus.blind is None or corpus.unread:
        return None
    name, _ = corpus.blind
    (row, *_) = corpus.rows("scores", method=name)
    metric = next((of["title"] for of in corpus.rows("scores_long", metric=corpus.column)), corpus.column)
    score = interval(effect(row, corpus.column))
    return "Without training", f"the highest mean is that of {titles[name]}: {score} {metric}.", []
