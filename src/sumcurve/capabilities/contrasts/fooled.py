"""Contrasts that each system prefers to their golds, as a section of the page for people."""

from pathlib import Path

from markupsafe import Markup

from sumcurve.capabilities.contrasts.tables.preferences import preferred
from sumcurve.tables.report.page import html
from sumcurve.tables.results import Results
from sumcurve.tables.table import number

FOOLED = 5  # contrasts that are shown of a system


def section(results: Results) -> list[Markup]:
    """List, for every system at its largest size, the contrasts that it prefers most to their golds."""
    fooled = [
        (preferences.corpus, f"{results.name(system)}, {number(system.records)} records", shown)
        for preferences in preferred(results)
        for system in results.largest(preferences.corpus).values()
        if system.cell in preferences.systems and (shown := preferences.fooled(system.cell, FOOLED))
    ]
    mechanics = [preferences.corpus for preferences in preferred(results) if not preferences.evidence.by_people]
    template = html().from_string(Path(__file__).with_suffix(".html").read_text(encoding="utf-8"))
    return [Markup(template.render(fooled=fooled, mechanics=mechanics))] if fooled else []
