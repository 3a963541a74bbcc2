"""How a folder of each kind is made: the specification that decides it, and the function that writes it.

A builder receives the specification (a folder's name ends in its digest), where each input lies, and a stage; and
nothing else: what the name does not hold cannot decide what is written. It maps them to the functions of its package,
whose code is what the kind's row in `sumcurve.study.kinds` counts as deciding. Heavy packages are imported inside,
since the plan reads this module on every parse.

Beside its keys here a specification holds `recipe` or `fingerprint`, which the plan adds. Strings that look like
`corpora/docstrings-1c72ccea` are keys of other folders.
"""

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypedDict

from sumcurve.corpora.store import Corpus
from sumcurve.machine import devices
from sumcurve.machine.devices import Lease
from sumcurve.machine.sums import Sums
from sumcurve.settings import (
    Contrasts,
    Form,
    Oracle,
    Preparation,
    Reading,
    Rouge,
    Search,
    SpanReaderSettings,
    SubwordSettings,
    TransformersSettings,
    reader_settings,
)
from sumcurve.sources.errors import CorpusError
from sumcurve.store import manifest, resume
from sumcurve.store.records import RecordError, write_json

if TYPE_CHECKING:
    from sumcurve.capabilities.programs.command import Command
    from sumcurve.sources.content import Content
    from sumcurve.systems.system import Item

Inputs = Mapping[str, Path]  # verified folders by key, verified files from outside by sha256
Block = dict[str, Any]  # a block of settings as plain JSON values
CPU = Lease("cpu", exclusive=False)
TOKEN_IDS = Path("scratch", "token-ids")  # below a study's home: of training parts, made by whoever reads them first


class BuildError(RuntimeError):
    """A folder that cannot be made here; the message is that of the package that makes it."""


@dataclass(frozen=True)
class Stage:
    """Where a builder writes, and what it uses of the machine meanwhile; nothing of it decides what is written.

    `facts` go into the manifest beside what all folders record there; a builder adds to them. Below `home` a builder
    may keep what outlives a kill (`scratch/`) and what people watch (`logs/`). `lease` is the device of a kind that
    wants a GPU.
    """

    folder: Path  # empty; what is in it in the end becomes the finished folder
    name: str  # of the finished folder
    home: Path
    note: Callable[[str], None]  # one line for whoever listens
    lease: Lease = CPU
    facts: dict[str, Any] = field(default_factory=dict)


def _sealed(folder: Path) -> dict[str, Any]:
    """An input's manifest. Its specification decides its name, and so the name of what is made from it."""
    sealed = manifest.read(folder)
    if sealed is None:
        raise BuildError(f"{folder} is not finished; make it first")
    return sealed


# --- corpora


class CorpusSpecification(TypedDict):
    raw: str  # sha256 of the raw content
    form: NotRequired[str]  # of sources; without it JSON lines
    fields: NotRequired[Block]  # what they are called; without it as ours
    least: NotRequired[dict[str, int]]  # of further fields; without it all rows are read
    compose: Block | None
    prepare: Block
    split: Block
    revisions: NotRequired[dict[str, int | str]]  # of what it uses; without it what it uses is as it first was


