"""The scorer `words`: how long summaries are, in words."""

from sumcurve.scores.scorer import Metric, Scorer, Scores, group_of, summaries_of


class Words(Scorer):
    metrics = (Metric("words", "Length in words", "words", "words", 1, ranks=False),)

    def score(self, output, records, inputs):
        counts = [sum(len(one.split(" ")) for one in row["summary"]) for row in summaries_of(output, records)]
        ids, groups = [record.id for record in records], [group_of(record) for record in records]
        return Scores(ids, groups, {"words": counts}, "words:1")
