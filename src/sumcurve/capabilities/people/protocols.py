"""Questions for annotators: the protocols of Wei et al. (2018) and of Kumar and Cheung (2019).

A protocol is a chain of questions about one text. A question may follow from an answer to an earlier one; where it does
not follow, it stays without an answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from sumcurve.files.models import said
from sumcurve.machine.arguments import CommandError

T = TypeVar("T")
YES, NO = "yes", "no"
GOOD = "good"


class PeopleError(CommandError):
    """Sheets, keys or answers that cannot be used; the message names file, row, column, value and remedy."""


@dataclass(frozen=True)
class Question:
    """A question: `name` is its column, `answers` are all allowed values.

    With `follows`, an earlier question and its answer, it is asked only after that answer.
    """

    name: str
    text: str
    answers: tuple[str, ...]
    follows: tuple[str, str] | None = None


@dataclass(frozen=True)
class Protocol:
    """Questions about texts. `shown` has the headings of the texts shown; the last of these texts is judged.

    `by_source`: all texts of one source go to one annotator, one after another.
    """

    name: str
    title: str
    guide: str
    shown: Mapping[str, str]
    questions: tuple[Question, ...]
    by_source: bool

    @property
    def judged(self) -> str:
        return list(self.shown)[-1]

    @property
    def outcomes(self) -> tuple[str, ...]:
        """All possible outcomes of a complete row, in order; the last is the best."""
        if len(self.questions) == 1:
            return self.questions[0].answers
        return (*(f"not {question.name}" for question in self.questions), GOOD)

    def outcome(self, answers: Mapping[str, str]) -> str:
        """Outcome of valid answers: the first check that failed, or "good"; of one question its answer."""
        if len(self.questions) == 1:
            return answers[self.questions[0].name]
        failed = (question.name for question in self.questions if answers.get(question.name) == NO)
        return next((f"not {name}" for name in failed), GOOD)

    def problem(self, answers: Mapping[str, str]) -> tuple[str, str] | None:
        """Column and error of a row whose answers ("" for none) are all among those allowed; None for a valid row.

        Errors are a question without its answer, and an answer to a question that was not to be asked; the first error
        is returned, since the others follow from it.
        """
        for question in self.questions:
            given = answers.get(question.name, "")
            before, needed = question.follows or ("", "")
            applies = not question.follows or answers.get(before) == needed
            if applies and not given:
                return question.name, f"is not answered; write {either(question.answers)}"
            if given and not applies:
                answered = answers.get(before)
                why = f"{before} is {answered!r}" if answered else f"{before} has no answer"
                return question.name, f"holds {given!r}, but {why}: empty one of the two"
        return None


def either(answers: Sequence[str]) -> str:
    """The answers as a sentence names them: yes or no."""
    return f"{', '.join(answers[:-1])} or {answers[-1]}"


def from_json(kind: type[T], data: bytes, where: str, remedy: str) -> T:
    """The content of a JSON text, of this type; PeopleError names `where`, the key, its value and the remedy."""
    try:
        return TypeAdapter(kind).validate_json(data, strict=True)
    except ValidationError as error:
        raise PeopleError(f"{where}: {said(error)}; {remedy}") from error


WEI = Protocol(
    name="wei2018",
    title="Is the summary fluent, related to its source, and faithful? (Wei et al., 2018)",
    guide=(
        "Read the source, then the summary. Three questions follow one another; stop at the first no. "
        "Fluent: the main roles of the sentence are there; a missing particle or a harmless repetition is fine. "
        "Related: from the source one can decide whether what the summary says is true or false. "
        "Faithful: what it says is true, and it is not too general."
    ),
    shown={"source": "Source", "summary": "Summary"},
    questions=(
        Question("fluent", "Is the summary fluent?", (YES, NO)),
        Question("related", "Can the source decide whether it is true?", (YES, NO), ("fluent", YES)),
        Question("faithful", "Is it true, and not too general?", (YES, NO), ("related", YES)),
    ),
    by_source=True,
)
KUMAR_CHEUNG = Protocol(
    name="kumar-cheung2019",
    title="What is wrong with the changed summary? (Kumar and Cheung, 2019)",
    guide=(
        "The second summary is the first with a word or two changed. Say what the change did. "
        "Readability: it can no longer be read as a sentence should. Discrepancy: it reads well but says something "
        "else than the source. Neither: it reads well and still says what the source says. Where both hold, "
        "readability counts."
    ),
    shown={"source": "Source", "gold": "Summary", "contrast": "Changed summary"},
    questions=(Question("issue", "What did the change do?", ("readability", "discrepancy", "neither")),),
    by_source=False,
)
PROTOCOLS: dict[str, Protocol] = {protocol.name: protocol for protocol in (WEI, KUMAR_CHEUNG)}
