from statistics import fmean

import pytest
import torch
from rouge_score.rouge_scorer import RougeScorer

from sumcurve.decoding.search import greedy
from sumcurve.models.batch import collate
from sumcurve.models.summarizer import build, score
from sumcurve.models.vocabulary import EOS
from sumcurve.settings import Search
from sumcurve.training.validation import Validation

CPU = torch.device("cpu")
SEARCH = Search(beam=1, max_tokens=5, block_ngram=0)


@pytest.fixture(params=["lstm", "lstm_without_copy", "transformer"])
def model(request, corpus):
    settings = request.getfixturevalue(request.param)
    return build(settings, len(corpus.vocabulary), 3)


def _words(corpus, model, example):
    """The greedy summary of one example, put together here from ids: sentences of words."""
    found = greedy(model, collate([example]), SEARCH)
    sentences, words = [], []
    for token, position in zip(found.tokens[0, 0].tolist(), found.best_source[0, 0].tolist(), strict=True):
        if token in (0, EOS):
            break
        if token == 4:
            sentences, words = [*sentences, words], []
        elif token == 1:
            words.append(example.source_words[position])
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
