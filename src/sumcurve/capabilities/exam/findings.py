"""Findings about metrics without a passed validation on a corpus."""

import re
from collections.abc import Iterable, Iterator

from sumcurve.capabilities.exam.evidence import NONE, NOT_VALIDATED
from sumcurve.capabilities.exam.thresholds import thresholds
from sumcurve.tables.report.facts import Corpus
from sumcurve.tables.report.findings import Finding, Titles
from sumcurve.tables.table import listed, number


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
        text = f"{_outcomes(failed)}{_checks([*failed, *ranking])}"
        yield Finding(corpus.name, head if is_ranked else none, text, "scores_long", rank)
    if ranking:
        head = f"Treat rankings by {_names(ranking)} with care."
        text = f"{_outcomes(ranking)}{_fewer(corpus, ranking)}{'' if failed else _checks(ranking)}"
        yield Finding(corpus.name, head, text, "scores_long", 2.45)


def _add(titles: dict[str, list[str]], outcome: str, title: str) -> None:
    names = titles.setdefault(outcome, [])
    names += [title] if title not in names else []


def _names(titles: dict[str, list[str]]) -> str:
    return listed([title for names in titles.values() for title in names])


def _outcomes(titles: dict[str, list[str]]) -> str:
    if {*titles} == {NONE}:
        return "No metric was validated on this corpus."
    outcomes = ", ".join(f"{listed(names)} ({outcome})" for outcome, names in titles.items())
    return f"Validation has not passed on this corpus: {outcomes}."


def _fewer(corpus: Corpus, titles: dict[str, list[str]]) -> str:
    """State which metrics have values for a part of the test items alone."""
    items: dict[str, int] = {}
    for row in corpus.rows("scores_long"):
        items[row["title"]] = max(items.get(row["title"], 0), row["items"] or 0)
    most = max(items.values())
    few = [(name, items[name]) for names in titles.values() for name in names if items[name] < most]
    return "".join(f" {name} has values for {number(those)} of {number(most)} test items." for name, those in few)


def _checks(outcomes: Iterable[str]) -> str:
    """State what each check that outcomes name measures, with its threshold."""
    named = set(re.findall(r"[a-z_]+", " ".join(outcomes)))
    rows = {name: rule for name, rule in thresholds().rows.items() if name in named}
    if not rows:
        return ""
    measured = "".join(f" Check {name}: {rule.value} ({rule.threshold:g} needed)." for name, rule in rows.items())
    return f"{measured} The number behind a check is the share of a text that it changes."
