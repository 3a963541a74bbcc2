"""APES of every system: Tables 3 and 4 of Eyal, Baumel and Elhadad (2019) for any corpus, with intervals over readers.

The score is the share of all questions ("micro"). As a ratio of sums it varies by what each item adds to right answers
beyond its share of the questions, which is what its interval is made of: over groups of items, seeds of a training, and
readers.
"""

import re
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sumcurve.capabilities.apes.evidence import questions_of
from sumcurve.capabilities.apes.levels import SCORER, SHARE, right_of, share_of
from sumcurve.statistics.coefficients import coefficient
from sumcurve.statistics.design import Design, common_seeds
from sumcurve.statistics.family import Tested, family
from sumcurve.statistics.intervals import Estimate, estimate
from sumcurve.tables.evidence import ScoredOutput
from sumcurve.tables.results import (
    DECIDING,
    LEVEL,
    NOT_TO_BE_READ,
    UNREAD,
    Results,
    System,
    value,
)
from sumcurve.tables.table import Column, Name, Table, Value, number, span

Array = NDArray[np.float64]
BESIDE = ("rouge1", "rouge2", "rougeLsum")  # of the study's metrics
ORDER = ("gold", "source", "lead", "shuffled-gold")  # as a measure of content has them, the best first
ABOVE, BELOW, NOT_SHOWN = "above", "below", "not shown"
BOUND = " (a bound)"
GOLD_POSITIONS = re.compile(r"\+entity[\d.]+-gold")  # in a search's signature: it is told where salient entities stand


def asked(results: Results, corpus: str) -> list[System]:
    """The systems of a corpus whose summaries were asked, then methods under their papers' searches, bounds last."""
    papers = [replace(one, method=_of_paper(one)) for one in results.paper if one.corpus == corpus]
    papers.sort(key=lambda one: one.method.endswith(BOUND))
    return [one for one in (*results.of(corpus), *papers) if SCORER in one.outputs[0].scores]


def _of_paper(system: System) -> str:
    """A method's name under its paper's search; one that is told in search where the answers stand is a bound."""
    bound = GOLD_POSITIONS.search(system.outputs[0].search_signature)
    return f"{system.method}, paper's search" + (BOUND if bound else "")


def _estimate(results: Results, system: System, metric: str) -> Estimate:
    """A system's mean score as all tables have it; those under papers' searches make a design of their own."""
    if system.outputs[0].search != "paper":
        return results.estimate(system.corpus, metric, system.cell)

    def make() -> Design:
        here = [one for one in asked(results, system.corpus) if one.outputs[0].search == "paper"]
        kept, _ = common_seeds([results.replicates(one, metric) for one in here])
        groups = here[0].scored(results.scorer(metric))[0].groups
        return Design(kept, groups, results.full_records(system.corpus), results.settings.confidence)

    design = results.once(f"papers' searches {system.corpus} {metric}", make)
    return results.within(metric, estimate(design, system.cell))


def scores_of(results: Results, system: System) -> tuple[Estimate, dict[str, float]]:
    """The share of questions with its interval, and that of every reader by its seed, mean over trainings."""
    items = system.scored(SCORER)
    by_reader = np.mean([share_of(one)[1] for one in items], axis=0).tolist()
    return _estimate(results, system, SHARE), dict(zip(right_of(items[0])[0], by_reader, strict=True))


def order(results: Results, corpus: str) -> list[tuple[Tested, str]]:
    """Every two neighbours of `ORDER` that a corpus has, one family of tests, and what each says."""
    here = {one.method: one for one in asked(results, corpus) if one.method in ORDER}
    design = results.design(corpus, SHARE) if len(here) > 1 else None
    if design is None:
        return []
    pairs = list(pairwise(here[name].cell for name in ORDER if name in here))
    found = family(design, pairs, seed=results.settings.seed, level=LEVEL).tests
    unread = bool(results.unread(corpus, SHARE))
    return [(one, _says(one, unread)) for one in found]


def _says(one: Tested, unread: bool) -> str:
    if unread:
        return NOT_TO_BE_READ
    if one.p_family is None or one.p_family >= LEVEL:
        return NOT_SHOWN
    return ABOVE if one.difference.mean > 0 else BELOW


