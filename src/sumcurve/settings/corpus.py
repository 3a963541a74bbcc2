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
from sumcurve.settings.content import Raw
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
    """Of the training part."""
    valid: str
    """Of the validation part."""
    test: str
    """Of the test part."""

    @model_validator(mode="after")
    def below(self) -> "ReadyFiles":
        for pattern in (self.train, self.valid, self.test):
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
    """Of the keyed hash that orders groups and records: another key, another split."""
    ready: Annotated[Literal["records"] | ReadyFiles | None, Field(exclude_if=lambda ready: ready is None)] = None
    """Where the parts come from that a published corpus has: from each record's field `split`, or from files."""
    roles: Annotated[
        dict[Literal["train", "valid", "test"], Literal["train", "valid", "test"]],
        Field(exclude_if=lambda roles: not roles),
    ] = {}
    """Of parts that records say: what each is here, as `{valid: test, test: valid}` where the published test part is
    too small to test on. Parts that are not named are what they say.
    """
    shared_groups: Annotated[Boolean, Field(exclude_if=lambda shared: not shared)] = False
    """Whether a group may stand in several parts, as a mailbox of which each has mails: groups are for intervals alone
    then, and parts that are not `ready` are drawn record by record. How many of the test part's groups stand in train,
    the corpus's statistics say.
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
        if self.roles and (self.ready != "records" or {*self.roles} != {*self.roles.values()}):
            raise ValueError("`roles` exchanges parts that records say: it takes `ready: records`, and each part once")
        return self

    def files(self) -> dict[str, str] | None:
        """The pattern of each part's files, where they are named."""
        return self.ready.model_dump() if isinstance(self.ready, ReadyFiles) else None


class Prepare(Settings):
    """How raw records become a corpus. A record outside its limits is dropped and counted.

    A limit in sentences that is not given leaves the specification as it was before there were such limits.
    """

    clean: Annotated[tuple[str, ...], Field(exclude_if=lambda steps: not steps)] = ()
    """Repairs of the raw text, in this order: steps of `sumcurve.sources.cleaning.STEPS`, as `encoding`, `entities`."""
    language: Annotated[str | None, Field(pattern=r"^[a-z]{2,3}$", exclude_if=lambda language: language is None)] = None
    """What a source must be written in, as `en`, by a model that comes with a package; null: any language."""
    tokenizer: Literal["words", "ptb", "blanks", "jieba", "characters"] = "words"
    """How sentences become tokens: words and single signs; the Penn Treebank's (ptb), as CoreNLP writes them; what
    blanks divide, of tokenised text; Chinese words by jieba; Chinese characters.
    """
    lower: Boolean = True
    """Whether tokens are in small letters."""
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
    """Whether a record is dropped whose target has as many tokens as its source, or more (Akhmetov et al. 2022)."""
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
    """What `sumcurve people sheet` wrote beside the sheets: what is behind their codes."""
    key_sha256: Sha256
    """Of its content."""
    answers: str
    """What `sumcurve people read --write` wrote."""
    answers_sha256: Sha256
    """Of its content."""
    judges: str = ""
    """Who answered, where it was not people, such as `two sessions of one language model`: tables say so."""


class Preparation(Settings):
    """How raw content becomes a corpus: with the content's sha256 all that decides one."""

    compose: Compose | None = None
    """Records of one group joined into one; null: none are."""
    prepare: Prepare = Prepare()
    """How raw records become a corpus."""
    split: Split
    """Sizes of its parts, or where they are ready."""


class Trainings(Settings):
    """What a method is trained on where it is less than the others of its corpus."""

    sizes: Annotated[list[Positive], Field(min_length=1)] | None = None
    """Of the corpus's `percents` or `sizes`, rising; null: all."""
    seeds: Annotated[list[Seed], Field(min_length=1), Once] | None = None
    """Of the study's; null: all."""


class CorpusSettings(Preparation):
    """A corpus of a study: where it comes from, how it is prepared, and how it is used."""

    raw: Raw
    """Where the records come from."""
    percents: list[Percent] | None = None
    """Shares of the training part that methods are trained on, rising; or `sizes`."""
    sizes: list[Positive] | None = None
    """Numbers of training records that methods are trained on, rising; or `percents`."""
    trainings: dict[str, Trainings | None] = {}
    """By method, fewer sizes or seeds than the others have. Where methods have several seeds, tables compare by those
    that all of them share; a method of one seed is alone with it. null: as the others, after what it extends.
    """
    seeds_at: dict[Positive, Annotated[list[Seed], Field(min_length=1), Once]] = {}
    """By size, fewer seeds than the study has, for every method. What `trainings` says of seeds holds."""
    methods: Annotated[list[str], Once] | None = None
    """Of the study's methods, those that are trained on this corpus; null: all."""
    source_tokens: Positive
    """What a model reads of a source: its first tokens."""
    target_tokens: Positive
    """What a model is trained to write: a target's first tokens."""
    search: Search
    """The search that all methods are compared under."""
    target: Literal["titles", "summaries"] = "summaries"
    """What the targets are; titles are one sentence, so that no sentence-by-sentence extract is made for them."""
    entities: str = "rules"
    """What finds entities in references: `rules`, ours for texts about code; `names`, those of them that find names and
    coined words, for other texts; or an installed spaCy pipeline's name.
    """
    hyphenated: Literal["whole", "parts"] = "whole"
    """What tokens with hyphens inside are where entities are named: whole words; or their parts, so that "Qaeda" is a
    mention of "al-Qaeda" (Eyal et al. 2019). Tokenizers that leave them joined are `ptb` and `blanks`.
    """
    lead_sentences: Positive = 1
    """Sentences that systems take which extract whole sentences."""
    published: dict[Literal["train", "valid", "test"], Positive] = {}
    """How many records its parts have as they are published, or as `sumcurve add` counts them, for a plan that is asked
    for before they are prepared. No result depends on it.
    """
    shards: Annotated[int, Field(ge=1, le=512)] | None = None
    """Jobs that its preparation is cut into, for content of many gigabytes; null: one process prepares it. The corpus
    is the same. 100 to 200 MB of raw content a shard take a job less than 1 GB of memory.
    """
    title: str = ""
    """One honest sentence, printed under the corpus's tables."""

    @model_validator(mode="after")
    def one_kind_of_size(self) -> "CorpusSettings":
        if (self.percents is None) == (self.sizes is None):
            raise ValueError("give either `percents` or `sizes`")
        return self

    @model_validator(mode="after")
    def what_shards_can_do(self) -> "CorpusSettings":
        if self.shards is not None and self.compose is not None:
            raise ValueError(
                "`shards` cannot go with `compose`, which joins records of all shards in one process: leave one out"
            )
        if self.shards is not None and self.raw.git is not None:
            raise ValueError(
                "`shards` cannot go with `raw.git`, whose files are known by their tree: leave `shards` out"
            )
        return self

    @property
    def all_sizes(self) -> list[int]:
        """The percents, or the numbers of records."""
        return self.percents if self.percents is not None else self.sizes or []

    def sizes_of(self, method: str) -> list[int]:
        """The sizes of one method."""
        own = (self.trainings.get(method) or Trainings()).sizes
        return self.all_sizes if own is None else own

    def seeds_of(self, method: str, size: int, seeds: list[int]) -> list[int]:
        """Of the study's seeds those of one method at one size."""
        own = (self.trainings.get(method) or Trainings()).seeds
        allowed = [set(chosen) for chosen in (own, self.seeds_at.get(size)) if chosen is not None]
        return [seed for seed in seeds if all(seed in chosen for chosen in allowed)]
