"""The page of a study in Markdown."""

import re
from dataclasses import replace
from pathlib import Path

from sumcurve.study.doors import APPENDIX, TABLES
from sumcurve.study.tables import contents_of
from sumcurve.tables.report.contents import Contents
from sumcurve.tables.report.facts import read_tables
from sumcurve.tables.report.findings import SHOWN, Titles
from sumcurve.tables.report.readme import page

STORED = Path(__file__).parents[4] / "results" / "tables"


def test_it_leads_to_every_table_and_to_nothing_else(rich_tables, rich):
    text = (rich_tables / "pages" / "README.md").read_text()
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert all((rich_tables / "pages" / link).is_file() for link in links)
    _, tables, contents, _ = rich
    for name in (*TABLES, *APPENDIX):
        assert (f"../{name}.csv" in links) == bool(tables[name].rows)
    assert "answers.svg" in links
    assert text.count("\n- **") == min(SHOWN, len(contents.findings))


def test_text_of_a_study_makes_no_markup():
    assert page(Contents("bold", "A <b>bold</b> *study*", {}, Titles({})), {})[0] == "# A \\<b>bold\\</b> \\*study\\*"


def test_names_and_marks_are_explained_where_they_first_stand():
    tables = read_tables(STORED / "acl")
    for row in tables["scores"]:
        if row["method"] == "trans":
            row["reads_source"] = "no"
    titles = Titles({"trans": "TRANS"}, {"trans": "Transformer with copying"})
    text = "\n".join(page(contents_of("acl", "ACL", tables, titles), {}))
    assert "| TRANS †: Transformer with copying |" in text
    assert "† not shown to use its source (no significant source sensitivity" in text
    assert text.count("a reference is not shown to be more than 0.1 nats a word likelier") == 1
    assert text.count("whole groups unseen in training") == 1
    assert "**On whole groups unseen in training (acl-unseen): With 3,000 records " in text


def test_methods_with_the_same_scores_are_named():
    tables = read_tables(STORED / "dialogsum")
    rows = {row["method"]: row for row in tables["scores"] if row["records"] == 3000}
    rows["pgrl"].update({**rows["pcov"], "method": "pgrl"})
    text = "\n".join(page(contents_of("dialogsum", "DialogSum", tables, Titles({})), {}))
    assert "The same in every score: pcov and pgrl." in text


def test_a_method_that_read_its_records_fewer_than_five_times_is_named():
    tables = read_tables(STORED / "acl")
    for row in tables["methods"]:
        row["epochs"] = {"trans": 1.96, "abs": 5.0}.get(row["method"], 7.5)
    text = "\n".join(page(contents_of("acl", "ACL", tables, Titles({"trans": "TRANS"})), {}))
    assert text.count("Fewer than 5 passes over the training records: TRANS 2.0.") == 1


def test_it_says_what_is_asked_what_to_type_and_what_overlapping_brackets_mean():
    tables = read_tables(STORED / "docstrings")
    contents = contents_of("small", "Small", tables, Titles({}))
    text = "\n".join(page(contents, {}))
    asked = "Which of 3 methods summarizes best after training on 380 to 3,170 records, and how sure is that?"
    assert text.index(f"**{asked}**") < text.index("`make study STUDY=small`") < text.index("## Leaderboard")
    assert text.index("## Leaderboard") < text.index("may overlap although") < text.index("## Findings")
    assert "| methods | abs, pcov and trans with 3 seeds |" in text
    assert text.index(f"**{asked}**") < text.index("| data | docstrings |") < text.index("| test items | 1,000 |")
    assert replace(contents, title="What is more data worth?").question == ""
    tables["scores"] = [row for row in tables["scores"] if (row["method"], row["records"]) != ("trans", 380)]
    text = "\n".join(page(contents_of("small", "Small", tables, Titles({})), {}))
    assert "| methods | abs and pcov with 380, 761, 1,585 and 3,170 records, 3 seeds; trans with 761, " in text


def test_tables_that_another_page_describes_stand_without_captions():
    tables = read_tables(STORED / "docstrings")
    contents = contents_of("s", "S", tables, Titles({}))
    listed, short = (
        "\n".join(page(contents, captions, described=described))
        for captions, described in (({"scores": "Mean scores."}, ""), ({}, "tables.md"))
    )
    assert "- [scores](scores.csv): Mean scores." in listed
    assert "- [scores](scores.csv)" not in short
    tables_line = next(line for line in short.splitlines() if "[what each has](tables.md)" in line)
    assert all(f"[{name}]({name}.csv)" in tables_line for name in tables)


def test_examples_of_a_prompt_are_no_training_records():
    tables = read_tables(STORED / "data-axis")
    text = "\n".join(page(contents_of("axis", "Axis", tables, Titles({})), {}))
    assert "| training records | 10, 100, 1,000 and 10,000; a part of them chooses checkpoints |" in text
