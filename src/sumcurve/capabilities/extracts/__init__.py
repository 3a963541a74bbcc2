"""The best extract of an article: searches for it, and proofs of how good an extract can be.

Akhmetov, Mladenović and Mussabayev (PeerJ Computer Science, 2022) ask how high ROUGE can go when whole sentences of the
source are chosen.
"""

METRICS = ("rouge1", "rouge2")  # by which extracts are searched, whatever a study scores
SCORERS = (
    "set",
    "multiset",
    "rouge-score",
    "rouge-score-stem",
    "rouge-1.5.5",
    "rouge-1.5.5-m",
    "unicode",
    "characters",
)
PLACES = ("part", "group")  # of an article, told where other parts than the test part are asked
