"""The scorer `characters`: how long summaries are."""

from sumcurve.scores.scorer import Metric, Scorer, Scores, group_of, summaries_of


class Characters(Scorer):
    metrics = (Metric("characters", "Length in characters", "chars", "characters", 0, higher_is_better=False),)

    def score(self, output, records, inputs):
        lengths = [len(" ".join(row["summary"])) for row in summaries_of(output, records)]
        ids, groups = [record.id for record in records], [group_of(record) for record in records]
        return Scores(ids, groups, {"characters": lengths}, "characters:1")
