"""The page that people read: closed to the network and to markup in records, and as it says in a browser."""

import copy
import dataclasses
import itertools
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from browser import CHROMIUM, browser
from sumcurve.capabilities.extracts.evidence import Oracles
from sumcurve.study.doors import TABLES
from sumcurve.study.tables import contents_of
from sumcurve.tables.report.contents import Contents
from sumcurve.tables.report.facts import Corpus, read_tables, rows_of
from sumcurve.tables.report.findings import UNSEEN, Titles
from sumcurve.tables.report.leaderboard import in_millions
from sumcurve.tables.report.page import page
from sumcurve.tables.report.summaries import Reading
from sumcurve.tables.report.training import training_curves
from sumcurve.tables.results import Results

STORED = Path(__file__).parents[4] / "results" / "tables"


class Elements(HTMLParser):
    """Every element with its attributes, and the text outside of scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.found, self.text, self.inside = [], "", []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        if tag in ("script", "style"):
            self.inside.append(tag)

    def handle_endtag(self, tag):
        if self.inside and self.inside[-1] == tag:
            self.inside.pop()

    def handle_data(self, data):
        if not self.inside:
            self.text += data

    def named(self, name):
        return [attributes for tag, attributes in self.found if tag == name]


@pytest.fixture(scope="module")
def elements(rich):
    return Elements(rich[3])


def test_text_of_records_stays_text(elements, hostile, rich):
    """In sources, references, summaries, ids and titles; the page has as many scripts as before."""
    assert hostile in elements.text
    scripts = len(elements.named("script"))
    results, tables, contents, _ = rich
    example = results.study.examples[0]
    examples = [dataclasses.replace(example, items=[dataclasses.replace(example.items[0], id=hostile)])]
    hostile_results = copy.copy(results)
    title = f"{hostile}. </script></title>"
    hostile_results.study = dataclasses.replace(results.study, title=title, examples=examples)
    again = Elements(page(hostile_results, {name: tables[name] for name in TABLES}, contents, {}))
    assert len(again.named("script")) == scripts
    assert not any(name.startswith("on") for _, attributes in again.found for name in attributes)
    assert again.text.count(hostile) >= 4


def test_it_loads_nothing_and_leads_to_files_beside_it(elements, rich):
    beside = {"../report.html", "README.md", *(f"../{name}.csv" for name, table in rich[1].items() if table.rows)}
    for tag, attributes in elements.found:
        for name in ("src", "href", "srcset", "action"):
            address = attributes.get(name, "#")
            assert address.startswith(("#", "data:")) or (tag, name) == ("a", "href"), (tag, address)
            assert address.startswith(("#", "data:")) or address in beside, (tag, address)
    ids = [attributes["id"] for _, attributes in elements.found if "id" in attributes]
    assert len(set(ids)) == len(ids)
    links = {one["href"] for one in elements.named("a")}
    assert {link.removeprefix("#") for link in links if link.startswith("#")} <= set(ids)
    (policy,) = (one["content"] for one in elements.named("meta") if "http-equiv" in one)
    assert policy.startswith("default-src 'none'")
    assert "http" not in policy


def test_the_leaderboard_says_what_methods_and_marks_are(rich):
    """Methods and held-out parts in a clause, † with what it means."""
    assert "<b>PCOV</b>: pointer-generator with coverage" in rich[3]
    tables = {
        name: [row | {"corpus": "notes-unseen"} for row in rows if row.get("corpus") == "notes"]
        for name, rows in rows_of(rich[1]).items()
    }
    corpus = Corpus("notes-unseen", tables)
    board = Contents("rich", "", tables, Titles({})).board(corpus)
    assert board.held_out == UNSEEN
    assert "no significant source sensitivity" not in " ".join(board.notes)
    for row in tables["scores"]:
        row["reads_source"] = "no" if (row["method"], row["records"]) == ("abs", corpus.largest) else "yes"
    notes = Contents("rich", "", tables, Titles({})).board(Corpus("notes-unseen", tables)).notes
    assert "† not shown to use its source (no significant source sensitivity: " in " ".join(notes)


@pytest.mark.parametrize("study", sorted(path.name for path in STORED.iterdir() if path.is_dir()))
def test_the_headline_is_in_words(study):
    """It has neither a mark nor a term that the page explains elsewhere, also where nobody is ranked."""
    tables = read_tables(STORED / study)
    titles = Titles({})
    headlines = [contents_of(study, study, tables, titles).headline]
    unread = {name: rows for name, rows in tables.items() if name not in ("answers", "comparisons", "verdicts")}
    unread["scores_long"] = [row | {"why": "not validated on this corpus: failed"} for row in tables["scores_long"]]
    contents = contents_of(study, study, unread, titles)
    assert contents.leading == []
    headlines.append(contents.headline)
    assert headlines[1].startswith("No ranking: ")
    for headline in headlines:
        assert headline
        assert not re.search("[†‡¶]|sensitivity|reward", headline)


def test_training_curves_go_forward_in_time(rich_study, settings):
    """A stage starts from a checkpoint before the end of the one before it: no line holds both."""
    outputs = [
        dataclasses.replace(
            one,
            history=[
                *one.history,
                dataclasses.replace(one.history[-1], phase="later", updates=one.history[0].updates),
            ],
        )
        if one.history
        else one
        for one in rich_study.outputs
    ]
    drawn = training_curves(Results(dataclasses.replace(rich_study, outputs=outputs), settings), "notes", Titles({}))
    layers = [layer for panel in drawn["concat"] for layer in panel["layer"] if layer["mark"]["type"] == "line"]
    for layer in layers:
        fields = [layer["encoding"][channel]["field"] for channel in ("opacity", "strokeDash", "detail")]
        lines = {}
        for row in drawn["datasets"][layer["data"]["name"]]:
            lines.setdefault(tuple(row[field] for field in fields), []).append(row["updates"])
        assert "later" in {phase for _, phase, _ in lines}
        assert all(updates == sorted(updates) for updates in lines.values())
    assert layers


def test_parameters_are_in_millions():
    shown = [in_millions(count) for count in (None, 573_000, 12_345_678, 134_515_008, 405_799_000)]
    assert shown == ["", "0.57 M", "12 M", "135 M", "406 M"]


def test_equal_texts_of_an_item_stand_once(rich):
    """With the scores of every system that wrote it."""
    results = rich[0]
    example = results.study.examples[0]
    item = example.items[0]
    same = {cell: ["the same"] for cell in item.summaries}
    (shown, *_) = Reading(
        results, dataclasses.replace(example, items=[dataclasses.replace(item, summaries=same)])
    ).items
    blocks = [*shown.blocks.values(), shown.untrained]
    assert [len(block) for block in blocks] == [1] * len(blocks)
    assert {cell for block in blocks for written in block for cell in written.scores} == set(same)


def test_everything_has_a_name(elements):
    """Images their text, regions and groups of controls their label, and headings leave no level out."""
    assert all(one["alt"] for one in elements.named("img"))
    assert all(one.get("aria-label") for _, one in elements.found if one.get("role") in ("img", "region"))
    assert elements.named("html")[0]["lang"] == "en"
    levels = [int(tag[1]) for tag, _ in elements.found if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_a_study_whose_metrics_rank_nothing_has_a_page(rich_study, paged):
    outputs = []
    for one in rich_study.outputs:
        if one.corpus == "notes" and one.part == "study" and one.search != "paper":
            items = one.scores["rouge"]
            quiet = tuple(dataclasses.replace(metric, ranks=False) for metric in items.metrics)
            outputs.append(dataclasses.replace(one, scores={"rouge": dataclasses.replace(items, metrics=quiet)}))
    study = dataclasses.replace(
        rich_study,
        outputs=outputs,
        statistics=rich_study.statistics[:1],
        evidence={"extracts": Oracles()},
        examples=rich_study.examples[:1],
    )
    _, _, contents, text = paged(study)
    assert contents.findings == []
    assert Elements(text).named("article")


def test_items_leave_out_what_there_is_no_room_for(rich, monkeypatch):
    """The first of the draw stay, and their number is said."""
    results, tables, contents, whole = rich
    monkeypatch.setattr("sumcurve.tables.report.page.ITEMS_BYTES", 40_000)
    small = page(results, {name: tables[name] for name in TABLES}, contents, {})
    for corpus, every in ((one.corpus, one.items) for one in results.study.examples):
        start = f'<section class="corpus" data-corpus="{corpus}"'
        parts = [text.split(start)[1].split("</section>")[0] for text in (small, whole)]
        few, all_of = ([one.strip() for one in re.findall(r"<h4><a[^>]*>(.*?)</a></h4>", part)] for part in parts)
        assert all_of == [one.id for one in every]
        assert few == all_of[: len(few)]
        assert 1 <= len(few) < len(all_of)
        assert f"{len(few)} of 40 test items" in parts[0]


@pytest.fixture(scope="module")
def opened(rich, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(rich[3])
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    with browser() as shown:
        yield shown, path


VISIBLE = """[...document.querySelectorAll(".cell")].filter(one => one.checkVisibility())
    .flatMap(one => Object.entries(JSON.parse(one.dataset.scores)))
    .map(([cell, scores]) => [...cell.split("|"), scores])"""
UNFOLD = "document.querySelectorAll('.untrained').forEach(one => one.open = true)"


def choose(name, value, on=None):
    """An expression that sets a control of the corpus that is shown."""
    part = "[...document.querySelectorAll('.of-corpus')].find(one => !one.hidden)"
    if on is None:
        return f"""{{ const one = {part}.querySelector("[name={name}]"); one.value = "{value}";
            one.dispatchEvent(new Event("change", {{bubbles: true}})); }}"""
    return f"""{{ const one = {part}.querySelector("input[name={name}][value='{value}']");
        if (one.checked != {str(on).lower()}) one.click(); }}"""


def set_to(selector, value, event="change"):
    """An expression that sets a control."""
    return f"""{{ const one = document.querySelector("{selector}"); one.value = "{value}";
        one.dispatchEvent(new Event("{event}", {{bubbles: true}})); }}"""


def column(name, place):
    """An expression: the cells that are seen of a table's column."""
    return f"""[...document.querySelectorAll('#table-{name} tbody tr')].filter(one => one.checkVisibility())
        .map(one => one.cells[{place}].textContent)"""


