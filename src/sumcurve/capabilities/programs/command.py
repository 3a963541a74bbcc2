"""An outside program, by its commands: JSON lines in, JSON lines out.

`summarize` writes summaries; `train`, where there is one, learns from training records before; `logp`, where there is
one, returns log-probabilities of targets. A shell runs each where the study is run. Their environment variables are in
`ENVIRONMENT`, and the `settings` of the study are further variables.
"""

import json
import math
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field, model_validator

from sumcurve.capabilities.programs.process import MODEL, Limits, environment_of, files_of, run
from sumcurve.capabilities.programs.targets import tokens_of
from sumcurve.settings.base import Positive
from sumcurve.settings.corpus import CorpusSettings
from sumcurve.sources.jsonl import row_of
from sumcurve.sources.raw import Refused
from sumcurve.store.kind import Version
from sumcurve.store.records import RecordError, write_jsonl
from sumcurve.systems.outside import LearningSettings, read_summaries, tokenized, tokenizing
from sumcurve.systems.system import LOG_OF, Alternatives, Item, Likelihoods, Role, SystemSettings

# Information for a program, by environment variable. Paths are absolute.
ENVIRONMENT = {
    "SUMCURVE_TRAIN": "train: the training records, JSON lines {id, source, target}",
    "SUMCURVE_VALID": "train: the validation records, as those",
    "SUMCURVE_SEED": "train: the seed, a number",
    "SUMCURVE_SCRATCH": "train: a folder that outlives a kill, to go on from",
    "SUMCURVE_MODEL": "a folder: train leaves there what it has learned, summarize and logp read it",
    "SUMCURVE_ITEMS": "summarize: a file of what standard input has, {id, source}; logp: {id, source, target}",
    "SUMCURVE_DEVICE": "cpu or cuda; of a GPU that is lent, CUDA_VISIBLE_DEVICES tells the name",
}
LINE = 64 << 10  # bytes that a program may write for a line that it gets, on average
ROUNDING = 1e-6  # above 0, to which a sum of log-probabilities may round

SETTING = re.compile(r"[A-Z][A-Z0-9_]*")


def _shell_line(line: str) -> str:
    """Check the line; ValueError for one that runs nothing."""
    if not line.strip():
        raise ValueError("must be a shell line that runs a program; write one")
    return line


Line = Annotated[str, AfterValidator(_shell_line)]


class CommandSettings(LearningSettings):
    summarize: Line  # a shell line, run where the study is run
    train: Line | None = None  # a shell line that learns; then there is a curve, as of a method
    logp: Line | None = None  # a shell line that returns log-probabilities of targets
    timeout: Positive = 3600  # seconds for all test items, of summarize and of logp
    train_timeout: Positive = 86_400  # seconds for one training
    max_gigabytes: Annotated[float, Field(gt=0)] = 20.0  # of a training's files
    environment: Annotated[list[str], Field(default_factory=list)]  # of this machine, beside `process.MACHINE`

    light: ClassVar[bool] = False

    @property
    def gives_logp(self) -> bool:
        return self.logp is not None

    @model_validator(mode="after")
    def commands_and_settings_fit(self) -> "CommandSettings":
        if self.logp is not None and self.train is None:
            raise ValueError("`logp` is asked of programs that are trained: what is compared are the words they saw")
        for name in self.settings:
            if not SETTING.fullmatch(name) or name.startswith("SUMCURVE_"):
                raise ValueError(
                    f"settings: {name!r} becomes an environment variable: capital letters, digits and underscores, "
                    "not beginning with SUMCURVE_"
                )
        if both := sorted({*self.environment} & {*self.settings}):
            raise ValueError(f"environment: {both[0]} has its value from `settings`: name it in one of both")
        for trial in self.trials:
            if set(trial) != set(self.settings):
                raise ValueError(
                    f"trials: {trial}: each says all of `settings` and nothing else, "
                    f"{', '.join(self.settings) or 'none'}"
                )
        if self.trials and self.train is None:
            raise ValueError("`trials` are for programs that are trained; add `train`")
        return self

    def trainings(self, percents: Sequence[int], seeds: Sequence[int]) -> list[tuple[int, int]]:
        return [(percent, seed) for percent in percents for seed in seeds] if self.train is not None else []

    def training(self) -> dict[str, Any]:
        assert self.train is not None
        return {
            "train": self.train,
            "files": files_of(self.train),
            "timeout": self.train_timeout,
            "max_gigabytes": self.max_gigabytes,
            **variables_of(self),
        }


