"""Fill README.md and docs/**/*.md with numbers from recorded files, as `make record` does at its end.

A number in prose stands between two comments that say where it comes from:

    <!--= scores.csv method=pcov percent=100: rouge1 .2f± -->25.94 [23.95, 27.92]<!--/-->

First the file: a path from the repository's root, or, without a folder, a table of the recorded study. Then what one
row must hold, and only one row may: `column=value`, quoted where a value has blanks (the mark † is left out). Then the
column, and how to write it: a format of Python's (`.2f`, `,.0f`, `.1%` for a share in percent, without the sign), with
`±` for the interval in the columns `…_low` and `…_high`. The first number of a cell is taken. Without a format the cell
stands as it is. Of a page (`.md`) the row is the line that holds a text, the column
the text before the number:

    <!--= benchmarks/README.md "against `transformers`' `generate`": "scores) |" .1f -->1.7<!--/-->

A block stands between `<!-- NAME -->` and `<!-- /NAME -->` and is made by a function of `BLOCKS`.
"""

import argparse
import csv
import json
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from sumcurve.capabilities.across import report as side_by_side
from sumcurve.capabilities.across.interface import across
from sumcurve.capabilities.exam.thresholds import thresholds
from sumcurve.capabilities.people.answers import read_answers
from sumcurve.capabilities.people.results import Results, results
from sumcurve.capabilities.people.sheets import Key, read_key
from sumcurve.capabilities.people.texts import REFERENCE
from sumcurve.settings.config import read_study
from sumcurve.settings.study import Bootstrap
from sumcurve.statistics.intervals import Estimate
from sumcurve.store.records import write_text
from sumcurve.study.doors import SYSTEMS
from sumcurve.study.plan import Plan
from sumcurve.study.tables import PAGES, REPORT, contents_of
from sumcurve.tables.ranking import effect
from sumcurve.tables.report.facts import corpora_of, read_tables
from sumcurve.tables.report.figure import write_figure
from sumcurve.tables.report.findings import Titles, interval
from sumcurve.tables.report.readme import page
from sumcurve.tables.table import listed

ROOT = Path(__file__).parents[1]
TABLES = ROOT / "results" / "tables"
READINGS = ROOT / "benchmarks" / "readings"
METHODS, DOCS, STUDIES = ROOT / "config" / "methods", ROOT / "docs", ROOT / "docs" / "studies"
STUDY = "docstrings"  # whose results README.md shows, and whose tables a marker means that names no folder
WHOLE = "docstrings-full"  # what the default study forecasts, measured
FIVE = "papers"  # what came out of each paper is on a page of its own
AXIS = "data-axis"  # whose finding README.md shows
RECORDED = (STUDY, "aeslc", "dialogsum", "acl", "debian-zh", AXIS, "aeslc-axis", FIVE)  # a page each
ACROSS = (STUDY, "aeslc", "dialogsum", "acl")  # side by side on one page
SIZES = (1000, 3000)  # near which that page says who is best
MANIFEST = "manifest-????????.json"  # of a whole study's tables
FINDINGS = 3  # of README.md, which are about methods
SHOWN = ("answers", "comparisons", "verdicts")  # tables of those
DESCRIBED = "../reference/tables.md"  # what each table has
SMALL = "Small models: rankings say nothing about full-size methods."
MARK = "†"  # of a system without significant source sensitivity
INLINE = re.compile(r"<!--= (?P<source>[^>]+?) -->(?P<shown>.*?)<!--/-->", flags=re.S)
BLOCK = re.compile(r"<!-- (?P<name>[a-z-]+) -->\n(?P<shown>.*?)<!-- /(?P=name) -->", flags=re.S)
OUTPUT = re.compile(
    r"[a-z]+-(?P<method>[a-z0-9_-]+?)(-n(?P<records>\d+))?(-s\d+)?-[0-9a-f]{8}"
)  # a folder of summaries
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")

Row = dict[str, str]


class PageError(ValueError):
    """A marker that names nothing, or not one thing; the message names page and marker."""


def pages() -> list[Path]:
    """The pages with markers."""
    return [ROOT / "README.md", *sorted(page for page in DOCS.rglob("*.md") if page.parent != STUDIES)]


def path_of(file: str) -> Path:
    """A path from the root, or a file of the recorded study's tables."""
    return ROOT / file if "/" in file else TABLES / STUDY / file