def test_the_first_screen_answers(opened, rich):
    """Headline and leaderboard, the best first, stand above the fold of a desk and of a phone; methods by title."""
    shown, path = opened
    found = rich[2].findings
    for width in (1280, 390):
        shown.open(path, width=width)
        ends = (
            "[...document.querySelectorAll('.headline, .board[open] tbody tr')].map(one => one.getBoundingClientRect())"
        )
        headline, *rows = shown.run(f"{ends}.map(one => one.bottom)")
        assert headline < rows[0] < 800
        assert rows == sorted(rows)
        assert rows[-1] < 1.2 * 800
    answer = shown.run("document.querySelector('.headline').textContent").strip()
    assert answer.startswith(found[0].sentence)
    assert ", the best baseline" in answer.removeprefix(found[0].sentence)
    baseline = next(one for one in found if (one.corpus, one.table) == (found[0].corpus, "comparisons"))
    assert baseline.head in shown.run("document.querySelector('#findings').textContent")
    shown.run("scrollTo(0, document.documentElement.scrollHeight)")
    assert shown.run("document.querySelector('nav').getBoundingClientRect().top") == 0
    methods = shown.run(
        "[...document.querySelectorAll('.board[open] tr')].slice(1).map(one => one.cells[0].textContent)"
    )
    assert {name.strip(" †¶") for name in methods[:2]} == {"PCOV", "ABS"}
    scores = (
        "[...document.querySelectorAll('.board[open] .score span:last-child')].map(one => parseFloat(one.textContent))"
    )
    trained = shown.run(scores)[:2]
    assert trained == sorted(trained, reverse=True)


