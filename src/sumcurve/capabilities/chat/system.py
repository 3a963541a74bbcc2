"""A prompted model: summaries from a server with the interface chat/completions, or from weights decoded here.

Nothing is trained. The k examples are the records that a training with k records and the same seed would learn from,
so that a prompt has a curve over records, as a method has; without examples it is at 0 records.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field, model_validator

from sumcurve.capabilities.chat.ledger import Answer, Usage
from sumcurve.capabilities.chat.service import Service, ServiceSettings, missing_weights, refused
from sumcurve.capabilities.chat.template import Message, Template, read_template
from sumcurve.settings.base import NonNegative, Once, Seed
from sumcurve.settings.corpus import CorpusSettings
from sumcurve.store.kind import Version
from sumcurve.store.records import RecordError
from sumcurve.systems.outside import OutsideSettings, tokenized, tokenizing
from sumcurve.systems.system import Item, Role, SystemSettings

LEDGERS = "ledgers"  # the key, among its inputs, of the folder of ledgers


class ChatSettings(OutsideSettings, ServiceSettings):
    template: str = "config/prompts/summary.yaml"
    examples: Annotated[list[NonNegative], Field(min_length=1), Once]  # in the prompt: sizes of its curve
    seeds: Annotated[list[Seed], Field(min_length=1), Once] | None = None  # of the draws of examples; None: the study's
    split: bool = True  # an answer is one text, in which sentences are found

    light: ClassVar[bool] = False

    @model_validator(mode="after")
    def examples_rise(self) -> "ChatSettings":
        if self.examples != sorted(self.examples):
            raise ValueError(f"`examples` rise, as {sorted(self.examples)}")
        return self

    def trainings(self, percents: Sequence[int], seeds: Sequence[int]) -> list[tuple[int, int]]:
        """Examples and seed of every prompt that has examples."""
        return [(count, seed) for count in self.examples if count for seed in self.seeds or seeds]


class Chat:
    """A prompted model with `examples`, sources with their summaries as people wrote them.

    After it has summarized, `usage` holds the costs, `answers` are by item, `requests` their digests and `served` the
    data about the model stated by the server.
    """

    version: ClassVar[Version] = "bacb905d90fae4ec"
    Settings: ClassVar[type[SystemSettings]] = ChatSettings
    title: ClassVar[str] = "a prompted model"
    role: ClassVar[Role] = "outside"
    needs: ClassVar[Mapping[str, str]] = {}
    is_baseline: ClassVar[bool] = False

    def __init__(self, settings: Mapping[str, Any], inputs: Mapping[str, Path]) -> None:
        weights = inputs.get(settings.get("weights", ""))
        self.settings, self.service = settings, Service(settings, inputs[LEDGERS], weights)
        self.template = Template.model_validate(settings["template"])
        self.examples: Sequence[tuple[str, str]] = ()
        self.usage, self.answers = Usage(), list[Answer]()
        self.requests: list[str] = []
        self.served: dict[str, Any] = {}

    @classmethod
    def specify(cls, settings: ChatSettings, corpus: CorpusSettings) -> dict[str, Any]:
        """Settings that determine its summaries. RecordError for an unreadable template and weights without a path."""
        if why := missing_weights(settings):
            raise RecordError(why)
        return {
            "template": read_template(Path(settings.template)).model_dump(mode="json"),
            **settings.service(corpus.search.max_tokens),
            **tokenizing(settings, corpus),
        }

    @classmethod
    def files(cls, settings: ChatSettings) -> Mapping[str, str]:
        return {}  # its weights are a folder, and may be fetched: the plan adds them

    def messages(self, item: Item) -> list[Message]:
        """The conversation that ends with an item's source."""
        shown = self.service.shown
        examples = [(shown(source), target) for source, target in self.examples]
        return self.template.messages(examples, shown(" ".join(item.text.source)))

    def summarize(self, items: Sequence[Item]) -> Iterator[list[str]]:
        """Summarize items; RecordError where the server, the budget or the ledger stops it; answers are kept."""
        answered = self.service.answers(len(items), lambda place: self.messages(items[place]))
        self.answers, self.requests, self.usage = answered.answers, answered.requests, answered.usage
        self.served = answered.served
        lower, split, most = (self.settings[name] for name in ("lower", "split", "max_tokens"))
        for answer in self.answers:
            text = "" if refused(answer) else answer.text
            yield tokenized(text.splitlines(), lower, split, most, self.settings.get("tokenizer", "words"))