@cache
def rows(file: str) -> tuple[Row, ...]:
    """The rows of a CSV file; PageError where it is missing."""
    path = path_of(file)
    if not path.is_file():
        raise PageError(f"{path.relative_to(ROOT)} is missing")
    with path.open(newline="") as stream:
        return tuple(csv.DictReader(stream))


def one(file: str, **wanted: str) -> Row:
    """The one row whose cells are these; PageError where there is none or more than one."""
    found = [row for row in rows(file) if all(row.get(key, "").rstrip(MARK) == value for key, value in wanted.items())]
    if len(found) != 1:
        raise PageError(f"{file}: {len(found)} rows have {wanted}, not one")
    return found[0]


def written(value: str, form: str) -> str:
    """A cell's (first) number in a format; a minus is a minus sign."""
    number = NUMBER.search(value)
    if number is None:
        raise PageError(f"no number in {value!r}")
    return format(float(number[0].replace(",", "")), form).removesuffix("%").replace("-", "−")


def spanned(row: Row, column: str, form: str) -> str:
    """A number with its interval."""
    low, high = (written(row[f"{column}_{end}"], form) for end in ("low", "high"))
    return f"{written(row[column], form)} [{low}, {high}]"


def of_page(file: str, text: str, before: str, form: str) -> str:
    """The number after `before` in the one line of a page that holds `text`."""
    path = path_of(file)
    lines = [line for line in path.read_text().splitlines() if text in line] if path.is_file() else []
    if len(lines) != 1 or before not in lines[0]:
        raise PageError(f"{file}: {len(lines)} lines hold {text!r}, not one, or it lacks {before!r}")
    return written(lines[0].partition(before)[2], form)


def value(source: str) -> str:
    """What a marker's source says, as it is to stand on the page."""
    where, colon, what = source.rpartition(": ")
    if not colon:
        raise PageError("`: ` and a column are missing")
    file, *conditions = shlex.split(where)
    if file.endswith(".md"):
        return of_page(file, *conditions, *shlex.split(what))
    row = one(file, **dict(condition.split("=", 1) for condition in conditions))
    column, _, form = what.strip().partition(" ")
    if column not in row:
        raise PageError(f"{file} has no column {column!r}; there are: {', '.join(row)}")
    if form.endswith("±"):
        return spanned(row, column, form.removesuffix("±"))
    return written(row[column], form) if form else row[column]


# --- blocks


def table(header: list[str], body: list[list[str]]) -> str:
    """A Markdown table; all columns but the first are numbers or short words."""
    lines = [header, ["---", *("---:" for _ in header[1:])], *body]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def method_titles() -> Titles:
    """How pages call methods, by name, and what each is, and each untrained system."""
    methods = {path.stem: yaml.safe_load(path.read_text()) for path in METHODS.glob("*.yaml")}
    about = {name: keys["about"] for name, keys in methods.items() if "about" in keys}
    about |= {name: kind.title for name, kind in SYSTEMS.items() if hasattr(kind, "title")}
    titles = {name: keys["title"] for name, keys in methods.items()}
    return Titles(titles, about)


def sentences() -> str:
    """README.md's findings, a line each."""
    every = contents_of(STUDY, "", read_tables(TABLES / STUDY), method_titles()).findings
    first = [one for one in every if one.corpus == every[0].corpus and one.table in SHOWN][:FINDINGS]
    return "".join(f"- {finding.markdown}\n" for finding in first)


def forecast() -> str:
    """What the default study's forecasts said of twice its records, and what was measured with them."""
    titles = method_titles()
    corpus = corpora_of(read_tables(TABLES / STUDY))[0]
    later = replace(corpus, tables=read_tables(TABLES / WHOLE))
    fits = corpus.rows("answers", metric=corpus.metric, basis="fit")
    if not (fits and later.sizes):
        raise PageError(f"tables of {STUDY if not fits else WHOLE} are missing, or have no forecast")
    twice = [row for row in fits if row["records"] == min(fit["records"] for fit in fits)]
    told = []
    for row in twice:
        (measured,) = later.rows("scores", records=later.largest, method=row["method"])
        expected, found = (interval(effect(*one)) for one in ((row, "score"), (measured, corpus.column)))
        told.append([titles[row["method"]], f"{row['leading']:.2f}", expected, found])
    ranking = later.rankings(corpus.metric)[later.largest]
    outcome = ". ".join(ranking.sentences(corpus.metric, titles.all))
    every = contents_of(WHOLE, "", read_tables(TABLES / WHOLE), titles).findings
    outcome += f". {next(one for one in every if one.table == 'comparisons').sentence.removesuffix('.')}"
    header = [f"all {later.largest:,} records, {corpus.metric}", "probability of leading", "forecast", "measured"]
    return f"{table(header, told)}\nMeasured with all {later.largest:,} records: {outcome}.\n"


