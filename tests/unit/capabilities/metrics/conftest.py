"""A small random encoder."""

from pathlib import Path

import pytest
import torch
import transformers

import pretrained


@pytest.fixture(scope="session")
def encoder(tmp_path_factory) -> Path:
    """The folder of a RoBERTa with its tokenizer."""
    folder = tmp_path_factory.mktemp("encoder")
    tokenizer = pretrained.make_tokenizer(["the old otter swims in a pond at night heron waits"], "bart")
    tokenizer.cls_token, tokenizer.sep_token, tokenizer.model_max_length = "<s>", "</s>", 40
    torch.manual_seed(3)
    sizes = {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 32}
    config = transformers.RobertaConfig(
        vocab_size=len(tokenizer),
        max_position_embeddings=42,
        initializer_range=0.8,
        pad_token_id=tokenizer.pad_token_id,
        **sizes,
    )
    transformers.RobertaModel(config).eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
