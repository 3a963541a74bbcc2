"""Sheets go out, simulated annotators fill them, and what comes back shows what was put in."""

import json
import re

import pytest

import annotators
from annotators import Annotator, fill, read_sheet, write_corpus
from sumcurve.__main__ import parser
from sumcurve.capabilities.people.answers import read_answers
from sumcurve.capabilities.people.protocols import KUMAR_CHEUNG, WEI, PeopleError
from sumcurve.capabilities.people.results import results
from sumcurve.capabilities.people.sheets import MAIN, PILOT, read_key
from sumcurve.settings.study import Bootstrap
from sumcurve.store.records import write_jsonl

SHARES = {
    "sound": {"garbled": 0.05, "elsewhere": 0.05, "wrong": 0.1, "fine": 0.8},
    "shaky": {"garbled": 0.2, "elsewhere": 0.2, "wrong": 0.2, "fine": 0.4},
}
SETTINGS = Bootstrap(resamples=400)


def run(*arguments):
    told = parser().parse_args(["people", *map(str, arguments)])
    told.run(told)


@pytest.fixture(scope="module")
def sent(tmp_path_factory):
    """Sheets of two systems and the references for two annotators, with a pilot."""
    home = tmp_path_factory.mktemp("people")
    outputs = write_corpus(home, SHARES, records=340)
    words = ["--items", 240, "--pilot", 100, "--seed", 3, "--json", home / "out.json", "-q"]
    run("sheet", *outputs, "--to", home / "sheets", *words)
    written = json.loads((home / "out.json").read_text())
    assert {row["path"] for row in written["sheets"]} == {*map(str, (home / "sheets").glob("*.csv"))}
    return home / "sheets"


@pytest.fixture(scope="module")
def key(sent):
    return read_key(sent.with_name("sheets.key.json"))


def returned(folder, to, people=None):
    """All sheets, filled."""
    found = []
    for name, annotator in zip("ab", people or [Annotator(1), Annotator(2)], strict=True):
        for number in (1, 2, 3):
            found.append(fill(folder / f"{name}-{number}.csv", WEI, annotator, to))
    return found


def truth(folder, key):
    """The share of good summaries of every system on the main sheets, by their last words, in percent."""
    found = {}
    for path in folder.glob("?-2.csv"):
        for row in read_sheet(path):
            for name in key.entries[row["code"]].of:
                found.setdefault(name, []).append(row["summary"].endswith("fine"))
    return {name: 100 * sum(good) / len(good) for name, good in found.items()}


def test_what_faultless_annotators_say_is_what_was_put_in(sent, key, tmp_path):
    answers = read_answers(returned(sent, tmp_path), key)
    found = results(answers, SETTINGS)
    assert (found.records, found.left_out) == (240, 0)
    assert {share.name: pytest.approx(share.share.mean) for share in found.shares} == truth(sent, key)
    assert all(sum(share.counts.values()) == 240 for share in found.shares)
    for agreed in found.agreements:
        assert agreed.agreement.value == pytest.approx(1)
        assert agreed.agreement.same == 1


def test_noisy_and_lenient_annotators_give_what_their_bias_makes_of_the_truth(sent, key, tmp_path):
    # Right in .8, else one of four; then a bad one becomes good with .25.
    right, lenient = 0.8, 0.25
    people = [Annotator(seed, right, lenient) for seed in (5, 6)]
    found = results(read_answers(returned(sent, tmp_path, people=people), key), SETTINGS)
    for share in found.shares:
        put_in = truth(sent, key)[share.name] / 100
        before = right * put_in + (1 - right) / 4
        known = 100 * (before + lenient * (1 - before))
        assert share.name == "reference" or share.share.low < known < share.share.high
    by_pair = {frozenset((one.first, one.second)): one for one in found.differences}
    apart = by_pair[frozenset(("foxes-sound-12345678", "foxes-shaky-12345678"))]
    assert apart.p < 0.001
    assert len(found.differences) == 3
    alone = [one.difference.p for one in found.differences]
    assert all(one.p >= alone[place] for place, one in enumerate(found.differences))
    for one in found.differences:
        low, high = one.interval
        assert (one.p < 0.05) == (low > 0 or high < 0)
        assert -100 <= low <= one.difference.low <= one.difference.high <= high <= 100


