"""Pretrained models of Hugging Face transformers with the interface of our own: encode, step, teacher forcing.

So the same search decodes them. Their computations are transformers' own; this module adds only the state of a
hypothesis (the cache of keys and values, as [B, Q, ...] tensors) and the subwords never written (marks other than the
end).

Keys and values of a source are computed once for an example, whatever the width of the beam, and are not moved when
hypotheses change places; a decoder's prompt is computed once, too.
"""

import inspect
import os
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

os.environ["HF_HUB_OFFLINE"] = "1"  # before huggingface_hub is imported: nothing is fetched while computing

import torch
from torch import Tensor, nn
from torch.nn import functional

from sumcurve.capabilities.pretrained.settings import Lora, TransformersSettings
from sumcurve.capabilities.pretrained.subwords import PretrainedError, Subwords, TextExample, collate
from sumcurve.models.batch import Batch
from sumcurve.models.emission import Emission
from sumcurve.models.summarizer import Marks, Memory, State, Summarizer
from sumcurve.numerics.precision import in_single

DROPOUT = ("dropout", "dropout_rate", "resid_pdrop", "embd_pdrop")  # its names in configurations of architectures
IGNORED = -100  # of cross-entropy
WEIGHTS = {"single": torch.float32, "bf16": torch.bfloat16}


