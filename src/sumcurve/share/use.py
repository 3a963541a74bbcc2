"""Use of a finished run, or of an export by `sumcurve export`: summaries of any text."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from sumcurve.corpora.tokenizers import tokenizer
from sumcurve.files.objects import UTF8
from sumcurve.settings.config import PlanError
from sumcurve.settings.forms import Form
from sumcurve.settings.search import Search
from sumcurve.sources.jsonl import row_of
from sumcurve.sources.raw import EMPTY_SOURCE, Refused, check_text
from sumcurve.store import manifest
from sumcurve.store.records import Record, RecordError, Text
from sumcurve.store.stage import Inputs
from sumcurve.study.doors import MODELS, TRAINABLES
from sumcurve.study.methods import form_of_run
from sumcurve.study.plan import Folder, Plan, plan_holding
from sumcurve.systems.family import Family, FinishedRun
from sumcurve.systems.rows import Scored
from sumcurve.systems.system import LOG_OF, Item

TOGETHER = 500  # texts that are read before they are summarized
TOLD = "sumcurve.json"  # in an exported folder: settings of its model's use
WEIGHTS, VOCABULARY = "weights.safetensors", "vocabulary.json"
TRANSFORMERS = "transformers"  # in an exported folder: the same model for transformers


@dataclass(frozen=True)
class Run:
    """Parts of a summarizer: the run's specification, the search, whether words are in small letters, and files.

    `inputs` are further files of its model, by sha256. `program` is the kind of a trained program and its
    settings. `row` and `plan` are of a run that still lies among results.
    """

    specification: Mapping[str, Any]
    search: Search
    lower: bool
    folder: Path
    tokenizer: str = "words"
    inputs: Inputs = field(default_factory=dict)
    program: tuple[str, Mapping[str, Any]] | None = None
    row: Scored | None = None
    plan: Plan | None = None

    @property
    def form(self) -> Form:
        """Form of the run, its model and training; not for a program."""
        return form_of_run(self.specification)

    @property
    def family(self) -> Family | None:
        """Family of its model; None for a program."""
        return None if self.program is not None else MODELS[self.specification["model"]["kind"]]

    def finished(self, device: str) -> FinishedRun:
        """Finished run from which its system is opened."""
        weights = self.folder / WEIGHTS  # an exported folder's model may have them in it
        return FinishedRun(
            form=self.form,
            specification=self.specification,
            folder=self.folder,
            weights=weights if weights.is_file() else None,
            search=self.search,
            device=device,
            inputs=self.inputs,
            lower=self.lower,
            tokenizer=self.tokenizer,
        )

    def described(self) -> dict[str, Any]:
        """Description in an exported folder, beside weights and vocabulary."""
        search = self.search.model_dump(mode="json")
        described = {"specification": dict(self.specification), "search": search, "lower": self.lower}
        return described if self.tokenizer == "words" else {**described, "tokenizer": self.tokenizer}


def read(path: Path, config: Path) -> Run:
    """A run among a study's results, or an exported folder.

    Raises PlanError for a folder that is neither, ManifestError for a run that is not finished or damaged.
    """
    path = path.resolve()
    if path.name == manifest.MANIFEST:
        path = path.parent
    if (path / TOLD).is_file():
        return _exported(path)
    if path.parent.name != "runs":
        raise PlanError(
            f"{path} is neither a run (results/runs/…; `sumcurve status` lists them) nor what `sumcurve export` made"
        )
    plan = plan_holding(config, f"runs/{path.name}")
    return of_plan(plan, path)


def of_plan(plan: Plan, path: Path) -> Run:
    """The run of this folder of a study's results, verified. Raises ManifestError, PlanError for a trial."""
    folder = plan.folder(f"runs/{path.name}")
    sealed = manifest.verify(path, folder.specification)
    if sealed is None:
        raise manifest.ManifestError(f"{path} is not finished; make it first (`make study`)")
    if absent := manifest.lacking(path):
        raise manifest.ManifestError(manifest.without(path, absent))
    row = next((row for row in plan.rows if row.run == folder.key), None)
    if row is None:
        raise PlanError(f"{path} is a trial of settings, of which no test item is decoded; name a run of a study")
    settings = plan.settings.corpora[row.corpus]
    program = None
    if folder.kind != "train":
        system, keys = plan.systems[row.method]
        program = keys.kind or row.method, system.specify(keys, settings)
    return Run(
        specification=folder.specification,
        search=settings.search,
        lower=settings.prepare.lower,
        folder=path,
        tokenizer=settings.prepare.tokenizer,
        inputs=_inputs(folder, path.parents[2]),
        program=program,
        row=row,
        plan=plan,
    )


