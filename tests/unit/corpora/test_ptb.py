"""PTB tokens against a table that was written by hand, and the automaton against Python's `re`."""

import os
import re
import shlex
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from sumcurve.corpora.automaton import Rule, Rules
from sumcurve.corpora.ptb import BRACKETS, ptb, tokenize
from sumcurve.corpora.tokenizers import tokenizer

TABLE = Path(__file__).with_name("ptb_table.txt")
CORENLP = "SUMCURVE_CORENLP"  # a command that reads lines and writes their tokens


def table() -> list[tuple[str, str, str]]:
    """Rule, sentence and tokens."""
    rows, rule = [], ""
    for line in TABLE.read_text(encoding="utf-8").split("\n"):
        if line.startswith("[") and line.endswith("]"):
            rule = line.strip("[]")
        elif " => " in line:
            sentence, tokens = line.split(" => ")
            rows.append((rule, sentence, tokens))
    return rows


def f1(found: list[str], expected: list[str]) -> float:
    """F1 of the tokens' spans in the letters of all tokens, sentence by sentence."""
    common = size = 0
    for ours, theirs in zip(found, expected, strict=True):
        left, right = (spans(line) for line in (ours, theirs))
        common += sum((left & right).values())
        size += left.total() + right.total()
    return 2 * common / size


def spans(line: str) -> Counter[tuple[int, int, str]]:
    place, of = 0, Counter()
    for token in line.split():
        of[place, place + len(token), token] += 1
        place += len(token)
    return of


@pytest.mark.parametrize("rule", sorted({rule for rule, _, _ in table()}))
def test_tokens_are_those_of_the_table(rule) -> None:
    for of, sentence, tokens in table():
        if of == rule:
            assert tokenizer("ptb").tokens([sentence], False) == [tokens]
            assert tokenizer("ptb").tokens([sentence], True) == [tokens.lower()]


def test_lines_are_tokenised_as_if_each_stood_alone() -> None:
    sentences = [sentence for _, sentence, _ in table()]
    assert tokenizer("ptb").tokens(sentences, True) == [tokenizer("ptb").tokens([one], True)[0] for one in sentences]


WORDS = " ".join(sentence for _, sentence, _ in table()).split(" ")
TEXT = (
    st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
    | st.text(st.sampled_from([*"aBnto sd'’\"`“”‘.,-/:()$#@!?019%&\n_é\u0301½…—中"]), max_size=30)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
)


def reference(rules: Rules) -> Callable[[str], str]:
    """`rules.tokenize` with Python's `re`: all rules as the alternatives of one expression."""
    expression = re.compile("|".join(f"(?P<r{n}>{rule.pattern})" for n, rule in enumerate(rules.rules)))

    def tokenize(text: str) -> str:
        lines: list[list[str]] = [[]]
        place = 0
        while place < len(text):
            match = expression.match(text, place)
            assert match is not None
            rule = rules.rules[int(match.lastgroup[1:])]
            end = match.end() - rule.back
            if rule.text is None:
                lines[-1].append(text[place:end].translate(str.maketrans(rules.letters)))
            elif rule.text == "\n":
                lines.append([])
            elif rule.text:
                lines[-1].append(rule.text)
            place = end - rule.again
        return "\n".join(map(" ".join, lines))

    return tokenize


@pytest.fixture(scope="module")
def by_re():
    return reference(ptb())


@examples(60)
@given(TEXT)
def test_the_automaton_finds_what_re_finds_with_the_same_expression(by_re, text) -> None:
    assert tokenize(text) == by_re(text)


def test_the_table_is_what_re_finds(by_re) -> None:
    assert [tokens for _, _, tokens in table()] == [by_re(sentence) for _, sentence, _ in table()]


PIECES = [*map(chr, range(33, 127)), *" \n" * 9, *"éß中", "n't", "'ll ", "etc. ", "U.S.", "...", "&amp;", "-lrb-"]


def bare(text: str) -> str:
    """A text without what tokens change: brackets as written, no white space, quotes, hyphens and full stops."""
    for sign, name in {**BRACKETS, "&": "&amp;"}.items():
        text = text.replace(name, sign)
    return re.sub(r"[\s\"'`.-]", "", text)