def _cache(kept: dict[str, Tensor]) -> Any:
    """transformers' cache of keys and values [N, heads, length, width] by name (`_kept`), without copying them."""
    from transformers.cache_utils import DynamicCache, DynamicLayer

    cache = DynamicCache()
    for number in range(len(kept) // 2):
        layer = DynamicLayer()
        layer.lazy_initialization(kept[f"key {number}"], kept[f"value {number}"])
        layer.keys, layer.values = kept[f"key {number}"], kept[f"value {number}"]
        cache.layers.append(layer)
    return cache


def _kept(cache: Any) -> dict[str, Tensor]:
    """The keys and values of a cache by name and layer: the inverse of `_cache`."""
    tensors = {}
    for number, layer in enumerate(cache.layers):
        tensors[f"key {number}"], tensors[f"value {number}"] = layer.keys, layer.values
    return tensors


def _joined(kept: dict[str, Tensor]) -> dict[str, Tensor]:
    """Tensors [B, Q, ...] as [B * Q, ...]."""
    return {name: value.flatten(0, 1) for name, value in kept.items()}


def _wide(tensor: Tensor, q: int) -> Tensor:
    """[B, ...] -> [B, Q, ...], the same for every query."""
    return tensor.unsqueeze(1).expand(-1, q, *tensor.shape[1:])


class Pretrained(Summarizer):
    """A network of transformers. `network` may be peft's wrapper of it; parameters with a gradient are trained."""

    network: Any

    def __init__(self, network: Any, subwords: Subwords) -> None:
        super().__init__()
        self.network, self.subwords = network, subwords
        self.vocabulary_size = int(network.config.get_text_config().vocab_size)
        tokenizer = subwords.tokenizer
        never = set(tokenizer.all_special_ids) - {subwords.end}
        never = {number for number in never if number < self.vocabulary_size}
        never |= set(range(len(tokenizer), self.vocabulary_size))  # rows of the output layer that stand for nothing
        pad = tokenizer.pad_token_id
        # A mark of our own where the model has none: a column of probability 0 after its vocabulary.
        self.own_pad = pad is None or pad not in never
        self.source_pad = subwords.end if pad is None else pad
        pad = self.vocabulary_size if self.own_pad else pad
        self.vocabulary_size += self.own_pad
        unknown = tokenizer.unk_token_id
        self.marks = Marks(
            pad, subwords.end, None if unknown == subwords.end else unknown, (pad, *sorted(never - {pad}))
        )

    @property
    @abstractmethod
    def prefix(self) -> list[int]:
        """Ids that the decoder reads before the first subword of a target."""

    @abstractmethod
    def collate(self, examples: Sequence[TextExample]) -> Batch: ...

    @abstractmethod
    def target_logits(self, batch: Batch, memory: Memory | None) -> Tensor:
        """[B, T, V], each position given the true subwords before it; without memory in one pass, as training does."""

    def start(self, memory: Memory, q: int) -> State:
        return {}  # the first step computes the part shared by all queries

    def _emission(self, logits: Tensor) -> Emission:
        logits = in_single(logits)
        return Emission(functional.pad(logits, (0, 1), value=-torch.inf) if self.own_pad else logits)

    def gold(self, batch: Batch, memory: Memory | None, label_smoothing: float = 0.0) -> tuple[Tensor, None]:
        """Log-probabilities as in `Summarizer.gold`; without memory (None) the source is encoded in the same pass."""
        logits = in_single(self.target_logits(batch, memory))
        labels = batch.tgt.masked_fill(batch.tgt == self.marks.pad, IGNORED)
        nll = functional.cross_entropy(
            logits.flatten(0, 1),
            labels.flatten(),
            reduction="none",
            ignore_index=IGNORED,
            label_smoothing=label_smoothing,
        )
        return -nll.view_as(labels), None

    def nothing_attended(self, tok: Tensor) -> Tensor:
        """The attention [B, Q, 1] of models that expose none."""
        return torch.zeros(*tok.shape, 1, device=tok.device)

    def trained(self) -> dict[str, nn.Parameter]:
        """Parameters that training changes, by name; a shared parameter is listed once."""
        return {name: parameter for name, parameter in self.network.named_parameters() if parameter.requires_grad}

    def weights(self) -> dict[str, Tensor]:
        """The current values of `trained`."""
        return {name: parameter.detach() for name, parameter in self.trained().items()}

    def load(self, weights: dict[str, Tensor]) -> None:
        """Load the values of `weights`. PretrainedError for weights of another model."""
        own = self.trained()
        if set(own) != set(weights):
            strange = sorted(set(own) ^ set(weights))
            raise PretrainedError(f"weights of another model: {', '.join(strange[:3])} are in one of both only")
        with torch.no_grad():
            for name, value in weights.items():
                own[name].copy_(value)

    def counts(self) -> dict[str, int]:
        """Numbers of parameters as `models.summarizer.parameter_counts` gives them; `training_only` are none."""
        network = self.network
        ends = (network.get_input_embeddings(), network.get_output_embeddings())
        words = {id(parameter): parameter.numel() for end in ends if end is not None for parameter in end.parameters()}
        total = sum(parameter.numel() for parameter in network.parameters())
        vocabulary = sum(words.values())
        return {"total": total, "vocabulary": vocabulary, "other": total - vocabulary, "training_only": 0}


class EncoderDecoder(Pretrained):
    """BART, T5, LED and similar models."""

    def __init__(self, network: Any, subwords: Subwords) -> None:
        super().__init__(network, subwords)
        start = network.config.decoder_start_token_id
        if start is None:
            raise PretrainedError(
                f"{subwords.tokenizer.name_or_path}: config.json names no decoder_start_token_id, with which a decoder "
                "begins; add it"
            )
        self._prefix = [start, *subwords.before]
        encoder = network.get_encoder()
        self.global_attention = "global_attention_mask" in inspect.signature(encoder.forward).parameters

    @property
    def prefix(self) -> list[int]:
        return self._prefix

    def collate(self, examples: Sequence[TextExample]) -> Batch:
        return collate(examples, self.marks.pad, self.source_pad, self.prefix)

    def encode(self, batch: Batch) -> Memory:
        places = torch.arange(batch.src.shape[1], device=batch.src.device)
        mask = places.unsqueeze(0) < batch.src_len.unsqueeze(1)
        further = {}
        if self.global_attention:  # of the first subword alone, as Longformer's authors do for summaries
            further["global_attention_mask"] = (places == 0).long().expand_as(batch.src)
        encoder = self.network.get_encoder()
        states = encoder(input_ids=batch.src, attention_mask=mask.long(), **further).last_hidden_state
        return Memory(states, mask, {})

    def _decode(self, states: Tensor, mask: Tensor, ids: Tensor, cache: Any) -> Any:
        from transformers.modeling_outputs import BaseModelOutput

        return self.network(
            encoder_outputs=BaseModelOutput(last_hidden_state=states),
            attention_mask=mask.long(),
            decoder_input_ids=ids,
            past_key_values=cache,
            use_cache=cache is not None,
            return_dict=True,
        )

    def step(self, tok: Tensor, memory: Memory, state: State) -> tuple[Emission, Tensor, State]:
        """The first step reads the prefix, whatever `tok` is, and puts the source's keys and values into memory."""
        from transformers.cache_utils import EncoderDecoderCache

        size, q = tok.shape
        if not state:
            prefix = torch.tensor([self.prefix], device=tok.device).expand(size, -1)
            cache = EncoderDecoderCache(_cache({}), _cache({}))
            output = self._decode(memory.states, memory.mask, prefix, cache)
            shared = _kept(output.past_key_values.cross_attention_cache)
            memory.cache |= {name: _wide(value, q).contiguous() for name, value in shared.items()}
            own = _kept(output.past_key_values.self_attention_cache)
            state = {name: _wide(value, q) for name, value in own.items()}
            logits = _wide(output.logits[:, -1], q)
            return self._emission(logits), self.nothing_attended(tok), state
        cache = EncoderDecoderCache(_cache(_joined(state)), _cache(_joined(memory.cache)))
        # Of the source only its length is read here: its keys and values are in the cache.
        states = memory.states.new_zeros(1, 1, 1).expand(size * q, *memory.states.shape[1:])
        mask = _wide(memory.mask, q).flatten(0, 1)
        output = self._decode(states, mask, tok.reshape(-1, 1), cache)
        own = _kept(output.past_key_values.self_attention_cache)
        state = {name: value.unflatten(0, (size, q)) for name, value in own.items()}
        return self._emission(output.logits.view(size, q, -1)), self.nothing_attended(tok), state

    def target_logits(self, batch: Batch, memory: Memory | None) -> Tensor:
        memory = memory or self.encode(batch)
        logits: Tensor = self._decode(memory.states, memory.mask, batch.inp, None).logits
        return logits[:, len(self.prefix) - 1 :]


class DecoderOnly(Pretrained):
    """A language model that continues its prompt, which is no part of its output; padding stands before the prompt."""

    def __init__(self, network: Any, subwords: Subwords) -> None:
        super().__init__(network, subwords)
        self.keeps = "logits_to_keep" in inspect.signature(_inner(network).forward).parameters

    @property
    def prefix(self) -> list[int]:
        return []

    def collate(self, examples: Sequence[TextExample]) -> Batch:
        return collate(examples, self.marks.pad, self.source_pad, [], left=True)

    def _forward(self, ids: Tensor, mask: Tensor, last: int, cache: Any, use_cache: bool) -> Any:
        """The network's output at the `last` columns of `ids`; `mask` covers the cached columns, too."""
        places = (mask.long().cumsum(1) - 1).clamp(min=0)[:, -ids.shape[1] :]
        limit = {"logits_to_keep": last} if self.keeps else {}
        return self.network(
            input_ids=ids,
            attention_mask=mask.long(),
            position_ids=places,
            past_key_values=cache,
            use_cache=use_cache,
            return_dict=True,
            **limit,
        )

    def _prompt(self, batch: Batch) -> Tensor:
        width = batch.src.shape[1]
        return torch.arange(width, device=batch.src.device).unsqueeze(0) >= (width - batch.src_len).unsqueeze(1)

    def encode(self, batch: Batch) -> Memory:
        """Encode the prompt: `states` [B, 1, V] are the logits after it, the cache its keys and values."""
        mask = self._prompt(batch)
        output = self._forward(batch.src, mask, 1, _cache({}), use_cache=True)
        logits = output.logits[:, -1:]
        return Memory(logits, mask, _kept(output.past_key_values))

    def step(self, tok: Tensor, memory: Memory, state: State) -> tuple[Emission, Tensor, State]:
        """The first step's logits are those after the prompt, whatever `tok` is."""
        size, q = tok.shape
        if not state:
            state = {name: _wide(value, q) for name, value in memory.cache.items()}
            return self._emission(memory.states.expand(-1, q, -1)), self.nothing_attended(tok), state
        written = next(iter(state.values())).shape[3] - memory.mask.shape[1]
        prompt = _wide(memory.mask, q).flatten(0, 1)
        mask = functional.pad(prompt, (0, written + 1), value=True)
        output = self._forward(tok.reshape(-1, 1), mask, 1, _cache(_joined(state)), use_cache=True)
        own = _kept(output.past_key_values)
        state = {name: value.unflatten(0, (size, q)) for name, value in own.items()}
        return self._emission(output.logits.view(size, q, -1)), self.nothing_attended(tok), state

    def target_logits(self, batch: Batch, memory: Memory | None) -> Tensor:
        longest = batch.tgt.shape[1]
        if memory is None:
            ids = torch.cat((batch.src, batch.inp), 1)
            mask = functional.pad(self._prompt(batch), (0, longest - 1), value=True)
            logits: Tensor = self._forward(ids, mask, longest, None, use_cache=False).logits
            return logits[:, -longest:]
        if longest == 1:
            return memory.states
        mask = functional.pad(memory.mask, (0, longest - 1), value=True)
        output = self._forward(batch.inp, mask, longest - 1, _cache(memory.cache), use_cache=True)
        return torch.cat((memory.states, output.logits[:, -(longest - 1) :]), 1)


def _inner(network: nn.Module) -> nn.Module:
    """The network without peft's wrapper."""
    get: Any = getattr(network, "get_base_model", None)
    return get() if get is not None else network


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence transformers and its progress bars; errors are still raised."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def positions(config: Any, side: Literal["encoder", "decoder"]) -> int | None:
    """Number of subwords that a model's encoder or decoder has positions for.

    None where the architecture sets no limit, as T5's relative positions do not.
    """
    for name in (f"max_{side}_position_embeddings", "max_position_embeddings"):
        value = getattr(config.get_text_config(), name, None)
        if isinstance(value, int):
            return value
    return None


def load(
    folder: Path, settings: TransformersSettings, lower: bool, seed: int, tokenizer_name: str = "words"
) -> Pretrained:
    """The model of a folder, on the CPU, prepared for training by `settings`.

    `seed` determines new weights (LoRA's, or all, by `random_weights`). Nothing is fetched, no code of a folder is run,
    and no pickle is read.
    `lower`: whether the corpus's words are in small letters; `tokenizer_name` is its tokenizer's.

    Raises PretrainedError for a folder without safetensors, of another architecture, with weights missing, or with a
    tokenizer that cannot be used.
    """
    try:
        import transformers
    except ModuleNotFoundError as error:
        raise PretrainedError(f"{error}: a pretrained model needs `pip install 'sumcurve[pretrained]'`") from None

    if not folder.is_dir() or not list(folder.glob("*.safetensors")):
        raise PretrainedError(
            f"{folder} holds no *.safetensors: other weights are pickles, which can run code, and are not read; save "
            "the model with `save_pretrained` of transformers, which writes safetensors"
        )
    encoder = settings.architecture == "encoder-decoder"
    auto: Any = transformers.AutoModelForSeq2SeqLM if encoder else transformers.AutoModelForCausalLM
    local = {"local_files_only": True, "trust_remote_code": False}
    with _quiet():
        try:
            config = transformers.AutoConfig.from_pretrained(folder, **local)
            if settings.dropout is not None:
                _set_dropout(config, settings.dropout, folder)
            network, loading = auto.from_pretrained(
                folder,
                config=config,
                use_safetensors=True,
                dtype=WEIGHTS[settings.weights],
                output_loading_info=True,
                **local,
            )
            if settings.random_weights:
                with torch.random.fork_rng(devices=[]):
                    torch.manual_seed(seed)
                    network = auto.from_config(config, dtype=WEIGHTS[settings.weights])
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **local)
        except PretrainedError:
            raise
        except (OSError, ValueError, KeyError, ImportError) as error:
            raise PretrainedError(
                f"{folder}: transformers cannot read it as {settings.architecture} ({error}); correct `architecture`, "
                "or save the model with `save_pretrained`"
            ) from error
    if len(tokenizer) > (rows := config.get_text_config().vocab_size):
        raise PretrainedError(
            f"{folder}: its tokenizer has {len(tokenizer)} subwords and its model {rows}; give the tokenizer "
            "that the model was trained with"
        )
    if missing := sorted(loading["missing_keys"]):
        raise PretrainedError(
            f"{folder}: its weights lack {', '.join(missing[:3])} ({len(missing)} in all), which would be made up; "
            "give the model of the architecture that its config.json names"
        )
    if settings.lora is not None:
        network = with_lora(network, settings.lora, encoder, seed)
    if settings.gradient_checkpointing:
        network.activation_checkpointing_enable(activation_checkpointing_kwargs={"use_reentrant": False})
    read = positions(config, "encoder" if encoder else "decoder")
    writes = positions(config, "decoder") if encoder else None  # a decoder alone writes where it reads
    template = chat_template(tokenizer, settings.template) if settings.chat else settings.template
    subwords = Subwords(tokenizer, template, read, writes, lower, encoder)
    subwords.words = tokenizer_name
    if settings.chat:
        subwords.opening = []  # the chat template has it
    return EncoderDecoder(network, subwords) if encoder else DecoderOnly(network, subwords)


