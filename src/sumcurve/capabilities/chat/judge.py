"""The scorer `judge`: grades of every summary by a server's model and a rubric, each criterion one metric.

Its metrics are descriptive: a judge ranks no system before it is validated. The model as named by the server is in the
signature. An item whose answer has no grade is left out of the output's scores and counted as
`ungraded`; tables then leave it out for every system.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, model_validator

from sumcurve.capabilities.chat.rubric import FATES, Rubric, read_rubric
from sumcurve.capabilities.chat.service import (
    ANSWERS,
    Answered,
    Price,
    Service,
    ServiceSettings,
    missing_weights,
    texts_of,
)
from sumcurve.scores.files import ReadsFiles
from sumcurve.scores.scorer import Claim, Metric, Scores, group_of, own_reference, summaries_of
from sumcurve.sources.pinned import File
from sumcurve.store.manifest import digest
from sumcurve.store.records import Record, RecordError

JUDGE = "judge"  # as a study names it
WORDS = 50  # of the longest answer needed: it determines max_tokens where the study does not set it
SHOWN = 200  # letters of an answer in a message
WEIGHTS = "weights"


def _rubric(value: Any) -> Any:
    return read_rubric(Path(value)) if isinstance(value, str) else value


class JudgeSettings(ServiceSettings):
    """A server's model as a judge."""

    rubric: Annotated[
        Rubric,
        BeforeValidator(_rubric, json_schema_input_type=str | Rubric),
        Field(default="config/prompts/judge.yaml", validate_default=True),
    ]
    """A file, or its content, which is a part of names."""

    @model_validator(mode="after")
    def asked(self) -> "JudgeSettings":
        if self.url is None:
            raise ValueError("a judge is a server's model: give its `url`")
        return self


class Judge(ReadsFiles):
    """Grades of summaries as tokens, given the source and, where the rubric shows it, the first reference."""

    version = "b23198602846776e"
    Settings = JudgeSettings
    metrics: ClassVar[Sequence[Metric]] = ()  # of the class: criteria are the rubric's
    keeps_answers: ClassVar[bool] = True

    def __init__(self, settings: JudgeSettings) -> None:
        super().__init__(settings)
        rubric = settings.rubric
        scale = f"grade from {rubric.lowest} to {rubric.highest}"
        self.metrics = [  # type: ignore[misc]
            Metric(f"judge_{name}", f"Judge: {criterion.title}", criterion.title.lower(), scale, ranks=False)
            for name, criterion in rubric.criteria.items()
        ]
        claims: dict[str, Claim] = {f"judge_{name}": criterion.claim for name, criterion in rubric.criteria.items()}
        self.claims = claims  # type: ignore[misc]

    def inputs(
        self, output: str, outputs: Sequence[str], specifications: Mapping[str, Mapping[str, Any]]
    ) -> Mapping[str, Any] | None:
        """No further folder; None for a human reference that the judge would compare with itself."""
        human = self.settings.rubric.shows_reference and own_reference(specifications[output]) is not None
        return None if human else {}

    def files(self, output: str) -> Mapping[File, str]:
        file = self.settings.weights and self.settings.weights.file()
        return {file: WEIGHTS} if file else {}

    def check(self, outputs: Collection[str]) -> None:
        if why := missing_weights(self.settings):
            raise RecordError(why)

    def score(self, output: Path, records: Sequence[Record], inputs: Mapping[Path, Any]) -> Scores:
        """Grade an output; RecordError where no answer has a grade, or the server, budget or ledger stops it."""
        settings: JudgeSettings = self.settings
        rubric, service = settings.rubric, Service(settings.service(WORDS), ledgers_of(output))
        summaries = [texts_of(row["summary"]) for row in summaries_of(output, records)]

        def messages(place: int) -> list[dict[str, str]]:
            record = records[place]
            return rubric.messages(service.shown(texts_of(record.source)), summaries[place], texts_of(record.target))

        answered = service.answers(len(records), messages)
        grades = [rubric.grades(answer) for answer in answered.answers]
        graded = [(record, row) for record, row in zip(records, grades, strict=True) if not isinstance(row, str)]
        if not graded:
            first = answered.answers[0].text[:SHOWN] if answered.answers else ""
            raise RecordError(
                f"{service.ledger()}: none of {len(records)} answers about {output.name} has a grade, the first is "
                f"{first!r}; correct `rubric` or `parameters` (max_tokens: {service.settings['longest']})"
            )
        fates = Counter(row for row in grades if isinstance(row, str))
        parameters = ",".join(f"{name}={value}" for name, value in sorted(service.settings["parameters"].items()))
        return Scores(
            ids=[record.id for record, _ in graded],
            groups=[group_of(record) for record, _ in graded],
            values={f"judge_{name}": [float(row[name]) for _, row in graded] for name in rubric.criteria},
            signature=(
                f"judge|rubric:{digest(rubric.model_dump(mode='json'))}|model:{settings.model}|"
                f"served:{','.join(answered.models) or 'not stated'}|{parameters}|text:tokens"
            ),
            counts={"ungraded": sum(fates.values()), **{fate: fates[fate] for fate in FATES}}
            | counts_of(answered, settings.price),
        )


def ledgers_of(output: Path) -> Path:
    """Folder of the answers about an output: below its study's home, else below the working directory."""
    return (output.absolute().parents[2] if output.parent.name == "outputs" else Path()) / ANSWERS


def counts_of(answered: Answered, price: Price | None) -> dict[str, float]:
    """Costs of answers: requests by their outcome, tokens, seconds, and money by the user's own price.

    Lost requests count with the most that they can have taken. `fingerprints` are those that the server stated.
    """
    usage = answered.usage
    paid = usage.tokens + usage.lost_tokens
    counts = {name: getattr(usage, name) for name in ("sent", "answers", "lost", "declined", "unstated")}
    counts |= {"input_tokens": paid.input, "output_tokens": paid.output, "seconds": round(usage.seconds, 3)}
    counts |= {"fingerprints": len(answered.served["fingerprints"])}
    return counts | ({"money": round(price.money(paid.input, paid.output), 6)} if price else {})
