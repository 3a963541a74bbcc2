"""Pretrained models for tests: small random networks with small tokenizers, made here, in folders as on the hub."""

import random
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

ARCHITECTURES = {
    **dict.fromkeys(("bart", "t5", "led", "pegasus"), "encoder-decoder"),
    **dict.fromkeys(("gpt2", "llama"), "decoder"),
}
TEMPLATES = {"gpt2": "{source}\nSummary:", "llama": "{source}\nSummary:"}
# How peaked random networks are for outputs to differ, and to end by themselves about as often as not.
SPREAD = {"bart": 0.5, "t5": 0.9, "led": 0.7, "pegasus": 0.5, "gpt2": 0.6, "llama": 0.6}
END = {"bart": 3.0, "t5": 3.0, "led": 5.0, "pegasus": 3.0, "gpt2": 3.0, "llama": 3.0}
# As SmolLM2's and Qwen's: every message between marks, and the answer begins behind the assistant's.
CHAT = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def make_tokenizer(texts: list[str], kind: str, size: int = 120) -> "transformers.PreTrainedTokenizerFast":
    """A byte-level BPE with the marks of the architecture, and those around a text as it has them."""
    marks = {
        "bart": {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"},
        "led": {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"},
        "t5": {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"},
        "pegasus": {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"},
        "gpt2": {"eos_token": "<|endoftext|>"},
        "llama": {"bos_token": "<|im_start|>", "eos_token": "<|im_end|>", "unk_token": "<|endoftext|>"},
    }[kind]
    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    inner.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=size + 256,
            special_tokens=list(marks.values()),
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    around = {"bart": "<s> $A </s>", "led": "<s> $A </s>", "t5": "$A </s>", "pegasus": "$A </s>"}.get(kind)
    if around:
        named = [word for word in around.split() if word != "$A"]
        inner.post_processor = processors.TemplateProcessing(
            single=around, special_tokens=[(word, inner.token_to_id(word)) for word in named]
        )
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=inner, **marks)
    if kind == "llama":  # its pad is its end mark, as SmolLM2's is
        tokenizer.pad_token, tokenizer.chat_template = tokenizer.eos_token, CHAT
    return tokenizer


def make_network(
    kind: str, tokenizer: Any, width: int = 16, layers: int = 2, seed: int = 0, spread: float = 0.0
) -> Any:
    """A random network, peaked by `spread`; without dropout."""
    ids = {name: getattr(tokenizer, name) for name in ("bos_token_id", "pad_token_id", "eos_token_id")}
    torch.manual_seed(seed)
    vocabulary = len(tokenizer) + (8 if kind == "t5" else 0)  # T5's output layer has rows that stand for nothing
    both = {
        f"{side}_{name}": value
        for side in ("encoder", "decoder")
        for name, value in (("layers", layers), ("attention_heads", 2), ("ffn_dim", 2 * width))
    }
    both |= {"d_model": width, "dropout": 0.0, "attention_dropout": 0.0, "activation_dropout": 0.0, **ids}
    start, end = ids["eos_token_id"], {"eos_token_id": ids["eos_token_id"]}
    network: Any
    match kind:
        case "bart":
            told = {"max_position_embeddings": 64, "forced_eos_token_id": None, "decoder_start_token_id": start}
            network = transformers.BartForConditionalGeneration(
                transformers.BartConfig(vocab_size=vocabulary, **both, **told)
            )
        case "pegasus":
            told = {"max_position_embeddings": 64, "forced_eos_token_id": None, "scale_embedding": True}
            told |= {"decoder_start_token_id": ids["pad_token_id"]}
            network = transformers.PegasusForConditionalGeneration(
                transformers.PegasusConfig(vocab_size=vocabulary, **both, **told)
            )
        case "llama":
            told = {"hidden_size": width, "intermediate_size": 2 * width, "num_hidden_layers": layers}
            told |= {"num_attention_heads": 2, "num_key_value_heads": 1, "max_position_embeddings": 96, **ids}
            network = transformers.LlamaForCausalLM(
                transformers.LlamaConfig(vocab_size=vocabulary, tie_word_embeddings=True, **told)
            )
        case "led":
            told = {f"max_{side}_position_embeddings": 64 for side in ("encoder", "decoder")}
            told |= {"attention_window": 8, "decoder_start_token_id": start}
            network = transformers.LEDForConditionalGeneration(
                transformers.LEDConfig(vocab_size=vocabulary, **both, **told)
            )
        case "t5":
            told = {"d_model": width, "d_kv": width // 2, "d_ff": 2 * width, "num_layers": layers, "num_heads": 2}
            told |= {"pad_token_id": ids["pad_token_id"], "decoder_start_token_id": ids["pad_token_id"], **end}
            network = transformers.T5ForConditionalGeneration(
                transformers.T5Config(vocab_size=vocabulary, dropout_rate=0.0, **told)
            )
        case _:
            told = {"n_embd": width, "n_layer": layers, "n_head": 2, "n_positions": 96, "bos_token_id": start, **end}
            told |= dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop"), 0.0)
            network = transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=vocabulary, **told))
    if spread:
        with torch.no_grad():
            for parameter in network.parameters():
                if parameter.dim() == 2:
                    parameter.add_(torch.randn_like(parameter) * spread)
            network.get_output_embeddings().weight[ids["eos_token_id"]] *= END[kind]
    return network.eval()


def make_folder(folder: Path, kind: str, texts: list[str], **told: Any) -> Path:
    """The folder of a random model, as `save_pretrained` writes it."""
    tokenizer = make_tokenizer(texts, kind)
    make_network(kind, tokenizer, **told).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def files_of(folder: Path) -> dict[str, bytes]:
    """The files of a model's folder, as a hub has them."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# Words of invented records.
SEEN = ("ship", "cloud", "engine", "letter", "garden", "violin", "desert", "comet", "castle", "needle")
DONE = ("crossed", "forgot", "measured", "opened", "praised", "followed")
SAID = ("slowly", "twice", "without hurry", "again", "in winter", "by heart")


def fables(count: int, seed: int = 0) -> list[dict[str, Any]]:
    """Raw records of invented sentences; of every third one the body holds its summary line, too."""
    rng = random.Random(seed)
    found = []
    for number in range(count):
        line = f"{rng.choice(SEEN).capitalize()} {number} {rng.choice(DONE)} one {rng.choice(SEEN)} of {seed}."
        body = [
            f"{rng.choice(SEEN).capitalize()} {rng.choice(DONE)} its {rng.choice(SEEN)} {rng.choice(SAID)} {number}."
            for _ in range(4)
        ]
        if number % 3 == 0:
            body.insert(2, line.upper())
        found.append({"id": f"fable-{number}", "source": body, "target": [line], "group": f"book-{number % 8}"})
    return found


def make_chat_model(folder: Path) -> Path:
    """A small decoder that writes what its random weights say, and reads prompts of any length here."""
    texts = [sentence for record in fables(200) for sentence in record["source"]]
    tokenizer = make_tokenizer(texts, "gpt2", size=400)
    tokenizer.chat_template = CHAT
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=4096,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        initializer_range=0.5,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
