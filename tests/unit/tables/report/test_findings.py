"""What came out, in sentences: they say what the tables say, in numbers that stand in them."""

import re
from dataclasses import astuple, replace

import pytest

from sumcurve.capabilities.extracts.evidence import Oracles
from sumcurve.capabilities.pretrained.evidence import Pretraining, Pretrainings
from sumcurve.study.doors import TABLES
from sumcurve.study.tables import made
from sumcurve.tables.pairs import SINGLE_RUN
from sumcurve.tables.report.findings import findings
from sumcurve.tables.results import Results
from sumcurve.tables.table import span

WITHOUT = {"extracts": Oracles()}  # extracts

NUMBER = re.compile(r"(?<![\w-])−?\d[\d,]*(?:\.\d+)?(?<!,)")
AHEAD = "is ahead of every other trained method"


def told(study, settings):
    results = Results(study, settings)
    tables = {name: made(name, results) for name in TABLES}
    return results, tables, findings(results, tables)


def test_every_number_stands_in_a_table(rich):
    _, tables, found, _ = rich
    cells = set(NUMBER.findall(" ".join(table.markdown() for table in tables.values())))
    numbers = [number for one in found for number in NUMBER.findall(one.text)]
    assert len(numbers) > 30
    assert set(numbers) <= cells
    assert {one.table for one in found} <= {name for name in TABLES if tables[name].rows}


SHOWN = r"ahead of it|behind it|better|worse|behind$|ahead"
NOT_SHOWN = r"not shown to differ|not distinguishable|no difference( shown)?|not shown$"
ENDS = re.compile(r"\[(−?[\d.,]+), (−?[\d.,]+)\]")


def leaves_0_out(interval: re.Match[str]) -> bool:
    low, high = (float(end.replace("−", "-").replace(",", "")) for end in interval.groups())
    return low > 0 or high < 0


def judged(tables, found):
    """Of tables and sentences, as people see them: what is said, and whether the interval beside it leaves 0 out."""
    said = [
        ("comparisons", "difference", "ahead"),
        ("answers", "behind the best", "place"),
        ("pretraining", "difference", "says"),
        ("verdicts", "difference now", "verdict"),
    ]
    for name, column, verdict in said:
        shown = tables[name].shown()[0]
        for _, row in shown.iterrows() if len(shown) else ():
            if (ends := ENDS.search(row[column])) and row.get("p (family)") != "–":
                shown_ahead = re.fullmatch(r"\w+†?|[\d,]+ records", row[verdict])  # in comparisons: who, or which size
                yield "ahead" if shown_ahead else row[verdict], leaves_0_out(ends)
    for row in tables["phases"].rows:
        for column, verdict in (("after_minus_before", "change"), ("after_minus_control", "worth")):
            if f"{verdict}_p" in row:
                yield row[verdict], leaves_0_out(ENDS.search(span(*astuple(row[column])[:3])))
    for one in found:
        for part in re.split(r"; |\. (?=[A-Z])", one.text):
            if said := re.search(rf"({SHOWN}|{NOT_SHOWN})(: | \()", part, re.IGNORECASE):
                yield from ((said[1].lower(), leaves_0_out(ends)) for ends in ENDS.finditer(part))


@pytest.mark.parametrize("spread", [0.5, 0.8, 1.1])
def test_no_interval_contradicts_what_is_said_beside_it(study, rich, long_curves, settings, spread):
    methods = {name: (33 + 0.8 * place, 0.4 * place) for place, name in enumerate(("abs", "pcov", "trans", "globen"))}
    outputs = long_curves(methods, (1, 2, 3), (25, 50, 100), spread)
    told_of = Pretraining("notes", "abs", {"pcov": True}, 99.0, 50, 900, 3.5, 1000, {}, 4000, 5)
    evidence = replace(
        study, outputs=outputs, statistics=study.statistics[:1], evidence={"pretrained": Pretrainings([told_of])}
    )
    _, tables, found = told(evidence, settings)
    counted = {True: 0, False: 0}
    for verdict, without_0 in [*judged(tables, found), *judged(rich[1], rich[2])]:
        shown = re.search(NOT_SHOWN, verdict) is None
        if shown and re.search(rf"{SHOWN}|is ahead", verdict) is None:
            continue  # nothing is said of a difference, or a verdict is undecided
        assert without_0 == shown, verdict
        counted[shown] += 1
    assert min(counted.values()) > 10


def test_who_has_one_seed_hides_nothing_of_those_that_have_more(study, long_curves, settings):
    sizes = (25, 50, 100)
    outputs = long_curves({"pcov": (40, 3), "trans": (30, 3), "abs": (20, 3)}, (1, 2, 3), sizes, 0.3)
    outputs = [one for one in outputs if one.method != "trans" or one.seed == 1]
    evidence = replace(study, outputs=outputs, statistics=study.statistics[:1])
    _, _, found = told(evidence, settings)
    (text,) = (one.text for one in found if one.question == "Who is ahead")
    assert re.match(r"pcov has the best mean .*: ahead of abs; not tested against trans \(one seed", text)
    assert AHEAD not in text


def test_one_seed_claims_nothing_of_methods(study, settings):
    _, _, found = told(study, settings)
    texts = [one.text for one in found if one.question == "Who is ahead"]
    assert texts
    for text in texts:
        assert SINGLE_RUN in text
        assert AHEAD not in text
    against = [one.text for one in found if one.question == "Against no training"]
    assert against
    for text in against:
        assert SINGLE_RUN in text
        assert not [word for word in ("shown to differ", "head of it", "ehind it") if word in text]


def test_what_does_not_read_is_named_and_that_every_method_reads_is_said_once(
    rich_study, more_metric, dimmed, settings
):
    """Of a corpus with two ways to tell it, too."""

    def said(outputs):
        study = replace(rich_study, outputs=outputs, statistics=rich_study.statistics[:1], evidence=WITHOUT)
        (text,) = (one.text for one in told(study, settings)[2] if one.question == "What does not read")
        return text

    outputs = [one for one in rich_study.outputs if one.corpus == "notes"]
    gated = more_metric(outputs, higher_is_better=True, threshold=0.5)
    text = said(dimmed(gated, lambda one: one.method == "abs" and one.records in (500, 2000)))
    assert "abs is not shown to read its source with 500 and 2,000 records" in text
    assert "pcov" not in text
    gates = {"higher_is_better": True, "threshold": -1e9}
    twice = more_metric(more_metric(outputs, **gates), scorer="other", name="second", title="Second gap", **gates)
    assert said(gated) == said(twice) == "Every method reads its source at every size."


def test_a_corpus_without_training_says_what_needs_none(rich_study, settings):
    outputs = [one for one in rich_study.outputs if one.corpus == "notes" or one.records is None]
    found = told(replace(rich_study, outputs=outputs, evidence=WITHOUT), settings)[2]
    (text,) = (one.text for one in found if one.corpus == "albums")
    assert text.startswith("No method is trained on albums.")
    assert all(name in text for name in ("lead", "random", "best-sentence"))


def test_worth_of_pretraining_and_twins_are_said_size_by_size_as_their_tables_say(rich):
    _, tables, found, _ = rich
    for question, name in (("What pretraining is worth", "pretraining"), ("What should be equal", "equivalence")):
        texts = {one.corpus: one.text for one in found if one.question == question}
        rows = [row for row in tables[name].rows if row["metric"] == "ROUGE-1"]
        assert texts.keys() == {row["corpus"] for row in rows}
        for row in rows:
            assert f"with {row['records']:,} records {row['says']} (" in texts[row["corpus"]]
