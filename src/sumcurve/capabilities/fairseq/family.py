"""The family of models that fairseq trains in a process of its own."""

import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sumcurve.capabilities.fairseq.settings import FairseqSettings, unsupported
from sumcurve.settings.corpus import CorpusSettings
from sumcurve.settings.forms import Form
from sumcurve.store.stage import Stage
from sumcurve.systems.family import PRETRAINED_MB, Family, FinishedRun, Refusal
from sumcurve.systems.system import Item
from sumcurve.training.place import VOCABULARY

if TYPE_CHECKING:
    from sumcurve.capabilities.fairseq.system import FairseqSystem
    from sumcurve.training.fit import Fitted, Progress
    from sumcurve.training.place import Place
    from sumcurve.training.run import Lessons


class FairseqFamily(Family):
    """Its resume state is a folder, and it learns the same vocabulary of words as ours do."""

    settings = FairseqSettings
    stands_alone = False

    def refusal(self, corpus: CorpusSettings) -> Refusal | None:
        why = unsupported(corpus.search)
        return Refusal(("search",), why) if why else None

    def memory_mb(self, form: Form, source_tokens: int, target_tokens: int) -> int:
        return PRETRAINED_MB

    def errors(self) -> tuple[type[Exception], ...]:
        from sumcurve.capabilities.fairseq.model import FairseqError

        return (FairseqError,)

    def train(self, lessons: "Lessons", place: "Place") -> None:
        """As every family; its resume state is a folder. Raises FairseqError."""
        from sumcurve.store.records import write_json
        from sumcurve.training.fit import ResumeError
        from sumcurve.training.progress import Watchers
        from sumcurve.training.run import begun, write_run

        name, state = place.name, place.state.with_suffix("")
        _, group = begun(lessons.specification, place)
        if group.size > 1:
            raise ValueError(f"{name}: fairseq trains in one process here; start it without torchrun")
        with Watchers(name, place.events, place.note, stream=place.terminal, position=place.line) as watch:
            try:
                fitted, counts, place.facts["fairseq"] = _fitted(lessons, state, name, watch)
            except ResumeError as error:
                raise ResumeError(
                    f"{state}: {error}; delete it to train {name} from its beginning", error.keys
                ) from error
        for phase, reason in fitted.history.ended:
            place.note(f"{name}: phase {phase} ended by {reason}")
        write_json(place.folder / VOCABULARY, lessons.vocabulary.to_json())
        sizes = len(lessons.fraction_positions), len(lessons.vocabulary)
        write_run(place.folder, fitted, fitted.history, lessons.form.training, *sizes, counts, {})

    @contextmanager
    def system(self, run: FinishedRun) -> "Iterator[FairseqSystem]":
        from sumcurve.capabilities.fairseq.model import Fairseq, FairseqModel
        from sumcurve.capabilities.fairseq.system import FairseqSystem
        from sumcurve.models.vocabulary import Vocabulary

        specification, form, seed = run.specification, run.form, run.specification["seed"]
        vocabulary = Vocabulary.from_json(json.loads((run.folder / VOCABULARY).read_text()))
        with (
            tempfile.TemporaryDirectory() as built,
            Fairseq(specification["sums"], specification["threads"], run.device) as process,
        ):
            model = FairseqModel(
                process, _settings(form), form.training, vocabulary, run.lengths, seed, Path(built), run.weights
            )
            yield FairseqSystem(model, run.search, *run.lengths)

    def write(self, system: "FairseqSystem", items: Sequence[Item], stage: Stage) -> None:
        """Summaries; the stage's facts get the versions in fairseq's environment."""
        stage.facts["fairseq"] = system.model.process.releases
        super().write(system, items, stage)


def _settings(form: Form) -> FairseqSettings:
    assert isinstance(form.model, FairseqSettings)
    return form.model


def _fitted(
    lessons: "Lessons", state: Path, name: str, watch: "Callable[[Progress], None]"
) -> "tuple[Fitted, dict[str, int], Any]":
    """Train in fairseq's process: what `fit` returns, the model's parameters, and the versions there.

    `state` is the folder of the resume state. Raises FairseqError, ResumeError.
    """
    from sumcurve.capabilities.fairseq.learner import train
    from sumcurve.capabilities.fairseq.model import Fairseq, FairseqModel
    from sumcurve.models.batch import encode

    specification, training, lengths = lessons.specification, lessons.form.training, lessons.lengths
    vocabulary, valid = lessons.vocabulary, lessons.valid
    trained_on, validated = (
        [encode(record, vocabulary, *lengths) for record in part] for part in (lessons.records, valid)
    )
    with (
        tempfile.TemporaryDirectory() as work,
        Fairseq(specification["sums"], specification["threads"], lessons.device) as process,
    ):
        seed = specification["seed"]
        model = FairseqModel(process, _settings(lessons.form), training, vocabulary, lengths, seed, Path(work))
        counts = model.parameter_counts()
        records = len(lessons.fraction_positions)
        size = f"{records} records, {len(vocabulary)} words, {counts['total']} parameters, {lessons.device}"
        lessons.note(f"{name}: {size}, {process.releases}")
        references = [record.all_references for record in valid]
        identity = {**specification, "device": lessons.device}
        fitted = train(
            model, training, trained_on, validated, references, lessons.search, state, identity, lessons.note, watch
        )
        return fitted, counts, process.releases
