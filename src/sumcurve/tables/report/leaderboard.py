"""The leaderboard of a corpus: every method at its largest size, with its score, parameters and training time."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from sumcurve.machine.counts import counted
from sumcurve.scores.references import JACKKNIFE
from sumcurve.settings.base import ZERO_SHOT
from sumcurve.tables.ranking import Effect, effect
from sumcurve.tables.references import PEOPLE, people_of
from sumcurve.tables.report.facts import Corpus, Record, ignores_source, learned
from sumcurve.tables.report.findings import Titles
from sumcurve.tables.table import number, significant, span, without_markup

CUT = "best-sentence"  # the bound that is shown
BEST = 3  # untrained baselines that are shown
JACKKNIFED = (
    "Scores are by the best reference; jackknife: the mean over references of the best of the others. People are "
    "compared with systems by it, since they have a reference less (table references)."
)
FALLING = "still falling"  # in column ended of table methods
APART = "As printed elsewhere, not ranked"  # the heading of results of others


@dataclass(frozen=True)
class Entry:
    """A row; `records` and the fields after them are None for an untrained system.

    `single`: one run, where others have several. `falling`: training ended while the loss fell. `jackknife` is known
    where people wrote several references (table references); people have no other score.
    """

    method: str
    title: str
    role: str
    score: Effect | None
    records: int | None = None
    single: bool = False
    parameters: int | None = None
    epochs: float | None = None
    seconds: float | None = None
    reads: bool = True
    template: bool = False
    falling: bool = False
    about: str = ""
    jackknife: Effect | None = None

    @property
    def group(self) -> str:
        """Heading above the rows of its kind, empty for trained methods; a page sorts rows by it."""
        return {"trained": "", "outside": "from outside", "baseline": "not trained"}.get(self.role, "see the reference")


def leaderboard(corpus: Corpus, titles: Titles, baselines: int = BEST) -> list[Entry]:
    """Trained methods at their largest size and prompted models with the examples that suit them best, by score.

    Then the best baselines, the bound, and the mean of people. Where no metric may rank, the order is that of names.
    """
    trained = {row["method"]: row for row in corpus.trainings if row.get(corpus.column) is not None}
    rows = [_entry(corpus, titles, row) for row in trained.values()]
    if any((row["seeds"] or 1) > 1 for row in trained.values()):
        rows = [replace(row, single=trained[row.method]["seeds"] in (None, 1)) for row in rows]
    prompted, scores = corpus.prompted, [row for row in corpus.rows("scores") if row.get(corpus.column) is not None]
    prompts = [row for row in scores if row["method"] in prompted]
    best = {_model(row): row for row in sorted(prompts, key=lambda row: float(row[corpus.column]))}
    rows += [_prompt(corpus, titles, row) for row in best.values()]
    others = [_entry(corpus, titles, row) for row in scores if not learned(row) and row not in prompts]
    blind = sorted((row for row in others if row.role in ("baseline", "outside")), key=_by_score)[:baselines]
    bound = [row for row in others if row.method == CUT]
    order = _by_name if corpus.unread else _by_score
    return _with_people(corpus, [*sorted(rows, key=order), *sorted(blind, key=order), *bound])


def _with_people(corpus: Corpus, entries: list[Entry]) -> list[Entry]:
    """The entries with their jackknife, and the mean of people; as they are where the corpus has no such row."""
    rows = corpus.rows("references")
    column = f"{corpus.column}_{JACKKNIFE}" if rows else ""
    scores = {(row["method"], row["records"]): effect(row, column) for row in rows if row.get(column) is not None}
    if (PEOPLE, None) not in scores:
        return entries
    people = [row[column] for row in rows if row["own_reference"] is not None]
    each = f"each {number(min(people), 1)} to {number(max(people), 1)}" if len(people) > 1 else ""
    known = [replace(entry, jackknife=scores.get((entry.method, entry.records))) for entry in entries]
    mean = Entry(PEOPLE, people_of(len(people)), "bound", None, about=each, jackknife=scores[PEOPLE, None])
    return [*known, mean]


def shortened(entries: Sequence[Entry], rows: int) -> list[Entry]:
    """Select at most `rows` entries: the best trained, the best baseline and the bound first of all."""
    trained = [entry for entry in entries if entry.role == "trained"]
    bound = [entry for entry in entries if entry.role == "bound"]
    blind = [entry for entry in entries if entry not in trained and entry not in bound]
    room = rows - len(bound)
    kept = trained[: room - len(blind[:1])]
    best = sorted(blind, key=_by_score)[: room - len(kept)]
    return [*kept, *(entry for entry in blind if entry in best), *bound]


def _by_score(entry: Entry) -> float:
    return -entry.score.value if entry.score else 0.0


def _by_name(entry: Entry) -> str:
    return entry.title.casefold()


def _entry(corpus: Corpus, titles: Titles, row: Record) -> Entry:
    score = effect(row, corpus.column)
    assert score is not None
    name, about = row["method"], titles.about.get(row["method"], "")
    if not learned(row):
        return Entry(name, titles[name], row["role"], score, about=about)
    of = next(iter(corpus.rows("methods", method=name, records=row["records"])), {})
    return Entry(
        name,
        titles[name],
        row["role"],
        score,
        row["records"],
        parameters=None if of.get("parameters") is None else round(of["parameters"]),
        epochs=of.get("epochs"),
        seconds=of.get("seconds"),
        reads=not ignores_source(row),
        template=row.get("one_frame") == "yes",
        falling=FALLING in (of.get("ended") or ""),
        about=about,
    )


def _model(row: Record) -> str:
    return row["method"].removesuffix(ZERO_SHOT)


def _prompt(corpus: Corpus, titles: Titles, row: Record) -> Entry:
    name = _model(row)
    title = f"{titles[name]}, {counted(row['records'] or 0, 'example')}"
    return Entry(row["method"], title, "outside", effect(row, corpus.column), about=titles.about.get(name, ""))


def in_millions(parameters: int | None) -> str:
    """A number of parameters, as "0.60 M", "12 M" or "135 M"; empty for None."""
    if parameters is None or parameters < 1e5:
        return "" if parameters is None else number(parameters)
    return f"{significant(parameters / 1e6, 2 if parameters < 1e8 else 3)} M"


def markdown(entries: Sequence[Entry], metric: str, seconds: bool = True) -> list[str]:
    """The lines of a Markdown table; equal evidence gives equal bytes where `seconds` are left out."""
    people = any(entry.jackknife for entry in entries)
    heads = ["model", "parameters", "records", f"{metric} [95 % interval]"]
    heads += [*([f"{metric}, {JACKKNIFE}"] if people else []), *(["training, seconds"] if seconds else [])]
    lines = [f"| {' | '.join(heads)} |", f"| --- |{' ---: |' * (len(heads) - 1)}"]
    for entry in entries:
        score, jackknife = (
            span(shown.value, shown.low, shown.high, 1) if shown else "" for shown in (entry.score, entry.jackknife)
        )
        score += " (one run)" if entry.single else ""
        title = entry.title + ("" if entry.reads else " †") + (" ¶" if entry.template else "")
        if entry.about:
            title += ": " + without_markup(entry.about).replace("|", "\\|")
        cells = [
            title if entry.role == "trained" else f"*{title}*",
            in_millions(entry.parameters),
            number(entry.records) if entry.records else "",
            score,
            *([jackknife] if people else []),
            *([significant(entry.seconds) if entry.seconds else ""] if seconds else []),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


@dataclass(frozen=True)
class Printed:
    """A published result below a leaderboard, `score` as printed; it is neither compared nor ranked.

    `scored` names the scorer and the references, `comparable` the parts that can be compared with ours and those that
    cannot; `notes` are sentences that stand once below all rows.
    """

    title: str
    score: str
    scored: str
    source: str
    comparable: str
    parameters: int | None = None
    records: int | None = None
    notes: Sequence[str] = ()


Brought = Callable[[Corpus], Iterable[Printed]]  # a capability's results of others


def printed_notes(rows: Sequence[Printed]) -> str:
    """State what is comparable, each sentence once behind the titles that it is about, and what marks mean."""
    titles: dict[str, list[str]] = {}
    for row in rows:
        titles.setdefault(row.comparable, []).append(row.title)
    notes = [f"{', '.join(of_sentence)}: {sentence}" for sentence, of_sentence in titles.items()]
    return " ".join([*notes, *dict.fromkeys(note for row in rows for note in row.notes)])


def printed_markdown(rows: Sequence[Printed], metric: str) -> list[str]:
    """The lines of a Markdown table of its own, with its notes; none without rows."""
    if not rows:
        return []
    heads = [APART, "parameters", "records", metric, "scorer", "source"]
    lines = [f"| {' | '.join(heads)} |", "| --- | ---: | ---: | ---: | --- | --- |"]
    for row in rows:
        title, scored, source = (without_markup(text) for text in (row.title, row.scored, row.source))
        records = number(row.records) if row.records else ""
        lines.append(f"| *{title}* | {in_millions(row.parameters)} | {records} | {row.score} | {scored} | {source} |")
    return ["", *lines, "", without_markup(printed_notes(rows))]
