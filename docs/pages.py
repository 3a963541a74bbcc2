"""Fill README.md and docs/*.md with numbers from recorded files: `make pages` (`make record` does so, too).

A number in prose stands between two comments that say where it comes from:

    <!--= scores.csv method=pcov percent=100: rouge1 .2f± -->25.94 [23.95, 27.92]<!--/-->

First the file: a path from the repository's root, or, without a folder, a table of the recorded study. Then what one
row must hold, and only one row may: `column=value`, quoted where a value has blanks (the mark of a system that does not
read is left out). Then the column, and how to write it: a format of Python's (`.2f`, `,.0f`, `.1%` for a share in
percent, without the sign), with `±` for the interval in the columns `…_low` and `…_high`. The first number of a cell is
taken. Without a format the cell stands as it is. Of a page (`.md`) the row is the line that holds a text, the column
the text before the number:

    <!--= extracts.md "outlines: 150 articles": "any order ROUGE-1" .2f -->80.18<!--/-->

A block stands between `<!-- NAME -->` and `<!-- /NAME -->` and is made by a function of `BLOCKS`.
"""

import argparse
import csv
import re
import shlex
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
STUDY = "docstrings"  # whose tables the pages below docs/ show
SHOWN = "docstrings-large"  # whose results README.md shows: the largest study that is recorded
# Those that are recorded, or will be
RECORDED = (STUDY, "docstrings-large", "docstrings-all", "pretraining", "fairseq", "salience")
WHOLE = "manifest-????????.json"  # of a study's tables, but not of a part of them
METRIC = "ROUGE-1"  # whose sentences README.md shows; its table has rouge1
MARK = "†"  # of a system that does not read its source
FRAMED = "¶"  # of a system that fills one frame
BOUND = "best-sentence"  # of what sees the reference, in README's table
ELSEWHERE = "- **What questions measure**"  # said beside the study's tables alone
INLINE = re.compile(r"<!--= (?P<source>[^>]+?) -->(?P<shown>.*?)<!--/-->", flags=re.S)
BLOCK = re.compile(r"<!-- (?P<name>[a-z-]+) -->\n(?P<shown>.*?)<!-- /(?P=name) -->", flags=re.S)
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")

Row = dict[str, str]


class PageError(ValueError):
    """A marker that names nothing, or not one thing; the message names page and marker."""


def pages() -> list[Path]:
    """The pages with markers."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def path_of(file: str) -> Path:
    """A path from the root, or a file of the recorded study's tables."""
    return ROOT / file if "/" in file else ROOT / "results" / "tables" / STUDY / file


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


def marks(row: Row) -> str:
    """The marks of a row's system; tables recorded by earlier code have the first in its name."""
    blind = row.get("reads_source") == "no" or MARK in row["method"]
    return (MARK if blind else "") + (FRAMED if row.get("one_frame") == "yes" else "")


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


