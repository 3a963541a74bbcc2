"""What finds the names in a text of a corpus's tokens: our rules, a spaCy pipeline, or a token classifier.

All three are asked in the same way (`Recogniser.read`) and give every name with its lemma. A token classifier is a
local folder of Hugging Face transformers with weights as safetensors; nothing is downloaded, no code of the folder is
run.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, tee
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sumcurve.corpora.entities import TYPES, EntityError, Finder, lemma, load, without_possessive
from sumcurve.store.records import Record

if TYPE_CHECKING:
    from spacy.tokens import Doc

# The paper's five types as token classifiers call them: OntoNotes' names, and CoNLL 2003's, whose LOC holds countries
# and cities beside other places, and whose MISC holds nationalities beside other names.
CLASSES = TYPES | {"PER", "LOC", "MISC"}
BATCH = 32  # sentences that are classified at a time
DOCUMENTS = 64  # whose sentences are gathered
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Named:
    """The names of a text: `names` with their lemmas, and the `lemmas` of its other words that are not their own.

    All are in lower case; the words of a name are joined by blanks. Stop words have no lemma here.
    """

    names: dict[str, str]
    lemmas: dict[str, str]

    def known(self, names: Collection[str]) -> dict[str, str]:
        """The names, and with them each word whose lemma is one of them or of `names`, another text's."""
        words = {word: of for word, of in self.lemmas.items() if of in names or of in self.names}
        return words | self.names

    def without(self, never: re.Pattern[str]) -> "Named":
        """The same without names that have a word in which the pattern occurs."""
        kept = {name: of for name, of in self.names.items() if not any(map(never.search, name.split(" ")))}
        return Named(kept, self.lemmas)


@dataclass(frozen=True)
class Recogniser:
    """`tag` finds the entities of spaCy documents of our tokens; `finder` says which of them are names."""

    finder: Finder
    tag: Callable[[Iterable["Doc"]], Iterator["Doc"]]

    @property
    def facts(self) -> dict[str, Any]:
        """What it is: its name, and versions."""
        return self.finder.facts

    def read(self, texts: Iterable[Sequence[str]], never: Sequence[str] = ()) -> Iterator[Named]:
        """The names of every text, given as its sentences of blank-separated tokens in their own case.

        Words in which, in lower case, one of the patterns `never` occurs are no part of a name.
        """
        if never:
            pattern = re.compile("|".join(f"(?:{source})" for source in never))
            for named in self.read(_small(text, pattern) for text in texts):
                yield named.without(pattern)
            return
        for_docs, for_words = tee(texts)
        for doc, text in zip(self.tag(map(self.finder.doc, for_docs)), for_words, strict=True):
            lowered = [sentence.lower() for sentence in text]
            words = [without_possessive(token) for sentence in lowered for token in sentence.split(" ")]
            others = {
                word: of
                for word, token in zip(words, doc, strict=True)
                if not token.is_stop and (of := lemma(token)) != word
            }
            yield Named(self.finder.lemmas(doc, Record("", [], lowered)), others)


def _small(text: Sequence[str], never: re.Pattern[str]) -> list[str]:
    """A text with the words in small letters in which the pattern occurs then."""
    return [
        " ".join(small if never.search(small := word.lower()) else word for word in sentence.split(" "))
        for sentence in text
    ]


def pipeline(name: str) -> Recogniser:
    """The rules ("rules"), or the spaCy pipeline of that name or path; EntityError with the remedy."""
    finder = load(name)
    return Recogniser(finder, finder.nlp.pipe)


def classifier(folder: Path, types: Collection[str] | None = None) -> Recogniser:
    """The token classifier of a folder, and which of its labels are `types` of names (None: `CLASSES`).

    Labels are its own, with or without B- and I- before them: a run of one type is a name, and B- begins another.
    Lemmas are words without the s of a plural. EntityError, with the remedy, for a folder that holds none.
    """
    import spacy
    from spacy.tokens import Span

    wanted = frozenset(types) if types is not None else CLASSES
    name, labels_of = _classifier(folder, wanted)
    nlp = spacy.blank("en")

    def tag(docs: Iterable["Doc"]) -> Iterator["Doc"]:
        for some in _some(docs, DOCUMENTS):
            sentences = [sentence for doc in some for sentence in doc.sents]
            labels = iter(labels_of([[token.text for token in sentence] for sentence in sentences]))
            for doc in some:
                doc.set_ents(
                    [
                        Span(doc, sentence.start + start, sentence.start + end, label=label)
                        for sentence in doc.sents
                        for start, end, label in spans(next(labels))
                    ]
                )
                yield doc

    facts = {"name": name, "spacy": spacy.__version__, "transformers": _version(), "types": sorted(wanted)}
    return Recogniser(Finder(nlp, wanted, facts), tag)


