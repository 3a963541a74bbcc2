"""Salient entities and cloze questions of every record, without any model under study.

Eyal, Baumel and Elhadad (NAACL 2019), "Question answering as an automatic evaluation metric for news article
summarization": the entities of a reference are hidden one by one, and a reader of the summary must name the one that is
missing. Entities that answer a question are salient. As in the authors' code, names are compared in lower case and
merged (`merged`), and a question hides every mention of one entity in one sentence. Other than in their code, a name is
salient as a whole, never its single words ("of", "the").

Entities, questions and spans are in a record's own tokens. Of the authors' cleaning of text, possessives are removed
("bessel's" is read as "bessel"), and the names that they rewrite to "USA" are merged instead; contractions stay, as
they hold no entity.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sumcurve.corpora.pipeline import PipelineError
from sumcurve.corpora.pipeline import load as load_pipeline
from sumcurve.corpora.store import PARTS, Corpus
from sumcurve.corpora.tokenizers import own_case
from sumcurve.corpora.tokens import ABBREVIATIONS
from sumcurve.store.records import Record, Text, write_json, write_jsonl

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Span, Token

PLACEHOLDER = "@placeholder"
MARK = re.compile(r"@(?:entity\d+|placeholder)")  # what a text may hold by chance, or to be taken for an entity
RULES, NAMES = "rules", "names"  # of ours, for texts about code and for others
HYPHEN = re.compile(r"(?<=\w)-+(?=\w)")  # inside a token; not those of -lrb-

# The paper's five types as spaCy's pipelines call them; FACILITY in old ones.
TYPES = frozenset({"PERSON", "ORG", "NORP", "GPE", "FAC", "FACILITY"})
# Types found by the rules.
IDENTIFIER, DOTTED, NAME, LITERAL = "IDENTIFIER", "DOTTED", "NAME", "LITERAL"
RULE_TYPES = frozenset({IDENTIFIER, DOTTED, NAME, LITERAL})
RULE_SETS = {RULES: RULE_TYPES, NAMES: frozenset({IDENTIFIER, NAME})}

POSSESSIVE = re.compile(r"(?<=\w)['’]s$", re.IGNORECASE)
USA = frozenset({"us", "usa", "u . s", "u . s .", "u . s . a", "u . s . a ."})
QUOTES = (("'", "'"), ('"', '"'), ("`", "`"), ("‘", "’"), ("“", "”"))
FRAME = frozenset("()[]{}").union(*QUOTES)  # no mention begins or ends with these
FORMULA = "MATH"  # placeholder of formulas in harvested docstrings
SENTENCE_MARKS = frozenset(".:;!?")

# Of spaCy's token shapes, where X is a capital, x another letter and d a digit: H2O, float64, iPhone, SQL, x_1.
WORD = re.compile(r"[xXd]")
COINED = re.compile(r"(?=.*[xX]).*_|[xX].*[Xd]")
CAPITALISED = r"X(?:['’]X)?[^'’]+"  # two letters or more; O'Neil, but not I'm
MOST_PARTS = 6  # of a dotted name

Hyphenated = Literal["whole", "parts"]  # what a token with hyphens inside is: a word, or several with hyphens between
Entities = list[list[str]]  # entity number -> its mentions: lower-case tokens joined by blanks


def annotate(corpus_folder: Path, folder: Path, pipeline: str = RULES, hyphenated: Hyphenated = "whole") -> None:
    """Write train.jsonl, valid.jsonl and test.jsonl, a line per record of the corpus's part, and statistics.json.

    A line is a result of `annotation`. The statistics hold for each part `records`, `records_with_questions`,
    `entities`, `questions` and `salient_token_share` (0..1, of the sources' tokens); `pipeline` is the name and version
    of the pipeline that found the entities.

    `pipeline` is "rules", made for texts about code, "names", the subset of these rules that finds names, or the name
    or folder of a spaCy pipeline with a component "ner" that has `TYPES`. PipelineError if there is none.
    """
    finder = load(pipeline)
    parts = {}
    for part in PARTS:
        counts: Counter[str] = Counter()
        records = (
            (replace(record, target=parted(record.target, hyphenated)), parted(in_own_case(record, text), hyphenated))
            for record, text in Corpus(corpus_folder).part(part).with_text
        )
        write_jsonl(folder / f"{part}.jsonl", annotations(records, finder, counts, hyphenated))
        share = counts["salient_tokens"] / max(1, counts["tokens"])
        names = ("records", "records_with_questions", "entities", "questions")
        parts[part] = {**{name: counts[name] for name in names}, "salient_token_share": round(share, 6)}
    write_json(folder / "statistics.json", {"pipeline": finder.facts, "parts": parts})


def in_own_case(record: Record, text: Text) -> list[str]:
    """The target's sentences with the record's tokens in the text's case."""
    return [own_case(wrote, tokens) for wrote, tokens in zip(text.target, record.target, strict=True)]


def annotations(
    records: Iterable[tuple[Record, Sequence[str]]],
    finder: "Finder",
    counts: Counter[str],
    hyphenated: Hyphenated = "whole",
) -> Iterator[dict[str, Any]]:
    """`annotation` of every record, given with its target in its own case; adds to `counts`."""
    for record, entities in finder.read(records):
        row = annotation(record, entities, hyphenated)
        counts["records"] += 1
        counts["records_with_questions"] += bool(row["questions"])
        counts["entities"] += len(entities)
        counts["questions"] += len(row["questions"])
        counts["tokens"] += len(record.source_tokens)
        counts["salient_tokens"] += sum(end - start for start, end in row["salient"])
        yield row


def annotation(record: Record, entities: Entities, hyphenated: Hyphenated = "whole") -> dict[str, Any]:
    """`id`; `entities`; `questions`; `salient`: the spans of source tokens where a question's answer is mentioned.

    The target's hyphenated tokens are `parted` already.
    """
    masked = questions(record.target, entities)
    answers = {question["answer"] for question in masked}
    salient = [mentions if number in answers else [] for number, mentions in enumerate(entities)]
    spans = [list(span) for span in mentioned(record.source_tokens, salient, answers, hyphenated)]
    return {"id": record.id, "entities": entities, "questions": masked, "salient": spans}


# --- questions about tokens and entities


def parted(texts: Iterable[str], hyphenated: Hyphenated) -> list[str]:
    """Texts of blank-separated words: hyphenated tokens whole, or as their parts and the hyphens between these."""
    return [HYPHEN.sub(r" \g<0> ", text) if hyphenated == "parts" else text for text in texts]


def mentioned(
    tokens: Sequence[str], entities: Entities, wanted: Collection[int], hyphenated: Hyphenated
) -> list[tuple[int, int]]:
    """The spans (half-open) of tokens that mention an entity of these numbers, sorted, without overlap.

    A token of which only a part is a mention counts as mentioned.
    """
    words = [(place, word) for place, token in enumerate(parted(tokens, hyphenated)) for word in token.split(" ")]
    spans: list[tuple[int, int]] = []
    for first, last, number in occurrences([word for _, word in words], entities):
        if number in wanted:
            start, end = words[first][0], words[last - 1][0] + 1
            if spans and start < spans[-1][1]:  # two parts of one token
                start = spans.pop()[0]
            spans.append((start, end))
    return spans


def questions(target: Sequence[str], entities: Entities) -> list[dict[str, Any]]:
    """One question per sentence and distinct entity in it: `{"sentence", "text", "answer"}`, `answer` its number."""
    rows = []
    for index, sentence in enumerate(target):
        tokens = sentence.split(" ")
        for answer in sorted({number for _, _, number in occurrences(tokens, entities)}):
            text = " ".join(anonymised(tokens, entities, hidden=answer))
            rows.append({"sentence": index, "text": text, "answer": answer})
    return rows


def anonymised(tokens: Sequence[str], entities: Entities, hidden: int | None = None) -> list[str]:
    """The tokens with every mention of entity k replaced by @entityk, of entity `hidden` by @placeholder.

    Other tokens stay as they are, without possessives; a word that looks like one of these markers gets a second `@`,
    so that no text names an entity by its number.
    """
    new: list[str] = []
    position = 0
    for start, end, number in occurrences(tokens, entities):
        new += map(_word, tokens[position:start])
        new.append(PLACEHOLDER if number == hidden else f"@entity{number}")
        position = end
    return [*new, *map(_word, tokens[position:])]


def _word(token: str) -> str:
    """Token without its possessive, escaped where it looks like a marker."""
    return f"@{token}" if is_marker(token) else without_possessive(token)


def is_marker(token: str) -> bool:
    """Tell whether a text's own token looks like the marker of an entity."""
    return MARK.fullmatch(without_possessive(token)) is not None


def occurrences(tokens: Sequence[str], entities: Entities) -> list[tuple[int, int, int]]:
    """Occurrences of mentions: start and end (half-open) of their tokens and the entity's number, sorted.

    Case and possessives are ignored. No two overlap: longer mentions come first, then earlier places.
    """
    words = [without_possessive(token).lower() for token in tokens]
    free = [True] * len(words)
    places = []
    numbers = {mention: number for number, mentions in enumerate(entities) for mention in mentions}
    for mention in longest_first(numbers):
        parts = mention.split(" ")
        for start in range(len(words) - len(parts) + 1):
            end = start + len(parts)
            if words[start:end] == parts and all(free[start:end]):
                free[start:end] = [False] * len(parts)
                places.append((start, end, numbers[mention]))
    return sorted(places)


def merged(lemmas: Mapping[str, str]) -> Entities:
    """Entities of names; `lemmas` maps every name to its lemma.

    Longest first, each name joins the first listed one with the same lemma, or of which it is a part (whole words);
    otherwise it is a new entity. So "Moroccan" joins "the Moroccan Islamic Combat Group", as in the authors' code.
    Entities are numbered in that order (the authors leave gaps where a name joined another).
    """
    numbers: dict[str, int] = {}
    entities: Entities = []
    for name in longest_first(lemmas):
        same = (other for other in numbers if lemmas[name] == lemmas[other] or f" {name} " in f" {other} ")
        number = numbers[name] = next((numbers[other] for other in same), len(entities))
        if number == len(entities):
            entities.append([])
        entities[number].append(name)
    return entities


def longest_first(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: (len(name), name), reverse=True)


def without_possessive(token: str) -> str:
    return POSSESSIVE.sub("", token)


# --- entities of a target


@dataclass(frozen=True, slots=True)
class Named:
    """The names of a text: `names` with their lemmas, and the `lemmas` of its other words that differ from the word.

    All are in lower case; the words of a name are joined by blanks. Stop words have no lemma here.
    """

    names: dict[str, str]
    lemmas: dict[str, str]

    def known(self, names: Collection[str]) -> dict[str, str]:
        """The names, and each word whose lemma is one of them or of `names`, another text's."""
        words = {word: of for word, of in self.lemmas.items() if of in names or of in self.names}
        return words | self.names

    def without(self, never: re.Pattern[str]) -> "Named":
        """A copy without names that have a word in which the pattern occurs."""
        kept = {name: of for name, of in self.names.items() if not any(map(never.search, name.split(" ")))}
        return Named(kept, self.lemmas)


@dataclass(frozen=True)
class Finder:
    """A spaCy pipeline that reads our tokens, the types of entities that it returns, and its name and versions."""

    nlp: "Language"
    types: frozenset[str]
    facts: dict[str, Any]

    def read(self, records: Iterable[tuple[Record, Sequence[str]]]) -> Iterator[tuple[Record, Entities]]:
        """Every record with the entities of its target; a record is given with its target in its own case."""
        for doc, record in self.nlp.pipe(((self.doc(target), record) for record, target in records), as_tuples=True):
            yield record, merged(self.lemmas(doc, record.target))

    def names(self, texts: Iterable[Sequence[str]], never: Sequence[str] = ()) -> Iterator[Named]:
        """The names of every text, given as its sentences of blank-separated tokens in their own case.

        Words in which, in lower case, one of the patterns `never` occurs are no part of a name.
        """
        if never:
            pattern = re.compile("|".join(f"(?:{source})" for source in never))
            for named in self.names(_small(text, pattern) for text in texts):
                yield named.without(pattern)
            return
        for doc, text in self.nlp.pipe(((self.doc(text), text) for text in texts), as_tuples=True):
            lowered = [sentence.lower() for sentence in text]
            words = [without_possessive(token) for sentence in lowered for token in sentence.split(" ")]
            others = {
                word: of
                for word, token in zip(words, doc, strict=True)
                if not token.is_stop and (of := lemma(token)) != word
            }
            yield Named(self.lemmas(doc, lowered), others)

    def doc(self, target: Sequence[str]) -> "Doc":
        """A target's sentences of tokens, not tokenised again."""
        from spacy.tokens import Doc

        sentences = [sentence.split(" ") for sentence in target]
        return Doc(
            self.nlp.vocab,
            words=[without_possessive(token) for sentence in sentences for token in sentence],
            sent_starts=[position == 0 for sentence in sentences for position in range(len(sentence))],
        )

    def lemmas(self, doc: "Doc", target: Sequence[str]) -> dict[str, str]:
        """The target's names and their lemmas, with the words whose lemma is a name."""
        words = [without_possessive(token).lower() for sentence in target for token in sentence.split(" ")]
        lemmas: dict[str, str] = {}
        for entity in doc.ents:
            span = trimmed(entity)
            name = " ".join(words[span.start : span.end])
            ruled = entity.label_ in RULE_TYPES
            if entity.label_ in self.types and len(name) > 1 and not (ruled and excluded(span)):
                lemmas.setdefault(name, "usa" if name in USA else " ".join(map(lemma, span)))
        for word, token in zip(words, doc, strict=True):
            if lemma(token) in lemmas and not token.is_stop:
                lemmas.setdefault(word, lemmas[lemma(token)])
        return lemmas


def _small(text: Sequence[str], never: re.Pattern[str]) -> list[str]:
    """A text in which words are in small letters where the pattern occurs in their small letters."""
    return [
        " ".join(small if never.search(small := word.lower()) else word for word in sentence.split(" "))
        for sentence in text
    ]


def lemma(token: "Token") -> str:
    """The pipeline's lemma; where it has no lemmatiser, the word in lower case without the s of a plural."""
    if token.lemma_:
        return token.lemma_.lower()
    word = token.lower_
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def load(pipeline: str) -> Finder:
    """The rules, or the spaCy pipeline of that name or folder; PipelineError with the remedy."""
    if types := RULE_SETS.get(pipeline):
        import spacy

        return Finder(rules(types), types, {"name": pipeline, "spacy": spacy.__version__})
    remedy = (
        f"set the corpus's `entities` to an installed pipeline that recognises entities, or to {RULES!r} or {NAMES!r}"
    )
    nlp, facts = load_pipeline(pipeline, ("ner",), remedy)
    labels = nlp.pipe_labels.get("ner", [])
    if not TYPES.intersection(labels):
        raise PipelineError(
            f"the spaCy pipeline {pipeline!r} knows {', '.join(labels) or 'no type of entity'}, none of "
            f"{', '.join(sorted(TYPES))}: {remedy}"
        )
    return Finder(nlp, TYPES, facts)


# --- the rules, for texts about code; of them those for names


def rules(types: Collection[str] = RULE_TYPES) -> "Language":
    """English without any data package: an entity ruler for the names in `patterns`, of these types."""
    import spacy
    from spacy.pipeline import EntityRuler

    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("entity_ruler", name="ner")
    assert isinstance(ruler, EntityRuler)
    ruler.add_patterns([pattern for pattern in patterns() if pattern["label"] in types])
    return nlp


def patterns() -> Iterator[dict[str, Any]]:
    """Identifiers, capitals, dotted names, runs of capitalised words, quoted literals; the longest match counts.

    None crosses the end of a sentence. Literals are single words, or words joined by dashes, dots or slashes: tokens
    have no white space, so that opening and closing quotes look the same.
    """

    def pattern(label: str, *tokens: dict[str, Any]) -> dict[str, Any]:
        first, *rest = tokens
        return {"label": label, "pattern": [first, *({**token, "IS_SENT_START": False} for token in rest)]}

    yield pattern(IDENTIFIER, {"SHAPE": {"REGEX": f"^(?:{COINED.pattern})"}})

    dot: dict[str, Any] = {"ORTH": "."}
    part: dict[str, Any] = {"SHAPE": {"REGEX": "^_*[xX]"}}
    first = {**part, "LENGTH": {">=": 2}, "LOWER": {"NOT_IN": sorted(ABBREVIATIONS)}, "IS_STOP": False}  # not e . g .
    for parts in range(2, MOST_PARTS + 1):
        yield pattern(DOTTED, first, *[dot, part] * (parts - 1))

    name = {"SHAPE": {"REGEX": f"^{CAPITALISED}$"}, "ORTH": {"NOT_IN": [FORMULA]}}
    inside = {**name, "SHAPE": {"REGEX": f"^(?:{CAPITALISED}|[-–])$"}, "OP": "*"}
    yield pattern(NAME, name)
    yield pattern(NAME, name, inside, name)

    word: dict[str, Any] = {"SHAPE": {"REGEX": "[xX]"}}
    joint: dict[str, Any] = {"ORTH": {"IN": ["-", ".", "/"]}}
    for (left, right), joints in product(QUOTES, range(3)):
        yield pattern(LITERAL, {"ORTH": left}, word, *[joint, word] * joints, {"ORTH": right})


def trimmed(span: "Span") -> "Span":
    """The span without surrounding brackets and quotes, and without words capitalised only at a sentence's start."""
    label = span.label_  # which a slice does not keep
    while span and span[0].text in FRAME:
        span = span[1:]
    while span and span[-1].text in FRAME:
        span = span[:-1]
    if label == NAME:
        while span and (span[0].text in "-–" or only_begins(span[0])):
            span = span[1:]
    return span


def only_begins(token: "Token") -> bool:
    """Tell whether a word is capitalised only at starts of sentences of this text and is no identifier."""
    if not begins(token) or COINED.match(token.shape_):
        return False
    return all(begins(other) for other in token.doc if other.text == token.text)


def begins(token: "Token") -> bool:
    """Tell whether a sentence or the text after a mark inside one begins here; quotes and brackets do not count."""
    if token.is_sent_start:
        return True
    before = token.nbor(-1)
    if before.text == "." and not before.is_sent_start:
        word = before.nbor(-1)  # of an abbreviation: Mr . Smith, J . Smith
        return not (word.lower_ in ABBREVIATIONS or (word.is_alpha and len(word) == 1))
    return before.text in SENTENCE_MARKS or (not WORD.search(before.shape_) and begins(before))


def excluded(span: "Span") -> bool:
    """Tell whether the rules' match is no name: a formula, a title (Mr .), or an ordinary word (NOT, 'first').

    Summaries are read in lower case. None is a name in texts about code.
    """
    if len(span) > 1:
        return False
    token = span[0]
    title = token.lower_ in ABBREVIATIONS and token.doc[token.i + 1 : token.i + 2].text == "."
    return title or token.lower_ == FORMULA.lower() or (token.is_stop and token.text != "None")
