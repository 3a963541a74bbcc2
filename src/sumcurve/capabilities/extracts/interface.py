"""The best extracts of articles in Python: the results that `sumcurve oracle` writes for files."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sumcurve.capabilities.extracts import EXACT, SEARCHES, Metric, ScorerName
from sumcurve.capabilities.extracts.article import Article, OracleError, tokenized
from sumcurve.capabilities.extracts.certificates import Request, certificate
from sumcurve.corpora.tokenizers import tokenizer
from sumcurve.files.fields import ID, MORE_SOURCES, MORE_TARGETS, REFERENCES, SOURCE, TARGET, called
from sumcurve.files.sheet import ITEM, DataFrame
from sumcurve.machine.arguments import CommandError, require_whole
from sumcurve.machine.parameters import checked, plain
from sumcurve.machine.spelling import there_are
from sumcurve.rouge_engine.texts import MARK, parted
from sumcurve.rouge_engine.texts import sentences as at_marks
from sumcurve.rouge_engine.tokens import tokenize
from sumcurve.sources.raw import excerpt
from sumcurve.tables.result import Result
from sumcurve.tables.table import Column, Table

Text = str | Sequence[str]
KEYS = {  # of an article
    "id": (*ID, "article_id", "instance_id", *ITEM),
    "source": ("sentences", *SOURCE, *MORE_SOURCES),
    "abstract": ("abstract", *TARGET, *MORE_TARGETS, *REFERENCES),
}
INNER_END = re.compile(r"[。！？।॥۔؟።။៕](?=.*\w)", re.DOTALL)
LONGEST = 200  # words of a sentence of running text, or characters of Chinese
SOME = {  # options that some algorithms have
    "seed": tuple(name for name in SEARCHES if name != "greedy"),  # greedy choice draws nothing
    "seconds": (EXACT,),
    "nodes": (EXACT,),
}


@dataclass(frozen=True, repr=False)
class OracleResult(Result):
    """Result of `oracle`: `certificates` as `sumcurve oracle` writes them, and each article's extract."""

    certificates: tuple[dict[str, Any], ...] = ()
    extracts: tuple[list[str], ...] = ()


@checked
def oracle(
    articles: str | Path | Iterable[tuple[Text, Text] | Mapping[str, Any]] | DataFrame,
    metric: Metric = "rouge1",
    *,
    item: str | None = None,
    source_column: str | None = None,
    abstract_column: str | None = None,
    algorithm: str = EXACT,
    scorer: ScorerName = "rouge-score",
    seconds: float | None = Request.seconds,
    nodes: int | None = None,
    seed: int | None = None,
) -> OracleResult:
    """The optimal extract of each article, by F1 of ROUGE-1 or -2 against its abstract: proven optimal unless marked.

    Other algorithms than the proof are the searches of Akhmetov et al. (2022), and greedy choice with local search
    (f1-greedy).

    Args:
        articles: pairs of source and abstract, or mappings (rows of a data frame) with these keys, or other usual ones,
            and perhaps `id`, or the path of a file of them; a text is a string, which is split into sentences, or a
            list of sentences
        metric: of the extract
        item: key of ids (default: id, article_id, guid, instance_id or item; else rows are numbered)
        source_column: key of articles (default: sentences, source, text, article, document, src and others)
        abstract_column: key of abstracts (default: abstract, target, summary, highlights, tgt and others)
        algorithm: the proof, or a search
        scorer: whose words are counted
        seconds: budget of one proof, or none: no clock decides
        nodes: budget of one proof (default: none)
        seed: of the searches that draw (default: 1)

    Raises:
        CommandError: for an invalid article, and for options that the algorithm does not have
    """
    require_whole(0, nodes=nodes, seed=seed)
    budget = {name: value for name, value in (("nodes", nodes), ("seed", seed)) if value is not None}
    request = request_of(
        metric, scorer, algorithm, budget | ({"seconds": seconds} if seconds != Request.seconds else {})
    )
    try:
        keys = {"item": item, "source_column": source_column, "abstract_column": abstract_column}
        by_place, where = _articles(articles, keys)
        read = [*by_place.values()]
        warnings, _ = empty_texts(where, by_place, scorer)
        best = [certificate(article, request) for article in read]
    except OracleError as error:
        raise CommandError(str(error)) from error
    extracts = [
        [article.sentences[place] for place in row["sentences"]] for article, row in zip(read, best, strict=True)
    ]
    cells = [
        {
            **{name: row[name] for name in ("id", "status")},
            "value": 100 * row["value"],
            "bound": 100 * row["bound"],
            "sentences": ", ".join(str(place) for place in row["sentences"]),
            "extract": " ".join(extract),
        }
        for row, extract in zip(best, extracts, strict=True)
    ]
    columns = [
        Column("id", "id"),
        Column("status", "status"),
        *(Column(name, name, "number") for name in ("value", "bound")),
        Column("sentences", "sentences"),
        Column("extract", "extract"),
    ]
    proven = sum(row["status"] == "proven" for row in best)
    mean = 100 * sum(row["value"] for row in best) / len(best)
    sentence = f"Mean {metric} F1 of the extracts: {mean:.2f} over {len(best):,} articles, {proven:,} proven optimal."
    table = Table("extracts", "Extracts; sentences are counted from 0", columns, cells)
    return OracleResult([*warnings, sentence], [table], tuple(best), tuple(extracts))


