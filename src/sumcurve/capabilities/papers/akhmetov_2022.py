"""Akhmetov, Mussabayev and Gelbukh (PeerJ Computer Science 8:e1103, 2022), beside what their notebooks print.

The authors' public notebooks print the statistics of their runs with six decimals, and their examples five articles
with the extracts of all five searches. From these `akhmetov_2022_examples.csv` has counts by `extracts.counting`, as
fractions: F1 of ROUGE-1 by multisets and by sets of words, and the optimum, proven by integer programming, over the
sentences that the searches selected.
"""

from fractions import Fraction
from itertools import groupby
from statistics import NormalDist, fmean

from sumcurve.capabilities.papers.claims import Claim, PaperResult, meets, printed_rows, result
from sumcurve.tables.table import Column, Table

ARTICLES, FIRST_ARTICLES = "17038", "17334"  # of the results; of the first search
SEARCHES = ("VNS", "Greedy", "VNS_Greedy", "Genetic", "Genetic_Greedy")
DIGITS = 1e-6  # beyond which a score is not the printed one
BEYOND = (
    Claim.beyond(
        "Tables 2, 4 and 5",
        "statistics, coefficients of variation and intervals of ROUGE-1 and ROUGE-2",
        "the printed tables, which are not at hand; the command lists what they should be by the notebooks",
    ),
    Claim.beyond(
        "Table 2",
        "ROUGE of the five searches on 17,038 articles",
        "arXiv articles, of a part that is not stated: make study STUDY=arxiv",
    ),
)
Row = dict[str, str]


def notebooks() -> dict[tuple[str, str, str], Row]:
    """Rows that the notebooks print, by system, measure and articles."""
    rows = printed_rows("printed/akhmetov_2022_notebooks.csv")
    return {(row["of"], row["measure"], row["articles"]): row for row in rows}


def text() -> dict[tuple[str, str], str]:
    """Numbers in the article, by system and measure."""
    return {(row["of"], row["measure"]): row["printed"] for row in printed_rows("printed/akhmetov_2022_text.csv")}


def check() -> PaperResult:
    """Claims with their verdicts, and the coefficients of variation and intervals that the notebooks' numbers give."""
    claims = [_achieved(), _bound(), _countings(), _articles(), _size(), _interval(), *BEYOND]
    return result("Akhmetov et al. 2022", claims, tables=[spread()])


def spread() -> Table:
    """Coefficients of variation in percent, and half widths of intervals of means, by the printed Z and by 95 %."""
    printed, exact = float(text()["intervals", "Z"]), NormalDist().inv_cdf(0.975)
    rows = []
    for measure in ("rouge1", "rouge2"):
        for search in SEARCHES:
            row = notebooks()[search, measure, ARTICLES]
            mean, sd, error = float(row["mean"]), float(row["sd"]), float(row["sd"]) / int(ARTICLES) ** 0.5
            cells = {"mean": mean, "sd": sd, "variation_pct": 100 * sd / mean}
            rows.append(
                {"search": search, "measure": measure, **cells, "half": printed * error, "half95": exact * error}
            )
    columns = [
        Column("search", "search"),
        Column("measure", "measure"),
        Column("mean", "mean", "number", 4),
        Column("sd", "sd", "number", 4),
        Column("variation_pct", "coefficient of variation %", "number", 2),
        Column("half", f"± by Z = {printed}", "number", 6),
        Column("half95", f"± by Z = {exact:.3f}", "number", 6),
    ]
    return Table("spread", "Tables 4 and 5 as the notebooks' means and standard deviations give them", columns, rows)


def _achieved() -> Claim:
    best = {measure: notebooks()["Genetic_Greedy", measure, ARTICLES]["mean"] for measure in ("rouge1", "rouge2")}
    holds = all(meets(text()["Genetic_Greedy", f"mean {name}"], *2 * [float(mean)]) for name, mean in best.items())
    finding = f"The notebooks' means are {best['rouge1']} and {best['rouge2']}, of multisets of words"
    return Claim.of("Abstract", "ROUGE-1 of 0.59 and ROUGE-2 of 0.25 are reached", holds, finding)


