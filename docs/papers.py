"""Write docs/reference/papers.md: claims of five papers, and what of them is here (`python docs/papers.py`).

Claims are those of `sumcurve check`. A row is a table or figure of a paper (or what it prints in passing), who makes it
here, and where it is recorded; a file that is missing stops the page. What came out has its numbers from recorded
tables, by the markers of docs/pages.py.
"""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pages import filled

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "papers.md"

PUBLISHED = "from published numbers"
SAME = "same procedure on our corpora"
NEEDS = "needs the user's data or GPU"
LOST = "not recoverable"
Status = Literal[
    "from published numbers",
    "same procedure on our corpora",
    "needs the user's data or GPU",
    "not recoverable",
]

STUDY = "results/tables/docstrings"
DIALOGUES = "results/tables/dialogsum"
SYSTEMS = "results/tables/papers"
CHINESE = "results/tables/debian-zh"
PUBLISHED_FILES = "src/sumcurve/curves/published"
PRINTED = "src/sumcurve/capabilities/papers/printed"
CHECKS = "tests/unit/capabilities/papers/test_papers.py"


@dataclass(frozen=True)
class Row:
    """`item` as the paper numbers it; `files` from the repository's root."""

    item: str
    what: str
    status: Status
    command: str = ""
    files: Sequence[str] = ()
    note: str = ""


@dataclass(frozen=True)
class Paper:
    title: str
    reference: str
    rows: Sequence[Row]
    note: str
    check: str  # its name in `sumcurve check`


def number(table: str, where: str, column: str, study: str = SYSTEMS, form: str = ".1f") -> str:
    """A marker of docs/pages.py for a number of a recorded table; `±` after its form: with its interval."""
    return f"<!--= {study}/{table}.csv {where}: {column} {form} --><!--/-->"


def score(method: str, records: int = 3000) -> str:
    """ROUGE-1 on DialogSum, by the common search."""
    return number("scores", f"corpus=dialogsum method={method} records={records}", "rouge1")


def by_own(method: str, column: str = "rouge1") -> str:
    """ROUGE-1 or APES of a method with 3,000 records, by its paper's search."""
    return number("apes", f"method={method} search=paper", column)


def both(method: str) -> str:
    """ROUGE-1 and APES by the paper's search."""
    return f"{by_own(method)} and {by_own(method, 'apes')}"


def thirds(method: str, column: str, form: str = ".1f±") -> str:
    """A measure of data efficiency from the first third of the records to all of them."""
    return number("efficiency", f"method={method} interval=whole metric=ROUGE-1", column, form=form)


def trained() -> list[str]:
    """A table of the paper's methods: σ, and ROUGE-1 with 3,000 records."""
    several = {"PGRL": "pgrl", "PCOV": "pcov", "ABS": "abs", "TRANS": "trans"}
    single = {"NATS": "nats", "FASTRL": "fastrl", "ABS-NNLM": "abs_nnlm", "GLOBEN": "globen"}
    return [
        "| method | runs | σ, % [95 %, pointwise; of one run, items alone] | ROUGE-1, one search | its own |",
        "|---|---:|---:|---:|---:|",
        *(
            f"| {title} | {runs} | {thirds(method, 'sigma_percent')} | {score(method)} | {by_own(method)} |"
            for runs, methods in ((3, several), (1, single))
            for title, method in methods.items()
        ),
        f"| fairseq's Transformer | 3 | {thirds('fairseq_transformer', 'sigma_percent')} | | "
        f"{score('fairseq_transformer')} |",
    ]


def searched(algorithm: str, column: str = "mean") -> str:
    """ROUGE-1 of the extracts of long documents that a search found, or its distance from the optimum."""
    return number("extracts", f"corpus=outlines metric=rouge1 optimised=rouge1 algorithm={algorithm}", column, STUDY)


def questions(system: str) -> str:
    """APES of an untrained system."""
    return number("apes", f"method={system} records=", "apes")


def contrasts(method: str, column: str, records: str = "3000", form: str = ".1f") -> str:
    return number("contrasts", f"method={method} records={records}", column, form=form)


def label(method: str) -> str:
    """The mean probability of words where they are the label."""
    return number("labels", f"method={method}", "itself")


