"""Models of ours as models of Hugging Face transformers, where that has the same computation.

TRANS without copying is Pegasus's architecture (Zhang et al. 2020): normalisation before each block and at the end of
both stacks, sines before cosines as positions, embeddings scaled by the root of their width. Pegasus's own weights have
nothing to do with it. No architecture of transformers copies words of its source, and none has our recurrences.
"""

from pathlib import Path
from typing import Any

import torch

from sumcurve.corpora.tokens import TOKEN
from sumcurve.models.transformer import TransformerSummarizer, sinusoids
from sumcurve.models.vocabulary import BOS, EOS, MARKS, PAD, SEP, UNK, Vocabulary
from sumcurve.settings.models import ModelSettings, TransformerSettings
from sumcurve.settings.search import Search


class NoCounterpart(ValueError):
    """A model that no architecture of transformers computes; the message says what it lacks."""


def refusal(model: ModelSettings) -> str:
    """Why transformers has no architecture that computes what this model does; empty where it has one."""
    if not isinstance(model, TransformerSettings):
        return f"transformers has no architecture of kind {model.kind!r}"
    return "transformers has no encoder-decoder that copies words of its source" if model.copy_attention else ""


def network_of(model: TransformerSummarizer, positions: int) -> Any:
    """The same computation as a `PegasusForConditionalGeneration`, for sources and targets of up to `positions` words.

    Its encoder reads a source's words without marks; its decoder begins with <bos>. Raises NoCounterpart.
    """
    from transformers import PegasusConfig, PegasusForConditionalGeneration

    settings = model.settings
    if why := refusal(settings):
        raise NoCounterpart(why)
    sides: dict[str, Any] = {
        f"{side}_{name}": value
        for side, layers in (("encoder", settings.encoder_layers), ("decoder", settings.decoder_layers))
        for name, value in (("layers", layers), ("attention_heads", settings.heads), ("ffn_dim", settings.feedforward))
    }
    config = PegasusConfig(
        vocab_size=model.vocabulary_size,
        d_model=settings.width,
        max_position_embeddings=positions,
        activation_function="relu",
        scale_embedding=True,
        dropout=settings.dropout,
        attention_dropout=0.0,
        activation_dropout=0.0,
        tie_word_embeddings=settings.output == "tied",
        pad_token_id=PAD,
        eos_token_id=EOS,
        decoder_start_token_id=BOS,
        forced_eos_token_id=None,
        **sides,
    )
    network = PegasusForConditionalGeneration(config)
    own = model.state_dict()
    words = own["embedding.weight"]
    places = sinusoids(torch.arange(positions), settings.width)
    tensors = {"model.shared.weight": words, "lm_head.weight": own["output.weight"]}
    tensors["final_logits_bias"] = own["output.bias"].unsqueeze(0)
    for side in ("encoder", "decoder"):
        tensors |= {f"model.{side}.embed_tokens.weight": words, f"model.{side}.embed_positions.weight": places}
        for end in ("weight", "bias"):
            tensors[f"model.{side}.layer_norm.{end}"] = own[f"{side}_norm.{end}"]
    attention = {"query": "q_proj", "key": "k_proj", "value": "v_proj", "out": "out_proj"}
    for side, layers, inner in (
        ("encoder", settings.encoder_layers, {"attention": "self_attn"}),
        ("decoder", settings.decoder_layers, {"attention": "self_attn", "cross": "encoder_attn"}),
    ):
        norms = [*(f"{theirs}_layer_norm" for theirs in inner.values()), "final_layer_norm"]
        names = {f"norm{number}": norm for number, norm in enumerate(norms, start=1)}
        names |= {"feedforward.up": "fc1", "feedforward.down": "fc2"}
        names |= {
            f"{ours}.{part}": f"{theirs}.{theirs_part}"
            for ours, theirs in inner.items()
            for part, theirs_part in attention.items()
        }
        for number in range(layers):
            for ours, theirs in names.items():
                for end in ("weight", "bias"):
                    tensors[f"model.{side}.layers.{number}.{theirs}.{end}"] = own[f"{side}.{number}.{ours}.{end}"]
    network.load_state_dict(tensors)
    return network.eval()


def tokenizer_of(vocabulary: Vocabulary, lower: bool) -> Any:
    """The corpus's tokenizer and the vocabulary as a fast tokenizer: words and single signs, without marks around."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    inner = Tokenizer(models.WordLevel({word: place for place, word in enumerate(vocabulary.words)}, MARKS[UNK]))
    if lower:
        inner.normalizer = normalizers.Lowercase()
    inner.pre_tokenizer = pre_tokenizers.Split(Regex(TOKEN.pattern), behavior="removed", invert=True)
    return PreTrainedTokenizerFast(
        tokenizer_object=inner,
        pad_token=MARKS[PAD],
        unk_token=MARKS[UNK],
        bos_token=MARKS[BOS],
        eos_token=MARKS[EOS],
        additional_special_tokens=[MARKS[SEP]],
        split_special_tokens=True,  # a mark that a text spells out is text
    )


def generation(search: Search) -> Any:
    """The search as transformers' `generate` can do it.

    Unknown words are never written, since `generate` copies none, and n-grams with a mark between sentences are blocked
    as others; a GNMT length penalty has no counterpart there.
    """
    from transformers import GenerationConfig

    return GenerationConfig(
        num_beams=search.beam,
        min_new_tokens=search.min_tokens,
        max_new_tokens=search.max_tokens + 1,  # the last is the end mark
        forced_eos_token_id=EOS,
        no_repeat_ngram_size=search.block_ngram,
        length_penalty=search.alpha if search.length_penalty == "average" else 0.0,
        early_stopping={"first": True, "heuristic": False, "never": "never"}[search.early_stopping],
        suppress_tokens=[PAD, BOS, *([UNK] if search.unknown != "keep" else [])],
        pad_token_id=PAD,
        bos_token_id=BOS,
        eos_token_id=EOS,
        decoder_start_token_id=BOS,
    )


def write(
    folder: Path, model: TransformerSummarizer, vocabulary: Vocabulary, lower: bool, search: Search, positions: int
) -> None:
    """Write a folder that `AutoModelForSeq2SeqLM` and `AutoTokenizer` read. Raises NoCounterpart."""
    network = network_of(model, positions)
    network.generation_config = generation(search)
    network.save_pretrained(folder)
    tokenizer_of(vocabulary, lower).save_pretrained(folder)
