"""The README of a study's tables, as GitHub shows it."""

import copy
import dataclasses
import re

from sumcurve.tables import APPENDIX, TABLES
from sumcurve.tables.report.readme import readme
from sumcurve.tables.study import write_study


def test_it_leads_to_every_table_and_to_nothing_else(rich_study, rich, settings, tmp_path):
    write_study(tmp_path, rich_study, settings)
    text = (tmp_path / "README.md").read_text()
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert all((tmp_path / link).is_file() for link in links)
    _, tables, found, _ = rich
    for name in (*TABLES, *APPENDIX):
        assert (f"{name}.csv" in links) == bool(tables[name].rows)
        assert (f"{name}.md" in links) == (name in TABLES and bool(tables[name].rows))
    assert "figures/curves.svg" in links
    for one in found:
        assert one.text in text


def test_text_of_a_study_makes_no_markup(rich):
    results, tables, found, _ = rich
    renamed = copy.copy(results)
    renamed.study = dataclasses.replace(results.study, title="A <b>bold</b> *study*")
    heading = readme(renamed, tables, found, ["curves"]).splitlines()[0]
    assert heading == "# A \\<b>bold\\</b> \\*study\\*"
