"""Which folders contrasts ask for, and whose figures they are."""

from sumcurve.capabilities.contrasts.planning import JUDGING, judges
from unit.capabilities.plans import add_judged
from unit.study.test_plan import changed, edit, names, of_two_corpora, smoke


def judged(plan):
    """Every row whose run is judged, with the folder that has what it finds."""
    judge_of = {corpus: judges(plan, corpus) for corpus in plan.corpora}
    return [(row, judge_of[row.corpus][row.output]) for row in plan.rows if row.output in judge_of[row.corpus]]


def test_contrasts_are_made_where_a_corpus_asks_for_them_within_what_systems_read(config):
    methods = [method for method in smoke(config).settings.methods if method != "fastrl"]  # tales are titles
    before = of_two_corpora(config, methods, tales={"contrasts": None})
    assert not before.named("annotations", "contrasts")
    after = of_two_corpora(config, methods, tales={"contrasts": {"target_tokens": 7}})
    made = after.named("annotations", "contrasts")
    prepared = {folder.key: folder.stem for folder in after.named("corpora")}
    assert {prepared[folder.specification["corpus"]] for folder in made} >= {"tales"}
    assert not {prepared[folder.specification["corpus"]] for folder in made} & {"modules"}
    for folder in made:
        told = folder.specification["contrasts"]
        assert told["target_tokens"] == 7
        assert told["source_tokens"] == min(400, after.settings.corpora["tales"].source_tokens)
    assert names(after) - names(before) == {folder.key for folder in made}
    assert names(before) <= names(after)
    other = of_two_corpora(config, methods, tales={"contrasts": {"target_tokens": 7, "seed": 2}})
    assert changed(after, other, "annotations") == {folder.stem for folder in made}


def test_a_method_is_judged_once_and_every_training_of_it_is_scored(config):
    add_judged(config)
    plan = of_two_corpora(config, ["pcov", "abs"])
    (contrasts,) = plan.named("annotations", "contrasts")
    judges = plan.named("outputs", "judge")
    assert [one.stem for one in judges] == ["tales-pcov-contrasts", "tales-abs-contrasts"]
    for judge in judges:
        runs = {row.run for row, key in judged(plan) if key == judge.key}
        assert set(judge.specification["runs"]) == runs
        assert len(runs) == 2  # both fractions
        assert {contrasts.key, *runs} <= set(judge.inputs)
    outputs = {row.output for row, _ in judged(plan)}
    for row in plan.rows:
        told = {"dodged", "escaped"} & set(row.scores)
        assert len(told) == (2 if row.output in outputs and row.search == "common" else 0)
        if told:
            made = plan.folder(row.scores["dodged"])
            assert {contrasts.key, *(one.key for one in judges)} <= set(made.inputs)
    assert {row.corpus for row, _ in judged(plan)} == {"tales"}
    assert not [row for row, _ in judged(plan) if row.part != "study"]


def test_methods_that_differ_by_their_search_alone_are_judged_once(config):
    add_judged(config)
    plan = of_two_corpora(config, ["pcov", "ent", "ent_loss"])
    judge_of = {row.method: judge for row, judge in judged(plan)}
    assert judge_of["ent"] == judge_of["ent_loss"] != judge_of["pcov"]
    assert len(plan.named("outputs", "judge")) == 2
    for row, judge in judged(plan):
        if row.search == "common":
            (made,) = {plan.folder(row.scores[name]).specification["inputs"][judge]["own"] for name in JUDGING}
            assert made == row.run


def test_what_is_held_out_has_contrasts_of_its_own_that_every_run_is_judged_by(config):
    add_judged(config)
    edit(config / "studies" / "smoke.yaml", lambda content: content["corpora"]["tales"]["split"].update(unseen=["zoo"]))
    plan = smoke(config)
    (held_out,) = plan.named("corpora", "unseen")
    by_corpus = {}
    for row, key in judged(plan):
        if row.search == "common":
            judge = plan.folder(key)
            by_corpus.setdefault(row.corpus, {})[row.run] = judge.specification["corpus"]
            contrasts = plan.folder(judge.specification["contrasts"])
            assert contrasts.specification["corpus"] == judge.specification["corpus"]
            for name in JUDGING:
                assert plan.folder(row.scores[name]).specification["corpus"] == judge.specification["corpus"]
    assert by_corpus["tales"].keys() == by_corpus["tales-unseen"].keys()
    assert set(by_corpus["tales-unseen"].values()) == {held_out.key}
    seen, unseen = plan.named("outputs", "judge_words")  # the same models of words, of the one training part
    assert unseen.specification["corpus"] == held_out.key
    assert unseen.specification["seen"] == seen.specification["corpus"]
    assert unseen.specification["seen"] in unseen.inputs