def order_told(results: Results, corpus: str) -> list[str]:
    """Whether gold, source, lead and shuffled gold stand as a measure of content has them, and where not, why."""
    rows = order(results, corpus)
    if not rows:
        return []
    told = [
        f"{one.first[0]} minus {one.second[0]} is {span(one.difference.mean, *(one.interval or (None, None)))}"
        + ("" if says == NOT_TO_BE_READ else f" ({says})")
        for one, says in rows
    ]
    wrong = [one for one, says in rows if says != ABOVE]
    verdict = "is not shown" if wrong else "is shown"
    if results.unread(corpus, SHARE):
        verdict = f"is {NOT_TO_BE_READ}{UNREAD}"
    names = [rows[0][0].first[0], *(one.second[0] for one, _ in rows)]
    said = [f"The order {' > '.join(names)} {verdict}: {'; '.join(told)}. In brackets {DECIDING}"]
    if wrong:
        here = {one.method: one for one in asked(results, corpus)}
        names = list(dict.fromkeys(name for one in wrong for name, _ in (one.first, one.second)))
        shares = [f"{name} {number(_mean(here[name], 'apes_named'), 1)} %" for name in names]
        entities = [f"{name} {number(_mean(here[name], 'apes_entities'))}" for name in names]
        said.append(
            "A reader can answer only what a summary names, and guesses among it: of the questions the answer is "
            f"named by {', '.join(shares)}; entities that a summary names: {', '.join(entities)}."
        )
    return said


def _mean(system: System, metric: str) -> float:
    return float(np.mean([_values(output, metric).mean() for output in system.outputs]))


def agreement(results: Results, corpus: str) -> dict[tuple[str, str], float]:
    """Kendall's τ of the order in which every two readers put the systems of a corpus.

    Fewer than three systems have none, nor has a reader to whom all are alike.
    """
    by_reader = [scores_of(results, one)[1] for one in asked(results, corpus)]
    if len(by_reader) < 3:
        return {}
    columns = {seed: np.array([one[seed] for one in by_reader]) for seed in by_reader[0]}
    found = {
        (first, second): coefficient(columns[first], columns[second], "kendall")
        for first, second in combinations(columns, 2)
    }
    return {pair: value for pair, value in found.items() if value is not None}


def table(results: Results) -> Table:
    """A row for every system and size of the corpora that have questions."""
    rows = []
    for corpus in results.corpora:
        rows += [_row(results, system) for system in asked(results, corpus)]
    known = {one.name: one for one in results.metrics}
    columns = [
        Column("corpus", "corpus"),
        Column("method", "method"),
        Column("search", None),
        Column("percent", "%", "count"),
        Column("records", "records", "count"),
        Column("apes", "APES", "number", 2, interval=True),
        *(Column(name, known[name].title, "number", 2) for name in BESIDE if name in known),
        Column("named", "answer named (%)", "number", 1),
        Column("entities", "entities", "number", 2),
        Column("salient", "salient", "number", 2),
        Column("documents", "by document", "number", 2),
        Column("readers_sd", "SD of readers", "number", 2),
        Column("perfect", "all answered (%)", "number", 1),
        Column("perfect_entities", "their entities", "number", 2),
        Column("none", "none answered (%)", "number", 1),
        Column("none_entities", "their entities", "number", 2),
        Column("interval_covers", None),
    ]
    notes = [
        *(one.sentence() for one in questions_of(results).reader_levels(results).values()),
        *(f"{corpus}: {said}" for corpus in results.corpora for said in order_told(results, corpus)),
        *_counted(results),
        *_agreed(results),
        "APES: the share of all questions that a reader of the summary answers, in %, mean over readers, with "
        f"{results.share} intervals over groups of items, seeds of the training where there are several, and readers. "
        "By document: the mean over references of the share of each. Entities: distinct ones of the reference and the "
        "source that a summary names; salient: of them those that are answers. Answer named: the questions whose "
        "answer the summary names, which no reader exceeds. Their entities: the mean number of entities in summaries "
        "of which all questions, or none, are answered.",
        results.marks_note,
        *(f"{corpus}: {name}" for corpus, name in _signatures(results).items()),
    ]
    caption = results.title("What the summaries answer: questions about their references (APES)")
    return Table("apes", caption, columns, rows, notes)


