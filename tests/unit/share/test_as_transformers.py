"""TRANS without copying as a model of transformers: the same logits, and the same words for a text."""

import pytest
import torch
import transformers

from sumcurve.corpora.tokens import tokenize
from sumcurve.decoding.decoder import SummarizerDecoder
from sumcurve.models.batch import collate, encode
from sumcurve.models.vocabulary import BOS, UNK, Vocabulary
from sumcurve.settings.models import RecurrentSettings, TransformerSettings
from sumcurve.settings.search import Search
from sumcurve.share.as_transformers import NoCounterpart, network_of, write
from sumcurve.store.records import Record
from sumcurve.systems.families import build

VOCABULARY = Vocabulary(["a", "b", "c", "don't", "1.5", ".", "d_e", ","])
RECORDS = [
    Record("1", ["a b c a b .", "d_e b"], ["c a", "b"]),
    Record("2", ["b unknown"], ["a"]),
    Record("3", ["c " * 30 + "a"], ["a b c , . d_e a b c"]),
]


def settings(**told):
    sizes = {"width": 16, "heads": 2, "feedforward": 24, "encoder_layers": 2, "decoder_layers": 3}
    return TransformerSettings.model_validate(
        {"kind": "transformer", "copy_attention": False, "dropout": 0.3} | sizes | told
    )


def random_model(seed=1, **told):
    """Weights all around 0.3, biases and normalisation too, so that none can be left out unseen."""
    model = build(settings(**told), len(VOCABULARY), seed).eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=generator))
    return model


@pytest.mark.parametrize("output", ["tied", "untied"])
@torch.no_grad()
def test_logits_are_the_same_before_and_after_the_folder_is_read(tmp_path, output):
    model = random_model(output=output)
    batch = collate([encode(record, VOCABULARY, 40, 20) for record in RECORDS])
    ours = model.logits(model.readout(batch, model.encode(batch)).states, model.encode(batch))
    mask = (torch.arange(batch.src.shape[1]) < batch.src_len.unsqueeze(1)).long()
    write(tmp_path, model, VOCABULARY, True, Search(max_tokens=9), positions=50)
    for network in (network_of(model, 50), transformers.AutoModelForSeq2SeqLM.from_pretrained(tmp_path)):
        theirs = network.eval()(input_ids=batch.src, attention_mask=mask, decoder_input_ids=batch.inp).logits
        for row, example in enumerate(batch.tgt):
            count = int((example != 0).sum())
            assert (ours[row, :count] - theirs[row, :count]).abs().max() < 1e-5
    assert ours.std() > 0.5
    assert all(path.suffix in (".json", ".safetensors") for path in tmp_path.iterdir())


def test_a_text_has_the_words_that_the_corpus_s_tokenizer_finds(tmp_path):
    write(tmp_path, random_model(), VOCABULARY, True, Search(max_tokens=9), positions=50)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    text = "A, b. Don't d_e 1.5?\n c<pad> Don’t"
    words = tokenize(text, lower=True)
    known = {word: place for place, word in enumerate(VOCABULARY.words)}
    assert tokenizer(text)["input_ids"] == [known.get(word, UNK) for word in words]
    assert tokenizer.decode([BOS, known["a"], known["."], 3], skip_special_tokens=True) == "a ."


@torch.no_grad()
def test_greedy_generate_writes_what_our_search_writes(tmp_path):
    """Over three seeds, so that neither an early end nor a limit is what makes them agree."""
    search = Search(beam=1, min_tokens=2, max_tokens=12, block_ngram=0, unknown="ban")
    batch = collate([encode(record, VOCABULARY, 40, 20) for record in RECORDS])
    mask = (torch.arange(batch.src.shape[1]) < batch.src_len.unsqueeze(1)).long()
    lengths = set()
    for seed in (1, 2, 3):
        model = random_model(seed)
        write(tmp_path / str(seed), model, VOCABULARY, True, search, positions=50)
        network = transformers.AutoModelForSeq2SeqLM.from_pretrained(tmp_path / str(seed)).eval()
        found = network.generate(input_ids=batch.src, attention_mask=mask)
        ours = SummarizerDecoder(model, VOCABULARY, search).summarize(batch)
        theirs = [VOCABULARY.sentences(row[1:].tolist(), []) for row in found]
        assert [sum(map(len, one)) for one in ours] == [sum(map(len, one)) for one in theirs]
        assert ours == theirs
        lengths |= {sum(map(len, one)) for one in ours}
    assert len(lengths) > 1


def test_a_model_that_copies_or_recurs_is_refused_with_the_reason():
    with pytest.raises(NoCounterpart, match="no encoder-decoder that copies words of its source"):
        network_of(random_model(copy_attention=True), 50)
    recurrent = RecurrentSettings.model_validate({"kind": "recurrent", "embedding": 4, "hidden": 4, "feed": "nothing"})
    from sumcurve.share.as_transformers import refusal

    assert "no architecture of kind 'recurrent'" in refusal(recurrent)