def test_agreement_falls_with_how_often_annotators_are_right(sent, key, tmp_path):
    by_right = {}
    for right in (0.5, 0.9):
        people = [Annotator(seed, right) for seed in (5, 6)]
        found = results(read_answers(returned(sent, tmp_path, people=people), key), SETTINGS).agreements
        by_right[right] = {(one.whose, one.coefficient): one.agreement for one in found}
    whose = {name for name, _ in by_right[0.5]}
    assert whose == {"a twice, pilot", "b twice, pilot", "a and b, pilot", "all annotators, pilot"}
    for name, agreement in by_right[0.9].items():
        assert agreement.value > by_right[0.5][name].value + 0.2
        assert agreement.low < kappa_of(0.9, sent) < agreement.high


def kappa_of(right, folder):
    """Of two who are right with this probability and else say any of four outcomes, on the pilot's texts."""
    words = [row["summary"].split()[-1] for row in read_sheet(folder / "a-1.csv")]
    meant = [annotators.WORDS[word] for word in words]
    shares = [meant.count(outcome) / len(meant) for outcome in WEI.outcomes]
    seen, other = right + (1 - right) / 4, (1 - right) / 4
    same = seen**2 + 3 * other**2
    chance = sum((right * share + other) ** 2 for share in shares)
    return (same - chance) / (1 - chance)


def test_sheets_are_blind_shuffled_and_by_source(sent, key):
    shown = "".join(path.read_text() for path in sorted(sent.iterdir()))
    for told in ("sound", "shaky", "reference", "den/", "foxes-", "12345678"):
        assert told not in shown
    assert not list(sent.glob("*key*"))
    own = {}
    for name in "ab":
        entries = [key.entries[row["code"]] for row in read_sheet(sent / f"{name}-2.csv")]
        order = [entry.id for entry in entries]
        own[name] = set(order)
        assert len(order) == 3 * len(own[name]) == 3 * 120
        assert all(len(set(order[place : place + 3])) == 1 for place in range(0, len(order), 3))
        assert order != sorted(order)
        assert len({entry.of for entry in entries[::3]}) == 3, "any system may come first"
    assert not own["a"] & own["b"]
    assert not {entry.id for entry in key.entries.values() if entry.round == PILOT} & (own["a"] | own["b"])


def test_the_pilot_comes_again_in_another_order_under_other_codes(sent, key):
    first, again = ([row["code"] for row in read_sheet(sent / f"a-{number}.csv")] for number in (1, 3))
    assert not set(first) & set(again)
    units = [[key.entries[code].unit for code in codes] for codes in (first, again)]
    assert sorted(units[0]) == sorted(units[1])
    assert units[0] != units[1]
    assert not [path for path in sent.iterdir() if "pilot" in path.name], "no name tells that texts come again"


def test_the_same_seed_gives_the_same_sheets_and_another_others_and_so_do_contrasts_of_another_system(tmp_path):
    outputs = write_corpus(tmp_path, SHARES, records=30)
    for name, seed in (("one", 1), ("two", 1), ("three", 2)):
        run("sheet", *outputs, "--to", tmp_path / name, "--items", 20, "--seed", seed)
    said = {name: (tmp_path / name / "a-2.csv").read_bytes() for name in ("one", "two", "three")}
    assert said["one"] == said["two"] != said["three"]
    file = contrasts(tmp_path / "failed.jsonl")
    for name in ("four", "five"):
        run("sheet", "--to", tmp_path / name, "--contrasts", file, "--system", name)
    keys = [read_key(tmp_path / f"{name}.key.json") for name in ("four", "five")]
    assert not keys[0].entries.keys() & keys[1].entries.keys()


