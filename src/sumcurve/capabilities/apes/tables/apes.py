"""APES of every system: Tables 3 and 4 of Eyal, Baumel and Elhadad (2019) for any corpus, with intervals over readers.

The score is the share of all questions ("micro"). As a ratio of sums it varies by each item's right answers beyond its
share of the questions; its interval is computed from these, over groups of items, training seeds, and readers.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sumcurve.capabilities.apes.answered import OVERLAP
from sumcurve.capabilities.apes.evidence import questions_of
from sumcurve.capabilities.apes.levels import BY_OVERLAP, SCORER, SHARE, right_of, share_of
from sumcurve.statistics.coefficients import coefficient
from sumcurve.statistics.design import Design
from sumcurve.statistics.family import Tested, family
from sumcurve.statistics.intervals import Estimate, estimate
from sumcurve.tables.columns import shared
from sumcurve.tables.pairs import DECIDING, LEVEL
from sumcurve.tables.results import NO_MEASURE, UNREAD, Results, value
from sumcurve.tables.systems import System
from sumcurve.tables.table import Column, Name, Table, Value, number, span

Array = NDArray[np.float64]
BESIDE = ("rouge1", "rouge2", "rougeLsum")  # of the study's metrics
ORDER = ("gold", "source", "lead", "shuffled-gold")  # as a measure of content has them, the best first
WORD_OVERLAP = "word overlap"  # as a reader
READER = "reader_"  # followed by a reader's seed: the column of its own share
ABOVE, BELOW, NOT_SHOWN = "above", "below", "not shown"
BOUND = " (a bound)"
GOLD_POSITIONS = re.compile(r"\+entity[\d.]+-gold")  # in a search's signature: it uses the places of salient entities


def systems_asked(results: Results, corpus: str) -> list[System]:
    """The systems of a corpus whose summaries were scored, then methods under their papers' searches, bounds last."""
    papers = [replace(system, method=_of_paper(system)) for system in results.paper if system.corpus == corpus]
    papers.sort(key=lambda system: system.method.endswith(BOUND))
    return [system for system in (*results.of(corpus), *papers) if SCORER in system.outputs[0].scores]


def _of_paper(system: System) -> str:
    """A method's name under its paper's search; a method whose search uses the places of answers is a bound."""
    bound = GOLD_POSITIONS.search(system.outputs[0].search_signature)
    return f"{system.method}, paper's search" + (BOUND if bound else "")


def _estimate(results: Results, system: System, metric: str) -> Estimate:
    """A system's mean score as in all tables; those under papers' searches form a design of their own."""
    if system.outputs[0].search != "paper":
        return results.estimate(system.corpus, metric, system.cell)

    def make() -> Design:
        here = [paper for paper in systems_asked(results, system.corpus) if paper.outputs[0].search == "paper"]
        return results.design_of(here, metric)

    design = results.once(f"papers' searches {system.corpus} {metric}", make)
    return results.within(metric, estimate(design, system.cell))


def scores_of(results: Results, system: System) -> tuple[Estimate, dict[str, float]]:
    """The share of questions with its interval, and that of every reader by its seed, mean over trainings."""
    items = system.scored(SCORER)
    by_reader = np.mean([share_of(scored)[1] for scored in items], axis=0).tolist()
    return _estimate(results, system, SHARE), dict(zip(right_of(items[0])[0], by_reader, strict=True))


def overlap_of(system: System) -> dict[str, float]:
    """The share of all questions that word overlap answers, in %, mean over trainings; empty where not computed."""
    shares = [share_of(items, BY_OVERLAP)[1] for items in system.scored(SCORER) if OVERLAP in items.details]
    return {WORD_OVERLAP: float(np.mean(shares))} if shares else {}


def order(results: Results, corpus: str, metric: str = SHARE) -> list[tuple[Tested, str]]:
    """Every two neighbours of `ORDER` that a corpus has, as one family of tests, and the result of each.

    Gold is the second reference, or a later one, where there is one: the questions are about the first.
    """
    systems = [system for system in systems_asked(results, corpus) if metric == SHARE or overlap_of(system)]
    here = {system.method: system for system in systems if system.method in ORDER}
    others = [system for system in systems if (system.own_reference or 0) > 1]
    if others:
        here[ORDER[0]] = min(others, key=lambda system: system.own_reference or 0)
    design = results.design(corpus, metric) if len(here) > 1 else None
    if design is None:
        return []
    pairs = list(pairwise(here[name].cell for name in ORDER if name in here))
    tests = family(design, pairs, seed=results.settings.seed, level=LEVEL).tests
    unread = metric == SHARE and bool(results.unread(corpus, SHARE))
    return [(tested, _says(tested, unread)) for tested in tests]


