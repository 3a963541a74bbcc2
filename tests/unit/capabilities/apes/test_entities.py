import json
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumcurve.capabilities.apes import entities as module
from sumcurve.capabilities.apes.entities import (
    Entities,
    Finder,
    annotate,
    annotation,
    load,
    merged,
    questions,
)
from sumcurve.corpora.pipeline import PipelineError
from sumcurve.corpora.store import read_salient
from sumcurve.corpora.tokens import tokenize
from sumcurve.store.records import Record, Text, read_jsonl, write_jsonl

REFERENCE = ["Marta Lind moved the Harbour Museum from Aarhus to Bergen .", "Lind says Bergen won Lind's heart ."]
SOURCE = ["the museum of the harbour ? it was marta who wrote marta lind .", "LIND and the harbour museum of bergen ."]
NAMES = {"PERSON": ["Marta Lind", "Lind"], "ORG": ["Harbour Museum"], "GPE": ["Aarhus", "Bergen"]}
NAMES |= {"DATE": ["says"], "FAC": ["'"]}


def record(cased: list[str], source: list[str] | None = None, name: str = "r") -> Record:
    return Record(name, source or ["s"], [sentence.lower() for sentence in cased])


def saved(folder: Path, names: dict[str, list[str]], component: str = "ner") -> str:
    """A pipeline whose entities are these names, on disk; also, the lemma of "Bergeners" is "Bergen"."""
    import spacy

    nlp = spacy.blank("en")
    nlp.meta.update(name="of_tests", version="1.2.3")
    ruler: Any = nlp.add_pipe("entity_ruler", name=component)
    ruler.add_patterns([{"label": label, "pattern": name} for label, of in names.items() for name in of])
    lemmas: Any = nlp.add_pipe("attribute_ruler")
    lemmas.add([[{"LOWER": "bergeners"}]], {"LEMMA": "Bergen"})
    nlp.to_disk(folder)
    return str(folder)


@pytest.fixture(scope="module")
def press(tmp_path_factory: pytest.TempPathFactory) -> str:
    return saved(tmp_path_factory.mktemp("pipelines") / "press", NAMES)


@pytest.fixture(scope="module")
def rules() -> Finder:
    return load("rules")


def entities_of(finder: Finder, *cased: str) -> Entities:
    ((_, entities),) = finder.read([(record(list(cased)), cased)])
    return entities


def names_of(finder: Finder, *cased: str) -> set[str]:
    return {mention for mentions in entities_of(finder, *cased) for mention in mentions}


def test_one_reference_gives_its_six_questions(press) -> None:
    ((of, entities),) = load(press).read([(record(REFERENCE, SOURCE), REFERENCE)])
    assert entities == [["harbour museum"], ["marta lind", "lind"], ["bergen"], ["aarhus"]]
    row = annotation(of, entities)
    assert [(one["sentence"], one["answer"], one["text"]) for one in row["questions"]] == [
        (0, 0, "@entity1 moved the @placeholder from @entity3 to @entity2 ."),
        (0, 1, "@placeholder moved the @entity0 from @entity3 to @entity2 ."),
        (0, 2, "@entity1 moved the @entity0 from @entity3 to @placeholder ."),
        (0, 3, "@entity1 moved the @entity0 from @placeholder to @entity2 ."),
        (1, 1, "@placeholder says @entity2 won @placeholder heart ."),
        (1, 2, "@entity1 says @placeholder won @entity1 heart ."),
    ]
    tokens = [token.lower() for token in of.source_tokens]
    spans = [" ".join(tokens[start:end]) for start, end in row["salient"]]
    assert spans == ["marta lind", "lind", "harbour museum", "bergen"]  # neither "marta" nor "harbour" alone


def test_names_are_merged_as_the_authors_do() -> None:
    group = "the moroccan islamic combat group"
    names = ["moroccan", "combat group", group, "bat", "star bank group", "north star bank", "star bank", "otters"]
    lemmas = {name: name for name in names} | {"otters": "otter", "otter": "otter", "us": "usa", "u . s .": "usa"}
    assert merged(lemmas) == [
        [group, "combat group", "moroccan"],  # "moroccan" is not that group: their known error, kept
        ["star bank group", "star bank"],  # the first listed name, not the other one that holds it too
        ["north star bank"],
        ["u . s .", "us"],
        ["otters", "otter"],
        ["bat"],  # no whole word of "combat"
    ]


