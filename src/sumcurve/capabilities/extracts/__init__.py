"""The best extract of an article: searches for it, and proven bounds on the F1 of any extract.

Akhmetov, Mladenović and Mussabayev (PeerJ Computer Science, 2022) study the highest ROUGE that whole sentences of the
source can reach.
"""

from typing import Literal, get_args

Metric = Literal["rouge1", "rouge2"]  # by which extracts are searched, independent of a study's metrics
ScorerName = Literal["rouge-score", "rouge-score-stem", "rouge-1.5.5", "rouge-1.5.5-m", "unicode", "characters"]
METRICS: tuple[str, ...] = get_args(Metric)
SCORERS: tuple[str, ...] = get_args(ScorerName)
EXACT, F1_GREEDY = "exact", "f1-greedy"
SEARCHES = {  # of the paper: their names in commands and in the paper, in the order of tables
    "vns": "VNS",
    "greedy": "Greedy",
    "vns-greedy": "VNS_Greedy",
    "genetic": "Genetic",
    "genetic-greedy": "Genetic_Greedy",
}
ALGORITHMS = {EXACT: "exact", F1_GREEDY: "F1-greedy", **SEARCHES}  # the proof, our heuristic, the paper's five
PLACES = ("part", "group")  # of an article, given where parts other than the test part are included
