"""`sumcurve exam`: whether a metric may rank on a corpus. Heavy packages are imported when it runs."""

import argparse
import csv
import hashlib
import io
import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from sumcurve.machine.arguments import CommandError, Verbs
from sumcurve.machine.spelling import no_file, there_are
from sumcurve.scores.scorer import Claim
from sumcurve.store.records import Record, RecordError, csv_text, read_jsonl, read_records, write_text

if TYPE_CHECKING:
    from sumcurve.capabilities.exam.judgements import Material, Pair
    from sumcurve.capabilities.exam.rows import Item
    from sumcurve.capabilities.exam.table import Row
    from sumcurve.scores.scorer import Scorer

EXAM = """\
Holds metrics to what they claim, row by row, and says of each whether it may rank on this corpus: a claim is closeness
to references, coverage of what matters, faithfulness to the source, or none (it describes). Rows, thresholds and the
family-wise level stand in thresholds.yaml beside the code. What a corpus lacks makes rows not applicable: sources,
further references, systems' summaries, people's judgements.

--corpus is a finished folder of results/corpora, or a file of prepared records: a JSON object a line with `id`,
`source` and `target` (lists of sentences, each of tokens joined by blanks), where there are some `references` (further
targets) and `group`. A file of --summaries has a line {"id": ..., "summary": [sentences]} of each record, in their
order. --judged takes a collection of people's judgements in its public layout.

--study takes the test part of a study's corpus, its scorers with their own settings and the folders that they need, and
its finished outputs as systems: untrained ones, and of each trained method the largest size with the first seed. Where
people wrote several references, the last is the system `human`.

TO/exam.csv and exam.md hold the verdicts, agreement.csv the correlations with people of all, abstractive and extractive
systems, people.csv and scores.csv what `sumcurve correlate` compares metrics by, TO/items/SCORER.METRIC.csv the items
that each verdict is computed from: --again TO does so, and changes nothing else. An item with a text that the scorer
gives no value of is left out and counted, and with it its document.
"""
EXAMPLE = """\
--metric rouge chrf --judged realsumm.jsonl.xz --layout realsumm --to exams/realsumm
--metric rouge --corpus results/corpora/dialogsum-1a2b3c4d --summaries mine=summaries.jsonl --to exams/dialogsum
--study dialogsum --metric apes rouge --to exams/dialogsum
--again exams/realsumm"""
HEAD = ("scorer", "settings", "metric", "claim", "corpus", "kinds", "items")  # of a file of items
KINDS = ("pearson", "spearman", "kendall")
LEVELS = ("system", "summary")
BESIDE_CORPUS = ("summaries", "contrasts")  # options


def add_parser(verbs: Verbs) -> None:
    """Add the verb; `arguments.run(arguments)` raises CommandError or RecordError."""
    command = verbs.add_parser("exam", help="whether a metric may rank on a corpus", description=EXAM, example=EXAMPLE)
    command.add_argument(
        "--metric", nargs="+", metavar="SCORER", default=[], help="scorers, as below a study's scores:"
    )
    command.add_argument(
        "--scores", type=Path, metavar="YAML", help="settings of scorers, as a study's scores: has them"
    )
    command.add_argument("--corpus", type=Path, help="a folder of results/corpora, or prepared records (JSON lines)")
    command.add_argument("--summaries", nargs="+", metavar="NAME=FILE", default=[], help="of the corpus, by system")
    command.add_argument("--contrasts", type=Path, metavar="FOLDER", help="of the corpus: broken references by rule")
    command.add_argument(
        "--judged", nargs="+", type=Path, metavar="FILE", help="judgements by people, instead of --corpus"
    )
    command.add_argument("--study", help="a file of config/studies without its ending, instead of --corpus")
    command.add_argument("--of", metavar="CORPUS", help="of --study, where it has several")
    command.add_argument("--layout", help="of --judged: realsumm, summeval, rose, frank, bump")
    command.add_argument("--to", type=Path, metavar="FOLDER", help="to write to")
    command.add_argument("--again", type=Path, metavar="FOLDER", help="compute verdicts again from the items there")
    command.add_argument("-q", "--quiet", action="store_true", help="print outcomes alone")
    command.set_defaults(run=run_exam)


