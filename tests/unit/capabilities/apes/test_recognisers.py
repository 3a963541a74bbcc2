"""Recognisers that are asked in one way: rules, a spaCy pipeline on disk, and a tiny token classifier made here."""

import json
from pathlib import Path

import pytest
import torch
import transformers
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from sumcurve.capabilities.apes.questions import merged, numbered
from sumcurve.capabilities.apes.recognisers import Named, classifier, pipeline, spans
from sumcurve.corpora.entities import EntityError

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "marta", "lind", "aarhus", "ber", "##gen", "moved", "to", ".", "says"]
LABEL_OF = {"marta": "B-PER", "lind": "I-PER", "aarhus": "B-LOC", "ber": "B-LOC"}  # of all others O
TEXT = ["Marta Lind moved to Aarhus .", "Lind's Bergen says Bergens ."]


def make_classifier(folder: Path, labels: tuple[str, ...] = ("O", "B-PER", "I-PER", "B-LOC")) -> Path:
    """A BERT whose label depends on the word alone: nothing but the embedding reaches the output."""
    inner = Tokenizer(models.WordPiece({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]"))
    inner.normalizer = normalizers.Lowercase()
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    marks = [(word, WORDS.index(word)) for word in ("[CLS]", "[SEP]")]
    inner.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=marks)
    named = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=inner, model_max_length=10, **named)
    alone = dict.fromkeys(("num_hidden_layers", "num_attention_heads"), 1)
    sizes = {"vocab_size": len(WORDS), "hidden_size": 16, "intermediate_size": 4, "max_position_embeddings": 12}
    config = transformers.BertConfig(
        **alone, **sizes, id2label=dict(enumerate(labels)), label2id={one: place for place, one in enumerate(labels)}
    )
    network = transformers.BertForTokenClassification(config)
    with torch.no_grad():
        for weight in network.parameters():
            weight.zero_()
        for module in network.modules():
            if isinstance(module, torch.nn.LayerNorm):
                module.weight.fill_(1.0)
        table = network.bert.embeddings.word_embeddings.weight
        table[: len(WORDS), : len(WORDS)] = torch.eye(len(WORDS))
        for word, label in LABEL_OF.items():
            if label in labels:
                network.classifier.weight[labels.index(label), WORDS.index(word)] = 1.0
        network.classifier.bias[labels.index("O")] = 1.0
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_classifier(tmp_path_factory.mktemp("ner"))


def make_pipeline(folder: Path) -> str:
    import spacy

    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("entity_ruler", name="ner")
    for label, name in (("PERSON", "Marta Lind"), ("PERSON", "Lind"), ("GPE", "Aarhus"), ("GPE", "Bergen")):
        ruler.add_patterns([{"label": label, "pattern": name}])
    nlp.to_disk(folder)
    return str(folder)


def test_a_pipeline_and_a_classifier_find_the_same_names(folder: Path, tmp_path: Path) -> None:
    texts = [TEXT, ["Nobody moved ."], [], TEXT[:1]]
    for recogniser in (pipeline(make_pipeline(tmp_path / "press")), classifier(folder)):
        first, second, none, last = recogniser.read(texts)
        assert first.names == {
            "marta lind": "marta lind",
            "aarhus": "aarhu",
            "lind": "lind",
            "bergen": "bergen",
            "bergens": "bergen",  # a word whose lemma is a name
        }
        assert (second.names, none.names) == ({}, {})
        assert set(last.names) == {"marta lind", "aarhus"}


def test_words_whose_lemma_another_text_names_are_known() -> None:
    named = Named({"oslo": "oslo"}, {"osloers": "oslo", "bergens": "bergen", "says": "say"})
    assert named.known({"bergen": 0}) == {"oslo": "oslo", "osloers": "oslo", "bergens": "bergen"}
    names = numbered({"bergen": "bergen", "rome": "rome"})
    both = merged(names, named.known(names))
    assert both["bergens"] == names["bergen"]
    assert both["osloers"] == both["oslo"]


def test_a_sentence_longer_than_the_model_s_positions_is_read_in_pieces(folder: Path) -> None:
    many = ["Marta Lind moved to Aarhus . " * 9 + "says"]
    (found,) = classifier(folder).read([[many[0].strip()]])
    assert set(found.names) == {"marta lind", "aarhus"}
    alone = [classifier(folder).read([[" ".join(["to"] * before + ["Bergen"])]]) for before in range(20)]
    assert [set(next(one).names) for one in alone] == [{"bergen"}] * 20


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("O B-PER I-PER B-PER O", [(1, 3, "PER"), (3, 4, "PER")]),  # IOB2
        ("I-PER I-PER I-LOC O I-LOC", [(0, 2, "PER"), (2, 3, "LOC"), (4, 5, "LOC")]),  # IOB1
        ("PER PER O PER", [(0, 2, "PER"), (3, 4, "PER")]),  # no marks
        ("O O", []),
    ],
)
def test_runs_of_one_type_are_names(labels: str, expected: list[tuple[int, int, str]]) -> None:
    assert spans(labels.split()) == expected


def test_only_the_types_asked_for_are_names(folder: Path) -> None:
    assert str(folder.name) not in json.dumps(classifier(folder).facts)  # where it lies is no part of what is written
    (found,) = classifier(folder, ["LOC"]).read([TEXT])
    assert set(found.names) == {"aarhus", "bergen", "bergens"}


def nothing(folder: Path) -> None:
    folder.rmdir()


def pickled(folder: Path) -> None:
    (folder / "pytorch_model.bin").write_bytes(b"x")


def untrained(folder: Path) -> None:
    make_classifier(folder)
    transformers.BertModel(transformers.BertConfig.from_pretrained(folder)).save_pretrained(folder)


def unknown(folder: Path) -> None:
    (folder / "config.json").write_text(json.dumps({"model_type": "no-such"}))
    save_file({"x": torch.zeros(1)}, folder / "model.safetensors")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (nothing, r"is no folder of a token classifier: copy one there"),
        (pickled, r"model holds no \*.safetensors: other weights are pickles"),
        (make_classifier, r"knows LOC, O, PER, none of DISEASE: .*recogniser.types"),
        (untrained, r"no token classifier that was trained: it has no weights classifier"),
        (unknown, r"model: transformers cannot read it as a token classifier"),
    ],
)
def test_a_folder_that_is_no_token_classifier_is_an_error_with_a_remedy(tmp_path: Path, make, message: str) -> None:
    (tmp_path / "model").mkdir()
    make(tmp_path / "model")
    with pytest.raises(EntityError, match=message):
        classifier(tmp_path / "model", ["DISEASE"])