def first_fifth(column: str) -> str:
    return number("entity_attention", "method=ent fifth=first", column)


ASKED = {  # the claim of each paper that is asked here, what came out, and of what, by its name in `sumcurve check`
    "cano-bojar-2020": ("the Transformer is the most efficient", "not shown", "four methods, three seeds"),
    "akhmetov-2022": (
        "the best search bounds the ROUGE-1 of extracts from above",
        f"no: it is {searched('VNS', 'shortfall')} points below the optimal extract",
        "150 documents, proven optima",
    ),
    "eyal-2019": ("entity attention raises APES, known entities most", "undecided", "single runs, not tested"),
    "kumar-cheung-2019": (
        "how often models prefer references to broken copies",
        "about as often as a model of word triples without a source",
        "four methods with three seeds, others with one run",
    ),
    "wei-2018": ("dual-train is above the baseline, self-train below it", "undecided", "three seeds, 695 records"),
}
OUTCOMES = {
    "cano-bojar-2020": f"""
        σ says by how many percent a score rises for 100 % more records, θ the same of training time up to the
        scored checkpoint, and ε is σ / θ ([definitions](../explanations/data-efficiency.md)). The paper's finding
        that the Transformer is the most efficient does not show: from 1,000 to 3,000 dialogues ROUGE-1 of TRANS is
        not shown to rise. In the family of all comparisons only the growth of ABS and of fairseq's Transformer is
        significant. Only ABS has an ε, {thirds("abs", "epsilon", ".2f±")}, but with 1,000 and 2,000 records it is
        not shown to use its source; PCOV, PGRL and TRANS are not shown to need longer with three times the records.
        fairseq's Transformer does not copy, stops by its own rule and has no θ. ABS-NNLM and GLOBEN are not shown
        to use their source. The same 18 words for every dialogue have
        {number("scores", "corpus=dialogsum method=same-words", "rouge1")} ROUGE-1. ([more](../studies/papers.md))
    """,
    "akhmetov-2022": f"""
        On 150 composed long documents the optimal extract, which is proven, has {searched("exact")} ROUGE-1.
        The paper's searches find {searched("VNS")} (VNS), {searched("VNS_Greedy")} (VNS from Greedy's extract),
        {searched("Genetic_Greedy")} (genetic from Greedy's extract), {searched("Greedy")} (Greedy) and
        {searched("Genetic")} (genetic): none reaches the upper bound. In the paper Genetic_Greedy is first and
        VNS last. A search that adds the sentence by which F1 rises most finds {searched("F1-greedy")}.
        ([more](../explanations/what-scores-mean.md#how-good-can-an-extract-be))
    """,
    "eyal-2019": f"""
        APES is the share of questions about a reference that a trained reader answers from the summary. It has
        values for 84 of DialogSum's 500 test items, and its validation is undecided. It is
        {questions("source")} % for the source, {questions("gold")} % for a second person's summary,
        {questions("shuffled-gold")} % for a reference in shuffled order and {questions("lead")} % for Lead. By
        the paper's search, ROUGE-1 and APES are {both("ent_base")} for the baseline, {both("ent_loss")} with
        the loss, {both("ent_penalty")} with the penalty, {both("ent")} with both, and {both("ent_gold")} for
        the baseline with the reference's own positions. These are single runs, not tested, with intervals of 6
        points and more on each side: no order can be told. ENT's layer gives {first_fifth("attention")} % of
        its attention to the first fifth of what it reads, which has {first_fifth("salient")} % of the salient
        tokens. ([more](../studies/papers.md))
    """,
    "kumar-cheung-2019": f"""
        A contrast is a reference (gold) that is broken by a rule. On DialogSum a trigram model that sees no
        source prefers the gold to {contrasts("trigram", "dodged", "")} % of its contrasts; it has learned from
        all 10,651 targets of the training part, the methods from 3,000. No method is shown to be above it:
        NATS, a single run, has {contrasts("nats", "dodged", form=".1f±")} %, PCOV
        {contrasts("pcov", "dodged", form=".1f±")} %, TRANS {contrasts("trans", "dodged", form=".1f±")} %. With
        its own source in place of another one PCOV prefers the gold to
        {contrasts("pcov", "by_source", form=".1f±")} points more, TRANS to
        {contrasts("trans", "by_source", form=".1f±")}. PCOV prefers {contrasts("pcov", "escaped", form=".1f±")}
        % of the golds to all their contrasts, the trigram model {contrasts("trigram", "escaped", "")} %.
        ([more](../studies/papers.md))
    """,
    "wei-2018": f"""
        By Chinese characters, with three seeds, no two of REG-base, REG-self and REG-dual differ significantly
        by ROUGE-1, and all are significantly worse than Lead ([debian-zh](../studies/debian-zh.md)). In
        English, single runs on DialogSum, they have {score("reg_base")}, {score("reg_self")} and
        {score("reg_dual")} ROUGE-1 by the common search, and {by_own("reg_base")}, {by_own("reg_self")} and
        {by_own("reg_dual")} by the paper's. The paper's order, with dual-train first, does not show. Soft
        targets are to flatten the output, and in these runs they do: the generator's mean probability of the
        right next word, over 200 frequent words, is {label("reg_base")} % for REG-base, {label("reg_self")} %
        for REG-self and {label("reg_dual")} % for REG-dual. ([more](../studies/papers.md))
    """,
}

