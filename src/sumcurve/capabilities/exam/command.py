"""`sumcurve validate-metric`: test whether a metric may rank systems on a corpus. Heavy packages are imported late."""

import argparse
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sumcurve.machine.arguments import INTERNALS, CommandError, Verbs, check_written
from sumcurve.machine.spelling import no_file, there_are
from sumcurve.store.records import RecordError, csv_text, write_json, write_text

if TYPE_CHECKING:
    from sumcurve.capabilities.exam.judgements import Material
    from sumcurve.capabilities.exam.reading import Head
    from sumcurve.capabilities.exam.rows import Item
    from sumcurve.capabilities.exam.table import Row
    from sumcurve.scores.scorer import Scorer
    from sumcurve.statistics.metric_agreement import Level

VALIDATION = """\
Tests whether metrics measure what they claim, row by row, and states of each whether it is validated on this corpus, so
that it may rank systems there. A claim is closeness to references, coverage of what matters, faithfulness to the
source, or none (it describes). Rows, thresholds and the family-wise level stand in thresholds.yaml beside the code.
Rows that need what a corpus lacks are not applicable: sources, further references, systems' summaries, people's
judgements.

--corpus is a finished folder of results/corpora, or a file of prepared records: a JSON object a line with `id`,
`source` and `target` (lists of sentences, each of tokens joined by blanks), where there are some `references` (further
targets) and `group`. A file of --summaries has a line {"id": ..., "summary": [sentences]} of each record, in their
order. --judged takes a collection of people's judgements in its public layout.

--study takes the test part of a study's corpus, its scorers with their own settings and the folders that they need, and
its finished outputs as systems: those that take no training decide, with the last of several references as the system
`human`. TO/trained/ has the same tables of the trained methods' outputs, which decide nothing: of each method the
largest size with the first seed, whatever else is finished. exam.md has both outcomes.

TO/exam.csv and exam.md hold the verdicts, agreement.csv the correlations with people of all, abstractive and extractive
systems, people.csv and scores.csv what `sumcurve correlate` compares metrics by, TO/items/SCORER.METRIC.csv the items
that each verdict is computed from: --again TO does so, for TO/trained, too, and changes nothing else. An item with a
text that the scorer gives no value of is left out and counted, and with it its document.
"""
EXAMPLE = """\
--metric rouge chrf --judged realsumm.jsonl.xz --layout realsumm --to validation/realsumm
--metric rouge --corpus results/corpora/dialogsum-1a2b3c4d --summaries mine=summaries.jsonl --to validation/dialogsum
--study dialogsum --metric apes rouge --to validation/dialogsum
--again validation/realsumm"""
LEVELS: tuple["Level", ...] = ("system", "summary")
BESIDE_CORPUS = ("summaries", "contrasts")  # options
TRAINED = "trained"  # the folder below --to for the validation by outputs of trained methods


def add_parser(verbs: Verbs) -> None:
    """Add the verb and its old spelling; `arguments.run(arguments)` raises CommandError or RecordError."""
    text = "whether a metric may rank systems on a corpus"
    _add_arguments(verbs.add_parser("validate-metric", help=text, description=VALIDATION, example=EXAMPLE))
    text = "the spelling of `validate-metric` until version 0.3"
    _add_arguments(verbs.add_parser("exam", group=INTERNALS, printing=True, help=text, example=EXAMPLE))


def _add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--metric", nargs="+", metavar="SCORER", default=[], help="scorers, as below a study's scores:"
    )
    command.add_argument(
        "--scores", type=Path, metavar="YAML", help="settings of scorers, as a study's scores: has them"
    )
    command.add_argument("--corpus", type=Path, help="a folder of results/corpora, or prepared records (JSON lines)")
    command.add_argument("--summaries", nargs="+", metavar="NAME=FILE", default=[], help="of the corpus, by system")
    command.add_argument("--contrasts", type=Path, metavar="FOLDER", help="of the corpus: broken references by rule")
    command.add_argument("--judged", type=Path, metavar="FILE", help="judgements by people, instead of --corpus")
    command.add_argument("--study", help="a file of config/studies without its ending, instead of --corpus")
    command.add_argument("--of", metavar="CORPUS", help="of --study, where it has several")
    command.add_argument("--layout", help="of --judged: realsumm, summeval")
    command.add_argument("--to", type=Path, metavar="FOLDER", help="to write to")
    command.add_argument("--again", type=Path, metavar="FOLDER", help="compute verdicts again from the items there")
    command.set_defaults(run=run_exam)


