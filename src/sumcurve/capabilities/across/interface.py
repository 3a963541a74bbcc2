"""Recorded studies of several corpora side by side, for `sumcurve across`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sumcurve.capabilities.across import tables
from sumcurve.machine.arguments import CommandError, require_whole
from sumcurve.machine.parameters import checked
from sumcurve.machine.spelling import there_are
from sumcurve.scores import SCORERS
from sumcurve.scores.scorer import Metric
from sumcurve.settings.base import HELD_OUT
from sumcurve.settings.config import read_study
from sumcurve.settings.study import StudySettings
from sumcurve.store.records import write_text
from sumcurve.tables.report.facts import Corpus, read_tables
from sumcurve.tables.report.findings import Titles
from sumcurve.tables.result import Result
from sumcurve.tables.table import write_table

if TYPE_CHECKING:
    from sumcurve.interface.study import Tables

METRICS = {metric.name: metric for scorer in SCORERS.values() for metric in scorer.metrics if metric.ranks}
KEYS = ("form", "sums")  # of a study, which decide a method
PARTIAL = "manifest-partial.json"  # of tables of finished folders


@dataclass(frozen=True, repr=False)
class AcrossResult(Result):
    """Result of `across`: tables `across`, `across_pairs`, `crossings`, `across_ranks`, `across_efficiency`."""

    corpora: tuple[tables.Recorded, ...] = ()
    titles: Titles = field(default_factory=lambda: Titles({}))

    def write(self, folder: Path) -> None:
        """Write every table as CSV and Markdown, and the figure across.svg, into a folder, which is made."""
        from sumcurve.capabilities.across.report import drawing

        folder.mkdir(parents=True, exist_ok=True)
        for table in self.tables:
            write_table(table, folder)
        write_text(folder / "across.svg", drawing(self.corpora, self.titles))


@checked
def across(studies: Sequence[str | Path], at: Sequence[int] = (1000, 10000), metric: str = "rouge1") -> AcrossResult:
    """Compare recorded studies: best methods by corpus, agreement of rankings, crossings of curves, data efficiency.

    A recorded size within a factor of 2 stands for the requested one, which is stated. Scores of two corpora are never
    compared, only differences and ranks. Methods whose settings differ between the studies are marked. Test parts that
    a corpus holds out whole are left out.

    Args:
        studies: names below results/tables, or folders, of recorded studies
        at: numbers of records
        metric: column of table scores

    Raises:
        CommandError: for studies that are not recorded
    """
    if metric not in METRICS or not METRICS[metric].higher_is_better:
        known = [name for name, own in METRICS.items() if own.higher_is_better]
        raise CommandError(f"metric {metric!r} ranks nothing here; {there_are(metric, known)}")
    at = [*dict.fromkeys(at)]
    if not at:
        raise CommandError("at is []; give a number of records, or leave it out")
    for size in at:
        require_whole(1, at=size)
    corpora: list[tables.Recorded] = []
    titles = Titles({})
    for study in studies:
        recorded = _load(study)
        titles |= recorded._titles
        corpora += _corpora(recorded, METRICS[metric], trainings_of(recorded.folder))
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
    from sumcurve.capabilities.across import report

    lines = report.sentences(corpora, at, made, titles)
    differing = report.settings_sentence(corpora, titles)
    return AcrossResult(lines, made, tuple(corpora), titles, taken=[differing] if differing else [])


def _load(study: str | Path) -> "Tables":
    from sumcurve.interface.study import load

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


def _corpora(recorded: "Tables", metric: Metric, settings: Mapping[str, str]) -> list[tables.Recorded]:
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


def trainings_of(folder: Path) -> Mapping[str, str]:
    """Each method's form and sums, by a study's settings; nothing without the study's file."""
    config = folder.absolute().parents[2] / "config"
    path = config / "studies" / f"{folder.name}.yaml"
    if not path.is_file():
        return {}
    study = read_study(path).mapping
    form, sums = (study[key].plain() if key in study else StudySettings.model_fields[key].default for key in KEYS)
    return dict.fromkeys(study["methods"].plain(), f"form {form}, {sums} sums")
