"""The questions that a study asked before its test items were decoded, answered by what came out, or "not known".

Every question is a family of its own: of k answers each is given at a level of 5 % / k (Bonferroni).
"""

from typing import Any

from sumcurve.scores.scorer import Metric
from sumcurve.settings.study import Question
from sumcurve.tables.pairs import LEVEL
from sumcurve.tables.results import NO_MEASURE, Results, best_mean
from sumcurve.tables.table import Column, Table, Value, listed, number

YES, NO, NOT_KNOWN = "yes", "no", "not known"
UNASKED = "of what is trained and scored here nothing answers it"


def table(results: Results) -> Table:
    """A row for every answer: of which size (and method), what it is, by which number, and why it is not known."""
    columns = [
        Column("question", "question"),
        Column("corpus", "corpus"),
        Column("metric", "metric"),
        Column("records", "records", "count"),
        Column("method", "method"),
        Column("answer", "answer"),
        Column("value", "by", "number", results.decimals, interval=True),
        Column("unit", "unit"),
        Column("why", "because"),
    ]
    notes = [
        "Asked in the study's file before the first test item was decoded. An answer that the data do not give is "
        f'"{NOT_KNOWN}". Brackets: intervals at {100 * LEVEL:g} % over all answers to one question (Bonferroni), for '
        "methods by the tests of table comparisons, for pretraining by those of table pretraining.",
        *sentences(results),
        results.marks_note,
    ]
    return Table("questions", results.title("What the study asked"), columns, rows(results), notes)


def sentences(results: Results, corpus: str | None = None) -> list[str]:
    """Every question with its answers, in one paragraph each; those of one corpus where it is named.

    Sizes of which the same is to be said share an answer.
    """
    answers_of: dict[str, dict[tuple[str, str], list[str]]] = {}
    for row in rows(results):
        if corpus not in (None, row["corpus"]):
            continue
        method, why = row.get("method", ""), row.get("why", "")
        named = method and row["answer"] in (YES, NO, NOT_KNOWN) and not why.startswith(method)
        reply = f"{' ' * bool(named)}{method if named else ''}", f"{row['answer']}{f' ({why})' if why else ''}"
        sizes = answers_of.setdefault(row["question"], {}).setdefault(reply, [])
        sizes += [number(row["records"])] if row.get("records") else []
    told_of = {
        question: [f"{listed(sizes)}{who}: {reply}" if sizes else reply for (who, reply), sizes in answers.items()]
        for question, answers in answers_of.items()
    }
    return [f"{question} {'; '.join(answers)}." for question, answers in told_of.items()]


def rows(results: Results) -> list[dict[str, Any]]:
    """The answers, question by question."""
    return results.once(
        "questions", lambda: [row for question in results.study.questions for row in _answers(results, question)]
    )


def _answers(results: Results, question: Question) -> list[dict[str, Any]]:
    rows = []
    metric = next((ranked for ranked in results.ranking if ranked.name == question.metric), None)
    for corpus in results.corpora:
        if metric is None or (question.corpus not in (None, corpus)) or not results.sizes(corpus):
            continue
        facts = {"question": question.question, "corpus": corpus, "metric": metric.title}
        sizes = [size for size in results.sizes(corpus) if question.sizes is None or size in question.sizes]
        if results.unread(corpus, metric.name):
            why = f"{metric.title} is {NO_MEASURE} on {corpus}"
            rows += [facts | {"records": size, "answer": NOT_KNOWN, "why": why} for size in sizes]
            continue
        if question.asks == "method":
            rows += [facts | _which(results, corpus, metric, size) for size in sizes]
        elif question.asks == "doubling":
            rows += [facts | row for row in _doublings(results, question, corpus, metric, sizes)]
        else:
            for evidence in results.study.evidence.values():
                answers = evidence.question_rows(results, question.asks, corpus, metric, sizes)
                rows += [facts | dict(row) for row in answers]
    if not rows:
        corpora = [question.corpus] if question.corpus else results.corpora[:1]
        title = metric.title if metric else question.metric
        unasked: dict[str, Any] = {"question": question.question, "metric": title, "answer": NOT_KNOWN, "why": UNASKED}
        rows += [unasked | {"corpus": corpus} for corpus in corpora]
    return rows


