import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumcurve.capabilities.apes.entities import longest_first
from sumcurve.capabilities.apes.questions import (
    Asked,
    Question,
    anonymise,
    asked_about,
    asked_of,
    candidates,
    chance,
    entity_in,
    guesses,
    majority,
    merged,
    most_frequent,
    numbered,
    read_questions,
    renumbered,
    write_questions,
)
from sumcurve.corpora.store import Part
from sumcurve.store.records import Record, RecordError, write_jsonl


def plain(*names: str) -> dict[str, int]:
    """The graph of names that are their own lemmas."""
    return numbered({name: name for name in names})


@pytest.mark.parametrize("names", [[], ["bergen"], ["bergen", "bergens"]])
def test_a_reference_with_fewer_than_two_entities_is_not_asked_about(names: list[str]) -> None:
    graph = numbered(dict.fromkeys(names, "bergen"))
    assert len(set(graph.values())) < 2
    assert asked_about("r", ["bergen and bergens ."], graph) == ()


@pytest.mark.parametrize("summary", ["@entity0 @entity1", "@entity0's @ENTITY1 @placeholder", "x @entity1 @entity0 ."])
def test_a_text_names_no_entity_by_its_number(summary: str) -> None:
    """As the tokenizer `ptb` leaves such words whole, one could answer all questions by writing every marker."""
    names = plain("bergen", "marta lind")

    document = anonymise(summary.split(), names)
    assert not candidates(document)
    assert "@placeholder" not in document
    assert len(document) == len(summary.split())
    assert candidates(anonymise(f"{summary} Bergen".split(), names)) == {names["bergen"]: 1}
    (question, _) = asked_about("r", ["marta lind wrote @placeholder and @entity0 to bergen ."], names)
    assert question.words.count("@placeholder") == 1
    assert candidates(question.words) == {
        names["marta lind"] if question.answer == names["bergen"] else names["bergen"]: 1
    }


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("c++", "C++ or c or c+++ or ++", "@entity0 or c or c+++ or ++"),
        ("a.b", "a.b axb", "@entity0 axb"),
        ("[x]", "[x] x [ x ]", "@entity0 x [ x ]"),
        ("( .*", "( .* ( any", "@entity0 ( any"),
        ("$1", "$1 \\1", "@entity0 \\1"),
        ("lind", "Lind's lindy LIND blind ( lind )", "@entity0 lindy @entity0 blind ( @entity0 )"),
    ],
)
def test_a_name_means_itself_as_a_whole_word_in_any_case(name: str, text: str, expected: str) -> None:
    assert " ".join(anonymise(text.split(), {name: 0})) == expected


def test_a_name_inside_another_name_is_a_part_of_the_longer_one() -> None:
    names = plain("bank of the north", "the bank", "bank")
    assert names == {"bank of the north": 0, "the bank": 1, "bank": 0}
    words = anonymise(["the", "bank", "of", "the", "north", "and", "the", "bank"], names)
    assert words == ("the", "@entity0", "and", "@entity1")


LETTERS = st.text("ab", min_size=1, max_size=2)
GRAPHS = st.dictionaries(
    st.lists(LETTERS, min_size=1, max_size=3).map(" ".join), st.sampled_from(["a", "b", "c"]), max_size=8
)


def graph_by_the_authors_steps(lemmas: dict[str, str], graph: list[tuple[str, str, int | None]]) -> None:
    """Nodes of name, lemma and parent; every new one is compared with all others, in order (Eyal et al.'s `merge`)."""
    for name in longest_first(lemmas):
        if name in [node[0] for node in graph]:
            continue
        parent = next(
            (
                place
                for place, (other, lemma, _) in enumerate(graph)
                if lemma == lemmas[name]
                or re.search(rf"(?<!\S){re.escape(name)}(?!\S)", other)
                or re.search(rf"(?<!\S){re.escape(other)}(?!\S)", name)
            ),
            None,
        )
        graph.append((name, lemmas[name], parent))


def roots(graph: list[tuple[str, str, int | None]]) -> dict[str, int]:
    found = {}
    for place, (name, _, parent) in enumerate(graph):
        while parent is not None:
            place, parent = parent, graph[parent][2]
        found[name] = place
    return found


@given(GRAPHS, GRAPHS)
def test_names_are_numbered_and_merged_by_the_authors_steps(lemmas: dict[str, str], own: dict[str, str]) -> None:
    graph: list[tuple[str, str, int | None]] = []
    graph_by_the_authors_steps(lemmas, graph)
    names = numbered(lemmas)
    assert names == roots(graph)
    own = {name: lemmas.get(name, lemma) for name, lemma in own.items()}
    graph_by_the_authors_steps(own, graph)
    assert merged(names, own, lemmas) == roots(graph)


WORDS = st.lists(st.sampled_from(["@entity7", "@entity0", "@entity12", "@placeholder", "a", "@entity"]), max_size=8)


@given(WORDS, WORDS)
def test_renumbering_goes_by_first_occurrence_and_changes_nothing_else(document, question) -> None:
    read, asked, mapping = renumbered(document, question)
    assert list(mapping.values()) == list(range(len(mapping)))
    seen = [number for word in (*read, *asked) if (number := entity_in(word)) is not None]
    assert list(dict.fromkeys(seen)) == sorted(set(seen))
    back = {f"@entity{new}": f"@entity{old}" for old, new in mapping.items()}
    assert [back.get(word, word) for word in (*read, *asked)] == [*document, *question]
    assert renumbered(read, asked)[:2] == (read, asked)


