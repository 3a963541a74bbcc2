"""All tables and the figure of one study, written into one folder.

corpora, dropped, scores, intervals, sigma, differences and searches hold no measured time and are the same bytes for
the same evidence in any order; timings, efficiency and methods hold measured time.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from sumcurve.scores import METRICS
from sumcurve.settings import Bootstrap
from sumcurve.tables import frames
from sumcurve.tables.evidence import SEARCH, TRIVIAL, EvidenceError, Study, align
from sumcurve.tables.figure import TITLES, write_figure
from sumcurve.tables.table import NOTHING, number, span, write_table

NO_FINDINGS = "Rankings at this size are no findings about the methods."
GOLD = "-gold"  # in the signature of a search that reads the reference


def write_study(folder: Path, study: Study, settings: Bootstrap) -> list[Path]:
    """Write every table (CSV, Markdown, LaTeX, HTML) and figure (SVG, PNG) into `folder`; returns their
    paths.

    The tables are corpora, dropped, scores, intervals, sigma, timings, methods, efficiency, differences and searches,
    and of an unfinished study missing; the figure is curves.svg. Raises EvidenceError where the evidence does not fit
    together.
    """
    aligned = align(study.outputs)
    common = [one for one in aligned if one.output.search != "paper"]
    strange = {one.output.corpus for one in aligned} ^ {one.corpus for one in study.statistics}
    if strange:
        raise EvidenceError(f"corpora with scores or statistics, not both: {', '.join(sorted(strange))}")
    folder.mkdir(parents=True, exist_ok=True)
    title = f"{study.title}. {study.in_part}" if study.in_part else study.title
    caveat = "" if study.settings == "paper" else f" {NO_FINDINGS}"
    corpora = [
        f"{one.corpus}: {one.title}" for one in sorted(study.statistics, key=lambda one: one.corpus) if one.title
    ]
    bootstrap = (
        f"{100 * settings.confidence:g} % percentile bootstrap over the test items, "
        f"{settings.resamples:,} resamples, seed {settings.seed}"
    )
    intervals = frames.intervals(common, settings)
    spread = _seed_note(intervals)
    paths: list[Path] = []

    def put(
        name: str,
        caption: str,
        frame: pd.DataFrame,
        shown: pd.DataFrame,
        notes: Sequence[str],
        decimals: Mapping[str, int] | None = None,
    ) -> None:
        paths.extend(write_table(frame, folder, name, f"{title}. {caption}", shown, notes, decimals))

    frame = frames.corpora(study.statistics)
    caption = "Corpora: records, mean lengths in tokens, distinct words, and words a model knows."
    put("corpora", caption, frame, _shown_corpora(frame), corpora)

    frame = frames.dropped(study.statistics)
    put("dropped", "Records read, kept, and dropped by reason.", frame, _shown_dropped(frame), corpora)

    frame = frames.scores(aligned, study.refused)
    shown, reasons = _shown_scores(frame)
    notes = [
        *_signature_notes(frame),
        "Search: common is the corpus's, for all methods; paper is what the method's paper asks of decoding, at the "
        f"largest fraction (see table searches). Trivial systems search nothing. {spread}{caveat}",
        *reasons,
        *corpora,
    ]
    put("scores", "Mean F1 over the test items, in percent.", frame, shown, notes)

    notes = [f"In brackets: {bootstrap}. Empty: summaries without a word, which score 0. {spread}{caveat}"]
    caption = "Mean F1 in percent with the common search, averaged over seeds, with intervals."
    put("intervals", caption, intervals, _shown_intervals(intervals), notes)

    frame = frames.sigma(common, settings)
    caption = "Data score efficiency: σ = (Δs/s)/(Δd/d), percent; Σ = Δs/Δd, points per 1,000 records."
    shown, reasons = _shown_sigma(frame)
    notes = [f"In brackets: {bootstrap}, items drawn for both fractions together. {spread}{caveat}", *reasons]
    put("sigma", caption, frame, shown, notes)

    frame = frames.timings(common)
    notes = [
        "Seconds: process CPU seconds on a CPU, device seconds on a GPU; preparations included. "
        "Total: until training ended. Measured time differs from run to run."
    ]
    caption = "Training cost up to the selected checkpoint, validation excluded."
    put("timings", caption, frame, _shown_timings(frame), notes)

    frame = frames.methods(common, study.titles)
    notes = [
        "Parameters: of the model that decodes; vocabulary: those that grow with it. Updates, examples, epochs and "
        "seconds: up to the selected checkpoint, means over seeds; seconds as in table timings. Ended: why each phase "
        f"stopped, in order. {spread}{caveat}"
    ]
    put("methods", "What each method was at its largest fraction.", frame, _shown_methods(frame), notes)

    frame = frames.efficiencies(common)
    caption = "Data efficiency after Čano and Bojar (2020) on every interval of the training data."
    shown, reasons = _shown_efficiency(frame)
    notes = [
        "Σ: points per 1,000 records. Θ: seconds per 1,000 records. E = Σ/Θ: points per hour. σ, θ: percent. "
        f"ε = σ/θ. θ in updates and in examples stands beside θ in seconds. {spread}{caveat}",
        *reasons,
    ]
    put("efficiency", caption, frame, shown, notes)

    frame = frames.differences(common, settings)
    notes = [
        "Against the best trivial system that does not see the reference (best on this test set, by metric) "
        f"and against the method's own smallest fraction. In brackets: {bootstrap}. p: two-sided, sign flips "
        f"of the paired differences; Holm: corrected over all {len(frame)} rows. {spread}{caveat}"
    ]
    caption = "Paired differences in F1 (points): each method at its largest fraction, with the common search."
    put("differences", caption, frame, _shown_differences(frame), notes, {"p": 6, "p_holm": 6})

    frame = frames.searches(aligned, settings, study.missing)
    shown, reasons = _shown_searches(frame)
    notes = [
        f"Common search: {'; '.join(f'{corpus}: {search}' for corpus, search in _common_searches(frame).items())}. "
        f"Δ: paper minus common, paired over the test items, for the same weights. In brackets: {bootstrap}; not "
        f"corrected for the number of rows. {spread}{caveat}",
        *reasons,
    ]
    if frame.paper_search.str.contains(GOLD).any():
        notes.append("A search that ends in -gold reads the reference's entities: a bound, no competitor.")
    caption = "F1 in percent with the corpus's common search and with the search that the method's paper asks for."
    put("searches", caption, frame, shown, notes)

    if study.missing:
        frame = frames.missing(study.missing)
        caption = "Outputs that are not finished yet, and the first folder that each still waits for."
        put("missing", caption, frame, _shown_missing(frame), [])

    remarks = [f"{one.corpus} without {one.method}: {one.reason}." for one in study.refused]
    drawn = [*([caveat.strip()] if caveat else []), *corpora, *remarks]
    return paths + write_figure(intervals, settings, folder, "curves", drawn, study.in_part)


def _seed_note(intervals: pd.DataFrame) -> str:
    seeds = intervals.seeds[~intervals.method.isin(TRIVIAL)]
    if not len(seeds):
        return "No trained method."
    if seeds.max() == 1:
        return "One seed for each training: seed spread unknown."
    if seeds.min() == seeds.max():
        return f"Seeds of each training: {seeds.min()}."
    unknown = "; where there is one, seed spread unknown." if seeds.min() == 1 else "."
    return f"Seeds of each training: {seeds.min()} to {seeds.max()}{unknown}"


def _signature_notes(scores: pd.DataFrame) -> list[str]:
    """The scorer's signature and the common search, each once, with its corpora."""
    told = scores[scores.signature.notna() & (scores.search != "paper")]
    parts = [
        (corpus, [part for part in signature.split("|") if part.startswith(SEARCH) == searched])
        for searched in (False, True)
        for corpus, signature in zip(told.corpus, told.signature, strict=True)
    ]
    corpora_of: dict[str, dict[str, None]] = {}
    for corpus, found in parts:
        if found:
            corpora_of.setdefault("|".join(found), {})[corpus] = None
    return [
        f"{'Common search' if part.startswith(SEARCH) else 'Signature'} ({', '.join(corpora)}): "
        f"{part.removeprefix(SEARCH)}"
        for part, corpora in corpora_of.items()
    ]


