"""What a card does with the models that method files name: fine-tuning and decoding at their published sizes.

Networks have random weights, in the sizes of facebook/bart-base, google-t5/t5-small, google/pegasus-large,
allenai/led-base-16384 and HuggingFaceTB/SmolLM2-135M-Instruct; the subwords of every text are drawn. Trainings go
through `sumcurve.training.fit`: batches of 16, sources of 512 subwords (LED: 2,048), targets of 64. For every model and
way of training: examples a second of updates, validation left out, after five updates that are not counted, and the
peak of allocated memory. For every model and precision: how far the losses of two updates are from this machine's CPU
in single precision (without dropout, the same four examples), and whether a training that went on from its state ends
with the bytes of one that was not interrupted. Then greedy decoding: summaries of 64 subwords a second, and how many of
them a CPU writes equally.

What there is no time for is listed. The exit status is 1 where something failed. Needs torch, transformers, peft and
what `benchmarks/gpu.py` needs, no network:

PYTHONPATH=src python benchmarks/finetuning.py [MODEL ...] [--device cuda --seconds 480 --json FILE]
"""

import argparse
import gc
import json
import platform
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
import transformers

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))  # its tokenizers
import pretrained
from sumcurve.capabilities.pretrained.decoding import in_subwords, write
from sumcurve.capabilities.pretrained.learner import PretrainedLearner
from sumcurve.capabilities.pretrained.model import DecoderOnly, EncoderDecoder, Pretrained, positions, with_lora
from sumcurve.capabilities.pretrained.settings import Lora, TransformersSettings
from sumcurve.capabilities.pretrained.subwords import Subwords, TextExample
from sumcurve.settings.search import Search
from sumcurve.settings.training import Training
from sumcurve.store.records import Record
from sumcurve.training.fit import Fitted, fit
from sumcurve.training.run import read_state, write_state

CPU = torch.device("cpu")
UNCOUNTED, COUNTED = 5, 20  # updates
TOLERANCE = {"single": 1e-3, "tf32": 1e-2, "bf16": 3e-2}  # as benchmarks/gpu.py


@dataclass(frozen=True)
class Size:
    """A published model: what its configuration adds to transformers' own, and subwords of sources and targets."""

    kind: str  # of tests/pretrained.py
    config: Callable[..., Any]
    changes: dict[str, Any]
    source: int = 512
    target: int = 64


BART = {f"{side}_{name}": value for side in ("encoder", "decoder") for name, value in
        {"layers": 6, "attention_heads": 12, "ffn_dim": 3072}.items()} | {"d_model": 768}  # fmt: skip
SMOLLM = {"hidden_size": 576, "intermediate_size": 1536, "num_hidden_layers": 30, "num_attention_heads": 9}
SMOLLM |= {"num_key_value_heads": 3, "vocab_size": 49152, "tie_word_embeddings": True, "max_position_embeddings": 8192}
SIZES = {
    "bart-base": Size("bart", transformers.BartConfig, BART | {"vocab_size": 50265}),
    "t5-small": Size("t5", transformers.T5Config, {}),
    "smollm2-135m": Size("llama", transformers.LlamaConfig, SMOLLM),
    "led-base": Size("led", transformers.LEDConfig, BART | {"attention_window": [1024] * 6}, source=2048),
    "pegasus-large": Size(
        "pegasus",
        transformers.PegasusConfig,
        {
            "vocab_size": 96103,
            "scale_embedding": True,
            "max_position_embeddings": 1024,
            "encoder_layers": 16,
            "decoder_layers": 16,
        },
    ),
}
TINY = {"bart": {"encoder_layers": 1, "decoder_layers": 1, "d_model": 16, "encoder_attention_heads": 2,
        "decoder_attention_heads": 2, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16, "vocab_size": 400}}  # fmt: skip


@dataclass
class Way:
    """A way of training."""

    name: str
    precision: str
    lora: bool = False
    checkpointing: bool = False
    accumulate: int = 1


WAYS = (
    Way("float32", "single"),
    Way("TF32", "tf32"),
    Way("bf16", "bf16"),
    Way("bf16, batches in 4 parts", "bf16", accumulate=4),
    Way("bf16, activations computed again", "bf16", checkpointing=True),
    Way("bf16, LoRA of rank 8", "bf16", lora=True),
)


