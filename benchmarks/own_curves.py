"""A finished study's own curves: fitted to sizes up to half, checked at the largest (`held_back.py`).

python benchmarks/own_curves.py [STUDY ...]   by default every study that is finished

As in the table of verdicts, sizes at which a method is not shown to read are left out; `--blind` keeps them.
"""

import argparse
from pathlib import Path

from held_back import HeldBackCurve, HeldBackPair, held_back, summary

from sumcurve.curves.fit import Extrapolation, NoCurve
from sumcurve.store.manifest import ManifestError
from sumcurve.study.collect import collect
from sumcurve.study.plan import Plan, PlanError
from sumcurve.tables.results import Results
from sumcurve.tables.verdicts import curves_of


def checked(name: str, folder: Path, blind: bool) -> tuple[list[HeldBackCurve], list[HeldBackPair]]:
    """Print a line for every curve and pair of a study; returns them all."""
    plan = Plan.read(Path("config"), name)
    settings = plan.settings.bootstrap
    results = Results(collect(plan, folder), settings)
    extrapolation = Extrapolation(confidence=settings.confidence, seed=settings.seed)
    curves: list[HeldBackCurve] = []
    pairs: list[HeldBackPair] = []
    for corpus in results.corpora:
        methods = [method for method, system in results.largest(corpus).items() if results.counts(system)]
        for metric in results.ranking:
            design = results.design(corpus, metric.name)
            try:
                if design is None or not methods:
                    raise NoCurve("no trained method that reads")
                out = {one.cell for one in results.of(corpus, True, metric.name) if not results.counts(one)}
                without = () if blind else out
                higher = results.sign(metric.name) > 0
                _, measured_curves = curves_of(design, methods, higher, settings.seed, without)
                of_curves, of_pairs = held_back(measured_curves, extrapolation)
            except NoCurve as reason:
                print(f"{name} {corpus} {metric.name}: {reason}")
                continue
            for one in of_curves:
                low, middle, high = one.told
                print(
                    f"{name} {corpus} {metric.name} {one.method}: from {one.fitted_to:,.0f} records, "
                    f"at {one.size:,.0f}: {middle:.2f} [{low:.2f}, {high:.2f}], measured {one.measured:.2f}"
                )
            for pair in of_pairs:
                print(
                    f"{name} {corpus} {metric.name}: {pair.verdict.sentence} "
                    f"Measured at {pair.size:,.0f}: {pair.measured:+.2f}{'' if pair.clear else ', not clear'}"
                )
            curves += of_curves
            pairs += of_pairs
    return curves, pairs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("studies", nargs="*", metavar="STUDY")
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--blind", action="store_true", help="keep sizes at which a method is not shown to read")
    arguments = parser.parse_args()
    curves: list[HeldBackCurve] = []
    pairs: list[HeldBackPair] = []
    for name in arguments.studies or sorted(path.stem for path in Path("config/studies").glob("*.yaml")):
        try:
            of_curves, of_pairs = checked(name, arguments.results, arguments.blind)
        except (PlanError, ManifestError) as missing:
            if arguments.studies:
                raise
            print(f"{name}: not finished ({missing})")
            continue
        curves += of_curves
        pairs += of_pairs
    for measure, value in summary(curves, pairs).items():
        print(f"{measure:60} {value:8.3f}")


if __name__ == "__main__":
    main()