def test_equal_summaries_of_a_source_are_judged_once_and_count_for_all(tmp_path):
    outputs = write_corpus(tmp_path, {"sound": SHARES["sound"]}, records=40)
    twin = tmp_path / "results" / "outputs" / "foxes-twin-87654321"
    with annotators.manifest.building(twin, {"corpus": annotators.CORPUS}, {}) as stage:
        (stage / "summaries.jsonl").write_bytes((outputs[0] / "summaries.jsonl").read_bytes())
    run("sheet", *outputs, twin, "--to", tmp_path / "sheets", "--items", 40, "--annotators", "a")
    assert len(read_sheet(tmp_path / "sheets" / "a-2.csv")) == 2 * 40
    key = read_key(tmp_path / "sheets.key.json")
    found = results(read_answers([fill(tmp_path / "sheets" / "a-2.csv", WEI, Annotator(1), tmp_path)], key), SETTINGS)
    means = {share.name: share.share.mean for share in found.shares}
    assert means["foxes-twin-87654321"] == means[outputs[0].name]
    assert means["reference"] == 100


def test_no_cell_of_a_sheet_is_a_formula_and_no_code_a_number_or_date(sent):
    computed = 0
    for path in sent.glob("*.csv"):
        for row in read_sheet(path):
            assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in row.values())
            assert re.fullmatch("[bcdfghjkmnpqrtvwxz]{6}", row["code"])
            computed += row["source"].startswith("'=HYPERLINK")
    assert computed, "a source begins as a formula does"


def test_a_pilot_leaves_the_sources_of_the_main_sheets_or_is_refused(tmp_path):
    outputs = write_corpus(tmp_path, SHARES, records=40)
    for pilot in (40, 2000):
        with pytest.raises(PeopleError, match=f"3 sources and {pilot} of a pilot are asked for, but there are 40"):
            run("sheet", *outputs, "--to", tmp_path / "sheets", "--pilot", pilot, "--items", 3)
    assert not (tmp_path / "sheets").exists()
    run("sheet", *outputs, "--to", tmp_path / "sheets", "--pilot", 39, "--items", 1)
    key = read_key(tmp_path / "sheets.key.json")
    assert [len({key.entries[code].id for code in key.codes(when)}) for when in (MAIN, PILOT)] == [1, 39]


def contrasts(path, rules=4, each=40):
    """Contrasts of which each rule has its own share of issues; one rule has fewer than are asked for."""
    words = list(annotators.ISSUES)
    rows = [
        {
            "id": f"den/{number}",
            "group": f"den{number}",
            "rule": f"rule{rule}",
            "source": "The fox ran .",
            "gold": ["a", "fox", str(number)],
            "contrast": ["a", "hen", str(number), str(rule), words[(number * (rule + 1)) % 3]],
        }
        for rule in range(rules)
        for number in range(12 if rule == 3 else each)
    ]
    write_jsonl(path, rows)
    return path


def test_contrasts_are_drawn_by_rule_and_come_back(tmp_path, capsys):
    sheets, ask = tmp_path / "sheets", ("--system", "abs", "--annotators", "one,two")
    run("sheet", "--to", sheets, "--contrasts", contrasts(tmp_path / "failed.jsonl"), *ask)
    key = read_key(tmp_path / "sheets.key.json")
    assert key.system == "abs"
    per_rule = {rule: {one.unit for one in key.entries.values() if one.of == (rule,)} for rule in key.of}
    assert [len(units) for units in per_rule.values()] == [25, 25, 25, 12]
    shown = (sheets / "one-2.csv").read_text()
    assert "rule" not in shown
    assert "abs" not in shown
    filled = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        filled.append(fill(sheets / f"{name}-2.csv", KUMAR_CHEUNG, Annotator(1), tmp_path / name))
    found = results(read_answers(filled, key), SETTINGS)
    assert found.records == 25 * 3 + 12
    rows = [row for name in ("one", "two") for row in read_sheet(sheets / f"{name}-2.csv")]
    meant = [annotators.ISSUES[row["contrast"].split()[-1]] for row in rows]
    assert found.shares[0].counts == {one: meant.count(one) for one in set(meant)}
    assert found.shares[0].share.mean == pytest.approx(100 * sum(one != "neither" for one in meant) / len(meant))
    assert [one.agreement.value for one in found.agreements] == pytest.approx([1] * 3)
    run("read", "--key", tmp_path / "sheets.key.json", *filled)
    assert "readability" in capsys.readouterr().out


