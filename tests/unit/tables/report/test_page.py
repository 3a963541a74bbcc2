"""The page that people read: whole, closed to the network and to markup in records, and as it says in a browser."""

import copy
import dataclasses
import itertools
import re
from html.parser import HTMLParser

import pytest

from browser import CHROMIUM, browser
from sumcurve.capabilities.extracts.evidence import Oracles
from sumcurve.study.doors import TABLES
from sumcurve.tables.report.page import page


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
    results, tables, found, _ = rich
    example = results.study.examples[0]
    examples = [dataclasses.replace(example, items=[dataclasses.replace(example.items[0], id=hostile)])]
    hostile_results = copy.copy(results)
    title = f"{hostile}. </script></title>"
    hostile_results.study = dataclasses.replace(results.study, title=title, examples=examples)
    again = Elements(page(hostile_results, {name: tables[name] for name in TABLES}, found, {}))
    assert len(again.named("script")) == scripts
    assert not any(name.startswith("on") for _, attributes in again.found for name in attributes)
    assert again.text.count(hostile) >= 5


def test_it_names_nothing_outside_of_itself(elements):
    for tag, attributes in elements.found:
        for name in ("src", "href", "srcset", "action"):
            address = attributes.get(name, "#")
            assert address.startswith(("#", "data:")), (tag, address)
    ids = [attributes["id"] for _, attributes in elements.found if "id" in attributes]
    assert len(set(ids)) == len(ids)
    assert {one["href"].removeprefix("#") for one in elements.named("a")} <= set(ids)
    (policy,) = (one["content"] for one in elements.named("meta") if "http-equiv" in one)
    assert policy.startswith("default-src 'none'")
    assert "http" not in policy


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
        equivalence=None,
    )
    _, _, found, text = paged(study)
    assert found == []
    assert Elements(text).named("article")


def test_items_leave_out_what_there_is_no_room_for(rich, monkeypatch):
    """The first of the draw stay, and their number is said."""
    results, tables, found, whole = rich
    monkeypatch.setattr("sumcurve.tables.report.page.ITEMS_BYTES", 40_000)
    small = page(results, {name: tables[name] for name in TABLES}, found, {})
    for corpus, every in ((one.corpus, one.items) for one in results.study.examples):
        start = f'<section class="corpus" data-corpus="{corpus}"'
        parts = [text.split(start)[1].split("</section>")[0] for text in (small, whole)]
        few, all_of = ([one.strip() for one in re.findall(r"<h4>(.*?)</h4>", part)] for part in parts)
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
    .map(one => [one.dataset.system, one.dataset.size, JSON.parse(one.dataset.scores)])"""


DRAWN = "[...document.querySelectorAll('.chart')].every(one => one.querySelector('svg'))"


def choose(name, value, on=None):
    """An expression that sets a control of the corpus that is shown."""
    part = "[...document.querySelectorAll('.of-corpus')].find(one => !one.hidden)"
    if on is None:
        return f"""{{ const one = {part}.querySelector("[name={name}]"); one.value = "{value}";
            one.dispatchEvent(new Event("change", {{bubbles: true}})); }}"""
    return f"""{{ const one = {part}.querySelector("input[name={name}][value='{value}']");
        if (one.checked != {str(on).lower()}) one.click(); }}"""


@pytest.mark.parametrize("dark", [False, True])
def test_it_loads_alone_and_fits_a_phone(opened, dark):
    shown, path = opened
    shown.log.clear()
    shown.asked.clear()
    shown.open(path, width=360, dark=dark)
    shown.wait(DRAWN)
    assert shown.run("document.querySelectorAll('.chart svg').length") > 0
    shown.run("document.querySelectorAll('details').forEach(one => one.open = true)")
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
    assert shown.run(articles) == 10
    shown.run("document.getElementById('more').click()")
    assert shown.run(articles) == 12


def test_items_come_best_or_worst_first(opened):
    shown, path = opened
    shown.open(path)
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
    assert shown.run("document.querySelector('noscript img').naturalWidth") > 0
    assert not shown.run("document.getElementById('filter').checkVisibility()")
