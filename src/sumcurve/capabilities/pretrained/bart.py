"""BART (Lewis et al. 2020) made from a configuration, and its subwords, made from text."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

from sumcurve.capabilities.pretrained.model import EncoderDecoder, Pretrained, load, with_lora
from sumcurve.capabilities.pretrained.settings import BartSettings, SubwordSettings, TransformersSettings
from sumcurve.capabilities.pretrained.subwords import PretrainedError, Subwords
from sumcurve.settings.study import Architecture

MARKS = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>", "mask_token": "<mask>"}


def write_subwords(texts: Iterable[str], size: int, lower: bool, folder: Path) -> int:
    """Train a byte-level BPE of at most `size` subwords, marks and the 256 bytes included, and write it as a tokenizer.

    With `lower` it reads small letters. Between words there is a blank, and one is read before a text, so that a word
    is the same subwords wherever it stands. Returns how many subwords there are; PretrainedError for no text.
    """
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    inner = Tokenizer(models.BPE())
    if lower:
        inner.normalizer = normalizers.Lowercase()
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    inner.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=list(MARKS.values()),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    inner.train_from_iterator(texts, trainer)
    begin, end = MARKS["bos_token"], MARKS["eos_token"]
    inner.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A {end}", special_tokens=[(mark, inner.token_to_id(mark)) for mark in (begin, end)]
    )
    size = inner.get_vocab_size()
    if size == len(MARKS) + len(pre_tokenizers.ByteLevel.alphabet()):
        raise PretrainedError(f"{folder.name}: no text to make subwords of; give the pretraining more packages")
    PreTrainedTokenizerFast(tokenizer_object=inner, **MARKS).save_pretrained(folder)
    return size


def make(folder: Path, architecture: Architecture, dropout: float, lower: bool, seed: int) -> EncoderDecoder:
    """BART with new weights, drawn from `seed` alone, and the tokenizer of a folder; on the CPU, in single precision.

    `lower`: whether the corpus's words are in small letters. PretrainedError where the folder holds no tokenizer.
    """
    try:
        from transformers import BartConfig, BartForConditionalGeneration, PreTrainedTokenizerFast
    except ModuleNotFoundError as error:
        raise PretrainedError(f"{error}: BART needs `pip install 'sumcurve[pretrained]'`") from None

    if not (folder / "tokenizer.json").is_file():
        raise PretrainedError(f"{folder} holds no tokenizer.json; make the folder anew")
    tokenizer: Any = PreTrainedTokenizerFast.from_pretrained(folder, local_files_only=True)
    config = BartConfig(
        vocab_size=len(tokenizer),
        d_model=architecture.width,
        encoder_layers=architecture.encoder_layers,
        decoder_layers=architecture.decoder_layers,
        encoder_attention_heads=architecture.heads,
        decoder_attention_heads=architecture.heads,
        encoder_ffn_dim=architecture.feedforward,
        decoder_ffn_dim=architecture.feedforward,
        max_position_embeddings=architecture.positions,
        dropout=dropout,
        init_std=architecture.init_std,
        bos_token_id=tokenizer.bos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        decoder_start_token_id=tokenizer.eos_token_id,
        forced_eos_token_id=None,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = BartForConditionalGeneration(config)
    positions = architecture.positions
    return EncoderDecoder(network, Subwords(tokenizer, "{source}", positions, positions, lower, encoder=True))


def opened(
    settings: SubwordSettings, folder: Path, specification: dict[str, Any], lower: bool, words: str = "words"
) -> Pretrained:
    """The model that a specification trains or decodes, before its training; `words` is the corpus's tokenizer.

    Of kind transformers it is that of `folder`; of kind bart it has new weights, and `folder` its tokenizer.
    """
    seed = specification.get("seed", 0)
    if isinstance(settings, TransformersSettings):
        model = load(folder, settings, lower, seed)
    else:
        assert isinstance(settings, BartSettings)
        architecture = Architecture.of_specification(specification["architecture"])
        model = make(folder, architecture, settings.dropout, lower, seed)
    model.subwords.words = words
    return model


def adapt(model: Pretrained, settings: SubwordSettings, seed: int) -> None:
    """Put LoRA's matrices beside the weights of a BART that was made here, where its settings ask for them.

    They stand beside the weights that it has when they come: its pretraining's, or later those of its run, which keeps
    all of them. A model from elsewhere has its matrices from the beginning.
    """
    if isinstance(settings, BartSettings) and settings.lora is not None:
        model.network, model.whole = with_lora(model.network, settings.lora, encoder=True, seed=seed), True