def _says(tested: Tested, unread: bool) -> str:
    if unread:
        return NO_MEASURE
    if tested.p_family is None or tested.p_family >= LEVEL:
        return NOT_SHOWN
    return ABOVE if tested.difference.mean > 0 else BELOW


def order_sentences(results: Results, corpus: str) -> list[str]:
    """Tell whether gold, source, lead and shuffled gold are ordered as a measure of content requires, and where
    not, why; and the same for word overlap, where it is computed.
    """
    rows = order(results, corpus)
    if not rows:
        return []
    sentences = [_verdict(results, corpus, SHARE, rows)]
    wrong = [tested for tested, says in rows if says != ABOVE]
    if wrong:
        here = {system.method: system for system in systems_asked(results, corpus)}
        names = list(dict.fromkeys(name for tested in wrong for name, _ in (tested.first, tested.second)))
        shares = [f"{name} {number(_mean(here[name], 'apes_named'), 1)} %" for name in names]
        entities = [f"{name} {number(_mean(here[name], 'apes_entities'))}" for name in names]
        sentences.append(
            "A reader can answer only what a summary names, and guesses among it: of the questions the answer is "
            f"named by {', '.join(shares)}; entities that a summary names: {', '.join(entities)}."
        )
    if by_overlap := order(results, corpus, BY_OVERLAP):
        sentences.append(_verdict(results, corpus, BY_OVERLAP, by_overlap))
    return sentences


def _verdict(results: Results, corpus: str, metric: str, rows: Sequence[tuple[Tested, str]]) -> str:
    """Tell whether an order is shown, with the differences of its neighbours."""
    differences = [
        f"{tested.first[0]} minus {tested.second[0]} is "
        + span(tested.difference.mean, *(tested.interval or (None, None)))
        + ("" if says == NO_MEASURE else f" ({says})")
        for tested, says in rows
    ]
    verdict = "is shown" if all(says == ABOVE for _, says in rows) else "is not shown"
    if metric == SHARE and results.unread(corpus, SHARE):
        verdict = f"rests on {NO_MEASURE}{UNREAD}"
    names = [rows[0][0].first[0], *(tested.second[0] for tested, _ in rows)]
    by = "" if metric == SHARE else f" by {WORD_OVERLAP}"
    return f"The order {' > '.join(names)}{by} {verdict}: {'; '.join(differences)}. In brackets {DECIDING}"


def _mean(system: System, metric: str) -> float:
    return float(np.mean([output.scores[SCORER].of(metric).mean() for output in system.outputs]))


def agreement(results: Results, corpus: str) -> dict[tuple[str, str], float]:
    """Kendall's τ of the order in which every two readers put the systems of a corpus.

    Fewer than three systems have none, nor has a reader with equal scores for all.
    """
    by_reader = [scores_of(results, system)[1] for system in systems_asked(results, corpus)]
    if len(by_reader) < 3:
        return {}
    columns = {seed: np.array([shares[seed] for shares in by_reader]) for seed in by_reader[0]}
    coefficients = {
        (first, second): coefficient(columns[first], columns[second], "kendall")
        for first, second in combinations(columns, 2)
    }
    return {pair: value for pair, value in coefficients.items() if value is not None}