def _row(results: Results, system: System) -> dict[str, Any]:
    found, by_reader = scores_of(results, system)
    mark = UNREAD if results.unread(system.corpus, SCORER) else ""
    row: dict[str, Any] = {
        "corpus": system.corpus,
        "method": _named(results, system),
        "search": system.outputs[0].search,
        "percent": system.percent,
        "records": system.records,
        "apes": Value(found.mean, found.low, found.high, why=found.why, mark=mark),
        "readers_sd": float(np.std(list(by_reader.values()), ddof=1)) if len(by_reader) > 1 else None,
        "interval_covers": found.covers if found.low is not None else None,
    }
    for name in BESIDE:
        if any(one.name == name for one in results.metrics) and results.scorer(name) in system.outputs[0].scores:
            row[name] = value(_estimate(results, system, name))
    names = {
        "documents": "apes_documents",
        "named": "apes_named",
        "entities": "apes_entities",
        "salient": "apes_salient",
    }
    names |= {"perfect": "apes_perfect", "none": "apes_none"}
    for column, name in names.items():
        row[column] = _mean(system, name)
    for column in ("perfect", "none"):
        weights = np.concatenate([_values(output, f"apes_{column}") for output in system.outputs])
        entities = np.concatenate([_values(output, "apes_entities") for output in system.outputs])
        row[f"{column}_entities"] = float(np.average(entities, weights=weights)) if weights.any() else None
    return row


def _values(output: ScoredOutput, metric: str) -> Array:
    items = output.scores[SCORER]
    return items.values[[one.name for one in items.metrics].index(metric)]


def _counted(results: Results) -> list[str]:
    """How much is asked of each corpus, and how many summaries are asked nothing because they name nobody."""
    lines = []
    for corpus in results.corpora:
        here = asked(results, corpus)
        if not here:
            continue
        counts = here[0].outputs[0].scores[SCORER].counts
        references = len(here[0].outputs[0].scores[SCORER].ids)
        told = [output.scores[SCORER].counts for one in here for output in one.outputs]
        empty, silent = (sum(int(one[name]) for one in told) for name in ("empty", "without_entity"))
        lines.append(
            f"{corpus}: {number(int(counts['questions']))} questions about {number(references)} references; "
            f"{number(int(counts['not_asked']))} others have fewer than two entities and are not asked about. Of "
            f"{number(references * len(told))} summaries {number(silent)} name no entity and score 0 unasked, "
            f"{number(empty)} of them empty."
        )
    return lines


def _agreed(results: Results) -> list[str]:
    lines = []
    for corpus in results.corpora:
        found = agreement(results, corpus) if asked(results, corpus) else {}
        if found:
            told = ", ".join(f"{number(one, 2)} ({first} and {second})" for (first, second), one in found.items())
            lines.append(f"{corpus}: Kendall's τ of the systems' order between readers: {told}.")
    return lines


def _signatures(results: Results) -> dict[str, str]:
    return {
        corpus: here[0].outputs[0].scores[SCORER].signature
        for corpus in results.corpora
        if (here := asked(results, corpus))
    }


def by_reader(results: Results) -> Table:
    """A row for every system, size and reader."""
    rows = [
        {
            "corpus": corpus,
            "method": _named(results, system),
            "search": system.outputs[0].search,
            "percent": system.percent,
            "records": system.records,
            "reader": seed,
            "apes": share,
        }
        for corpus in results.corpora
        for system in asked(results, corpus)
        for seed, share in scores_of(results, system)[1].items()
    ]
    columns = [
        Column("corpus", "corpus"),
        Column("method", "method"),
        Column("search", None),
        Column("percent", "%", "count"),
        Column("records", "records", "count"),
        Column("reader", "reader"),
        Column("apes", "APES", "number", 2),
    ]
    return Table("apes_readers", results.title("APES by each reader"), columns, rows)


def _named(results: Results, system: System) -> Name:
    """What marks say is known of a method under the common search."""
    if system.outputs[0].search == "paper":
        return results.unasked(system.outputs[0].method, system.method)
    return results.name(system)
