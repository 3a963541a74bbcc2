"""From what a system failed to dodge to what people say of it: sheets, both ways back, the table's figures."""

import dataclasses
from collections import Counter

import numpy as np
import pytest

from annotators import CORPUS, ISSUES, Annotator, fill, read_sheet, write_corpus
from sumcurve.__main__ import parser
from sumcurve.capabilities.contrasts import sets as contrasts
from sumcurve.capabilities.contrasts.judged import Judged, write_judged
from sumcurve.capabilities.contrasts.sets import RULES, Contrast, Contrasted
from sumcurve.capabilities.people.contrasts import contrast_people
from sumcurve.capabilities.people.contrasts.evidence import JudgedByPeople, JudgedContrasts, judged_by_people
from sumcurve.capabilities.people.protocols import KUMAR_CHEUNG, PeopleError
from sumcurve.capabilities.people.results import ALL_RULES, Share
from sumcurve.capabilities.people.results import Results as Said
from sumcurve.capabilities.people.texts import of_judged
from sumcurve.corpora.store import Corpus
from sumcurve.settings.corpus import Judgements
from sumcurve.settings.study import Bootstrap
from sumcurve.statistics.intervals import Estimate
from sumcurve.store import manifest
from sumcurve.store.manifest import sha256_file
from sumcurve.tables.evidence import EvidenceError
from sumcurve.tables.results import Results

ANNOTATION = "annotations/foxes-contrasts-0a1b2c3d"
RUN, OTHER = "foxes-pcov-100-s1-0a1b2c3d", "foxes-pcov-050-s1-0a1b2c3d"
RECORDS, DODGED, TIED, UNTOLD = 60, 3, 5, 7  # every third contrast is dodged; some tie, some cannot be told
WORDS = list(ISSUES)


def run(*arguments):
    told = parser().parse_args(["people", *map(str, arguments)])
    told.run(told)


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """A folder of judged contrasts of two runs: of every gold one contrast of each rule, whose last word says what is
    wrong with it."""
    home = tmp_path_factory.mktemp("judged")
    write_corpus(home, {}, records=RECORDS)
    rows = []
    for number, item in enumerate(Corpus(home / "results" / CORPUS).part("test")):
        made = (
            Contrast(rule, ("a", "hen", str(number), str(place), WORDS[(number + place * place) % 3]))
            for place, rule in enumerate(RULES)
        )
        rows.append(Contrasted(item.id, tuple(item.target[0].split(" ")), tuple(made)))
    with manifest.building(home / "results" / ANNOTATION, {"corpus": CORPUS}, {}) as stage:
        contrasts.write(stage, rows)
    each = 1 + len(RULES)
    places = np.arange(RECORDS * each)
    gold = places % each == 0
    told = ~gold & (places % UNTOLD != 0)
    own = np.where(gold | ~told | (places % TIED == 0), -5.0, np.where(places % DODGED == 0, -6.0, -4.0))
    found = Judged(own, np.full(len(own), 5, np.int32), told, np.arange(0, len(own) + 1, each, dtype=np.int32))
    folder = home / "results" / "outputs" / "foxes-pcov-contrasts-0a1b2c3d"
    runs = [f"runs/{RUN}", f"runs/{OTHER}"]
    with manifest.building(folder, {"corpus": CORPUS, "contrasts": ANNOTATION, "runs": runs}, {}) as stage:
        write_judged(stage / f"{RUN}.safetensors", found, rows)
        all_dodged = Judged(np.where(gold, -1.0, -9.0), found.tokens, ~gold, found.starts)
        write_judged(stage / f"{OTHER}.safetensors", all_dodged, rows)
    failed = {
        (one.item, some.sentences[0]): some.rule
        for one, place in zip(rows, range(0, len(own), each), strict=True)
        for number, some in enumerate(one.contrasts, start=place + 1)
        if number % UNTOLD and (number % TIED == 0 or number % DODGED)
    }
    return folder, rows, failed


def test_failures_are_those_that_the_run_tells_and_does_not_dodge(judged):
    folder, _, failed = judged
    corpus, texts, told = of_judged(folder, RUN)
    assert corpus == CORPUS.split("/")[1]
    assert {(text.id, text.shown["contrast"]): text.of[0] for text in texts} == failed
    assert told > len(failed)
    groups = {text.id: text.group for text in texts}
    assert all(groups[f"den/{number}"] == f"den{number // 2}" for number in range(RECORDS))
    assert all(text.shown["source"].endswith("ran.\nIt was late.") for text in texts), "as people wrote it"


@pytest.mark.parametrize(
    ("folder", "run", "what"),
    [
        ("", "foxes-pcov-025-s1-0a1b2c3d", f"is no run of foxes-pcov-contrasts-0a1b2c3d; it has {RUN}, {OTHER}"),
        ("", OTHER, "dodges every contrast of .* none is left"),
        (f"../../{ANNOTATION}", RUN, "holds no judged contrasts; name a file of JSON lines, or a folder results/out"),
    ],
)
def test_what_has_no_failures_is_named(judged, folder, run, what):
    with pytest.raises(PeopleError, match=what):
        of_judged((judged[0] / folder).resolve(), run)


