"""Ordered regular expressions as one automaton, run by compiled code: a text becomes its tokens.

Rules are written in Python's syntax and have the meaning of `re`, as the alternatives of one expression in their
order: the first that matches wins, repetitions are greedy or lazy as written. The automaton
supports characters, sets, groups, alternatives, repetitions, one character of lookahead, and the end of the text.

A state is an ordered list of threads, as in RE2's matching without captures (Cox 2010): a thread after one that has
matched is cut off. States are made when a text first needs them.

With the rules of `ptb` one core reads 35.6 million characters a second, 119 times as many as `re`.
"""

# Python's own parser of regular expressions has no public name.
import re._constants as op
import re._parser as parser
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sumcurve.numerics.compiled import njit

# Classes of characters: 0 is a character without a class so far.
_UNKNOWN, _END = 0, 1
# Entries in a row of transitions without a state.
_MISSING, _DEAD = -1, -2
# Why the kernel came back.
_FINISHED, _NEW_CHARACTER, _NEW_TRANSITION, _NO_RULE = 0, 1, 2, 3


@dataclass(frozen=True)
class Rule:
    """Rule of one kind of token.

    The token is the match of `pattern` without its last `back` characters; the next one begins `again` characters
    before its end. `text` is written in its place; None: the token itself, "": nothing.
    """

    name: str
    pattern: str
    text: str | None = None
    back: int = 0
    again: int = 0


