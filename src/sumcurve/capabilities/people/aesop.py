"""People's scores of TAC 2011's summaries by systems, with which metrics are compared (its AESOP task).

NIST gives `GuidedSumm2011_eval.tgz` to signers of its agreement. Read are, from the archive or its folder, the tables
`manual/manual.peer.A` and `.B`, of the two sets of articles of each topic: columns between blanks, no head. Their
columns are those of the README of TAC 2008, and of a public program that reads 2011's tables; no file of TAC's was at
hand. Four columns are not read, because their meaning in 2011 is not documented. A table of other columns is refused.
"""

import re
from pathlib import Path

from sumcurve.sources.raw import ENDS
from sumcurve.store.errors import CorpusError
from sumcurve.store.members import members_in

TABLE = re.compile(r"(?:.*/)?manual/manual\.peer\.([AB])")
# Topic and set, system, modified Pyramid score (Nenkova, Passonneau and McKeown 2007) against four models, four columns
# that are not read, that score against three models, readability, overall responsiveness (1 to 5)
ROW = re.compile(r"([A-Z]\d+-([AB])) (\d+) (\d+(?:\.\d+)?) \S+ \S+ \S+ \S+ \d+(?:\.\d+)? [1-5] ([1-5])")
LARGEST = 1_000_000  # bytes of a table


def read(path: Path) -> dict[str, dict[tuple[str, str], float]]:
    """Pyramid and responsiveness of every system's summary; an item is a topic's set, as D1103-A.

    CorpusError, with table and line, for a row of another form, and for a second one of a summary.
    """
    pyramid: dict[tuple[str, str], float] = {}
    responsiveness: dict[tuple[str, str], float] = {}
    for member in members_in(path, "", ()):
        table = TABLE.fullmatch(member.name)
        if table is None:
            continue
        if not member.is_regular or member.size > LARGEST:
            raise CorpusError(f"{path}: {member.name} is a link, or has more than {LARGEST:,} bytes: fetch it again")
        for number, line in enumerate(ENDS.split(member.read().decode("cp1252", "replace")), start=1):
            row = ROW.fullmatch(" ".join(line.split()))
            if row is None and not line.strip():
                continue
            if row is None or row[2] != table[1] or (row[3], row[1]) in pyramid:
                raise CorpusError(
                    f"{path}: {member.name}:{number}: {line!r} is no row as 'D1103-{table[1]} 1 0.5 7 2 E 4 0.4 3 5', "
                    "or a second one of a summary; is this TAC 2011's table?"
                )
            pyramid[row[3], row[1]], responsiveness[row[3], row[1]] = float(row[4]), float(row[5])
    if not pyramid:
        raise CorpusError(
            f"{path} holds no judgement in manual/manual.peer.A: name GuidedSumm2011_eval.tgz or its folder"
        )
    return {"pyramid": pyramid, "responsiveness": responsiveness}
