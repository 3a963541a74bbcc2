"""Certificates: the best extract found for an article and a bound on any other, in a form that others can check.

A certificate is a JSON object. `sentences` are indices into the article's sentences, from 0, in the order in which they
are scored; `value` is `numerator` / `denominator`, an F1 between 0 and 1; no extract is above `bound`, which is
`bound_numerator` / `bound_denominator`, and `gap` is `bound` - `value`. Status "proven": the bound is the value.
"bounded": the budget ended first. "heuristic": a search without a proof, whose bound follows only from the n-grams in
the article.
"""

import hashlib
import json
import math
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, NonNegativeFloat, NonNegativeInt, ValidationError, model_validator

from sumcurve.capabilities.extracts import ALGORITHMS, EXACT, F1_GREEDY, METRICS, SCORERS, SEARCHES, bigrams, unigrams
from sumcurve.capabilities.extracts.article import MODES, Article, OracleError, instance, instances
from sumcurve.capabilities.extracts.evaluate import Found
from sumcurve.capabilities.extracts.improve import f1_greedy
from sumcurve.capabilities.extracts.optimum import Optimum, reach
from sumcurve.capabilities.extracts.searches import search
from sumcurve.machine.version import VERSION
from sumcurve.rouge_engine.tokens import tokenize

ORDERS = {metric: order for order, metric in enumerate(METRICS, start=1)}
SOLVERS = ("branch-and-bound", "milp", "trivial")
REPROOF_SECONDS = 60.0


@dataclass(frozen=True)
class Request:
    """Task for an article. `seed` is for the searches that draw, `seconds` and `nodes` are for proofs."""

    metric: str = "rouge1"
    scorer: str = "rouge-score"
    algorithm: str = EXACT
    seed: int = 1
    seconds: float | None = 15.0
    nodes: int | None = None

    def __post_init__(self) -> None:
        for name, known in (("metric", METRICS), ("scorer", SCORERS), ("algorithm", tuple(ALGORITHMS))):
            if getattr(self, name) not in known:
                raise OracleError(f"unknown {name} {getattr(self, name)!r}; take one of {', '.join(known)}")
        if self.seconds is not None and not self.seconds >= 0:
            raise OracleError(f"seconds {self.seconds}: a budget is 0 or more")
        if self.nodes is not None and self.nodes < 0:
            raise OracleError(f"nodes {self.nodes}: a budget is 0 or more")

    @property
    def fields(self) -> dict[str, Any]:
        """The part of a certificate that holds the request."""
        draws, exact = self.algorithm in SEARCHES and self.algorithm != "greedy", self.algorithm == EXACT
        return {
            "metric": self.metric,
            "scorer": self.scorer,
            "algorithm": self.algorithm,
            "seed": self.seed if draws else None,
            "budget": {"seconds": self.seconds, "nodes": self.nodes} if exact else {},
        }


class Certificate(BaseModel):
    """The fields of a certificate, in their order, and the conditions on them that hold for any article."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    id: str
    sha256: str
    metric: str
    scorer: str
    algorithm: str
    seed: int | None
    status: Literal["proven", "bounded", "heuristic"]
    value: float
    numerator: NonNegativeInt
    denominator: NonNegativeInt
    bound: float
    bound_numerator: NonNegativeInt
    bound_denominator: NonNegativeInt
    gap: float
    nodes: NonNegativeInt
    solver: str
    sentences: list[NonNegativeInt]
    seconds: NonNegativeFloat
    budget: dict[str, int | float | None]
    version: str
    digest: str

    @property
    def request(self) -> Request:
        """Request that the certificate answers. OracleError for an invalid one."""
        nodes = self.budget.get("nodes")
        return Request(
            self.metric,
            self.scorer,
            self.algorithm,
            self.seed or 0,
            self.budget.get("seconds"),
            None if nodes is None else int(nodes),
        )

    @property
    def f1(self) -> Fraction:
        return _fraction(self.numerator, self.denominator)

    @property
    def limit(self) -> Fraction:
        """The bound."""
        return _fraction(self.bound_numerator, self.bound_denominator)

    @model_validator(mode="after")
    def consistent(self) -> "Certificate":
        """Check every field that is determined by others."""
        exact = self.algorithm == EXACT
        rules = {
            "algorithm, seed and budget do not go together": all(
                getattr(self, name) == value for name, value in self.request.fields.items()
            ),
            f"unknown solver {self.solver!r}": self.solver in (SOLVERS if exact else (self.algorithm,)),
            f"status {self.status!r} of {self.algorithm}": exact == (self.status != "heuristic"),
            f"sentences {self.sentences} are not in document order": all(
                left < right for left, right in pairwise(self.sentences)
            ),
            f"value {self.value} is not {self.numerator} / {self.denominator}": self.value
            == _ratio(self.numerator, self.denominator),
            f"bound {self.bound} is not {self.bound_numerator} / {self.bound_denominator}": self.bound
            == _ratio(self.bound_numerator, self.bound_denominator),
            f"gap {self.gap} is not bound - value": self.gap == self.bound - self.value,
            f"bound {self.bound} is above 1": self.limit <= 1,
            f"value {self.value} is above the bound {self.bound}": self.f1 <= self.limit,
            "proven, but value and bound differ": self.status != "proven" or self.f1 == self.limit,
            "bounded, but value and bound are the same: that is proven": self.status != "bounded"
            or self.f1 != self.limit,
            "the digest is not that of the other fields: one of them was changed": self.digest
            == digest(self.model_dump()),
        }
        if broken := [problem for problem, holds in rules.items() if not holds]:
            raise ValueError("; ".join(broken))
        return self


def certificate(article: Article, request: Request, clock: Callable[[], float] = time.perf_counter) -> dict[str, Any]:
    """The article's certificate, computed anew."""
    begin = clock()
    outcome = _find(article, request)
    row: dict[str, Any] = {"id": article.id, "sha256": text_sha256(article), **request.fields}
    row |= {"numerator": outcome.numerator, "denominator": outcome.denominator, "sentences": [*outcome.sentences]}
    if isinstance(outcome, Optimum):
        row |= {"status": outcome.status, "nodes": outcome.nodes, "solver": outcome.solver}
        row |= {"bound_numerator": outcome.bound_numerator, "bound_denominator": outcome.bound_denominator}
    else:
        top, bottom = reach(instance(article, request.scorer, ORDERS[request.metric]))
        row |= {"status": "heuristic", "nodes": outcome.iterations, "solver": request.algorithm}
        row |= {"bound_numerator": top, "bound_denominator": bottom}
    row["value"] = _ratio(row["numerator"], row["denominator"])
    row["bound"] = _ratio(row["bound_numerator"], row["bound_denominator"])
    row["gap"] = row["bound"] - row["value"]
    row["version"] = VERSION
    row["seconds"] = round(clock() - begin, 6)
    row["digest"] = digest(row)
    return {name: row[name] for name in Certificate.model_fields}


