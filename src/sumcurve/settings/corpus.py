"""A corpus of a study: how it is prepared and used."""

from typing import Annotated, Literal, Self

from pydantic import (
    Field,
    field_validator,
    model_validator,
)

from sumcurve.settings.base import (
    Boolean,
    LimitIfGiven,
    NonNegative,
    Once,
    Percent,
    Positive,
    Seed,
    Settings,
    Sha256,
    Share,
)
from sumcurve.settings.content import IF_GIVEN, Raw
from sumcurve.settings.search import Search
from sumcurve.sources.cleaning import STEPS as CLEANING


class Compose(Settings):
    """Several records of one group joined into one multi-sentence record (the `modules` corpus)."""

    min: Annotated[Positive, Field(alias="least")] = 3
    """Records joined into one, at least."""
    max: Annotated[Positive, Field(alias="most")] = 6
    """Records joined into one, at most."""

    @model_validator(mode="after")
    def some(self) -> "Compose":
        if self.min > self.max:
            raise ValueError(f"min {self.min} is above max {self.max}; no number of records is both")
        return self


class ReadyFiles(Settings):
    """The files of each part: patterns as `train-*.parquet`, of paths below the raw content's folder."""

    train: str
    """File of the training part."""
    valid: Annotated[str | None, IF_GIVEN] = None
    """File of the validation part; null: it is `drawn`."""
    test: Annotated[str | None, IF_GIVEN] = None
    """File of the test part; null: it is `drawn`."""

    @model_validator(mode="after")
    def below(self) -> "ReadyFiles":
        for pattern in self.model_dump().values():
            if not pattern or pattern.startswith("/") or ".." in pattern.split("/"):
                raise ValueError(f"{pattern!r} names no file below raw.path")
        return self


class Split(Settings):
    """Sizes in records. A group (source module) is shared between two parts by `shared_groups` alone.

    Parts that are `ready` need no sizes; those that are given cut them. "records": each says its own, in its field
    `split`.
    """

    valid: Positive | None = None
    """Records of the validation part, which stops trainings and chooses checkpoints."""
    test: Positive | None = None
    """Records of the test part, which is decoded once."""
    train: Positive | None = None
    """Records of the training part; null: all that is left."""
    key: str = "sumcurve"
    """Key of the hash that orders groups and records: another key, another split."""
    ready: Annotated[Literal["records"] | ReadyFiles | None, Field(exclude_if=lambda ready: ready is None)] = None
    """Origin of the parts that a published corpus has: from each record's field `split`, or from files."""
    drawn: Annotated[Literal["valid", "test"] | None, IF_GIVEN] = None
    """The part that a corpus of two `ready` parts lacks: whole groups of its training part, of the size that is given.
    """
    roles: Annotated[
        dict[Literal["train", "valid", "test"], Literal["train", "valid", "test"]],
        Field(exclude_if=lambda roles: not roles),
    ] = {}
    """Parts by their names in records, as `{valid: test, test: valid}` where the published test part is
    too small to test on. Parts that are not named are what they say.
    """
    shared_groups: Annotated[Boolean, Field(exclude_if=lambda shared: not shared)] = False
    """True where a group may stand in several parts, as a mailbox of which each has mails: groups are for intervals
    alone then, and parts that are not `ready` are drawn record by record. How many of the test part's groups stand in
    train, the corpus's statistics say.
    """
    unseen: Annotated[tuple[str, ...] | None, Field(exclude_if=lambda unseen: unseen is None)] = None
    """Groups that make a second test part, `unseen`, whole: those whose names are one of these or begin with one and a
    `/`, as the modules of a package do. null: there is none.
    """

    @model_validator(mode="after")
    def sizes_or_parts(self) -> "Split":
        if self.unseen is not None and (self.ready is not None or not all(self.unseen) or not self.unseen):
            raise ValueError("`unseen` names groups, one or more, of a corpus whose parts are drawn, not `ready`")
        if self.ready is None and (self.valid is None or self.test is None):
            raise ValueError("give the sizes `valid` and `test`, or say by `ready` where the parts come from")
        files, lacks = self.files(), [self.drawn] if self.drawn else []
        if (lacks and (self.ready is None or getattr(self, lacks[0]) is None)) or (
            files and [part for part in ("valid", "test") if part not in files] != lacks
        ):
            raise ValueError("`drawn` names the part that `ready` lacks, and `valid` or `test` its size")
        if self.roles and (self.ready != "records" or {*self.roles} != {*self.roles.values()}):
            raise ValueError("`roles` exchanges parts that records say: it takes `ready: records`, and each part once")
        return self

    def files(self) -> dict[str, str] | None:
        """The pattern of each part's files, where they are named."""
        return self.ready.model_dump() if isinstance(self.ready, ReadyFiles) else None