def listed(words: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else "–"


def results() -> str:
    """The main table of README.md's study, and what came out in sentences."""
    metric, title = "rouge1", METRIC
    folder = f"results/tables/{SHOWN}"
    scores = rows(f"{folder}/scores.csv")
    trained = [row for row in scores if row["records"]]
    corpus = trained[0]["corpus"]
    trained = [row for row in trained if row["corpus"] == corpus]
    others = [
        row
        for row in scores
        if row["corpus"] == corpus and not row["records"] and (row["role"] != "bound" or row["method"] == BOUND)
    ]
    sizes = sorted({int(row["records"]) for row in trained})
    largest = str(sizes[-1])
    names = {
        row["method"].rstrip(MARK): row["title"] for row in rows(f"{folder}/methods.csv") if row["corpus"] == corpus
    }
    marked = {row["method"].rstrip(MARK): marks(row) for row in trained if row["records"] == largest}

    def shown(method: str) -> str:
        return names.get(method.rstrip(MARK), method.rstrip(MARK)) + marked.get(method.rstrip(MARK), "")

    beaten = {name: [] for name in names}  # at the largest size, by the tests of the table `comparisons`
    for row in rows(f"{folder}/comparisons.csv"):
        sides = {row["first"].rstrip(MARK), row["second"].rstrip(MARK)}
        records = {row["first_records"], row["second_records"]} - {""}
        ahead = row["ahead"].rstrip(MARK)
        same = row["corpus"] == corpus and row["metric"] == title and records == {largest} and len(sides) == 2
        if same and ahead in beaten:
            beaten[ahead].extend(sides - {ahead})
    body = []
    for name in names:
        by_size = {int(row["records"]): row for row in trained if row["method"].rstrip(MARK) == name}
        cells = [
            written(by_size[size][metric], ".2f") + marks(by_size[size]) if size in by_size else "–"
            for size in sizes[:-1]
        ]
        at_largest = {"corpus": corpus, "metric": title, "records": largest, "basis": "measured"}
        seconds = next(
            (
                row["seconds"]
                for row in rows(f"{folder}/answers.csv")
                if row["method"] == name and {key: row[key] for key in at_largest} == at_largest
            ),
            "",
        )
        last = by_size[sizes[-1]]
        body.append(
            [
                shown(name),
                *cells,
                spanned(last, metric, ".2f"),
                written(seconds, ".0f") if seconds else "–",
                listed([shown(other) for other in sorted(beaten[name])]),
            ]
        )
    for row in others:
        body.append([row["method"], *("" for _ in sizes[:-1]), spanned(row, metric, ".2f"), "", ""])
    header = [f"{title} with … records", *(f"{size:,}" for size in sizes), "seconds", "shown to be ahead of"]
    return "\n".join(filter(None, [table(header, body), sentences(corpus)]))


def sentences(corpus: str) -> str:
    """What the README.md of the study's tables says came out on a corpus, a line each; nothing where there is none.

    Of paragraphs about one metric or another those stand here that are about ROUGE-1, where a bullet has any.
    """
    page = path_of(f"results/tables/{SHOWN}/README.md")
    if not page.is_file():
        return ""
    section = re.search(rf"^### {re.escape(corpus)}$(.*?)^##", page.read_text(), flags=re.M | re.S)
    if section is None:
        raise PageError(f"{page.relative_to(ROOT)} says nothing of {corpus}")
    folder = page.parent.relative_to(ROOT)
    bullets: list[list[str]] = []
    for line in section[1].splitlines():
        if line.startswith("- "):
            bullets.append([line])
        elif line.startswith("  - "):
            bullets[-1].append(line.removeprefix("  - "))
    told = ("<br>".join((head, *of_one_metric(paragraphs))) for head, *paragraphs in bullets)
    return "".join(
        re.sub(r"\]\((?=[^)/]+\))", f"]({folder}/", line) + "\n" for line in told if not line.startswith(ELSEWHERE)
    )


def of_one_metric(paragraphs: list[str]) -> list[str]:
    """Those of a bullet's paragraphs that are of no other metric than `METRIC`; all where none is of that."""
    if not any(METRIC in one for one in paragraphs):
        return paragraphs
    metrics = {row["metric"] for row in rows(f"results/tables/{SHOWN}/answers.csv")}
    return [one for one in paragraphs if METRIC in one or not any(name in one for name in metrics)]


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
    """Verdicts on the second half of LCDB: Brier scores of P(ahead)."""
    who = {
        "verdicts": "verdicts",
        "stays ahead": "whoever is ahead stays ahead",
        "log-linear": "a line in log d",
    }
    body = [
        [
            title,
            *(
                written(
                    one("benchmarks/lcdb.csv", measure="Brier score of P(ahead)", of=f"{name} at {at}")["value"], ".4f"
                )
                for at in ("1d", "2d", "4d")
            ),
        ]
        for name, title in who.items()
    ]
    return table(["Brier score of P(ahead)", "at d", "at 2d", "at 4d"], body)


def worth_of_pretraining() -> str:
    """ROUGE-1 of the study pretraining's methods, and with how many records each has the score from scratch."""
    folder = "results/tables/pretraining"
    page = ROOT / folder / "pretraining.md"
    if not page.is_file():
        return ""
    lines = [line.strip("| ").split(" | ") for line in page.read_text().splitlines() if line.startswith("| ")]
    header, *body = (line for line in lines if not line[0].startswith("---"))
    found = [dict(zip(header, line, strict=True)) for line in body]
    here = [row for row in found if row["metric"] == "ROUGE-1"]
    columns = ("method", "records", "from scratch", "score", "difference", "says", "reaches it with", "seconds")
    return table(list(columns), [[row[column].strip("*") for column in columns] for row in here])


def recorded() -> str:
    """The studies whose tables are in git, with their titles; links from docs/."""
    there = [name for name in RECORDED if list((ROOT / "results" / "tables" / name).glob(WHOLE))]
    titles = {
        name: yaml.safe_load((ROOT / "config" / "studies" / f"{name}.yaml").read_text())["title"] for name in there
    }
    return "".join(f"- [{name}](../results/tables/{name}): {' '.join(titles[name].split())}\n" for name in there)


BLOCKS: dict[str, Callable[[], str]] = {
    "results": results,
    "coverage": coverage,
    "held-back": held_back,
    "recorded": recorded,
    "worth-of-pretraining": worth_of_pretraining,
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


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--study", default=STUDY, help="do nothing unless the pages show this study's tables")
    if arguments.parse_args().study not in (STUDY, SHOWN):
        return
    try:
        for path in pages():
            text = path.read_text()
            new = filled(text, str(path.relative_to(ROOT)))
            if new != text:
                path.write_text(new)
                print(f"{path.relative_to(ROOT)}: numbers as recorded")
    except PageError as error:
        sys.exit(f"pages: {error}")


if __name__ == "__main__":
    main()