def run_exam(arguments: argparse.Namespace) -> None:
    """Sit the exam, or compute its verdicts again."""
    if arguments.again:
        _refuse(
            arguments, "again", ("study", "of", "metric", "scores", "corpus", *BESIDE_CORPUS, "judged", "layout", "to")
        )
        _again(arguments.again)
        return
    if not arguments.to:
        raise CommandError("no --to; name a folder to write to")
    if sum(value is not None for value in (arguments.corpus, arguments.judged, arguments.study)) != 1:
        raise CommandError("name either --corpus or --judged with its --layout, or --study")
    if arguments.of and not arguments.study:
        raise CommandError(f"--of {arguments.of}: it is of --study; leave it out")
    from sumcurve.capabilities.exam.rows import check, claim_of, items_of

    for path in (arguments.to, *arguments.to.parents):
        if path.exists() and not path.is_dir():
            raise CommandError(f"--to {arguments.to}: {path} is a file; name a folder")
    needs: dict[str, Mapping[Path, Any]] = {}
    head: dict[str, Any] = {}
    if arguments.study:
        scorers, needs, material, head = _of_study(arguments)
    else:
        scorers, material = scorers_of(arguments.metric, arguments.scores), _material(arguments)
    for scorer in scorers.values():
        check(scorer)
    kinds = dict(zip(material.systems, material.kinds, strict=True))
    head |= {"corpus": material.name, "texts": _digest(material), "kinds": kinds}
    for line in [] if arguments.quiet else _remarks(scorers, material):
        print(line, file=sys.stderr)
    folder = arguments.to / "items"
    anew = {folder / f"{name}.{metric.name}.csv" for name, scorer in scorers.items() for metric in scorer.metrics}
    for path in sorted(folder.glob("*.csv")):
        there = read_items(path)[0]
        if there["corpus"] != material.name:
            raise CommandError(
                f"{path} is of corpus {there['corpus']!r}, not {material.name!r}; name another folder by --to"
            )
        if path not in anew and there.get("texts", head["texts"]) != head["texts"]:
            raise CommandError(
                f"{path} is of other records, systems or judgements: metrics of one table sit the same exam; name "
                "another folder by --to, or sit all its metrics again"
            )
    for name, scorer in scorers.items():
        items = items_of(scorer, material, needs.get(name, {}))
        folder.mkdir(parents=True, exist_ok=True)
        for metric in scorer.metrics:
            of_metric = {"scorer": name, "settings": scorer.settings.model_dump(mode="json"), "metric": metric.name}
            of_metric |= {"claim": claim_of(scorer, metric), **head}
            write_items(folder / f"{name}.{metric.name}.csv", of_metric, items[metric.name])
    _again(arguments.to)


def _remarks(scorers: Mapping[str, "Scorer"], material: "Material") -> Iterator[str]:
    """What a user should know of scorers and systems before the verdicts."""
    from sumcurve.capabilities.exam.rows import claim_of

    alone = sum(not record.references for record in material.records)
    if 0 < alone < len(material.records):
        yield f"{alone} of {len(material.records)} records have one reference alone: no row human, no lead"
    without = sum(not record.source for record in material.records)
    if 0 < without < len(material.records):
        yield f"{without} of {len(material.records)} records have no source: no row human, lead, dodges"
    for name, texts in zip(material.systems, material.summaries, strict=True):
        if empty := sum(not "".join(text).strip() for text in texts):
            yield f"system {name}: {empty} of {len(texts)} summaries are empty"
    for scorer in scorers.values():
        for metric in scorer.metrics:
            if metric.ranks and claim_of(scorer, metric) == "description":
                yield f"metric {metric.name}: it would rank, but its scorer claims nothing; name what, as `claim`"


def _digest(material: "Material") -> str:
    """What tells these records, summaries and judgements from others in files of the same names."""
    people = {name: of.tolist() for name, of in material.people.items()}
    texts = [[record.as_dict() for record in material.records], material.systems, material.summaries, people]
    return hashlib.sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()[:12]


def _refuse(arguments: argparse.Namespace, beside: str, options: Iterable[str]) -> None:
    """CommandError for an option that has a value and no effect."""
    for option in options:
        if getattr(arguments, option):
            raise CommandError(f"--{option}: beside --{beside} it changes nothing; leave it out")


