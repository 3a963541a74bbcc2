"""Certificates: what was found for one article and how good any other extract can be, in a form that others can check.

A certificate is a JSON object. `sentences` are indices into the article's sentences, from 0, in the order in which they
are scored; `value` is `numerator` / `denominator`, an F1 between 0 and 1; no extract is above `bound`, which is
`bound_numerator` / `bound_denominator`, and `gap` is `bound` - `value`. Status "proven": the bound is the value.
"bounded": the budget ended first. "heuristic": a search without a proof, whose bound says no more than which n-grams
the article has at all.
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
from typing import Any

import sumcurve
from sumcurve.capabilities.extracts import METRICS, SCORERS, bigram_check, bigrams, unigrams
from sumcurve.capabilities.extracts.article import MODES, Article, OracleError, instance, instances
from sumcurve.capabilities.extracts.evaluate import Found
from sumcurve.capabilities.extracts.improve import f1_greedy
from sumcurve.capabilities.extracts.optimum import Optimum, reach
from sumcurve.capabilities.extracts.searches import Variant, search
from sumcurve.rouge_engine.scorer import tokenize

ORDERS = {metric: order for order, metric in enumerate(METRICS, start=1)}
EXACT = "exact"
F1_GREEDY = "f1-greedy"
SEARCHES = {
    "greedy": "Greedy",
    "vns": "VNS",
    "vns-greedy": "VNS_Greedy",
    "genetic": "Genetic",
    "genetic-greedy": "Genetic_Greedy",
}
ALGORITHMS = (EXACT, F1_GREEDY, *SEARCHES)
VARIANTS = ("paper", "code")
SOLVERS = ("branch-and-bound", "milp", "trivial")
REPROOF_SECONDS = 60.0

FIELDS: dict[str, tuple[type, ...]] = {
    "id": (str,),
    "sha256": (str,),
    "metric": (str,),
    "scorer": (str,),
    "algorithm": (str,),
    "variant": (str, type(None)),
    "seed": (int, type(None)),
    "status": (str,),
    "value": (float,),
    "numerator": (int,),
    "denominator": (int,),
    "bound": (float,),
    "bound_numerator": (int,),
    "bound_denominator": (int,),
    "gap": (float,),
    "nodes": (int,),
    "solver": (str,),
    "sentences": (list,),
    "seconds": (float,),
    "budget": (dict,),
    "version": (str,),
    "digest": (str,),
}


@dataclass(frozen=True)
class Request:
    """What to find for an article. `variant` and `seed` are for the five searches, `seconds` and `nodes` for proofs."""

    metric: str = "rouge1"
    scorer: str = "rouge-score"
    algorithm: str = EXACT
    variant: Variant = "paper"
    seed: int = 1
    seconds: float | None = 15.0
    nodes: int | None = None

    def __post_init__(self) -> None:
        for name, known in (
            ("metric", tuple(ORDERS)),
            ("scorer", SCORERS),
            ("algorithm", ALGORITHMS),
            ("variant", VARIANTS),
        ):
            if getattr(self, name) not in known:
                raise OracleError(f"unknown {name} {getattr(self, name)!r}; take one of {', '.join(known)}")
        if self.algorithm == "greedy" and self.variant == "code":
            raise OracleError("the authors' code of Greedy is not published; take variant paper")
        if self.seconds is not None and not self.seconds >= 0:
            raise OracleError(f"seconds {self.seconds}: a budget is 0 or more")
        if self.nodes is not None and self.nodes < 0:
            raise OracleError(f"nodes {self.nodes}: a budget is 0 or more")

    @property
    def fields(self) -> dict[str, Any]:
        """The part of a certificate that says what was asked."""
        searched, exact = self.algorithm in SEARCHES, self.algorithm == EXACT
        return {
            "metric": self.metric,
            "scorer": self.scorer,
            "algorithm": self.algorithm,
            "variant": self.variant if searched else None,
            "seed": self.seed if searched and self.algorithm != "greedy" else None,
            "budget": {"seconds": self.seconds, "nodes": self.nodes} if exact else {},
        }


def certificate(article: Article, request: Request, clock: Callable[[], float] = time.perf_counter) -> dict[str, Any]:
    """The article's certificate, made anew."""
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
    row["version"] = sumcurve.__version__
    row["seconds"] = round(clock() - begin, 6)
    row["digest"] = digest(row)
    return {name: row[name] for name in FIELDS}


def warm_up(request: Request) -> None:
    """Compile what the request needs, so that the compiler's time is not taken from the first article's budget."""
    words = [f"w{(7 * place * place + place) % 13}" for place in range(120)]
    sentences = [" ".join(words[place : place + 5]) for place in range(0, 110, 4)]
    small = Article("", sentences, [" ".join(words[place : place + 7]) for place in range(3, 60, 19)])
    certificate(small, replace(request, seconds=None, nodes=20))