PAPERS = (
    Paper(
        "Čano and Bojar 2020: data efficiency",
        "E. Čano and O. Bojar: Efficiency Metrics for Data-Driven Models: A Text Summarization Case Study. INLG 2019; "
        "arXiv 1909.06618, 2020.",
        (
            Row(
                "Figure 1",
                "two methods level at one size: who is ahead on more data",
                SAME,
                "make study",
                (f"{STUDY}/verdicts.csv", "tests/unit/curves/test_verdict.py"),
                "as a probability; the figure's own case is a test",
            ),
            Row(
                "Figure 2",
                "ROUGE-1 of each method's three models",
                SAME,
                "make study STUDY=dialogsum",
                (f"{DIALOGUES}/figures/curves.svg",),
                "with intervals; the figure's own numbers are those of Table 2",
            ),
            Row(
                "Table 1",
                "corpora: records, lengths, vocabulary, words used",
                SAME,
                "make study",
                (f"{STUDY}/corpora.csv",),
                "CNN/DailyMail and OAGS themselves need the user's copies",
            ),
            Row(
                "Table 2",
                "scores, parameters and training seconds, as printed",
                PUBLISHED,
                "sumcurve efficiency cano-bojar-2020",
                (f"{PUBLISHED_FILES}/cano_bojar_2020_table2.csv",),
            ),
            Row(
                "Table 2",
                "the same of all seven methods and ABS-NNLM, trained here at thirds of 3,000 records",
                SAME,
                "make study STUDY=papers",
                (f"{SYSTEMS}/scores.csv", f"{SYSTEMS}/methods.csv"),
                "ABS, PCOV, TRANS and PGRL with three seeds, the others as single runs; FASTRL extracts turns of "
                "dialogues; beside fairseq's Transformer",
            ),
            Row(
                "Table 2",
                "parameters of every method at the paper's vocabulary",
                SAME,
                "python -m pytest tests/papers/test_parameters.py",
                ("tests/papers/test_parameters.py",),
            ),
            Row(
                "Table 2",
                "the 21 trainings on CNN/DailyMail",
                NEEDS,
                "make study STUDY=cnndm",
                ("config/studies/cnndm.yaml", "docs/reference/corpora.md"),
                "with those on OAGS 83 days on two cards of 2019, 247 hours on an H200 by measured updates",
            ),
            Row(
                "Table 2",
                "the 12 trainings on OAGS",
                NEEDS,
                "make study STUDY=oags",
                ("config/studies/oags.yaml", "docs/reference/corpora.md"),
            ),
            Row(
                "Table 2",
                "the same with the paper's vocabularies, and TRANS's 200,000 updates in place of patience",
                NEEDS,
                "make study STUDY=oags-paper",
                ("config/forms/paper-oags.yaml", "config/forms/paper-cnndm.yaml"),
                "and `STUDY=cnndm-paper`; θ of TRANS is then of another stopping rule",
            ),
            Row(
                "Table 2",
                "ABS: the attentional encoder-decoder; its steps, against teacher forcing",
                SAME,
                "make study STUDY=papers",
                (f"{SYSTEMS}/scores.csv", "tests/unit/models/test_recurrent.py"),
            ),
            Row(
                "Table 2",
                "TRANS: the Transformer with copying, against PyTorch's",
                SAME,
                "make study STUDY=papers",
                (f"{SYSTEMS}/scores.csv", "tests/unit/models/test_transformer.py"),
            ),
            Row(
                "Table 2",
                "ABS-NNLM: the language model of 2015 and its loss, against the paper's equations",
                SAME,
                "make study STUDY=papers",
                (f"{SYSTEMS}/scores.csv", "tests/papers/test_rush_2015.py"),
            ),
            Row(
                "Table 2",
                "PCOV: copying and coverage, against the paper's equations",
                SAME,
                "make study STUDY=papers",
                (f"{SYSTEMS}/scores.csv", "tests/papers/test_see_2017.py"),
            ),
            Row(
                "Table 2",
                "NATS: copying with intra-decoder attention, against the paper's equations",
                SAME,
                "make study STUDY=papers",
                (f"{SYSTEMS}/scores.csv", "tests/papers/test_shi_2018.py"),
            ),
            Row(
                "Table 2",
                "GLOBEN: the gated encoder, against the paper's equations",
                SAME,
                "make study STUDY=papers",
                (f"{SYSTEMS}/scores.csv", "tests/papers/test_lin_2018.py"),
            ),
            Row(
                "Table 2",
                "PGRL: temporal attention and the mixed loss, against the paper's equations",
                SAME,
                "make study STUDY=papers",
                (f"{SYSTEMS}/scores.csv", "tests/papers/test_paulus_2018.py"),
            ),
            Row(
                "Table 2",
                "FASTRL: extractor, abstractor and actor-critic losses, against the paper's equations",
                SAME,
                "make study STUDY=papers",
                (f"{SYSTEMS}/scores.csv", "tests/papers/test_chen_bansal_2018.py"),
            ),
            Row(
                "Tables 3 and 4",
                "σ, θ and ε from Table 2, and the cells that do not follow from it",
                PUBLISHED,
                "sumcurve check cano-bojar-2020",
                (f"{PRINTED}/cano_bojar_2020_tables3_4.csv", CHECKS),
            ),
            Row(
                "Tables 3 and 4",
                "the same of all seven methods and ABS-NNLM, trained here at thirds of 3,000 records",
                SAME,
                "make study STUDY=papers",
                (f"{SYSTEMS}/efficiency.csv",),
                "with intervals of ABS, PCOV, TRANS and PGRL; single runs have none",
            ),
        ),
        "Scores and seconds are not comparable: texts, method sizes, stopping rule (patience for all, with a cap that "
        "ends the reinforcement of PGRL) and machine differ. "
        "Two independent checks found the same six cells that Table 2 does not give.",
        "cano-bojar-2020",
    ),
    Paper(
        "Akhmetov et al. 2022: how good an extract can be",
        "I. Akhmetov, R. Mussabayev and A. Gelbukh: Reaching for Upper Bound ROUGE Score of Extractive Summarization "
        "Methods. PeerJ Computer Science 8:e1103, 2022.",
        (
            Row("Figure 1", "kinds of summarization methods", LOST, note="a drawing: nothing is computed"),
            Row(
                "Figure 2",
                "the reduced variable neighbourhood search in pseudo-code",
                SAME,
                "make test TESTS=tests/papers/test_akhmetov.py",
                ("src/sumcurve/capabilities/extracts/searches.py", "tests/papers/test_akhmetov.py"),
                "equals a reference written from the text, as the other four searches do",
            ),
            Row(
                "Figure 3",
                "box plots of ROUGE by who chose the sentences",
                SAME,
                "make study",
                (f"{STUDY}/extracts.csv",),
                "the boxes' numbers, with optimal extracts",
            ),
            Row(
                "Table 1",
                "articles that the filter lets through: sentences and words",
                SAME,
                "make study",
                (f"{STUDY}/extracts.csv",),
            ),
            Row(
                "Table 2",
                "descriptive statistics of ROUGE-1 and -2 of VNS, Greedy, VNS_Greedy, Genetic and Genetic_Greedy",
                SAME,
                "make study",
                (f"{STUDY}/extracts.csv", "tests/papers/test_akhmetov.py"),
                "the genetic searches follow the text; the paper's two countings are in table `oracle_details`",
            ),
            Row(
                "Table 2",
                "the same on the paper's 17,038 arXiv articles",
                NEEDS,
                "make study STUDY=arxiv",
                ("config/studies/arxiv.yaml",),
                "which part of arXiv is not stated: all are asked, since test and validation hold 12,876",
            ),
            Row(
                "Table 3",
                "other systems on the same items",
                SAME,
                "make study",
                (f"{STUDY}/extracts.csv",),
                "other systems are lead, SumBasic, LexRank and LSA",
            ),
            Row(
                "Tables 4 and 5",
                "coefficients of variation and confidence intervals of ROUGE-1 and of ROUGE-2",
                SAME,
                "make study",
                (f"{STUDY}/extracts.csv",),
            ),
            Row(
                "Tables 4 and 5",
                "the same from the means and standard deviations that the authors' notebooks print",
                PUBLISHED,
                "sumcurve check akhmetov-2022",
                (f"{PRINTED}/akhmetov_2022_notebooks.csv", CHECKS),
                "the printed tables are not at hand",
            ),
            Row(
                "in the text",
                "correlation of the best number of sentences with features of the text",
                SAME,
                "make study",
                (f"{STUDY}/oracle_details.csv",),
                "the best number is that of the optimal extract",
            ),
        ),
        "ROUGE is not comparable: extracts are of docstrings below a class or module instead of articles. Nobody wrote "
        "their abstracts as summaries. Beyond the paper, every optimal extract is proven optimal, or its upper bound "
        "is given and marked.",
        "akhmetov-2022",
    ),
    Paper(
        "Eyal et al. 2019: questions that a summary answers (APES)",
        "M. Eyal, T. Baumel and M. Elhadad: Question Answering as an Automatic Evaluation Metric for News Article "
        "Summarization. NAACL 2019.",
        (
            Row(
                "Figure 1",
                "three summaries, three questions: 0.33, 0.33, 1.00",
                SAME,
                "make test TESTS=tests/papers/test_eyal_2019.py",
                ("tests/papers/test_eyal_2019.py",),
                "an invented example of its form; what a reader answers is given",
            ),
            Row("Figure 2", "how APES is computed", LOST, note="a drawing: nothing is computed"),
            Row(
                "Figure 3",
                "one reference, its six questions and answers",
                SAME,
                "make test TESTS=tests/papers/test_eyal_2019.py",
                ("tests/papers/test_eyal_2019.py",),
            ),
            Row(
                "Figure 4",
                "where entity attention looks, beside where the answers stand",
                SAME,
                "make study STUDY=papers",
                (f"{SYSTEMS}/entity_attention.csv", "tests/unit/capabilities/apes/test_entity_attention.py"),
                "by fifths of the source",
            ),
            Row(
                "Tables 1 and 2",
                "metrics with people's scores on TAC 2011, and with each other",
                NEEDS,
                "sumcurve correlate --aesop GuidedSumm2011_eval.tgz --scores metrics.csv",
                ("docs/explanations/what-scores-mean.md",),
                "NIST's data, by request",
            ),
            Row(
                "Tables 1 and 2",
                "the same on REALSumm, without APES",
                SAME,
                "python benchmarks/exam.py realsumm realsumm.jsonl.xz",
                ("benchmarks/exam/realsumm-agreement.csv", "benchmarks/exam/realsumm-pairs.csv"),
            ),
            Row(
                "Table 2",
                "the same of every study's metrics, over systems and over summaries",
                SAME,
                "make study",
                (f"{STUDY}/metric_correlations.csv",),
            ),
            Row(
                "Tables 3 and 4",
                "APES, entities and salient entities of summaries, of source, gold, shuffled gold and lead, too",
                SAME,
                "make study STUDY=dialogsum",
                ("results/tables/dialogsum/apes.csv", "tests/unit/capabilities/apes/test_scorer.py"),
            ),
            Row(
                "Table 4",
                "baseline, loss, penalty, both, and gold positions, APES beside ROUGE",
                SAME,
                "make study STUDY=papers",
                (f"{SYSTEMS}/apes.csv", "tests/papers/test_eyal_2019.py"),
                "single runs; the last row sees the reference",
            ),
            Row(
                "Table 4",
                "ENT: distribution, joint loss and the search's penalties, against the paper's equations",
                SAME,
                "make study STUDY=papers",
                (f"{SYSTEMS}/scores.csv", "tests/papers/test_eyal_2019.py"),
            ),
            Row(
                "Table 4",
                "the same on CNN/DailyMail",
                NEEDS,
                "make study STUDY=apes-cnndm",
                ("config/studies/apes-cnndm.yaml",),
                "in the form `paper`, by the ready-made questions",
            ),
        ),
        "APES is not comparable, because each corpus's reader is trained on its questions.",
        "eyal-2019",
    ),
    Paper(
        "Kumar and Cheung 2019: contrastive examples",
        "K. Kumar and J. C. K. Cheung: Understanding the Behaviour of Neural Abstractive Summarizers using Contrastive "
        "Examples. NAACL 2019.",
        (
            Row(
                "Table 1",
                "a source, its summary, contrastive summaries",
                SAME,
                "make study",
                ("docs/explanations/what-scores-mean.md",),
                "the report shows those that fooled each method; it is other people's text and not in git",
            ),
            Row("Table 2", "not seen", LOST, note="the printed page is not at hand"),
            Row(
                "Table 3",
                "dodged by rule: four word classes, from the summary or the source",
                SAME,
                "make study STUDY=papers",
                (f"{SYSTEMS}/contrast_rules.csv", "tests/papers/test_kumar_cheung_2019.py"),
            ),
            Row(
                "Table 4",
                "dodged and escaped of ABS+, GTP and FAS",
                SAME,
                "make study STUDY=papers",
                (f"{SYSTEMS}/contrasts.csv", "tests/papers/test_kumar_cheung_2019.py"),
                "of every method that gives probabilities",
            ),
            Row(
                "Table 4",
                "the same on 10,000 golds of Gigaword",
                NEEDS,
                "make study STUDY=contrasts-gigaword",
                ("config/studies/contrasts-gigaword.yaml",),
                "of the validation part: the copy's test part has 1,951",
            ),
            Row(
                "Table 4",
                "the same on CNN/DailyMail",
                NEEDS,
                "make study STUDY=contrasts-cnndm",
                ("config/studies/contrasts-cnndm.yaml",),
            ),
            Row(
                "in the text",
                "people's judgement of 200 contrastive summaries",
                NEEDS,
                "sumcurve people sheet --contrasts JUDGED --system RUN --to FOLDER",
                ("docs/how-to/people.md",),
                "sheets, agreement and results; no person has judged any here",
            ),
        ),
        "Shares dodged and escaped are not comparable: methods, summaries and tagger differ. Rules and decisions: "
        "[what the scores mean](../explanations/what-scores-mean.md). The printed page is not at hand: numbers of "
        "Tables 1 and 2 are not certain.",
        "kumar-cheung-2019",
    ),
    Paper(
        "Wei et al. 2018: regularised training",
        "B. Wei, X. Ren, X. Sun, Y. Zhang, X. Cai and Q. Su: Regularizing Output Distribution of Abstractive Chinese "
        "Social Media Text Summarization for Improved Semantic Consistency. ACM TALLIP, 2018; arXiv 1805.04033.",
        (
            Row(
                "the approach",
                "self-train and dual-train: distribution and losses, against the paper's equations",
                SAME,
                "make study STUDY=papers",
                (f"{SYSTEMS}/scores.csv", "tests/papers/test_wei_2018.py"),
            ),
            Row("examples", "sources, summaries and what models wrote", NEEDS, note="LCSTS, by application"),
            Row(
                "the data",
                "LCSTS: parts and relevance",
                NEEDS,
                "",
                ("docs/reference/corpora.md",),
                "LCSTS, by application",
            ),
            Row(
                "settings",
                "temperature, weight, epochs without the soft loss",
                LOST,
                note="missing from the texts at hand",
            ),
            Row(
                "ROUGE",
                "baseline, self-train and dual-train, on Chinese characters",
                SAME,
                "make study STUDY=debian-zh",
                (f"{CHINESE}/scores.csv", f"{CHINESE}/comparisons.csv", "docs/studies/debian-zh.md"),
                "the methods REG-base, REG-self and REG-dual: no significant difference of ROUGE-1; its page has "
                "the minimum detectable effect, large with so few records",
            ),
            Row(
                "ROUGE",
                "the same in English, on 3,000 dialogues",
                SAME,
                "make study STUDY=papers",
                (f"{SYSTEMS}/scores.csv",),
                "single runs",
            ),
            Row("ROUGE", "other models on LCSTS", LOST, note="most rows were not found"),
            Row(
                "people",
                "fluency, relatedness, faithfulness of four systems",
                NEEDS,
                "",
                ("docs/how-to/people.md",),
                "people: sheets go out and come back, the paper's counts are lost",
            ),
            Row("agreement", "of two annotators on a pilot", LOST, note="size and value were not found"),
            Row(
                "labels",
                "words that the output layer takes for each other",
                SAME,
                "make study STUDY=papers",
                (f"{SYSTEMS}/labels.csv", "tests/unit/capabilities/labels/test_related.py"),
                "of REG-base, REG-self and REG-dual",
            ),
        ),
        "ROUGE is not comparable: it is of other texts, with a fraction of LCSTS's 2.4 million training records. The "
        "printed pages are not at hand: rows are by content, not by number.",
        "wei-2018",
    ),
)


