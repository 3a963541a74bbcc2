"""Folders of outputs of prompted models, and how the kind is made."""

from typing import NotRequired, TypedDict

from sumcurve.capabilities.chat.system import Chat
from sumcurve.store.kind import Kind
from sumcurve.store.records import RecordError
from sumcurve.store.stage import Block, BuildError, Inputs, Stage
from sumcurve.systems.folders import test_items


class ChatSpecification(TypedDict):
    corpus: str
    settings: Block  # as `system.Chat.specify` has them
    examples: int
    fraction: NotRequired[str]  # of the examples; without any there is none
    seed: NotRequired[int]  # that drew it


def chat(specification: ChatSpecification, inputs: Inputs, stage: Stage) -> None:
    """Write a prompted model's summaries of the test set, and their costs; its answers are kept below the home."""
    from dataclasses import asdict

    from sumcurve.capabilities.chat.client import LENGTH
    from sumcurve.capabilities.chat.service import ANSWERS, refused
    from sumcurve.capabilities.chat.system import LEDGERS
    from sumcurve.corpora.fraction import drawn_positions
    from sumcurve.corpora.store import Corpus, rows_of
    from sumcurve.store.records import write_csv, write_json
    from sumcurve.systems.system import write_summaries

    # What is decoded here has a ledger for each output: one ledger would be written by one process at a time.
    ledgers = stage.home / ANSWERS / ("" if "url" in specification["settings"] else stage.name)
    system = Chat(specification["settings"], {**inputs, LEDGERS: ledgers})
    if "fraction" in specification:
        train = Corpus(inputs[specification["corpus"]]).part("train")
        drawn = drawn_positions(inputs[specification["fraction"]], train.ids, specification["seed"])
        system.examples = [(" ".join(row["source"]), " ".join(row["target"])) for row in rows_of(train, drawn)]
    try:
        write_summaries(system, test_items(inputs[specification["corpus"]]), stage.folder)
    except RecordError as error:
        raise BuildError(f"{stage.name}: {error}") from error
    usage = asdict(system.usage)
    seconds = usage.pop("seconds")
    counts = {
        "refused": sum(map(refused, system.answers)),
        "cut": sum(answer.finish == LENGTH for answer in system.answers),
        "items": len(system.answers),
    }
    write_json(stage.folder / "usage.json", usage | counts | {"served": system.served})
    write_csv(stage.folder / "timings.csv", ["seconds"], [{"seconds": round(seconds, 3)}])
    stage.facts["served"] = system.served
    stage.note(
        f"{usage['answers']} answers, {usage['lost']} lost, {usage['declined']} declined, {counts['refused']} refused, "
        f"{counts['cut']} cut; {system.usage.tokens.total:,} tokens"
    )


KINDS: dict[str, Kind] = {
    "chat": Kind(
        step="outputs",
        stem="{corpus}-{system}",
        specification=ChatSpecification,
        builder=chat,
        version=Chat.version,
        mem_mb=4000,
        minutes=1440,
        committed=("summaries.jsonl", "usage.json", "timings.csv"),
        leads_file=True,
    ),
}