def _bound() -> Claim:
    """Check whether the best search's mean can be an upper bound."""
    most = {search: float(notebooks()[search, "rouge1", ARTICLES]["max"]) for search in SEARCHES}
    gains = []
    for _, rows in groupby(printed_rows("printed/akhmetov_2022_examples.csv"), lambda row: row["article"]):
        *searched, optimum = rows
        gains.append(Fraction(optimum["multiset"]) - max(Fraction(row["multiset"]) for row in searched))
    holds = most["Genetic_Greedy"] >= max(most.values()) and max(gains) <= 0
    better = sum(gain > 0 for gain in gains)
    finding = (
        f"By the notebooks Genetic_Greedy's greatest ROUGE-1 of an article is {most['Genetic_Greedy']}, Greedy's "
        f"{most['Greedy']}, so that the best of the five per article has a higher mean; in {better} of {len(gains)} "
        f"published examples another extract, of the sentences that the five selected, is better than all five, by "
        f"{float(sum(gains)) / len(gains):.3f} on average"
    )
    return Claim.beside("Title", "the best search's ROUGE-1, 0.59, bounds that of extracts from above", holds, finding)


def _countings() -> Claim:
    rows = [row for row in printed_rows("printed/akhmetov_2022_examples.csv") if row["rouge1"]]
    off = {
        counting: [float(Fraction(row[counting])) - float(row["rouge1"]) for row in rows]
        for counting in ("set", "multiset")
    }
    agree = {counting: sum(abs(one) < DIGITS for one in made) for counting, made in off.items()}
    finding = (
        f"Of {len(rows)} published extracts {agree['set']} have the score of sets and {agree['multiset']} that of "
        f"multisets; sets give {-fmean(off['set']):.3f} less on average"
    )
    return Claim.beside(
        "Equations 1 and 2", "ROUGE counts distinct n-grams, as a set", agree["set"] == len(rows), finding
    )


def _articles() -> Claim:
    """Check whether Table 1 describes the articles of the results."""
    pairs = [(of, measure) for of in ("text", "abstract") for measure in ("mean", "sd")]

    def follows(articles: str) -> bool:
        rows = {of: notebooks()[of, "sentences", articles] for of in ("text", "abstract")}
        return all(meets(text()[of, measure], *2 * [float(rows[of][measure])]) for of, measure in pairs)

    table = " and ".join(f"{text()[of, 'mean']} ± {text()[of, 'sd']}" for of in ("text", "abstract"))
    rows = [notebooks()[of, "sentences", ARTICLES] for of in ("text", "abstract")]
    should = " and ".join(f"{float(row['mean']):.2f} ± {float(row['sd']):.2f}" for row in rows)
    other = "; it is of the 17,334 before some were dropped" if follows(FIRST_ARTICLES) else ""
    finding = f"Printed are {table} sentences, should be {should} by the notebooks{other}"
    return Claim.beside("Table 1", "it describes the 17,038 articles of the results", follows(ARTICLES), finding)


def _size() -> Claim:
    ours, abstract = (notebooks()[of, "sentences", ARTICLES]["mean"] for of in ("VNS", "abstract"))
    finding = f"By the notebooks VNS has {float(ours):.2f} sentences on average, abstracts {float(abstract):.2f}"
    claim = "VNS replaces sentences, so that its extract has as many as the abstract"
    return Claim.beside("Figure 2", claim, ours == abstract, finding)


def _interval() -> Claim:
    printed = text()["intervals", "Z"]
    exact, covers = NormalDist().inv_cdf(0.975), 2 * NormalDist().cdf(float(printed)) - 1
    finding = f"It is printed {printed}, should be {exact:.3f}; {printed} is Z of intervals of {100 * covers:.2f} %"
    return Claim.of("In the text", "Z of 95 % intervals", meets(printed, exact, exact), finding)