def table(results: Results) -> Table:
    """A row for every system and size of the corpora that have questions."""
    rows = []
    for corpus in results.corpora:
        rows += [_row(results, system) for system in systems_asked(results, corpus)]
    known = {metric.name: metric for metric in results.metrics}
    seeds = {name.removeprefix(READER) for row in rows for name in row if name.startswith(READER)}
    columns = [
        *shared("corpus", "method"),
        *shared("search", shown=False),
        *shared("percent", "records"),
        Column("apes", "APES", "number", 2, interval=True),
        *(Column(name, known[name].title, "number", 2) for name in BESIDE if name in known),
        Column("named", "answer named (%)", "number", 1),
        *([Column("overlap", "by word overlap", "number", 2)] if any("overlap" in row for row in rows) else []),
        Column("entities", "entities", "number", 2),
        Column("salient", "salient", "number", 2),
        Column("documents", "by document", "number", 2),
        Column("readers_sd", "SD of readers", "number", 2),
        Column("perfect", "all answered (%)", "number", 1),
        Column("perfect_entities", "their entities", "number", 2),
        Column("none", "none answered (%)", "number", 1),
        Column("none_entities", "their entities", "number", 2),
        *shared("interval_covers", shown=False),
        *(Column(f"{READER}{seed}", None, "number", 2) for seed in sorted(seeds, key=int)),
    ]
    notes = [
        *(level.sentence() for level in questions_of(results).reader_levels(results.corpora).values()),
        *(f"{corpus}: {sentence}" for corpus in results.corpora for sentence in order_sentences(results, corpus)),
        *_counted(results),
        *_agreed(results),
        f"In brackets: {results.share} intervals over groups of items, seeds of the training, and readers.",
        results.notes.marks,
        *(f"{corpus}: {name}" for corpus, name in _signatures(results).items()),
    ]
    caption = results.title("What the summaries answer: questions about their references (APES)")
    return Table("apes", caption, columns, rows, notes)


def _row(results: Results, system: System) -> dict[str, Any]:
    share, by_reader = scores_of(results, system)
    mark = UNREAD if results.unread(system.corpus, SCORER) else ""
    row: dict[str, Any] = {
        "corpus": system.corpus,
        "method": named(results, system),
        "search": system.outputs[0].search,
        "percent": system.percent,
        "records": system.records,
        "apes": Value(share.mean, share.low, share.high, why=share.why, mark=mark),
        "readers_sd": float(np.std(list(by_reader.values()), ddof=1)) if len(by_reader) > 1 else None,
        "interval_covers": share.covers if share.low is not None else None,
        **{f"{READER}{seed}": own for seed, own in by_reader.items()},
    }
    for name in BESIDE:
        if any(metric.name == name for metric in results.metrics) and results.scorer(name) in system.outputs[0].scores:
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
    if shares := overlap_of(system):
        row["overlap"] = shares[WORD_OVERLAP]
    for column in ("perfect", "none"):
        weights = np.concatenate([output.scores[SCORER].of(f"apes_{column}") for output in system.outputs])
        entities = np.concatenate([output.scores[SCORER].of("apes_entities") for output in system.outputs])
        row[f"{column}_entities"] = float(np.average(entities, weights=weights)) if weights.any() else None
    return row


def _counted(results: Results) -> list[str]:
    """Numbers of questions of each corpus, and of summaries that are not scored by a reader for lack of entities."""
    lines = []
    for corpus in results.corpora:
        here = systems_asked(results, corpus)
        if not here:
            continue
        counts = here[0].outputs[0].scores[SCORER].counts
        references = len(here[0].outputs[0].scores[SCORER].ids)
        of_outputs = [output.scores[SCORER].counts for system in here for output in system.outputs]
        empty, silent = (sum(int(of_output[name]) for of_output in of_outputs) for name in ("empty", "without_entity"))
        lines.append(
            f"{corpus}: {number(int(counts['questions']))} questions about {number(references)} references; "
            f"{number(int(counts['not_asked']))} others have fewer than two entities and are not asked about. Of "
            f"{number(references * len(of_outputs))} summaries {number(silent)} name no entity and score 0 unasked, "
            f"{number(empty)} of them empty."
        )
    return lines


def _agreed(results: Results) -> list[str]:
    lines = []
    for corpus in results.corpora:
        pairs = agreement(results, corpus)
        if pairs:
            taus = ", ".join(f"{number(tau, 2)} ({first} and {second})" for (first, second), tau in pairs.items())
            lines.append(f"{corpus}: Kendall's τ of the systems' order between readers: {taus}.")
    return lines


def _signatures(results: Results) -> dict[str, str]:
    return {
        corpus: here[0].outputs[0].scores[SCORER].signature
        for corpus in results.corpora
        if (here := systems_asked(results, corpus))
    }


def named(results: Results, system: System) -> Name:
    """Title of a method with its marks under the common search."""
    if system.outputs[0].search == "paper":
        method = system.outputs[0].method
        return results.unasked(method, results.title_of(method) + system.method.removeprefix(method))
    return results.name(system)