def _of_study(
    arguments: argparse.Namespace,
) -> tuple[dict[str, "Scorer"], dict[str, Mapping[Path, Any]], "Material", dict[str, Any]]:
    """A study's scorers, what each needs, the material, and what the head of the items says of both."""
    from sumcurve.capabilities.exam.study import Entries
    from sumcurve.study.plan import Plan

    _refuse(arguments, "study", ("scores", "summaries", "layout"))
    entries = Entries(Plan.read(Path("config"), arguments.study), arguments.of, Path("results"))
    scorers, others = entries.scorers(arguments.metric)
    material, outputs = entries.material()
    if arguments.contrasts:
        records = material.records
        material = replace(material, pairs=_pairs(arguments.contrasts, records, f"corpus {material.name}"))
    if not arguments.quiet:
        for name, output in outputs.items():
            print(f"system {name}: {output}", file=sys.stderr)
        for why, names in entries.absent(outputs).items():
            print(f"no system {', '.join(names)}: {why}", file=sys.stderr)
        if others:
            print(f"scorers that cannot sit: {', '.join(others)}", file=sys.stderr)
    needs = {name: entries.needs(name) for name in scorers}
    return scorers, needs, material, {"study": arguments.study, "outputs": outputs}


def scorers_of(names: Sequence[str], path: Path | None) -> dict[str, "Scorer"]:
    """Scorers by name with their settings; CommandError for one that there is not."""
    import yaml
    from pydantic import ValidationError

    from sumcurve.capabilities.exam.study import reads_outputs
    from sumcurve.scores.needs import Needing
    from sumcurve.study.doors import SCORERS

    settings: dict[str, Any] = {}
    if path is not None:
        if not path.is_file():
            raise CommandError(no_file(path))
        try:
            content = yaml.safe_load(path.read_text(encoding="utf-8"))
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise CommandError(f"{path}: no YAML ({error}); correct it") from error
        settings = content.get("scores", content) if isinstance(content, Mapping) else {}
        if not isinstance(settings, Mapping) or not settings:
            raise CommandError(f"{path}: no scorer; give lines such as `rouge: {{}}`")
    wanted = list(dict.fromkeys(names or settings))
    if not wanted:
        raise CommandError("no --metric; name a scorer, as `--metric rouge`, or --scores")
    scorers = {}
    for name in wanted:
        if name not in SCORERS:
            raise CommandError(f"--metric {name}: no such scorer; {there_are(name, SCORERS)}")
        try:
            scorers[name] = SCORERS[name](SCORERS[name].Settings.model_validate(settings.get(name) or {}))
        except ValidationError as error:
            first = error.errors()[0]
            where, remedy = ".".join(map(str, first["loc"])), "correct it" if path else "say it in --scores"
            if first["type"] == "extra_forbidden":
                remedy = there_are(where, SCORERS[name].Settings.model_fields)
            raise CommandError(f"{path or '--metric'}: {name}: {where}: {first['msg']}; {remedy}") from error
        if isinstance(scorers[name], Needing) or reads_outputs(scorers[name]):
            remedy = "name one by --study" if not reads_outputs(scorers[name]) else "it cannot sit an exam"
            raise CommandError(f"--metric {name}: it reads folders of a study beside summaries; {remedy}")
    return scorers


def _material(arguments: argparse.Namespace) -> "Material":
    from sumcurve.capabilities.exam.judgements import Material, read_material

    if arguments.judged:
        if arguments.layout is None:
            raise CommandError("--judged without --layout: name the layout of the collection")
        _refuse(arguments, "judged", BESIDE_CORPUS)
        material = read_material(arguments.judged, arguments.layout)
        if material.left_out and not arguments.quiet:
            left_out = f"{material.left_out} summaries are left out: their documents lack systems that others have"
            print(left_out, file=sys.stderr)
        return material
    if arguments.layout:
        raise CommandError(f"--layout {arguments.layout}: it is of --judged; leave it out")
    path = arguments.corpus / "test.jsonl" if arguments.corpus.is_dir() else arguments.corpus
    if not path.is_file():
        raise CommandError(no_file(path))
    records = _records(path)
    if len(records) < 2:
        raise CommandError(f"{path}: {len(records)} records; an exam takes two at least")
    summaries: dict[str, list[list[str]]] = {}
    for text in arguments.summaries:
        name, _, file = text.partition("=")
        if not (name and file) or name in summaries:
            raise CommandError(f"--summaries {text}: give NAME=FILE, each name once")
        summaries[name] = _summaries(Path(file), records)
    pairs = _pairs(arguments.contrasts, records, str(path)) if arguments.contrasts else []
    kinds = [""] * len(summaries)
    return Material(arguments.corpus.name, records, [*summaries], kinds, [*summaries.values()], pairs=pairs)