def _find(article: Article, request: Request) -> Optimum | Found:
    order = ORDERS[request.metric]
    if request.algorithm in SEARCHES:
        both = instances(article, request.scorer)
        return search(both, SEARCHES[request.algorithm], request.variant, seed=request.seed, order=order)
    counted = instance(article, request.scorer, order)
    if request.algorithm == F1_GREEDY:
        return f1_greedy(counted)
    budget: dict[str, Any] = {"seconds": request.seconds}
    if request.nodes is not None:
        budget["nodes"] = request.nodes
    prove = unigrams.optimum if order == 1 else bigrams.optimum
    return prove(counted, f1_greedy(counted).sentences, **budget)


def text_sha256(article: Article) -> str:
    """Of the article's sentences and its abstract's, as a JSON array of two arrays."""
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
    """What `verify` found."""

    certificates: int = 0
    proven: int = 0  # certificates that say so
    reproven: int = 0  # found again by the other solver, or by the same search and seed
    open: list[str] = field(default_factory=list)  # ids whose second proof did not end in time
    problems: list[str] = field(default_factory=list)  # each names an article and what is wrong


def verify(
    certificates: Iterable[Mapping[str, Any]],
    articles: Iterable[Article],
    share: float = 0.01,
    seed: int = 1,
    seconds: float | None = REPROOF_SECONDS,
) -> Report:
    """Check every certificate against its article, and find a random share of them anew.

    Every value is counted again in plain Python, for the scorers of rouge-score by that package as well. At least one
    of a share above 0 is found anew: a proof from scratch, by the other solver (ROUGE-1) or by other programs
    (ROUGE-2), for at most so many seconds; the result of a search by the same search.
    """
    if not 0 <= share <= 1:
        raise OracleError(f"share {share}: a number from 0 to 1")
    report = Report()
    rows: dict[str, Mapping[str, Any]] = {}
    for number, row in enumerate(certificates, start=1):
        report.certificates += 1
        problem = _malformed(row)
        if problem:
            report.problems.append(f"certificate {number}: {problem}")
        elif row["id"] in rows:
            report.problems.append(f"certificate {number}: a second one for article {row['id']}")
        else:
            rows[row["id"]] = row
    ids = sorted(rows)
    chosen = set(random.Random(seed).sample(ids, math.ceil(share * len(ids))))
    seen = set()
    for article in articles:
        if article.id in seen:
            report.problems.append(f"article {article.id}: stands twice among the articles")
            continue
        seen.add(article.id)
        row = rows.get(article.id, {})
        if not row:
            report.problems.append(f"article {article.id}: has no certificate, or a broken one")
            continue
        report.proven += row["status"] == "proven"
        problems = _problems(row, article)
        if not problems and article.id in chosen:
            problems, again = _found_again(row, article, seconds)
            report.reproven += again
            if not again and not problems:
                report.open.append(article.id)
        report.problems += [f"article {article.id}: {problem}" for problem in problems]
    missing = [name for name in ids if name not in seen]
    report.problems += [f"article {name}: has a certificate, but is not among the articles" for name in missing]
    return report


def _malformed(row: Mapping[str, Any]) -> str:
    if not isinstance(row, Mapping):
        return "not a JSON object"
    if unknown := set(row) ^ set(FIELDS):
        return f"fields missing or unknown: {', '.join(sorted(unknown))}"
    for name, types in FIELDS.items():
        if not isinstance(row[name], types) or isinstance(row[name], bool):
            return f"{name} is {row[name]!r}"
    if not all(isinstance(index, int) and not isinstance(index, bool) for index in row["sentences"]):
        return f"sentences are {row['sentences']!r}"
    return ""


