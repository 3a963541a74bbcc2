from itertools import chain

import pytest
import torch

from sumcurve.decoding.decoder import SummarizerDecoder
from sumcurve.decoding.search import generate
from sumcurve.models.summarizer import score
from sumcurve.models.vocabulary import SEP
from sumcurve.settings.search import Search


@pytest.mark.parametrize("beam", [1, 3])
@pytest.mark.parametrize("unknown", ["copy", "keep"])
def test_summaries_are_the_words_of_the_best_hypothesis(name, beam, unknown, make_model, make_batch, vocabulary):
    model, batch = make_model(name, unknown=5.0), make_batch(20)
    search = Search(beam=beam, max_tokens=8, unknown=unknown)
    summaries = SummarizerDecoder(model, vocabulary, search).summarize(batch)
    found = generate(model, batch, search, exempt=(SEP,))
    for row, summary in zip(range(20), summaries, strict=True):
        plain = vocabulary.sentences(found.tokens[row, 0].tolist(), batch.unknowns[row])
        assert [len(sentence) for sentence in summary] == [len(sentence) for sentence in plain]
        for word, other in zip(chain(*summary), chain(*plain), strict=True):
            copied = unknown == "copy" and other == "<unk>" and word in batch.records[row].source_tokens
            assert word == other or copied
    words = {word for summary in summaries for sentence in summary for word in sentence}
    assert ("<unk>" in words) == (unknown == "keep")


def test_logp_sums_the_scores(name, make_model, make_batch, vocabulary):
    model, batch = make_model(name).train(), make_batch(6)
    system = SummarizerDecoder(model, vocabulary, Search(max_tokens=8))
    assert not model.training
    logp = system.logp(batch)
    assert not logp.requires_grad
    torch.testing.assert_close(logp, score(model, batch).sum(1))
    assert (logp < 0).all()


def test_trigrams_of_exempt_words_may_repeat(make_model, make_batch, vocabulary):
    """With every word exempt nothing is blocked; with none, no trigram comes twice."""
    model, batch = make_model("pcov"), make_batch(12)
    common = Search(beam=2, max_tokens=14, min_tokens=14, block_ngram=3, unknown="keep")
    words = tuple(vocabulary.words[5:])

    def written(**keys):
        return SummarizerDecoder(model, vocabulary, common.model_copy(update=keys)).summarize(batch)

    free, exempt, blocked = written(block_ngram=0), written(exempt=words), written(exempt=("no such word",))
    assert blocked == written()
    assert blocked != free

    def repeated(summaries):
        flat = [[word for sentence in summary for word in sentence] for summary in summaries]
        return sum(len(text) - 2 - len(set(zip(text, text[1:], text[2:], strict=False))) for text in flat)

    assert repeated(exempt) > repeated(blocked)