@dataclass
class Row:
    """A way of training a model; losses and bytes are those of its precision."""

    model: str
    way: str
    examples_per_second: float | None = None
    peak_mib: float | None = None
    loss_difference: float | None = None
    resumed_equal: bool | None = None


@dataclass
class Decoded:
    model: str
    precision: str
    summaries_per_second: float
    equal: int  # to the CPU's in single precision
    of: int


@dataclass
class Report:
    machine: dict[str, str]
    parameters: dict[str, int] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    decoded: list[Decoded] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)


def build(size: Size, way: Way, dropout: float | None = None, tiny: bool = False) -> Pretrained:
    """A random model of this size; `dropout` None: its configuration's own."""
    tokenizer = pretrained.make_tokenizer(["ba do ki lu me so"], size.kind)
    ids = {name: getattr(tokenizer, name) for name in ("bos_token_id", "pad_token_id", "eos_token_id")}
    encoder = size.kind != "llama"
    start = {"decoder_start_token_id": ids["eos_token_id"], "forced_eos_token_id": None} if encoder else {}
    changes = size.changes | (TINY[size.kind] if tiny else {})
    config = size.config(**changes, **ids, **start)
    for name in ("dropout", "attention_dropout", "activation_dropout", "dropout_rate"):
        if dropout is not None and hasattr(config, name):
            setattr(config, name, dropout)
    auto = transformers.AutoModelForSeq2SeqLM if encoder else transformers.AutoModelForCausalLM
    torch.manual_seed(1)
    network: Any = auto.from_config(config)
    if way.lora:
        network = with_lora(network, Lora(rank=8), encoder, seed=1)
    if way.checkpointing:
        network.activation_checkpointing_enable(activation_checkpointing_kwargs={"use_reentrant": False})
    read = positions(config, "encoder" if encoder else "decoder")
    subwords = Subwords(tokenizer, "{source}", read, positions(config, "decoder") if encoder else None, False, encoder)
    return EncoderDecoder(network, subwords) if encoder else DecoderOnly(network, subwords)


