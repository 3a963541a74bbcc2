"""A study's finished tables as data frames."""

import json
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from sumcurve.machine.arguments import CommandError
from sumcurve.machine.parameters import checked
from sumcurve.machine.spelling import there_are
from sumcurve.store import manifest
from sumcurve.store.records import read_jsonl
from sumcurve.tables.report.facts import corpora_of, read_tables
from sumcurve.tables.report.findings import Titles, findings
from sumcurve.tables.result import Result
from sumcurve.tables.table import Column, Table

if TYPE_CHECKING:
    import altair as alt

TABLES = Path("results/tables")  # of a checkout, below which a study is found by its name


@dataclass(frozen=True, repr=False)
class Tables:
    """The tables of one study: `study.comparisons`, or any of `study.names` so, or by `study.table(name)`."""

    folder: Path

    @property
    def name(self) -> str:
        """The study's name."""
        return self.folder.name

    @cached_property
    def names(self) -> list[str]:
        """Names of all tables."""
        return sorted(path.stem for path in self.folder.glob("*.csv"))

    def table(self, name: str) -> pd.DataFrame:
        """A table as its CSV has it; a CommandError lists the names."""
        if name not in self.names:
            raise CommandError(f"{self.folder}: no table {name!r}; {there_are(name, self.names)}")
        return pd.read_csv(self.folder / f"{name}.csv")

    def __getattr__(self, name: str) -> pd.DataFrame:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self.table(name)
        except CommandError as error:
            raise AttributeError(str(error)) from None

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *self.names})

    @property
    def scores(self) -> pd.DataFrame:
        """Mean scores, a row for every system, size and metric, with `mean`, `low` and `high` (95 %)."""
        return self.table("scores_long")

    @cached_property
    def metrics(self) -> list[str]:
        """Columns of table scores that are metrics: those with an interval."""
        columns = pd.read_csv(self.folder / "scores.csv", nrows=0).columns
        return [name for name in columns if f"{name}_low" in columns]

    @cached_property
    def _titles(self) -> Titles:
        """Methods' titles, of the checkout that the tables are in; elsewhere names stand for themselves."""
        import yaml

        files = (self.folder.absolute().parents[2] / "config" / "methods").glob("*.yaml")
        return Titles({path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))["title"] for path in files})

    @property
    def findings(self) -> Result:
        """Findings in sentences, the most important first, each with the table behind it."""
        from sumcurve.study.doors import CAPABILITIES

        every = findings(
            read_tables(self.folder), self._titles, [capability.findings for capability in CAPABILITIES.values()]
        )
        rows = [{"corpus": finding.corpus, "finding": finding.sentence, "table": finding.table} for finding in every]
        columns = [Column(name, name) for name in ("corpus", "finding", "table")]
        sentences = [finding.sentence for finding in every]
        return Result(sentences, [Table("findings", f"Findings of {self.name}", columns, rows)])

    def summaries(self, method: str | None = None, records: int | None = None, seed: int | None = None) -> pd.DataFrame:
        """Summaries of each test item, from the study's finished output folders; of some systems, if named.

        Columns corpus, method, records, seed, search, id, summary (a sentence a line). CommandError where the folders
        are missing: git has a study's tables alone.
        """
        outputs = self.folder.absolute().parents[1] / "outputs"
        sealed = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(self.folder.glob("manifest-*.json"))]
        names = [Path(name).name for made in sealed for name in made["inputs"] if name.startswith("outputs/")]
        if not names:
            raise CommandError(f"{self.folder}: no manifest that names outputs: make the study's tables again")
        here = [name for name in names if (outputs / name / manifest.MANIFEST).is_file()]
        if not here:
            raise CommandError(
                f"{outputs} has none of the {len(names)} output folders of {self.name}: summaries are not kept with "
                f"tables; make the study (`make study STUDY={self.name}`), or fetch its folders "
                f"(`make pull STUDY={self.name}`)"
            )
        seeds = self.table("seeds")
        if method is not None and method not in set(seeds.method):
            raise CommandError(f"{self.name}: no method {method!r}; there are: {', '.join(seeds.method.unique())}")
        for column, wanted in (("method", method), ("records", records), ("seed", seed)):
            seeds = seeds if wanted is None else seeds[seeds[column] == wanted]
        by_stem = {row.run.rpartition("-")[0]: row for row in seeds[seeds.part == "study"].itertuples(index=False)}
        rows: list[dict[str, Any]] = []
        for name in here:
            row = by_stem.get(name.rpartition("-")[0])  # an output is named as its run, but for the digest
            if row is None or not (outputs / name / "summaries.jsonl").is_file():
                continue
            manifest.verify(outputs / name)
            system = {key: getattr(row, key) for key in ("corpus", "method", "records", "seed", "search")}
            rows += [
                {**system, "id": item["id"], "summary": "\n".join(item["summary"])}
                for item in read_jsonl(outputs / name / "summaries.jsonl")
            ]
        if not rows:
            raise CommandError(f"{self.name}: no summaries of that system, size and seed among {len(here)} folders")
        return pd.DataFrame(rows).astype({"records": "Int64", "seed": "Int64"})

    def plot(self, metric: str | None = None, corpus: str | None = None) -> "alt.Chart | alt.LayerChart":
        """A metric against training records with 95 % bands, a line for every method, as an Altair chart.

        Defaults: the metric that the study's findings quote, and the corpus with the most sizes.
        """
        if metric is not None and metric not in self.metrics:
            raise CommandError(f"{self.name}: no metric {metric!r}; there are: {', '.join(self.metrics)}")
        try:
            import altair as alt

            from sumcurve.tables.chart import configured
            from sumcurve.tables.report.figure import figure
        except ModuleNotFoundError as error:
            raise CommandError(f"a plot needs {error.name}: pip install 'sumcurve[study]'") from error

        corpora = {one.name: one for one in corpora_of(read_tables(self.folder))}
        if corpus is not None and corpus not in corpora:
            raise CommandError(f"{self.name}: no corpus {corpus!r}; there are: {', '.join(corpora)}")
        chosen = corpus or next(iter(corpora))
        drawn = figure(replace(corpora[chosen], chosen=metric or ""), self._titles)
        if drawn is None:
            raise CommandError(f"{self.name}, {chosen}: no method has two sizes with {metric or 'a score'}")
        return alt.Chart.from_dict(configured(drawn))

    def __repr__(self) -> str:
        return f"study {self.name} ({self.folder}): tables {', '.join(self.names)}"

    def _repr_html_(self) -> str:
        return f"<p><b>{self.name}</b>: {', '.join(self.names)}</p>{self.findings._repr_html_()}"


