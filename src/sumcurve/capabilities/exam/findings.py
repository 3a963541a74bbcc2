"""Findings about metrics without a passed validation on a corpus."""

from collections.abc import Iterator

from sumcurve.capabilities.exam.evidence import NOT_VALIDATED
from sumcurve.tables.report.facts import Corpus
from sumcurve.tables.report.findings import Finding, Titles
from sumcurve.tables.table import listed


def findings(corpus: Corpus, titles: Titles) -> Iterator[Finding]:
    """The metrics that failed, first if none ranks, and those that rank without a passed validation, with reasons."""
    failed: dict[str, list[str]] = {}
    ranking: dict[str, list[str]] = {}
    for row in corpus.rows("scores_long"):
        outcome, why = row.get("validation") or "", row.get("why") or ""
        if why.startswith(NOT_VALIDATED):
            _add(failed, why.removeprefix(f"{NOT_VALIDATED}: "), row["title"])
        elif outcome and not outcome.startswith("passed"):
            _add(ranking, outcome, row["title"])
    is_ranked = any(row.get("ranked") == "yes" for row in corpus.rows("scores_long"))
    if failed:
        head = f"Rankings by {_names(failed)} are left out (‡)."
        none = "No method is ranked, since no metric is validated on this corpus."
        rank = 2.4 if is_ranked else 0.1
        yield Finding(corpus.name, head if is_ranked else none, _outcomes(failed), "scores_long", rank)
    if ranking:
        head = f"Treat rankings by {_names(ranking)} with care."
        yield Finding(corpus.name, head, _outcomes(ranking), "scores_long", 2.45)


def _add(titles: dict[str, list[str]], outcome: str, title: str) -> None:
    names = titles.setdefault(outcome, [])
    names += [title] if title not in names else []


def _names(titles: dict[str, list[str]]) -> str:
    return listed([title for names in titles.values() for title in names])


def _outcomes(titles: dict[str, list[str]]) -> str:
    outcomes = ", ".join(f"{listed(names)} ({outcome})" for outcome, names in titles.items())
    return f"Validation has not passed on this corpus: {outcomes}."