def _records(path: Path) -> list[Record]:
    """The records of a file of the user's own; CommandError for one that is no text, or whose id another one has."""
    records: list[Record] = []
    ids: dict[str, int] = {}
    for number, record in enumerate(read_records(path), start=1):
        if not isinstance(record.id, str) or record.id in ids:
            where = f", as in line {ids[record.id]}" if record.id in ids else ", no text"
            raise CommandError(f"{path}:{number}: id {record.id!r}{where}; give each record an id of its own")
        texts = {"source": [record.source], "target": [record.target], "references": record.references}
        for name, lists in texts.items():
            if not isinstance(lists, list) or not all(_sentences(text, name == "source") for text in lists):
                each = "lists of sentences" if name == "references" else "a list of sentences"
                raise CommandError(
                    f"{path}:{number}: {name} is not {each}, each of tokens joined by blanks; correct it"
                )
        if not isinstance(record.group, str | None):
            raise CommandError(f"{path}:{number}: group {record.group!r}, no text; put it in quotes")
        ids[record.id] = number
        records.append(record)
    return records


def _sentences(text: Any, may_lack: bool) -> bool:
    """Whether this is a list of sentences, with a token at least unless it may lack them."""
    whole = isinstance(text, list) and all(isinstance(sentence, str) for sentence in text)
    return whole and (may_lack or any(sentence.strip() for sentence in text))


def _pairs(folder: Path, records: Sequence[Record], where: str) -> list["Pair"]:
    from sumcurve.capabilities.contrasts.sets import FILE, read
    from sumcurve.capabilities.exam.judgements import Pair

    if not (folder / FILE).is_file():
        raise CommandError(no_file(folder / FILE))
    places = {record.id: place for place, record in enumerate(records)}
    pairs = []
    for contrasted in read(folder):
        if contrasted.item not in places:
            raise CommandError(f"{folder / FILE}: item {contrasted.item!r} is not of {where}")
        for contrast in contrasted.contrasts:
            pairs.append(Pair(places[contrasted.item], contrasted.sentences, contrast.sentences, contrast.rule))
    return pairs


def _summaries(path: Path, records: Sequence[Record]) -> list[list[str]]:
    if not path.is_file():
        raise CommandError(no_file(path))
    texts: list[list[str]] = []
    for number, row in enumerate(read_jsonl(path), start=1):
        text = row.get("summary") if isinstance(row, dict) else None
        if not isinstance(text, list) or not all(isinstance(sentence, str) for sentence in text):
            raise CommandError(f"{path}:{number}: no `summary` that is a list of sentences of tokens; correct the line")
        if number > len(records) or row.get("id") != records[number - 1].id:
            raise CommandError(f"{path}:{number}: id {row.get('id')!r} is not that of the corpus there; give its order")
        texts.append(text)
    if len(texts) != len(records):
        raise CommandError(f"{path}: {len(texts)} summaries of {len(records)} records; give one of each")
    if not any("".join(text).strip() for text in texts):
        raise CommandError(f"{path}: every summary is empty; give some, or leave the system out")
    return texts


# --- items


def write_items(path: Path, head: Mapping[str, Any], items: Sequence["Item"]) -> None:
    """A line of JSON behind "# " that says what metric it is and how many items there are, then a CSV of them."""
    from sumcurve.capabilities.exam.rows import Item

    columns = [field.name for field in fields(Item)]
    head = {**head, "items": len(items)}
    table = csv_text(columns, ([_exact(getattr(item, name)) for name in columns] for item in items))
    write_text(path, f"# {json.dumps(head, sort_keys=True, ensure_ascii=False)}\n{table}")


def _exact(value: Any) -> Any:
    return repr(value) if isinstance(value, float) else value