def link(path: str) -> str:
    """A link from docs/reference/; FileNotFoundError for a file that is not there."""
    if not (ROOT / path).exists():
        raise FileNotFoundError(f"docs/reference/papers.md would link to {path}, which is not there")
    return f"[{Path(path).name}]({Path('../..', path) if not path.startswith('docs/') else Path('..', path[5:])})"


def cells(row: Row) -> list[str]:
    files = ", ".join(dict.fromkeys(link(path) for path in row.files))
    command = f"`{row.command}`" if row.command else ""
    return [row.item, row.what, f"*{row.status}*", command, files, row.note]


def claims(name: str) -> list[str]:
    """What `sumcurve check` says of a paper: a count of verdicts, and a row for each claim."""
    checked = importlib.import_module(f"sumcurve.capabilities.papers.{name.replace('-', '_')}").check()
    return [
        f"`sumcurve check {name}`: {checked.sentences[0].partition(', ')[2]}",
        "",
        "| where | claim | verdict | |",
        "|---|---|---|---|",
        *(f"| {one.where} | {one.claim} | *{one.verdict}* | {one.finding} |" for one in checked.claims),
    ]


def page() -> str:
    """docs/reference/papers.md."""
    lines = [
        "# Five papers, and what of them is here",
        "",
        "Written by `python docs/papers.py`. *From published numbers*: computed from printed numbers. *Same "
        "procedure on our corpora*: the paper's procedure, on data that anyone can get; absolute numbers cannot be "
        "compared with the paper's. *Needs the user's data or GPU*: the code is here, data or GPU are not. *Not "
        "recoverable*: the note says why. Claims are checked without data; those that cannot be checked here are "
        "unverified. A linked test runs by `make test TESTS=FILE`.",
        "",
        "Small models on small corpora: this says nothing about the papers' models at their size.",
        "",
        "| paper | claim | here | measured by |",
        "|---|---|---|---|",
        *(f"| {paper.title} | {' | '.join(ASKED[paper.check])} |" for paper in PAPERS),
        "",
    ]
    for paper in PAPERS:
        lines += [f"## {paper.title}", "", paper.reference, ""]
        lines += ["**What came out.** " + " ".join(OUTCOMES[paper.check].split()), ""]
        lines += [*trained(), ""] if paper.check == "cano-bojar-2020" else []
        lines += [f"**What is not comparable.** {paper.note}", ""]
        lines += ["**What the paper printed, checked without its data.** " + claims(paper.check)[0]]
        lines += [*claims(paper.check)[1:], ""]
        lines += ["**What is done here**", ""]
        lines += ["| | what | status | command | recorded | |", "|---|---|---|---|---|---|"]
        lines += [f"| {' | '.join(cells(row))} |" for row in paper.rows]
        lines.append("")
    return filled("\n".join(lines).rstrip("\n") + "\n", PAGE.name)


if __name__ == "__main__":
    PAGE.write_text(page())
