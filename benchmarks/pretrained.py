"""What fine-tuning and decoding through us cost, against plain transformers on the same batches.

The model is a random BART of the sizes given, with a tokenizer trained on the same invented texts. Fine-tuning: updates
of `fit`, validation left out, against a loop that calls the network with labels, clips and steps the same optimiser.
Decoding: our search against `generate`, with the same tokens as outcome.

python benchmarks/pretrained.py [--repetitions 5] [--updates 30 --batch 16 --width 256 --layers 3] [--device cuda]
"""

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from torch import nn
from transformers import BartConfig, BartForConditionalGeneration, PreTrainedTokenizerFast

from sumcurve.capabilities.pretrained.learner import PretrainedLearner, pretrained_learner
from sumcurve.capabilities.pretrained.model import load
from sumcurve.capabilities.pretrained.settings import TransformersSettings
from sumcurve.decoding.search import generate, greedy
from sumcurve.models.batch import Batch
from sumcurve.settings.search import Search
from sumcurve.settings.training import Training
from sumcurve.store.records import Record, Text
from sumcurve.training.fit import _Batches, fit
from sumcurve.training.optimization import build
from sumcurve.training.run import compute_clock

MARKS = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}


def invented(count: int, seed: int) -> list[tuple[Record, Text]]:
    rng = random.Random(seed)
    words = [f"{rng.choice('bdfgklmnprst')}{rng.choice('aeiou')}{number}" for number in range(4000)]
    found = []
    for number in range(count):
        source = [" ".join(rng.choices(words, k=12)) for _ in range(rng.randint(4, 12))]
        target = [" ".join(rng.choices(words, k=rng.randint(6, 14)))]
        found.append((Record(str(number), source, target), Text(str(number), source, target)))
    return found


def folder_of(options: argparse.Namespace, pairs: Sequence[tuple[Record, Text]], folder: Path) -> Path:
    """A random BART, as `save_pretrained` writes it."""
    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=options.words,
        special_tokens=list(MARKS.values()),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    inner.train_from_iterator((" ".join(text.source) for _, text in pairs), trainer)
    ends = [(mark, inner.token_to_id(mark)) for mark in ("<s>", "</s>")]
    inner.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=ends)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, **MARKS)
    both = {
        f"{side}_{name}": value
        for side in ("encoder", "decoder")
        for name, value in (("layers", options.layers), ("attention_heads", 4), ("ffn_dim", 4 * options.width))
    }
    torch.manual_seed(1)
    network = BartForConditionalGeneration(
        BartConfig(
            vocab_size=len(tokenizer),
            d_model=options.width,
            decoder_start_token_id=tokenizer.eos_token_id,
            bos_token_id=tokenizer.bos_token_id,
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
            forced_eos_token_id=None,
            **both,
        )
    )
    with torch.no_grad():  # away from the initialisation, so that outputs differ and some end
        for parameter in network.parameters():
            if parameter.dim() == 2:
                parameter.add_(torch.randn_like(parameter) * 0.05)
        network.get_output_embeddings().weight[tokenizer.eos_token_id] *= 2
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def training_of(options: argparse.Namespace) -> Training:
    """So many updates, one validation at their end."""
    count = options.updates
    stop = {"every_updates": count, "every_epochs": 1e-6, "patience": 9, "max_updates": count}
    phase = {"name": "nll", "loss": "nll", "optimizer": {"rate": 1e-4, "clip_norm": 1.0}, "stop": stop}
    return Training.model_validate(
        {"batch": options.batch, "vocabulary": 9, "valid_records": 1, "phases": [phase], "precision": options.precision}
    )


def plain(learner: PretrainedLearner, training: Training, clock: Callable[[], float], device: torch.device) -> float:
    """Seconds of the updates that `fit` makes, by a loop over the network itself."""
    phase, network = training.phases[0], learner.model.network
    batches = _Batches(learner.train, training.batch, lambda item: learner.length(item, phase), "order 1 0")
    parameters = [one for one in network.parameters() if one.requires_grad]
    optimizer = build(phase.optimizer, parameters)
    network.train()
    begun = clock()
    for _ in range(phase.stop.max_updates):
        optimizer.zero_grad(set_to_none=True)
        batch = learner.collate(next(batches), phase).to(device)
        mask = (torch.arange(batch.src.shape[1], device=device) < batch.src_len.unsqueeze(1)).long()
        with torch.autocast(device.type, torch.bfloat16, enabled=training.precision == "bf16"):
            labels = batch.tgt.masked_fill(batch.tgt == learner.model.marks.pad, -100)
            before = labels.new_full((len(labels), len(learner.model.prefix) - 1), -100)
            loss = network(
                input_ids=batch.src,
                attention_mask=mask,
                decoder_input_ids=batch.inp,
                labels=torch.cat((before, labels), 1),
                use_cache=False,
            ).loss
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        loss.item()
    return clock() - begun