def read_items(path: Path) -> tuple[dict[str, Any], list["Item"]]:
    """What `write_items` wrote; RecordError with the line for what is none of it."""
    try:
        head, _, table = path.read_text(encoding="utf-8-sig").partition("\n")
        content = json.loads(head.removeprefix("# "))
        lacking = [name for name in HEAD if name not in content]
    except (ValueError, TypeError) as error:
        raise RecordError(f"{path}:1: no head of an exam's items ({error}); sit the exam again") from error
    if lacking or content["claim"] not in get_args(Claim) or not isinstance(content["kinds"], dict):
        raise RecordError(
            f"{path}:1: no head of an exam's items ({', '.join(lacking) or head[:80]}); sit the exam again"
        )
    if not table.endswith("\n"):
        raise RecordError(f"{path}: its last line does not end, so it was cut; sit the exam again")
    items = []
    for number, row in enumerate(csv.DictReader(io.StringIO(table)), start=3):
        try:
            items.append(_item(row, content["kinds"]))
        except (KeyError, TypeError, ValueError) as error:
            raise RecordError(f"{path}:{number}: no item ({error}); sit the exam again") from error
    if len(items) != content["items"]:
        raise RecordError(
            f"{path}:{len(items) + 2}: {len(items)} items, but {content['items']} were written; sit the exam again"
        )
    return content, items


def _item(row: Mapping[str, str], kinds: Mapping[str, str]) -> "Item":
    """The item of a line; ValueError, TypeError or KeyError for what is none."""
    from sumcurve.capabilities.exam.perturbations import PERTURBATIONS
    from sumcurve.capabilities.exam.rows import Item
    from sumcurve.capabilities.exam.thresholds import thresholds

    if row["row"] not in thresholds().rows:
        raise ValueError(f"no row {row['row']!r}")
    if row["row"] in PERTURBATIONS and float(row["part"]) not in thresholds().doses:
        raise ValueError(f"no dose {row['part']!r}")
    if row["row"] == "people" and row["system"] not in kinds:
        raise ValueError(f"system {row['system']!r} is not in the head")
    value, people, length = (None if row[name] == "" else float(row[name]) for name in ("value", "people", "length"))
    if not all(number is None or math.isfinite(number) for number in (value, people, length)):
        raise ValueError(f"values {row['value']!r}, {row['people']!r}, {row['length']!r}: no numbers")
    if row["row"] not in ("repeats", "people") and value is not None and not -1 <= value <= 1:
        raise ValueError(f"value {row['value']}: no share, nor a difference of shares")
    return Item(row["row"], row["part"], row["system"], row["document"], value, people, length, row["group"])


# --- tables


def _again(folder: Path) -> None:
    """Write and print the verdicts of all metrics whose items are there."""
    from sumcurve.capabilities.exam.table import KEY, Row, outcome
    from sumcurve.capabilities.exam.verdicts import rows_of

    paths = sorted((folder / "items").glob("*.csv"))
    if not paths:
        raise CommandError(f"{folder / 'items'}: no items of an exam; sit one with --to {folder}")
    columns = [field.name for field in fields(Row)]
    table: list[dict[str, Any]] = []
    agreement: list[dict[str, Any]] = []
    lines = []
    judged: dict[str, dict[tuple[str, str], float]] = {}
    scores: dict[str, dict[tuple[str, str], float]] = {}
    exam: dict[str, tuple[Any, Path]] = {}
    for path in paths:
        head, items = read_items(path)
        if path.stem != f"{head['scorer']}.{head['metric']}":
            raise RecordError(f"{path}: items of {head['scorer']}.{head['metric']}; call it so, or take it away")
        for name in ("corpus", *(["texts"] if "texts" in head else [])):  # older items have no `texts`
            of, first = exam.setdefault(name, (head[name], path))
            if head[name] != of:
                raise RecordError(
                    f"{path}: {name} {head[name]!r}, but {of!r} in {first.name}: metrics of one table sit the same "
                    "exam; keep each exam's items in a folder of its own"
                )
        try:
            rows = rows_of(items, head["claim"])
        except ValueError as error:
            raise RecordError(f"{path}: {error}; sit the exam again") from error
        key = {name: head[name] for name in ("corpus", "scorer", "metric", "claim")}
        key["settings"] = json.dumps(head["settings"], sort_keys=True, ensure_ascii=False)
        table += [key | asdict(row) for row in rows]
        agreement += [key | row for row in agreements(items, head["kinds"])]
        lines.append((head, outcome(rows, head["claim"]), rows))
        for item in items:
            if item.row == "people" and item.part and item.value is not None and item.people is not None:
                judged.setdefault(item.part, {})[item.system, item.document] = item.people
                scores.setdefault(path.stem, {})[item.system, item.document] = item.value
        print(f"{head['metric']} ({head['claim']}): {lines[-1][1]}")
    write_text(folder / "exam.csv", _table([*KEY, *columns], table))
    names = ["corpus", "scorer", "metric", "claim", "people", "level", "systems", "documents"]
    write_text(folder / "agreement.csv", _table([*names, "kinds", "given", "kind", "value", "low", "high"], agreement))
    for name, of in (("people", judged), ("scores", scores)):
        if of:
            write_text(folder / f"{name}.csv", by_summary(of))
    write_text(folder / "exam.md", page(lines))