def corpus(specification: CorpusSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write a prepared corpus; from the pieces of its shards, where these are finished."""
    from sumcurve.corpora.prepare import prepare
    from sumcurve.corpora.shards import Work, assemble

    raw = inputs[specification["raw"]]
    content, settings = preparation(specification, raw)
    several = f", {len(content.shards)} files" if content.several else ""
    stage.note(f"{raw}: {specification.get('form', 'jsonl')}{several}")
    work = Work.complete(stage.home, stage.name)
    if work is None:
        statistics = prepare(content, settings, stage.folder)
    else:
        stage.note(f"{work.folder}: {work.shards} shards")
        statistics = assemble(content, settings, work, stage.folder)
    counts = raw.with_suffix(".counts.json")  # beside what a harvest made
    if counts.is_file():
        write_json(Corpus(stage.folder).harvest_path, json.loads(counts.read_text()))
    dropped = sum(statistics["dropped"].values())
    stage.note(
        f"read {statistics['read']} records, kept {statistics['kept']}, dropped {dropped}: {statistics['dropped']}"
    )
    for part, told in statistics.get("ready", {}).items():
        stage.note(f"{part}: kept {told['kept']}, dropped {sum(told['dropped'].values())}: {told['dropped']}")


def preparation(specification: CorpusSpecification, raw: Path) -> tuple["Content", Preparation]:
    """The raw content of a corpus, and how it is prepared."""
    from sumcurve.sources import SOURCES
    from sumcurve.sources.content import Content

    source, fields = SOURCES[specification.get("form", "jsonl")], specification.get("fields")
    ready, least = specification["split"].get("ready"), specification.get("least", {})
    settings = Preparation.of_specification(
        {"compose": specification["compose"], "prepare": specification["prepare"], "split": specification["split"]}
    )
    return Content(raw, source, fields, ready, least, specification["split"].get("roles", {})), settings


class UnseenSpecification(TypedDict):
    corpus: str


def unseen(specification: UnseenSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write what a corpus holds out as a corpus of its own."""
    from sumcurve.corpora.unseen import write_unseen

    write_unseen(Corpus(inputs[specification["corpus"]]), stage.folder)


class Sized(TypedDict):
    percent: NotRequired[int]  # of the training part; or
    records: NotRequired[int]


class FractionSpecification(Sized):
    corpus: str
    seed: NotRequired[int]  # that draws the records; without it 1, the corpus's own order


def fraction(specification: FractionSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write word counts and statistics of some percent of a corpus, or of some of its records."""
    from sumcurve.corpora.fraction import write_fraction
    from sumcurve.corpora.sizes import write_records

    train, seed = Corpus(inputs[specification["corpus"]]).part("train"), specification.get("seed", 1)
    if "percent" in specification:
        write_fraction(train, specification["percent"], seed, stage.folder)
    else:
        write_records(train, specification["records"], seed, stage.folder)


class OutsideSpecification(TypedDict):
    outside: str  # the corpus of the packages
    corpus: str  # whose validation and test parts it may not overlap
    overlap: int
    near_duplicates: float


def outside(specification: OutsideSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write what of packages outside of a corpus's overlaps nothing that methods are chosen by or tested on."""
    from sumcurve.capabilities.pretrained.outside import write_outside

    found = write_outside(
        Corpus(inputs[specification["outside"]]),
        Corpus(inputs[specification["corpus"]]),
        specification["overlap"],
        specification["near_duplicates"],
        stage.folder,
    )
    removed = sum(found["removed"].values())
    stage.note(
        f"read {found['read']} records, kept {found['kept']}, removed {removed}: {found['removed']}; of "
        f"{found['sentences']} sentences of bodies {found['sentences_removed']} are summaries and were removed"
    )


# --- annotations


class AnnotateSpecification(TypedDict):
    corpus: str


def annotate(specification: AnnotateSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write the best single source sentence of every test record of a corpus."""
    from sumcurve.corpora.extraction import annotate

    annotate(inputs[specification["corpus"]], stage.folder)


class EntitiesSpecification(TypedDict):
    corpus: str
    pipeline: str  # "rules", or a spaCy pipeline's name
    versions: Block  # of spaCy and the pipeline
    hyphenated: NotRequired[Literal["whole", "parts"]]  # without it whole


def entities(specification: EntitiesSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write the entities of every part of a corpus: what its references name, and where its sources name it."""
    from sumcurve.corpora.entities import EntityError, annotate

    try:
        corpus, hyphenated = inputs[specification["corpus"]], specification.get("hyphenated", "whole")
        annotate(corpus, stage.folder, specification["pipeline"], hyphenated)
    except EntityError as error:
        raise CorpusError(f"{stage.name}: {error}") from error


class QuestionsSpecification(TypedDict):
    corpus: str
    pipeline: NotRequired[str]  # "rules", or a spaCy pipeline's name; or
    recogniser: NotRequired[Block]  # kind, sha256 of its folder, types; or
    files: NotRequired[Block]  # sha256 of ready-made questions, and the corpus's tokenizer and case
    salient: NotRequired[Literal["names", "words"]]  # without it names
    hyphenated: NotRequired[Literal["whole", "parts"]]  # without it whole
    versions: NotRequired[Block]  # of what recognises entities


def questions(specification: QuestionsSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write the questions about every reference of a corpus, and what guessing gets of them."""
    from sumcurve.capabilities.apes.cloze import ask, ask_by_files
    from sumcurve.capabilities.apes.recognisers import classifier, pipeline
    from sumcurve.corpora.entities import EntityError
    from sumcurve.corpora.tokenizers import tokenizer

    corpus, salient = Corpus(inputs[specification["corpus"]]), specification.get("salient", "names")
    hyphenated = specification.get("hyphenated", "whole")
    try:
        if "files" in specification:
            told = specification["files"]
            made, lower = tokenizer(told["tokenizer"]), told["lower"]
            files = inputs[told["sha256"]]
            found = ask_by_files(
                corpus, stage.folder, files, lambda texts: made.tokens(texts, lower), salient, hyphenated
            )
        elif "recogniser" in specification:
            told = specification["recogniser"]
            folder = inputs[told["sha256"]]
            recogniser = (
                pipeline(str(folder)) if told["kind"] == "spacy" else classifier(folder, told.get("types") or None)
            )
            found = ask(corpus, stage.folder, recogniser, salient, hyphenated)
        else:
            found = ask(corpus, stage.folder, pipeline(specification["pipeline"]), salient, hyphenated)
    except EntityError as error:
        raise CorpusError(f"{stage.name}: {error}") from error
    for part, told in found["parts"].items():
        stage.note(
            f"{part}: {told['asked']} of {told['records']} references are asked about, {told['questions']} questions"
        )
    if "files" in found:
        told = found["files"]
        stage.note(f"read {told['read']} files, asked {told['asked']}, dropped {told['dropped']}")


class ContrastsSpecification(TypedDict):
    corpus: str
    contrasts: Block
    versions: Block  # of what tags and inflects


def contrasts(specification: ContrastsSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write the contrasts of the test items of a corpus: references with words exchanged or overwritten."""
    from sumcurve.capabilities.contrasts.broken import annotate
    from sumcurve.capabilities.contrasts.tags import TagError

    settings = Contrasts.model_validate(specification["contrasts"])
    try:
        found = annotate(inputs[specification["corpus"]], stage.folder, settings)
    except TagError as error:
        raise CorpusError(f"{stage.name}: {error}") from error
    stage.note(
        f"{found['contrasts']} contrasts of {found['golds_with_contrasts']} golds; {found['golds']} were asked for"
    )


class ProveSpecification(TypedDict):
    corpus: str
    oracle: Block
    rouge: Block
    versions: Block  # of algebra, and of the solver that picks among optima


def prove(specification: ProveSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write how far an extract of every item can go, with certificates, and how far searches and systems get."""
    from sumcurve.capabilities.extracts.corpus import write_oracle

    settings, rouge = Oracle.of_specification(specification["oracle"]), Rouge.of_specification(specification["rouge"])
    write_oracle(Corpus(inputs[specification["corpus"]]), settings, rouge, stage.folder)


class SubwordsSpecification(TypedDict):
    outside: str
    subwords: int
    lower: bool


def subwords(specification: SubwordsSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write the tokenizer that is trained on the bodies of the training part of packages outside of a corpus's."""
    from sumcurve.capabilities.pretrained.bart import write_subwords
    from sumcurve.capabilities.pretrained.outside import bodies_path
    from sumcurve.capabilities.pretrained.subwords import PretrainedError
    from sumcurve.store.records import read_jsonl

    rows = read_jsonl(bodies_path(Corpus(inputs[specification["outside"]]), "train"))
    texts = (sentence for row in rows for sentence in row["sentences"])
    try:
        found = write_subwords(texts, specification["subwords"], specification["lower"], stage.folder)
    except PretrainedError as error:
        raise BuildError(f"{stage.name}: {error}") from error
    stage.note(f"{found} subwords")


# --- runs


def _places(stage: Stage, line: int) -> dict[str, Any]:
    """What a training is told beside what it learns: what it writes, where, and to whom; `line` is its bar's."""
    return {
        "stage": stage.folder,
        "state": resume.state(stage.home, stage.name),
        "events": stage.home / "logs" / "tensorboard" / stage.name,
        "name": stage.name,
        "lease": stage.lease,
        "note": stage.note,
        "terminal": sys.__stderr__ or sys.stderr,
        "position": line,
        "found": stage.facts,
    }


class PretrainSpecification(TypedDict):
    outside: str
    subwords: str
    model: Block
    dropout: float
    tokens: int
    noise: Block
    training: Block
    seed: int
    threads: int
    sums: Sums


def pretrain(specification: PretrainSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write the weights and History of a pretraining, resuming where an interrupted one left its state."""
    from sumcurve.capabilities.pretrained.denoising import pretrain_run
    from sumcurve.capabilities.pretrained.subwords import PretrainedError
    from sumcurve.training.fit import ResumeError, TrainingError

    tokenizer = inputs[specification["subwords"]]
    stage.facts["exclusive"] = stage.lease.exclusive
    with devices.bar_line(stage.home / "scratch" / "locks") as line:
        try:
            pretrain_run(
                specification=dict(specification),
                outside=inputs[specification["outside"]],
                subwords=tokenizer,
                lower=bool(_sealed(tokenizer)["specification"]["lower"]),
                **_places(stage, line),
            )
        except (TrainingError, ResumeError, PretrainedError) as error:
            raise BuildError(f"{stage.name}: {error}") from error


class ReaderSpecification(TypedDict):
    corpus: str
    questions: str
    reader: Block
    seed: int
    threads: int
    sums: Sums


def reader(specification: ReaderSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write a reader of questions, resuming where an interrupted one left its state; one from elsewhere as it is."""
    from sumcurve.capabilities.apes.reader import train_reader
    from sumcurve.capabilities.apes.span_reader import take_over
    from sumcurve.capabilities.pretrained.subwords import PretrainedError
    from sumcurve.training.fit import ResumeError, TrainingError

    settings = reader_settings(specification["reader"])
    corpus, questions = inputs[specification["corpus"]], inputs[specification["questions"]]
    stage.facts["exclusive"] = stage.lease.exclusive
    if isinstance(settings, SpanReaderSettings):
        try:
            take_over(dict(specification), settings, inputs[settings.sha256], corpus, questions, stage.folder)
        except PretrainedError as error:
            raise BuildError(f"{stage.name}: {error}") from error
        return
    with devices.bar_line(stage.home / "scratch" / "locks") as line:
        try:
            train_reader(
                specification=dict(specification),
                settings=settings,
                corpus=corpus,
                questions=questions,
                vectors=inputs[settings.vectors.sha256] if settings.vectors is not None else None,
                stage=stage.folder,
                state=resume.state(stage.home, stage.name),
                events=stage.home / "logs" / "tensorboard" / stage.name,
                name=stage.name,
                lease=stage.lease,
                note=stage.note,
                terminal=sys.__stderr__ or sys.stderr,
                position=line,
                found=stage.facts,
            )
        except (TrainingError, ResumeError) as error:
            raise BuildError(f"{stage.name}: {error}") from error


class TrainSpecification(TypedDict):
    fraction: str
    method: str
    model: Block
    training: Block
    source_tokens: int
    target_tokens: int
    validation: Block  # the search that validation decodes with
    seed: int
    threads: int
    sums: Sums
    entities: NotRequired[str]  # where the method learns them
    draw: NotRequired[int]  # the fraction's seed where it is not `seed`
    parent: NotRequired[str]  # of a control: the run from whose checkpoint before its last phase it starts
    begins: NotRequired[str]  # the run of the same phases but the last, from whose checkpoint before it starts
    architecture: NotRequired[Block]  # of a BART that is made here, and these:
    subwords: NotRequired[str]  # its tokenizer
    pretrained: NotRequired[str]  # the pretraining from whose weights it starts; without it they are new
    outside: NotRequired[str]  # the corpus whose pairs it learns, too


def train(specification: TrainSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write the weights and History of one run, resuming where an interrupted training left its state."""
    from sumcurve.capabilities.fairseq.model import FairseqError
    from sumcurve.capabilities.pretrained.subwords import PretrainedError
    from sumcurve.corpora.token_ids import TokenIds
    from sumcurve.systems.trained import WEIGHTS
    from sumcurve.training.fit import ResumeError, TrainingError
    from sumcurve.training.run import train_run

    fraction = inputs[specification["fraction"]]
    corpus = inputs[_sealed(fraction)["specification"]["corpus"]]
    part = Corpus(corpus).part("train")
    sha256 = _sealed(corpus)["files"][part.path.name]["sha256"]
    tokens = TokenIds.of_part(part, sha256, stage.home / TOKEN_IDS, stage.note)
    stage.facts["exclusive"] = stage.lease.exclusive
    with devices.bar_line(stage.home / "scratch" / "locks") as line:
        try:
            train_run(
                specification=dict(specification),
                settings=Form.of_run(dict(specification)),
                fraction=fraction,
                corpus=corpus,
                tokens=tokens,
                entities=inputs[specification["entities"]] if "entities" in specification else None,
                parent=inputs[specification["parent"]] if "parent" in specification else None,
                begins=inputs[specification["begins"]] if "begins" in specification else None,
                **_places(stage, line),
                subwords=_subwords(specification, inputs),
                lower=in_small_letters(corpus, inputs),
                weights=inputs[specification["pretrained"]] / WEIGHTS["selected"]
                if "pretrained" in specification
                else None,
                outside=inputs[specification["outside"]] if "outside" in specification else None,
            )
        except (TrainingError, ResumeError, PretrainedError, FairseqError) as error:
            raise BuildError(f"{stage.name}: {error}") from error


def _subwords(specification: TrainSpecification, inputs: Inputs) -> Path | None:
    """The folder of a pretrained model, or of the tokenizer of one made here; None for a model without subwords."""
    if "subwords" in specification:
        return inputs[specification["subwords"]]
    model = specification["model"]
    return inputs[model["sha256"]] if model["kind"] == "transformers" else None


def in_small_letters(corpus: Path, inputs: Inputs) -> bool:
    """Whether a corpus's tokens are in small letters; of a part that is held out, its corpus's, which is an input."""
    specification = _sealed(corpus)["specification"]
    while "prepare" not in specification:
        specification = _sealed(inputs[specification["corpus"]])["specification"]
    return bool(specification["prepare"]["lower"])


class TrainProgramSpecification(TypedDict):
    fraction: str
    told: Block  # the command, the files that it names, its limits and settings
    seed: int
    threads: int
    training: Block  # which of the fraction's words it is asked of: all


def train_program(specification: TrainProgramSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write what an outside program learns from a fraction; what it says is kept among the logs."""
    from sumcurve.capabilities.programs.training import train_program as learn

    fraction = inputs[specification["fraction"]]
    stage.facts.update(exclusive=stage.lease.exclusive, threads=specification["threads"])
    try:
        learn(
            told=specification["told"],
            seed=specification["seed"],
            threads=specification["threads"],
            fraction=fraction,
            corpus=inputs[_sealed(fraction)["specification"]["corpus"]],
            stage=stage.folder,
            scratch=resume.scratch(stage.home, stage.name),
            log=_log_of_program(stage),
            device=stage.lease.device,
            note=stage.note,
        )
    except RecordError as error:
        raise BuildError(f"{stage.name}: {error}") from error


def _log_of_program(stage: Stage) -> Path:
    return stage.home.resolve() / "logs" / "programs" / f"{stage.name}.log"


# --- outputs


class DecodeSpecification(TypedDict):
    run: str
    corpus: str
    search: Block
    sums: Sums
    reading: NotRequired[Block]  # for systems that score single tokens, with the common search
    checkpoint: NotRequired[Literal["before"]]  # of the run's last phase; without it the selected one
    entities: NotRequired[str]  # for a search that asks for gold positions


def decode(specification: DecodeSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write a run's summaries of the test set; the stage's facts get the sha256 of the weights that were decoded."""
    from sumcurve.systems.trained import WEIGHTS, decode_run

    run = inputs[specification["run"]]
    sealed = _sealed(run)
    trained = sealed["specification"]
    checkpoint: Literal["selected", "before"] = specification.get("checkpoint", "selected")
    stage.facts["weights"] = sealed["files"][WEIGHTS[checkpoint]]["sha256"]
    form = Form.of_run(trained)
    if isinstance(form.model, SubwordSettings):
        folder = run if form.model.kind == "bart" else inputs[form.model.sha256]
        _decode_pretrained(form.model, folder, specification, trained, run / WEIGHTS[checkpoint], inputs, stage)
        return
    if form.model.kind == "fairseq":
        _decode_fairseq(form, specification, trained, run, inputs, stage)
        return
    decode_run(
        settings=form,
        search=Search.of_specification(specification["search"]),
        run=run,
        specification=trained,
        corpus=inputs[specification["corpus"]],
        entities=inputs[specification["entities"]] if "entities" in specification else None,
        reading=Reading.of_specification(specification["reading"]) if "reading" in specification else None,
        stage=stage.folder,
        device=stage.lease.device,
        checkpoint=checkpoint,
    )


def _decode_fairseq(
    form: Form,
    specification: DecodeSpecification,
    trained: dict[str, Any],
    run: Path,
    inputs: Inputs,
    stage: Stage,
) -> None:
    from sumcurve.capabilities.fairseq.model import FairseqError
    from sumcurve.capabilities.fairseq.system import decode_fairseq
    from sumcurve.systems.trained import WEIGHTS

    try:
        decode_fairseq(
            settings=form,
            search=Search.of_specification(specification["search"]),
            run=run,
            weights=run / WEIGHTS["selected"],
            specification=trained | {"sums": specification["sums"]},
            corpus=inputs[specification["corpus"]],
            reading=Reading.of_specification(specification["reading"]) if "reading" in specification else None,
            stage=stage.folder,
            device=stage.lease.device,
            facts=stage.facts,
        )
    except FairseqError as error:
        raise BuildError(f"{stage.name}: {error}") from error


class UntrainedSpecification(TypedDict):
    model: Block
    corpus: str
    search: Block
    source_tokens: int
    target_tokens: int
    threads: int
    sums: Sums


def untrained(specification: UntrainedSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write what a pretrained model says of the test set before any training (zero shot)."""
    told = dict(specification)
    settings = TransformersSettings.model_validate(told["model"])
    _decode_pretrained(settings, inputs[settings.sha256], told, told, None, inputs, stage)


def _decode_pretrained(
    settings: SubwordSettings,
    folder: Path,
    specification: Mapping[str, Any],
    lengths: Mapping[str, Any],
    weights: Path | None,
    inputs: Inputs,
    stage: Stage,
) -> None:
    from sumcurve.capabilities.pretrained.subwords import PretrainedError
    from sumcurve.capabilities.pretrained.system import decode_pretrained

    corpus = inputs[specification["corpus"]]
    try:
        decode_pretrained(
            settings=settings,
            search=Search.of_specification(specification["search"]),
            folder=folder,
            weights=weights,
            specification=dict(lengths),
            corpus=corpus,
            lower=in_small_letters(corpus, inputs),
            reading=Reading.model_validate(specification["reading"]) if "reading" in specification else None,
            stage=stage.folder,
            device=stage.lease.device,
            note=stage.note,
            facts=stage.facts,
        )
    except PretrainedError as error:
        raise BuildError(f"{stage.name}: {error}") from error


class DecodeProgramSpecification(TypedDict):
    run: str
    corpus: str
    system: str  # a kind of `sumcurve.systems.SYSTEMS`
    told: Block
    reading: NotRequired[Block]  # of a program that gives log-probabilities
    target_tokens: NotRequired[int]  # words of a target that are asked of it, with `reading`


def decode_program(specification: DecodeProgramSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write what an outside program that was trained says of the test set."""
    from sumcurve.capabilities.programs.program import decode_program as decode

    system = _program(specification["system"], specification["told"], inputs[specification["run"]], inputs, stage)
    asked = Reading.of_specification(specification["reading"]) if "reading" in specification else None
    items = _test_items(inputs[specification["corpus"]])
    try:
        decode(system, items, asked, specification.get("target_tokens", 0), stage.folder)
    except RecordError as error:
        raise BuildError(f"{stage.name}: {error}") from error


def _program(kind: str, told: Block, run: Path, inputs: Inputs, stage: Stage) -> "Command":
    """An outside program with what it has learned."""
    from sumcurve.capabilities.programs.command import LOG_OF, Command
    from sumcurve.capabilities.programs.process import MODEL
    from sumcurve.study.doors import SYSTEMS

    system = SYSTEMS[kind](told, {**inputs, MODEL: run / MODEL, LOG_OF: _log_of_program(stage)})
    assert isinstance(system, Command)
    system.environment["SUMCURVE_DEVICE"] = stage.lease.device
    return system


class JudgeSpecification(TypedDict):
    corpus: str
    contrasts: str
    runs: list[str]  # of one method: all sizes and seeds
    others: Block  # whose sources every gold is judged with, too
    sums: Sums
    system: NotRequired[str]  # of an outside program, these three: a kind of `sumcurve.systems.SYSTEMS`
    told: NotRequired[Block]
    target_tokens: NotRequired[int]


def judge(specification: JudgeSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write how probable each run of a method finds golds and their contrasts: a file for each run."""
    from sumcurve.capabilities.contrasts.judge import judge as weigh
    from sumcurve.capabilities.contrasts.judge import opened_run
    from sumcurve.capabilities.contrasts.judged import write_judged
    from sumcurve.capabilities.contrasts.sets import read
    from sumcurve.capabilities.fairseq.model import FairseqError
    from sumcurve.capabilities.pretrained.subwords import PretrainedError
    from sumcurve.systems.trained import WEIGHTS

    contrasted = list(read(inputs[specification["contrasts"]]))
    corpus = inputs[specification["corpus"]]
    items, others = _test_items(corpus), Reading.of_specification(specification["others"])
    stage.facts["weights"] = {}
    for key in specification["runs"]:
        run, name = inputs[key], key.split("/")[1]
        sealed = _sealed(run)
        trained = sealed["specification"]
        try:
            if "told" in specification:
                program = _program(specification["system"], specification["told"], run, inputs, stage)
                found = weigh(program, contrasted, items, others, specification["target_tokens"])
            else:
                form = Form.of_run(trained)
                stage.facts["weights"][name] = sealed["files"][WEIGHTS["selected"]]["sha256"]
                told = trained | {"sums": specification["sums"]}
                folder, lower = None, False
                if isinstance(form.model, SubwordSettings):
                    folder = run if form.model.kind == "bart" else inputs[form.model.sha256]
                    lower = in_small_letters(corpus, inputs)
                with opened_run(form, run, told, folder, lower, stage.lease.device) as system:
                    found = weigh(system, contrasted, items, others)
        except (FairseqError, PretrainedError, RecordError) as error:
            raise BuildError(f"{stage.name}: {name}: {error}") from error
        write_judged(stage.folder / f"{name}.safetensors", found, contrasted)
        stage.note(f"{name}: {len(found.own) - len(contrasted)} contrasts of {len(contrasted)} golds")


class JudgeWordsSpecification(TypedDict):
    corpus: str
    contrasts: str
    orders: Block  # by name, of the language models
    min_count: int
    seen: NotRequired[str]  # of a part that is held out: the corpus whose training part is learned


def judge_words(specification: JudgeWordsSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write how probable language models of the training part's targets find golds and their contrasts."""
    from sumcurve.capabilities.contrasts.judged import write_judged
    from sumcurve.capabilities.contrasts.language import WordModel, judge_words
    from sumcurve.capabilities.contrasts.sets import read

    contrasted = list(read(inputs[specification["contrasts"]]))
    part = Corpus(inputs[specification.get("seen", specification["corpus"])]).part("train")
    for name, order in specification["orders"].items():
        model = WordModel.of((record.target for record in part), order, specification["min_count"])
        write_judged(stage.folder / f"{name}.safetensors", judge_words(model, contrasted), contrasted)


class LabelsSpecification(TypedDict):
    run: str
    labels: int  # the most frequent content words of the training targets
    related: int  # words for each
    sums: Sums


def labels(specification: LabelsSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write which words a run takes for related, by its output distributions over its training records."""
    from sumcurve.capabilities.contrasts.judge import opened_run
    from sumcurve.capabilities.labels.related import find_labels, labels_of, write_labels
    from sumcurve.corpora.sizes import positions
    from sumcurve.systems.extractive import FUNCTION_WORDS
    from sumcurve.systems.trained import Trained

    run = inputs[specification["run"]]
    trained = _sealed(run)["specification"]
    fraction = inputs[trained["fraction"]]
    corpus = inputs[_sealed(fraction)["specification"]["corpus"]]
    train = Corpus(corpus).part("train")
    records = train[positions(fraction, train.ids, trained.get("draw", trained["seed"]))]
    told, lower = trained | {"sums": specification["sums"]}, in_small_letters(corpus, inputs)
    with opened_run(Form.of_run(trained), run, told, None, lower, stage.lease.device) as system:
        assert isinstance(system, Trained)
        words = labels_of(records, system.vocabulary, specification["labels"], FUNCTION_WORDS)
        lengths = system.source_tokens, system.target_tokens
        model = system.decoder.model  # type: ignore[attr-defined]  # a kind of model that has one (plan)
        found = find_labels(model, system.vocabulary, records, lengths, words, specification["related"], system.device)
    write_labels(stage.folder, found, specification["related"], FUNCTION_WORDS)


class BaselineSpecification(TypedDict):
    corpus: str
    system: str  # lead, random or best-sentence
    max_tokens: int
    sentences: NotRequired[int]  # of lead and random
    annotation: NotRequired[str]  # of the best single sentence


def baseline(specification: BaselineSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write what lead, random or the best single sentence says of the test set."""
    _summarize(specification["corpus"], specification["system"], specification, inputs, stage)


class SystemSpecification(TypedDict):
    corpus: str
    system: str  # a kind of `sumcurve.systems.SYSTEMS`
    told: Block  # what decides its summaries beside the corpus and its code


def system(specification: SystemSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write what a system that is not trained says of the test set."""
    _summarize(specification["corpus"], specification["system"], specification["told"], inputs, stage)


def _summarize(corpus: str, kind: str, told: Mapping[str, Any], inputs: Inputs, stage: Stage) -> None:
    from sumcurve.capabilities.programs.command import LOG_OF
    from sumcurve.study.doors import SYSTEMS
    from sumcurve.systems.system import write_summaries

    made = SYSTEMS[kind](told, {**inputs, LOG_OF: _log_of_program(stage)})
    try:
        write_summaries(made, _test_items(inputs[corpus]), stage.folder)
    except RecordError as error:
        raise BuildError(f"{stage.name}: {error}") from error


def _test_items(corpus: Path) -> "list[Item]":
    from sumcurve.systems.system import Item

    return [Item(record, text) for record, text in Corpus(corpus).part("test").with_text]


# --- scores


class ScoreSpecification(TypedDict):
    output: str
    corpus: str
    inputs: Block  # further folders, by key, files, by sha256, and what the scorer is told of each
    scorer: str
    settings: Block


def score(specification: ScoreSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write the per-item values of one output under one scorer."""
    from sumcurve.scores.run import write_scores
    from sumcurve.study.doors import SCORERS

    name = specification["scorer"]
    scorer = SCORERS[name]
    write_scores(
        name,
        scorer(scorer.Settings.of_specification(specification["settings"])),
        inputs[specification["output"]],
        Corpus(inputs[specification["corpus"]]).part("test"),
        {inputs[key]: what for key, what in specification["inputs"].items()},
        stage.folder,
    )