def fine_tuning(folder: Path, options: argparse.Namespace) -> None:
    device = torch.device(options.device)
    pairs, clock = invented(40 * options.batch, 1), compute_clock(device)
    settings, training = TransformersSettings(kind="transformers", sha256="0" * 64), training_of(options)
    told = {"source_tokens": 120, "target_tokens": 20, "seed": 1}
    search = Search(beam=1, max_tokens=2, block_ngram=0)

    def learner() -> PretrainedLearner:
        return pretrained_learner(
            told, settings, load(folder, settings, True, 1), pairs, pairs[:1], device, search, print
        )

    def ours() -> float:
        return fit(learner(), training, seed=1, clock=clock, device=device).selected.seconds

    seconds = compared({"transformers": lambda: plain(learner(), training, clock, device), "sumcurve": ours}, options)
    print(f"fine-tuning, {options.updates} updates of {options.batch}: {said(seconds)}")


def decoding(folder: Path, options: argparse.Namespace) -> None:
    device = torch.device(options.device)
    settings = TransformersSettings(kind="transformers", sha256="0" * 64)
    told = {"source_tokens": 120, "target_tokens": 20, "seed": 1}
    pairs = invented(options.batch, 2)
    search = Search(beam=1, max_tokens=2, block_ngram=0)
    learner = pretrained_learner(told, settings, load(folder, settings, True, 1), pairs, pairs, device, search, print)
    model = learner.model.eval()
    batch = model.collate(learner.valid).to(device)
    for beam in (1, options.beam):
        search = Search(beam=beam, max_tokens=options.steps, min_tokens=5, block_ngram=3)
        found: dict[str, list[list[int]]] = {}

        def ours(search: Search = search, found: dict[str, Any] = found) -> float:
            begun = time.perf_counter()
            tokens = (greedy if search.beam == 1 else generate)(model, batch, search, exempt=()).tokens[:, 0].tolist()
            found["sumcurve"] = [[one for one in row if one != model.marks.pad] for row in tokens]
            return time.perf_counter() - begun

        def theirs(search: Search = search, found: dict[str, Any] = found) -> float:
            begun = time.perf_counter()
            found["transformers"] = by_generate(model, batch, search)
            return time.perf_counter() - begun

        seconds = compared({"transformers": theirs, "sumcurve": ours}, options)
        same = found["sumcurve"] == found["transformers"]
        print(f"decoding {len(batch)} sources, beam {beam}, {'the same' if same else 'OTHER'} tokens: {said(seconds)}")


def by_generate(model: Any, batch: Batch, search: Search) -> list[list[int]]:
    mask = (torch.arange(batch.src.shape[1], device=batch.src.device) < batch.src_len.unsqueeze(1)).long()
    prefix = torch.tensor([model.prefix] * len(batch), device=batch.src.device)
    written = model.network.generate(
        batch.src,
        attention_mask=mask,
        decoder_input_ids=prefix,
        do_sample=False,
        num_beams=search.beam,
        max_new_tokens=search.max_tokens,
        min_new_tokens=search.min_tokens,
        no_repeat_ngram_size=search.block_ngram,
        length_penalty=search.alpha,
        early_stopping=False,
        suppress_tokens=list(model.marks.never),
    )[:, len(model.prefix) :].tolist()
    end = model.marks.end
    return [row[: row.index(end) + 1] if end in row else row for row in written]


def compared(forms: dict[str, Callable[[], float]], options: argparse.Namespace) -> dict[str, list[float]]:
    """Seconds of each, taking turns; the first turn warms up and is left out."""
    seconds: dict[str, list[float]] = {name: [] for name in forms}
    for turn in range(options.repetitions + 1):
        for name, form in forms.items():
            spent = form()
            if turn:
                seconds[name].append(spent)
    return seconds


def said(seconds: dict[str, list[float]]) -> str:
    ratios = [ours / theirs for ours, theirs in zip(seconds["sumcurve"], seconds["transformers"], strict=True)]
    medians = SimpleNamespace(**{name: statistics.median(values) for name, values in seconds.items()})
    return (
        f"transformers {medians.transformers:.3f} s, sumcurve {medians.sumcurve:.3f} s, ratio of turns "
        f"{statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("repetitions", 5), ("updates", 30), ("batch", 16), ("width", 256), ("layers", 3)):
        parser.add_argument(f"--{name}", type=int, default=value)
    for name, value in (("words", 8000), ("steps", 40), ("beam", 4), ("threads", 1)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", default="single", choices=("single", "bf16"))
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    with tempfile.TemporaryDirectory() as place:
        folder = folder_of(options, invented(400, 0), Path(place))
        fine_tuning(folder, options)
        decoding(folder, options)


if __name__ == "__main__":
    main()
