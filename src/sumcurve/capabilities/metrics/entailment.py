"""Whether a summary follows from its source, by a classifier of premise and hypothesis.

Each sentence of the summary is held against every premise that the source gives, and the best counts; a summary's score
is the mean over its sentences. With the source's sentences as premises this is SummaC-ZS (Laban et al. 2022, section
3.2); with runs of sentences that fill the model's positions it is how MiniCheck is used (Tang et al. 2024, section 4).
"""

from collections.abc import Sequence
from pathlib import Path

import torch

from sumcurve.capabilities.metrics.encoder import batches, load, positions
from sumcurve.store.records import RecordError


class Entailment:
    """Probabilities by the model in a folder; `label` and `contradiction` are its names, as in the settings."""

    def __init__(
        self, folder: Path, label: str | None = None, contradiction: str | None = None, device: str = "cpu"
    ) -> None:
        self.network, self.tokenizer = load(folder, "AutoModelForSequenceClassification")
        self.device = torch.device(device)
        self.network.to(self.device)
        self.most = positions(self.network, self.tokenizer)
        names = {str(name): int(number) for number, name in self.network.config.id2label.items()}
        begin = [name for name in names if name.lower().startswith("entail")]
        if label is None and len(begin) != 1:
            raise RecordError(
                f"{folder}: which of its labels {', '.join(names)} is entailment is not known: name it as `label`"
            )
        chosen = begin[0] if label is None else label
        for name in filter(None, (chosen, contradiction)):
            if name not in names:
                raise RecordError(
                    f"{folder} has the labels {', '.join(names)}, none of them {name!r}: name one of them"
                )
        self.label, self.against = names[chosen], None if contradiction is None else names[contradiction]

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Of each premise and hypothesis; less the probability of a contradiction where that has a name."""
        every = sorted(set(pairs))
        ids = [
            self.tokenizer(premise, hypothesis, truncation="only_first", max_length=self.most)
            for premise, hypothesis in every
        ]
        by_pair: dict[tuple[str, str], float] = {}
        for batch in batches([len(row["input_ids"]) for row in ids]):
            padded = self.tokenizer.pad([ids[place] for place in batch], return_tensors="pt")
            with torch.inference_mode():
                likely = self.network(**padded.to(self.device)).logits.cpu().softmax(-1)
            values = likely[:, self.label] - (0 if self.against is None else likely[:, self.against])
            by_pair |= dict(zip([every[place] for place in batch], values.tolist(), strict=True))
        return [by_pair[pair] for pair in pairs]

    def premises(self, source: Sequence[str], chunks: bool, hypotheses: Sequence[str]) -> list[str]:
        """The sentences of a source, or runs of them that leave room for the longest hypothesis."""
        if not chunks:
            return list(source)
        room = self.most - max((len(self.tokenizer(text)["input_ids"]) for text in hypotheses), default=0) - 3
        runs: list[list[str]] = []
        used = room + 1
        for sentence in source:
            length = len(self.tokenizer(sentence, add_special_tokens=False)["input_ids"])
            if used + length > room:
                runs.append([])
                used = 0
            runs[-1].append(sentence)
            used += length
        return [" ".join(run) for run in runs]

    def scores(
        self, sources: Sequence[Sequence[str]], summaries: Sequence[Sequence[str]], chunks: bool = False
    ) -> list[float]:
        """Of each summary (sentences) of a source (sentences); 0 for one without a sentence."""
        read = [self.premises(*pair) for pair in zip(sources, [chunks] * len(sources), summaries, strict=True)]
        pairs = [
            (premise, hypothesis)
            for premises, summary in zip(read, summaries, strict=True)
            for hypothesis in summary
            for premise in premises
        ]
        likely = dict(zip(pairs, self.probabilities(pairs), strict=True))
        return [
            sum(max(likely[premise, hypothesis] for premise in premises) for hypothesis in summary) / len(summary)
            if summary and premises
            else 0.0
            for premises, summary in zip(read, summaries, strict=True)
        ]
