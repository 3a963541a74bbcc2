"""What came out of a study, a sentence a question, the most important first; every number is a cell of its tables.

Facts (`tables.report.facts`) of one question become one sentence with one interval at most. A page shows `SHOWN`
sentences; what has no significant difference is counted and stands in the tables.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from sumcurve.scores.reading import READS
from sumcurve.settings.base import HELD_OUT
from sumcurve.tables.report import facts
from sumcurve.tables.report.facts import Corpus, Effect, Fact, Outcome, Records
from sumcurve.tables.table import listed, number, span

SHOWN = 7  # sentences on a first page
NAMED = 4  # methods that a sentence names
NOT_READING = "Not shown to read its source (†)"  # the head of a finding
UNSEEN = "groups, such as packages, unseen in training"
ELSEWHERE = 4  # what a corpus that is not the study's first adds to the rank of its sentences
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

    `rank` orders findings, the most important lowest. `facts` are those that it says.
    """

    corpus: str
    head: str
    text: str
    table: str
    rank: float
    facts: tuple[Fact, ...] = ()

    @property
    def sentence(self) -> str:
        return f"{self.head}: {self.text}"


class Titles(dict[str, str]):
    """How pages call methods and systems, by name; a name without a title stands for itself.

    `about` says in a clause what each is: neither its title nor where it was published.
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
    order = sorted(
        dict.fromkeys(row["corpus"] for row in tables["scores"]),
        key=lambda name: -len(Corpus(name, tables).sizes),
    )
    for place, name in enumerate(order):
        corpus = Corpus(name, tables)
        here = [*_own(corpus, names), *(finding for more in brought for finding in more(corpus, names))]
        all_findings += [(finding.rank + (place and _elsewhere(finding)), place, finding) for finding in here]
    return [finding for *_, finding in sorted(all_findings, key=lambda ranked: ranked[:2])]


def _elsewhere(finding: Finding) -> float:
    """What a finding on another corpus than the first adds to its rank: who is best there stands on a first page."""
    return ELSEWHERE if finding.rank > 1 else 1.2


def counted(every: Sequence[Finding], shown: int = SHOWN) -> str:
    """How many findings a page leaves out, and how many comparisons of the study's facts are open."""
    left_out = len(every) - shown
    facts_of = [fact for finding in every for fact in finding.facts]
    outcomes = [fact.outcome for fact in facts_of if fact.outcome not in ("measured", "alone", "not tested")]
    parts = []
    if left_out > 0:
        parts.append(f"{left_out} more {'finding stands' if left_out == 1 else 'findings stand'} in the report.")
    ended = {"no significant difference": "show no significant difference", "single run": "are single runs, not tested"}
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


def _own(corpus: Corpus, titles: Titles) -> Iterator[Finding]:
    """Those of the core."""
    unit = corpus.metric
    every_best, every_baseline = [*facts.best(corpus)], [*facts.baseline(corpus)]
    best = [fact for fact in every_best if fact.metric == unit]
    says = (
        ("best", 1.0, "answers", _best(best, titles, bool(corpus.rows("own_searches")))),
        ("sizes", 3.0, "answers", _sizes(best, corpus, titles)),
        ("baseline", 2.0, "comparisons", _baseline(every_baseline, unit, titles)),
        ("metric", 2.2, "answers", _by_others([*every_best, *every_baseline], corpus.metrics, titles)),
        ("doubling", 4.0, "answers", _doubling([*facts.doubling(corpus)], unit, titles)),
        ("needed", 5.0, "answers", _needed([*facts.needed(corpus)], unit, titles)),
        ("source", 3.5, "scores", _source([*facts.source(corpus)], titles)),
        ("template", 4.5, "descriptions", _template([*facts.template(corpus)], titles)),
        ("beyond", 2.7, "verdicts", _beyond([*facts.beyond(corpus)], titles)),
        ("searches", 6.8, "own_searches", _own_searches([*facts.own_searches(corpus)], titles)),
        ("phases", 7.0, "phases", _phases([*facts.phases(corpus)], unit, titles)),
        ("equivalence", 0.5, "equivalence", _equivalence([*facts.equivalence(corpus)], titles)),
        ("untrained", 8.0, "scores", _untrained([*facts.untrained(corpus)], titles)),
    )
    for _, rank, table, sentence in says:
        if sentence is not None:
            head, text, behind = sentence
            yield Finding(corpus.name, head, text, table, rank, tuple(behind))


