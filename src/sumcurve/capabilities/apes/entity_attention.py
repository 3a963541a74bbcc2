"""Distribution of a model's attention to salient entities over the source, beside that of the answers.

The numbers of Figure 4 of Eyal, Baumel and Elhadad (2019): the share of each fifth of the model's input in the
probability that ENT's layer assigns to source tokens, and in the salient tokens.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sumcurve.scores.fifths import KINDS, ORDINALS
from sumcurve.scores.scorer import Metric, Scorer, Scores, group_of
from sumcurve.store.records import Record, RecordError

PARTS = 5
POINTS = 100


class LooksAt(Scorer):
    """Scores outputs of models that learned salience, by their weights.

    Items are those with a salient token in the model's input.
    """

    version = "0eea440b9e425c59"
    metrics = tuple(
        Metric(f"{kind}_{part}", f"{title}, {where} fifth", f"{kind} {part}", "%", higher_is_better=None, ranks=False)
        for kind, title in KINDS.items()
        for part, where in enumerate(ORDINALS, start=1)
    )

    def inputs(
        self, output: str, outputs: Sequence[str], specifications: Mapping[str, Mapping[str, Any]]
    ) -> Mapping[str, Any] | None:
        """The run and the entities that it learned; None for systems without such a layer."""
        own = specifications[output]
        run = specifications.get(own.get("run", ""), {})
        if "entities" not in run or not run["model"].get("entity_attention") or "checkpoint" in own:
            return None
        return {own["run"]: "run", run["entities"]: "entities"}

    def score(self, output: Path, records: Sequence[Record], inputs: Mapping[Path, Any]) -> Scores:
        import numpy as np
        import torch

        from sumcurve.corpora.store import read_salient
        from sumcurve.models.batch import DECODED_TOGETHER, batches, encode
        from sumcurve.store import manifest
        from sumcurve.systems.families import MODELS

        folders = {role: path for path, role in inputs.items()}
        run = folders["run"]
        sealed = manifest.read(run)
        if sealed is None:
            raise RecordError(f"{run} is not finished; make it first")
        family = MODELS[sealed["specification"]["model"]["kind"]]
        finished = family.selected(run, {}, sealed["specification"]["sums"], "cpu")
        decoder = family.decoder(finished)
        model = decoder.model  # type: ignore[attr-defined]  # of words
        examples = [
            encode(record, decoder.vocabulary, *finished.lengths, spans)
            for record, spans in zip(records, read_salient(folders["entities"], "test"), strict=True)
        ]
        shares: dict[str, list[float]] = {}
        with torch.no_grad():
            for batch in batches(
                [example for example in examples if any(example.salient or ())], DECODED_TOGETHER, by_length=True
            ):
                memory = model.encode(batch)
                assert batch.salient is not None
                rows = zip(batch.ids, memory.cache["salience"], batch.salient, batch.src_len.tolist(), strict=True)
                for name, looked, salient, length in rows:
                    both = (row[:length].double().numpy() for row in (looked, salient))
                    shares[name] = [share for row in both for share in fifths(row)]
        groups = {record.id: group_of(record) for record in records}
        names = [record.id for record in records if record.id in shares]
        if not names:
            raise RecordError(f"{folders['entities']}: no test source that is read has a salient token")
        values = np.array([shares[name] for name in names])
        return Scores(
            ids=names,
            groups=[groups[name] for name in names],
            values={metric.name: values[:, place].tolist() for place, metric in enumerate(self.metrics)},
            signature=f"fifths of the first {finished.lengths[0]} tokens",
            counts={"without_salient": len(records) - len(names)},
        )


def fifths(values: Any) -> list[float]:
    """The shares, in %, of a sum over places that fall into each fifth of them; a place on a border is shared."""
    import numpy as np

    running = np.concatenate([[0.0], np.cumsum(values)])
    borders = np.interp(np.linspace(0, len(values), PARTS + 1), np.arange(len(values) + 1), running)
    return [float(share) for share in POINTS * np.diff(borders) / running[-1]]