def warm_up(request: Request) -> None:
    """Compile the request's functions, so that the compiler's time is not taken from the first article's budget."""
    words = [f"w{(7 * place * place + place) % 13}" for place in range(120)]
    sentences = [" ".join(words[place : place + 5]) for place in range(0, 110, 4)]
    small = Article("", sentences, [" ".join(words[place : place + 7]) for place in range(3, 60, 19)])
    certificate(small, replace(request, seconds=None, nodes=20))


def _find(article: Article, request: Request) -> Optimum | Found:
    order = ORDERS[request.metric]
    if request.algorithm in SEARCHES:
        both = instances(article, request.scorer)
        return search(both, request.algorithm, seed=request.seed, order=order)
    counted = instance(article, request.scorer, order)
    if request.algorithm == F1_GREEDY:
        return f1_greedy(counted)
    budget: dict[str, Any] = {"seconds": request.seconds}
    if request.nodes is not None:
        budget["nodes"] = request.nodes
    prove = unigrams.optimum if order == 1 else bigrams.optimum
    return prove(counted, f1_greedy(counted).sentences, **budget)


def text_sha256(article: Article) -> str:
    """Digest of the article's sentences and its abstract's, as a JSON array of two arrays."""
    text = json.dumps([article.sentences, article.abstract], ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def digest(certificate: Mapping[str, Any]) -> str:
    """sha256 over all other fields."""
    rest = {name: value for name, value in certificate.items() if name != "digest"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


def _ratio(numerator: int, denominator: int) -> float:
    return numerator / denominator if denominator else 0.0


# Verification. Nothing below counts with the code that found the extracts, but for a second proof.


@dataclass
class Report:
    """Result of `verify`."""

    certificates: int = 0
    proven: int = 0  # certificates with that status
    reproven: int = 0  # found again by the other solver, or by the same search and seed
    open: list[str] = field(default_factory=list)  # ids whose second proof did not end in time
    problems: list[str] = field(default_factory=list)  # each names an article and an error


def verify(
    certificates: Iterable[Mapping[str, Any]],
    articles: Iterable[Article],
    share: float = 0.01,
    seed: int = 1,
    seconds: float | None = REPROOF_SECONDS,
) -> Report:
    """Check every certificate against its article, and compute a random share of them again.

    Every value is counted again in plain Python, for the scorers of rouge-score by that package as well. With a share
    above 0 at least one is computed again: a proof from scratch, for ROUGE-1 by the other solver, for ROUGE-2 by HiGHS,
    for at most so many seconds; the result of a search by the same search.
    """
    if not 0 <= share <= 1:
        raise OracleError(f"share {share}: a number from 0 to 1")
    report = Report()
    rows: dict[str, Certificate] = {}
    for number, row in enumerate(certificates, start=1):
        report.certificates += 1
        try:
            told = Certificate.model_validate(row)
        except ValidationError as error:
            report.problems.append(f"certificate {number}: {_listed(error)}")
            continue
        if told.id in rows:
            report.problems.append(f"certificate {number}: a second one for article {told.id}")
        else:
            rows[told.id] = told
    ids = sorted(rows)
    chosen = set(random.Random(seed).sample(ids, math.ceil(share * len(ids))))
    seen = set()
    for article in articles:
        if article.id in seen:
            report.problems.append(f"article {article.id}: stands twice among the articles")
            continue
        seen.add(article.id)
        one = rows.get(article.id)
        if one is None:
            report.problems.append(f"article {article.id}: has no certificate, or a broken one")
            continue
        report.proven += one.status == "proven"
        problems = _problems(one, article)
        if not problems and article.id in chosen:
            problems, again = _found_again(one, article, seconds)
            report.reproven += again
            if not again and not problems:
                report.open.append(article.id)
        report.problems += [f"article {article.id}: {problem}" for problem in problems]
    missing = [name for name in ids if name not in seen]
    report.problems += [f"article {name}: has a certificate, but is not among the articles" for name in missing]
    return report


def _listed(error: ValidationError) -> str:
    """Errors of a certificate in a line."""
    told = [(".".join(map(str, one["loc"])), one["msg"].removeprefix("Value error, ")) for one in error.errors()]
    return "; ".join(f"{name}: {why}" if name else why for name, why in told)


def _problems(row: Certificate, article: Article) -> list[str]:
    """All disagreements of a certificate with its article, without a new search."""
    if not all(index < len(article.sentences) for index in row.sentences):
        return [f"sentences {row.sentences}, of an article of {len(article.sentences)}"]
    problems: list[str] = []
    if row.sha256 != text_sha256(article):
        problems.append("the text is another one than was scored (sha256)")
    order = ORDERS[row.metric]
    chosen = [article.sentences[index] for index in row.sentences]
    numerator, denominator = plain_score(chosen, article.abstract, row.scorer, order)
    if (row.numerator, row.denominator) != (numerator, denominator):
        problems.append(f"F1 is {numerator} / {denominator}, not {row.numerator} / {row.denominator}")
    if row.scorer.startswith("rouge-score"):
        theirs = _rouge_score(row.scorer).score(" ".join(article.abstract), " ".join(chosen))[row.metric].fmeasure
        if abs(theirs - row.value) >= 1e-12:
            problems.append(f"value {row.value}, but rouge-score says {theirs}")
    if row.status == "heuristic":
        top, bottom = reach(instance(article, row.scorer, order))
        if (row.bound_numerator, row.bound_denominator) != (top, bottom):
            problems.append(f"bound {row.bound_numerator} / {row.bound_denominator} is not {top} / {bottom}")
    return problems


def _found_again(row: Certificate, article: Article, seconds: float | None) -> tuple[list[str], bool]:
    """Disagreements of a second search with the certificate, and whether it reached the same end."""
    order = ORDERS[row.metric]
    if row.algorithm != EXACT:
        again = _find(article, row.request)
        same = [*again.sentences] == row.sentences
        return ([] if same else [f"the same search finds sentences {[*again.sentences]}, not {row.sentences}"]), same
    counted = instance(article, row.scorer, order)
    if order == 2:
        second = bigrams.optimum(counted, seconds=seconds)
    elif row.solver == "milp":
        second = unigrams.optimum(counted, seconds=seconds)
    else:
        second = unigrams.optimum_by_milp(counted, seconds=seconds)
    best = _fraction(second.numerator, second.denominator)
    limit = _fraction(second.bound_numerator, second.bound_denominator)
    problems = []
    if best > row.limit:
        problems.append(f"sentences {[*second.sentences]} have an F1 of {float(best)}, above the bound {row.bound}")
    if row.f1 > limit:
        problems.append(f"the second proof says that no extract is above {float(limit)}, but value is {row.value}")
    return problems, not problems and second.status == "proven"


def _fraction(numerator: int, denominator: int) -> Fraction:
    return Fraction(numerator, denominator) if denominator else Fraction(0)


def plain_score(chosen: list[str], abstract: list[str], scorer: str, order: int) -> tuple[int, int]:
    """(numerator, denominator) of the F1 of these sentences in this order, counted in plain Python."""
    ours, theirs = (
        Counter(zip(*(words[start:] for start in range(order)), strict=False))
        for words in (plain_words(chosen, scorer), plain_words(abstract, scorer))
    )
    return 2 * (ours & theirs).total(), ours.total() + theirs.total()


def plain_words(sentences: list[str], scorer: str) -> list[str]:
    """All words of the sentences by the scorer's tokenizer.

    For the scorers that no other installed package has, the words are those of our ROUGE engine.
    """
    if scorer.startswith("rouge-score"):
        from rouge_score.tokenize import tokenize as theirs

        stemmer = _porter() if scorer == "rouge-score-stem" else None
        return [word for sentence in sentences for word in theirs(sentence, stemmer)]
    mode, stem = MODES[scorer]
    return [word for sentence in sentences for word in tokenize(sentence, mode, stem)]


@cache
def _rouge_score(scorer: str) -> Any:
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer(list(ORDERS), use_stemmer=scorer == "rouge-score-stem")


@cache
def _porter() -> Any:
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer()
