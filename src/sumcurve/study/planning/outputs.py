"""Folders of systems' outputs on a corpus, with their rows of the score table."""

from dataclasses import replace

from sumcurve.planning.folder import PlannedCorpus
from sumcurve.planning.study import PlannedStudy
from sumcurve.settings.base import HELD_OUT
from sumcurve.settings.config import PlanError
from sumcurve.settings.search import Search
from sumcurve.settings.study import Reading
from sumcurve.sources.pinned import File
from sumcurve.store.records import RecordError
from sumcurve.study.doors import CAPABILITIES, MODELS
from sumcurve.study.folders import SystemSpecification
from sumcurve.study.planning.corpora import plan_fraction
from sumcurve.systems.file import FileSettings
from sumcurve.systems.folders import DecodeSpecification
from sumcurve.systems.outside import OutsideSettings
from sumcurve.systems.rows import Scored
from sumcurve.systems.system import System, SystemSettings


def makes_a_curve(system: SystemSettings) -> bool:
    """Tell whether a system has rows by percent and seed, as a method has."""
    return isinstance(system, OutsideSettings) and bool(system.trainings([1], [1]))


def reads_entities(search: Search | None) -> bool:
    """Tell whether a search needs the salient source tokens."""
    return search is not None and search.entity_positions == "gold"


def plan_systems(plan: PlannedStudy, corpus: PlannedCorpus) -> None:
    """Plan every system of the study that is no method of ours and that includes this corpus."""
    of_corpus = (corpus.seen or corpus).name
    for name, (kind, settings) in plan.systems.items():
        if settings.corpora is not None and of_corpus not in settings.corpora:
            continue
        if corpus.seen is not None:
            annotated = all(plan.annotations(corpus.prepared, made) for made in kind.needs.values())
            if not annotated or makes_a_curve(settings) or isinstance(settings, FileSettings):  # of the test items
                continue
        if not any(capability.plan_system(plan, corpus, name) for capability in CAPABILITIES.values()):
            _plan_system(plan, corpus, name, kind, settings)


def _plan_system(
    plan: PlannedStudy, corpus: PlannedCorpus, name: str, kind: type[System], settings: SystemSettings
) -> None:
    """Plan the output of a system that is no method of ours."""
    try:
        if isinstance(settings, OutsideSettings) and makes_a_curve(settings):
            _plan_curve(plan, corpus, name, settings)
            return
        decides = kind.specify(settings, corpus.settings)
        files = [File(sha256, path) for sha256, path in kind.files(settings).items()]
    except RecordError as error:
        raise PlanError(f"{plan.where('systems', name)}: {error}") from None
    needed = {key: plan.annotations(corpus.prepared, made)[0] for key, made in kind.needs.items()}
    inputs, named = [corpus.prepared, *needed.values()], {"corpus": corpus.name, "system": name}
    whose = {"corpus": corpus.prepared, "system": settings.kind or name}
    if kind.is_baseline:
        output = plan.add("baseline", whose | decides | needed, inputs, files, **named)
    else:
        output = plan.add("system", whose | {"told": decides | needed}, inputs, files, **named)
    plan.rows.append(Scored(corpus.name, name, None, None, None, None, output, role=kind.role))


def _plan_curve(plan: PlannedStudy, corpus: PlannedCorpus, name: str, settings: OutsideSettings) -> None:
    """Plan the outputs of a program or of files from outside at every percent and seed. Raises RecordError."""
    for size, seed in settings.trainings(corpus.settings.all_sizes, plan.settings.seeds):
        row = plan_learned(plan, corpus, name, size, seed)
        if isinstance(settings, FileSettings):
            kind, file = plan.systems[name][0], settings.at(size, seed)
            specification: SystemSpecification = {
                "corpus": corpus.prepared,
                "system": settings.kind or name,
                "told": kind.specify(file, corpus.settings),
            }
            files = [File(sha256, path) for sha256, path in kind.files(file).items()]
            named = {"corpus": corpus.name, "system": f"{name}-{corpus.called(size)}-s{seed}"}
            output = plan.add("system", specification, [corpus.prepared], files, **named)
            plan.rows.append(replace(row, output=output))


def plan_learned(plan: PlannedStudy, corpus: PlannedCorpus, name: str, size: int, seed: int) -> Scored:
    """The row of a training that is none of ours; a system of a capability gets its folders, and a planned row."""
    row = corpus.row(name, size, seed, "own", None, fraction=plan_fraction(plan, corpus, size, seed))
    for capability in CAPABILITIES.values():
        capability.plan_curve(plan, corpus, row)
    return row


def plan_output(
    plan: PlannedStudy, corpus: PlannedCorpus, row: Scored, stem: str, search: Search, variant: str = ""
) -> None:
    """Plan the output of a run of ours on a corpus under a search."""
    specification: DecodeSpecification = {
        "run": str(row.run),
        "corpus": corpus.prepared,
        "search": search.model_dump(mode="json"),
        "sums": plan.settings.sums,
    }
    if row.part == "before":
        specification["checkpoint"] = "before"
    form = plan.methods[row.method]
    inputs = [str(row.run), *plan.read_by(corpus, form)]
    if row.search == "common" and MODELS[form.model.kind].scores_tokens():  # whatever is scored: no scorer renames it
        reading = Reading.model_validate(plan.settings.scores.get("reading", {}))
        specification["reading"] = reading.model_dump(mode="json")
    if reads_entities(search) and corpus.entities:
        specification["entities"] = corpus.entities
        inputs.append(corpus.entities)
    models = plan.model_files(form, row.method)
    decoded(plan, row, plan.add("decode", specification, inputs, models, run=stem, variant=variant))


def decoded(plan: PlannedStudy, row: Scored, output: str) -> None:
    """Add the row of a run's output, which one process makes with all others of the run."""
    outputs = plan.together.setdefault((row.corpus.removesuffix(HELD_OUT), "run", str(row.run)), [])
    if output not in outputs:  # methods that differ by their search alone share a run
        outputs.append(output)
    plan.rows.append(replace(row, output=output))


def plan_held_out_outputs(plan: PlannedStudy, corpus: PlannedCorpus) -> None:
    """Plan the outputs of a corpus's trainings on the part that it holds out, under the common search."""
    assert corpus.seen is not None
    for row in [row for row in plan.rows if row.corpus == corpus.seen.name and row.run and row.part == "study"]:
        here, stem = replace(row, corpus=corpus.name, scores={}), plan.folders[str(row.run)].stem
        if row.search == "common":
            plan_output(plan, corpus, here, stem, corpus.settings.search, variant="-unseen")
        elif row.search == "own":
            for capability in CAPABILITIES.values():
                capability.plan_output(plan, corpus, here, stem, "-unseen")