def about_baselines(finding: Finding) -> bool:
    """Whether it says how methods stand against the best untrained baseline."""
    return bool(finding.facts) and finding.facts[0].question == "baseline"


Said = tuple[str, str, Sequence[Fact]]  # head, text and the facts that they say


def interval(effect: Effect | None, decimals: int = 1) -> str:
    """A number with its interval for a sentence."""
    return "–" if effect is None else span(effect.value, effect.low, effect.high, decimals)


def _best(best: Sequence[Fact], titles: Titles, own_searches: bool) -> Said | None:
    """The largest size; `own_searches`: another table compares methods each by its paper's search."""
    if not best:
        return None
    head, text = leader(best[-1], titles)
    return head, f"{text.removesuffix('.')}; all by one search." if own_searches else text, best


def leader(fact: Fact, titles: Titles) -> tuple[str, str]:
    """Head and text of a fact of `facts.best`: who is best at a size, and how sure that is."""
    first = titles.all(fact.methods)
    runner_up, single = "", fact.single
    if fact.next_single is not None:
        lead = f"{number(fact.next_single.value, 1)} {fact.metric}"
        runner_up, single = f", {lead} ahead of {titles[single[0]]} (a single run, not tested)", single[1:]
    untested = f"; {titles.all(single)} {_single_runs(single)}, not tested" if single else ""
    if fact.outcome == "better":
        nearest = titles[fact.against[0]]
        others = titles.all(fact.against).removeprefix(nearest)
        joined = f"{runner_up}, and" if runner_up else ","
        lead = f"by {interval(fact.effect)} {fact.metric}"
        text = f"{first}{joined} significantly better than {nearest} ({lead}){others}{untested}."
    elif fact.outcome == "alone":
        text = f"{first}, the only method that is ranked." if first else "no method is ranked."
    elif fact.outcome == "single run":
        text = f"{first} in the mean; a single run, not tested."
    else:
        level = titles.all(fact.against or fact.methods)
        if fact.against and fact.effect is not None:
            nearest = titles[fact.against[0]]
            level = f"{nearest} (lead {interval(fact.effect)} {fact.metric}){level.removeprefix(nearest)}"
        text = f"{first} in the mean{runner_up}, with no significant difference from {level}{untested}."
    return f"Best with {number(fact.records[0])} records", text


def _sizes(best: Sequence[Fact], corpus: Corpus, titles: Titles) -> Said | None:
    """The smaller sizes; where fewer methods are ranked than at the largest, how many."""
    smaller = best[:-1]
    if not smaller:
        return None
    ranked: list[int] = []
    by_leader: dict[str, list[str]] = {}
    alone: dict[tuple[str, ...], list[str]] = {}
    for fact in smaller:
        size = number(fact.records[0])
        if fact.outcome == "alone":
            alone.setdefault(fact.methods, []).append(size)
        else:
            ranked.append(len(corpus.at(corpus.metric, fact.records[0])))
            by_leader.setdefault(titles.all(fact.methods) if fact.outcome == "better" else "", []).append(size)
    undecided = by_leader.pop("", [])
    single = sorted({name for fact in smaller for name in fact.single})
    leaders = [f"{leader} with {listed(sizes)}" for leader, sizes in by_leader.items()]
    parts = [f"significantly best is {', '.join(leaders)}"] if leaders else []
    if undecided and leaders:
        parts.append(f"with {listed(undecided)} none is")
    elif undecided:
        parts.append("no method is significantly best" + (f" with {listed(undecided)}" if alone else ""))
    if single and parts:
        parts[0] = f"of methods with repeated runs ({titles.all(single)}: single runs, not tested), {parts[0]}"
    most = len(corpus.at(corpus.metric, best[-1].records[0]))
    if parts and ranked and min(ranked) < most:
        ends = " to ".join(str(count) for count in sorted({min(ranked), max(ranked)}))
        parts[-1] += f" ({ends} methods ranked)"
    for methods, sizes in alone.items():
        parts.append(f"with {listed(sizes)} {f'only {titles.all(methods)}' if methods else 'none'} is ranked")
    return "With fewer records", f"{'; '.join(parts)}.", smaller


