"""What questions and their readers rename, and what they do not."""

import pytest

from sumcurve.settings.config import PlanError
from unit.capabilities.plans import add_apes
from unit.study.test_plan import changed, edit, of_two_corpora, smoke


def apes_of(plan, corpus):
    """The score folders of APES of a corpus."""
    return [plan.folder(row.scores["apes"]) for row in plan.rows if row.corpus == corpus and "apes" in row.scores]


def test_all_outputs_of_a_corpus_are_read_by_the_same_readers_and_nothing_is_renamed(config):
    before = smoke(config)
    add_apes(config, seeds=[4, 9])
    after = smoke(config)
    assert before.folders.items() <= after.folders.items()
    folders = apes_of(after, "modules")
    assert len(folders) == sum(row.corpus == "modules" for row in after.rows)
    assert not apes_of(after, "tales")  # it has no questions
    (questions,), readers = after.named("annotations", "questions"), after.named("runs", "reader")
    assert [(one.specification["seed"], one.inputs[1]) for one in readers] == [(4, questions.key), (9, questions.key)]
    told = {questions.key: "questions", readers[0].key: {"seed": 4}, readers[1].key: {"seed": 9}}
    assert all(folder.specification["inputs"] == told for folder in folders)
    assert all(set(told) < set(folder.inputs) for folder in folders)
    of_scorers = {name: set(keys) for name, keys in after.together.items() if name[1] == "scorer"}
    assert of_scorers == {("modules", "scorer", "apes"): {one.key for one in folders}}
    assert before.together.items() <= after.together.items()


def test_what_is_held_out_is_read_by_the_readers_of_its_corpus(config):
    edit(config / "studies" / "smoke.yaml", lambda content: content["corpora"]["tales"]["split"].update(unseen=["zoo"]))
    add_apes(config, corpora=("tales",), seeds=[1])
    plan = smoke(config)
    (reader,) = plan.named("runs", "reader")
    (unseen,) = plan.named("corpora", "unseen")
    for corpus, prepared in (("tales", reader.specification["corpus"]), ("tales-unseen", unseen.key)):
        folders = apes_of(plan, corpus)
        assert folders
        for folder in folders:
            questions = next(key for key, told in folder.specification["inputs"].items() if told == "questions")
            assert plan.folder(questions).specification["corpus"] == prepared == folder.specification["corpus"]
            assert reader.key in folder.specification["inputs"]


def test_where_vectors_lie_is_no_part_of_a_name_and_what_they_are_is(config):
    def reader(path, sha256):
        add_apes(config, reader={"kind": "attentive", "vectors": {"path": path, "sha256": sha256}}, seeds=[1])
        (folder,) = smoke(config).named("runs", "reader")
        return folder

    first, moved, other = reader("a.txt", "ab" * 32), reader("b.txt", "ab" * 32), reader("b.txt", "cd" * 32)
    assert first.name == moved.name != other.name
    assert [file.path for file in moved.files] == ["b.txt"]


def test_what_a_reader_learns_and_who_stands_beside_it_are_in_names_where_they_are_said(config):
    keys = {}
    changes = {
        "plain": {},
        "said": {"learns": ["references"], "answer": "markers", "guessers": False},
        "sources": {"learns": ["references", "sources"]},
        "mentions": {"answer": "mentions"},
        "guessers": {"guessers": True},
    }
    for name, told in changes.items():
        add_apes(config, reader={"kind": "attentive", **told}, seeds=[1])
        plan = smoke(config)
        (reader,) = plan.named("runs", "reader")
        keys[name] = reader.key
        metrics = {metric.name for metric in plan.scorers["apes"].metrics}
        assert ("apes_overlap" in metrics) == (name == "guessers")
    assert keys["plain"] == keys["said"]
    assert len(set(keys.values())) == 4


@pytest.mark.parametrize(
    ("corpora", "told", "message"),
    [
        ((), {}, "scores.apes: no corpus of the study has questions; add `cloze: {}` to one"),
        (("modules",), {"seeds": []}, r"scores.apes.seeds"),
        (("modules",), {"reader": {"kind": "attentive", "vectors": {"sha256": "ab" * 32}}}, "reader.vectors.path: say"),
        (("modules",), {"reader": {"kind": "transformers"}}, "reader.kind: .*'attentive'"),
    ],
)
def test_apes_needs_questions_and_a_reader_that_is_there(config, corpora, told, message):
    add_apes(config, corpora, **told)
    with pytest.raises(PlanError, match=message):
        smoke(config)


