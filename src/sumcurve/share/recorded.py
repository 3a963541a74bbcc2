"""State of each recorded study in a line: version of its tables, and where its folders lie. Nothing is hashed."""

from collections.abc import Iterator
from pathlib import Path

from sumcurve.settings.config import PlanError
from sumcurve.share import committed
from sumcurve.share.committed import CommitError
from sumcurve.store import manifest, provenance
from sumcurve.store.manifest import MANIFEST, ManifestError
from sumcurve.store.members import ArchiveError
from sumcurve.study import names
from sumcurve.study.plan import Plan
from sumcurve.watch import archives, verify

WHOLE = "manifest-????????.json"  # of the tables of a whole study


def recorded(config: Path, results: Path) -> Iterator[str]:
    """A line for each study with tables: their version, its folders in results and in the store, what is missing."""
    for folder in sorted((results / "tables").iterdir()):
        manifests = sorted(folder.glob(WHOLE))
        if not manifests:
            continue
        try:
            yield f"{folder.name}: " + "; ".join(_parts(Plan.read(config, folder.name), results, manifests[-1]))
        except (PlanError, ManifestError, ArchiveError, CommitError, OSError) as error:
            yield f"{folder.name}: {error}"


def _parts(plan: Plan, results: Path, newest: Path) -> Iterator[str]:
    planned, home = names.names(plan)[:-1], results.parent  # without its tables
    path = results / "tables" / plan.study / f"manifest-{plan.tables}.json"
    if path.is_file():
        yield "tables of this version"
    else:
        sealed = manifest.read_sealed(newest, verify.TABLES_KEYS, "restore it")
        behind = set(planned).intersection(sealed["inputs"] if sealed else ())
        commit = provenance.commit_of(newest)
        uncommitted = "" if sealed and sealed["facts"].get("clean", True) else " with changes that no commit holds"
        yield (
            f"tables of an older version{uncommitted}{f' (recorded in commit {commit})' if commit else ''}, which were "
            f"made from {len(behind)} of the {len(planned)} folders planned now"
        )
    present = {key for key in planned if (results / key / MANIFEST).is_file()}
    stored = archives.stored(archives.place(plan.study, home)).intersection(planned) - present
    light = committed.keys(home / "studies" / plan.study)
    light = light.intersection(planned) - present - stored
    missing = [key for key in planned if key not in present | stored | light]
    first = f" ({missing[0]} first)" if missing else ""
    yield (
        f"folders: {len(present)} in {results}, {len(stored)} more in the store, {len(light)} more committed without "
        f"weights, {len(missing)} missing{first}"
    )
    if not names.are_current(plan, home):
        path = names.place(plan.study, home)
        yield f"{path} has the names of the record: `sumcurve names --study {plan.study}` writes those of now"