def run_exam(arguments: argparse.Namespace) -> None:
    """Validate metrics, or compute the verdicts again."""
    check_written([arguments.json], [arguments.scores, arguments.judged])
    if arguments.again:
        _refuse(
            arguments, "again", ("study", "of", "metric", "scores", "corpus", *BESIDE_CORPUS, "judged", "layout", "to")
        )
        _again(arguments.again, arguments.json)
        return
    if not arguments.to:
        raise CommandError("no --to; name a folder to write to")
    if sum(value is not None for value in (arguments.corpus, arguments.judged, arguments.study)) != 1:
        raise CommandError("name either --corpus or --judged with its --layout, or --study")
    if arguments.of and not arguments.study:
        raise CommandError(f"--of {arguments.of}: it is of --study; leave it out")
    from sumcurve.capabilities.exam.reading import write_items
    from sumcurve.capabilities.exam.rows import check, claim_of, items_of

    for path in (arguments.to, *arguments.to.parents):
        if path.exists() and not path.is_dir():
            raise CommandError(f"--to {arguments.to}: {path} is a file; name a folder")
    needs: dict[str, Mapping[Path, Any]] = {}
    if arguments.study:
        scorers, needs, materials = _of_study(arguments)
    else:
        scorers, materials = scorers_of(arguments.metric, arguments.scores), [(_material(arguments), {})]
    for scorer in scorers.values():
        check(scorer)
    folders = [folder / "items" for folder in (arguments.to, arguments.to / TRAINED)]
    sittings = [(folder, *material) for folder, material in zip(folders, materials, strict=False)]
    if len(sittings) == 1 and folders[1].is_dir():
        raise CommandError(f"{folders[1]} is of trained methods, and none has an output now; name another --to")
    remarks: dict[str, None] = {}
    for folder, material, head in sittings:
        kinds = dict(zip(material.systems, material.kinds, strict=True))
        head |= {"corpus": material.name, "texts": _digest(material), "kinds": kinds}
        remarks |= dict.fromkeys(_remarks(scorers, material))
        _check_others(folder, scorers, head)
    for line in [] if arguments.quiet else remarks:
        print(line, file=sys.stderr)
    for name, scorer in scorers.items():
        for folder, material, head in sittings:
            if not arguments.quiet:
                print(f"{name}: {len(material.records)} documents -> {folder}", file=sys.stderr, flush=True)
            items = items_of(scorer, material, needs.get(name, {}))
            folder.mkdir(parents=True, exist_ok=True)
            for metric in scorer.metrics:
                of_metric = {"scorer": name, "settings": scorer.settings.model_dump(mode="json"), "metric": metric.name}
                of_metric |= {"claim": claim_of(scorer, metric), **head}
                write_items(folder / f"{name}.{metric.name}.csv", of_metric, items[metric.name])
    _again(arguments.to, arguments.json)


def _check_others(folder: Path, scorers: Mapping[str, "Scorer"], head: Mapping[str, Any]) -> None:
    """Raise CommandError where the folder has items of another corpus, or, of metrics that stay, of other texts."""
    from sumcurve.capabilities.exam.reading import read_items

    anew = {folder / f"{name}.{metric.name}.csv" for name, scorer in scorers.items() for metric in scorer.metrics}
    for path in sorted(folder.glob("*.csv")):
        there = read_items(path)[0]
        if there.corpus != head["corpus"]:
            raise CommandError(
                f"{path} is of corpus {there.corpus!r}, not {head['corpus']!r}; name another folder by --to"
            )
        if path not in anew and there.texts not in (None, head["texts"]):
            raise CommandError(
                f"{path} is of other records, systems or judgements: metrics of one table take the same; name "
                "another folder by --to, or validate all its metrics again"
            )