def _common_searches(searches: pd.DataFrame) -> dict[str, str]:
    """The common search of every corpus."""
    return dict(zip(searches.corpus, searches.common_search, strict=True))


def _counts(values: Iterable[Any]) -> list[str]:
    return [number(value) for value in values]


def _words(values: Iterable[Any]) -> list[str]:
    return [NOTHING if pd.isna(value) else str(value) for value in values]


def _interval(row: Any) -> str:
    return f"{row.from_percent} → {row.to_percent}"


def _shown_corpora(frame: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "corpus": frame.corpus,
            "part": frame.part,
            "%": _counts(frame.percent),
            "records": _counts(frame.records),
            "source": [number(value, 1) for value in frame.source_tokens],
            "target": [number(value, 1) for value in frame.target_tokens],
            "vocabulary": _counts(frame.vocabulary),
            "words used": _counts(frame.words_used),
        }
    )


def _shown_dropped(frame: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "corpus": frame.corpus,
            "outcome": frame.outcome,
            "records": _counts(frame.records),
            "% of read": [number(value, 1) for value in frame.share_percent],
        }
    )


def _shown_scores(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    numbers, reasons = _number_reasons(frame)
    shown = pd.DataFrame(
        {
            "corpus": frame.corpus,
            "method": frame.method,
            "%": _counts(frame.percent),
            "records": _counts(frame.records),
            "seed": _counts(frame.seed),
            "search": _words(frame.search),
            **{
                TITLES[metric]: [
                    _marked(cell, mark) for cell, mark in zip(_counts(frame[metric]), numbers, strict=True)
                ]
                for metric in METRICS
            },
            "items": _counts(frame["items"]),
        }
    )
    return shown, reasons


def _shown_intervals(frame: pd.DataFrame) -> pd.DataFrame:
    columns = {
        "corpus": list(frame.corpus),
        "method": list(frame.method),
        "%": _counts(frame.percent),
        "seeds": _counts(frame.seeds),
    }
    several = bool((frame.seeds > 1).any())
    for metric in METRICS:
        columns[TITLES[metric]] = [
            span(mean, low, high)
            for mean, low, high in zip(frame[metric], frame[f"{metric}_low"], frame[f"{metric}_high"], strict=True)
        ]
        if several:
            columns[f"{TITLES[metric]} over seeds"] = [
                NOTHING if pd.isna(least) else f"{number(least)} to {number(most)}"
                for least, most in zip(frame[f"{metric}_least"], frame[f"{metric}_most"], strict=True)
            ]
    return pd.DataFrame(columns | {"items": _counts(frame["items"]), "empty": _counts(frame["empty"])})


def _shown_sigma(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    numbers, reasons = _number_reasons(frame)
    rows = []
    for row, mark in zip(frame.itertuples(index=False), numbers, strict=True):
        cells = {
            "corpus": row.corpus,
            "method": row.method,
            "seed": number(row.seed),
            "interval (%)": _interval(row),
        }
        for short in frames.SHORT.values():
            value, low, high = (getattr(row, f"sigma{short}_{end}") for end in ("percent", "low", "high"))
            cells[f"σ{short}"] = _marked(span(value, low, high, decimals=1), mark)
        for short in frames.SHORT.values():
            cells[f"Σ{short}"] = number(getattr(row, f"Sigma{short}_per_1000_records"), 3)
        rows.append(cells)
    names = [f"{sign}{short}" for sign in "σΣ" for short in frames.SHORT.values()]
    return pd.DataFrame(rows, columns=["corpus", "method", "seed", "interval (%)", *names]), reasons


def _shown_timings(frame: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "corpus": frame.corpus,
            "method": frame.method,
            "%": _counts(frame.percent),
            "records": _counts(frame.records),
            "seed": _counts(frame.seed),
            "seconds": [number(value, 1) for value in frame.seconds],
            "of them in": [_phases(cell) for cell in frame.phase_seconds],
            "total": [number(value, 1) for value in frame.total_seconds],
            "updates": _counts(frame.updates),
            "examples": _counts(frame.examples),
            "device": frame.device,
            "lease": frame.lease,
        }
    )


def _phases(cell: str) -> str:
    """`nll=1.2345;mixed=2.0000` -> `nll 1.2, mixed 2.0`."""
    pairs = [phase.rsplit("=", 1) for phase in cell.split(";") if phase]
    return ", ".join(f"{phase} {number(float(seconds), 1)}" for phase, seconds in pairs)


def _shown_methods(frame: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "corpus": frame.corpus,
            "method": frame.method,
            "title": frame.title,
            "%": _counts(frame.percent),
            "seeds": _counts(frame.seeds),
            "parameters": _counts(frame.parameters),
            "vocabulary": _counts(frame.vocabulary_parameters),
            "other": _counts(frame.other_parameters),
            "updates": [number(value, 0) for value in frame.mean_updates],
            "examples": [number(value, 0) for value in frame.mean_examples],
            "epochs": [number(value, 1) for value in frame.epochs],
            "seconds": [number(value, 1) for value in frame.seconds],
            "ended": _words(frame.ended),
            "precision": _words(frame.precision),
            "threads": _counts(frame.threads),
            "device": _words(frame.device),
        }
    )