@pytest.fixture(scope="module")
def answered(judged, tmp_path_factory):
    """What a study says of sheets that went out, were filled, and came back; and what was shown on them."""
    home = tmp_path_factory.mktemp("answered")
    run("sheet", "--contrasts", judged[0], "--system", RUN, "--to", home / "sheets", "--annotators", "a,b")
    (home / "filled").mkdir()
    filled = [fill(home / "sheets" / f"{name}-2.csv", KUMAR_CHEUNG, Annotator(1), home / "filled") for name in "ab"]
    key, answers = home / "sheets.key.json", home / "answers.csv"
    run("read", *filled, "--key", key, "--write", answers)
    told = Judgements(
        key=str(key), key_sha256=sha256_file(key), answers=str(answers), answers_sha256=sha256_file(answers)
    )
    return told, read_sheet(home / "sheets" / "a-2.csv")


def test_the_figures_are_what_was_put_in(judged, answered):
    told, shown = answered
    found = collected(judged, told)
    assert (found.method, found.records, found.seed, found.annotators) == ("pcov", 6339, 1, 2)
    of = {contrast: rule for (_, contrast), rule in judged[2].items()}
    by_rule = {ALL_RULES: [ISSUES[row["contrast"].split(" ")[-1]] for row in shown]}
    for row in shown:
        by_rule.setdefault(of[row["contrast"]], []).append(ISSUES[row["contrast"].split(" ")[-1]])
    failed = Counter(judged[2].values())
    assert {rule: len(by_rule[rule]) for rule in RULES} == {rule: min(25, failed[rule]) for rule in RULES}
    assert max(failed.values()) > 25 > min(failed.values())
    assert {share.name for share in found.results.shares} == set(by_rule)
    for share in found.results.shares:
        meant = by_rule[share.name]
        assert share.counts == {one: 2 * meant.count(one) for one in set(meant)}  # by two annotators
        assert share.share.mean == pytest.approx(100 * sum(one != "neither" for one in meant) / len(meant))
    assert all(one.agreement.value == pytest.approx(1) for one in found.results.agreements)


def collected(judged, told, prepared="foxes-0a1b2c3d", contrasted=None, run=RUN, **changed):
    study = (prepared, contrasted or judged[1], {run: ("pcov", 6339, 1)}, Bootstrap())
    return judged_by_people("study x: foxes", told.model_copy(update=changed), *study)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"prepared": "foxes-99999999"}, "is of foxes-0a1b2c3d, and this study has foxes-99999999; make sheets anew"),
        (
            {"contrasted": [Contrasted("den/1", ("a",), ())]},
            "is of no contrast of this study .den/.*; make sheets anew",
        ),
        ({"run": OTHER}, f"what '{RUN}' failed to dodge, which is no run of this study"),
        ({"key": "gone.json"}, "study x: foxes: .*gone.json is missing; put it back"),
        ({"answers_sha256": "0" * 64}, "study x: foxes: .*answers.csv has sha256 [0-9a-f]{64}, not 0{64}"),
    ],
)
def test_a_study_is_told_what_is_not_of_it(judged, answered, change, what):
    with pytest.raises(EvidenceError, match=what):
        collected(judged, answered[0], **change)


COUNTS = {"readability": 6, "discrepancy": 3, "neither": 3}


def judged_study(study, settings):
    """The study with what people, and two language models, said of contrasts of a seed of pcov."""
    estimate = Estimate(75.0, 60.0, 90.0, 7.0, 20.0, 0.1, "items")
    found = Said(12, 0, [Share(ALL_RULES, COUNTS, estimate), Share("gold_noun", COUNTS, estimate)], [], [])
    said = [("notes", JudgedByPeople("pcov", 2000, 1, 2, found, judges)) for judges in ("", "two language models")]
    return Results(dataclasses.replace(study, evidence={"people": JudgedContrasts(said)}), settings)


def test_the_table_has_shares_of_judgements_and_says_who_answered(study, settings):
    table = contrast_people.table(judged_study(study, settings))
    whole, by_rule = table.rows[:2]
    assert [whole[name] for name in COUNTS] == [50, 25, 25]
    assert (whole["judgements"], whole["issue"].number, by_rule["rule"]) == (12, 75, "gold noun")
    assert table.markdown().count("annotators, not people: two language models.") == 1
    assert not contrast_people.table(Results(study, settings)).rows


def test_people_answers_change_no_folder_of_a_study():
    from sumcurve.capabilities.contrasts.settings import Contrasts

    told = {"key": "k", "key_sha256": "0" * 64, "answers": "a", "answers_sha256": "1" * 64}
    assert Contrasts.model_validate({"people": [told]}).model_dump() == Contrasts().model_dump()