def axis() -> str:
    """The data axis's finding on prompts, and what its readers said, a line each."""
    titles = titles_of(AXIS)
    every = contents_of(AXIS, "", read_tables(TABLES / AXIS), titles).findings
    lines = [finding.markdown for finding in every if finding.table == "data_axis"]
    _, found = read_by_models(AXIS)
    shares = {one.name: one.share for one in found.shares}
    people, (best, most), *others = shares.pop(REFERENCE), *sorted(shares.items(), key=lambda pair: -pair[1].mean)
    lines.append(
        f"**Two language models that read {found.records} items blind call {in_percent(most)} of the summaries of "
        f"{' with '.join(system_of(best, titles))} records good, and {in_percent(people)} of people's.** Of no other "
        f"system that they read do they call more than {others[0][1].mean:.0f} % good, whatever its ROUGE-1 is."
    )
    return "".join(f"- {line}\n" for line in lines)


def readers() -> str:
    """ROUGE-1 and readers' opinion of the best trained method and of Lead, on one line."""
    study, titles = "dialogsum", titles_of("dialogsum")
    corpus = corpora_of(read_tables(TABLES / study))[0]
    _, found = read_by_models(study)
    good = {system_of(one.name, titles)[0]: one.share for one in found.shares}
    best, lead = corpus.at(corpus.metric, corpus.largest)[0]["method"], "lead"
    told = []
    for method, records in ((best, corpus.largest), (lead, None)):
        (row,) = corpus.rows("scores", method=method, records=records)
        of = f" with {records:,} records" if records else ", the source's first sentences,"
        told.append(
            (f"{titles[method]}{of} has {interval(effect(row, corpus.column))} {corpus.metric}", good[titles[method]])
        )
    (ours, of_ours), (theirs, of_theirs) = told
    return (
        f"- **{ours}, and two language models that read {found.records} of its summaries blind call "
        f"{in_percent(of_ours)} good.** {theirs}, and of its summaries they call {in_percent(of_theirs)} good.\n"
    )


def in_percent(share: Estimate) -> str:
    """A share in percent with its interval."""
    return f"{share.mean:.0f} % [{share.low:.0f}, {share.high:.0f}]"


def settings_of(study: str) -> dict[str, Any]:
    """A study's file over what it extends."""
    settings: dict[str, Any] = read_study(ROOT / "config" / "studies" / f"{study}.yaml").plain()
    return settings


def title_of(study: str) -> str:
    """A study's title, on one line."""
    return " ".join(settings_of(study)["title"].split())


def manifest_of(study: str) -> Path:
    """The manifest of a study's tables; PageError where there is not one of the whole study."""
    manifests = list((TABLES / study).glob(MANIFEST))
    if len(manifests) != 1:
        raise PageError(f"{(TABLES / study).relative_to(ROOT)}: {len(manifests)} manifests of the whole study, not one")
    return manifests[0]


def is_current(study: str) -> bool:
    """Whether a study's tables are of this version of the code: their manifest is named by versions and inputs."""
    return manifest_of(study).name == f"manifest-{Plan.read(ROOT / 'config', study).tables}.json"


def recorded_by(study: str) -> str:
    """By which version of the code a study's tables were recorded."""
    facts = json.loads(manifest_of(study).read_text())["facts"]
    version = "this version" if is_current(study) else "an older version"
    uncommitted = "" if facts.get("clean", True) else " with changes that no commit holds"
    return (
        f"Tables of {version} of the code{uncommitted}, recorded in the newest commit that "
        f"`git log -- results/tables/{study}` names, by Python "
        f"{facts['python']} and torch {facts['versions']['torch']}."
    )