def _baseline(outcomes: Sequence[Fact], metric: str, titles: Titles) -> Said | None:
    """The methods that beat the best untrained baseline, and those that do not."""
    here = sorted((fact for fact in outcomes if fact.metric == metric), key=lambda fact: -fact.effect.value)  # type: ignore[union-attr]
    if not here:
        return None
    name = titles[here[0].against[0]]
    head = f"Against {name}, the best baseline mean"
    groups = {outcome: [fact for fact in here if fact.outcome == outcome] for outcome in _OUTCOMES}
    better = groups["better"]
    if better:
        first = f"{titles.all([fact.methods[0] for fact in better])} {_is(better)} significantly better"
        whose = f"{titles[better[0].methods[0]]} " if len(better) > 1 else ""
        first += f" ({whose}by {interval(better[0].effect)} {metric})"
    elif not (groups["no significant difference"] or groups["worse"]):
        return head, "single runs, not tested.", outcomes
    else:
        first = "no trained method is significantly better"
    words = {"no significant difference": "no significant difference for", "worse": "significantly worse: "}
    parts = [first]
    for outcome, say in words.items():
        if groups[outcome]:
            parts.append(f"{say} {titles.all([fact.methods[0] for fact in groups[outcome]])}".replace("  ", " "))
    return head, f"{'; '.join(parts)}.", outcomes


def _by_others(outcomes: Sequence[Fact], metrics: Sequence[str], titles: Titles) -> Said | None:
    """Which outcomes of the first metric others do not have: who is best at a size, and turns at a baseline."""
    if not metrics:
        return None
    best, behind = _best_by_others([fact for fact in outcomes if fact.question == "best"], metrics, titles)
    turns, turned = _turned_at_baseline([fact for fact in outcomes if fact.question == "baseline"], metrics, titles)
    parts = [*best, *turns]
    return ("Depends on the metric", f"{'; '.join(parts)}.", [*behind, *turned]) if parts else None


def _best_by_others(outcomes: Sequence[Fact], metrics: Sequence[str], titles: Titles) -> tuple[list[str], list[Fact]]:
    """A part for every size at which other metrics find another best, at the largest also none; and their facts."""

    def best(fact: Fact) -> str:
        """Who is significantly best; empty where that was not tested."""
        if fact.outcome == "better":
            return titles.all(fact.methods)
        return "none" if fact.outcome == "no significant difference" else ""

    parts, behind = list[str](), list[Fact]()
    largest = max((fact.records for fact in outcomes), default=())
    for own in (fact for fact in outcomes if fact.metric == metrics[0]):
        others: dict[str, list[str]] = {}  # metrics, by whom they find best
        for fact in outcomes:
            other = fact.metric in metrics[1:] and fact.records == own.records and best(fact) != best(own)
            if other and best(own) and best(fact) and (best(fact) != "none" or own.records == largest):
                others.setdefault(best(fact), []).append(fact.metric)
                behind.append(fact)
        if others:
            theirs = ", ".join(f"{method} by {listed(names)}" for method, names in others.items())
            records, is_best = ("", "") if parts else (" records", " is significantly best")
            parts.append(f"with {number(own.records[0])}{records} {best(own)}{is_best} by {own.metric}, {theirs}")
    return parts, behind


def _turned_at_baseline(
    outcomes: Sequence[Fact], metrics: Sequence[str], titles: Titles
) -> tuple[list[str], list[Fact]]:
    """A part for methods that the first metric has significantly on one side of the baseline, others on the other."""
    by_first = {(fact.methods, fact.records): fact for fact in outcomes if fact.metric == metrics[0]}
    turned, behind = dict[Fact, list[str]](), list[Fact]()
    for fact in outcomes:
        own = by_first.get((fact.methods, fact.records))
        if own and fact.metric in metrics[1:] and {fact.outcome, own.outcome} == {"better", "worse"}:
            turned.setdefault(own, []).append(fact.metric)
            behind.append(fact)
    by_methods: dict[tuple[str, Outcome, str], list[str]] = {}
    for own, names in turned.items():
        by_methods.setdefault((titles[own.against[0]], own.outcome, listed(names)), []).append(own.methods[0])
    parts = []
    for (baseline, outcome, others), methods in by_methods.items():
        ours = f"{titles.all(methods)} {_is(methods)} significantly {outcome} by {metrics[0]}"
        parts.append(f"against {baseline} {ours}, {'worse' if outcome == 'better' else 'better'} by {others}")
    return parts, behind


_OUTCOMES = ("better", "no significant difference", "worse", "single run", "not tested")


def _is(several: Sequence[object]) -> str:
    return "are" if len(several) > 1 else "is"