def test_tables_are_sorted_filtered_copied_and_traced(opened, rich):
    shown, path = opened
    shown.open(path)
    table = rich[1]["scores"]
    shown.run("document.getElementById('table-scores').open = true; new Promise(done => setTimeout(done, 50))")
    names = shown.run("[...document.querySelectorAll('#table-scores [data-column]')].map(one => one.dataset.column)")
    place, method = names.index("rouge1"), names.index("method")
    click = f"document.querySelectorAll('#table-scores th button')[{place}].click()"
    for falling in (True, False):
        shown.run(click)
        cells = [float(cell.split(" ")[0]) for cell in shown.run(column("scores", place))]
        assert len(cells) == len(table.rows)
        assert cells == sorted(cells, reverse=falling)
    shown.run(set_to("#table-scores [type=search]", "pcov 2,000", "input"))
    assert {cell.strip("†¶") for cell in shown.run(column("scores", method))} == {"PCOV"}
    shown.run("""navigator.clipboard.writeText = text => { window.copied = text; return Promise.resolve(); };
        for (const one of document.querySelectorAll('#table-scores .tools button')) one.click()""")
    shown.wait("window.copied")
    assert shown.run("copied").count("PCOV") == len(shown.run(column("scores", method)))
    shown.run(f"document.querySelector('#table-scores tbody tr:not([hidden])').cells[{place}].click()")
    command = shown.run("document.querySelector('#table-scores .trace').textContent")
    row = int(re.fullmatch(r"sumcurve trace scores:(\d+):rouge1 --study rich", command)[1])
    assert (table.rows[row - 1]["method"], table.rows[row - 1]["records"]) == ("pcov", 2000)