def study_page(study: str) -> str:
    """The page of a recorded study, from its tables; its figure is drawn beside it."""
    titles, settings = titles_of(study), settings_of(study)
    corpora = {name: " ".join((keys or {}).get("title", "").split()) for name, keys in settings["corpora"].items()}
    corpora = {name: title for name, title in corpora.items() if title}
    read = Plan.read(ROOT / "config", study).corpora
    lengths = {name: (corpus.source_tokens, corpus.search.max_tokens) for name, corpus in read.items()}
    contents = contents_of(study, title_of(study), read_tables(TABLES / study), titles, corpora, lengths)
    shown = contents.corpora[0]
    truth = replace(shown, tables=read_tables(TABLES / WHOLE)) if study == STUDY else None
    figure = f"{study}.svg" if write_figure(shown, titles, STUDIES, study, truth=truth) else ""
    lines = page(contents, {}, figure, [SMALL], f"../../results/tables/{study}/", DESCRIBED)
    place = lines.index("## Findings")
    if study == STUDY:
        lines[place:place] = ["## Forecast, and measured", "", *forecast().splitlines(), ""]
    if study == FIVE:
        lines[place:place] = ["What came out of each paper: [five papers, table by table](../reference/papers.md).", ""]
    place = lines.index("## Tables")
    lines[place:place] = readings(study, titles)
    # What is not of this code is said before anything else.
    place = len(lines) if is_current(study) else 2
    lines[place:place] = [recorded_by(study), ""]
    return "\n".join(lines)


def titles_of(study: str) -> Titles:
    """How the page of a study calls methods and its systems."""
    titles = method_titles()
    systems = settings_of(study).get("systems", {})
    titled = {name: keys for name, keys in systems.items() if "title" in (keys or {})}
    titles.about |= {name: keys["title"] for name, keys in titled.items()}
    titles |= {name: keys["title"] for name, keys in titled.items() if keys.get("kind") == "chat"}
    return titles


def read_by_models(study: str) -> tuple[Key, Results]:
    """The key and the results of readings of a study; one person's summaries are the reference."""
    key = read_key(READINGS / f"{study}.key.json")
    found = results(read_answers([READINGS / f"{study}.csv"], key), Bootstrap())
    return key, replace(found, shares=[share for share in found.shares if "-human-" not in share.name])


def system_of(output: str, titles: Titles) -> tuple[str, str]:
    """Title and training records, or examples, of the system whose summaries are in a folder of this name."""
    name = OUTPUT.fullmatch(output)
    return (titles[name["method"]], f"{int(name['records']):,}" if name["records"] else "") if name else (output, "")


def readings(study: str, titles: Titles) -> list[str]:
    """What readers said of summaries of a study, blind; no line where nobody read it."""
    if not (READINGS / f"{study}.key.json").exists():
        return []
    key, found = read_by_models(study)
    annotators = len({entry.annotator for entry in key.entries.values()})
    outcomes = key.protocol.outcomes[:-1]
    body = []
    for share in sorted(found.shares, key=lambda share: -share.share.mean):
        ends = f" [{share.share.low:.0f}, {share.share.high:.0f}]" if share.share.low is not None else ""
        counts = [f"{100 * share.counts.get(outcome, 0) / sum(share.counts.values()):.0f}" for outcome in outcomes]
        body.append([*system_of(share.name, titles), f"{share.share.mean:.0f}{ends}", *counts])
    agreed = [one for one in found.agreements if one.coefficient != "Cohen's kappa"][-1].agreement
    return [
        "## Read by language models",
        "",
        f"{annotators} readers, language models and no people, judged all summaries of {found.records} test "
        "items beside their sources, without knowing which system wrote them, by the questions of Wei et al. (2018): "
        "fluent? then related (can the source decide whether it is true)? then faithful? Good: three times yes; the "
        "mean of both, in percent. Of a trained system they read the summaries of one seed. They agree on "
        f"{100 * (agreed.same or 0):.0f} % (Krippendorff's α "
        f"{agreed.value or 0:.2f} [{agreed.low or 0:.2f}, {agreed.high or 0:.2f}]). Their answers, without a text, are "
        "in `benchmarks/readings/`.",
        "",
        *table(["system", "records or examples", "good [95 %]", *outcomes], body).splitlines(),
        "",
    ]