def by_summary(scores: Mapping[str, Mapping[tuple[str, str], float]]) -> str:
    """The scores of every summary as `sumcurve correlate` reads them; summaries that lack one are left out."""
    whole = sorted(set.intersection(*({*of} for of in scores.values())))
    rows = ([*key, *(repr(of[key]) for of in scores.values())] for key in whole)
    return csv_text(["system", "item", *scores], rows)


def _table(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    shown = ([round(row[name], 6) if isinstance(row[name], float) else row[name] for name in columns] for row in rows)
    return csv_text(columns, shown)


def agreements(items: Iterable["Item"], kinds: Mapping[str, str]) -> list[dict[str, Any]]:
    """Correlations with people at both levels, of all systems and of each kind apart, also partial on length."""
    from sumcurve.capabilities.exam.correlations import correlations, interval
    from sumcurve.capabilities.exam.verdicts import FEWEST, grid_of

    by_part: dict[str, list[Item]] = {}
    for item in items:
        if item.row == "people" and item.part:
            by_part.setdefault(item.part, []).append(item)
    rows = []
    for part, judged in by_part.items():
        for kept in ("", *sorted({kind for kind in kinds.values() if kind})):
            of_kind = [item for item in judged if not kept or kinds[item.system] == kept]
            grid = grid_of(of_kind)
            systems, documents = grid.values.shape
            if systems < FEWEST or not documents or grid.people is None:
                continue
            draws = grid.draws()
            for level in LEVELS:
                for given in (None, grid.lengths):
                    for kind in KINDS:
                        values = correlations(grid.values, grid.people, kind, level, draws, given)  # type: ignore[arg-type]
                        low, high = interval(values)
                        cells = {"value": float(values[0]), "low": low, "high": high}
                        rows.append(
                            {"people": part, "level": level, "systems": systems, "documents": documents}
                            | {"kinds": kept or "all", "given": "" if given is None else "length", "kind": kind}
                            | {name: None if cell != cell else cell for name, cell in cells.items()}
                        )
    return rows


def page(metrics: Sequence[tuple[Mapping[str, Any], str, Sequence["Row"]]]) -> str:
    """The verdicts as Markdown: a line a metric, then its rows, then what their values are."""
    from sumcurve.capabilities.exam.thresholds import thresholds

    lines = ["# Exam", "", "| metric | claim | corpus | outcome |", "| --- | --- | --- | --- |"]
    lines += [f"| {head['metric']} | {head['claim']} | {head['corpus']} | {says} |" for head, says, _ in metrics]
    for head, _, rows in metrics:
        lines += ["", f"## {head['metric']}", "", "| row | | value [95 % interval] | threshold | p | verdict |"]
        lines += ["| --- | --- | ---: | ---: | ---: | --- |"]
        for row in rows:
            value = "" if row.value is None else f"{row.value:.3f}"
            if row.low is not None and row.high is not None:
                value += f" [{row.low:.3f}, {row.high:.3f}]"
            p = "" if row.p is None else f"{row.p:.3g}"
            verdict = f"{row.verdict} ({row.why})" if row.why else row.verdict
            lines.append(f"| {row.row} | {row.part} | {value} | {row.threshold:g} | {p} | {verdict} |")
    lines += ["", "## Rows", "", "A row is passed where its value is significantly above the threshold.", ""]
    lines += [f"- `{name}`: {rule.value}" for name, rule in thresholds().rows.items()]
    return "\n".join(lines) + "\n"