def _remarks(scorers: Mapping[str, "Scorer"], material: "Material") -> Iterator[str]:
    """Remarks about scorers and systems, printed before the verdicts."""
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
    """Digest that distinguishes these records, summaries and judgements from others in files of the same names."""
    people = {name: of.tolist() for name, of in material.people.items()}
    texts = [[record.as_dict() for record in material.records], material.systems, material.summaries, people]
    return hashlib.sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()[:12]


def _refuse(arguments: argparse.Namespace, beside: str, options: Iterable[str]) -> None:
    """Raise CommandError for an option that has a value and no effect."""
    for option in options:
        if getattr(arguments, option):
            raise CommandError(f"--{option}: beside --{beside} it changes nothing; leave it out")


def _of_study(
    arguments: argparse.Namespace,
) -> tuple[dict[str, "Scorer"], dict[str, Mapping[Path, Any]], list[tuple["Material", dict[str, Any]]]]:
    """A study's scorers, the folders that each needs, and its material, each with data about it for the head of items.

    The first material decides; a second one has the outputs of trained methods, where there are any.
    """
    from sumcurve.capabilities.exam.reading import read_pairs
    from sumcurve.capabilities.exam.study import Entries
    from sumcurve.study.plan import Plan

    _refuse(arguments, "study", ("scores", "summaries", "layout"))
    entries = Entries(Plan.read(Path("config"), arguments.study), arguments.of, Path("results"))
    scorers, others = entries.scorers(arguments.metric)
    materials = []
    for trained in (False, True) if entries.outputs(trained=True) else (False,):
        material, outputs = entries.material(trained)
        if arguments.contrasts:
            records = material.records
            material = replace(material, pairs=read_pairs(arguments.contrasts, records, f"corpus {material.name}"))
        materials.append((material, {"study": arguments.study, "outputs": outputs}))
    if not arguments.quiet:
        for name, output in (pair for _, head in materials for pair in head["outputs"].items()):
            print(f"system {name}: {output}", file=sys.stderr)
        for why, names in entries.absent().items():
            print(f"no system {', '.join(names)}: {why}", file=sys.stderr)
        if others:
            print(f"scorers that cannot be validated: {', '.join(others)}", file=sys.stderr)
    needs = {name: entries.needs(name) for name in scorers}
    return scorers, needs, materials


def scorers_of(names: Sequence[str], path: Path | None) -> dict[str, "Scorer"]:
    """Scorers by name with their settings; CommandError for an unknown one."""
    import yaml
    from pydantic import ValidationError

    from sumcurve.capabilities.exam.study import reads_outputs
    from sumcurve.files.models import said
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
            first, remedy = error.errors()[0], "correct it" if path else "say it in --scores"
            if first["type"] == "extra_forbidden":
                remedy = there_are(".".join(map(str, first["loc"])), SCORERS[name].Settings.model_fields)
            raise CommandError(f"{path or '--metric'}: {name}: {said(error)}; {remedy}") from error
        if isinstance(scorers[name], Needing) or reads_outputs(scorers[name]):
            remedy = "name one by --study" if not reads_outputs(scorers[name]) else "it cannot be validated"
            raise CommandError(f"--metric {name}: it reads folders of a study beside summaries; {remedy}")
    return scorers


def _material(arguments: argparse.Namespace) -> "Material":
    from sumcurve.capabilities.exam.judgements import Material, read_material
    from sumcurve.capabilities.exam.reading import read_documents, read_pairs, read_summaries

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
    records = read_documents(path)
    summaries: dict[str, list[list[str]]] = {}
    for text in arguments.summaries:
        name, _, file = text.partition("=")
        if not (name and file) or name in summaries:
            raise CommandError(f"--summaries {text}: give NAME=FILE, each name once")
        summaries[name] = read_summaries(Path(file), records)
    pairs = read_pairs(arguments.contrasts, records, str(path)) if arguments.contrasts else []
    kinds = [""] * len(summaries)
    return Material(arguments.corpus.name, records, [*summaries], kinds, [*summaries.values()], pairs=pairs)