def chat_template(tokenizer: Any, message: str) -> str:
    """The text of a user's message up to where the model answers, by its tokenizer's chat template.

    The template is data that jinja expands in a sandbox. PretrainedError where there is none, where it reads the day's
    date, and where it changes the message.
    """
    name, template = tokenizer.name_or_path, tokenizer.chat_template
    if not isinstance(template, str):
        raise PretrainedError(f"{name}: its tokenizer has no chat template; leave `chat` out, and write a `template`")
    if "strftime_now" in template:
        raise PretrainedError(
            f"{name}: its chat template has the day's date in it, so that no two days have one prompt; leave `chat` "
            "out, and write its marks into `template`"
        )
    messages = [{"role": "user", "content": message}]
    text: str = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
    if text.count("{source}") != 1:
        raise PretrainedError(f"{name}: its chat template makes {text!r} of the message {message!r}; leave `chat` out")
    return text


def _set_dropout(config: Any, share: float, folder: Path) -> None:
    there = [name for name in DROPOUT if hasattr(config, name)]
    if not there:
        raise PretrainedError(f"{folder}: config.json has none of {', '.join(DROPOUT)}; leave `dropout` out")
    for name in there:
        setattr(config, name, share)


def with_lora(network: nn.Module, lora: Lora, encoder: bool, seed: int) -> nn.Module:
    """The network, with an encoder or a decoder alone, in peft's wrapper; only LoRA's matrices are trained."""
    import peft

    kind = peft.TaskType.SEQ_2_SEQ_LM if encoder else peft.TaskType.CAUSAL_LM
    config = peft.LoraConfig(
        r=lora.rank,
        lora_alpha=lora.alpha,  # type: ignore[arg-type]  # any number will do
        lora_dropout=lora.dropout,
        target_modules=list(lora.modules) if lora.modules is not None else None,
        task_type=kind,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        try:
            return peft.get_peft_model(network, config)
        except ValueError as error:
            raise PretrainedError(f"lora: {error}; name layers of the model under `lora: {{modules: […]}}`") from error