def _inputs(folder: Folder, home: Path) -> dict[str, Path]:
    """The files that a run's model was made from, checked."""
    files = {}
    for file in folder.files if folder.kind == "train" else ():
        if file.observed(home) != file.sha256:
            raise PlanError(f"{file.at(home)} is not what {file.pinned} pins; restore it")
        files[str(file.sha256)] = file.at(home)
    return files


def _exported(path: Path) -> Run:
    try:
        settings = json.loads((path / TOLD).read_text(encoding="utf-8"))
        search = Search.of_specification(settings["search"])
        specification, lower = settings["specification"], bool(settings["lower"])
        words = str(settings.get("tokenizer", "words"))
        tokenizer(words)
    except (ValueError, KeyError, TypeError) as error:
        raise PlanError(f"{path / TOLD} is not what `sumcurve export` writes ({error}); export again") from None
    model = specification["model"]
    inputs = {model["sha256"]: path / TRANSFORMERS} if MODELS[model["kind"]].reads_texts else {}
    return Run(specification, search, lower, path, words, inputs)


def items_of(rows: Iterable[tuple[str, bytes]], lower: bool, words: str = "words") -> Iterator[tuple[Any, Item]]:
    """Items of lines, each a place and its bytes: the id of each (else its number) and its source as systems read it.

    `words` is the corpus's tokenizer.

    Raises RecordError that names the place where a line is no JSON object with a source.
    """
    tokens = tokenizer(words)
    for number, (place, line) in enumerate(rows, start=1):
        try:
            row = row_of(line.removeprefix(UTF8) if number == 1 else line)
            if "source" not in row:
                raise RecordError(f'{place}: no object with "source": {line[:60]!r}')
            check_text(row["source"], "source", EMPTY_SOURCE)
        except Refused as error:
            raise RecordError(f"{place}: {error.reason} ({error.value}); correct it or leave the line out") from None
        text = tokens.sentences(row["source"]) if isinstance(row["source"], str) else row["source"]
        record = Record(str(number), tokens.tokens(text, lower), [])
        yield row.get("id", number), Item(record, Text(str(number), text, []))


class Summarizer:
    """Summarizer by a run's system, in sentences: a pretrained model's as written, others' in their words."""

    def __init__(self, run: Run, device: str) -> None:
        self.run, self.system = run, _system(run, device)

    def summaries(self, items: Sequence[Item]) -> list[list[str]]:
        if self.run.family is None:
            return list(self.system.summarize(items))
        return self.run.family.texts(self.system, items)

    def notice(self) -> str:
        """Notice about the sources that were read; empty where there is none."""
        return "" if self.run.family is None else self.run.family.notice(self.system)


def _system(run: Run, device: str) -> Any:
    if run.program is not None:
        log = run.folder.parents[2] / "logs" / "programs" / f"{run.folder.name}.summarize.log"
        kind, specified = run.program
        return TRAINABLES[kind].of_run(specified, run.folder, {LOG_OF: log}, device, 0)
    assert run.family is not None
    try:
        with run.family.system(run.finished(device)) as system:
            return system  # which needs no process that would end
    except run.family.errors() as error:
        raise PlanError(f"{run.folder}: {error}") from error


def summarize(
    run: Run, lines: Iterable[tuple[str, bytes]], device: str, note: Callable[[str], None] = lambda text: None
) -> Iterator[dict[str, Any]]:
    """A row {id, summary} for each line {id, source}, in order; `lines` come with their places.

    `note` receives at the end how many sources were longer than the model has positions, if any was.
    Raises RecordError for the first line that cannot be read, after the summaries of the lines before.
    """
    summarizer = Summarizer(run, device)
    waiting = items_of(lines, run.lower, run.tokenizer)
    while True:
        together: list[tuple[Any, Item]] = []
        failed = None
        try:
            together += islice(waiting, TOGETHER)  # in place: rows before an error stay
        except RecordError as error:
            failed = error
        summaries = summarizer.summaries([item for _, item in together]) if together else []
        for (name, _), summary in zip(together, summaries, strict=True):
            yield {"id": name, "summary": summary}
        if failed is not None or len(together) < TOGETHER:
            break
    if notice := summarizer.notice():
        note(notice)
    if failed is not None:
        raise failed