def _single_runs(methods: Sequence[str]) -> str:
    return "are single runs" if len(methods) > 1 else "is a single run"


def _doubling(outcomes: Sequence[Fact], metric: str, titles: Titles) -> Said | None:
    if not outcomes:
        return None
    if outcomes[0].outcome == "measured":
        ordered = sorted(outcomes, key=lambda fact: -fact.effect.value)  # type: ignore[union-attr]
        shown = [fact for fact in ordered if fact.effect and (fact.effect.low is None or fact.effect.low > 0)]
        unshown = [titles[fact.methods[0]] for fact in ordered if fact not in shown]
        least = min(fact.records[0] for fact in ordered)
        gains = [
            f"{number(fact.effect.value, 1)} for {titles[fact.methods[0]]}"  # type: ignore[union-attr]
            + (f" (from {number(fact.records[0])})" if fact.records[0] > least else "")
            for fact in shown
        ]
        rise = f"{metric} rises by {listed(gains[: NAMED + 1])}" if gains else f"{metric} is not shown to rise"
        text = f"{rise}, on average from {number(least)} to {number(ordered[0].records[1])} records"
        text += f"; not shown for {listed(unshown)}." if gains and unshown else "."
        return "Twice the records", text, outcomes
    shown = [fact for fact in outcomes if fact.outcome == "better"]
    cases = [
        f"{titles[fact.methods[0]]} ({number(fact.records[0])} to {number(2 * fact.records[0])})" for fact in shown
    ]
    worth = outcomes[0].note
    if not cases:
        return "Twice the records", f"in none of {len(outcomes)} cases shown to add {worth} {metric}.", outcomes
    cases_left = f"not shown in {len(outcomes) - len(shown)} other cases"
    text = f"shown to add {worth} {metric} or more to {listed(cases)}; {cases_left}."
    return "Twice the records", text, outcomes


def _needed(outcomes: Sequence[Fact], metric: str, titles: Titles) -> Said | None:
    """The nearest method that is behind."""
    if not outcomes:
        return None
    fact = outcomes[0]
    few, size = fact.records
    effect = fact.effect
    percent = Effect(100 * effect.value, *(end and 100 * end for end in (effect.low, effect.high))) if effect else None
    with_few = f"{'at most ' if fact.note else ''}{number(few)} records"
    text = (
        f"{titles[fact.methods[0]]} reaches with {with_few} the {metric} that "
        f"{titles[fact.against[0]]} has with {number(size)} ({interval(percent, 0)} % of them)."
    )
    return "Records needed", text, outcomes


def _source(outcomes: Sequence[Fact], titles: Titles) -> Said | None:
    if not outcomes:
        return None
    always = [fact.methods[0] for fact in outcomes if fact.note]
    parts = [f"{titles.all(always)} at every size"] if always else []
    by_sizes: dict[tuple[int, ...], list[str]] = {}
    for fact in outcomes:
        if not fact.note:
            by_sizes.setdefault(fact.records, []).append(fact.methods[0])
    for sizes, methods in by_sizes.items():
        parts.append(f"{titles.all(methods)} with {listed([number(size) for size in sizes])} records")
    return NOT_READING, f"{unshown(outcomes)}: {'; '.join(parts)}. Not ranked there.", outcomes


def unshown(outcomes: Sequence[Fact]) -> str:
    """What it means that a method is not shown to read its source, by the facts of `facts.source`."""
    if all(fact.effect for fact in outcomes):
        return (
            f"references are not shown to be likelier, by {READS:g} nats a word, with their source than with another's"
        )
    return "summaries are not shown to be nearer to their reference than to another's"


def _template(outcomes: Sequence[Fact], titles: Titles) -> Said | None:
    if not outcomes:
        return None
    worst = max(outcomes, key=lambda fact: (fact.records, fact.effect.value if fact.effect else 0))
    others = [fact.methods[0] for fact in outcomes if fact.methods != worst.methods]
    text = (
        f"{titles[worst.methods[0]]} with {number(worst.records[0])} records fills a single one in "
        f"{interval(worst.effect, 0)} % of its summaries"
    )
    text += f" (references: {number(float(worst.note), 0)} %)" if worst.note else ""
    text += f"; {titles.all(others)} in most of theirs at some size" if others else ""
    return "Sentence template", f"{text}.", outcomes


