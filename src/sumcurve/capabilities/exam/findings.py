"""Findings about metrics without a passed validation on a corpus, a sentence each on the study's pages."""

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
        head = "Metrics not validated on this corpus (‡)" if is_ranked else "Not ranked"
        text = _listed(failed) if is_ranked else f"no metric is validated on this corpus: {_listed(failed)}"
        yield Finding(corpus.name, head, f"{text}.", "scores_long", 2.4 if is_ranked else 0.1)
    if ranking:
        head = "Ranked without a validation on this corpus"
        yield Finding(corpus.name, head, f"{_listed(ranking)}.", "scores_long", 2.45)


def _add(titles: dict[str, list[str]], outcome: str, title: str) -> None:
    names = titles.setdefault(outcome, [])
    names += [title] if title not in names else []


def _listed(titles: dict[str, list[str]]) -> str:
    return "; ".join(f"{listed(names)} ({outcome})" for outcome, names in titles.items())