class Prepare(Settings):
    """Preparation of raw records. A record outside its limits is dropped and counted.

    A limit in sentences that is not given leaves the specification as it was before there were such limits.
    """

    clean: Annotated[tuple[str, ...], Field(exclude_if=lambda steps: not steps)] = ()
    """Repairs of the raw text, in this order: steps of `sumcurve.sources.cleaning.STEPS`, as `encoding`, `entities`."""
    language: Annotated[str | None, Field(pattern=r"^[a-z]{2,3}$", exclude_if=lambda language: language is None)] = None
    """Language of every source, as `en`, by a model that comes with a package; null: any language."""
    tokenizer: Literal["words", "unicode", "ptb", "blanks", "jieba", "characters"] = "words"
    """Tokenizer of sentences: words and single signs; the same of every script, with combining marks, and characters
    where words have no blanks between them (unicode); the Penn Treebank's (ptb), as CoreNLP writes them; what blanks
    divide, of tokenised text; Chinese words by jieba; Chinese characters.
    """
    lower: Boolean = True
    """True where tokens are in small letters."""
    min_source_tokens: Annotated[NonNegative, Field(alias="least_source_tokens")] = 1
    """Tokens of a source, at least."""
    max_source_tokens: Annotated[Positive | None, Field(alias="most_source_tokens")] = None
    """Tokens of a source, at most."""
    min_target_tokens: Annotated[NonNegative, Field(alias="least_target_tokens")] = 1
    """Tokens of a target, at least."""
    max_target_tokens: Annotated[Positive | None, Field(alias="most_target_tokens")] = None
    """Tokens of a target, at most."""
    min_source_sentences: Annotated[LimitIfGiven, Field(alias="least_source_sentences")] = None
    """Sentences of a source, at least."""
    max_source_sentences: Annotated[LimitIfGiven, Field(alias="most_source_sentences")] = None
    """Sentences of a source, at most."""
    min_target_sentences: Annotated[LimitIfGiven, Field(alias="least_target_sentences")] = None
    """Sentences of a target, at least."""
    max_target_sentences: Annotated[LimitIfGiven, Field(alias="most_target_sentences")] = None
    """Sentences of a target, at most."""
    shorter_target: Annotated[Boolean, Field(exclude_if=lambda drops: not drops)] = False
    """True where a record is dropped whose target has as many tokens as its source, or more (Akhmetov et al. 2022)."""
    min_alphabetic_share: Annotated[Share, Field(alias="least_alphabetic_share")] = 0.0
    """Share of the source's tokens that hold a letter, at least."""
    duplicates: Literal["drop", "sources", "keep"] = "drop"
    """Records that repeat a source or a target exactly; "sources": those that repeat a source are dropped, and equal
    targets stay, as subject lines that are rightly the same.
    """
    near_duplicates: Share | None = None
    """Jaccard similarity of source 3-shingles from which a record is dropped; null: none is."""

    @field_validator("clean")
    @classmethod
    def _steps(cls, steps: tuple[str, ...]) -> tuple[str, ...]:
        for name in steps:
            if name not in CLEANING:
                raise ValueError(f"no step {name!r} of cleaning; there are {', '.join(CLEANING)}")
            if steps.count(name) > 1:
                raise ValueError(f"step {name!r} stands twice; leave one out")
        return steps

    @model_validator(mode="after")
    def _limits(self) -> Self:
        for name in type(self).model_fields:
            most_name = name.replace("min", "max", 1)
            least, most = getattr(self, name), getattr(self, most_name, None)
            if name.startswith("min") and None not in (least, most) and least > most:
                raise ValueError(f"{name} {least} is above {most_name} {most}; no record is both")
        return self


