"""How long references are."""

from sumcurve.capabilities.lengths.evidence import Found
from sumcurve.tables.table import Column, Table


def table(results):
    found = results.study.evidence.get("lengths")
    means = found.means if isinstance(found, Found) else {}
    rows = [{"corpus": corpus, "words": mean} for corpus, mean in means.items()]
    columns = [Column("corpus", "corpus"), Column("words", "words", "number", 2)]
    return Table("lengths", results.title("Mean words of references"), columns, rows, ["Of test items."])
