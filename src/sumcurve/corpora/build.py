"""Makes the folder of a corpus from its raw content and what the folder's name holds."""

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sumcurve.corpora.content import Content
from sumcurve.corpora.errors import CorpusError
from sumcurve.corpora.prepare import prepare
from sumcurve.corpora.sources import SOURCES
from sumcurve.corpora.store import Corpus
from sumcurve.manifest import sha256_file
from sumcurve.records import write_json
from sumcurve.settings import Compose, Prepare, Split


def content_of(raw: Path, specification: Mapping[str, Any]) -> Content:
    """The raw content at `raw`, read as a corpus's specification says."""
    source = SOURCES[specification.get("form", "jsonl")]
    return Content(raw, source, specification.get("fields"), specification["split"].get("ready"))


def sha256(content: Content) -> str:
    """Of a file its own; of a folder that of the lines that `sha256sum` prints of its shards, sorted by their names.

    So `sha256sum * | sha256sum`, in the folder and in the C locale, gives it where all files are shards.
    """
    if not content.several:
        return sha256_file(content.path)
    lines = sorted((shard.name, sha256_file(shard.path)) for shard in content.shards)
    return hashlib.sha256("".join(f"{digest}  {name}\n" for name, digest in lines).encode()).hexdigest()


def write_corpus(specification: Mapping[str, Any], raw: Path, folder: Path, note: Callable[[str], None]) -> None:
    """Write a prepared corpus (`corpora.prepare`), once the raw content has the sha256 of its specification.

    CorpusError where it has another, and where no corpus can be made of it.
    """
    if not raw.exists():
        raise CorpusError(f"{raw} is missing: the study reads a corpus from it")
    content = content_of(raw, specification)
    expected, observed = specification["raw"], sha256(content)
    if observed != expected:
        raise CorpusError(
            f"{raw} has sha256 {observed}, but the study pins {expected}: restore it, or name its new content by "
            f"`sha256: {observed}` under raw in the study's file"
        )
    files = f"{len(content.shards)} files" if content.several else "one file"
    note(f"{raw}: {specification.get('form', 'jsonl')}, {files}")
    compose = specification["compose"]
    statistics = prepare(
        content,
        Compose.model_validate(compose) if compose else None,
        Prepare.model_validate(specification["prepare"]),
        Split.model_validate(specification["split"]),
        folder,
    )
    counts = raw.with_suffix(".counts.json")  # beside what a harvest made
    if counts.is_file():
        write_json(Corpus(folder).harvest_path, json.loads(counts.read_text()))
    dropped = sum(statistics["dropped"].values())
    note(f"read {statistics['read']} records, kept {statistics['kept']}, dropped {dropped}: {statistics['dropped']}")
    for part, told in statistics.get("ready", {}).items():
        note(f"{part}: kept {told['kept']}, dropped {sum(told['dropped'].values())}: {told['dropped']}")