class Judgements(Settings):
    """Answers to one set of sheets; `sumcurve people read --write` prints it."""

    key: str
    """Key file that `sumcurve people sheet` wrote beside the sheets: the meaning of their codes."""
    key_sha256: Sha256
    """sha256 of the key file."""
    answers: str
    """File of answers that `sumcurve people read --write` wrote."""
    answers_sha256: Sha256
    """sha256 of the file of answers."""
    judges: str = ""
    """Judges, where they were not people, such as `two sessions of one language model`: tables name them."""


class Preparation(Settings):
    """Preparation of raw content: with the content's sha256 all that decides a corpus."""

    compose: Compose | None = None
    """Records of one group joined into one; null: none are."""
    prepare: Prepare = Prepare()
    """Preparation of raw records."""
    split: Split
    """Sizes of its parts, or where they are ready."""


class Trainings(Settings):
    """Sizes and seeds of a method where it is less than the others of its corpus."""

    sizes: Annotated[list[Positive], Field(min_length=1)] | None = None
    """Sizes among the corpus's `percents` or `sizes`, rising; null: all."""
    seeds: Annotated[list[Seed], Field(min_length=1), Once] | None = None
    """Seeds among the study's; null: all."""


class CorpusSettings(Preparation):
    """A corpus of a study: where it comes from, how it is prepared, and how it is used."""

    raw: Raw
    """Origin of the records."""
    percents: list[Percent] | None = None
    """Shares of the training part that methods are trained on, rising; or `sizes`."""
    sizes: list[Positive] | None = None
    """Numbers of training records that methods are trained on, rising; or `percents`."""
    trainings: dict[str, Trainings | None] = {}
    """Trainings by method: fewer sizes or seeds than the others have. Where methods have several seeds, tables compare
    by those that all of them share; a method of one seed is alone with it. null: as the others, after what it extends.
    """
    methods: Annotated[list[str], Once] | None = None
    """Methods of the study that are trained on this corpus; null: all."""
    source_tokens: Positive
    """Number of first tokens of a source that a model reads."""
    target_tokens: Positive
    """Number of first tokens of a target that a model is trained to write."""
    search: Search
    """The search that all methods are compared under."""
    target: Literal["titles", "summaries"] = "summaries"
    """Kind of targets; titles are one sentence, so that no sentence-by-sentence extract is made for them."""
    lead_sentences: Positive = 1
    """Sentences that systems take which extract whole sentences."""
    published: dict[Literal["train", "valid", "test"], Positive] = {}
    """Number of records that its parts have as they are published, or as `sumcurve add` counts them, for a plan that is
    asked for before they are prepared. No result depends on it.
    """
    committed: Literal["numbers", "summaries"] = "numbers"
    """Content of committed results: values of items alone, or summaries, too, where the licence of its text allows
    to pass on what models write. No result depends on it.
    """
    title: str = ""
    """One honest sentence, printed under the corpus's tables."""

    @model_validator(mode="after")
    def one_kind_of_size(self) -> "CorpusSettings":
        if (self.percents is None) == (self.sizes is None):
            raise ValueError("give either `percents` or `sizes`")
        return self

    @property
    def all_sizes(self) -> list[int]:
        """The percents, or the numbers of records."""
        return self.percents if self.percents is not None else self.sizes or []

    def sizes_of(self, method: str) -> list[int]:
        """The sizes of one method."""
        own = (self.trainings.get(method) or Trainings()).sizes
        return self.all_sizes if own is None else own

    def seeds_of(self, method: str, seeds: list[int]) -> list[int]:
        """Seeds of one method, among the study's."""
        own = (self.trainings.get(method) or Trainings()).seeds
        return [seed for seed in seeds if own is None or seed in own]