class Command:
    """Reads a JSON object a line, `id` and `source` (the sentences as people wrote them), and never a reference.

    It writes a summary a line in that order, or JSON lines {id, summary} in any (`outside.read_summaries`). Its command
    line and the content of the files named in it determine the output's name; a program that is found by PATH, and
    files that programs read without being named, are not part of it.
    """

    version: ClassVar[Version] = "6acd2fb554a5547a"
    Settings: ClassVar[type[SystemSettings]] = CommandSettings
    title: ClassVar[str] = "an outside program"
    role: ClassVar[Role] = "outside"
    needs: ClassVar[Mapping[str, str]] = {}
    is_baseline: ClassVar[bool] = False

    def __init__(self, settings: Mapping[str, Any], inputs: Mapping[str, Path]) -> None:
        """`inputs` hold a file to log to, and may hold the folder of the trained model."""
        self.settings, self.log = settings, inputs[LOG_OF]
        self.environment = environment_of(settings)
        if MODEL in inputs:
            self.environment["SUMCURVE_MODEL"] = str(inputs[MODEL].resolve())
        self.target_tokens = 0  # of a target, that `weigh` requests

    @classmethod
    def of_run(
        cls, settings: Mapping[str, Any], run: Path, inputs: Mapping[str, Path], device: str, target_tokens: int
    ) -> "Command":
        """The program with the model that it has trained, in the folder `run`."""
        system = cls(settings, {**inputs, MODEL: run / MODEL})
        system.environment["SUMCURVE_DEVICE"] = device
        system.target_tokens = target_tokens
        return system

    @classmethod
    def specify(cls, settings: CommandSettings, corpus: CorpusSettings) -> dict[str, Any]:
        scoring = {} if settings.logp is None else {"logp": settings.logp}
        return {
            "command": settings.summarize,
            "files": files_of_all(settings.summarize, settings.logp),
            "timeout": settings.timeout,
            **scoring,
            **variables_of(settings),
            **tokenizing(settings, corpus),
        }

    @classmethod
    def files(cls, settings: CommandSettings) -> Mapping[str, str]:
        return {sha256: name for name, sha256 in files_of_all(settings.summarize, settings.logp).items()}

    def summarize(self, items: Sequence[Item]) -> Iterator[list[str]]:
        command = self.settings["command"]
        rows = [{"id": item.record.id, "source": item.text.source} for item in items]
        with tempfile.TemporaryDirectory() as folder:
            written = self._run(command, rows, Path(folder), "")
            summaries = read_summaries(written, [item.record.id for item in items], f"the output of `{command}`")
        settings = self.settings
        words = settings.get("tokenizer", "words")
        for summary in summaries:
            yield tokenized(summary, settings["lower"], settings["split"], settings["max_tokens"], words)

    def word_logp(self, sources: Sequence[Item], targets: Sequence[list[str]]) -> list[list[float]]:
        """Log-probabilities, in nats, of each target's words in their order given the source of the same place.

        Targets are sentences of blank-separated words. After the last word the program may give the log-probability of
        the target's end. RecordError for any other output, and where there is no such command.
        """
        if "logp" not in self.settings:
            raise RecordError(
                f"`{self.settings['command']}` has no command `logp` beside it, which says log-probabilities"
            )
        command = self.settings["logp"]
        rows = [
            {"id": str(place), "source": source.text.source, "target": target}
            for place, (source, target) in enumerate(zip(sources, targets, strict=True))
        ]
        counts = [sum(len(sentence.split(" ")) for sentence in target) for target in targets]
        with tempfile.TemporaryDirectory() as folder:
            written = self._run(command, rows, Path(folder), ".logp")
            return read_logp(written, counts, f"the output of `{command}`")

    def logp(self, items: Sequence[Item], targets: Sequence[list[str]]) -> list[float]:
        """The sum over a target's words, and its end where the program gives it."""
        return [math.fsum(values) for values in self.word_logp(items, targets)]

    def weigh(self, alternatives: Sequence[Alternatives]) -> list[Likelihoods]:
        """Likelihoods of all targets, in a single call of the program, each up to `target_tokens`."""
        targets = [[tokens_of(target, self.target_tokens)[0] for target in each.targets] for each in alternatives]
        pairs = [(each.item, target) for each, row in zip(alternatives, targets, strict=True) for target in row]
        values = iter(self.word_logp([item for item, _ in pairs], [target for _, target in pairs]))
        likelihoods = []
        for row in targets:
            lines = [next(values) for _ in row]
            likelihoods.append(Likelihoods([math.fsum(line) for line in lines], [len(line) for line in lines], row))
        return likelihoods

    def _run(self, command: str, rows: Sequence[dict[str, Any]], folder: Path, what: str) -> Path:
        """Run a command with these rows as input; returns the file of its output."""
        given, written = folder / "items.jsonl", folder / "written"
        write_jsonl(given, rows)
        log = self.log.with_suffix(f"{what}{self.log.suffix}")
        limits = Limits(self.settings["timeout"], (len(rows) + 16) * LINE)
        model = self.environment.get("SUMCURVE_MODEL")
        before = _state(Path(model)) if model else {}
        run(command, log, limits, self.environment | {"SUMCURVE_ITEMS": str(given)}, given, written)
        if model and (changed := sorted(dict(before.items() ^ _state(Path(model)).items()))):
            raise RecordError(
                f"`{command}` changed {changed[0]} in $SUMCURVE_MODEL, which is read only: let it write elsewhere, "
                f"delete the folder {Path(model).parent} and run again"
            )
        return written


