"""An encoder in a pinned folder, and texts in batches of like length.

A text's score does not depend on the other texts or their order, but for the rounding of padded sums: equal texts are
computed once, and batches are made of texts sorted by length and content.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"  # before huggingface_hub is imported: nothing is fetched while computing

from sumcurve.store.records import RecordError

TOKENS = 1024  # of a batch, padding included; 8,192 took 1.4 times as long, since a layer no longer fits a cache


def load(folder: Path) -> tuple[Any, Any]:
    """The network (of transformers' class AutoModel, in float32, without dropout) and the tokenizer of a folder.

    RecordError for a folder without weights in safetensors, of no encoder, or with weights that are missing.
    """
    try:
        import torch
        import transformers
    except ImportError as error:
        raise RecordError(
            f"{folder}: a metric of a model needs packages that are not installed: pip install 'sumcurve[pretrained]'"
        ) from error
    if not list(folder.glob("*.safetensors")):
        raise RecordError(
            f"{folder} holds no *.safetensors: other weights are pickles, which can run code, and are not read; save "
            "the model with `save_pretrained` of transformers, which writes safetensors"
        )
    local: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    transformers.utils.logging.disable_progress_bar()
    try:
        network, loading = transformers.AutoModel.from_pretrained(
            folder, use_safetensors=True, dtype=torch.float32, output_loading_info=True, **local
        )
        spaced = {"add_prefix_space": True} if network.config.model_type == "roberta" else {}  # as its authors do
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **spaced, **local)
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise RecordError(f"{folder}: transformers cannot read it as AutoModel ({error})") from error
    # BERTScore reads no pooled vector, with or without which encoders are saved.
    if missing := sorted(name for name in loading["missing_keys"] if "pooler" not in name):
        raise RecordError(f"{folder} is no AutoModel that was trained: it has no weights {', '.join(missing[:3])}")
    return network.eval(), tokenizer


def positions(network: Any, tokenizer: Any) -> int:
    """The number of subwords that the model has positions for."""
    most = getattr(network.config, "max_position_embeddings", None) or tokenizer.model_max_length
    return int(min(most - 2 * (network.config.model_type == "roberta"), tokenizer.model_max_length))


def batches(lengths: Sequence[int], tokens: int = TOKENS) -> Iterator[list[int]]:
    """Places in the order of their lengths, in batches of at most `tokens` with padding, one place at least."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and lengths[place] * (len(batch) + 1) > tokens:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch
