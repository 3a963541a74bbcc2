"""The scorer `people`: human judgements of an output's summaries (Wei et al., 2018), over the judged records.

`sumcurve people sheet` and `read` make the two files that it reads: the key, which maps codes to texts, and the
answers. A study names them, and the outputs that were judged, as `sumcurve people read --write` prints it. It scores
only these outputs, and only the records whose every summary was judged, so that systems are compared on the same
records.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from sumcurve.capabilities.people.settings import JudgedOutputs, PeopleSettings
from sumcurve.machine.arguments import CommandError
from sumcurve.scores.files import ReadsFiles
from sumcurve.scores.scorer import Metric, Scores, group_of, summaries_of
from sumcurve.sources.pinned import File
from sumcurve.store.records import Record, RecordError

KEY, ANSWERS = "key", "answers"
PERCENT = 100.0


class People(ReadsFiles):
    """Shares of summaries that pass the first check, the first two, and all three."""

    version = "46eee03189c77ebc"
    Settings = PeopleSettings
    metrics = (
        Metric("people_good", "Judged good", "good", "percent", 1),
        Metric("people_fluent", "Judged fluent", "fluent", "percent", 1, ranks=False),
        Metric("people_related", "Judged related", "related", "percent", 1, ranks=False),
    )

    def inputs(
        self, output: str, outputs: Sequence[str], specifications: Mapping[str, Mapping[str, Any]]
    ) -> Mapping[str, Any] | None:
        """No further folder; None for an output without judgements."""
        return {} if self._sheet(_name(output)) else None

    def files(self, output: str) -> Mapping[File, str]:
        sheet = self._sheet(output)
        if sheet is None:
            return {}
        return {File(sheet.key_sha256, sheet.key): KEY, File(sheet.answers_sha256, sheet.answers): ANSWERS}

    def check(self, outputs: Collection[str]) -> None:
        judged = [name for sheet in self.settings.sheets for name in sheet.outputs]
        for name in judged:
            if name not in outputs:
                raise RecordError(
                    f"people judged {name}, which this study does not have: what it was made with has changed since; "
                    "put that back, or remove the output from `sheets`"
                )
            if judged.count(name) > 1:
                raise RecordError(f"{name} is in two of `sheets`; name it in one")

    def _sheet(self, output: str) -> JudgedOutputs | None:
        sheets: tuple[JudgedOutputs, ...] = self.settings.sheets
        return next((sheet for sheet in sheets if output in sheet.outputs), None)

    def score(self, output: Path, records: Sequence[Record], inputs: Mapping[Path, Any]) -> Scores:
        from sumcurve.capabilities.people.answers import read_answers
        from sumcurve.capabilities.people.protocols import WEI
        from sumcurve.capabilities.people.sheets import MAIN, read_key, sha256_of
        from sumcurve.capabilities.people.texts import REFERENCE, words

        path_of = {role: path for path, role in inputs.items()}
        try:
            key = read_key(path_of[KEY])
            answers = read_answers([path_of[ANSWERS]], key, partial=True)
        except CommandError as error:
            raise RecordError(str(error)) from error
        if key.protocol is not WEI:
            raise RecordError(f"{path_of[KEY]} is of protocol {key.protocol.name}, which judges no summaries")
        if output.name not in key.of:
            raise RecordError(f"{path_of[KEY]} does not have {output.name}; its sheets are of {', '.join(key.of)}")
        whole, left_out = answers.complete()
        if strange := sorted(set(whole) - {record.id for record in records}):
            raise RecordError(f"{path_of[KEY]}: record {strange[0]!r} is none of the test items of {output.name}")
        if not whole:
            raise RecordError(f"{path_of[ANSWERS]}: no record has all its answers; read more sheets")
        judged = [record for record in records if record.id in whole]
        shown = {row["id"]: words(row["summary"]) for row in summaries_of(output, records)}
        for record in judged:
            if sha256_of(shown[record.id]) != key.entries[whole[record.id][output.name][0]].sha256:
                raise RecordError(
                    f"{output}: the summary of {record.id} is not the one that people judged; make sheets anew"
                )

        def passed(system: str) -> dict[str, list[float]]:
            given = [[answers.given[code] for code in whole[record.id][system]] for record in judged]
            checks = {"people_good": "faithful", "people_fluent": "fluent", "people_related": "related"}
            return {
                name: [PERCENT * fmean(answer.get(check) == "yes" for answer in by_annotator) for by_annotator in given]
                for name, check in checks.items()
            }

        references = passed(REFERENCE) if REFERENCE in key.of else {}
        means = {name: sum(values) / len(values) for name, values in references.items()}
        annotators = {entry.annotator for entry in key.entries.values() if entry.round == MAIN}
        return Scores(
            ids=[record.id for record in judged],
            groups=[group_of(record) for record in judged],
            values=passed(output.name),
            signature=f"people|{key.protocol.name}|records:{len(judged)}|annotators:{len(annotators)}|seed:{key.seed}",
            details={
                "annotator": [
                    " ".join(key.entries[code].annotator for code in whole[record.id][output.name]) for record in judged
                ]
            },
            counts={
                "judged": len(judged),
                **({"left_out": left_out} if left_out else {}),
                **({"references_good": round(means["people_good"], 4)} if means else {}),
            },
            references={name: mean for name, mean in means.items() if name != "people_good"},
        )


def _name(key: str) -> str:
    """Folder name from a key."""
    return key.split("/")[-1]