def _articles(
    articles: str | Path | Iterable[tuple[Text, Text] | Mapping[str, Any]] | DataFrame, keys: Mapping[str, str | None]
) -> tuple[dict[str, Article], str]:
    """The articles by their places, and what they are called together."""
    if isinstance(articles, str | Path):
        from sumcurve.capabilities.extracts.command import articles_in

        return articles_in(Path(articles), None, keys), str(articles)
    rows = articles.to_dict("records") if isinstance(articles, DataFrame) else articles
    read = {f"article {number}": _article(number, row, keys) for number, row in enumerate(rows, start=1)}
    if not read:
        raise CommandError("no article; give a list of pairs of source and abstract")
    return read, "articles"


def empty_texts(where: str, articles: Mapping[str, Article], scorer: str) -> tuple[list[str], dict[str, int]]:
    """Warnings of abstracts and of sources without a word, and how many there are; `articles` are by their places.

    CommandError if all abstracts or all sources are empty; it says `where` they stand.
    """
    count, warnings = len(articles), []
    empty: dict[str, list[str]] = {"abstract": [], "source": []}  # places
    for place, one in articles.items():
        words = tokenized(one, scorer)
        for text, ids in (("abstract", words.abstract), ("source", words.ids)):
            if not len(ids):
                empty[text].append(place)
    for text, places in empty.items():
        if len(places) == count:
            raise CommandError(
                f"{where}: none of its {count:,} articles has a word in its {text}, by scorer {scorer}; add the "
                f"{text}s, or take --scorer unicode or characters for other scripts"
            )
        if places:
            warnings.append(
                f"WARNING: {len(places):,} of {count:,} articles have an empty {text} (first: {places[0]}); their "
                f"F1 is 0 and stays in the mean; add the {text}s, or remove the articles"
            )
    return warnings, {text: len(places) for text, places in empty.items()}


def request_of(metric: str, scorer: str, algorithm: str, options: Mapping[str, Any]) -> Request:
    """The request with the options that were given; CommandError for options that the algorithm does not have."""
    for name in options:
        if algorithm not in SOME[name]:
            raise CommandError(
                f"--{name}: it changes nothing of --algorithm {algorithm}; leave it out, or take "
                f"{' or '.join(SOME[name])}"
            )
    try:
        return Request(metric, scorer, algorithm, **options)
    except OracleError as error:
        raise CommandError(str(error)) from error


