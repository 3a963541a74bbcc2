"""The README of a study's tables, as GitHub shows it."""

import copy
import dataclasses
import re

from sumcurve.study.doors import APPENDIX, TABLES
from sumcurve.study.tables import write_study
from sumcurve.tables.report.readme import readme


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
        assert all(paragraph in text for paragraph in one.paragraphs)


def test_text_of_a_study_makes_no_markup(rich):
    results, tables, found, _ = rich
    renamed = copy.copy(results)
    renamed.study = dataclasses.replace(results.study, title="A <b>bold</b> *study*")
    heading = readme(renamed, tables, found, {"curves": "Scores"}).splitlines()[0]
    assert heading == "# A \\<b>bold\\</b> \\*study\\*"


def test_what_methods_wrote_of_the_first_items_drawn_stands_there_and_no_text_of_others(rich_study, rich):
    results, tables, found, _ = rich
    assert "What methods wrote" not in readme(results, tables, found, {})
    asked = copy.copy(results)
    asked.study = dataclasses.replace(results.study, shown_items=3)
    text = readme(asked, tables, found, {})
    for examples in rich_study.examples:
        _, part = text.split(f"## What methods wrote: {examples.corpus}\n")
        part = part.split("\n## ")[0]
        places = re.findall(r"^\d+\. (.+)$", part, re.M)
        assert places == [one.id for one in examples.items[:3]]
        said = re.findall(r"^   - (.+?): (.+)$", part, re.M)
        largest = results.largest(examples.corpus)
        assert [name for name, _ in said] == [*largest] * 3  # what is trained, each once an item
        wrote = [one.summaries[system.cell] for one in examples.items[:3] for system in largest.values()]
        assert [re.sub(r"\\(.)", r"\1", written) for _, written in said] == [" ".join(one) for one in wrote]
        for example in examples.items[:3]:
            assert " ".join(example.source) not in part
            assert not any(sentence in part for reference in example.references for sentence in reference)
        assert "<" not in part.replace("\\<", "")
