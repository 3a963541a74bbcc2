"""Where a model's attention to salient entities looks, beside where the answers stand.

The numbers of Figure 4 of Eyal, Baumel and Elhadad (2019): of the probability that ENT's layer puts on source tokens,
and of the tokens that are salient, the share of each fifth of what the model reads.
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
    """Scores outputs of models that learned salience, by their weights; items are those whose read source has any."""

    metrics = tuple(
        Metric(f"{kind}_{part}", f"{title}, {where} fifth", f"{kind} {part}", "%", higher_is_better=None, ranks=False)
        for kind, title in KINDS.items()
        for part, where in enumerate(ORDINALS, start=1)
    )

    def inputs(
        self, output: str, outputs: Sequence[str], specifications: Mapping[str, Mapping[str, Any]]
    ) -> Mapping[str, Any] | None:
        """The run and the entities that it learned; None of what has no such layer."""
        told = specifications[output]
        run = specifications.get(told.get("run", ""), {})
        if "entities" not in run or not run["model"].get("entity_attention") or "checkpoint" in told:
            return None
        return {told["run"]: "run", run["entities"]: "entities"}

    def score(self, output: Path, records: Sequence[Record], inputs: Mapping[Path, Any]) -> Scores:
        import json

        import numpy as np
        import torch
        from safetensors.torch import load_file

        from sumcurve.corpora.entities import read_salient
        from sumcurve.models.batch import DECODED_TOGETHER, batches, encode
        from sumcurve.models.vocabulary import Vocabulary
        from sumcurve.settings.search import Search
        from sumcurve.store import manifest
        from sumcurve.systems.families import MODELS
        from sumcurve.training.place import WEIGHTS

        folders = {told: path for path, told in inputs.items()}
        run = folders["run"]
        sealed = manifest.read(run)
        if sealed is None:
            raise RecordError(f"{run} is not finished; make it first")
        told = sealed["specification"]
        vocabulary = Vocabulary.from_json(json.loads((run / "vocabulary.json").read_text()))
        search = Search(beam=1, max_tokens=told["target_tokens"], block_ngram=0)
        weights = load_file(run / WEIGHTS["selected"])
        family = MODELS[told["model"]["kind"]]
        model = family.decoder_of(family.form(told), search, told, vocabulary, weights, "cpu").model  # type: ignore[attr-defined]
        model.eval()
        examples = [
            encode(record, vocabulary, told["source_tokens"], told["target_tokens"], spans)
            for record, spans in zip(records, read_salient(folders["entities"], "test"), strict=True)
        ]
        shares: dict[str, list[float]] = {}
        with torch.no_grad():
            for batch in batches([one for one in examples if any(one.salient or ())], DECODED_TOGETHER, by_length=True):
                memory = model.encode(batch)
                assert batch.salient is not None
                rows = zip(batch.ids, memory.cache["salience"], batch.salient, batch.src_len.tolist(), strict=True)
                for name, looked, salient, length in rows:
                    both = [one[:length].double().numpy() for one in (looked, salient)]
                    shares[name] = [share for one in both for share in fifths(one)]
        groups = {record.id: group_of(record) for record in records}
        names = [record.id for record in records if record.id in shares]
        if not names:
            raise RecordError(f"{folders['entities']}: no test source that is read has a salient token")
        values = np.array([shares[name] for name in names])
        return Scores(
            ids=names,
            groups=[groups[name] for name in names],
            values={one.name: values[:, place].tolist() for place, one in enumerate(self.metrics)},
            signature=f"fifths of the first {told['source_tokens']} tokens",
            counts={"without_salient": len(records) - len(names)},
        )


def fifths(values: Any) -> list[float]:
    """The shares, in %, of a sum over places that fall into each fifth of them; a place on a border is shared."""
    import numpy as np

    running = np.concatenate([[0.0], np.cumsum(values)])
    borders = np.interp(np.linspace(0, len(values), PARTS + 1), np.arange(len(values) + 1), running)
    return [float(one) for one in POINTS * np.diff(borders) / running[-1]]
