"""A model of fairseq, which lives in a process of fairseq's own environment (`make fairseq-env`).

The process runs `sumcurve.capabilities.fairseq.driver`; nothing of fairseq is imported here, and no pickle of it is
read. What goes over the pipe are ids: fairseq's are ours but for the four marks, and the slots of a source's unknown
words follow the vocabulary in both.
"""

import json
import os
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from sumcurve.capabilities.fairseq import driver
from sumcurve.capabilities.fairseq.settings import FAIRSEQ, FairseqSettings
from sumcurve.machine.sums import Sums
from sumcurve.models.batch import Example, Ids
from sumcurve.models.summarizer import VOCABULARY
from sumcurve.models.vocabulary import BOS, EOS, PAD, UNK, Vocabulary
from sumcurve.settings.training import Training

PLACE, USUAL = (
    "SUMCURVE_FAIRSEQ",
    ".venv-fairseq",
)  # the variable that names fairseq's environment, and where it is else
SAID = 2000  # characters of what a failed process said last that are shown
END = 2
THEIRS = {BOS: 0, PAD: 1, EOS: END, UNK: 3}  # fairseq's ids of marks; all other ids are the same
OURS = {1: PAD, END: EOS, 3: UNK}
POSITIONS = 1024  # of a source or target, at least: what fairseq's architectures have


class FairseqError(RuntimeError):
    """fairseq that is not there, or that failed; the message says what to do."""


class FairseqArithmeticError(FairseqError):
    """A training in fairseq that came to something that is no number."""


def environment(variables: Mapping[str, str] = os.environ) -> Path:
    """The Python of fairseq's environment; FairseqError where there is none."""
    folder = Path(variables.get(PLACE) or USUAL)
    python = folder / "bin" / "python"
    if not python.is_file():
        raise FairseqError(
            f"no fairseq in {folder}, an environment of its own: run `make fairseq-env` (or let the variable {PLACE} "
            "name one that it made elsewhere)"
        )
    return python.absolute()  # not resolved: a link of a virtual environment decides which one it is