def test_a_link_leads_to_an_item_that_was_not_shown_and_tokens_have_a_switch(opened):
    shown, path = opened
    shown.open(path)
    seen = "document.getElementById('item-notes-11').checkVisibility()"
    assert not shown.run(seen)
    shown.run("location.hash = 'item-notes-11'")
    shown.wait(seen)
    shown.run("document.querySelector('#item-notes-11 .words').append(document.createElement('i'))")
    blank = "getComputedStyle(document.querySelector('#item-notes-11 .words i'), '::before').content"
    assert shown.run(blank) == "none"
    shown.run("document.querySelector('[name=tokens]').click()")
    assert shown.run(blank) == '" "'


@pytest.mark.parametrize("dark", [False, True])
def test_it_loads_alone_and_fits_a_phone(opened, dark):
    shown, path = opened
    shown.log.clear()
    shown.asked.clear()
    shown.open(path, width=360, dark=dark)
    shown.run("document.querySelectorAll('details').forEach(one => one.open = true)")
    shown.wait("[...document.images].every(one => one.complete && one.naturalWidth)")
    assert shown.run("document.documentElement.scrollWidth") <= 360
    assert shown.log == []
    assert {address for address in shown.asked if not address.startswith("data:")} == {path.as_uri()}


def test_what_markup_brings_in_the_browser_refuses(opened):
    """The policy knows the page's own scripts; no other runs."""
    shown, path = opened
    shown.open(path)
    shown.run("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=window.ran=1>')")
    shown.run("new Promise(done => setTimeout(done, 200))")
    assert shown.run("window.ran") is None
    assert any("Content Security Policy" in said for said in shown.log)
    shown.log.clear()


def test_the_filter_hides_what_it_says_and_more_items_come_on_request(opened):
    shown, path = opened
    shown.open(path)
    assert {one[0] for one in shown.run(VISIBLE)} == {"pcov", "abs"}
    shown.run(UNFOLD)
    cells = shown.run(VISIBLE)
    assert {one[0] for one in cells} == {"lead", "random", "best-sentence", "pcov", "abs"}
    assert {one[1] for one in cells} == {"", "500", "1000", "2000"}
    shown.run(choose("system", "abs", on=False))
    shown.run(choose("size", "1000", on=False))
    fewer = shown.run(VISIBLE)
    assert fewer == [one for one in cells if one[0] != "abs" and one[1] != "1000"]
    shown.run("document.querySelector('input[value=albums]').click()")
    assert {one[1] for one in shown.run(VISIBLE)} == {"", "2000"}
    articles = "[...document.querySelectorAll('.item')].filter(one => one.checkVisibility()).length"
    assert shown.run(articles) == 3
    shown.run("document.getElementById('more').click()")
    assert shown.run(articles) == 12


def test_items_come_best_or_worst_first(opened):
    shown, path = opened
    shown.open(path)
    shown.run(UNFOLD)
    for against in ("", "lead"):
        shown.run(choose("cell", "pcov|2000"))
        shown.run(choose("against", against))
        seen = {}
        for order in ("best", "worst"):
            shown.run(choose("order", order))
            cells = shown.run(VISIBLE)
            own = [one[2][0] for one in cells if one[:2] == ["pcov", "2000"]]
            lead = [one[2][0] for one in cells if one[0] == "lead"]
            seen[order] = [a - b for a, b in zip(own, lead, strict=True)] if against else own
            assert seen[order] == sorted(seen[order], reverse=order == "best")
        assert seen["best"][0] > seen["worst"][0]


def test_without_scripts_figures_and_tables_are_there(opened):
    shown, path = opened
    shown.open(path, scripts=False)
    shown.call("Emulation.setScriptExecutionDisabled", value=False)
    assert shown.run("document.querySelector('.picture img').naturalWidth") > 0
    assert not shown.run("document.getElementById('filter').checkVisibility()")
    for part in (".headline", ".board td", "#training img", "#tables summary"):
        assert shown.run(f"document.querySelector('{part}').checkVisibility()"), part
