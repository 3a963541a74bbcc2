"""Test items with all systems' summaries of them: copied words, new ones, how to read tokens, each item's scores."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean
from typing import Literal

from sumcurve.scores.scorer import Metric
from sumcurve.statistics.design import Cell
from sumcurve.tables.evidence import BLIND, Example, Examples
from sumcurve.tables.results import Results
from sumcurve.tables.systems import System

RUN = 3  # words in the source's order from which on a copy is shown as one
Kind = Literal["new", "run", ""]
Piece = tuple[str, Kind]
BEHIND = re.compile(r"[.,;:!?%)\]}…]|''|['’]\w{1,2}|n['’]t")  # tokens without a blank before them
BEFORE = frozenset(["(", "[", "{", "``", "$", "#", "@", "~"])  # without one behind them
WITHIN = frozenset(["-", "/", "_", "\\"])  # without one on either side
OPERATORS = frozenset("<>=!*+&|")  # without one between two of them
QUOTES = frozenset("\"'`")  # of which the first opens and the second closes


@dataclass(frozen=True)
class Written:
    """Summary of one item, with its scores by the systems that wrote it.

    Scores are in the order of `Reading.metrics`, None where there is none. `answers` are those that the summary gives
    to the questions about the reference, in their order ("": none), and whether each is right.
    """

    sentences: Sequence[Sequence[Piece]]
    scores: Mapping[Cell, Sequence[float | None]]
    answers: Sequence[tuple[str, bool]] = ()


@dataclass(frozen=True)
class ShownItem:
    """A test item: source and references by people, and each method's summaries, by rising size; equal ones once.

    `untrained` are those of systems without training. `questions` are about its reference, each with the answer.
    """

    example: Example
    blocks: Mapping[str, Sequence[Written]]
    untrained: Sequence[Written]
    questions: Sequence[tuple[str, str]] = ()

    @property
    def baselines(self) -> list[str]:
        """Systems without training."""
        return [name for written in self.untrained for name, _ in written.scores]


class Reading:
    """The items of one corpus that a page shows, under the metrics that systems are compared by."""

    def __init__(self, results: Results, examples: Examples) -> None:
        self.corpus, self.seed, self.read_tokens = examples.corpus, examples.seed, examples.read_tokens
        self.metrics: list[Metric] = [
            replace(metric, title=results.titled(examples.corpus, metric).shown)
            for metric in results.compared
            if results.design(examples.corpus, metric.name) is not None
        ]
        self.systems = [*results.of(self.corpus, trained=False), *results.of(self.corpus, trained=True)]
        self.sizes = results.sizes(self.corpus)
        self.names = list(dict.fromkeys(system.method for system in self.systems))
        self.best: Cell | None = None
        if self.sizes and self.metrics:
            first = results.ranking(self.corpus, self.metrics[0].name, self.sizes[-1]).first
            self.best = None if first is None else (first, self.sizes[-1])
        self.baseline = next((system.method for system in self.systems if system.role in BLIND), None)
        self.seeds = sorted({system.seeds[0] for system in self.systems if system.seeds})
        self._values = {system.cell: self._of_items(results, system) for system in self.systems}
        self._examples = examples.items
        every = results.study.evidence.values()
        self._questions = {item: posed for evidence in every for item, posed in evidence.questions(self.corpus).items()}
        self._answers = {
            system.cell: {
                item: given for evidence in every for item, given in evidence.answers(system.outputs[0]).items()
            }
            for system in self.systems
        }
        self.test_items = max(len(set(items.ids)) for system in self.systems for items in system.scorers.values())

    def _of_items(self, results: Results, system: System) -> list[dict[str, float]]:
        """Values of every item by metric, of the seed whose summaries are shown; the mean where it has several."""
        values_of: list[dict[str, float]] = []
        for metric in self.metrics:
            items = system.outputs[0].scores.get(results.scorer(metric.name))
            if items is None:
                values_of.append({})
                continue
            of_item: dict[str, list[float]] = {}
            for name, value in zip(items.ids, items.of(metric.name).tolist(), strict=True):
                of_item.setdefault(name, []).append(value)
            values_of.append({name: fmean(values) for name, values in of_item.items()})
        return values_of

    @property
    def left_behind(self) -> list[str]:
        """Methods with a training whose summaries were not committed."""
        absent = [
            system.method
            for system in self.systems
            if system.records is not None and not any(system.cell in example.summaries for example in self._examples)
        ]
        return list(dict.fromkeys(absent))

    @property
    def cells(self) -> list[Cell]:
        """Every system at every size, the trained ones by falling size."""
        return sorted((system.cell for system in self.systems), key=lambda cell: -(cell[1] or 0))

    @cached_property
    def items(self) -> list[ShownItem]:
        items_of = []
        for example in self._examples:
            texts: dict[str, dict[tuple[str, ...], list[Cell]]] = {}  # who wrote each, by method; "": without training
            for system in self.systems:
                if system.cell in example.summaries:
                    block = texts.setdefault("" if system.records is None else system.method, {})
                    block.setdefault((*example.summaries[system.cell],), []).append(system.cell)
            blocks = {
                name: [self._written(example, text, cells) for text, cells in block.items()]
                for name, block in texts.items()
            }
            untrained = blocks.pop("", [])
            items_of.append(ShownItem(example, blocks, untrained, self._questions.get(example.id, ())))
        return items_of

    def _written(self, example: Example, text: Sequence[str], cells: Sequence[Cell]) -> Written:
        scores = {cell: [values.get(example.id) for values in self._values[cell]] for cell in cells}
        answers = self._answers[cells[0]].get(example.id, ())
        return Written(marked(text, example.source_tokens), scores, answers)


def marked(sentences: Sequence[str], source_tokens: Sequence[str]) -> list[list[Piece]]:
    """Every sentence in pieces: words that the source lacks are "new", copies of `RUN` words or more are a "run".

    Copies are the greedy longest matches of Grusky et al. (2018), "Newsroom", Figure 3, within a sentence, whatever the
    case of letters.
    """
    source = [word.casefold() for word in source_tokens]
    places: dict[str, list[int]] = {}
    for place, word in enumerate(source):
        places.setdefault(word, []).append(place)
    marked_sentences = []
    for sentence in sentences:
        words = sentence.split()
        plain = [word.casefold() for word in words]
        pieces: list[Piece] = []
        at = 0
        while at < len(words):
            length = max((_common(plain, at, source, place) for place in places.get(plain[at], ())), default=0)
            kind: Kind = "run" if length >= RUN else "" if length else "new"
            piece = " ".join(words[at : at + max(length, 1)])
            if pieces and kind != "run" and pieces[-1][1] == kind:
                pieces[-1] = f"{pieces[-1][0]} {piece}", kind
            else:
                pieces.append((piece, kind))
            at += max(length, 1)
        marked_sentences.append(pieces)
    return marked_sentences


def glued(words: Sequence[str]) -> list[bool]:
    """Tell for every token whether it is shown without a blank before it: "sin ( x ) ." is read as "sin (x)."."""
    tight = []
    opened: set[str] = set()
    before = ""
    after_opening = False
    for word in words:
        closing = word in opened
        opening = word in QUOTES and not closing
        behind = closing or (BEHIND.fullmatch(word) is not None and not opening)
        within = word in WITHIN and before not in OPERATORS
        both = within or before in WITHIN or (before == "." and word[:1].isalnum())
        operators = before in OPERATORS and word in OPERATORS
        tight.append(before != "" and (after_opening or behind or before in BEFORE or both or operators))
        opened.symmetric_difference_update({word} & QUOTES)
        before, after_opening = word, opening
    return tight


def spaced(pieces: Sequence[Piece]) -> list[tuple[str, Kind, bool]]:
    """Pieces of a sentence, cut before every token that a reader sees without a blank; whether each is such a token."""
    tight = iter(glued([word for text, _ in pieces for word in text.split()]))
    cut: list[tuple[str, Kind, bool]] = []
    for text, kind in pieces:
        for place, word in enumerate(text.split()):
            if (close := next(tight)) or not place:
                cut.append((word, kind, close))
            else:
                cut[-1] = f"{cut[-1][0]} {word}", kind, cut[-1][2]
    return cut


def _common(words: Sequence[str], at: int, source: Sequence[str], place: int) -> int:
    """Count the words from `at` on that equal those of the source from `place` on."""
    length = 0
    while at + length < len(words) and place + length < len(source) and words[at + length] == source[place + length]:
        length += 1
    return length