WORDS = ["a", "b", "c", "the", "don't"]
SPELLINGS = st.sampled_from([*WORDS, "A", "B", "The", "a's", "B's", "c’s", ".", "-"])
SENTENCES = st.lists(st.lists(SPELLINGS, min_size=1, max_size=12).map(" ".join), min_size=1, max_size=3)
MENTIONS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
ENTITIES = st.lists(MENTIONS, unique=True, max_size=6).map(lambda names: merged({name: name for name in names}))


def cleaned(text: str) -> str:
    return " ".join(re.sub(r"['’]s$", "", token) for token in text.lower().split(" "))


@given(SENTENCES, ENTITIES)
def test_mentions_are_replaced_as_by_one_substitution_after_another(target, entities) -> None:
    for sentence in target:
        text = cleaned(sentence)
        names = {name: number for number, mentions in enumerate(entities) for name in mentions}
        for name in sorted(names, key=lambda name: (len(name), name), reverse=True):
            text = re.sub(rf"(?<!\S){re.escape(name)}(?!\S)", f"@entity{names[name]}", text)
        assert " ".join(module.anonymised(sentence.split(" "), entities)).lower() == text


@given(SENTENCES, ENTITIES)
def test_a_question_hides_its_answer_and_nothing_else(target, entities) -> None:
    asked = questions(target, entities)
    held = [{number for _, _, number in module.occurrences(sentence.split(" "), entities)} for sentence in target]
    assert [(one["sentence"], one["answer"]) for one in asked] == [
        (index, number) for index, numbers in enumerate(held) for number in sorted(numbers)
    ]
    for one in asked:
        tokens = one["text"].split(" ")
        assert "@placeholder" in tokens
        assert f"@entity{one['answer']}" not in tokens
        assert not module.occurrences(tokens, entities)
        choices = ["|".join(map(re.escape, mentions)) for mentions in entities]
        marks = {"@placeholder": choices[one["answer"]]} | {f"@entity{k}": of for k, of in enumerate(choices)}
        restored = " ".join(f"(?:{marks[token]})" if token in marks else re.escape(token) for token in tokens)
        assert re.fullmatch(restored, cleaned(target[one["sentence"]]), re.IGNORECASE)


@given(SENTENCES, SENTENCES, ENTITIES)
def test_salient_spans_are_the_whole_mentions_of_answers(source, target, entities) -> None:
    row = annotation(Record("r", source, target), entities)
    answers = {question["answer"] for question in row["questions"]}
    mentions = {mention for answer in answers for mention in entities[answer]}
    tokens = cleaned(" ".join(source)).split(" ")
    spans = row["salient"]
    assert spans == sorted(spans)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    assert {" ".join(tokens[start:end]) for start, end in spans} <= mentions
    taken = {place for start, end in spans for place in range(start, end)}
    for start in range(len(tokens)):
        for end in range(start + 1, len(tokens) + 1):
            if " ".join(tokens[start:end]) in mentions and [start, end] not in spans:
                assert taken & set(range(start, end))  # only what overlaps another mention is left out


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Fill with fill_value or float64 or x1", {"fill_value", "float64", "x1"}),
        ("dataFrame or DataFrame or GeoJSON, NaN", {"dataframe", "geojson", "nan"}),
        ("DataFrame Styler", {"dataframe styler"}),
        ("__array__ is a _private lambda_", {"__array__", "_private", "lambda_"}),
        ("NASA reads IDs", {"nasa", "ids"}),
        ("Apply np.array, self.x and np.random.rand.", {"np . array", "self . x", "np . random . rand"}),
        ("See e.g. the one, fig. two, i.e. three, etc. and so on.", set()),
        ("The modified Bessel function", {"bessel"}),
        ("Bessel function", set()),
        ("The Number Theoretic Transform of Watts–Strogatz", {"number theoretic transform", "watts – strogatz"}),
        ("Apply Bessel functions", {"bessel"}),
        ("(Apply it): Use O'Neil's rule", {"o'neil"}),
        ("As Mr. Lind and J. Berg said", {"lind", "berg"}),
        ("Whether it is 'linear' or 'nearest-neighbour'", {"linear", "nearest - neighbour"}),
        ('Raise it if ``None`` or "pad" or “np.nan”', {"none", "pad", "np . nan"}),
        ("This does NOT take 'first' or 'a' AND 'b' or '1'", set()),
        ("10 of 1.5 or 1,000 in A or x or _", set()),
        ("The Path don't say I'm MATH", {"path"}),
        ("The Legendre MATH in the.c", {"legendre"}),
        ("Whatever Doe does", {"doe"}),
        ("Zahlen für Österreich und Élan_vital", {"österreich", "élan_vital"}),
    ],
)
def test_the_rules_find_names_of_texts_about_code(rules, text, names) -> None:
    assert names_of(rules, " ".join(tokenize(text, lower=False))) == names


