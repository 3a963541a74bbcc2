"""What a run of fairseq says of the test set."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sumcurve.settings import Form, Reading, Search
from sumcurve.store.stage import BuildError, Inputs, Stage

if TYPE_CHECKING:
    from sumcurve.systems.folders import DecodeSpecification


def decode_fairseq_run(
    form: Form,
    specification: "DecodeSpecification",
    trained: dict[str, Any],
    run: Path,
    inputs: Inputs,
    stage: Stage,
) -> None:
    from sumcurve.capabilities.fairseq.model import FairseqError
    from sumcurve.capabilities.fairseq.system import decode_fairseq
    from sumcurve.systems.trained import WEIGHTS

    try:
        decode_fairseq(
            settings=form,
            search=Search.of_specification(specification["search"]),
            run=run,
            weights=run / WEIGHTS["selected"],
            specification=trained | {"sums": specification["sums"]},
            corpus=inputs[specification["corpus"]],
            reading=Reading.of_specification(specification["reading"]) if "reading" in specification else None,
            stage=stage.folder,
            device=stage.lease.device,
            facts=stage.facts,
        )
    except FairseqError as error:
        raise BuildError(f"{stage.name}: {error}") from error