def across_page() -> str:
    """The page of all recorded corpora side by side; its figure is drawn beside it."""
    titles = method_titles()
    result = across([TABLES / name for name in ACROSS], SIZES)
    corpora = result.corpora
    write_text(STUDIES / "across.svg", side_by_side.drawing(corpora, titles))
    body = [
        [f"{at:,}", corpus.name, f"{size:,}", *side_by_side.row_of(corpus, size, titles)]
        for at in SIZES
        for corpus in corpora
        if (size := corpus.nearest(at)) is not None
    ]
    first, *others = side_by_side.sentences(corpora, SIZES, result.tables, titles)
    lines = [
        "# Across corpora: who is best with few records and with many",
        f"**{first}** {' '.join(others)}",
        table(["near", "corpus", "records", "by mean ROUGE-1", "significantly best"], body).strip(),
        f"† no significant source sensitivity. Ranks are those of table answers; single runs are not tested. {SMALL}",
        caution([corpus.name for corpus in corpora]),
        older([name for name in ACROSS if not is_current(name)]),
        side_by_side.settings_sentence(corpora, titles),
        "![ROUGE-1 over training records, a panel a corpus, methods in the same colours](across.svg)",
        "Bands: 95 %. Hollow: †. Scores of two corpora are not comparable.",
        f"Rank correlations, crossings and shares of variance: `sumcurve across {' '.join(ACROSS)} --out FOLDER`.",
    ]
    return "\n\n".join(filter(None, lines)) + "\n"


def older(studies: Sequence[str]) -> str:
    """State of which studies older code made the tables."""
    if not studies:
        return ""
    return f"Tables of {listed(studies)} are of an older version of the code; their trainings may have had other rules."


def caution(names: Sequence[str]) -> str:
    """State on which corpora ROUGE-1, by which the page ranks, is not validated."""
    outcomes = {name: exam_outcome(name, "rouge", "rouge1") if name in EXAMS else "not tested" for name in names}
    validated = [name for name, outcome in outcomes.items() if outcome.startswith("validated")]
    failed = [name for name, outcome in outcomes.items() if outcome == "failed"]
    if len(validated) == len(names):
        return ""
    where = f"on {listed(validated)} only" if validated else "on none of these corpora"
    disregard = f" Disregard those on {listed(failed)}, where it failed." if failed else ""
    return (
        f"ROUGE-1 is [validated](../reference/metric-validation.md) {where}; treat the other rankings with care."
        f"{disregard}"
    )


def coverage() -> str:
    """What simulated studies say of intervals and tests."""
    columns = {
        "mean below": "mean, below 100 %",
        "difference below": "difference",
        "family below": "family errs",
        "mean at 100 %": "mean, at 100 %",
        "difference at 100 %": "difference",
        "family at 100 %": "family errs",
        "power alone": "power alone",
        "power in family": "in its family",
    }
    found = rows("benchmarks/interval_coverage.csv")
    body = [[row["design"], *((NUMBER.search(row[column]) or ["–"])[0] for column in columns)] for row in found]
    return table(["percent", *columns.values()], body)


def held_back() -> str:
    """Forecasts on each half of LCDB: bands, Brier scores of P(ahead), and overtakings."""
    stays, bands = "whoever is ahead stays ahead", "share of 95 % bands that hold the held-out mean"
    halves = {"first": "1.0, first half (chosen on)", "LCDB 1.1": "1.1, half (chosen on)", "second": "1.0, second half"}

    def cell(half: str, measure: str, of: str, form: str) -> str:
        return written(one("benchmarks/lcdb.csv", half=half, measure=measure, of=of)["value"], form)

    def less(half: str, of: str) -> str:
        middle, *ends = (
            cell(half, f"Brier score, less by{end}", f"than stays ahead at {of}", ".4f")
            for end in ("", " (95 % interval, low)", " (95 % interval, high)")
        )
        return f"{middle} [{', '.join(ends)}]"

    body = [
        [f"95 % bands that hold the mean, %, at {at}", *(cell(half, bands, at, ".1%") for half in halves)]
        for at in ("2d", "4d")
    ]
    for name, title in {"verdicts": "forecasts", "stays ahead": stays, "log-linear": "a line in log d"}.items():
        for at in ("2d", "4d"):
            brier = (cell(half, "Brier score of P(ahead)", f"{name} at {at}", ".4f") for half in halves)
            body.append([f"Brier score of {title}, at {at}", *brier])
    body += [[f"forecasts' less than {stays}'s, at {at}", *(less(half, at) for half in halves)] for at in ("2d", "4d")]
    for least in ("0.8", "0.5"):
        for measure in (f"called at {least} of what was overtaken", f"called at {least}, who is ahead then"):
            # Nothing is looked at on the second half that one could choose by.
            looked_at = [half for half in halves if least == "0.8" or half != "second"]
            shares = [one("benchmarks/lcdb.csv", half=half, measure=measure, of="all") for half in looked_at]
            cells = [f"{float(row['value']) * int(row['cases']):.0f} of {row['cases']}" for row in shares]
            body.append([measure, *cells, *["–"] * (len(halves) - len(cells))])
    return table(["LCDB", *halves.values()], body)


