import random
from dataclasses import replace
from statistics import fmean

import numpy as np
import pytest
import torch
from rouge_score.rouge_scorer import RougeScorer

from invented import build
from sumcurve.decoding.search import greedy
from sumcurve.models.batch import collate
from sumcurve.models.summarizer import score
from sumcurve.models.vocabulary import EOS
from sumcurve.settings.models import RecurrentSettings
from sumcurve.settings.search import Search
from sumcurve.settings.study import Rouge
from sumcurve.training.validation import Validation, area_under_curve, counting, measured

CPU = torch.device("cpu")
SEARCH = Search(beam=1, max_tokens=5, block_ngram=0)


@pytest.fixture(params=["lstm", "lstm_without_copy", "transformer"])
def model(request, corpus):
    settings = request.getfixturevalue(request.param)
    return build(settings, len(corpus.vocabulary), 3)


def _words(corpus, model, example):
    """The greedy summary of one example, put together here from ids: sentences of words."""
    found = greedy(model, collate([example]), SEARCH, exempt=())
    sentences, words = [], []
    for token, position in zip(found.tokens[0, 0].tolist(), found.best_source[0, 0].tolist(), strict=True):
        if token in (0, EOS):
            break
        if token == 4:
            sentences, words = [*sentences, words], []
        elif token == 1:
            words.append(example.record.source_tokens[position])
        else:
            words.append((corpus.vocabulary.words + example.unknowns)[token])
    return [sentence for sentence in [*sentences, words] if sentence]


def test_numbers_agree_with_one_example_at_a_time(corpus, model, phase):
    found = Validation(corpus.valid, corpus.references, corpus.vocabulary, SEARCH, CPU)(model, phase())
    scorer = RougeScorer(["rouge1", "rouge2", "rougeLsum"])
    nll, rouge = [], []
    for example, references in zip(corpus.valid, corpus.references, strict=True):
        with torch.no_grad():
            nll.append(-score(model, collate([example])).mean().item())
        text = "\n".join(" ".join(sentence) for sentence in _words(corpus, model, example))
        rouge.append(scorer.score("\n".join(references[0]), text))
    assert found["nll"] == pytest.approx(fmean(nll), abs=1e-5)
    for metric in ("rouge1", "rouge2", "rougeLsum"):
        assert found[metric] == pytest.approx(fmean(scores[metric].fmeasure for scores in rouge), abs=1e-9)
    assert found["rouge1"] > 0
    lengths = [sum(map(len, _words(corpus, model, example))) for example in corpus.valid]
    assert found["tokens"] == fmean(lengths)
    assert 0 <= found["repetition"] < 1


def test_order_does_not_matter_and_nothing_random_is_drawn(corpus, model, phase):
    state = torch.get_rng_state()
    model.train()
    found = Validation(corpus.valid, corpus.references, corpus.vocabulary, SEARCH, CPU)(model, phase())
    turned = Validation(corpus.valid[::-1], corpus.references[::-1], corpus.vocabulary, SEARCH, CPU)(model, phase())
    assert found == pytest.approx(turned, abs=1e-6)
    assert torch.equal(torch.get_rng_state(), state)


def test_summaries_keep_to_the_corpus_limits(corpus, phase):
    """What the test's search asks for holds for validation, too: a model that repeats itself must not."""
    settings = RecurrentSettings(kind="recurrent", embedding=6, hidden=5, feed="nothing")
    model = build(settings, len(corpus.vocabulary), 3)
    found = {}
    for name, keys in {"free": {}, "blocked": {"block_ngram": 3}, "long": {"min_tokens": 9}}.items():
        search = Search(beam=4, max_tokens=12, alpha=1.5, **({"block_ngram": 0} | keys)).greedy()
        found[name] = Validation(corpus.valid, corpus.references, corpus.vocabulary, search, CPU)(model, phase())
    assert found["free"]["repetition"] > 0.3
    # What is exempt may repeat: trigrams across sentences, and those that replaced unknown words make.
    assert found["blocked"]["repetition"] < found["free"]["repetition"] / 5
    assert found["long"]["tokens"] >= 9


def test_a_reinforced_phase_is_validated_by_what_training_rewards(corpus, lstm, phase):
    model = build(lstm, len(corpus.vocabulary), 3)
    mixed = phase("mixed").model_copy(update={"loss": "mixed", "reward_weight": 0.9})
    found = Validation(corpus.valid, corpus.references, corpus.vocabulary, SEARCH, CPU)(model, mixed)
    scorer = RougeScorer(["rougeL"])
    expected = []
    for example in corpus.valid:
        text = " ".join(word for sentence in _words(corpus, model, example) for word in sentence)
        expected.append(scorer.score(" ".join(example.record.target), text)["rougeL"].fmeasure)
    assert found["reward"] == pytest.approx(fmean(expected), abs=1e-9)
    assert found["reward"] > 0