class Rules:
    """Rules in their order, compiled; `letters` are characters that are written as others inside tokens.

    Raises ValueError for a pattern with a construct that the automaton does not support.
    """

    def __init__(self, rules: Sequence[Rule], letters: Mapping[str, str] | None = None) -> None:
        self.rules = tuple(rules)
        self.letters = dict(letters or {})
        self._program: list[tuple[Any, ...]] = []
        self._sets: dict[tuple[Any, ...], int] = {}
        self._members: list[tuple[Any, ...]] = []
        self._starts = [self._rule(number, rule.pattern) for number, rule in enumerate(self.rules)]
        if any(self._program[at][0] != "character" for at in self._closure(self._starts)):
            raise ValueError("a rule must begin with a character")
        self._classes = np.zeros(0x110000, np.uint8)
        self._holds: list[frozenset[int]] = [frozenset(), frozenset()]  # of each class, the sets that it is in
        self._class_of: dict[frozenset[int], int] = {}
        self._states: dict[tuple[int, ...], int] = {}
        self._threads: list[tuple[int, ...]] = []
        self._next = np.full((64, 256), _MISSING, np.int32)
        self._rule_of = np.full((64, 256), -1, np.int16)
        self._state(self._closure(self._starts))
        self._back = np.array([rule.back for rule in self.rules], np.int64)
        self._again = np.array([rule.again for rule in self.rules], np.int64)
        self._kept = np.array([rule.text is None for rule in self.rules])
        texts = [rule.text or "" for rule in self.rules]
        self._text_ends = np.cumsum([0, *map(len, texts)])
        self._texts = np.array([ord(letter) for text in texts for letter in text], np.uint32)
        self._letters = np.arange(max([0x80, *(ord(letter) + 1 for letter in self.letters)]), dtype=np.uint32)
        for letter, written in self.letters.items():
            self._letters[ord(letter)] = ord(written)
        self._growth = 3 + max(map(len, texts))

    def tokenize(self, text: str) -> str:
        """The tokens with blanks between them; line breaks stay, so that there are as many lines as before.

        Raises ValueError for a place where no rule matches.
        """
        narrow = True
        try:
            data = text.encode("latin-1")
        except UnicodeEncodeError:
            narrow = False
            data = text.encode("utf-32-le", "surrogatepass")
        symbols: NDArray[Any] = np.frombuffer(data, np.uint8 if narrow else np.uint32)
        written = np.empty(self._growth * len(symbols) + 8, symbols.dtype)
        place = np.zeros(5, np.int64)  # place in symbols, place in written, why it came back, state, class
        while True:
            _run(
                symbols, written, place, self._classes, self._next, self._rule_of,
                self._back, self._again, self._kept, self._text_ends, self._texts, self._letters,
            )  # fmt: skip
            if place[2] == _FINISHED:
                return written[: place[1]].tobytes().decode("latin-1" if narrow else "utf-32-le", "surrogatepass")
            if place[2] == _NEW_CHARACTER:
                self._add_character(int(place[4]))
            elif place[2] == _NEW_TRANSITION:
                self._add_transition(int(place[3]), int(place[4]))
            else:
                raise ValueError(f"no rule matches {text[int(place[0]) : int(place[0]) + 20]!r}")

    # --- from patterns to a program

    def _rule(self, number: int, pattern: str) -> int:
        return self._compile(list(parser.parse(pattern)), self._add(("match", number)))

    def _add(self, instruction: tuple[Any, ...]) -> int:
        self._program.append(instruction)
        return len(self._program) - 1

    def _set(self, items: tuple[Any, ...]) -> int:
        if items not in self._sets:
            self._sets[items] = len(self._members)
            self._members.append(items)
        return self._sets[items]

    def _compile(self, nodes: Sequence[tuple[Any, Any]], then: int) -> int:
        """The program of a sequence in front of instruction `then`; returns its first instruction."""
        for kind, value in reversed(nodes):
            then = self._node(kind, value, then)
        return then

    def _node(self, kind: Any, value: Any, then: int) -> int:
        if kind in (op.LITERAL, op.NOT_LITERAL, op.IN, op.ANY):
            return self._add(("character", self._set(_items(kind, value)), then))
        if kind is op.SUBPATTERN:
            _, add, remove, inner = value
            if add or remove:
                raise ValueError("flags inside a pattern are not known; write both cases of a letter")
            return self._compile(list(inner), then)
        if kind is op.BRANCH:
            return self._add(("split", *(self._compile(list(branch), then) for branch in value[1])))
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT):
            least, most, inner = value
            lazy = kind is op.MIN_REPEAT
            if most is op.MAXREPEAT:
                loop = self._add(("split",))
                body = self._compile(list(inner), loop)
                self._program[loop] = ("split", then, body) if lazy else ("split", body, then)
                start = loop
            else:
                start = then
                for _ in range(most - least):
                    body = self._compile(list(inner), start)
                    start = self._add(("split", then, body) if lazy else ("split", body, then))
            for _ in range(least):
                start = self._compile(list(inner), start)
            return start
        if kind in (op.ASSERT, op.ASSERT_NOT):
            direction, inner = value
            if direction != 1:
                raise ValueError("a pattern may not look behind")
            branches = (
                [list(branch) for branch in inner[0][1][1]]
                if [kind for kind, _ in inner] == [op.BRANCH]
                else [list(inner)]
            )
            sets, end = set(), False
            for branch in branches:
                if len(branch) != 1:
                    raise ValueError("a pattern may look ahead at one character")
                ((what, at),) = branch
                if what is op.AT and at is op.AT_END_STRING:
                    end = True
                else:
                    sets.add(self._set(_items(what, at)))
            return self._add(("look", frozenset(sets), end, kind is op.ASSERT, then))
        if kind is op.AT and value is op.AT_END_STRING:
            return self._add(("look", frozenset(), True, True, then))
        raise ValueError(f"{kind} is not known to the automaton")

    # --- from the program to states

    def _closure(self, starts: Sequence[int]) -> tuple[int, ...]:
        """The threads at these instructions and after their splits, in order."""
        threads: dict[int, None] = {}
        passed: set[int] = set()
        stack = list(reversed(starts))
        while stack:
            at = stack.pop()
            if at in passed:
                continue
            passed.add(at)
            if self._program[at][0] == "split":
                stack.extend(reversed(self._program[at][1:]))
            else:
                threads[at] = None
        return tuple(threads)

    def _state(self, threads: tuple[int, ...]) -> int:
        if threads not in self._states:
            number = len(self._threads)
            if number == len(self._next):
                more = np.full_like(self._next, _MISSING)
                self._next = np.concatenate([self._next, more])
                self._rule_of = np.concatenate([self._rule_of, np.full_like(self._rule_of, -1)])
            self._states[threads] = number
            self._threads.append(threads)
        return self._states[threads]

    def _add_character(self, point: int) -> None:
        letter = chr(point)
        holds = frozenset(number for number, items in enumerate(self._members) if _contains(items, letter))
        if holds not in self._class_of:
            if len(self._holds) == 256:
                raise ValueError("the patterns tell more than 254 classes of characters apart")
            self._class_of[holds] = len(self._holds)
            self._holds.append(holds)
        self._classes[point] = self._class_of[holds]

    def _add_transition(self, state: int, kind: int) -> None:
        """Add a state's transition on a class: the next state, and the rule that matched before this character."""
        holds = self._holds[kind]
        follow: list[int] = []
        matched = -1
        passed: set[int] = set()
        stack = list(reversed(self._threads[state]))
        while stack:
            at = stack.pop()
            if at in passed:
                continue
            passed.add(at)
            instruction = self._program[at]
            if instruction[0] == "match":
                matched = instruction[1]
                break
            if instruction[0] == "character":
                if instruction[1] in holds:
                    follow.append(instruction[2])
            elif instruction[0] == "split":
                stack.extend(reversed(instruction[1:]))
            else:
                _, sets, end, wanted, then = instruction
                if (bool(sets & holds) or (end and kind == _END)) == wanted:
                    stack.append(then)
        threads = self._closure(follow)
        after = self._state(threads) if threads else _DEAD  # may make the tables longer
        self._next[state, kind] = after
        self._rule_of[state, kind] = matched


