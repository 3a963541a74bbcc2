"""Folders of contrasts and of their likelihoods under systems, and how each kind is made."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import NotRequired, TypedDict

from sumcurve.capabilities.contrasts.settings import Contrasts
from sumcurve.corpora.pipeline import PipelineError, placed
from sumcurve.corpora.store import Corpus
from sumcurve.numerics.sums import Sums
from sumcurve.settings.study import Reading
from sumcurve.store.errors import CorpusError
from sumcurve.store.kind import Kind
from sumcurve.store.records import RecordError
from sumcurve.store.stage import Block, BuildError, Inputs, Stage, sealed
from sumcurve.systems.family import Family
from sumcurve.systems.folders import log_of_program, made_as, test_items
from sumcurve.systems.system import LOG_OF, Scoring, Trainable
from sumcurve.training.place import WEIGHTS

GONE = {"variant": "paper", "inflect": False}  # settings that are given up, as names of folders have them


class ContrastsSpecification(TypedDict):
    corpus: str
    contrasts: Block  # the settings, and `GONE`
    versions: Block  # of the tagger


def contrasts(specification: ContrastsSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write the contrasts of the test items of a corpus: references with words exchanged or overwritten."""
    from sumcurve.capabilities.contrasts.broken import annotate

    block = {key: value for key, value in specification["contrasts"].items() if key not in GONE}
    settings = Contrasts.model_validate(block | {"tagger": placed(block["tagger"], inputs)})
    try:
        statistics = annotate(inputs[specification["corpus"]], stage.folder, settings)
    except PipelineError as error:
        raise CorpusError(f"{stage.name}: {error}") from error
    stage.note(
        f"{statistics['contrasts']} contrasts of {statistics['golds_with_contrasts']} golds; "
        f"{statistics['golds']} were asked for"
    )


# Further keys of an outside program's folder; its system is a kind of `sumcurve.systems.SYSTEMS`.
OfProgram = TypedDict(  # noqa: UP013 (a class would bind `told`, a recorded key without a meaning)
    "OfProgram", {"system": str, "told": Block, "target_tokens": int}, total=False
)


class JudgeSpecification(OfProgram):
    corpus: str
    contrasts: str
    runs: list[str]  # of one method: all sizes and seeds
    others: Block  # whose sources every gold is judged with, too
    sums: Sums


def judge(
    models: Mapping[str, Family],
    trainables: Mapping[str, type[Trainable]],
    specification: JudgeSpecification,
    inputs: Inputs,
    stage: Stage,
) -> None:
    """Write the log-probabilities of golds and their contrasts under each run of a method: a file for each run."""
    from sumcurve.capabilities.contrasts.judge import judge as weigh
    from sumcurve.capabilities.contrasts.judged import write_judged
    from sumcurve.capabilities.contrasts.sets import read

    contrasted = list(read(inputs[specification["contrasts"]]))
    corpus = inputs[specification["corpus"]]
    items, others = test_items(corpus), Reading.of_specification(specification["others"])
    stage.facts["weights"] = {}
    for key in specification["runs"]:
        run, name = inputs[key], key.split("/")[1]
        run_manifest = sealed(run)
        errors: tuple[type[Exception], ...] = (RecordError,)
        try:
            opened: AbstractContextManager[Scoring]
            if "system" in specification:
                kind, logging = trainables[specification["system"]], {**inputs, LOG_OF: log_of_program(stage)}
                target_tokens = specification["target_tokens"]
                opened = nullcontext(
                    kind.of_run(specification["told"], run, logging, stage.lease.device, target_tokens)
                )
            else:
                stage.facts["weights"][name] = run_manifest["files"][WEIGHTS["selected"]]["sha256"]
                family = models[run_manifest["specification"]["model"]["kind"]]
                errors += family.errors()
                lower, words = made_as(family, corpus, inputs)
                device = stage.lease.device
                finished = family.selected(run, inputs, specification["sums"], device, lower, words)
                opened = family.system(finished)
            with opened as system:
                judged = weigh(system, contrasted, items, others)
        except errors as error:
            raise BuildError(f"{stage.name}: {name}: {error}") from error
        write_judged(stage.folder / f"{name}.safetensors", judged, contrasted)
        stage.note(f"{name}: {len(judged.own) - len(contrasted)} contrasts of {len(contrasted)} golds")


class JudgeWordsSpecification(TypedDict):
    corpus: str
    contrasts: str
    orders: Block  # by name, of the language models
    min_count: int
    seen: NotRequired[str]  # of a part that is held out: the corpus whose training part is learned


def judge_words(specification: JudgeWordsSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write the log-probabilities of golds and their contrasts under language models of the training part's targets."""
    from sumcurve.capabilities.contrasts.judged import write_judged
    from sumcurve.capabilities.contrasts.language import WordModel, judge_words
    from sumcurve.capabilities.contrasts.sets import read

    contrasted = list(read(inputs[specification["contrasts"]]))
    part = Corpus(inputs[specification.get("seen", specification["corpus"])]).part("train")
    for name, order in specification["orders"].items():
        model = WordModel.of((record.target for record in part), order, specification["min_count"])
        write_judged(stage.folder / f"{name}.safetensors", judge_words(model, contrasted), contrasted)


KINDS: dict[str, Kind] = {
    "contrasts": Kind(
        step="annotations",
        stem="{corpus}-contrasts",
        specification=ContrastsSpecification,
        builder=contrasts,
        version="5178272051af659a",
        version_key="fingerprint",
        mem_mb=2000,
    ),
    "judge": Kind(
        step="outputs",
        stem="{corpus}-{method}-contrasts",
        specification=JudgeSpecification,
        builder=judge,
        version=1,
        mem_mb=3000,
        gpu=True,
        committed=("*.safetensors",),  # log-probabilities of golds and contrasts, a file for each run
        leads_file=True,
        of_models=True,
        of_trainables=True,
    ),
    "judge_words": Kind(
        step="outputs",
        stem="{corpus}-words-contrasts",
        specification=JudgeWordsSpecification,
        builder=judge_words,
        version="f39d2e813da61447",
        version_key="fingerprint",
        mem_mb=1000,
        light=True,
    ),
}
