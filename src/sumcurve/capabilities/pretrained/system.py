"""Systems that are pretrained models: fine-tuned by the study, or as they come (zero shot)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from sumcurve.capabilities.pretrained.bart import opened
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
from sumcurve.capabilities.pretrained.subwords import TextExample
from sumcurve.corpora.derangement import GroupError, derangements
from sumcurve.corpora.store import Corpus
from sumcurve.decoding.logp import TargetLogp, write_logp
from sumcurve.settings import Reading, Search, SubwordSettings
from sumcurve.store.records import Text, write_jsonl
from sumcurve.systems.system import Item


class PretrainedSystem:
    """A model with a search, and what it may read of a source and was trained to write of a target, in words."""

    def __init__(
        self,
        model: Pretrained,
        settings: SubwordSettings,
        search: Search,
        source_tokens: int,
        target_tokens: int,
        device: str,
    ) -> None:
        self.model, self.search, self.device = model.to(device).eval(), search, device
        self.source_tokens, self.target_tokens = source_tokens, target_tokens
        self.decoding = in_subwords(search, settings, model)

    def examples(self, items: Sequence[Item], room: int = 0) -> list[TextExample]:
        """The items as the model reads them; a decoder alone has positions for `room` subwords behind each."""
        lengths = self.source_tokens, self.target_tokens, max(room, self.decoding.max_tokens)
        return [self.model.subwords.example(item.record, item.text, *lengths) for item in items]

    def written(self, examples: Sequence[TextExample]) -> list[str]:
        """What the model writes of each example, as text."""
        return write(self.model, examples, self.decoding, self.device)

    def words(self, text: str) -> list[str]:
        """A written text as the corpus's tokenizer gives it, cut at its longest summary."""
        return in_words(text, self.model.subwords.lower, self.search.max_tokens)

    def summarize(self, items: Sequence[Item]) -> list[list[str]]:
        return [self.words(text) for text in self.written(self.examples(items))]

    @torch.no_grad()
    def logp(self, items: Sequence[Item], targets: Sequence[list[str]]) -> list[float]:
        """As far as `target_tokens` reach. Sentences of targets are read as the texts that they are."""
        asked = [
            Item(
                replace(item.record, target=target, references=[]),
                Text(item.text.id, item.text.source, target),
            )
            for item, target in zip(items, targets, strict=True)
        ]
        examples = self.examples(asked)
        found = [0.0] * len(examples)
        order = sorted(range(len(examples)), key=lambda place: len(examples[place].source))
        for first in range(0, len(order), BATCH):
            places = order[first : first + BATCH]
            batch = self.model.collate([examples[place] for place in places]).to(self.device)
            logp, _ = self.model.gold(batch, None)
            for place, value in zip(places, logp.sum(1).tolist(), strict=True):
                found[place] = value
        return found

    def reading(self, items: Sequence[Item], settings: Reading) -> TargetLogp:
        """Log-probabilities of targets word by word, given the own and other groups' sources.

        A decoder alone reads of every source what leaves positions for the longest target: any may follow it.
        Raises GroupError where all records are of one group.
        """
        others = derangements([item.record for item in items], settings)
        examples = self.examples(items)
        if (longest := max(len(example.target) for example in examples)) > self.decoding.max_tokens:
            examples = self.examples(items, longest)
        return target_logp(self.model, examples, others, self.target_tokens, self.device)


def write_output(
    system: PretrainedSystem,
    items: Sequence[Item],
    reading: Reading | None,
    stage: Path,
    note: Callable[[str], None],
    facts: dict[str, Any],
) -> None:
    """Write summaries.jsonl, summaries.text.jsonl (what was written, whole, as text), and what `reading` asks for."""
    examples = system.examples(items)
    facts["truncated_sources"] = truncated(examples)
    if said := told_of(facts["truncated_sources"], len(examples), system.model):
        note(said)
    texts = system.written(examples)
    ids = [item.record.id for item in items]
    pairs = list(zip(ids, texts, strict=True))
    write_jsonl(stage / "summaries.text.jsonl", ({"id": name, "summary": text} for name, text in pairs))
    write_jsonl(stage / "summaries.jsonl", ({"id": name, "summary": system.words(text)} for name, text in pairs))
    if reading is not None:
        try:
            found = system.reading(items, reading)
        except GroupError:
            return  # the scorer that would read the file says why there is none
        write_logp(stage, found, ids)


def items_of(corpus: Path) -> list[Item]:
    """The corpus's test part, in its order."""
    return [Item(record, text) for record, text in Corpus(corpus).part("test").with_text]


def decode_pretrained(
    settings: SubwordSettings,
    search: Search,
    folder: Path,
    weights: Path | None,
    specification: dict[str, Any],
    corpus: Path,
    lower: bool,
    reading: Reading | None,
    stage: Path,
    device: str,
    note: Callable[[str], None],
    facts: dict[str, Any],
) -> None:
    """Write an output of the model of `folder` (see `opened`), with the trained `weights` of a run; without, zero shot.

    `specification` says `threads`, `source_tokens` and `target_tokens`. Raises PretrainedError.
    """
    torch.set_num_threads(specification["threads"])
    model = opened(settings, folder, specification, lower)
    if weights is not None:
        model.load(load_file(weights))
    lengths = specification["source_tokens"], specification["target_tokens"]
    system = PretrainedSystem(model, settings, search, *lengths, device)
    write_output(system, items_of(corpus), reading, stage, note, facts)