def _which(results: Results, corpus: str, metric: Metric, size: int) -> dict[str, Any]:
    """The method that is ahead of every other at a size, by the tests of the size."""
    best, ahead = results.best(corpus, metric.name, size), results.ahead(corpus, metric.name, size)
    if best is None:
        return {"records": size, "answer": NOT_KNOWN, "why": "no method is shown to read its source"}
    mean = results.estimate(corpus, metric.name, best)
    row: dict[str, Any] = {"records": size, "value": Value(mean.mean, mean.low, mean.high, decimals=metric.decimals)}
    row["unit"] = metric.unit
    if ahead is not None:
        return row | {"method": ahead[0], "answer": ahead[0]}
    sharing, placed = results.sharing(corpus, metric.name, size), results.placed(corpus, metric.name, size)
    others = [cell for cell in placed if cell != best]
    if not others:
        return row | {
            "method": best[0],
            "answer": NOT_KNOWN,
            "why": f"{results.title_of(best[0])} is the only method to be compared",
        }
    named = ", ".join(cell[0] for cell in sharing)
    shared = [results.title_of(cell[0]) for cell in sharing]
    if len(sharing) == len(placed):
        return row | {"method": named, "answer": NOT_KNOWN, "why": f"{', '.join(shared)} have the same mean"}
    pairs = [(cell, results.pair(corpus, metric.name, size, best, cell)) for cell in others if cell not in sharing]
    level = [results.title_of(cell[0]) for cell, pair in pairs if pair.ahead == ""]
    beaten = [results.title_of(cell[0]) for cell, pair in pairs if pair.ahead == best]
    untested: dict[str, list[str]] = {}
    for cell, pair in pairs:
        if pair.ahead is None:
            untested.setdefault(pair.why, []).append(results.title_of(cell[0]))
    parts = [f"ahead of {listed(beaten)}"] if beaten else []
    parts += [f"not distinguishable from {listed(level)}"] if level else []
    parts += [f"not tested against {listed(names)} ({unknown})" for unknown, names in untested.items()]
    why = ", ".join([best_mean(shared), *parts])
    return row | {"method": named, "answer": NOT_KNOWN, "why": why}


def _doublings(
    results: Results, question: Question, corpus: str, metric: Metric, sizes: list[int]
) -> list[dict[str, Any]]:
    """Whether twice the records add at least what the question calls worth it, of each method and size."""
    assert question.worth is not None
    tests = [
        (method, size)
        for method in results.methods(corpus)
        if question.methods is None or method in question.methods
        for size in sizes
        if 2 * size in results.sizes(corpus, method) and size in results.sizes(corpus, method)
    ]
    rows = []
    for method, size in tests:
        cells = [
            next(system for system in results.of(corpus, True, metric.name) if system.cell == (method, records))
            for records in (size, 2 * size)
        ]
        row: dict[str, Any] = {
            "records": size,
            "method": method,
            "unit": f"{metric.unit}; worth it: {question.worth:g}",
        }
        if unranked := [
            left_out for system in cells if (left_out := results.unranked(corpus, metric.name, system.cell))
        ]:
            rows.append(row | {"answer": NOT_KNOWN, "why": unranked[0].why})
            continue
        if not all(map(results.counts, cells)):
            rows.append(row | {"answer": NOT_KNOWN, "why": "it is not shown to read its source at both sizes"})
            continue
        if any(results.kind(corpus, metric.name, system.cell) != "replicated" for system in cells):
            rows.append(row | {"answer": NOT_KNOWN, "why": "one seed"})
            continue
        sign = results.sign(metric.name)
        gain = results.contrast(corpus, metric.name, {cells[1].cell: sign, cells[0].cell: -sign})
        ends = gain.interval(LEVEL / len(tests))
        if ends is None:
            rows.append(row | {"answer": NOT_KNOWN, "value": Value(gain.mean), "why": gain.why})
            continue
        low, high = ends
        answer = YES if low >= question.worth else NO if high < question.worth else NOT_KNOWN
        why = "" if answer != NOT_KNOWN else f"{number(low, metric.decimals)} to {number(high, metric.decimals)}"
        rows.append(
            row | {"answer": answer, "value": Value(gain.mean, low, high, decimals=metric.decimals), "why": why}
        )
    return rows
