"""`sumcurve tables`: a study's tables and figures, from verified folders."""

import os
import shutil
from pathlib import Path

from sumcurve.cli.jobs import add_job
from sumcurve.cli.messages import note
from sumcurve.cli.places import CONFIG, home_of, lock
from sumcurve.machine.arguments import STUDIES, Verbs
from sumcurve.store import manifest
from sumcurve.store.provenance import facts
from sumcurve.study.plan import Plan, PlanError
from sumcurve.tables import VERSION


def add_parsers(verbs: Verbs) -> None:
    command = add_job(
        verbs,
        "tables",
        "a study's scores -> tables and figures",
        lambda arguments: (
            tables_in(arguments.form, arguments.path) if arguments.form else tables(arguments.path, arguments.partial)
        ),
        example="results/tables/docstrings --partial",
        group=STUDIES,
    )
    command.add_argument("--partial", action="store_true", help="of what is finished, and say so")
    command.add_argument(
        "--form",
        choices=("tex", "items"),
        help="LaTeX, or the values of test items as Parquet, into scratch/tables/<study>/ instead",
    )


def tables(path: Path, partial: bool = False) -> None:
    """Make a study's tables and figures again, in a folder of the study's name.

    They are cheap, and must never differ from their evidence: every folder that the study requires is verified
    first. With `partial` they are made from the finished folders, state so, and have a manifest that differs from that
    of a whole study.
    """
    from sumcurve.study.collect import collect
    from sumcurve.study.tables import write_study
    from sumcurve.tables.evidence import EvidenceError
    from sumcurve.watch import verify

    home = home_of(path, "results/tables/STUDY")
    plan = Plan.read(CONFIG, path.name)
    results = path.parents[1]
    stage = results / ".partial" / "tables" / path.name
    with lock(home, f"tables-{path.name}"):
        verified = verify.folders(plan, results)
        verified.require()
        note(str(verified))
        shutil.rmtree(stage, ignore_errors=True)
        stage.mkdir(parents=True)
        try:
            study = collect(plan, results, partial)
            write_study(stage, study, plan.settings.bootstrap)
        except EvidenceError as error:
            raise PlanError(f"study {plan.study}: {error}") from error
        pages = stage / verify.PAGES
        manifest.write_sealed(pages / manifest.MANIFEST, {"files": manifest.hashes(pages)})
        manifest.write_sealed(
            stage / f"manifest-{'partial' if study.missing else plan.tables}.json",
            {
                "study": plan.study,
                "inputs": verified.contents,
                "files": {
                    name: sha256
                    for name, sha256 in manifest.hashes(stage).items()
                    if not name.startswith(f"{verify.PAGES}/")
                },
                "facts": {key: value for key, value in facts().items() if key != "commit"}
                | {"version": VERSION}
                | ({verify.WITHOUT_WEIGHTS: sorted(verified.restored)} if verified.restored else {}),
            },
        )
        for old in path.glob("manifest-*.json"):
            old.unlink()  # first: a kill while the others go leaves no tables, not damaged ones
        shutil.rmtree(path, ignore_errors=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        os.replace(stage, path)
    note(f"{path} is finished" + (f" in part: {len(study.missing)} outputs are missing" if study.missing else ""))


def tables_in(form: str, path: Path) -> None:
    """Write a study's tables in another form, or the values of its items, beside its other temporary files.

    Recorded tables stay as they are.
    """
    from sumcurve.study.collect import collect
    from sumcurve.study.doors import TABLES
    from sumcurve.study.tables import made
    from sumcurve.tables.items import write_items
    from sumcurve.tables.results import Results
    from sumcurve.tables.table import write_table
    from sumcurve.watch import verify

    home = home_of(path, "results/tables/STUDY")
    plan = Plan.read(CONFIG, path.name)
    results = path.parents[1]
    verify.folders(plan, results).require()
    study, folder = collect(plan, results), home / "scratch" / "tables" / path.name
    folder.mkdir(parents=True, exist_ok=True)
    if form == "items":
        write_items(path.name, study, folder)
    else:
        evidence = Results(study, plan.settings.bootstrap)
        for name in TABLES:
            write_table(made(name, evidence), folder, form)
    note(f"{folder}: {form}")
