"""Systems that are pretrained models: fine-tuned by the study, or without any training (zero shot)."""

from collections.abc import Sequence
from dataclasses import replace

import torch

from sumcurve.capabilities.pretrained.decoding import (
    BATCH,
    in_subwords,
    in_words,
    target_logp,
    told_of,
    truncated,
    write,
)
from sumcurve.capabilities.pretrained.model import Pretrained
from sumcurve.capabilities.pretrained.settings import TransformersSettings
from sumcurve.capabilities.pretrained.subwords import TextExample
from sumcurve.corpora.derangement import derangements
from sumcurve.decoding.logp import TargetLogp
from sumcurve.settings.search import Search
from sumcurve.settings.study import Reading
from sumcurve.store.records import Text, write_jsonl
from sumcurve.store.stage import Stage
from sumcurve.systems.system import Alternatives, Item, Likelihoods


class PretrainedSystem:
    """A model with a search, and its limits on sources and targets, in words."""

    def __init__(
        self,
        model: Pretrained,
        settings: TransformersSettings,
        search: Search,
        source_tokens: int,
        target_tokens: int,
        device: str,
    ) -> None:
        self.model, self.search, self.device = model.to(device).eval(), search, device
        self.source_tokens, self.target_tokens = source_tokens, target_tokens
        self.decoding = in_subwords(search, settings, model)
        self.read = self.truncated = 0  # sources, and those that the model had no positions for, of texts for people

    def examples(self, items: Sequence[Item], room: int = 0) -> list[TextExample]:
        """The items as the model's inputs; a decoder-only model has positions for `room` subwords after each."""
        lengths = self.source_tokens, self.target_tokens, max(room, self.decoding.max_tokens)
        return [self.model.subwords.example(item.record, item.text, *lengths) for item in items]

    def written(self, examples: Sequence[TextExample]) -> list[str]:
        """Decode a text for each example."""
        return write(self.model, examples, self.decoding, self.device)

    def words(self, text: str) -> list[str]:
        """A written text in the corpus's tokens, cut at its longest summary."""
        subwords = self.model.subwords
        return in_words(text, subwords.lower, self.search.max_tokens, subwords.words)

    def summarize(self, items: Sequence[Item]) -> list[list[str]]:
        return [self.words(text) for text in self.written(self.examples(items))]

    @torch.no_grad()
    def logp(self, items: Sequence[Item], targets: Sequence[list[str]]) -> list[float]:
        """Log-probabilities of targets up to `target_tokens`. Sentences of targets are read as plain text."""
        records = [
            Item(
                replace(item.record, target=target, references=[]),
                Text(item.text.id, item.text.source, self.model.subwords.as_text(target)),
            )
            for item, target in zip(items, targets, strict=True)
        ]
        examples = self.examples(records)
        logps = [0.0] * len(examples)
        order = sorted(range(len(examples)), key=lambda place: len(examples[place].source))
        for first in range(0, len(order), BATCH):
            places = order[first : first + BATCH]
            batch = self.model.collate([examples[place] for place in places]).to(self.device)
            logp, _ = self.model.gold(batch, None)
            for place, value in zip(places, logp.sum(1).tolist(), strict=True):
                logps[place] = value
        return logps

    @torch.no_grad()
    def weigh(self, alternatives: Sequence[Alternatives]) -> list[Likelihoods]:
        """Log-probabilities of targets up to `target_tokens`.

        Targets are read as texts of words and blanks, also where the original text exists. Every source is read once,
        and distinct targets of it in batches.
        """
        model, subwords = self.model, self.model.subwords
        likelihoods = []
        for each in alternatives:
            targets = [subwords.target(subwords.as_text(target), self.target_tokens) for target in each.targets]
            if subwords.writes is not None:
                targets = [(ids[: subwords.writes], at[: subwords.writes], size) for ids, at, size in targets]
            record, text = each.item.record, each.item.text
            item = Item(replace(record, target=[], references=[]), Text(text.id, text.source, []))
            (source,) = self.examples([item], max(len(ids) for ids, _, _ in targets))
            distinct = {
                tuple(ids): TextExample(source.record, source.source, ids, at, size, False) for ids, at, size in targets
            }
            memory = model.encode(model.collate([source]).to(self.device))
            values: dict[tuple[int, ...], float] = {}
            ordered = sorted(distinct, key=len)
            for first in range(0, len(ordered), BATCH):
                part = ordered[first : first + BATCH]
                batch = model.collate([distinct[ids] for ids in part]).to(self.device)
                rows = torch.zeros(len(part), dtype=torch.long, device=self.device)
                scored, _ = model.gold(batch, memory.select(rows))
                values |= dict(zip(part, scored.double().sum(1).tolist(), strict=True))
            seen = [tuple(ids) for ids, _, _ in targets]
            likelihoods.append(Likelihoods([values[ids] for ids in seen], [len(ids) for ids in seen], seen))
        return likelihoods

    def reading(self, items: Sequence[Item], settings: Reading) -> TargetLogp:
        """Log-probabilities of targets word by word, given each item's source and those of other groups.

        A decoder-only model truncates every source to leave positions for the longest target, since any may follow it.
        Raises GroupError where all records are of one group.
        """
        others = derangements([item.record for item in items], settings)
        examples = self.examples(items)
        if (longest := max(len(example.target) for example in examples)) > self.decoding.max_tokens:
            examples = self.examples(items, longest)
        return target_logp(self.model, examples, others, self.target_tokens, self.device)


def write_output(system: PretrainedSystem, items: Sequence[Item], stage: Stage) -> None:
    """Write summaries.jsonl and summaries.text.jsonl: the complete texts as written."""
    examples = system.examples(items)
    stage.facts["truncated_sources"] = truncated(examples)
    if notice := told_of(stage.facts["truncated_sources"], len(examples), system.model):
        stage.note(notice)
    texts = system.written(examples)
    pairs = [(item.record.id, text) for item, text in zip(items, texts, strict=True)]
    write_jsonl(stage.folder / "summaries.text.jsonl", ({"id": name, "summary": text} for name, text in pairs))
    write_jsonl(stage.folder / "summaries.jsonl", ({"id": name, "summary": system.words(text)} for name, text in pairs))
