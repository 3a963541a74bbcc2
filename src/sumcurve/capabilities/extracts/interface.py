"""The best extracts of articles in Python: the results that `sumcurve oracle` writes for files."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sumcurve.capabilities.extracts import EXACT, SEARCHES, Metric, ScorerName
from sumcurve.capabilities.extracts.article import Article, OracleError, tokenized
from sumcurve.capabilities.extracts.certificates import Request, certificate
from sumcurve.corpora.tokens import sentences
from sumcurve.files.sheet import DataFrame
from sumcurve.machine.arguments import CommandError, require_whole
from sumcurve.machine.parameters import check_type, checked, plain
from sumcurve.sources.raw import excerpt
from sumcurve.tables.result import Result
from sumcurve.tables.table import Column, Table

Text = str | Sequence[str]
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
        articles: pairs of source and abstract, or mappings (rows of a data frame) with these keys and perhaps `id`; a
            text is a string, which is split into sentences, or a list of sentences; or the path of a file of them
        metric: of the extract
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
        by_place, where = _articles(articles)
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
    articles: str | Path | Iterable[tuple[Text, Text] | Mapping[str, Any]] | DataFrame,
) -> tuple[dict[str, Article], str]:
    """The articles by their places, and what they are called together."""
    if isinstance(articles, str | Path):
        from sumcurve.capabilities.extracts.command import articles_in

        return articles_in(Path(articles)), str(articles)
    rows = articles.to_dict("records") if isinstance(articles, DataFrame) else articles
    read = {f"article {number}": _article(number, row) for number, row in enumerate(rows, start=1)}
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


def _article(number: int, row: Any) -> Article:
    """The article of a pair or a mapping; `number` counts them from 1."""
    if isinstance(row, Mapping):
        if missing := [key for key in ("source", "abstract") if key not in row]:
            raise CommandError(f"article {number}: no {missing[0]!r}; it has {', '.join(map(str, row))}")
        name, texts = str(row.get("id", number)), (row["source"], row["abstract"])
    else:
        row = plain(row)
        if isinstance(row, str) or not isinstance(row, Sequence) or len(row) != 2:
            raise CommandError(f"article {number} is {excerpt(repr(row))}; give a pair of source and abstract")
        name, texts = str(number), tuple(row)
    for text, what in zip(texts, ("source", "abstract"), strict=True):
        check_type(f"article {number}: {what}", text, Text)
    return Article(name, *(sentences(text) if isinstance(text, str) else [*text] for text in texts))