def spans(labels: Sequence[str]) -> list[tuple[int, int, str]]:
    """Start, end (half-open) and type of every run of one type, by IOB2 or IOB1; "O" is none."""
    runs: list[tuple[int, int, str]] = []
    for place, label in enumerate(labels):
        kind = bare(label)
        if label == "O":
            continue
        if runs and runs[-1][1:] == (place, kind) and not label.startswith("B-"):
            runs[-1] = (runs[-1][0], place + 1, kind)
        else:
            runs.append((place, place + 1, kind))
    return runs


def bare(label: str) -> str:
    """A label without the B- or I- before it."""
    return label[2:] if label.startswith(("B-", "I-")) else label


def _some(rows: Iterable[T], count: int) -> Iterator[list[T]]:
    """The rows, `count` at a time."""
    rest = iter(rows)
    while some := list(islice(rest, count)):
        yield some


def _version() -> str:
    import transformers

    return str(transformers.__version__)


def _classifier(folder: Path, types: Collection[str]) -> tuple[str, Callable[[list[list[str]]], list[list[str]]]]:
    """The name of its architecture, and what gives a label for every word of every sentence."""
    try:
        import torch
        import transformers
    except ImportError as error:
        raise EntityError(
            f"{folder}: a token classifier needs packages that are not installed: pip install 'sumcurve[pretrained]'"
        ) from error
    if not folder.is_dir():
        raise EntityError(f"{folder} is no folder of a token classifier: copy one there, or correct `recogniser.path`")
    if not list(folder.glob("*.safetensors")):
        raise EntityError(
            f"{folder} holds no *.safetensors: other weights are pickles, which can run code, and are not read; save "
            "the model with `save_pretrained` of transformers, which writes safetensors"
        )
    local: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    transformers.utils.logging.disable_progress_bar()
    try:
        network, loading = transformers.AutoModelForTokenClassification.from_pretrained(
            folder, use_safetensors=True, dtype=torch.float32, output_loading_info=True, **local
        )
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, add_prefix_space=True, **local)
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise EntityError(
            f"{folder}: transformers cannot read it as a token classifier ({error}); save one with `save_pretrained`"
        ) from error
    if loading["missing_keys"]:
        missing = ", ".join(sorted(loading["missing_keys"])[:3])
        raise EntityError(
            f"{folder} is no token classifier that was trained: it has no weights {missing}; give one that was"
        )
    if not tokenizer.is_fast:
        raise EntityError(f"{folder}: its tokenizer does not say whose subwords are whose; save it with tokenizer.json")
    labels = {int(number): str(label) for number, label in network.config.id2label.items()}
    there = {bare(label) for label in labels.values()}
    if not there & set(types):
        raise EntityError(
            f"{folder} knows {', '.join(sorted(there))}, none of {', '.join(sorted(types))}: name those of its labels "
            "that are names under `recogniser.types`, or choose another"
        )
    positions = getattr(network.config, "max_position_embeddings", None) or tokenizer.model_max_length
    most = min(positions - 2, tokenizer.model_max_length)  # RoBERTa's begin at 2
    network.eval()

    def encoded(sentences: Sequence[Sequence[str]]) -> Any:
        return tokenizer(
            [list(words) for words in sentences],
            is_split_into_words=True,
            truncation=True,
            max_length=most,
            padding=True,
            return_tensors="pt",
        )

    def pieces(words: list[str]) -> list[list[str]]:
        """The words in as few halves of halves as the model has positions for."""
        if len(words) == 1 or len(tokenizer(words, is_split_into_words=True, verbose=False)["input_ids"]) <= most:
            return [words]
        half = len(words) // 2
        return pieces(words[:half]) + pieces(words[half:])

    def labels_of(sentences: list[list[str]]) -> list[list[str]]:
        parts = [(place, piece) for place, words in enumerate(sentences) for piece in pieces(words)]
        rows: list[list[str]] = [[] for _ in sentences]
        for some in _some(parts, BATCH):
            read = encoded([piece for _, piece in some])
            with torch.inference_mode():
                chosen = network(**read).logits.argmax(-1).tolist()
            for row, (place, piece) in enumerate(some):
                own = ["O"] * len(piece)  # of a word without a subword
                for position, word in reversed(list(enumerate(read.word_ids(row)))):  # the first subword decides
                    if word is not None:
                        own[word] = labels[chosen[row][position]]
                rows[place] += own
        return rows

    return str(network.config.model_type), labels_of
