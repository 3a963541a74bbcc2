"""A prompted model that this process decodes itself, where a study names no server."""

import copy
import json
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from sumcurve.capabilities.chat.client import LENGTH, ServerError
from sumcurve.capabilities.chat.ledger import Answer, Tokens
from sumcurve.capabilities.chat.template import Message

if TYPE_CHECKING:
    from sumcurve.capabilities.pretrained.model import Pretrained

STOP = "stop"  # why an answer ends: by the model's end mark


class LocalModel:
    """A chat model in a folder of safetensors, decoded on one core of the CPU; it takes the place of `client.Server`.

    An answer is that of `generate` of transformers, greedy, to the prompt by the tokenizer's chat template. Messages
    before the last one, as those of examples, are read once for all conversations in a row that share them.
    """

    def __init__(self, folder: Path, sha256: str) -> None:
        """The model of a folder, whose files have this sha256."""
        self.url, self.sha256 = str(folder), sha256
        self._before = ""
        self._first: Any = None  # subwords of `_before`
        self._cache: Any = None  # and their keys and values

    @cached_property
    def _model(self) -> "Pretrained":
        """The model, as a fine-tuned one is loaded; ServerError for a folder that is no chat model."""
        import torch

        from sumcurve.capabilities.pretrained.model import load
        from sumcurve.capabilities.pretrained.settings import TransformersSettings
        from sumcurve.capabilities.pretrained.subwords import PretrainedError

        torch.set_num_threads(1)
        told = {"kind": "transformers", "sha256": self.sha256, "architecture": "decoder", "template": "{source}\n"}
        try:
            model = load(Path(self.url), TransformersSettings.model_validate(told), lower=False, seed=0)
        except PretrainedError as error:
            raise ServerError(f"{self.url}: transformers cannot read it ({error}); correct `weights`") from error
        template = model.subwords.tokenizer.chat_template
        if not isinstance(template, str) or "strftime_now" in template:
            fault = "has the day's date in it, so that no two days have one prompt" if template else "is missing"
            raise ServerError(f"{self.url}: its chat template {fault}; give other `weights`, or the `url` of a server")
        return model.eval()

    def post(self, body: bytes) -> Answer:
        """The answer to a body as `Service.body` writes it; ServerError for one longer than the model's positions."""
        import torch

        start = monotonic()
        network, tokenizer = self._model.network, self._model.subwords.tokenizer
        request = json.loads(body)
        messages, most = request["messages"], request["max_tokens"]
        prompt = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        ids = tokenizer(prompt, add_special_tokens=False, return_tensors="pt").input_ids
        length = ids.shape[1]
        if (room := self._model.subwords.positions) is not None and room < length + most:
            raise ServerError(
                f"{self.url}: a prompt of {length:,} subwords and an answer of {most:,} exceed its {room:,} positions; "
                "lower `examples` or `source_words`"
            )
        with torch.no_grad():
            cache = self._read(messages[:-1], prompt, ids)
            written = network.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                past_key_values=cache,
                max_new_tokens=most,
                do_sample=False,
                pad_token_id=tokenizer.pad_token_id,
            )[0, length:]
        ends = network.generation_config.eos_token_id
        finish = STOP if written[-1].item() in (ends if isinstance(ends, list) else [ends]) else LENGTH
        text = tokenizer.decode(written, skip_special_tokens=True)
        return Answer(text, finish, request["model"], "", Tokens(length, len(written)), monotonic() - start)

    def _read(self, messages: list[Message], prompt: str, ids: Any) -> Any:
        """A copy of the keys and values of `messages`, the prompt's beginning; None where it does not begin so."""
        import torch
        import transformers

        network, tokenizer = self._model.network, self._model.subwords.tokenizer
        before = tokenizer.apply_chat_template(messages, tokenize=False) if messages else ""
        if not before or not prompt.startswith(before):
            return None
        if before != self._before:
            first = tokenizer(before, add_special_tokens=False, return_tensors="pt").input_ids
            cache = transformers.DynamicCache(config=network.config)
            network(first, past_key_values=cache, use_cache=True, logits_to_keep=1)
            self._before, self._first, self._cache = before, first, cache
        same = torch.equal(ids[:, : self._first.shape[1]], self._first)
        return copy.deepcopy(self._cache) if same else None
