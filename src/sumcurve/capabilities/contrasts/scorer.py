"""Scorers `dodged` and `escaped`: preference for golds over contrasts (Kumar and Cheung, 2019, section 3).

A contrast is dodged where the gold is more probable, by sums of log-probabilities; a tie is not. A gold has escaped
where all its contrasts are dodged. Systems are compared on the contrasts that all of them can tell apart: one that
exchanges two unknown words has the gold's ids in a model without these words. Further results, such as those on each
system's own contrasts, are in table `contrasts`.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sumcurve.scores.scorer import Metric, Scorer, Scores, group_of
from sumcurve.store.records import Record, RecordError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sumcurve.capabilities.contrasts.judged import Judged
    from sumcurve.capabilities.contrasts.sets import Contrasted

POINTS = 100


class _Judging(Scorer):
    """Reads the preferences of the runs of every method."""

    version = "78a58e58da8b1f62"
    reads_output = False

    def inputs(
        self, output: str, outputs: Sequence[str], specifications: Mapping[str, Mapping[str, Any]]
    ) -> Mapping[str, Any] | None:
        """The contrasts, and the runs of every folder that was judged on them; `own` is this output's.

        None for an output of another checkpoint or search than those that were judged.
        """
        decoded = specifications[output]
        run, corpus = decoded.get("run"), decoded.get("corpus")
        judges = {key: of for key, of in specifications.items() if "runs" in of and of["corpus"] == corpus}
        if not any(run in judge["runs"] for judge in judges.values()) or "checkpoint" in decoded:
            return None
        of_run = [
            key
            for key in outputs
            if specifications[key].get("run") == run and specifications[key].get("corpus") == corpus
        ]
        common = [key for key in of_run if "reading" in specifications[key]] or of_run[:1]  # without one, the first
        if output not in common:  # of the search of a method's paper, which comes after
            return None
        roles: dict[str, Any] = {judge["contrasts"]: None for judge in judges.values()}
        for key in sorted(judges):
            runs = sorted(judges[key]["runs"])
            roles[key] = {"runs": runs, "own": run if run in runs else None}
        return roles

    def _read(self, records: Sequence[Record], inputs: Mapping[Path, Any]) -> "_Evidence":
        from sumcurve.capabilities.contrasts.judged import digest, read_judged, read_visible
        from sumcurve.capabilities.contrasts.sets import read

        (annotation,) = (path for path, role in inputs.items() if role is None)
        contrasted = list(read(annotation))
        of = digest(contrasted)
        own: Judged | None = None
        flags = []
        for folder, role in inputs.items():
            for run in role["runs"] if role else ():
                path = folder / f"{run.split('/')[1]}.safetensors"
                flags.append(read_visible(path, of))
                if run == role["own"]:
                    own = read_judged(path, of)
        assert own is not None
        common = common_to(flags)
        if not common.any():
            raise RecordError(
                f"none of the {len(common)} contrasts of {annotation} can be told apart by all {len(flags)} systems; "
                "compare fewer systems, or ask for more contrasts"
            )
        groups = {record.id: group_of(record) for record in records}
        return _Evidence(contrasted, own, common, groups, len(flags))


class _Evidence:
    """The contrasts, their likelihoods under one run, and which of them all runs can tell apart."""

    def __init__(
        self,
        contrasted: Sequence["Contrasted"],
        own: "Judged",
        common: "NDArray[np.bool_]",
        groups: Mapping[str, str],
        systems: int,
    ) -> None:
        from sumcurve.capabilities.contrasts.judged import contrast_keys, margins

        self.items, self.names = contrast_keys(contrasted)
        self.dodged = margins(own.own, own) > 0
        self.common, self.groups = common, groups
        self.counts = {
            "contrasts": int(common.sum()),
            "left_out": round(1 - float(common.mean()), 6),
            "cannot_tell": int((~own.visible[own.contrast]).sum()),
        }
        self.signature = f"sum|ties:fail|systems:{systems}|contrasts:{int(common.sum())}"


def common_to(flags: Sequence["NDArray[np.bool_]"]) -> "NDArray[np.bool_]":
    """[contrasts]: True where all systems can tell a contrast from its gold."""
    import numpy as np

    return np.logical_and.reduce(flags)


class Dodged(_Judging):
    """Scorer with contrasts as items."""

    metrics = (Metric("dodged", "Dodged", "dodged", "%", decimals=1),)

    def score(self, output: Path, records: Sequence[Record], inputs: Mapping[Path, Any]) -> Scores:
        evidence = self._read(records, inputs)
        kept = [place for place, common in enumerate(evidence.common.tolist()) if common]
        items = [evidence.items[place] for place in kept]
        return Scores(
            ids=items,
            groups=[evidence.groups[item] for item in items],
            values={"dodged": [POINTS * float(evidence.dodged[place]) for place in kept]},
            signature=evidence.signature,
            further={"contrast": [evidence.names[place] for place in kept]},
            counts=evidence.counts,
        )


class Escaped(_Judging):
    """Scorer with golds as items, where they have a contrast that counts."""

    metrics = (Metric("escaped", "Escaped", "escaped", "%", decimals=1),)

    def score(self, output: Path, records: Sequence[Record], inputs: Mapping[Path, Any]) -> Scores:
        evidence = self._read(records, inputs)
        escaped: dict[str, bool] = {}
        for item, common, dodged in zip(
            evidence.items, evidence.common.tolist(), evidence.dodged.tolist(), strict=True
        ):
            if common:
                escaped[item] = escaped.get(item, True) and dodged
        return Scores(
            ids=list(escaped),
            groups=[evidence.groups[item] for item in escaped],
            values={"escaped": [POINTS * float(all_dodged) for all_dodged in escaped.values()]},
            signature=evidence.signature,
            counts=evidence.counts,
        )