# --- tables


def _again(folder: Path, out: Path | None) -> None:
    """Write and print the verdicts of all metrics with stored items; as JSON into `out`, too, where it is given.

    Those by outputs of trained methods have tables of their own; the page of the first has their outcomes, too.
    """
    from sumcurve.capabilities.exam.table import BY_TRAINED

    trained, by_trained = folder / TRAINED, None
    lines, tables = _decided(folder)
    if (trained / "items").is_dir():
        by_trained, tables["trained"] = _decided(trained)
        write_text(trained / "exam.md", page(by_trained))
    write_text(folder / "exam.md", page(lines, by_trained))
    for head, says, _ in lines:
        print(f"{head.metric} ({head.claim}): {says}")
    for head, says, _ in by_trained or ():
        print(f"{head.metric} ({head.claim}) {BY_TRAINED}: {says}")
    if out is not None:
        write_json(out, tables)


def _decided(folder: Path) -> tuple[list[tuple["Head", str, list["Row"]]], dict[str, Any]]:
    """The metrics with items in a folder, their outcomes and rows; and the tables, of which CSV are written."""
    from sumcurve.capabilities.exam.reading import read_items
    from sumcurve.capabilities.exam.table import KEY, Row, outcome
    from sumcurve.capabilities.exam.verdicts import rows_of

    paths = sorted((folder / "items").glob("*.csv"))
    if not paths:
        raise CommandError(f"{folder / 'items'}: no items of a validation; make one with --to {folder}")
    columns = [field.name for field in fields(Row)]
    table: list[dict[str, Any]] = []
    agreement: list[dict[str, Any]] = []
    lines: list[tuple[Head, str, list[Row]]] = []
    judged: dict[str, dict[tuple[str, str], float]] = {}
    scores: dict[str, dict[tuple[str, str], float]] = {}
    first_values: dict[str, tuple[Any, Path]] = {}
    for path in paths:
        head, items = read_items(path)
        if path.stem != f"{head.scorer}.{head.metric}":
            raise RecordError(f"{path}: items of {head.scorer}.{head.metric}; call it so, or take it away")
        for name, value in (("corpus", head.corpus), ("texts", head.texts)):
            of, first = first_values.setdefault(name, (value, path)) if value is not None else (None, path)
            if value != of:
                raise RecordError(
                    f"{path}: {name} {value!r}, but {of!r} in {first.name}: metrics of one table are validated alike; "
                    "keep the items of each validation in a folder of its own"
                )
        try:
            rows = rows_of(items, head.claim)
        except ValueError as error:
            raise RecordError(f"{path}: {error}; validate again") from error
        key = {name: getattr(head, name) for name in ("corpus", "scorer", "metric", "claim")}
        key["settings"] = json.dumps(head.settings, sort_keys=True, ensure_ascii=False)
        table += [key | asdict(row) for row in rows]
        agreement += [key | row for row in agreements(items, head.kinds)]
        lines.append((head, outcome(rows, head.claim), rows))
        for item in items:
            if item.row == "people" and item.part and item.value is not None and item.people is not None:
                judged.setdefault(item.part, {})[item.system, item.document] = item.people
                scores.setdefault(path.stem, {})[item.system, item.document] = item.value
    write_text(folder / "exam.csv", _table([*KEY, *columns], table))
    names = ["corpus", "scorer", "metric", "claim", "people", "level", "systems", "documents"]
    write_text(folder / "agreement.csv", _table([*names, "kinds", "given", "kind", "value", "low", "high"], agreement))
    for name, of in (("people", judged), ("scores", scores)):
        if of:
            write_text(folder / f"{name}.csv", by_summary(of))
    outcomes = [{"corpus": head.corpus, "metric": head.metric, "outcome": says} for head, says, _ in lines]
    return lines, {"outcomes": outcomes, "rows": table, "agreement": agreement}