@pytest.mark.parametrize("pilot", [1, 40, 45, 107])
def test_a_pilot_of_contrasts_is_as_large_as_asked_for_and_apart(tmp_path, pilot):
    """Rules have 40, 40, 40 and 12 contrasts; with 5 of each in the main sheets, 35, 35, 35 and 7 are left."""
    file = contrasts(tmp_path / "failed.jsonl")
    ask = ("--contrasts", file, "--system", "abs", "--each", 5, "--annotators", "a", "--pilot", pilot)
    run("sheet", "--to", tmp_path / "sheets", *ask)
    key = read_key(tmp_path / "sheets.key.json")
    main, judged = ({key.entries[code].unit for code in key.codes(when)} for when in (MAIN, PILOT))
    assert (len(main), len(judged)) == (20, pilot)
    assert not main & judged


@pytest.mark.parametrize(("bad", "ends"), [(1, {100}), (15, set()), (29, {0})])
def test_the_interval_of_a_share_ends_where_shares_do(tmp_path, bad, ends):
    outputs = write_corpus(tmp_path, {"sound": {"fine": 1}}, records=30, per_group=1)
    run("sheet", *outputs, "--to", tmp_path / "sheets", "--items", 30, "--annotators", "a", "--without-reference")
    filled = fill(tmp_path / "sheets" / "a-2.csv", WEI, Annotator(1), tmp_path)
    rows = [row | {"faithful": "no" if place < bad else "yes"} for place, row in enumerate(read_sheet(filled))]
    annotators.write_filled(filled, rows)
    run("read", filled, "--key", tmp_path / "sheets.key.json", "--json", tmp_path / "out.json")
    (share,) = json.loads((tmp_path / "out.json").read_text())["shares"]
    assert {share["share"]["low"], share["share"]["high"]} & {0, 100} == ends


def test_in_part_records_without_all_their_answers_are_left_out_and_counted(sent, key, tmp_path):
    filled = returned(sent, tmp_path)
    rows = read_sheet(filled[1])
    for row in rows[:2]:  # two of a source's three
        row |= dict.fromkeys(("fluent", "related", "faithful"), "")
    annotators.write_filled(filled[1], rows)
    with pytest.raises(PeopleError, match=rf"2 of {len(key.entries)} codes have no answer"):
        read_answers(filled, key)
    answers = read_answers(filled, key, partial=True)
    found = results(answers, SETTINGS)
    assert (found.records, found.left_out, len(answers.unanswered)) == (239, 1, 2)
    assert set(answers.given) | set(answers.unanswered) == set(key.entries)


def test_a_shared_source_counts_once_with_the_mean_of_its_annotators_who_are_compared_on_it(tmp_path):
    outputs = write_corpus(tmp_path, {"sound": {"fine": 1}}, records=30, per_group=1)
    words = ["--items", 30, "--annotators", "a,b", "--without-reference", "--shared"]
    run("sheet", *outputs, "--to", tmp_path / "sheets", *words)
    filled = [fill(tmp_path / "sheets" / f"{name}-2.csv", WEI, Annotator(1), tmp_path) for name in "ab"]
    # One of the two says no to 12 of 30: their mean is 80, and of all judgements 48 of 60 are good.
    rows = [row | {"faithful": "no" if place < 12 else "yes"} for place, row in enumerate(read_sheet(filled[1]))]
    annotators.write_filled(filled[1], rows)
    key = read_key(tmp_path / "sheets.key.json")
    found = results(read_answers(filled, key), SETTINGS)
    assert (found.records, found.left_out, len(key.entries)) == (30, 0, 60)
    (share,) = found.shares
    assert share.share.mean == pytest.approx(80)
    assert share.counts == {"good": 48, "not faithful": 12}
    assert {one.whose for one in found.agreements} == {"a and b, main", "all annotators, main"}
    assert found.agreements[0].agreement.same == pytest.approx(18 / 30)
    # Where one of the two has no answer, the record is left out for the other, too.
    answers = read_answers(filled[:1], key, partial=True)
    assert results(answers, SETTINGS).records == 0