def test_no_rule_crosses_the_end_of_a_sentence(rules) -> None:
    assert names_of(rules, "It swims .", "there it eats '", "linear '", "near Aarhus", "- Bergen") == {"aarhus"}


def test_a_capital_at_a_beginning_counts_where_it_stands_elsewhere_too(rules) -> None:
    assert names_of(rules, "Bessel functions", "Zeros of Functions") == {"functions"}
    assert entities_of(rules, "Bessel Functions grow", "Zeros of Bessel") == [["bessel functions", "bessel"]]
    one, two = questions(["bessel functions grow", "zeros of bessel"], [["bessel functions", "bessel"]])
    assert (one["text"], two["text"]) == ("@placeholder grow", "zeros of @placeholder")


def test_without_a_lemmatiser_a_plural_is_its_singular(rules) -> None:
    assert entities_of(rules, "A DataFrame", "of dataframes and DataFrames") == [["dataframes", "dataframe"]]
    assert entities_of(rules, "An AbClas", "no abclass") == [["abclas"]]


def test_a_target_in_its_own_case_needs_no_cased_one(rules) -> None:
    targets = (["The Bessel function of float64"], ["the bessel function of float64"])
    found = [entities for _, entities in rules.read([(Record("r", ["s"], target), target) for target in targets])]
    assert found == [[["float64"], ["bessel"]], [["float64"]]]
    (_, one) = questions(targets[0], found[0])
    assert one["text"] == "The @placeholder function of @entity0"


def test_a_pipeline_reads_our_tokens(press) -> None:
    cased = ["Don't re-enter U.S. territory , Bergen's mayor"]
    doc = load(press).doc(cased)
    assert [token.text for token in doc] == ["Don't", "re-enter", "U.S.", "territory", ",", "Bergen", "mayor"]


def test_a_pipelines_lemma_makes_a_word_a_mention(press) -> None:
    assert entities_of(load(press), "Bergen and its Bergeners") == [["bergeners", "bergen"]]


def test_only_the_papers_types_with_more_than_one_character_count(press, tmp_path) -> None:
    assert names_of(load(press), "' Lind says so in Bergen '") == {"lind", "bergen"}
    other = saved(tmp_path, {"ORG": ["( Lind )", "X", "("]})
    assert names_of(load(other), "so ( Lind ) has an X (") == {"lind"}


def test_spellings_of_the_united_states_are_one_entity(tmp_path) -> None:
    finder = load(saved(tmp_path, {"GPE": ["US", "USA", "U . S .", "U . K ."]}))
    assert entities_of(finder, "the US , the USA , the U . S . and the U . K .") == [
        ["u . s .", "usa", "us"],
        ["u . k ."],
    ]


def corpus(folder: Path) -> dict[str, list[Record]]:
    folder.mkdir()
    targets = {"a": REFERENCE, "b": ["Nobody came ."], "c": ["To Aarhus ."], "d": ["It rains ."], "e": ["Bergen ."]}
    sources = {"a": SOURCE, "b": SOURCE, "c": ["of aarhus"], "d": ["rain"], "e": ["rain"]}
    parts = {
        part: [record(targets[name], sources[name], name) for name in names]
        for part, names in {"train": "ab", "valid": "c", "test": "de"}.items()
    }
    for part, records in parts.items():
        write_jsonl(folder / f"{part}.jsonl", (one.as_dict() for one in records))
        texts = (Text(one.id, one.source, targets[one.id]) for one in records)
        write_jsonl(folder / f"{part}.text.jsonl", (text.as_dict() for text in texts))
    return parts