def examples(model: Pretrained, size: Size, count: int, source: int, target: int) -> list[TextExample]:
    """Of drawn subwords, sources nine tenths as long or more."""
    rng = random.Random(1)
    never = set(model.marks.never) | {model.marks.end, model.marks.pad}
    ids = [number for number in range(len(model.subwords)) if number not in never]

    def text(length: int) -> list[int]:
        return rng.choices(ids, k=length - rng.randrange(max(1, length // 10)))

    made = []
    for number in range(count):
        written = [*text(target - 1), model.marks.end]
        record = Record(str(number), ["ba"], ["ba"])
        made.append(TextExample(record, text(source), written, [*range(len(written))], len(written), False))
    return made


def settings_of(way: Way, batch: int, updates: int, every: int) -> Training:
    """Of a training of so many updates, validated on two examples after every few."""
    phase = {
        "name": "nll",
        "loss": "nll",
        "optimizer": {"name": "adam", "rate": 3e-5, "clip_norm": 1.0},
        "stop": {"every_updates": every, "every_epochs": 1e-9, "patience": 1000, "max_updates": updates},
    }
    told = {"batch": batch, "accumulate": way.accumulate, "precision": way.precision, "vocabulary": 1}
    return Training.model_validate(told | {"valid_records": 2, "phases": [phase]})


def learner_of(model: Pretrained, size: Size, train: Sequence[TextExample], device: torch.device) -> PretrainedLearner:
    search = Search(beam=1, max_tokens=1, unknown="ban")
    settings = TransformersSettings(kind="transformers", sha256="0" * 64, path="made")
    return PretrainedLearner(model, settings, train, train[:2], [[["ba"]], [["ba"]]], search, device)


def trained(
    learner: PretrainedLearner, settings: Training, device: torch.device, **told: Any
) -> tuple[Fitted, list[float]]:
    """A finished training, and seconds of its updates from one validation to the next."""

    def clock() -> float:
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        return time.perf_counter()

    fitted = fit(learner, settings, seed=1, clock=clock, device=device, **told)
    seconds = [row.seconds for row in fitted.history]
    return fitted, [later - earlier for earlier, later in zip([0.0, *seconds], seconds, strict=False)]


def free() -> None:
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def speed(name: str, way: Way, device: torch.device, tiny: bool, row: Row) -> None:
    """Examples a second and the peak of memory."""
    size = SIZES[name]
    batch, source, target = (4, 12, 6) if tiny else (16, size.source, size.target)
    model = build(size, way, tiny=tiny)
    learner = learner_of(model, size, examples(model, size, 4 * batch, source, target), device)
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    trained(learner, settings_of(way, batch, UNCOUNTED, UNCOUNTED), device)
    _, seconds = trained(learner, settings_of(way, batch, COUNTED, COUNTED), device)
    row.examples_per_second = batch * COUNTED / sum(seconds)
    row.peak_mib = torch.cuda.max_memory_allocated(device) / 2**20 if device.type == "cuda" else None


def compared(name: str, rows: dict[str, Row], device: torch.device, tiny: bool) -> None:
    """Losses of two updates against the CPU's in single precision."""
    size = SIZES[name]
    source, target = (12, 6) if tiny else (200, 32)
    losses: dict[str, list[float]] = {}
    for label, place in (("CPU", CPU), *((label, device) for label in rows)):
        way = Way(label, "single" if label == "CPU" else label)
        model = build(size, way, dropout=0.0, tiny=tiny)
        learner = learner_of(model, size, examples(model, size, 4, source, target), place)
        fitted, _ = trained(learner, settings_of(way, 4, 2, 1), place)
        losses[label] = [float(row.train_loss or 0) for row in fitted.history]
        del model, learner, fitted
        free()
    for label, row in rows.items():
        row.loss_difference = max(
            abs(other - own) / own for own, other in zip(losses["CPU"], losses[label], strict=True)
        )
        if not row.loss_difference <= TOLERANCE[label]:
            raise ValueError(f"{label} differs by {row.loss_difference:.2g}, above {TOLERANCE[label]:g}")


def resumed(name: str, way: Way, device: torch.device, tiny: bool, row: Row) -> None:
    """Whether the state after two of four updates, written and read, leads to the same bytes."""
    size = SIZES[name]
    source, target = (12, 6) if tiny else (200, 32)
    settings = settings_of(way, 4, 4, 2)

    def once(**told: Any) -> dict[str, torch.Tensor]:
        model = build(size, way, tiny=tiny)
        fitted, _ = trained(learner_of(model, size, examples(model, size, 8, source, target), device), settings, device,
                            **told)  # fmt: skip
        return fitted.weights

    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder) / "state.pt"

        def keep(kept: dict[str, Any]) -> None:
            if kept["update"] == 2:
                write_state(state, kept)

        whole = once(keep=keep)
        free()
        again = once(resume=read_state(state, print))
    row.resumed_equal = all(torch.equal(whole[key], again[key]) for key in whole)


def decoded(name: str, device: torch.device, tiny: bool, report: Report) -> None:
    """Summaries a second in single precision and under bf16, of 64 sources; eight are written by the CPU, too."""
    size = SIZES[name]
    source, target, count = (12, 6, 4) if tiny else (size.source, size.target, 64)
    model = build(size, Way("", "single"), dropout=0.0, tiny=tiny)
    items = examples(model, size, count, source, target)
    settings = TransformersSettings(kind="transformers", sha256="0" * 64, path="made", tokens_a_word=1.0)
    search = in_subwords(Search(beam=1, min_tokens=target, max_tokens=target, unknown="ban"), settings, model)
    by_cpu = write(model, items[:8], search, CPU)
    model.to(device)
    for precision in ("single", "bf16"):
        with torch.autocast(device.type, torch.bfloat16, enabled=precision == "bf16"):
            write(model, items[:8], search, device)
            began = time.perf_counter()
            texts = write(model, items, search, device)
            seconds = time.perf_counter() - began
            few = write(model, items[:8], search, device)
        equal = sum(one == other for one, other in zip(few, by_cpu, strict=True))
        report.decoded.append(Decoded(name, precision, len(texts) / seconds, equal, len(by_cpu)))


def table(report: Report) -> str:
    lines = [
        "| model | training | examples/s | peak MiB | loss against the CPU's | goes on to the same bytes |",
        "|---|---|---:|---:|---:|---|",
    ]
    for row in report.rows:
        speed = "" if row.examples_per_second is None else f"{row.examples_per_second:.1f}"
        peak = "" if row.peak_mib is None else f"{row.peak_mib:,.0f}"
        loss = "" if row.loss_difference is None else f"{row.loss_difference:.1e}"
        same = "" if row.resumed_equal is None else "yes" if row.resumed_equal else "no"
        lines.append(f"| {row.model} | {row.way} | {speed} | {peak} | {loss} | {same} |")
    lines += ["", "| model | decoding | summaries/s | as the CPU's |", "|---|---|---:|---:|"]
    for row in report.decoded:
        lines.append(f"| {row.model} | {row.precision} | {row.summaries_per_second:.1f} | {row.equal} of {row.of} |")
    for title, texts in (("Left out for want of time", report.left_out), ("Failed", report.failed)):
        lines += ["", f"{title}:", "", *(f"- {text}" for text in texts)] if texts else []
    return "\n".join(lines)


def measure(names: Sequence[str], device: torch.device, seconds: float, tiny: bool, report: Report) -> None:
    """Speeds of all models first, then what is compared, as far as there is time."""
    end, longest = time.monotonic() + seconds, dict[str, float]()
    rows = {(name, way.name): Row(name, way.name) for name in names for way in WAYS}
    report.rows += rows.values()
    plain = {way.precision: way.name for way in reversed(WAYS) if way.name in ("float32", "TF32", "bf16")}
    if device.type == "cpu":
        plain.pop("tf32")
    tasks: list[tuple[str, str, Callable[[], None]]] = []
    for name in names:
        for way in WAYS:
            task = lambda name=name, way=way: speed(name, way, device, tiny, rows[name, way.name])  # noqa: E731
            tasks.append((name, f"speed, {way.name}", task))
        tasks.append((name, "decoding", lambda name=name: decoded(name, device, tiny, report)))
    for name in names:
        of = {precision: rows[name, label] for precision, label in plain.items()}
        tasks.append((name, "losses", lambda name=name, of=of: compared(name, of, device, tiny)))
    for name in names:
        for label in plain.values():
            way = next(way for way in WAYS if way.name == label)
            task = lambda name=name, way=way: resumed(name, way, device, tiny, rows[name, way.name])  # noqa: E731
            tasks.append((name, f"resumption, {label}", task))
    for name, kind, task in tasks:
        if time.monotonic() + longest.get(kind, 0.0) > end:
            report.left_out.append(f"{name}: {kind}")
            continue
        began = time.monotonic()
        try:
            task()
        except Exception as error:  # one model's failure must not cost the others' figures
            report.failed.append(f"{name}: {kind}: {type(error).__name__}: {(str(error).splitlines() or [''])[0]}")
        free()
        longest[kind] = max(longest.get(kind, 0.0), time.monotonic() - began)
        print(f"{name}, {kind}: {time.monotonic() - began:.1f} s", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL", help=f"of {', '.join(SIZES)}; all by default")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--seconds", type=float, default=480.0, help="in all")
    parser.add_argument("--tiny", action="store_true", help="the smallest BART, to try the script on a CPU")
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    options = parser.parse_args()
    if unknown := sorted(set(options.models) - set(SIZES)):
        parser.error(f"no such model: {', '.join(unknown)}; there are {', '.join(SIZES)}")
    names = ["bart-base"] if options.tiny else options.models or list(SIZES)
    device = torch.device(options.device)
    if device.type == "cuda" and not torch.cuda.is_available():
        raise SystemExit("no GPU is to be had here; --device cpu tries the script")
    shown = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.machine()
    report = Report(
        {"device": shown, "torch": str(torch.__version__), "transformers": transformers.__version__}
        | {"python": platform.python_version()}
    )
    for name in [] if options.tiny else names:
        with torch.device("meta"):
            report.parameters[name] = build(SIZES[name], WAYS[0]).counts()["total"]
    measure(names, device, options.seconds, options.tiny, report)
    print(", ".join(f"{key} {value}" for key, value in report.machine.items()), f"\n\n{table(report)}")
    if options.json:
        options.json.write_text(json.dumps(asdict(report), indent=1) + "\n")
    raise SystemExit(1 if report.failed else 0)


if __name__ == "__main__":
    main()