@examples(200)
@given(TEXT | st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_nothing_is_lost_and_nothing_added_but_full_stops(text) -> None:
    """Of ASCII; of signs beyond it more are written as others."""
    plain = "".join(sign for sign in text if sign.isascii() or sign in "éß中")
    assert bare(tokenize(plain)) == bare(plain)
    assert len(tokenize(text).split("\n")) == len(text.split("\n"))


@pytest.mark.parametrize("run", ["~", "%", "~.", "a%", "a,", "+1,"])
def test_a_long_run_of_signs_takes_no_longer_than_its_length(run) -> None:
    """A rule that looked through all of a run at each of its signs would take hours."""
    tokens = tokenize(run * 100_000)
    assert "".join(tokens.split()) == run * 100_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It swims. Then it dives! Why? Nobody knows", ["It swims.", "Then it dives!", "Why?", "Nobody knows"]),
        ("Mr. Otter met Dr. Newt. J. Heron slept.", ["Mr. Otter met Dr. Newt.", "J. Heron slept."]),
        (
            "In the U.S. Otter Inc. sold fish. In the U.S. The vole slept.",
            ["In the U.S. Otter Inc. sold fish.", "In the U.S.", "The vole slept."],
        ),
        ('"Otters swim." She left. "Why?" he said.', ['"Otters swim."', "She left.", '"Why?" he said.']),
        ("See fig. 3 and No. 5. It is no. Otters know.", ["See fig. 3 and No. 5.", "It is no.", "Otters know."]),
        (
            "It came on Jan. 5 and left in Feb. The pond froze.",
            ["It came on Jan. 5 and left in Feb.", "The pond froze."],
        ),
        (
            "It waits... and dives. It waits... Then it dives.",
            ["It waits... and dives.", "It waits...", "Then it dives."],
        ),
        ("otters, e.g. voles, swim. (They dive.) 5 came.", ["otters, e.g. voles, swim.", "(They dive.)", "5 came."]),
        ("a heading\n\nIt swims\nat night. ", ["a heading", "It swims at night."]),
        ("Fish, frogs, etc. are eaten. He left.", ["Fish, frogs, etc. are eaten.", "He left."]),
        (" \n\n ", []),
        (
            "otters swim , e.g. here . voles dive ! do they ? no",
            ["otters swim , e.g. here .", "voles dive !", "do they ?", "no"],
        ),
    ],
)
def test_sentences_end_where_the_tokens_say_so(text, expected) -> None:
    assert tokenizer("ptb").sentences(text) == expected


@given(st.text("aB.! ?\n1(),\"'”", max_size=80))
def test_sentences_keep_every_sign_in_order(text) -> None:
    found = tokenizer("ptb").sentences(text)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(sentence and "\n" not in sentence and sentence == sentence.strip() for sentence in found)


def test_the_first_rule_wins_and_repetitions_are_greedy_or_lazy() -> None:
    rules = Rules(
        [
            Rule("ab", "ab(?!c)"),
            Rule("lazy", "x+?(?=y|\\Z)"),
            Rule("two", "a{2,3}b?"),
            Rule("shorter", "z[0-9]*z", back=1),
            Rule("twice", "qw\\.", again=1),
            Rule("as", "[b&]", "and"),
            Rule("blank", " ", ""),
            Rule("line", "\n", "\n"),
            Rule("sign", "."),
        ]
    )
    text = "ab abc xxy xx aaaab z12z qw. b&\n\nz1"
    written = "ab a and c xx y x x aaa ab z12 z qw. . and and\n\nz 1"
    assert rules.tokenize(text) == reference(rules)(text) == written
    with pytest.raises(ValueError, match="no rule matches 'b c'"):
        Rules([Rule("a", "a")]).tokenize("ab c")


@pytest.mark.parametrize("pattern", ["(?<=a)b", "a(?=ab)c", "(?i:a)", r"(a)\1", "a\\b", "(?=a)a", "a?"])
def test_what_an_automaton_cannot_do_is_refused(pattern) -> None:
    with pytest.raises(ValueError, match=r"known|look|begin"):
        Rules([Rule("refused", pattern)])


def test_tokens_are_corenlps(tmp_path) -> None:
    """Over the table's sentences; the command reads lines from its standard input, as
    `java -cp stanford-corenlp-3.7.0.jar edu.stanford.nlp.process.PTBTokenizer -preserveLines`.
    """
    if not os.environ.get(CORENLP):
        pytest.skip(f"not measured here: {CORENLP} names no command")
    sentences = [sentence for _, sentence, _ in table()]
    done = subprocess.run(
        shlex.split(os.environ[CORENLP]),
        input="\n".join(sentences) + "\n",
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    theirs = done.stdout.removesuffix("\n").split("\n")
    assert f1(tokenizer("ptb").tokens(sentences, False), theirs) >= 0.97