def test_levels_of_guessing() -> None:
    document = ["@entity4", "saw", "@entity2", "and", "@entity2", "@placeholder", "entity9"]
    assert list(candidates(document).items()) == [(4, 1), (2, 2)]
    assert [chance(document, answer) for answer in (4, 2, 9)] == [0.5, 0.5, 0.0]
    assert most_frequent(document) == 2
    assert most_frequent(["@entity4", "and", "@entity2", "and", "@entity1"]) == 4  # the first
    assert most_frequent(["nobody"]) is None
    assert majority([3, 1, 3, 1, 0]) == 1
    assert majority([]) is None


@pytest.mark.parametrize(
    ("document", "question", "expected"),
    [
        # 4 comes first, 2 twice, and the question's words stand beside 7
        ("@entity4 saw @entity2 . / @entity2 left . / a man met @entity7 .", "a man met @placeholder .", (2, 4, 7)),
        # 2 is named by the question, and so is no answer
        ("@entity4 saw @entity2 . / @entity2 left @entity4 . / it rained .", "@entity2 left @placeholder .", (4, 4, 4)),
        # of equals the first; a word counts once
        ("@entity3 and @entity5 met / and and @entity8 .", "@placeholder and and", (3, 3, 3)),
        ("it rained .", "@placeholder .", (None, None, None)),
        ("@entity1 .", "@entity1 saw @placeholder .", (None, None, None)),
    ],
)
def test_guessers_say_the_most_frequent_the_first_and_the_one_beside_the_question_s_words(
    document: str, question: str, expected: tuple[int | None, ...]
) -> None:
    sentences, names = [sentence.split(" ") for sentence in document.split(" / ")], ("frequency", "first", "overlap")
    assert guesses(sentences, question.split(" ")) == dict(zip(names, expected, strict=True))


def test_a_question_about_a_source_is_asked_of_the_other_sentences() -> None:
    source = ["ann met bob in oslo .", "bob 's dog bit ann .", "ann met bob in oslo .", "it rained on ann ."]
    record = Record("r", source, ["cid left ."])
    asking = Asked("r", {"cid": 0}, (), {"ann": 1, "bob": 2, "oslo": 3})
    texts = [(" ".join(others), " ".join(words), answer) for others, words, answer in asking.about_source(record)]
    rest = "@entity2 's dog bit @entity1 . it rained on @entity1 ."
    first = [
        (rest, "@placeholder met @entity2 in @entity3 .", 1),
        (rest, "@entity1 met @placeholder in @entity3 .", 2),
        (rest, "@entity1 met @entity2 in @placeholder .", 3),  # which no other sentence names
    ]
    assert texts[:3] == first == texts[5:8]
    assert texts[3][1:] == ("@entity2 's dog bit @placeholder .", 1)
    assert texts[4][1:] == ("@placeholder 's dog bit @entity1 .", 2)
    for others, words, answer in texts:
        sentence = words.replace("@placeholder", f"@entity{answer}")
        assert sentence not in others
        assert f"@entity{answer}" not in words.split(" ")
    assert len(texts) == 3 + 2 + 3 + 1


@given(WORDS)
def test_a_guess_among_the_entities_present_is_right_once_on_average(document: list[str]) -> None:
    there = candidates(document)
    assert sum(chance(document, answer) for answer in there) == pytest.approx(1.0 if there else 0.0)


def asked(item: str, *questions: Question) -> Asked:
    return Asked(item, {"marta lind": 0, "ö": 3}, questions, {"oslo": 4}, {"ö": "o"}, ((1, 3), (5, 6)))


def test_what_was_written_is_read(tmp_path: Path) -> None:
    rows = [asked("a", Question("a", 0, ("@placeholder", "saw", "@entity3"), 0)), asked("b"), Asked("c", {}, ())]
    assert write_questions(tmp_path, "test", rows) == 3
    assert list(read_questions(tmp_path)) == rows
    assert rows[0].source_names == {"marta lind": 0, "ö": 3, "oslo": 4}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda row: row.pop("names"), r"test.jsonl:2: not a reference's questions \(KeyError\('names'\)\); rebuild"),
        (lambda row: row.update(salient=[[1]]), r"test.jsonl:2: not a reference's questions"),
        (lambda row: row["questions"][0].update(text="it"), r"test.jsonl:2: a question without @placeholder: 'it'"),
    ],
)
def test_a_line_that_is_none_of_ours_is_named(tmp_path: Path, change, message: str) -> None:
    write_questions(tmp_path, "test", [asked(item, Question(item, 0, ("@placeholder",), 0)) for item in "ab"])
    rows = [json.loads(line) for line in (tmp_path / "test.jsonl").read_text().splitlines()]
    change(rows[1])
    write_jsonl(tmp_path / "test.jsonl", rows)
    with pytest.raises(RecordError, match=message):
        list(read_questions(tmp_path))


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ("axc", "test.jsonl:2: questions about 'x'.*'b'"),
        ("ab", "test.jsonl:3: questions about None.*'c'"),
        ("abcd", "test.jsonl:4: questions about 'd'.*None"),
    ],
)
def test_questions_about_other_records_are_refused(tmp_path: Path, items: str, message: str) -> None:
    records = [Record(item, ["s"], ["t"]) for item in "abc"]
    write_jsonl(tmp_path / "test.jsonl", (one.as_dict() for one in records))
    part, folder = Part(tmp_path, "test"), tmp_path / "questions"
    folder.mkdir()
    write_questions(folder, "test", map(asked, "abc"))
    assert [(record, of.item) for record, of in asked_of(part, folder)] == list(zip(records, "abc", strict=True))
    write_questions(folder, "test", map(asked, items))
    with pytest.raises(RecordError, match=message):
        list(asked_of(part, folder))
