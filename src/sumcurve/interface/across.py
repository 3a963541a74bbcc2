"""Recorded studies of several corpora side by side: what `sumcurve across` prints and writes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sumcurve.interface.study import Tables, load
from sumcurve.machine.arguments import CommandError
from sumcurve.machine.spelling import there_are
from sumcurve.scores import SCORERS
from sumcurve.scores.scorer import Metric
from sumcurve.settings.base import HELD_OUT
from sumcurve.settings.config import read_mapping, read_study
from sumcurve.settings.study import StudySettings
from sumcurve.store.records import write_text
from sumcurve.tables import across as tables
from sumcurve.tables.report.facts import Corpus, read_tables
from sumcurve.tables.report.findings import Titles
from sumcurve.tables.result import Result
from sumcurve.tables.table import write_table

METRICS = {metric.name: metric for scorer in SCORERS.values() for metric in scorer.metrics if metric.ranks}
KEYS = ("form", "sums")  # of a study, which decide what a method is
PARTIAL = "manifest-partial.json"  # of tables of what was finished


@dataclass(frozen=True, repr=False)
class AcrossResult(Result):
    """What `across` returns: tables `across`, `across_pairs`, `crossings`, `across_ranks`, `across_efficiency`."""

    corpora: tuple[tables.Recorded, ...] = ()
    titles: Titles = field(default_factory=lambda: Titles({}))

    def write(self, folder: Path) -> None:
        """Write every table as CSV and Markdown, and the figure across.svg, into a folder, which is made."""
        from sumcurve.tables.report.across import drawing

        folder.mkdir(parents=True, exist_ok=True)
        for table in self.tables:
            write_table(table, folder)
        write_text(folder / "across.svg", drawing(self.corpora, self.titles))


def across(studies: Sequence[str | Path], at: Sequence[int] = (1000, 10000), metric: str = "rouge1") -> AcrossResult:
    """Who is ahead on which corpus, whether that travels, where curves cross, and whose the data efficiency is.

    `studies` are names below results/tables, or folders, of recorded studies; `at` are numbers of records, for which
    the nearest recorded size within a factor of 2 stands. Test parts that a corpus holds out whole are left out.
    CommandError for what is not recorded.
    """
    if metric not in METRICS or not METRICS[metric].higher_is_better:
        known = [name for name, own in METRICS.items() if own.higher_is_better]
        raise CommandError(f"metric {metric!r} ranks nothing here; {there_are(metric, known)}")
    for size in at:
        if size < 1:
            raise CommandError(f"at {size}: no number of records; give whole numbers of at least 1")
    corpora: list[tables.Recorded] = []
    titles = Titles({})
    pretraining: dict[str, Mapping[str, str]] = {}
    for study in studies:
        recorded = _load(study)
        titles |= recorded._titles
        own, pretraining[recorded.name] = trainings_of(recorded.folder)
        corpora += _corpora(recorded, METRICS[metric], own)
    others = tables.apart(pretraining)
    corpora = [replace(corpus, apart=others[corpus.study]) for corpus in corpora]
    names = [corpus.name for corpus in corpora]
    for corpus in corpora:
        if names.count(corpus.name) > 1:
            of = ", ".join(other.study for other in corpora if other.name == corpus.name)
            raise CommandError(f"{corpus.name} is the corpus of several ({of}): name one of them")
    if len(corpora) < 2:
        raise CommandError(f"{', '.join(names) or 'no corpus'}: two corpora are compared at least; name more studies")
    made = [make(corpora, at) for make in (tables.scores_table, tables.pairs_table, tables.ranks_table)]
    made[2:2] = [tables.crossings_table(corpora)]
    made.append(tables.efficiency_table(corpora))
    from sumcurve.tables.report import across as report

    lines = [report.headline(corpora, at, titles), *report.sentences(corpora, made, titles)]
    differing = report.settings_sentence(corpora, titles)
    return AcrossResult(lines, made, tuple(corpora), titles, taken=[differing] if differing else [])


def _load(study: str | Path) -> Tables:
    try:
        recorded = load(study)
    except CommandError as error:
        raise CommandError(f"{error}; leave it out, or make it: make study STUDY={Path(study).name}") from None
    if (recorded.folder / PARTIAL).is_file():
        raise CommandError(
            f"{recorded.folder / PARTIAL}: these tables are of what was finished; finish it: "
            f"make study STUDY={recorded.name}"
        )
    return recorded


def _corpora(recorded: Tables, metric: Metric, settings: Mapping[str, str]) -> list[tables.Recorded]:
    """The corpora on which the study trained methods."""
    rows = read_tables(recorded.folder)
    if metric.name not in recorded.metrics:
        known = [name for name in recorded.metrics if name in METRICS]
        raise CommandError(
            f"{recorded.folder / 'scores.csv'} has no metric {metric.name!r}; {there_are(metric.name, known)}"
        )
    names = dict.fromkeys(row["corpus"] for row in rows["scores"] if not row["corpus"].endswith(HELD_OUT))
    every = [tables.Recorded(recorded.name, Corpus(name, rows), metric, settings) for name in names]
    return [corpus for corpus in every if corpus.cells]


def trainings_of(folder: Path) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Each method's form, sums and pretraining, by a study's settings; and the text of each that is pretrained.

    Both are empty without the study's file.
    """
    config = folder.absolute().parents[2] / "config"
    path = config / "studies" / f"{folder.name}.yaml"
    if not path.is_file():
        return {}, {}
    study = read_study(path).mapping
    form, sums = (study[key].plain() if key in study else StudySettings.model_fields[key].default for key in KEYS)
    settings, texts = {}, {}
    for method in study["methods"].plain():
        model = read_mapping(config / "methods" / f"{method}.yaml").plain().get("model", {})
        settings[method] = f"form {form}, {sums} sums"
        if model.get("outside", "nothing") != "nothing" and "pretraining" in study:
            texts[method] = study["pretraining"].path.stem
            settings[method] += f", pretraining {texts[method]}"
    return settings, texts