def _shown_searches(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    numbers, reasons = _number_reasons(frame)
    columns: dict[str, Any] = {"corpus": frame.corpus, "method": frame.method, "%": _counts(frame.percent)}
    for metric in METRICS:
        columns[TITLES[metric]] = _counts(frame[f"{metric}_common"])
        columns[f"{TITLES[metric]} paper"] = _counts(frame[f"{metric}_paper"])
        ends = zip(*(frame[f"{metric}_{end}"] for end in ("difference", "low", "high")), strict=True)
        columns[f"Δ {TITLES[metric]}"] = [span(*cells) for cells in ends]
    columns["paper's search"] = [
        _marked(search or NOTHING, mark) for search, mark in zip(frame.paper_search, numbers, strict=True)
    ]
    return pd.DataFrame(columns), reasons


def _shown_missing(frame: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "corpus": frame.corpus,
            "method": frame.method,
            "%": _counts(frame.percent),
            "seed": _counts(frame.seed),
            "search": _words(frame.search),
            "waits for": frame.folder,
        }
    )


def _shown_efficiency(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    numbers, reasons = _number_reasons(frame)
    columns = {
        "Σ": ("Sigma_per_1000_records", 3),
        "Θ": ("Theta_seconds_per_1000_records", 2),
        "E": ("E_per_hour", 2),
        "σ": ("sigma_percent", 2),
        "θ": ("theta_percent", 2),
        "ε": ("epsilon", 3),
        "θ updates": ("theta_updates_percent", 2),
        "θ examples": ("theta_examples_percent", 2),
    }
    rows = [
        {
            "corpus": row.corpus,
            "method": row.method,
            "seed": number(row.seed),
            "interval (%)": _interval(row),
            "metric": TITLES[row.metric],
            **{
                heading: _marked(number(getattr(row, name), decimals), mark)
                for heading, (name, decimals) in columns.items()
            },
        }
        for row, mark in zip(frame.itertuples(index=False), numbers, strict=True)
    ]
    names = ["corpus", "method", "seed", "interval (%)", "metric", *columns]
    return pd.DataFrame(rows, columns=names), reasons


def _shown_differences(frame: pd.DataFrame) -> pd.DataFrame:
    ends = zip(frame.difference, frame.low, frame.high, strict=True)
    return pd.DataFrame(
        {
            "corpus": frame.corpus,
            "method": frame.method,
            "%": _counts(frame.percent),
            "against": frame.against,
            "metric": [TITLES[metric] for metric in frame.metric],
            "difference": [span(*cells) for cells in ends],
            "wins": _counts(frame.wins),
            "ties": _counts(frame.ties),
            "losses": _counts(frame.losses),
            "p": [_probability(value) for value in frame.p],
            "p (Holm)": [_probability(value) for value in frame.p_holm],
        }
    )


def _probability(value: float) -> str:
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"


def _number_reasons(frame: pd.DataFrame) -> tuple[list[str], list[str]]:
    """For every row the marks of its reasons, and one note for every reason."""
    every = list(dict.fromkeys(frame.reason))
    known = [reason for reason in every if reason]
    marks = [f" [{known.index(reason) + 1}]" if reason else "" for reason in frame.reason]
    return marks, [f"[{place}] {reason}." for place, reason in enumerate(known, start=1)]


def _marked(cell: str, mark: str) -> str:
    return cell + mark if cell == NOTHING else cell
