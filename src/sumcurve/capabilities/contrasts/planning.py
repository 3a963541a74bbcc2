"""Planning of the folders of contrasts: the sets, and their likelihoods under runs and under language models."""

from sumcurve.capabilities.contrasts.folders import (
    GONE,
    ContrastsSpecification,
    JudgeSpecification,
    JudgeWordsSpecification,
)
from sumcurve.capabilities.contrasts.settings import contrasts_of
from sumcurve.capabilities.contrasts.tags import TEXTBLOB
from sumcurve.corpora.pipeline import distributions, file_of
from sumcurve.planning.folder import Folder, PlannedCorpus
from sumcurve.planning.study import PlannedStudy
from sumcurve.settings.study import Reading
from sumcurve.sources.pinned import File
from sumcurve.store.provenance import versions
from sumcurve.systems.rows import Scored

JUDGING = ("dodged", "escaped")  # scorers that read likelihoods of contrasts
# Baselines without a source: language models of the training part's targets, by their order.
WORD_MODELS = {"unigram": 1, "trigram": 3}
WORD_MODELS_COUNT = 2  # occurrences of a word that they know, at least


def plan_contrasts(plan: PlannedStudy, corpus: PlannedCorpus) -> None:
    """Add broken references, truncated as the inputs and targets of systems are."""
    keys = contrasts_of(corpus.settings)
    if keys is None:
        return
    settings = keys.model_copy(
        update={
            "source_tokens": min(keys.source_tokens, corpus.settings.source_tokens),
            "target_tokens": min(keys.target_tokens, corpus.settings.target_tokens),
        }
    )
    taggers = settings.tagger if isinstance(settings.tagger, list) else [settings.tagger]
    tools = [tool for tagger in taggers for tool in ([TEXTBLOB] if tagger == TEXTBLOB else distributions(tagger))]
    files = [file for tagger in taggers for file in file_of(tagger)]
    specification: ContrastsSpecification = {
        "corpus": corpus.prepared,
        "contrasts": {**settings.model_dump(mode="json"), **GONE},
        "versions": versions(*tools),
    }
    plan.add("contrasts", specification, [corpus.prepared], files, corpus=corpus.name)


def plan_judged(plan: PlannedStudy, corpus: PlannedCorpus) -> None:
    """Add likelihoods of golds and contrasts, a folder for the runs of each method, and those of language models.

    Nothing is added where the corpus has no contrasts, or no scorer needs them.
    """
    made_of = (folder.key for folder in plan.named("annotations", "contrasts") if corpus.prepared in folder.inputs)
    contrasts = next(made_of, None)
    if contrasts is None or not any(name in JUDGING for name in plan.scorers):
        return
    planned: set[tuple[str, ...]] = set()
    for method, runs in judged_runs(plan, corpus.name).items():
        if runs in planned:  # methods that differ by their search alone are one to prefer by
            continue
        planned.add(runs)
        specification: JudgeSpecification = {
            "corpus": corpus.prepared,
            "contrasts": contrasts,
            "runs": list(runs),
            "others": Reading(others=1).model_dump(mode="json"),
            "sums": plan.settings.sums,
        }
        if method in plan.systems:
            kind, settings = plan.systems[method]
            specification["system"] = settings.kind or method
            specification["told"] = kind.specify(settings, corpus.settings)
            specification["target_tokens"] = corpus.settings.target_tokens
            read = [corpus.prepared]
            files = [File(sha256, path) for sha256, path in kind.files(settings).items()]
        else:
            read = plan.read_by(corpus, plan.methods[method])
            files = plan.model_files(plan.methods[method], method)
        plan.add("judge", specification, [*read, contrasts, *runs], files, corpus=corpus.name, method=method)
    words: JudgeWordsSpecification = {
        "corpus": corpus.prepared,
        "contrasts": contrasts,
        "orders": dict(WORD_MODELS),
        "min_count": WORD_MODELS_COUNT,
    }
    inputs = [corpus.prepared, contrasts]
    if corpus.seen is not None:  # a held-out part has no training part
        words["seen"] = corpus.seen.prepared
        inputs.append(corpus.seen.prepared)
    plan.add("judge_words", words, inputs, corpus=corpus.name)


def judged_runs(plan: PlannedStudy, corpus: str) -> dict[str, tuple[str, ...]]:
    """Runs of a corpus that give log-probabilities, by method: of all seeds, at the sizes that its settings name."""
    runs: dict[str, dict[str, None]] = {}
    for row in plan.rows:
        if row.corpus == corpus and _is_asked(plan, row):
            runs.setdefault(row.method, {})[str(row.run)] = None
    return {method: tuple(made) for method, made in runs.items()}


def _is_asked(plan: PlannedStudy, row: Scored) -> bool:
    """Tell whether a row is of one of the study's runs that give log-probabilities, and of no second search of it."""
    if row.run is None or row.part != "study" or row.search == "paper":
        return False
    settings = plan.corpora[row.corpus]
    keys = contrasts_of(settings)
    if keys is not None and keys.sizes == "largest" and row.size not in (None, settings.sizes_of(row.method)[-1]):
        return False
    return row.method not in plan.systems or plan.systems[row.method][1].gives_logp


def judged_folders(plan: PlannedStudy, corpus: str | None = None) -> list[Folder]:
    """The folders of likelihoods of golds and contrasts, of systems and language models; of one corpus if named."""
    folders = plan.named("outputs", "judge") + plan.named("outputs", "judge_words")
    return [folder for folder in folders if corpus in (None, plan.corpus_name(folder.specification["corpus"]))]


def judges(plan: PlannedStudy, corpus: str) -> dict[str, str]:
    """Folders with the likelihoods of an output's run, by output of a corpus; empty where the study has none."""
    runs = judged_runs(plan, corpus)
    made = {tuple(folder.specification.get("runs", ())): folder.key for folder in judged_folders(plan, corpus)}
    return {
        row.output: made[runs[row.method]]
        for row in plan.rows
        if row.corpus == corpus and _is_asked(plan, row) and runs[row.method] in made
    }