def article_of(
    row: Mapping[str, Any],
    place: str,
    number: int,
    item: str | None = None,
    source_column: str | None = None,
    abstract_column: str | None = None,
) -> Article:
    """The article of a mapping, by its usual keys or the named ones; without an id its name is its number.

    CommandError, with the place, for a row that is none, and for a text of one sentence that plainly has more.
    """
    key = _key(row, place, "id", item, "--item")
    name = number if key is None else plain(row[key])
    if isinstance(name, int) and not isinstance(name, bool):
        name = str(name)
    if not isinstance(name, str) or not name.strip():
        raise CommandError(f"{place}: {key} is {name!r}; give a string that is not empty")
    texts = []
    for role, wanted in (("source", source_column), ("abstract", abstract_column)):
        key = _key(row, place, role, wanted, f"--{role}-column")
        if key is None:
            raise CommandError(
                f"{place}: none of the keys {', '.join(KEYS[role][:8])}; there are: {', '.join(map(str, row))}; name "
                f"the {role} (--{role}-column)"
            )
        texts.append(_sentences(row[key], f"{place}: {key}"))
        if role == "source" and isinstance(row[key], str) and len(texts[0]) == 1:
            _check_one_sentence(texts[0][0], f"{place}: {key}")
    return Article(name, *texts)


def _key(row: Mapping[str, Any], place: str, role: str, wanted: str | None, option: str) -> str | None:
    if wanted is not None:
        if wanted not in row:
            raise CommandError(f"{place}: no key for {option} {wanted}; {there_are(wanted, map(str, row))}")
        return wanted
    return called(row, KEYS[role])


def _sentences(text: Any, what: str) -> list[str]:
    """The sentences of a string by its script or its marks, or of a list of sentences or of lists of tokens."""
    listed = [text] if isinstance(text, str) else plain(text)
    if not isinstance(listed, list | tuple):
        kind = type(text).__name__
        raise CommandError(f"{what} is a {kind}; give a string or a list of strings (sentences)")
    if listed and all(isinstance(one, list) and all(isinstance(token, str) for token in one) for one in listed):
        listed = [" ".join(one) for one in listed]
    for number, one in enumerate(listed, start=1):
        if not isinstance(one, str):
            where = what.replace(": ", f": element {number} of ", 1)
            shown = excerpt(json.dumps(one, default=str))
            raise CommandError(f"{where} is {shown}; give a list of strings (sentences)")
    if any("\0" in one for one in listed):
        raise CommandError(f"{what} holds a NUL character, which would part words; remove it")
    if not isinstance(text, str):
        return [*parted(listed)]
    return at_marks(text) if MARK.search(text) else sentences_of(text)


def sentences_of(text: str) -> list[str]:
    """The sentences of a string, as its script ends them; of one without ends its lines."""
    found = tokenizer("unicode").sentences(text)
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    return lines if len(found) == 1 < len(lines) else found


def _check_one_sentence(sentence: str, what: str) -> None:
    """Raise CommandError for a sentence that has ends inside, or is longer than any."""
    ends, words = len(INNER_END.findall(sentence)), len(tokenize(sentence, "characters"))
    if ends or words > LONGEST or len(sentence) > 8 * LONGEST:
        raise CommandError(
            f"{what} stays one sentence of {words:,} words"
            + (f", with {ends:,} signs inside that end one" if ends else "")
            + "; give a list of sentences, a line for each, or write <q> between them"
        )


def _article(number: int, row: Any, keys: Mapping[str, str | None]) -> Article:
    """The article of a pair or a mapping; `number` counts them from 1."""
    if not isinstance(row, Mapping):
        row = plain(row)
        if isinstance(row, str) or not isinstance(row, Sequence) or len(row) != 2:
            raise CommandError(f"article {number} is {excerpt(repr(row))}; give a pair of source and abstract")
        row, keys = dict(zip(("source", "abstract"), row, strict=True)), {}
    return article_of(row, f"article {number}", number, **keys)