@pytest.mark.parametrize("of", ["rules", "press"])
def test_every_record_has_its_line_and_the_statistics_count_them(tmp_path, press, of) -> None:
    parts = corpus(tmp_path / "corpus")
    annotate(tmp_path / "corpus", tmp_path, press if of == "press" else of)
    statistics = json.loads((tmp_path / "statistics.json").read_text())
    for part, records in parts.items():
        rows = list(read_jsonl(tmp_path / f"{part}.jsonl"))
        assert [row["id"] for row in rows] == [one.id for one in records]
        spans = list(read_salient(tmp_path, part))
        assert spans == [[tuple(span) for span in row["salient"]] for row in rows]
        tokens = sum(len(one.source_tokens) for one in records)
        counts = Counter(len(row["questions"]) for row in rows)
        assert statistics["parts"][part] == {
            "records": len(records),
            "records_with_questions": len(rows) - counts[0],
            "entities": sum(len(row["entities"]) for row in rows),
            "questions": sum(number * count for number, count in counts.items()),
            "salient_token_share": pytest.approx(sum(e - s for of in spans for s, e in of) / tokens, abs=1e-6),
        }
    assert statistics["parts"]["train"]["questions"] > 0
    assert not next(row for row in read_jsonl(tmp_path / "train.jsonl") if row["id"] == "b")["questions"]
    names = {"rules": ("rules", None), "press": ("en_of_tests", "1.2.3")}
    assert (statistics["pipeline"]["name"], statistics["pipeline"].get("version")) == names[of]
    assert str(tmp_path) not in (tmp_path / "statistics.json").read_text()


def test_parts_of_hyphenated_tokens_are_mentions_where_asked(tmp_path) -> None:
    (folder := tmp_path / "corpus").mkdir()
    text = Text("r", ["Men of Qaeda , pro-al-Qaeda ."], ["al-Qaeda won ."])
    for part in ("train", "valid", "test"):
        write_jsonl(folder / f"{part}.jsonl", [record(text.target, [one.lower() for one in text.source]).as_dict()])
        write_jsonl(folder / f"{part}.text.jsonl", [text.as_dict()])
    spans = {}
    for hyphenated in ("whole", "parts"):
        (made := tmp_path / hyphenated).mkdir()
        annotate(folder, made, saved(tmp_path / "pipeline", {"ORG": ["Qaeda"]}), hyphenated)
        (spans[hyphenated],) = read_salient(made, "test")
    assert spans == {"whole": [], "parts": [(2, 3), (4, 5)]}


def test_a_pipeline_that_is_not_there_or_finds_no_entities_is_an_error(tmp_path) -> None:
    broken = Path(saved(tmp_path / "broken", NAMES)) / "config.cfg"
    broken.write_text(broken.read_text().replace('"entity_ruler"', '"no_such_factory"'))
    for pipeline, message in [
        ("en_no_such_model", r"no spaCy pipeline 'en_no_such_model'.*spacy download en_no_such_model"),
        (saved(tmp_path / "unnamed", NAMES, "finder"), "has no component ner, only finder, attribute_ruler.*'rules'"),
        (saved(tmp_path / "dates", {"DATE": ["June"]}), "knows DATE, none of FAC, .*'rules'"),
        (str(tmp_path / "broken"), r"(?s)cannot be loaded.*'rules'"),
    ]:
        with pytest.raises(PipelineError, match=message):
            load(pipeline)


def test_names_alone_are_joined_by_no_full_stop() -> None:
    """A turn of a dialogue is one sentence of several: what is a dotted name in texts about code is none there."""
    spoken = record(cased := ["Yes . I met Marta Lind in Oslo . Bergen is far , with an MP3 player ."])
    found = {}
    for name in ("rules", "names"):
        ((_, entities),) = load(name).read([(spoken, cased)])
        found[name] = {mention for mentions in entities for mention in mentions}
    assert "oslo . bergen" in found["rules"]
    assert found["names"] == {"marta lind", "oslo", "mp3"}