def _problems(row: Mapping[str, Any], article: Article) -> list[str]:
    """All that is wrong with a well-formed certificate, without a new search."""
    problems: list[str] = []

    def demand(holds: bool, problem: str) -> None:
        if not holds:
            problems.append(problem)

    demand(row["digest"] == digest(row), "the digest is not that of the other fields: one of them was changed")
    demand(row["sha256"] == text_sha256(article), "the text is another one than was scored (sha256)")
    exact = row["algorithm"] == EXACT
    try:
        request = _request(row)
    except (OracleError, TypeError) as error:
        return [*problems, str(error)]
    same = all(row[name] == value for name, value in request.fields.items())
    demand(same, "algorithm, variant, seed and budget do not go together")
    demand(row["nodes"] >= 0 and row["seconds"] >= 0, "nodes or seconds below 0")
    demand(row["solver"] in (SOLVERS if exact else (row["algorithm"],)), f"unknown solver {row['solver']!r}")
    sentences = row["sentences"]
    if not all(0 <= index < len(article.sentences) for index in sentences):
        return [*problems, f"sentences {sentences}, of an article of {len(article.sentences)}"]
    free = row["variant"] == "code" and row["algorithm"].startswith("genetic")  # keeps order and repetitions
    ordered = all(left < right for left, right in pairwise(sentences))
    demand(ordered or free, f"sentences {sentences} are not in document order")

    order = ORDERS[row["metric"]]
    chosen = [article.sentences[index] for index in sentences]
    numerator, denominator = plain_score(chosen, article.abstract, row["scorer"], order)
    stated = f"{row['numerator']} / {row['denominator']}"
    counted = (row["numerator"], row["denominator"]) == (numerator, denominator)
    demand(counted, f"F1 is {numerator} / {denominator}, not {stated}")
    demand(row["value"] == _ratio(row["numerator"], row["denominator"]), f"value {row['value']} is not {stated}")
    if row["scorer"].startswith("rouge-score"):
        theirs = _rouge_score(row["scorer"]).score(" ".join(article.abstract), " ".join(chosen))[row["metric"]].fmeasure
        demand(abs(theirs - row["value"]) < 1e-12, f"value {row['value']}, but rouge-score says {theirs}")

    stated = f"{row['bound_numerator']} / {row['bound_denominator']}"
    demand(row["bound_numerator"] >= 0 and row["bound_denominator"] >= 0, f"bound {stated}")
    ratio = _ratio(row["bound_numerator"], row["bound_denominator"])
    demand(row["bound"] == ratio, f"bound {row['bound']} is not {stated}")
    demand(row["gap"] == row["bound"] - row["value"], f"gap {row['gap']} is not bound - value")
    value, bound = _fraction(row["numerator"], row["denominator"]), _bound(row)
    demand(bound <= 1, f"bound {stated} is above 1")
    demand(value <= bound, f"value {row['value']} is above the bound {row['bound']}")
    demand(row["status"] in (("proven", "bounded") if exact else ("heuristic",)), f"status {row['status']!r}")
    demand(row["status"] != "proven" or value == bound, "proven, but value and bound differ")
    demand(row["status"] != "bounded" or value != bound, "bounded, but value and bound are the same: that is proven")
    if row["status"] == "heuristic":
        most = reach(instance(article, row["scorer"], order))
        demand(
            (row["bound_numerator"], row["bound_denominator"]) == most, f"bound {stated} is not {most[0]} / {most[1]}"
        )
    return problems


def _request(row: Mapping[str, Any]) -> Request:
    """What the certificate says it answers. OracleError or TypeError if that is nothing that can be asked."""
    budget = row["budget"]
    return Request(
        row["metric"],
        row["scorer"],
        row["algorithm"],
        row["variant"] or "paper",
        row["seed"] or 0,
        budget.get("seconds"),
        budget.get("nodes"),
    )


def _found_again(row: Mapping[str, Any], article: Article, seconds: float | None) -> tuple[list[str], bool]:
    """What a second search says against the certificate, and whether it came to the same end."""
    order = ORDERS[row["metric"]]
    if row["algorithm"] != EXACT:
        again = _find(article, _request(row))
        same = [*again.sentences] == row["sentences"]
        return ([] if same else [f"the same search finds sentences {[*again.sentences]}, not {row['sentences']}"]), same
    counted = instance(article, row["scorer"], order)
    if order == 2:
        second = bigram_check.optimum(counted, seconds=seconds)
    elif row["solver"] == "milp":
        second = unigrams.optimum(counted, seconds=seconds)
    else:
        second = unigrams.optimum_by_milp(counted, seconds=seconds)
    value, bound = _fraction(row["numerator"], row["denominator"]), _bound(row)
    best = _fraction(second.numerator, second.denominator)
    limit = _fraction(second.bound_numerator, second.bound_denominator)
    problems = []
    if best > bound:
        problems.append(f"sentences {[*second.sentences]} have an F1 of {float(best)}, above the bound {row['bound']}")
    if value > limit:
        problems.append(f"the second proof says that no extract is above {float(limit)}, but value is {row['value']}")
    return problems, not problems and second.status == "proven"


def _fraction(numerator: int, denominator: int) -> Fraction:
    return Fraction(numerator, denominator) if denominator else Fraction(0)


def _bound(row: Mapping[str, Any]) -> Fraction:
    return _fraction(row["bound_numerator"], row["bound_denominator"])


def plain_score(chosen: list[str], abstract: list[str], scorer: str, order: int) -> tuple[int, int]:
    """(numerator, denominator) of the F1 of these sentences in this order, counted in plain Python."""
    ours, theirs = (
        Counter(zip(*(words[start:] for start in range(order)), strict=False))
        for words in (plain_words(chosen, scorer), plain_words(abstract, scorer))
    )
    if scorer == "set":
        ours, theirs = Counter(ours.keys()), Counter(theirs.keys())
    return 2 * (ours & theirs).total(), ours.total() + theirs.total()


def plain_words(sentences: list[str], scorer: str) -> list[str]:
    """All words of the sentences as the scorer makes them.

    For the scorers that no other installed package has, the words are those of our ROUGE engine.
    """
    if scorer in ("set", "multiset"):
        pieces = [piece for sentence in sentences for piece in sentence.split(".") if piece]
        return [word for piece in pieces for word in (piece.split() or [""])]
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
