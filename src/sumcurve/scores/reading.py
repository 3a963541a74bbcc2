"""Source sensitivity: the scorers `reading`, of log-probabilities, and `reading_rouge`, of summaries alone.

`reading`: how much a system's own source helps it to predict the target, in nats a word. An item's gap is the mean
log-probability of its target's words given its own source, minus that given the sources of records of other groups
(`corpora.derangement`). A system that ignores its source has a gap of 0, whatever it scores by ROUGE.

`reading_rouge` takes summaries of any system: ROUGE-1 of a summary against its own reference, minus that against the
references of the same other records. A system that ignores its source has a gap of 0 here, too: its summaries fit any
reference as well. Lead and random are the systems to compare with.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sumcurve.scores.scorer import AgainstAll, Metric, Scorer, Scores, group_of, summaries_of
from sumcurve.settings.study import Reading, Rouge
from sumcurve.store.records import Record, RecordError

# Source sensitivity is significant where the lower end of the gap's interval over groups is above.
READS = 0.1  # nats a word
READS_BY_ROUGE = 0.0  # points
POINTS = 100
# Models that take their words from a fraction, by the kinds of those that score single tokens; others are of subwords.
OF_WORDS = ("recurrent", "transformer", "ngram")
TITLES = {"gap": "source sensitivity", "rouge1_gap": "source sensitivity by ROUGE-1"}  # in place of recorded titles


class Reads(Scorer):
    """Scores systems that give log-probabilities of single tokens, decoded with the corpus's common search.

    It counts the words that all of them have in their vocabularies, and marks: so they are compared on the same words,
    and a word that one system cannot say costs it nothing. Models of subwords can say every word: the vocabularies are
    those of models of words, at each of their fractions. The share left out is counted as `left_out`.
    """

    version = "ab45d7ce667f770b"
    Settings = Reading
    metrics = (
        Metric("gap", "Reading gap", "gap", "nats a word", ranks=False, threshold=READS),
        Metric("own_nll", "NLL, own source", "own", "nats a word", higher_is_better=False, ranks=False),
        Metric("others_nll", "NLL, others' sources", "others", "nats a word", higher_is_better=None, ranks=False),
    )

    def inputs(
        self, output: str, outputs: Sequence[str], specifications: Mapping[str, Mapping[str, Any]]
    ) -> Mapping[str, Any] | None:
        """The fractions that compared models of words take vocabularies from: sizes and least counts of these."""
        if "reading" not in specifications[output]:
            return None
        vocabularies: dict[str, set[tuple[int, int]]] = {}
        for other in outputs:
            if "reading" in specifications[other]:
                run = specifications[specifications[other]["run"]]
                if "model" in run and run["model"]["kind"] not in OF_WORDS:  # a program's is of words
                    continue
                training = run["training"]
                vocabularies.setdefault(run["fraction"], set()).add((training["vocabulary"], training["least_count"]))
        return {fraction: [list(of) for of in sorted(vocabularies[fraction])] for fraction in sorted(vocabularies)}

    def score(self, output: Path, records: Sequence[Record], inputs: Mapping[Path, Any]) -> Scores:
        import numpy as np

        from sumcurve.corpora.fraction import read_words
        from sumcurve.decoding.logp import read_logp
        from sumcurve.models.vocabulary import MARKS, UNK, Vocabulary

        groups = _groups(records, "reading")
        logp = read_logp(output, [record.id for record in records])
        vocabularies = [
            set(Vocabulary.from_counts(read_words(fraction), most, least).words[len(MARKS) :])
            for fraction, sizes in inputs.items()
            for most, least in sizes
        ]
        common = Vocabulary(sorted(set.intersection(*vocabularies))) if vocabularies else Vocabulary([])
        kept = np.zeros(len(logp.own), dtype=bool)
        for number, record in enumerate(records):
            sentences = [sentence.split(" ") for sentence in record.target if sentence]
            _, target = common.target(sentences, [], logp.target_tokens)
            start, end = logp.starts[number : number + 2]
            if len(target) != end - start:
                raise RecordError(
                    f"{output}: record {record.id} has {end - start} tokens, not {len(target)}; decode again"
                )
            kept[start:end] = [not vocabularies or token != UNK for token in target]
        if not logp.known[kept].all():
            raise RecordError(f"{output} was decoded with another vocabulary than its fraction's; decode again")

        places = [number for number in range(len(records)) if kept[slice(*logp.starts[number : number + 2])].any()]
        own, others = -logp.own.astype(float), -logp.others.astype(float).mean(axis=0)
        words = [np.flatnonzero(kept[slice(*logp.starts[n : n + 2])]) + logp.starts[n] for n in places]
        own_nll, others_nll = ([float(nll[of].mean()) for of in words] for nll in (own, others))
        return Scores(
            ids=[records[number].id for number in places],
            groups=[groups[number] for number in places],
            values={
                "gap": [other - mine for mine, other in zip(own_nll, others_nll, strict=True)],
                "own_nll": own_nll,
                "others_nll": others_nll,
            },
            signature=f"others{self.settings.others}+seed{self.settings.seed}+"
            + (f"words{len(common.words)}" if vocabularies else "all words"),
            details={"words": [len(of) for of in words]},
            counts={
                "words": int(kept.sum()),
                "left_out": round(1 - float(kept.mean()), 6),
                "items_left_out": len(records) - len(places),
            },
        )


class ReadingRouge(Reading):
    """Whose references each summary is scored with, too, and by which ROUGE."""

    rouge: Rouge = Rouge()


class ReadsByRouge(AgainstAll):
    """Scores every output by its summaries; its threshold is asked of systems that give no log-probabilities."""

    version = "ab45d7ce667f770b"
    Settings = ReadingRouge
    metrics = (
        Metric(
            "rouge1_gap", "ROUGE-1 gap", "gap", "points", ranks=False, threshold=READS_BY_ROUGE, stands_in_for="gap"
        ),
        Metric("rouge1_others", "ROUGE-1, others' references", "others", "points", higher_is_better=None, ranks=False),
    )

    def score(self, output: Path, records: Sequence[Record], inputs: Mapping[Path, Any]) -> Scores:
        import numpy as np

        from sumcurve.corpora.derangement import derangements
        from sumcurve.rouge_engine.scorer import score_items, signature

        groups = _groups(records, "reading_rouge")
        summaries = [row["summary"] for row in summaries_of(output, records)]
        references = [record.all_references for record in records]

        def points(of: Sequence[int]) -> np.ndarray:
            scores = score_items(summaries, [references[place] for place in of], self.settings.rouge)
            return POINTS * np.array([item["rouge1"] for item in scores])

        own = points(range(len(records)))
        others = np.mean([points(row) for row in derangements(records, self.settings).tolist()], axis=0)
        return Scores(
            ids=[record.id for record in records],
            groups=groups,
            values={"rouge1_gap": (own - others).tolist(), "rouge1_others": others.tolist()},
            signature=f"others{self.settings.others}+seed{self.settings.seed}|"
            + signature(self.settings.rouge, references),
        )


def _groups(records: Sequence[Record], scorer: str) -> list[str]:
    """The group of every record; RecordError where all are of one."""
    groups = [group_of(record) for record in records]
    if len(set(groups)) < 2:
        raise RecordError(
            f"all {len(records)} test records are of one group ({groups[0]!r}), and source sensitivity takes records "
            f"of other groups; give the records groups, or leave `{scorer}` out of the study's scores"
        )
    return groups