def _beyond(outcomes: Sequence[Fact], titles: Titles) -> Said | None:
    decided = [fact for fact in outcomes if fact.outcome == "better"]
    if not decided:
        return None
    pairs = [f"{titles[fact.methods[0]]} ahead of {titles[fact.against[0]]}" for fact in decided]
    least = min(fact.effect.value for fact in decided if fact.effect)
    text = (
        f"by extrapolation to {number(decided[0].records[1])} records {listed(pairs[:NAMED])} "
        f"(probability {min(round(least, 2), 0.99) if len(pairs) == 1 else math.floor(100 * least) / 100:.2f}"
        f"{'' if len(pairs) == 1 else ' or more'})"
    )
    unknown = [titles[name] for name in decided[0].note.split()]
    text += f"; no fit: {listed(unknown)}." if unknown else "."
    return "Beyond the data", text, outcomes


def _own_searches(outcomes: Sequence[Fact], titles: Titles) -> Said | None:
    """The largest difference between methods that are each decoded by their papers' search."""
    tested = [fact for fact in outcomes if fact.outcome not in ("single run", "not tested") and fact.effect]
    if not tested:
        return None
    shown = [fact for fact in tested if fact.outcome != "no significant difference"]
    fact = max(shown or tested, key=lambda fact: abs(fact.effect.value) if fact.effect else 0)
    pair = f"{titles[fact.methods[0]]} minus {titles[fact.against[0]]} is {interval(fact.effect)} {fact.metric}"
    differ = f"{len(shown)} of {len(tested)} pairs differ significantly" if shown else "no two differ significantly"
    return "Each by its paper's search", f"{differ}; {pair}, the most.", outcomes


def _phases(outcomes: Sequence[Fact], metric: str, titles: Titles) -> Said | None:
    shown = [fact for fact in outcomes if fact.outcome in ("better", "worse")]
    if not outcomes:
        return None
    single = [fact for fact in outcomes if fact.outcome == "single run"]
    tested = [fact for fact in outcomes if fact not in single]
    if not shown and not tested:
        return "Last phases", f"{_by_phase(single, titles)}: {_not_tested(single)}.", outcomes
    fact = (shown or sorted(tested, key=lambda fact: -abs(fact.effect.value if fact.effect else 0)))[0]
    if not shown:
        text = f"no significant change of {metric} against as many updates without the phase"
        text += f": {_by_phase(tested, titles)} (at most {interval(fact.effect)})"
        text += f"; {_by_phase(single, titles)}: {_not_tested(single)}" if single else ""
        return "Last phases", f"{text}.", outcomes
    text = (
        f"{fact.note} changes {titles[fact.methods[0]]} by {interval(fact.effect, 2)} {metric} "
        f"(significantly {fact.outcome} than as many updates without it)."
    )
    return "Last phases", text, outcomes


def _by_phase(outcomes: Sequence[Fact], titles: Titles) -> str:
    return listed([f"{titles[fact.methods[0]]} by phase {fact.note}" for fact in outcomes[:NAMED]])


def _not_tested(outcomes: Sequence[Fact]) -> str:
    return "single runs, not tested" if len(outcomes) > 1 else "a single run, not tested"


def _equivalence(outcomes: Sequence[Fact], titles: Titles) -> Said | None:
    if not outcomes:
        return None
    margin = outcomes[0].note.partition(", ")[0]
    verdicts = [fact.note.partition(", ")[2] for fact in outcomes]
    words = {verdict: "open" if verdict == "not known" else verdict for verdict in dict.fromkeys(verdicts)}
    parts = [f"{word} in {verdicts.count(verdict)} of {len(outcomes)} cases" for verdict, word in words.items()]
    nearest = outcomes[-1]
    pair = " minus ".join(titles[name] for name in nearest.methods)
    difference = f"{interval(nearest.effect)} {nearest.metric}"
    rule = f"equal: the 95 % interval of the difference is within ±{margin}; different: it is beyond"
    text = f"{', '.join(parts)} ({rule}); with {number(nearest.records[0])} records {pair} is {difference}."
    return f"Equal to within {margin} {outcomes[0].metric}", text, outcomes


def _untrained(outcomes: Sequence[Fact], titles: Titles) -> Said | None:
    if not outcomes:
        return None
    fact = outcomes[0]
    return (
        "Without training",
        f"the highest mean is that of {titles[fact.methods[0]]}: {interval(fact.effect)} {fact.metric}.",
        outcomes,
    )