CLOZE = {"files": {"path": "data/raw/questions", "sha256": "cd" * 32}}
PRESS = {"path": "models/ner", "sha256": "ef" * 32}


def asking(config, **told):
    """The plan of ENT's methods on the tales, with these keys of the corpus."""
    return of_two_corpora(config, ["ent_loss", "ent_gold"], tales=told)


def test_what_is_asked_is_named_by_what_finds_it_not_by_where_that_lies(config):
    found = {}
    cases = {"rules": {}, "files": {"cloze": CLOZE}, "words": {"cloze": {"salient": "words"}}}
    cases |= {"press": {"entities": PRESS}, "moved": {"entities": {**PRESS, "path": "elsewhere"}}}
    cases |= {"package": {"entities": {"package": "pypi:press==1", "sha256": PRESS["sha256"]}}}
    cases |= {"installed": {"entities": "en_core_web_sm"}, "never": {"cloze": {"never": ["x"]}}}
    for name, told in cases.items():
        plan = asking(config, **{"cloze": {}, **told})
        (found[name],) = plan.named("annotations", "questions")
        if "press" in str(told):  # ENT's entities, too
            (entities,) = (one for one in plan.named("annotations", "entities") if one.stem == "tales-entities")
            assert entities.files == found[name].files
            assert entities.specification["pipeline"] == {"sha256": PRESS["sha256"]}
    assert found["moved"].key == found["press"].key == found["package"].key
    assert len({folder.key for folder in found.values()}) == 6
    (package,) = found["package"].files
    assert (package.path, package.model) == (f"data/raw/model-{'ef' * 6}", ("pypi:press==1", None))
    assert package.harvested
    assert [file.sha256 for file in found["files"].files] == ["cd" * 32]
    assert found["files"].specification["files"] == {"sha256": "cd" * 32, "tokenizer": "words", "lower": True}
    assert [file.path for file in found["moved"].files] == ["elsewhere"]
    for name, versions in (("rules", {"spacy"}), ("press", {"spacy"}), ("installed", {"spacy", "en_core_web_sm"})):
        assert found[name].specification["versions"].keys() == versions


def test_salient_entities_are_the_questions_answers_where_the_corpus_says_so(config):
    before = asking(config, cloze={})
    after = asking(config, cloze={}, salient="cloze")
    (asked,) = after.named("annotations", "questions")
    assert {folder.stem for folder in after.named("annotations", "entities")} == {"modules-entities"}
    learned = [one for one in after.named("runs") if one.stem.startswith("tales-ent_loss")]
    assert learned
    for folder in learned:
        assert folder.specification["entities"] == asked.key
        assert asked.key in folder.inputs
    gold = [one for one in after.named("outputs") if one.specification.get("entities")]
    assert {one.specification["entities"] for one in gold if "tales" in one.stem} == {asked.key}
    assert changed(before, after, "corpora") == set()
    assert {stem.split("-")[0] for stem in changed(before, after, "runs")} == {"tales"}


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"salient": "cloze"}, "`salient: cloze` needs questions: add `cloze: {}`"),
        ({"entities": {"sha256": "ef" * 32}}, "give either `path` or `package`"),
        ({"entities": {**PRESS, "package": "pypi:press==1"}}, "give either `path` or `package`"),
        ({"entities": {"package": "owner/press", "sha256": "ef" * 32}}, "'owner/press' is no package: give pypi:NAME"),
        ({"entities": "pypi:press==1"}, "a package is pinned: .*`sumcurve model pypi:press==1` prints"),
        ({"entities": {**PRESS, "types": ["PER"]}}, "types: unknown key"),
        ({"cloze": {**CLOZE, "never": ["x"]}}, "ready-made `files` name their entities: leave `never` out"),
        ({"cloze": {"never": ["("]}}, r"'\(' is no regular expression \(.*\): correct it"),
        ({"cloze": {"files": {"path": "x"}}}, "cloze.files.sha256: Field required"),
    ],
)
def test_questions_of_nothing_are_an_error(config, told, message):
    with pytest.raises(PlanError, match=message):
        asking(config, **told)