def variables_of(settings: CommandSettings) -> dict[str, Any]:
    """Variables in a specification; empty where the settings name none."""
    named = {"settings": settings.settings, "environment": sorted(settings.environment)}
    return {key: value for key, value in named.items() if value}


def files_of_all(*commands: str | None) -> dict[str, str]:
    """Files of all given commands, as in `process.files_of`."""
    return {name: sha256 for command in commands if command is not None for name, sha256 in files_of(command).items()}


def _state(folder: Path) -> dict[str, tuple[int, int]]:
    """Size and time of each file below a folder."""
    states = {path: path.stat() for path in folder.rglob("*") if path.is_file()}
    return {str(path.relative_to(folder)): (state.st_size, state.st_mtime_ns) for path, state in states.items()}


def read_logp(path: Path, counts: Sequence[int], named: str) -> list[list[float]]:
    """The log-probabilities of every target, by its place; `counts` are its words, and one for its end may follow.

    JSON lines {id, logp} in any order. Raises RecordError that names line, id and remedy.
    """
    logp: dict[int, list[float]] = {}
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            place = f"{named}:{number}"
            try:
                row = row_of(line)
                name, values = str(row["id"]), row["logp"]
            except (Refused, KeyError) as error:
                why = f"{error.reason}: {error.value}" if isinstance(error, Refused) else f"no key {error}"
                raise RecordError(
                    f'{place}: {line[:60]!r} is no JSON object {{"id": …, "logp": […]}} ({why}); write one for each '
                    "line that is read"
                ) from None
            if not name.isdecimal() or int(name) >= len(counts):
                raise RecordError(f"{place}: id {name!r} was not given; ids are those of the lines that are read")
            if int(name) in logp:
                raise RecordError(f"{place}: a second line of id {name!r}; write one")
            count = counts[int(name)]
            if not isinstance(values, list) or len(values) not in (count, count + 1):
                given = len(values) if isinstance(values, list) else json.dumps(values)[:60]
                raise RecordError(
                    f"{place}: id {name!r} has {given} log-probabilities for a target of {count} words: give one for "
                    "each word, in order, and one more if the end is counted"
                )
            for value in values:
                if not isinstance(value, int | float) or not math.isfinite(value) or value > ROUNDING:
                    raise RecordError(
                        f"{place}: id {name!r}: {json.dumps(value)} is no logarithm of a probability: give finite "
                        "numbers, natural logarithms, at most 0"
                    )
            logp[int(name)] = [min(float(value), 0.0) for value in values]
    if missing := [place for place in range(len(counts)) if place not in logp]:
        raise RecordError(
            f"{named}: no line of id {str(missing[0])!r} ({len(missing)} of {len(counts)} have none); write a line for "
            "each line that is read"
        )
    return [logp[place] for place in range(len(counts))]
