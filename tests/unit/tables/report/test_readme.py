"""The README of a study's tables, as GitHub shows it."""

import re
from dataclasses import replace
from pathlib import Path

from sumcurve.study.doors import APPENDIX, TABLES
from sumcurve.study.tables import FIGURES, WRITTEN, findings_of, write_readme
from sumcurve.tables.report.facts import read_tables, rows_of
from sumcurve.tables.report.findings import SHOWN, Titles
from sumcurve.tables.report.readme import page, question
from sumcurve.tables.results import Results

STORED = Path(__file__).parents[4] / "results" / "tables"


def test_it_leads_to_every_table_and_to_nothing_else(rich_tables, rich):
    text = (rich_tables / "README.md").read_text()
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert all((rich_tables / link).is_file() for link in links)
    _, tables, found, _ = rich
    for name in (*TABLES, *APPENDIX):
        assert (f"{name}.csv" in links) == bool(tables[name].rows)
        assert (f"{name}.md" in links) == (name in TABLES and bool(tables[name].rows))
    assert "figures/answers.svg" in links
    assert text.count("\n- **") == min(SHOWN, len(found))
    assert not (rich_tables / WRITTEN).exists()


def test_text_of_a_study_makes_no_markup():
    assert page("A <b>bold</b> *study*", "bold", {}, [], {}, {})[0] == "# A \\<b>bold\\</b> \\*study\\*"


def test_what_methods_wrote_of_the_first_items_stands_apart_and_no_text_of_others(rich_study, rich, settings, tmp_path):
    _, tables, found, _ = rich
    results = Results(replace(rich_study, shown_items=3), settings)
    (tmp_path / FIGURES).mkdir()
    write_readme(tmp_path, results, rows_of(tables), found, Titles(results.titles), {})
    text = (tmp_path / WRITTEN).read_text()
    for examples in rich_study.examples:
        _, part = text.split(f"## What methods wrote: {examples.corpus}\n")
        part = part.split("\n## ")[0]
        assert re.findall(r"^\d+\. (.+)$", part, re.M) == [item.id for item in examples.items[:3]]
        written = re.findall(r"^   - .+?: (.+)$", part, re.M)
        largest = results.largest(examples.corpus)
        wrote = [item.summaries[system.cell] for item in examples.items[:3] for system in largest.values()]
        assert [re.sub(r"\\(.)", r"\1", line) for line in written] == [" ".join(lines) for lines in wrote]
        for item in examples.items[:3]:
            assert " ".join(item.source) not in part
            assert not any(sentence in part for reference in item.references for sentence in reference)
        assert "<" not in part.replace("\\<", "")


def test_names_and_marks_are_explained_where_they_first_stand():
    tables = read_tables(STORED / "docstrings-large")
    titles = Titles({"globen": "GLOBEN"}, {"globen": "encoder gated by convolutions"})
    text = "\n".join(page("Large", "large", tables, findings_of(tables, titles), titles, {}))
    assert "| GLOBEN †: encoder gated by convolutions |" in text
    assert "† not shown to read its source: references are not shown to be likelier, by 0.1 nats a word," in text
    assert text.count("groups, such as packages, unseen in training") == 1
    head = "**On groups, such as packages, unseen in training (docstrings_large-unseen), best with 32,000 records:**"
    assert head in text
    tables = read_tables(STORED / "salience")
    text = "\n".join(page("Salience", "salience", tables, findings_of(tables, titles), titles, {}))
    assert "The same in every score: ent and ent_loss; ent_base and ent_gold." in text


def test_it_says_what_is_asked_what_to_type_and_what_overlapping_brackets_mean():
    tables = read_tables(STORED / "docstrings-large")
    found = findings_of(tables, Titles({}))
    text = "\n".join(page("Large", "large", tables, found, Titles({}), {}))
    asked = "Which of 7 methods summarizes best after training on 1,000 to 32,000 records, and how sure is that?"
    assert text.index(f"**{asked}**") < text.index("`make study STUDY=large`") < text.index("## Leaderboard")
    assert text.index("## Leaderboard") < text.index("may overlap although") < text.index("## Findings")
    assert "Methods: abs, bart, pcov and trans at 6 sizes with 3 seeds; bart_scratch at 3 sizes with 3 seeds; " in text
    assert question("What is more data worth?", tables, found) == ""


def test_tables_that_another_page_describes_are_listed_by_their_own_readme_alone():
    tables = read_tables(STORED / "salience")
    captions = {"scores": "Mean scores."}
    listed, short = (
        "\n".join(page("S", "s", tables, findings_of(tables, Titles({})), Titles({}), captions, described=described))
        for described in ("", "tables.md")
    )
    assert "- [scores](scores.md) ([CSV](scores.csv)): Mean scores." in listed
    assert "[Each as a page and as CSV](README.md), [what each has](tables.md)." in short
    assert "(scores.csv)" not in short
