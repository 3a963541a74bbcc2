"""A small decoder-only model of the texts that a study's pretraining reads, in a folder that a local server can serve.

A plan makes an encoder-decoder of these texts and nothing else; a prompt takes a model that goes on with it. This is
one: Llama's architecture with new weights, the pretraining's subwords, texts read from left to right. Models so small
learn nothing from examples in their prompt: it shows that prompts run, and answers nothing.

python benchmarks/decoder.py results/corpora/outside-packages-outside-8b1236e8 \\
    results/annotations/outside-packages-subwords-6014e1f0 scratch/mini-decoder [--updates 1000]
.venv-serving/bin/transformers serve scratch/mini-decoder --port 8000 --device cpu

`.venv-serving` is an environment of its own (docs/how-to/own-program.md). Sums are the CPU's own: another CPU may
give weights with other last bits, and so another sha256.
"""

import argparse
import random
import time
from pathlib import Path

import torch
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from sumcurve.capabilities.pretrained.outside import bodies_path
from sumcurve.corpora.store import Corpus
from sumcurve.harvest.fetch import sha256_of_model
from sumcurve.store.records import read_jsonl

MESSAGES = "{% for message in messages %}{{ message['content'] }}\n{% endfor %}"
POSITIONS = 8192  # of which a text takes TOKENS: rotary positions have no weights
TOKENS, BATCH, RATE, WARMUP = 250, 16, 3e-3, 100
SHOWN = 100  # updates from line to line


def model_of(tokenizer: PreTrainedTokenizerFast, seed: int) -> LlamaForCausalLM:
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=96,
        intermediate_size=192,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=POSITIONS,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        tie_word_embeddings=True,
    )
    return LlamaForCausalLM(config)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("outside", type=Path, help="the folder of the pretraining's texts")
    parser.add_argument("subwords", type=Path, help="the folder of its tokenizer")
    parser.add_argument("to", type=Path, help="where the model is written")
    parser.add_argument("--updates", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    tokenizer = PreTrainedTokenizerFast.from_pretrained(options.subwords, local_files_only=True)
    texts = [" ".join(row["sentences"]) for row in read_jsonl(bodies_path(Corpus(options.outside), "train"))]
    tokenized = tokenizer(texts, truncation=True, max_length=TOKENS, return_attention_mask=False)["input_ids"]
    network, order = model_of(tokenizer, options.seed), random.Random(options.seed)
    optimizer = torch.optim.AdamW(network.parameters(), RATE, weight_decay=0.0)

    def rate(update: int) -> float:
        """Up to RATE, and down to nothing, in straight lines."""
        return min((update + 1) / WARMUP, (options.updates - update) / max(1, options.updates - WARMUP))

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    began, total = time.monotonic(), 0.0
    for update in range(1, options.updates + 1):
        drawn = [torch.tensor(ids) for ids in order.sample(tokenized, BATCH)]
        ids = torch.nn.utils.rnn.pad_sequence(drawn, batch_first=True, padding_value=tokenizer.pad_token_id)
        mask = torch.nn.utils.rnn.pad_sequence([torch.ones_like(each) for each in drawn], batch_first=True)
        loss = network(input_ids=ids, attention_mask=mask, labels=ids.masked_fill(mask == 0, -100)).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        total += loss.item()
        if update % SHOWN == 0 or update == options.updates:
            many = (update - 1) % SHOWN + 1
            print(f"{update} updates, NLL {total / many:.3f} a subword, {time.monotonic() - began:.0f} s", flush=True)
            total = 0.0
    tokenizer.chat_template = MESSAGES
    network.save_pretrained(options.to)
    tokenizer.save_pretrained(options.to)
    print(f"weights: {{path: {options.to}, sha256: {sha256_of_model(options.to)}}}")


if __name__ == "__main__":
    main()