@checked
def load(study: str | Path) -> Tables:
    """The tables of a study: of a folder, or by its name below results/tables.

    CommandError where there are none, or where a CSV differs from the folder's manifest.
    """
    for folder in (Path(study), TABLES / study):
        if (folder / "scores.csv").is_file():
            _check_whole(folder)
            return Tables(folder)
    known = sorted(path.parent.name for path in TABLES.glob("*/scores.csv"))
    there = f"; below {TABLES}: {', '.join(known)}" if known else ""
    raise CommandError(f"{study}: no folder with a study's tables (scores.csv){there}")


def _check_whole(folder: Path) -> None:
    """Raise CommandError for the first CSV that is missing or changed; tables without a manifest are not checked."""
    from sumcurve.watch.verify import TABLES_KEYS

    for path in sorted(folder.glob("manifest-????????.json")):
        sealed = manifest.read_sealed(path, TABLES_KEYS, "restore it, or make the tables again")
        for name, recorded in (sealed or {"files": {}})["files"].items():
            file = folder / name
            if file.suffix == ".csv" and not (file.is_file() and manifest.sha256_file(file) == recorded):
                state = (
                    f"is not what {path.name} records" if file.is_file() else f"is missing, and {path.name} records it"
                )
                raise CommandError(f"{file} {state}: restore it, or make the tables again")
