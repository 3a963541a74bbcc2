"""The configuration's schema: every key a study or a method file may hold, with its unit.

Unknown keys are errors. Imports nothing heavy, because the Snakefile reads it on every parse.
"""

import hashlib
import re
from collections.abc import Mapping
from types import UnionType
from typing import Annotated, Any, Literal, Self, TypedDict, Union, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    create_model,
    field_validator,
    model_validator,
)

from sumcurve.machine.sums import Sums
from sumcurve.sources import SOURCES, format_of
from sumcurve.sources.cleaning import STEPS as CLEANING

Percent = Annotated[int, Field(ge=1, le=100, strict=True)]  # strict: `true` is no 1, "2" no 2
Positive = Annotated[int, Field(ge=1, strict=True)]
NonNegative = Annotated[int, Field(ge=0, strict=True)]
NonNegativeFloat = Annotated[float, Field(ge=0.0)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
Dropout = Annotated[float, Field(ge=0.0, lt=1.0)]
LimitIfGiven = Annotated[Positive | None, Field(exclude_if=lambda limit: limit is None)]


def on_the_hub(name: str) -> str:
    """The name; ValueError where it can be none of the hub's."""
    if not re.fullmatch(r"[A-Za-z0-9_][\w.-]*/[A-Za-z0-9_][\w.-]*", name, re.ASCII) or ".." in name:
        raise ValueError(f"{name!r} is no name of the hub: give owner/name, with which its page's address ends")
    return name


HubName = Annotated[str, AfterValidator(on_the_hub)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Settings(BaseModel):
    """A frozen block of the configuration in which an unknown key is an error.

    Files and Python say a field's name. An alias is the word that recorded specifications have for it, which stays: the
    names of folders are their digests. Settings are dumped by alias, as blocks of specifications.
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=False,
        allow_inf_nan=False,
        validate_by_alias=False,
        validate_by_name=True,
        serialize_by_alias=True,
        loc_by_alias=False,
    )

    @classmethod
    def of_specification(cls, block: Mapping[str, Any]) -> Self:
        """The settings that a specification holds, by alias."""
        return cls.model_validate(block, by_alias=True, by_name=False)


# --- corpora


class Harvest(Settings):
    """Docstrings of pinned packages, parsed with `ast` on the user's machine; installed ones, or archives."""

    kind: Literal["docstrings", "outlines"] = "docstrings"
    """What is taken: docstrings, or outlines, a module's or class's docstring over those of what lies below it."""
    packages: dict[str, str] | None = None
    """Distributions and their public versions; their installed files are read. Or `archives`."""
    archives: Annotated[str, Field(pattern=r"^[A-Za-z0-9][\w-]*$")] | None = None
    """A file of config/harvest without its ending: wheels and source archives, which are fetched and never installed.
    Or `packages`.
    """
    without: tuple[str, ...] = ()
    """Packages of `archives` that are left out, by their names in the list."""
    only: tuple[str, ...] = ()
    """Packages of `archives` that are taken, by their names in the list; none named: all."""

    @model_validator(mode="after")
    def one_source(self) -> "Harvest":
        if (self.packages is None) == (self.archives is None):
            raise ValueError("give either `packages` or `archives`")
        if (self.without or self.only) and self.archives is None:
            raise ValueError("`without` and `only` are for `archives`; of `packages` name those that you want")
        return self


class Apt(Settings):
    """Package descriptions of a Debian release, from lists that this machine's apt fetches into a folder of its own.

    Other lists are another corpus: where Debian or this machine has others than those of `sha256`, nothing is made.
    """

    codename: Annotated[str, Field(pattern=r"^[a-z]+$")]
    """Of the release, as bookworm; apt's sources must have it."""
    language: Annotated[str, Field(pattern=r"^[a-z]{2,3}(_[A-Z]{2})?$")] = "en"
    """Of the descriptions: en, or a translation's, as zh_CN."""


class Fields(Settings):
    """What the fields of raw records are called, where they do not have our names. No other field is read."""

    id: str | None = "id"
    """A record's own name; null: records are numbered, because they have none."""
    source: str = "source"
    """What is summarized."""
    target: str = "target"
    """Its summary."""
    references: str | None = None
    """Further summaries."""
    group: str | None = None
    """What records belong to that are never split between two parts."""
    split: str | None = None
    """A record's part, where the parts are ready."""
    lines: dict[Literal["source", "target"], Literal["sentences", "paragraphs"]] = {}
    """Of texts in which the ends of lines mean something: whether the lines are the sentences, or each a paragraph."""


class FormAndFields(TypedDict, total=False):
    """How raw content is read: its format, what its fields are called, which rows are left out for a number; a part of
    the corpus's specification.
    """

    form: str
    fields: dict[str, Any]
    least: dict[str, int]


class Raw(Settings):
    """Where a corpus comes from; its identity is the sha256 of that content.

    Of a folder it is that of the lines `sha256sum` prints of its files below it, in the order of their names.
    """

    sha256: Sha256 | None = None
    """Of the raw content: the corpus's identity. `sha256sum FILE` prints that of a file. null: what `files` say, or not
    known yet, as of a copy that is yours alone; then nothing is made, and an error says what to write here.
    """
    harvest: Harvest | None = None
    """Packages that the raw records are made from; or `apt`, `path` or `hub`."""
    apt: Annotated[Apt | None, Field(exclude_if=lambda apt: apt is None)] = None
    """Debian's lists of packages, fetched by this machine's apt; or `harvest`, `path` or `hub`."""
    path: str | None = None
    """A file or a folder of shards; or `harvest`, `apt` or `hub`."""
    hub: HubName | None = None
    """A data set of the Hugging Face hub, as owner/name, whose `files` are fetched; or `harvest`, `apt` or `path`."""
    revision: Annotated[str, StringConstraints(pattern=r"^[0-9a-fA-F]{40}$", to_lower=True)] | None = None
    """Of the hub's: a commit, since branches and tags move."""
    files: dict[str, Sha256 | None] | None = None
    """Of a folder or of the hub: every file by its path, and its sha256, or null where that is not known; of the hub's
    config/hub.lock.yaml says it then, by what the hub states (docs/corpora.md).
    """
    format: str | None = None
    """Of the files: a format of `sumcurve.sources.SOURCES`; null: what the ending of `path` or `files` says."""
    fields: Fields | None = None
    """What the fields are called; null: they have our names, and there are no others."""
    min: dict[str, int] = {}
    """By further fields that hold a number, as people's grade of a pair, its least: a row below it is dropped and
    counted, a row without the field stays.
    """

    @model_validator(mode="before")
    @classmethod
    def of_its_files(cls, told: Any) -> Any:
        """The content's sha256, where that of every file is told: of the lines that `sha256sum` prints of them."""
        files = told.get("files") if isinstance(told, Mapping) else None
        if not isinstance(files, Mapping) or not files or not all(isinstance(one, str) for one in files.values()):
            return told
        lines = "".join(f"{files[name]}  {name}\n" for name in sorted(map(str, files)))
        found = hashlib.sha256(lines.encode()).hexdigest()
        if told.get("sha256") not in (None, found):
            raise ValueError(f"the sha256 of `files` give {found}, not what `sha256` says: leave it out")
        return {**told, "sha256": found}

    @model_validator(mode="after")
    def one_source(self) -> "Raw":
        if [self.harvest, self.apt, self.path, self.hub].count(None) != 3:
            raise ValueError("give one of `harvest`, `apt`, `path` and `hub`")
        made = self.harvest is not None or self.apt is not None
        if made and (self.format or self.fields or self.files or self.min):
            raise ValueError("`format`, `fields`, `files` and `min` are for a `path` or a `hub`")
        if made and self.sha256 is None:
            raise ValueError(
                "give the `sha256` of what is harvested or fetched by apt: the error of a wrong one prints it"
            )
        if self.hub is not None and not (self.revision and self.files):
            raise ValueError("`hub` needs a `revision` and `files`")
        if self.hub is None and self.revision is not None:
            raise ValueError("`revision` is for a `hub`")
        for name in self.files or ():
            if not name or name.startswith("/") or ".." in name.split("/"):
                raise ValueError(f"{name!r} names no file below the corpus's folder")
        if self.format is not None and self.format not in SOURCES:
            raise ValueError(f"no format {self.format!r}; there are {', '.join(SOURCES)}")
        if not made and self.format is None and self._format_of_names() is None:
            named = repr(self.path) if self.path else "its files"
            raise ValueError(f"the ending of {named} says no format; add `format:`, one of {', '.join(SOURCES)}")
        return self

    def _format_of_names(self) -> str | None:
        """What the ending of the path says, or those of the files if they agree."""
        if self.path is not None and (found := format_of(self.path)):
            return found
        formats = {format_of(name) for name in self.files or ()}
        return formats.pop() if len(formats) == 1 else None

    def format_in_force(self) -> str:
        """Of SOURCES: what is said, else what the ending of the path says; a harvest makes JSON lines."""
        if self.apt is not None:
            return "debian"
        return self.format or self._format_of_names() or "jsonl"

    def form_and_fields(self) -> FormAndFields:
        """How the content is read, as far as that is not JSON lines with our names of fields, every row of them."""
        told: FormAndFields = {}
        if self.format_in_force() != "jsonl":
            told["form"] = self.format_in_force()
        if self.fields is not None:
            told["fields"] = self.fields.model_dump(mode="json", exclude_defaults=True)
        if self.min:
            told["least"] = self.min
        return told


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
    """Sizes in records. A group (source module) is never shared between two parts.

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


def _once(values: list[Any]) -> list[Any]:
    """Refuse a value that stands twice, which would be one cell of the design counted as two."""
    twice = sorted({value for value in values if values.count(value) > 1})
    if twice:
        raise ValueError(f"{', '.join(map(str, twice))} stands twice; leave one out")
    return values


Once = AfterValidator(_once)


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
    lower: bool = True
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
    shorter_target: Annotated[bool, Field(exclude_if=lambda asked: not asked)] = False
    """Whether a record is dropped whose target has as many tokens as its source, or more (Akhmetov et al. 2022)."""
    min_alphabetic_share: Annotated[Share, Field(alias="least_alphabetic_share")] = 0.0
    """Share of the source's tokens that hold a letter, at least."""
    duplicates: Literal["drop", "keep"] = "drop"
    """Records that repeat a source or a target exactly."""
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


class Decoding(Settings):
    """What decides a search beside the lengths of summaries."""

    beam: Positive = 4
    """Hypotheses at a time; 1 is greedy."""
    length_penalty: Literal["average", "gnmt", "none"] = "average"
    """How log-probabilities of summaries of different lengths compare: divided by tokens**alpha (average), by Wu et
    al. 2016's penalty (gnmt), or as they are.
    """
    alpha: NonNegativeFloat = 1.0
    """Exponent of the length penalty."""
    block_ngram: NonNegative = 3
    """Length of n-grams that may not repeat, 0: all may; n-grams that hold a sentence mark are exempt."""
    exempt: tuple[str, ...] = ()
    """Words whose n-grams may repeat, too, where the vocabulary has them."""
    early_stopping: Literal["first", "heuristic", "never"] = "heuristic"
    """When a beam ends: transformers' True (first), False (heuristic) and "never"."""
    unknown: Literal["copy", "ban", "keep"] = "copy"
    """What becomes of an unknown word: the most attended source word (copy), never written (ban), or kept."""
    coverage_penalty: NonNegativeFloat = 0.0
    """Beta of Eyal et al. 2019: on attention beyond 1, at every step."""
    entity_penalty: NonNegativeFloat = 0.0
    """Gamma of Eyal et al. 2019: on salient entities left unattended, at the end."""
    entity_positions: Literal["model", "gold"] = "model"
    """Whose salient entities: the model's, or the reference's (gold), which is a bound and no competitor."""

    @model_validator(mode="after")
    def consistent(self) -> Self:
        if self.exempt and not self.block_ngram:
            raise ValueError(f"exempt {[*self.exempt]} changes nothing where block_ngram is 0; leave it out")
        if self.length_penalty == "none" and self.alpha != 1:
            raise ValueError(f"alpha {self.alpha} changes nothing where length_penalty is none; leave it out")
        return self


class Search(Decoding):
    """Decoding of one corpus. Lengths count tokens without the end mark."""

    min_tokens: NonNegative = 1
    """Tokens of a summary, at least."""
    max_tokens: Positive
    """Tokens of a summary, at most."""

    def signature(self) -> str:
        """All that decides an output beside the model, in one word: `beam4+min6+max20+average1.5+block3+unk-copy`.

        What is off, or is the default of `early_stopping`, is left out.
        """

        def exact(value: float) -> str:
            return repr(value).removesuffix(".0")

        norm = "none" if self.length_penalty == "none" else f"{self.length_penalty}{exact(self.alpha)}"
        parts = [f"beam{self.beam}", f"min{self.min_tokens}", f"max{self.max_tokens}", norm]
        but = "".join(f"-but-{word}" for word in self.exempt)
        parts += [f"block{self.block_ngram}{but}"] if self.block_ngram else []
        parts += [f"unk-{self.unknown}"]
        parts += [f"stop-{self.early_stopping}"] if self.early_stopping != "heuristic" else []
        parts += [f"coverage{exact(self.coverage_penalty)}"] if self.coverage_penalty else []
        if self.entity_penalty:
            gold = "-gold" if self.entity_positions == "gold" else ""
            parts += [f"entity{exact(self.entity_penalty)}{gold}"]
        return "+".join(parts)

    def greedy(self) -> "Search":
        """Greedy decoding under the same limits: what validation decodes with."""
        read = {"min_tokens", "max_tokens", "block_ngram", "exempt", "unknown"}
        return Search(beam=1, **self.model_dump(include=read))


class MethodSearch(Decoding):
    """What a method's paper asks of decoding, the first three always. Lengths are the corpus's, and nothing else is."""

    beam: Positive
    length_penalty: Literal["average", "gnmt", "none"]
    block_ngram: NonNegative

    def over(self, search: Search) -> Search:
        """This search under the corpus's lengths."""
        return search.model_copy(update=self.model_dump())


class Judgements(Settings):
    """Answers of people to one set of sheets; `sumcurve people read --write` prints it."""

    key: str
    """What `sumcurve people sheet` wrote beside the sheets: what is behind their codes."""
    key_sha256: Sha256
    """Of its content."""
    answers: str
    """What `sumcurve people read --write` wrote."""
    answers_sha256: Sha256
    """Of its content."""


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
    seeds: Annotated[list[NonNegative], Field(min_length=1), Once] | None = None
    """Of the study's; null: all."""


class CorpusSettings(Preparation):
    """A corpus of a study: where it comes from, how it is prepared, and how it is used."""

    raw: Raw
    """Where the records come from."""
    percents: list[Percent] | None = None
    """Shares of the training part that methods are trained on, rising; or `sizes`."""
    sizes: list[Positive] | None = None
    """Numbers of training records that methods are trained on, rising; or `percents`."""
    trainings: dict[str, Trainings] = {}
    """By method, fewer sizes or seeds than the others have. Where methods have several seeds, tables compare by those
    that all of them share; a method of one seed is alone with it.
    """
    seeds_at: dict[Positive, Annotated[list[NonNegative], Field(min_length=1), Once]] = {}
    """By size, fewer seeds than the study has, for every method. What `trainings` says of seeds holds."""
    methods: list[str] | None = None
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
    """What finds entities in references: our rules, or an installed spaCy pipeline's name."""
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
        return self

    @property
    def asked(self) -> list[int]:
        """The percents, or the numbers of records."""
        return self.percents if self.percents is not None else self.sizes or []

    def asked_of(self, method: str) -> list[int]:
        """The sizes of one method."""
        own = self.trainings.get(method, Trainings()).sizes
        return self.asked if own is None else own

    def seeds_of(self, method: str, size: int, seeds: list[int]) -> list[int]:
        """Of the study's seeds those of one method at one size."""
        own = self.trainings.get(method, Trainings()).seeds
        allowed = [set(one) for one in (own, self.seeds_at.get(size)) if one is not None]
        return [seed for seed in seeds if all(seed in one for one in allowed)]


# --- methods


GateInput = Literal["context", "intra", "h", "c", "input", "embedding", "readout"]


class RecurrentSettings(Settings):
    """One encoder-decoder with attention; most methods are settings of it (models.recurrent).

    H is `hidden`, D the decoder's width, E `embedding`; the encoder's states are 2H wide.
    """

    kind: Literal["recurrent"]
    embedding: Positive
    """E, width of a word."""
    hidden: Positive
    """H, width of each encoder direction."""
    decoder: Positive | None = None
    """D, width of the decoder; null: H."""
    encoder_layers: Positive = 1
    """Layers of the encoder."""
    decoder_layers: Positive = 1
    """Layers of the decoder."""
    convolutional_gate: bool = False
    """Lin et al. 2018: convolutions and self-attention gate the encoder's states."""
    learned_start: bool = False
    """The encoder's first state is learned, not zero."""
    bridge: Literal["relu", "tanh", "linear", "direction", "concat"] = "relu"
    """The decoder's first state from the encoder's last: one linear layer (relu, tanh, linear) of both directions,
    one with ReLU shared by the directions (direction), or both directions side by side (concat).
    """
    feed: Literal["nothing", "context", "merged", "readout"]
    """What of the last step enters the decoder LSTM."""
    query: Literal["h", "hc"] = "h"
    """What attention is asked with: the decoder's hidden state, or its cell state, too."""
    attention: Literal["additive", "bilinear", "gated", "projected"] = "additive"
    """How a query and a source position are scored; gated: bilinear behind a two-layer SELU net; projected:
    bilinear on states projected to D, context D wide.
    """
    attention_width: Positive | None = None
    """Of additive attention; null: 2H."""
    temporal: bool = False
    """Scores are normalised by their past at each source position (Paulus et al. 2018)."""
    intra_decoder: Literal["none", "additive", "bilinear"] = "none"
    """Attention to earlier decoder states."""
    readout: Literal["linear", "selu", "tanh", "none"] = "linear"
    """What the vocabulary is multiplied with, from [h; context; intra]: linear: D wide; selu: two layers, D wide;
    tanh: two layers, E wide; none: as it is.
    """
    copy_attention: bool = False
    """Whether source words can be copied."""
    gate: tuple[GateInput, ...] = ("context", "c", "h", "input")
    """What the copy gate sees."""
    output: Literal["untied", "tied", "tanh"] = "untied"
    """The output layer: tied to the embedding, through a projection unless the readout is E wide; tanh: rows
    tanh(W_embedding W).
    """
    output_bias: bool = True
    """Whether the output layer has a bias."""
    second_output: bool = False
    """A second output layer for training (Wei et al. 2018)."""
    entity_attention: bool = False
    """Salience of each source token (Eyal et al. 2019)."""
    coverage: bool = False
    """Attention sees the sum of earlier attention from the start; a phase can switch it on, too."""
    dropout: Dropout = 0.0
    """Share of values that training sets to zero."""

    @property
    def width(self) -> int:
        """D, of the decoder."""
        return self.decoder or self.hidden

    @model_validator(mode="after")
    def parts_fit(self) -> "RecurrentSettings":
        if self.bridge in ("concat", "direction") and self.width != 2 * self.hidden:
            raise ValueError(f"bridge {self.bridge!r} needs decoder = 2 * hidden = {2 * self.hidden}")
        if self.bridge not in ("concat", "direction") and (self.encoder_layers, self.decoder_layers) != (1, 1):
            raise ValueError(f"bridge {self.bridge!r} is for one layer; use concat for several")
        if self.bridge in ("concat", "direction") and self.decoder_layers != self.encoder_layers:
            raise ValueError(f"bridge {self.bridge!r} needs as many decoder_layers as encoder_layers")
        if self.decoder_layers > 1 and self.feed != "nothing":
            raise ValueError("several decoder_layers are for feed nothing")
        if (self.coverage or self.attention_width) and self.attention != "additive":
            raise ValueError("coverage and attention_width need attention additive")
        if self.temporal and self.coverage:
            raise ValueError("temporal attention and coverage exclude each other")
        if self.feed in ("context", "merged") and self.attention == "projected":
            raise ValueError("attention projected feeds back nothing or the readout")
        if self.output == "tanh" and self.readout != "none":
            raise ValueError("output tanh multiplies the states themselves: use readout none")
        if "intra" in self.gate and self.copy_attention and self.intra_decoder == "none":
            raise ValueError("the gate cannot see `intra` where intra_decoder is none")
        return self


class NgramSettings(Settings):
    """Rush et al.'s feed-forward language model with an attention-based encoder (models.ngram)."""

    kind: Literal["ngram"]
    embedding: Positive
    """D, of each of its embeddings."""
    hidden: Positive
    """H, of the hidden layer."""
    context: Positive = 5
    """C, words before the next one."""
    smoothing: Positive = 5
    """Width of the window that averages source embeddings; odd."""
    dropout: Dropout = 0.0
    """Share of values that training sets to zero."""

    @model_validator(mode="after")
    def window_has_a_middle(self) -> "NgramSettings":
        if self.smoothing % 2 == 0:
            raise ValueError(f"smoothing {self.smoothing} is even: a window has a word in its middle; use an odd width")
        return self


class TransformerSettings(Settings):
    """Pre-norm encoder-decoder with sinusoidal positions (models.transformer)."""

    kind: Literal["transformer"]
    width: Positive
    """Of a word and of every layer."""
    heads: Positive
    """Of each attention."""
    feedforward: Positive
    """Width between the two layers behind each attention."""
    encoder_layers: Positive
    """Layers of the encoder."""
    decoder_layers: Positive
    """Layers of the decoder."""
    copy_attention: bool = True
    """A separate single-head attention on the decoder's output, from which source words are copied."""
    output: Literal["untied", "tied"] = "untied"
    """The output layer: of its own, or the embedding's."""
    dropout: Dropout = 0.1
    """Share of values that training sets to zero."""


class ExtractRewriteSettings(Settings):
    """Chen and Bansal's extractor and abstractor (models.extract_rewrite)."""

    kind: Literal["extract-rewrite"]
    abstractor: RecurrentSettings
    """What rewrites an extracted sentence."""
    filters: Positive = 100
    """Of each convolution of the sentence encoder."""
    windows: tuple[Positive, ...] = (3, 4, 5)
    """Widths of the convolutions, in words."""
    hidden: Positive
    """Of the sentence LSTM (each direction) and of the pointer LSTM."""
    hops: Positive = 1
    """Glimpses before pointing."""
    dropout: Dropout = 0.0
    """Of the extractor: share of values that training sets to zero."""
    sentences: Positive
    """Extracted before the extractor has learned to stop."""
    max_sentences: Annotated[Positive, Field(alias="most_sentences")] = 60
    """Of a source; later ones are not read."""
    rewrite_tokens: Positive = 30
    """Of one rewritten sentence."""


class Lora(Settings):
    """Low-rank adaptation (Hu et al. 2022) by `peft`: small matrices are trained beside the model's, which stay."""

    rank: Positive = 8
    """Of the matrices."""
    alpha: Annotated[float, Field(gt=0.0)] = 16.0
    """What they add is scaled by alpha / rank."""
    dropout: Dropout = 0.0
    """Share of what enters them that training sets to zero."""
    modules: tuple[str, ...] | None = None
    """Endings of the names of the layers that get them; null: those that peft has for the architecture."""


class TransformersSettings(Settings):
    """A pretrained model of Hugging Face transformers (capabilities.pretrained.model), a local folder's or the hub's.

    It reads and writes text as people do, in subwords of its own. Its identity is the sha256 of the lines `sha256sum`
    prints of its files (those of `MODEL_FILES`), in the order of their names; where it lies is no part of any name.
    """

    kind: Literal["transformers"]
    sha256: Sha256
    """Of the model's files: its identity."""
    path: str | None = None
    """The folder of the model; or `hub`."""
    hub: HubName | None = None
    """The model's name on the hub, `owner/name`; `revision` goes with it."""
    revision: Annotated[str, StringConstraints(to_lower=True)] | None = None
    """The commit on the hub, 40 hex digits: branches and tags move."""
    architecture: Literal["encoder-decoder", "decoder"] = "encoder-decoder"
    """By which of transformers' auto classes it is read: AutoModelForSeq2SeqLM or AutoModelForCausalLM."""
    template: str = "{source}"
    """What the model reads: `{source}` is the source, and stands in it once."""
    lora: Lora | None = None
    """What is trained: low-rank matrices beside the weights; null: all weights."""
    zero_shot: bool = False
    """Whether the model's summaries before any training are a row of the tables, at 0 records."""
    tokens_a_word: Annotated[float, Field(ge=1.0)] = 2.0
    """Subwords that a search may write for each word of the corpus's longest summary, which is cut to that afterwards.
    """
    gradient_checkpointing: bool = False
    """Whether activations are computed again in the backward pass, which takes less memory and more time."""
    dropout: Dropout | None = None
    """Share of values that training sets to zero; null: the model's own."""

    @model_validator(mode="after")
    def one_place(self) -> "TransformersSettings":
        if self.path is not None and self.hub is not None:
            raise ValueError("give either `path` or `hub`")
        if (self.hub is None) != (self.revision is None):
            raise ValueError("`hub` and `revision` go together: the hub's name of a model, and the commit")
        if self.revision is not None and not re.fullmatch(r"[0-9a-f]{40}", self.revision):
            raise ValueError(
                f"revision {self.revision!r} is a branch or a tag, which moves, or a part of a commit's name; give all "
                "40 hex digits of the commit (the hub shows them under `Files and versions`, `History`)"
            )
        if self.template.count("{source}") != 1:
            raise ValueError(f"template {self.template!r} must hold {{source}} once")
        if self.architecture == "decoder" and self.template.endswith("{source}"):
            raise ValueError(
                "a model of architecture decoder goes on with what it reads: end the template with what asks for a "
                'summary, as "{source}\nSummary:"'
            )
        return self

    def decides(self) -> dict[str, Any]:
        """What decides the outcome of a training, as plain values: not where the model lies, nor what else is asked."""
        return self.model_dump(mode="json", exclude={"path", "hub", "revision", "zero_shot"})


class BartSettings(Settings):
    """BART (Lewis et al. 2020), made here: its architecture and subwords are those of the study's `pretraining`.

    It differs from others of its kind by what it has learned of the pretraining's packages, and by nothing else.
    """

    kind: Literal["bart"]
    outside: Literal["nothing", "bodies", "pairs"]
    """What it learns of the packages outside of the study's: nothing (weights are drawn from the seed alone); bodies
    (its weights are the pretraining's); pairs (weights as for nothing, and it is trained on their sources and targets,
    too, all of them among the fraction's).
    """
    dropout: Dropout = 0.1
    """Share of values that training sets to zero."""
    tokens_a_word: Annotated[float, Field(ge=1.0)] = 2.0
    """Subwords that a search may write for each word of the corpus's longest summary, which is cut to that afterwards.
    """


SubwordSettings = TransformersSettings | BartSettings  # of models that read and write text in subwords of their own

HELD_OUT = "-unseen"  # what follows a corpus's name where the part is meant that it holds out whole
ZERO_SHOT = "-zero-shot"  # what follows a method's name where its pretrained model is meant before any training
MODEL_FILES = ("*.json", "*.safetensors", "*.txt", "*.model")  # of a pretrained model's folder; no others are read


FAIRSEQ = "fairseq-fixed 0.12.3.1"  # the release that `make fairseq-env` installs, and its version


class FairseqSettings(Settings):
    """A model of fairseq (Ott et al. 2019), which fairseq itself trains from new weights (`make fairseq-env`).

    Source and target share their embedding, which is the output layer, too. What is not said here is as the
    architecture has it in fairseq, but that a Transformer's layers are normalised first, as ours are.
    """

    kind: Literal["fairseq"]
    architecture: Literal["transformer", "transformer_pointer_generator", "lstm"]
    """fairseq's word for it. The pointer generator is the plug-in that comes with fairseq (Enarvi et al. 2020), which
    copies by the attention of one head of the last decoder layer.
    """
    width: Positive
    """Of a word, and of every layer of a Transformer."""
    heads: Positive | None = None
    """Of each attention of a Transformer."""
    feedforward: Positive | None = None
    """Width between the two layers behind each attention of a Transformer."""
    hidden: Positive | None = None
    """Width of the LSTM's encoder, each direction, and of its decoder."""
    encoder_layers: Positive = 1
    """Layers of the encoder."""
    decoder_layers: Positive = 1
    """Layers of the decoder."""
    dropout: Dropout = 0.1
    """Share of values that training sets to zero."""

    @model_validator(mode="after")
    def sizes_of_the_architecture(self) -> "FairseqSettings":
        wanted = ("hidden",) if self.architecture == "lstm" else ("heads", "feedforward")
        for key in ("heads", "feedforward", "hidden"):
            if (getattr(self, key) is not None) != (key in wanted):
                verb = "needs" if key in wanted else "has no"
                raise ValueError(f"architecture {self.architecture} {verb} {key}")
        if self.heads is not None and (self.width % self.heads or self.width % 2):
            raise ValueError(f"width {self.width} must be even and divisible by heads {self.heads}")
        return self

    @property
    def copies(self) -> bool:
        return self.architecture == "transformer_pointer_generator"

    def decides(self) -> dict[str, Any]:
        """What decides the outcome of a training, as plain values: the release of fairseq, too."""
        return self.model_dump(mode="json") | {"release": FAIRSEQ}


class Optimizer(Settings):
    """How a phase's weights are updated."""

    name: Literal["adam", "adagrad", "sgd"] = "adam"
    """The algorithm."""
    rate: Annotated[float, Field(gt=0.0)]
    """The learning rate; for schedule noam its peak."""
    betas: tuple[float, float] = (0.9, 0.999)
    """Adam's."""
    epsilon: float = 1e-8
    """Adam's."""
    accumulator: float = 0.1
    """Adagrad's initial sum."""
    schedule: Literal["constant", "noam", "plateau"] = "constant"
    """How the rate changes after the warm-up."""
    warmup_updates: NonNegative = 0
    """Updates in which the rate rises: linear for constant and plateau, Vaswani et al.'s for noam."""
    clip_norm: Annotated[float, Field(gt=0.0)] | None = None
    """Norm that a gradient is cut to; null: none."""

    @model_validator(mode="after")
    def noam_warms_up(self) -> "Optimizer":
        if self.schedule == "noam" and not self.warmup_updates:
            raise ValueError("schedule noam needs warmup_updates of at least 1")
        return self


class Stop(Settings):
    """Validate every max(every_updates, every_epochs of an epoch); stop after `patience` stale validations.

    A validation is stale where it might be selected and is no better. None counts during the optimiser's warm-up, nor
    before any greedy summary of validation has had a bigram right. A phase whose patience cannot run out before
    `max_updates` has a fixed budget.
    """

    every_updates: Positive
    """Updates between two validations, at least."""
    every_epochs: Annotated[float, Field(gt=0.0)]
    """Epochs between two validations, at least."""
    patience: Positive
    """Stale validations that end the phase."""
    min_updates: Annotated[NonNegative, Field(alias="least_updates")] = 0
    """Of this phase, in a checkpoint that may be selected."""
    max_updates: Annotated[Positive, Field(alias="most_updates")]
    """A budget, or a safety net; History names it when it is hit. Never a wall clock."""

    @model_validator(mode="after")
    def something_can_be_selected(self) -> "Stop":
        if self.min_updates > self.max_updates:
            raise ValueError(
                f"min_updates {self.min_updates} is above max_updates {self.max_updates}: "
                "no checkpoint could be selected"
            )
        return self


Loss = Literal[
    "nll",
    "nll+coverage",  # See et al. 2017
    "nll+entity",  # Eyal et al. 2019
    "self-train",  # Wei et al. 2018
    "dual-train",  # Wei et al. 2018
    "mixed",  # Paulus et al. 2018: self-critical and nll
    "extraction",  # Chen and Bansal 2018: the extractor on labels
    "actor-critic",  # Chen and Bansal 2018: the extractor on rewards
]


class PhaseSettings(Settings):
    """One phase: a loss, its weights, an optimiser and a stopping rule. A weight its loss ignores is an error."""

    name: str
    """What History and tables call it."""
    loss: Loss
    """What is minimised."""
    coverage: bool = False
    """Switch the model's coverage on (weights 0) before this phase."""
    label_smoothing: Share = 0.0
    """nll: share of the target that all words have."""
    own_words: Share = 0.0
    """nll: decoder inputs replaced by the model's own predictions (Paulus et al. 2018)."""
    entity_weight: Share | None = None
    """nll+entity: delta, on the salience loss; the rest is on the nll."""
    entity_alone: bool = False
    """nll+entity: the salience loss trains its own layer, not the encoder."""
    soft_weight: NonNegativeFloat | None = None
    """self-train, dual-train: lambda, on the soft targets."""
    temperature: Annotated[float, Field(gt=0.0)] | None = None
    """self-train, dual-train: tau, of the soft targets."""
    detach_second: bool = False
    """dual-train: the second output does not train what both share."""
    reward_weight: Share | None = None
    """mixed: gamma, on the self-critical loss; the rest is on the nll."""
    discount: Share | None = None
    """actor-critic: of a step's reward for the step before."""
    optimizer: Optimizer
    stop: Stop
    """When the phase is validated and when it ends."""

    @model_validator(mode="after")
    def keys_suit_the_loss(self) -> "PhaseSettings":
        needs = {
            "entity_weight": ("nll+entity",),
            "soft_weight": ("self-train", "dual-train"),
            "temperature": ("self-train", "dual-train"),
            "reward_weight": ("mixed",),
            "discount": ("actor-critic",),
        }
        for key, losses in needs.items():
            if (getattr(self, key) is not None) != (self.loss in losses):
                verb = "needs" if self.loss in losses else "ignores"
                raise ValueError(f"phase {self.name!r}: loss {self.loss!r} {verb} {key}")
        only = {
            "label_smoothing": ("nll",),
            "own_words": ("nll",),
            "entity_alone": ("nll+entity",),
            "detach_second": ("dual-train",),
        }
        for key, losses in only.items():
            if getattr(self, key) and self.loss not in losses:
                raise ValueError(f"phase {self.name!r}: loss {self.loss!r} ignores {key}; remove it")
        return self


CONTROL = "control"  # the phase that a last phase is compared with


class Training(Settings):
    batch: Positive
    """Records of one update."""
    accumulate: Positive = 1
    """Parts a batch is computed in, one after another; the update is the same."""
    precision: Literal["single", "tf32", "bf16"] = "single"
    """tf32: a GPU multiplies with mantissas of ten bits, a CPU as in single. bf16: autocast; attention scores, softmax
    and losses stay single."""
    vocabulary: Positive
    """Most frequent words of the fraction, beside the five marks."""
    min_count: Annotated[Positive, Field(alias="least_count")] = 1
    """Occurrences a word needs to enter the vocabulary."""
    valid_records: Positive
    """Decoded greedily by a validation: the first of the validation part, or all where it holds fewer."""
    phases: Annotated[list[PhaseSettings], Field(min_length=1)]
    """In their order."""

    @model_validator(mode="after")
    def phases_have_names_of_their_own(self) -> "Training":
        names = [phase.name for phase in self.phases]
        if len(set(names)) < len(names):
            raise ValueError(f"two phases share a name in {names}; History could not tell them apart")
        if CONTROL in names[:-1]:
            raise ValueError(f"a phase is called {CONTROL!r}, as the control of a last phase is; give it another name")
        return self

    @model_validator(mode="after")
    def batch_divides(self) -> "Training":
        if self.accumulate > self.batch:
            raise ValueError(f"accumulate {self.accumulate} is above batch {self.batch}")
        if self.accumulate > 1 and any(phase.loss == "actor-critic" for phase in self.phases):
            raise ValueError("actor-critic standardises returns over the whole batch: accumulate must be 1")
        return self


Model = Annotated[
    RecurrentSettings
    | TransformerSettings
    | NgramSettings
    | ExtractRewriteSettings
    | TransformersSettings
    | BartSettings
    | FairseqSettings,
    Field(discriminator="kind"),
]


def fairseq_search(search: Decoding) -> str:
    """What fairseq's search cannot do of what `search` asks; empty where it can all."""
    if search.length_penalty == "gnmt":
        return "fairseq's search has no length_penalty gnmt; say average or none"
    if search.coverage_penalty or search.entity_penalty:
        return "fairseq's search has no penalties of attention; set coverage_penalty and entity_penalty to 0"
    return ""


def _suits_fairseq(model: FairseqSettings, training: Training, search: Decoding | None) -> None:
    """ValueError for what fairseq is not asked to do."""
    if len(training.phases) > 1:
        raise ValueError("a model of kind fairseq is trained in one phase")
    [phase] = training.phases
    where = f"phase {phase.name!r}"
    if phase.loss != "nll" or phase.own_words:
        raise ValueError(f"{where}: a model of kind fairseq is trained on loss nll, without own_words")
    if phase.label_smoothing and model.copies:
        raise ValueError(
            f"{where}: label_smoothing is for models that do not copy (an extended vocabulary has no fixed uniform "
            "distribution); set it to 0"
        )
    if phase.optimizer.name != "adam" or phase.optimizer.schedule == "plateau":
        raise ValueError(f"{where}: a model of kind fairseq is trained by adam, on schedule constant or noam")
    if training.accumulate > 1 or training.precision != "single":
        raise ValueError("a model of kind fairseq is trained with accumulate 1 and precision single")
    if search is not None and (reason := fairseq_search(search)):
        raise ValueError(f"search: {reason}")


class Form(Settings):
    """A method in one form, complete: small, paper, …"""

    model: Model
    training: Training
    search: MethodSearch | None = None
    """What the method's paper asks of decoding, beside the corpus's search."""

    @model_validator(mode="after")
    def phases_suit_the_model(self) -> "Form":
        model = self.model
        inner = model.abstractor if model.kind == "extract-rewrite" else model
        copies = isinstance(inner, RecurrentSettings | TransformerSettings) and inner.copy_attention
        for phase in self.training.phases:
            where = f"phase {phase.name!r}"
            if phase.label_smoothing and copies:
                raise ValueError(
                    f"{where}: label_smoothing is for models without copy_attention "
                    "(an extended vocabulary has no fixed uniform distribution); set it to 0"
                )
            covers = phase.coverage or phase.loss == "nll+coverage"
            if covers and not (inner.kind == "recurrent" and inner.attention == "additive" and not inner.temporal):
                raise ValueError(f"{where}: coverage needs a recurrent model with additive attention")
            extracts = phase.loss in ("extraction", "actor-critic")
            if extracts and model.kind != "extract-rewrite":
                raise ValueError(f"{where}: loss {phase.loss!r} needs a model of kind extract-rewrite")
            if model.kind == "extract-rewrite" and not extracts and phase.loss != "nll":
                raise ValueError(f"{where}: a model of kind extract-rewrite has losses nll, extraction, actor-critic")
            if phase.loss == "nll+entity" and not (inner.kind == "recurrent" and inner.entity_attention):
                raise ValueError(f"{where}: loss nll+entity needs entity_attention")
            if phase.loss == "dual-train" and not (inner.kind == "recurrent" and inner.second_output):
                raise ValueError(f"{where}: loss dual-train needs second_output")
            if isinstance(model, SubwordSettings) and (phase.loss != "nll" or phase.own_words):
                raise ValueError(f"{where}: a model of kind {model.kind} is trained on loss nll, without own_words")
            if phase.loss in ("self-train", "dual-train") and copies:
                raise ValueError(f"{where}: loss {phase.loss!r} is for models without copy_attention")
        search = self.search
        if isinstance(model, SubwordSettings) and search and (search.coverage_penalty or search.entity_penalty):
            raise ValueError(f"search: a model of kind {model.kind} shows no attention; set its penalties to 0")
        if model.kind == "fairseq":
            _suits_fairseq(model, self.training, search)
        marks = inner.kind == "recurrent" and inner.entity_attention
        if search and search.entity_penalty and search.entity_positions != "gold" and not marks:
            raise ValueError("search.entity_penalty needs entity_attention, or entity_positions gold")
        return self

    @classmethod
    def of_run(cls, specification: dict[str, Any]) -> "Form":
        """What a run's specification says of its training."""
        model = {key: value for key, value in specification["model"].items() if key != "release"}
        return cls.of_specification({"model": model, "training": specification["training"]})

    def _with(self, phases: list[PhaseSettings]) -> "Form":
        return self.model_copy(update={"training": self.training.model_copy(update={"phases": phases})})

    def before(self) -> "Form":
        """Without the last phase: how the checkpoint came about that the last phase starts from."""
        return self._with(self.training.phases[:-1])

    def control(self) -> "Form | None":
        """With a last phase that differs from the method's by its loss alone: it has that of the phase before.

        Optimiser and budget are the last phase's, and patience never ends it. None for a method of one phase, and
        where the last phase has the loss of the phase before: it is its own control.
        """
        *before, last = self.training.phases
        if not before:
            return None
        same = before[-1].model_copy(update={"name": last.name, "optimizer": last.optimizer, "stop": last.stop})
        if same == last:
            return None
        stop = last.stop.model_copy(update={"patience": last.stop.max_updates})
        return self._with([*before, same.model_copy(update={"name": CONTROL, "stop": stop})])


class Trial(Settings):
    """What one trial of the first stage puts into a form of a method."""

    rate: Annotated[float, Field(gt=0.0)]
    """Of the first phase (and of FASTRL's extractor)."""
    dropout: Dropout
    """Of the whole model."""


class MethodSettings(Settings):
    """A method, complete: its file (`MethodFile`) over the forms (`FormFile`)."""

    title: str
    """What tables and figures call it."""
    paper: str
    """Where it comes from, and what here differs from it."""
    begins_as: str | None = None
    """The method that this one differs from by its last phase (or by its search) alone: the phases before are trained
    once, as that method's.
    """
    trials: list[Trial] | None = None
    """What `make trials` tries in place of the `first` of its file, at most as many; null: what is there."""
    forms: dict[str, Form]
    """By name."""


class Layer(Settings):
    """What a method's file says of a form; the form is validated when all that is said of it is merged."""

    model: dict[str, Any] = {}
    """The model: its kind and what that takes."""
    search: dict[str, Any] | None = None
    """What the method's paper asks of decoding, beside the corpus's search."""
    training: dict[str, Any] = {}
    """Where it differs from the form's."""
    phases: dict[str, dict[str, Any]] = {}
    """By name, in their order: the loss, and where the rest differs from the form's."""


class MethodFile(Layer):
    """A file of `config/methods/`: what a method is in every form, and by form what differs."""

    title: str
    """What tables and figures call it."""
    paper: str
    """Where it comes from, and what here differs from it."""
    begins_as: str | None = None
    """The method that this one differs from by its last phase (or by its search) alone: the phases before are trained
    once, as that method's.
    """
    trials: list[Trial] | None = None
    """What `make trials` tries in place of the `first` of its file, at most as many; null: what is there."""
    forms: dict[str, Layer | None]
    """By form, a file of `config/forms/` without its ending: what of the method is like this in that form alone."""


def part_of(model: type[BaseModel], *without: str) -> Any:
    """The model with no key required, and some keys gone: what a file says that another file completes.

    Rules between keys are left to the whole.
    """
    fields: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        if name not in without:
            default = None if field.is_required() else field.get_default(call_default_factory=True)
            extra = _without_default if field.is_required() else None
            told = Field(json_schema_extra=extra)
            fields[name] = (Annotated[_part_of(field.annotation), *field.metadata, told], default)
    return create_model(model.__name__, __base__=Settings, __doc__=model.__doc__, **fields)


def _part_of(annotation: Any) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return part_of(annotation)
    if get_origin(annotation) in (Union, UnionType):
        return Union[tuple(map(_part_of, get_args(annotation)))]  # noqa: UP007
    if get_origin(annotation) is dict and isinstance(inner := get_args(annotation)[1], type):
        return dict[str, part_of(inner) | None] if issubclass(inner, BaseModel) else annotation  # type: ignore[misc]
    return annotation


def _without_default(schema: dict[str, Any]) -> None:
    del schema["default"]


_PhasePart = part_of(PhaseSettings, "name", "loss")
FormFile = create_model(
    "FormFile",
    __base__=Settings,
    __doc__="A file of `config/forms/`: what all methods share in a form, where their own files say nothing else.",
    extends=(str | None, Field(None, description="Another form, without its ending: this one says what differs.")),
    training=(part_of(Training, "phases"), Field({}, description="Batches, vocabulary, validation.")),
    first=(_PhasePart, Field({}, description="Of every phase before the last, and of an only one.")),
    last=(_PhasePart, Field({}, description="Of the last of several phases.")),
)


# --- scores and studies


class Rouge(Settings):
    """How summaries are scored (rouge.scorer)."""

    mode: Literal["rouge-score", "rouge-1.5.5", "unicode", "characters"] = "rouge-score"
    """Whose counting: rouge-score's, ROUGE-1.5.5's, its tokens for every script, or characters."""
    stemmer: bool = False
    """Porter's; off, rouge-score equals ROUGE-1.5.5 without -m up to its rounding."""
    multi: Literal["best", "average"] | None = None
    """Of several references: the one with the best F1 (rouge-score) or recall (1.5.5 -f B), or counts pooled
    (average, 1.5.5 -f A); null: best for rouge-score, average for rouge-1.5.5.
    """

    @model_validator(mode="after")
    def mode_has_the_option(self) -> "Rouge":
        if self.stemmer and self.mode in ("unicode", "characters"):
            raise ValueError(f"mode {self.mode!r} has no stemmer: the stemmers are for English; set stemmer to false")
        if self.multi == "average" and self.mode != "rouge-1.5.5":
            raise ValueError(f"mode {self.mode!r} takes the best reference; multi average is for rouge-1.5.5")
        return self


class Reading(Settings):
    """Whether a system's targets depend on its sources (scores.reading)."""

    others: Positive = 5
    """Records of other groups whose sources each target is scored with, too."""
    seed: NonNegative = 1
    """Of who they are."""


class Bootstrap(Settings):
    resamples: Annotated[int, Field(ge=20, strict=True)] = 2000
    """Drawn with replacement, over groups of items; fewer than 20 have no 95 % interval."""
    confidence: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.95
    """Of every interval."""
    seed: NonNegative = 1
    """Of the resamples."""


class PhasesTable(Settings):
    """What a last phase buys: methods of several phases are trained with these seeds at the largest percent, too."""

    seeds: Annotated[list[NonNegative], Field(min_length=1)]
    """Of these trainings."""


class VarianceTable(Settings):
    """Every draw of the records trained with every seed: how much of the variance over seeds is which.

    `percent` of `corpus`, one of its percents below 100: at 100 % a draw draws nothing.
    """

    corpus: str
    """One of the study's."""
    percent: Annotated[int, Field(ge=1, lt=100)]
    """One of the corpus's percents."""
    methods: Annotated[list[str], Field(min_length=1)]
    """Of those that are trained on the corpus."""
    draws: Annotated[list[NonNegative], Field(min_length=2)]
    """Seeds that draw the records."""
    seeds: Annotated[list[NonNegative], Field(min_length=2)]
    """Seeds that train."""


class Equivalence(Settings):
    """Methods that should come to the same, as twins of two libraries."""

    methods: Annotated[dict[str, str], Field(min_length=1)]
    """By method the one that it should equal; both of the study."""
    metric: str = "rouge1"
    """One of those that rank."""
    margin: Annotated[float, Field(gt=0.0)]
    """In the metric's points: a smaller difference is none."""


class Architecture(Settings):
    """Of a small BART: transformers' `BartConfig` in our words."""

    width: Positive
    """Of a subword and of every layer."""
    heads: Positive
    """Of each attention."""
    feedforward: Positive
    """Width between the two layers behind each attention."""
    encoder_layers: Positive
    """Layers of the encoder."""
    decoder_layers: Positive
    """Layers of the decoder."""
    positions: Annotated[int, Field(ge=8)] = 160
    """Subwords that it can read, and write, marks included; what is beyond is cut."""
    init_std: Annotated[float, Field(gt=0.0)] = 0.02
    """Standard deviation of new weights. BART's 0.02 is for its width of 768; at 96 attention starts so flat that a
    model from scratch learns no use of its source."""

    @model_validator(mode="after")
    def heads_divide(self) -> "Architecture":
        if self.width % self.heads:
            raise ValueError(f"width {self.width} is no multiple of heads {self.heads}")
        return self


class Noise(Settings):
    """What a text loses before it is to be restored (Lewis et al. 2020, section 2.2)."""

    masked: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.3
    """Text infilling: share of a text's subwords that lie in spans, each of which one mask stands for."""
    span: Annotated[float, Field(gt=0.0)] = 3.0
    """Mean of the Poisson distribution of the spans' lengths in subwords; a span of none is a mask put in."""
    permute: bool = True
    """Sentence permutation: whether sentences come in random order."""


class Pretraining(Preparation):
    """BART pretrained by denoising, on docstrings of packages that are outside of the study's.

    The records are prepared as a corpus's are. One that shares `overlap` tokens in a row with a source or target of a
    corpus's validation or test part, or is a near-duplicate of one, is removed and counted. What is denoised are
    sources without the sentences that are a target's.
    """

    raw: Raw
    """Where the records come from."""
    overlap: Positive = 8
    """Tokens in a row that a record may not share with a text of the validation and test parts."""
    near_duplicates: Annotated[float, Field(gt=0.0, le=1.0)] = 0.5
    """Jaccard similarity of 3-shingles with a text of these parts from which a record is removed."""
    subwords: Annotated[int, Field(ge=300)]
    """Of the byte-level BPE, which is trained on the texts that are denoised; marks and bytes included."""
    tokens: Positive
    """What is denoised of a text: its first subwords."""
    model: Architecture
    """Of every method of kind bart."""
    dropout: Dropout = 0.1
    """Share of values that pretraining sets to zero."""
    noise: Noise = Noise()
    """What a text loses."""
    batch: Positive
    """Texts of one update."""
    valid_records: Positive
    """Texts that a validation restores greedily: the first of the validation part."""
    optimizer: Optimizer
    stop: Stop
    """When it is validated and when it ends; selection and patience are those of every training."""
    seed: NonNegative = 1
    """Of the first weights, the order, the noise and the dropout."""

    def training(self) -> Training:
        """What `fit` is told."""
        phase = PhaseSettings(name="denoise", loss="nll", optimizer=self.optimizer, stop=self.stop)
        return Training(batch=self.batch, vocabulary=self.subwords, valid_records=self.valid_records, phases=[phase])


class Question(Settings):
    """What a study asks before its test items are decoded; the tables answer it, or say that it is not known."""

    question: Annotated[str, StringConstraints(pattern=r"[?？؟]\s*$")]
    """In words, ended by a question mark; the answers follow it."""
    asks: Literal["method", "doubling", "pretraining"]
    """Which method is ahead of every other (method), whether twice the records add `worth` to a method's score
    (doubling), or with how many records a pretrained BART has from scratch's score (pretraining).
    """
    metric: str = "rouge1"
    """One that systems are ranked by."""
    corpus: str | None = None
    """One of the study's; null: all."""
    sizes: list[Positive] | None = None
    """Numbers of training records that are asked for, for doubling before it; null: all that there are."""
    methods: list[str] | None = None
    """For doubling: of these; null: of all."""
    worth: Annotated[float, Field(gt=0.0)] | None = None
    """For doubling: what more score makes twice the records worth it, in the metric's unit."""

    @model_validator(mode="after")
    def says_what_is_worth_it(self) -> "Question":
        if (self.worth is not None) != (self.asks == "doubling"):
            raise ValueError("`worth` belongs to a question that asks for doubling, and to no other")
        if self.methods is not None and self.asks != "doubling":
            raise ValueError("`methods` belong to a question that asks for doubling")
        return self


Systems = dict[str, dict[str, Any] | None]
REFERENCE_SYSTEMS = ("lead", "random", "best-sentence", "sumbasic", "lexrank", "lsa")


def _with_references(given: Systems) -> Systems:
    """Every study has the reference systems, each as it tells them; null leaves one out."""
    references: Systems = {name: {} for name in REFERENCE_SYSTEMS}
    whole = references | given
    return {name: told for name, told in whole.items() if told is not None}


class StudySettings(Settings):
    title: str
    """The study in a sentence, printed over its tables."""
    corpora: dict[str, CorpusSettings]
    """By name: small letters, digits and underscores."""
    methods: Annotated[list[str], Once]
    """Files of config/methods without their ending."""
    form: str = "small"
    """Which form of each method is trained: a file of config/forms without its ending."""
    seeds: Annotated[list[NonNegative], Field(min_length=1), Once]
    """Every training is repeated with each; a seed draws its own records."""
    threads: Positive = 1
    """Of one training; they change floating-point sums, and are part of its name."""
    phases: PhasesTable | None = None
    """Seeds of the table of last phases; null: the study's own."""
    variance: VarianceTable | None = None
    """The table of draws and seeds; null: none."""
    pretraining: Pretraining | None = None
    """Of the methods of kind bart; null: there are none."""
    equivalence: Equivalence | None = None
    """The table of methods that should come to the same; null: none."""
    sums: Sums = "portable"
    """The same bytes on all CPUs with AVX2 (portable), or this CPU's fastest kernels (native)."""
    systems: Annotated[Systems, AfterValidator(_with_references), Field(validate_default=True)] = {}
    """By name what is no method of ours: its kind and what that is told. Every study has lead, random, best-sentence,
    sumbasic, lexrank and lsa; null leaves one out."""
    scores: dict[str, dict[str, Any]] = {"rouge": {}}
    """By scorer, what it is told."""
    bootstrap: Bootstrap = Bootstrap()
    """How intervals are made."""
    questions: list[Question] = []
    """What is asked before the test items are decoded; table `questions` answers it."""
    shown_items: Annotated[int, Field(ge=0, le=40)] = 0
    """Test items of every corpus, drawn by `bootstrap.seed`, of which the tables' README has what every method wrote.

    Sources and references stay out of it: they are other people's text.
    """
    packed_percent: Annotated[int, Field(ge=0, le=100)] = 0
    """Share of the trainings, at most, that may be recorded without their weights, taken up from packs."""


# What a key is called now, by its former word: for errors.
FORMER = {
    str(field.alias): f"`{name}`"
    for model in (Compose, Prepare, ExtractRewriteSettings, Stop, Training)
    for name, field in model.model_fields.items()
    if field.alias
} | {
    "settings": "`form` in a study, `forms` in a method",
    "form": "`format` in `raw`, `forms` in a method",
    "command": "`summarize` in a system of kind command",
}


def present_words(text: str) -> str:
    """A recorded sentence with keys as they are called now; records keep the words of their time."""
    return re.sub(r"\b(?:least|most)_\w+", lambda word: FORMER.get(word[0], word[0]).strip("`"), text)