class Fairseq:
    """A process with fairseq that answers one question after another; close it."""

    def __init__(self, sums: Sums, threads: int, device: str) -> None:
        """Start it: seconds. FairseqError where it is missing, or another release than the settings are for."""
        python = environment()
        self._said = tempfile.TemporaryFile()  # noqa: SIM115
        variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        # torch's own switch: fairseq's checkpoints are pickles, and it reads those alone that it has written there.
        variables["TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"] = "1"
        self._process = subprocess.Popen(
            [python, "-I", driver.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            env=variables,
            text=True,
        )
        try:
            try:
                self.versions: dict[str, str] = self.ask("open", sums=sums, threads=threads, cuda=device == "cuda")
            except FairseqError as error:
                raise FairseqError(f"{python} starts no fairseq: run `make fairseq-env` again; {error}") from None
            if self.versions["fairseq"] != FAIRSEQ:
                raise FairseqError(
                    f"{python} has {self.versions['fairseq']}, and not {FAIRSEQ}: run `make fairseq-env` again"
                )
        except BaseException:
            self.close()
            raise

    @property
    def releases(self) -> str:
        """The releases in use, for a manifest."""
        return f"{self.versions['fairseq']}, torch {self.versions['torch']}"

    def ask(self, do: str, **question: Any) -> dict[str, Any]:
        """The answer of `sumcurve.capabilities.fairseq.driver`; FairseqError with what fairseq said where it failed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = ""
        with suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps({"do": do, **question}) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        if not line:
            status = self._process.wait()
            ended = f"was killed by signal {-status}" if status < 0 else f"ended with exit status {status}"
            raise FairseqError(f"fairseq's process {ended} when asked to {do}; it said:\n{self._last()}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            kind = FairseqArithmeticError if answer["arithmetic"] else FairseqError
            raise kind(f"fairseq cannot {do}: {answer['error']}; it said:\n{self._last()}")
        return answer

    def _last(self) -> str:
        self._said.seek(0)
        return self._said.read().decode(errors="replace").strip()[-SAID:] or "nothing"

    def close(self) -> None:
        """End the process, whatever it is at."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            with suppress(BrokenPipeError):
                stream.close()
        self._said.close()

    def __enter__(self) -> "Fairseq":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def arguments(
    settings: FairseqSettings, training: Training, vocabulary_size: int, lengths: tuple[int, int], seed: int
) -> list[str]:
    """What `fairseq-train` would be told, but for data and device; `lengths` are those of sources and targets."""
    [phase] = training.phases
    optimizer = phase.optimizer
    options: dict[str, Any] = {
        "task": "translation",
        "arch": settings.architecture,
        "seed": seed,
        "max-source-positions": max(POSITIONS, lengths[0] + 1),
        "max-target-positions": max(POSITIONS, lengths[1] + 1),
        "batch-size": training.batch,
        "required-batch-size-multiple": 1,
        "num-workers": 0,
        "dropout": settings.dropout,
        "encoder-layers": settings.encoder_layers,
        "decoder-layers": settings.decoder_layers,
        "encoder-embed-dim": settings.width,
        "decoder-embed-dim": settings.width,
        "optimizer": "adam",
        "adam-betas": repr(optimizer.betas),
        "adam-eps": optimizer.epsilon,
        "lr": optimizer.rate,
        "warmup-updates": optimizer.warmup_updates,
        "lr-scheduler": "inverse_sqrt" if optimizer.schedule == "noam" else "fixed",
        "clip-norm": optimizer.clip_norm or 0.0,
        "criterion": "cross_entropy",
    }
    if phase.label_smoothing:
        # Of the share, fairseq gives the right word nothing; ours is spread over all words.
        share = phase.label_smoothing * (vocabulary_size - 1) / vocabulary_size
        options |= {"criterion": "label_smoothed_cross_entropy", "label-smoothing": share}
    switches = ["share-all-embeddings", "left-pad-source"]  # the second switches padding on the left off
    if settings.architecture == "lstm":
        options |= {"encoder-hidden-size": settings.hidden, "decoder-hidden-size": settings.hidden}
        options["decoder-out-embed-dim"] = settings.width
        switches.append("encoder-bidirectional")
    else:
        options |= {f"{side}-ffn-embed-dim": settings.feedforward for side in ("encoder", "decoder")}
        options |= {f"{side}-attention-heads": settings.heads for side in ("encoder", "decoder")}
        switches += ["encoder-normalize-before", "decoder-normalize-before"]
    if settings.copies:
        options["source-position-markers"] = lengths[0]
    pairs = (part for key, value in options.items() for part in (f"--{key}", str(value)))
    return [*pairs, *(f"--{switch}" for switch in switches)]


class FairseqModel:
    """A model in a process: how it reads examples, what it writes and how probable it finds targets."""

    def __init__(
        self,
        process: Fairseq,
        settings: FairseqSettings,
        training: Training,
        vocabulary: Vocabulary,
        lengths: tuple[int, int],
        seed: int,
        folder: Path,
        weights: Path | None = None,
    ) -> None:
        """Build it in `folder`, with these weights or new ones; `lengths` are those of sources and targets."""
        self.process, self.settings, self.vocabulary = process, settings, vocabulary
        self.parameters: dict[str, int] = process.ask(
            "build",
            folder=str(folder.absolute()),
            symbols=len(vocabulary) + (lengths[0] if settings.copies else 0),
            arguments=arguments(settings, training, len(vocabulary), lengths, seed),
            weights=str(weights.absolute()) if weights else None,
        )["parameters"]

    def parameter_counts(self) -> dict[str, int]:
        """As `models.summarizer.parameter_counts`: a name that fairseq gives twice is told once."""
        words = (*VOCABULARY, "embed_tokens", "output_projection")
        vocabulary = sum(
            count for name, count in self.parameters.items() if any(part in words for part in name.split("."))
        )
        total = sum(self.parameters.values())
        return {"total": total, "vocabulary": vocabulary, "other": total - vocabulary, "training_only": 0}

    def source(self, example: Example) -> list[int]:
        """A source as fairseq reads it, with its end mark."""
        return [*self._theirs(example.source_ext if self.settings.copies else example.source), END]

    def target(self, ids: Iterable[int]) -> list[int]:
        """A target of extended ids as fairseq is trained to write it; a model that cannot copy has unknown words."""
        known = len(self.vocabulary)
        return self._theirs(ids if self.settings.copies else (token if token < known else UNK for token in ids))

    @staticmethod
    def _theirs(ids: Iterable[int]) -> list[int]:
        return [THEIRS.get(token, token) for token in ids]

    def score(self, pairs: Sequence[tuple[Example, Ids]]) -> list[list[float]]:
        """Log-probabilities of every token of these targets (extended ids of the example's), given the source."""
        sources, targets = [self.source(example) for example, _ in pairs], [self.target(ids) for _, ids in pairs]
        logp: list[list[float]] = self.process.ask("score", sources=sources, targets=targets)["logp"]
        return logp

    def generate(self, examples: Sequence[Example], **search: Any) -> list[tuple[list[int], list[int]]]:
        """Of each example what is written, as extended ids, and the source positions that were attended to most."""
        answer = self.process.ask("generate", sources=[self.source(example) for example in examples], **search)
        return [
            ([OURS.get(token, token) for token in tokens], attended)
            for tokens, attended in zip(answer["tokens"], answer["attended"], strict=True)
        ]