def test_samples_of_a_reinforced_phase_are_the_same_at_every_validation_and_of_the_policy(corpus, lstm, phase):
    """Twice the same, whatever was drawn before; a model that always writes one word has no entropy."""
    model = build(lstm, len(corpus.vocabulary), 3)
    mixed = phase("mixed").model_copy(update={"loss": "mixed", "reward_weight": 0.9})
    validation = Validation(corpus.valid, corpus.references, corpus.vocabulary, SEARCH, CPU)
    first = validation(model, mixed)
    before = torch.rand(1).item() and torch.get_rng_state()
    assert validation(model, mixed) == first
    assert torch.equal(torch.get_rng_state(), before)
    assert not {"sample_reward", "sample_tokens", "entropy"} & validation(model, phase()).keys()

    with torch.no_grad():  # nearly uniform: -log p is nearly the logarithm of the number of words
        for parameter in model.parameters():
            parameter.zero_()
        model.gate.bias.fill_(40.0)
    assert validation(model, mixed)["entropy"] == pytest.approx(np.log(len(corpus.vocabulary)), abs=1e-4)
    with torch.no_grad():  # the same word until the end
        model.output.bias[5] = 40.0
    found = validation(model, mixed)
    assert found["entropy"] == pytest.approx(0, abs=1e-4)
    assert found["sample_tokens"] == found["tokens"] == SEARCH.max_tokens
    assert found["sample_reward"] == found["reward"]


def test_the_area_under_the_curve_is_the_share_of_pairs_in_order(phase):
    rng = np.random.default_rng(3)
    for size in (2, 5, 40):
        values, marks = rng.integers(0, 6, size).astype(float), rng.random(size) < 0.4
        marks[:2] = True, False
        pairs = [(a > b) + (a == b) / 2 for a in values[marks] for b in values[~marks]]
        assert area_under_curve(values, marks) == pytest.approx(fmean(pairs))
        assert area_under_curve(values, np.ones(size, bool)) is None


def test_a_phase_of_entities_is_validated_by_the_salience_of_every_source_token(corpus, phase):
    settings = RecurrentSettings(kind="recurrent", embedding=6, hidden=5, feed="nothing", entity_attention=True)
    model = build(settings, len(corpus.vocabulary), 3)
    entity = phase("entity").model_copy(update={"loss": "nll+entity", "entity_weight": 0.1})
    rng = random.Random(4)
    marked = [replace(one, salient=[int(rng.random() < 0.3) for _ in one.source]) for one in corpus.valid]
    found = Validation(marked, corpus.references, corpus.vocabulary, SEARCH, CPU)(model, entity)
    high, low = [], []
    for example in marked:
        with torch.no_grad():
            salience = model.eval().encode(collate([example])).cache["salience"][0].tolist()
        for value, mark in zip(salience, example.salient, strict=True):
            (high if mark else low).append(value)
    assert found["auc"] == pytest.approx(fmean((a > b) + (a == b) / 2 for a in high for b in low), abs=1e-3)
    none = [replace(one, salient=[0] * len(one.source)) for one in corpus.valid]
    assert "auc" not in Validation(none, corpus.references, corpus.vocabulary, SEARCH, CPU)(model, entity)


def test_texts_without_blanks_are_counted_in_characters():
    """Of Chinese, rouge-score has no word at all: every validation would tell 0."""
    words = [[["水獭 在 河里 捕鱼 。"]], [["苍鹭 看着 iPhone 。"]]]
    apart = [[["水 獭 在 河 里 捕 鱼 。"]], [["苍 鹭 看 着 iPhone 。"]]]
    summaries = [["水獭 在 河边 睡觉"], ["苍鹭 看着"]]
    found = measured([1.0, 1.0], summaries, words)
    assert 0 < found["rouge2"] < found["rouge1"] < 1
    metrics = ("rouge1", "rouge2", "rougeLsum")
    assert [found[name] for name in metrics] == [measured([1.0, 1.0], summaries, apart)[name] for name in metrics]
    assert counting([[["An otter of 水 swims ."]], [["It eats ."]] * 30]) == Rouge()


@pytest.mark.parametrize(
    ("sentence", "mode"),
    [
        ("नदी में मछली पकड़ता है", "unicode"),
        ("выдра ловит рыбу", "unicode"),
        ("kedi ağaçta uyuyor", "unicode"),
        ("ปลาในแม่น้ำ", "characters"),
        ("ຄົນ ໄປ ຕະຫຼາດ", "characters"),
        ("kucing tidur di pohon", "rouge-score"),
    ],
)
def test_validation_counts_in_the_mode_that_reads_the_script(sentence, mode):
    """What is written word for word has all of ROUGE-1, what shares nothing has none."""
    assert counting([[[sentence]]]) == Rouge(mode=mode)
    assert measured([1.0], [[sentence]], [[[sentence]]])["rouge1"] == 1
    assert measured([1.0], [["-"]], [[[sentence]]])["rouge1"] == 0