def by_summary(scores: Mapping[str, Mapping[tuple[str, str], float]]) -> str:
    """The scores of every summary in the format of `sumcurve correlate`, without summaries that lack one."""
    whole = sorted(set.intersection(*({*of} for of in scores.values())))
    rows = ([*key, *(repr(of[key]) for of in scores.values())] for key in whole)
    return csv_text(["system", "item", *scores], rows)


def _table(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    shown = ([round(row[name], 6) if isinstance(row[name], float) else row[name] for name in columns] for row in rows)
    return csv_text(columns, shown)


def agreements(items: Iterable["Item"], kinds: Mapping[str, str]) -> list[dict[str, Any]]:
    """Correlations with people at both levels, of all systems and of each kind separately, also partial on length."""
    from sumcurve.capabilities.exam.verdicts import FEWEST, grid_of
    from sumcurve.statistics.metric_agreement import correlations, interval

    by_part: dict[str, list[Item]] = {}
    for item in items:
        if item.row == "people" and item.part:
            by_part.setdefault(item.part, []).append(item)
    rows = []
    for part, judged in by_part.items():
        for kept in ("", *sorted({kind for kind in kinds.values() if kind})):
            chosen = [item for item in judged if not kept or kinds[item.system] == kept]
            grid = grid_of(chosen)
            systems, documents = grid.values.shape
            if systems < FEWEST or not documents or grid.people is None:
                continue
            draws = grid.draws()
            for level in LEVELS:
                for given in (None, grid.lengths):
                    of_kind = correlations(grid.values, grid.people, level, draws, given)
                    for kind, values in of_kind.items():
                        low, high = interval(values)
                        cells = {"value": float(values[0]), "low": low, "high": high}
                        rows.append(
                            {"people": part, "level": level, "systems": systems, "documents": documents}
                            | {"kinds": kept or "all", "given": "" if given is None else "length", "kind": kind}
                            | {name: None if cell != cell else cell for name, cell in cells.items()}
                        )
    return rows


def page(
    metrics: Sequence[tuple["Head", str, Sequence["Row"]]],
    by_trained: Sequence[tuple["Head", str, Sequence["Row"]]] | None = None,
) -> str:
    """The verdicts as Markdown: a line a metric, then its rows, then the definitions of their values.

    A line has the outcome by outputs of trained methods, too, where there are any.
    """
    from sumcurve.capabilities.exam.table import BY_TRAINED
    from sumcurve.capabilities.exam.thresholds import thresholds
    from sumcurve.tables.table import Column, Table, Value

    columns = [
        Column("row", "row"),
        Column("part", "part"),
        Column("value", "value", "number", 3, interval=True),
        Column("threshold", "threshold"),
        Column("p", "p", "p"),
        Column("verdict", "verdict"),
    ]
    outcomes = [
        {"metric": head.metric, "claim": head.claim, "corpus": head.corpus, "outcome": says}
        for head, says, _ in metrics
    ]
    if by_trained is not None:
        trained = {(head.scorer, head.metric): says for head, says, _ in by_trained}
        for line, (head, _, _) in zip(outcomes, metrics, strict=True):
            line[BY_TRAINED] = trained.get((head.scorer, head.metric), "not tested")
    shown = Table("exam", "In brackets: 95 % intervals.", [Column(name, name) for name in outcomes[0]], outcomes)
    parts = ["# Metric validation", shown.markdown()]
    for head, _, rows in metrics:
        cells = [
            {"row": row.row, "part": row.part, "threshold": f"{row.threshold:g}", "p": row.p}
            | {"value": Value(row.value, row.low, row.high)}
            | {"verdict": f"{row.verdict} ({row.why})" if row.why else row.verdict}
            for row in rows
        ]
        parts += [f"## {head.metric}", Table(head.metric, f"Claims {head.claim}.", columns, cells).markdown()]
    values = "\n".join(f"- `{name}`: {rule.value}" for name, rule in thresholds().rows.items())
    parts += ["## Rows", "A row is passed where its value is significantly above the threshold.", values]
    return "\n\n".join(part.strip() for part in parts) + "\n"