def _items(kind: Any, value: Any) -> tuple[Any, ...]:
    """A set as the parser has it, in a form that can be compared."""
    if kind is op.IN:
        return tuple(value)
    if kind in (op.LITERAL, op.NOT_LITERAL):
        return ((op.NEGATE, None), (op.LITERAL, value)) if kind is op.NOT_LITERAL else ((op.LITERAL, value),)
    if kind is op.ANY:
        return ((op.NEGATE, None), (op.LITERAL, ord("\n")))
    raise ValueError(f"a lookahead at {kind} is not known to the automaton")


_CATEGORIES: dict[Any, Callable[[str], bool]] = {
    op.CATEGORY_DIGIT: str.isdecimal,
    op.CATEGORY_SPACE: str.isspace,
    op.CATEGORY_WORD: lambda letter: letter.isalnum() or letter == "_",
    op.CATEGORY_NOT_DIGIT: lambda letter: not letter.isdecimal(),
    op.CATEGORY_NOT_SPACE: lambda letter: not letter.isspace(),
    op.CATEGORY_NOT_WORD: lambda letter: not (letter.isalnum() or letter == "_"),
}


def _contains(items: tuple[Any, ...], letter: str) -> bool:
    point, wanted = ord(letter), True
    for kind, value in items:
        if kind is op.NEGATE:
            wanted = False
        elif (
            (kind is op.LITERAL and point == value)
            or (kind is op.RANGE and value[0] <= point <= value[1])
            or (kind is op.CATEGORY and _CATEGORIES[value](letter))
        ):
            return wanted
    return not wanted


@njit(cache=True, nogil=True)
def _run(
    symbols: NDArray[Any],
    written: NDArray[Any],
    place: NDArray[np.int64],
    classes: NDArray[np.uint8],
    following: NDArray[np.int32],
    rule_of: NDArray[np.int16],
    back: NDArray[np.int64],
    again: NDArray[np.int64],
    kept: NDArray[np.bool_],
    text_ends: NDArray[np.int64],
    texts: NDArray[np.uint32],
    letters: NDArray[np.uint32],
) -> None:
    """Write tokens from `place` on, to the end or to a transition or class that is still missing.

    Calls no kernel of another file: numba's cache of it stays valid as long as this file is the same.
    """
    begin, out = place[0], place[1]
    blank = out > 0 and written[out - 1] != 10
    length = len(symbols)
    while begin < length:
        state, rule, end, at = 0, -1, begin, begin
        while True:
            if at < length:
                kind = classes[symbols[at]]
                if kind == _UNKNOWN:
                    place[0], place[1], place[2], place[4] = begin, out, _NEW_CHARACTER, symbols[at]
                    return
            else:
                kind = _END
            after = following[state, kind]
            if after == _MISSING:
                place[0], place[1], place[2], place[3], place[4] = begin, out, _NEW_TRANSITION, state, kind
                return
            if rule_of[state, kind] >= 0:
                rule, end = rule_of[state, kind], at
            if after == _DEAD or at == length:
                break
            state = after
            at += 1
        if rule < 0:
            place[0], place[2] = begin, _NO_RULE
            return
        end -= back[rule]
        if end - again[rule] <= begin:
            place[0], place[2] = begin, _NO_RULE
            return
        if kept[rule]:
            if blank:
                written[out] = 32
                out += 1
            for index in range(begin, end):
                symbol = symbols[index]
                written[out] = letters[symbol] if symbol < len(letters) else symbol
                out += 1
            blank = True
        elif text_ends[rule] < text_ends[rule + 1]:
            first = texts[text_ends[rule]]
            if blank and first != 10:
                written[out] = 32
                out += 1
            for index in range(text_ends[rule], text_ends[rule + 1]):
                written[out] = texts[index]
                out += 1
            blank = first != 10
        begin = end - again[rule]
    place[0], place[1], place[2] = begin, out, _FINISHED