def recorded() -> str:
    """The pages of recorded studies, with their titles; links from docs/."""
    lines = [f"- [{study}](studies/{study}.md): {title_of(study)}\n" for study in RECORDED]
    return "".join(["- [Across corpora](studies/across.md)\n", *lines])


def checks() -> str:
    """Rows of papers beside what our copies of their corpora give."""
    with (ROOT / "benchmarks" / "published_checks.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    lines = ["| row | printed ‖ | `rouge-score`, stemmed | unstemmed, as tables here |", "| --- | --- | --- | --- |"]
    for stemmed, plain in zip(rows[::2], rows[1::2], strict=True):
        printed = f"{stemmed['printed_rouge1']} / {stemmed['printed_rouge2']}" if stemmed["printed_rouge1"] else "–"
        scores = [f"{row['rouge1']} / {row['rouge2']}" for row in (stemmed, plain)]
        lines.append(f"| {stemmed['corpus']}: {stemmed['row']} | {printed} | {' | '.join(scores)} |")
    return "\n".join(lines) + "\n"


EXAMS = {  # recorded validations by file of config/validation/: the title of its column
    "realsumm": "REALSumm",
    "dialogsum": "DialogSum",
    "aeslc": "AESLC",
    "docstrings": "docstrings",
    "acl": "ACL",
}
EXAMINED = {  # how pages call metrics, by scorer of benchmarks/exam.py and metric
    ("rouge", "rouge1"): "ROUGE-1",
    ("rouge", "rouge2"): "ROUGE-2",
    ("rouge", "rougeLsum"): "ROUGE-Lsum",
    ("references", "rouge1_mean"): "ROUGE-1 (mean)",
    ("references", "rouge2_mean"): "ROUGE-2 (mean)",
    ("references", "rougeLsum_mean"): "ROUGE-Lsum (mean)",
    ("chrf", "chrf"): "chrF2",
    ("bertscore", "bertscore"): "BERTScore",
    ("bertscore", "bertscore_precision"): "BERTScore precision",
    ("bertscore", "bertscore_recall"): "BERTScore recall",
    ("apes", "apes"): "APES",
}


def exam_rows(corpus: str, scorer: str, metric: str) -> list[Row]:
    """The rows of a metric in a recorded validation; none where it was not tested."""
    return [
        row for row in rows(f"config/validation/{corpus}.csv") if (row["scorer"], row["metric"]) == (scorer, metric)
    ]


def exam_outcome(corpus: str, scorer: str, metric: str) -> str:
    """The validation of a metric on a corpus, with the number of rows passed: "–" where it was not tested."""
    verdicts = [row["verdict"] for row in exam_rows(corpus, scorer, metric)]
    validated = f"validated ({verdicts.count('passed')})"
    return next((word for word in ("failed", "undecided") if word in verdicts), validated) if verdicts else "–"


def exam() -> str:
    """The validation of every metric on every corpus; means over references where they differ."""

    def differs(scorer: str, metric: str) -> bool:
        mine = {corpus: exam_outcome(corpus, scorer, metric) for corpus in EXAMS if exam_rows(corpus, scorer, metric)}
        return any(says != exam_outcome(corpus, "rouge", metric.removesuffix("_mean")) for corpus, says in mine.items())

    body = [
        [title, *(exam_outcome(corpus, *key) for corpus in EXAMS)]
        for key, title in EXAMINED.items()
        if key[0] != "references" or differs(*key)
    ]
    return table(["metric", *EXAMS.values()], body)


def exam_people() -> str:
    """Kendall's tau with people on REALSumm, of systems' means and over a document's summaries."""
    found = rows("benchmarks/exam/realsumm-agreement.csv")
    body = []
    for (scorer, metric), title in EXAMINED.items():
        cells = [
            spanned_value(row)
            for level in ("system", "summary")
            for kinds in ("all", "abstractive", "extractive")
            for row in found
            if (row["scorer"], row["metric"], row["level"], row["kinds"], row["given"], row["kind"])
            == (scorer, metric, level, kinds, "", "kendall")
        ]
        if cells:
            body.append([title, *cells])
    names = [
        f"{level}: {kinds}" for level in ("systems", "summaries") for kinds in ("all", "abstractive", "extractive")
    ]
    return table(["τ", *names], body)


def exam_by_row() -> str:
    """What the value of every row is, its threshold, which metrics failed it where, and where it is undecided.

    A mean over references is shown where its verdict is not that of the metric itself.
    """

    def verdict_of(corpus: str, key: tuple[str, str], name: str) -> list[str]:
        return [row["verdict"] for row in exam_rows(corpus, *key) if row["row"] == name]

    def of_corpora(name: str, verdict: str, shown: Callable[[Row], str]) -> str:
        cells = []
        for corpus, title in EXAMS.items():
            metrics = [
                f"{EXAMINED[key]}{shown(row)}"
                for key in EXAMINED
                for row in exam_rows(corpus, *key)
                if (row["row"], row["verdict"]) == (name, verdict)
                if key[0] != "references"
                or verdict_of(corpus, key, name) != verdict_of(corpus, ("rouge", key[1].removesuffix("_mean")), name)
            ]
            cells += [f"{title}: {', '.join(metrics)}"] if metrics else []
        return "; ".join(cells) or "–"

    body = [
        [
            f"`{name}`",
            rule.value,
            f"{rule.threshold:g}",
            of_corpora(name, "failed", lambda row: f" {spanned_value(row)}"),
            of_corpora(name, "undecided", lambda row: ""),
        ]
        for name, rule in thresholds().rows.items()
    ]
    return table(["row", "value", "threshold", "failed, with the value", "undecided"], body)


def spanned_value(row: Row) -> str:
    """A row's value with its interval, where it has one."""
    if not row["low"]:
        return written(row["value"], ".2f") if row["value"] else "–"
    low, high = (written(row[end], ".2f") for end in ("low", "high"))
    return f"{written(row['value'], '.2f')} [{low}, {high}]"


BLOCKS: dict[str, Callable[[], str]] = {
    "findings": sentences,
    "forecast": forecast,
    "axis": axis,
    "readers": readers,
    "checks": checks,
    "coverage": coverage,
    "held-back": held_back,
    "recorded": recorded,
    "exam": exam,
    "exam-people": exam_people,
    "exam-rows": exam_by_row,
}


# --- filling


def filled(text: str, page: str) -> str:
    """The page's text with every marker's number and every block as the files say; PageError names what cannot be."""

    def inline(match: re.Match[str]) -> str:
        try:
            return f"<!--= {match['source']} -->{value(match['source'])}<!--/-->"
        except (PageError, ValueError, KeyError) as error:
            raise PageError(f"{page}: <!--= {match['source']} -->: {error}") from error

    def block(match: re.Match[str]) -> str:
        name = match["name"]
        if name not in BLOCKS:
            raise PageError(f"{page}: no block {name!r}; there are: {', '.join(BLOCKS)}")
        try:
            return f"<!-- {name} -->\n{BLOCKS[name]()}<!-- /{name} -->"
        except PageError as error:
            raise PageError(f"{page}: block {name}: {error}") from error

    return BLOCK.sub(block, INLINE.sub(inline, text))


def copy_report() -> None:
    """Put the default study's report beside its page, where it was made here; its links lead to the recorded tables."""
    made = TABLES / STUDY / PAGES / REPORT
    if made.is_file():
        text = re.sub(r'<a href="\.\./report\.html">(.*?)</a>', r"\1", made.read_text())  # Snakemake's is not in git
        write_text(STUDIES / f"{STUDY}-report.html", text.replace('href="../', f'href="../../results/tables/{STUDY}/'))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--study", default=STUDY, help="do nothing unless this study has a page")
    if arguments.parse_args().study not in RECORDED:
        return
    try:
        for path in pages():
            text = path.read_text()
            new = filled(text, str(path.relative_to(ROOT)))
            if new != text:
                path.write_text(new)
                print(f"{path.relative_to(ROOT)}: numbers as recorded")
        for study in RECORDED:
            (STUDIES / f"{study}.md").write_text(study_page(study))
        (STUDIES / "across.md").write_text(across_page())
        copy_report()
    except PageError as error:
        sys.exit(f"pages: {error}")


if __name__ == "__main__":
    main()
