"""All tables and the figure of one study, written into one folder.

corpora.csv, dropped.csv, scores.csv, intervals.csv, sigma.csv and differences.csv hold no measured time and
are the same bytes for the same evidence in any order; timings and efficiency hold measured time.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from sumcurve.scores import METRICS
from sumcurve.settings import Bootstrap
from sumcurve.tables import frames
from sumcurve.tables.evidence import TRIVIAL, CorpusStatistics, EvidenceError, ScoredOutput, align
from sumcurve.tables.figure import TITLES, write_figure
from sumcurve.tables.table import NOTHING, number, span, write_table

NO_FINDINGS = "Rankings at this size are no findings about the methods."


def write_study(
    folder: Path,
    title: str,
    statistics: Sequence[CorpusStatistics],
    outputs: Sequence[ScoredOutput],
    settings: Bootstrap,
) -> list[Path]:
    """Write every table (CSV, Markdown, LaTeX, HTML) and figure (SVG, PNG) into `folder`; returns their
    paths.

    The tables are corpora, dropped, scores, intervals, sigma, timings, efficiency and differences, the figure
    is curves.svg. Raises EvidenceError where the evidence does not fit together.
    """
    aligned = align(outputs)
    strange = {one.output.corpus for one in aligned} ^ {one.corpus for one in statistics}
    if strange:
        raise EvidenceError(f"corpora with scores or statistics, not both: {', '.join(sorted(strange))}")
    folder.mkdir(parents=True, exist_ok=True)
    corpora = [f"{one.corpus}: {one.title}" for one in sorted(statistics, key=lambda one: one.corpus) if one.title]
    bootstrap = (
        f"{100 * settings.confidence:g} % percentile bootstrap over the test items, "
        f"{settings.resamples:,} resamples, seed {settings.seed}"
    )
    scores, intervals = frames.scores(aligned), frames.intervals(aligned, settings)
    spread = _seed_note(intervals)

    frame = frames.corpora(statistics)
    caption = f"{title}. Corpora: records, mean lengths in tokens, distinct words, and words a model knows."
    paths = write_table(frame, folder, "corpora", caption, _shown_corpora(frame), corpora)

    frame = frames.dropped(statistics)
    caption = f"{title}. Records read, kept, and dropped by reason."
    paths += write_table(frame, folder, "dropped", caption, _shown_dropped(frame), corpora)

    caption = f"{title}. Mean F1 over the test items, in percent."
    notes = [*_signature_notes(scores), f"{spread} {NO_FINDINGS}", *corpora]
    paths += write_table(scores, folder, "scores", caption, _shown_scores(scores), notes)

    caption = f"{title}. Mean F1 in percent, averaged over seeds, with intervals."
    notes = [f"In brackets: {bootstrap}. Empty: summaries without a word, which score 0. {spread} {NO_FINDINGS}"]
    paths += write_table(intervals, folder, "intervals", caption, _shown_intervals(intervals), notes)

    frame = frames.sigma(aligned, settings)
    caption = f"{title}. Data score efficiency: σ = (Δs/s)/(Δd/d), percent; Σ = Δs/Δd, points per 1,000 records."
    shown, reasons = _shown_sigma(frame)
    notes = [f"In brackets: {bootstrap}, items drawn for both fractions together. {spread}", *reasons]
    paths += write_table(frame, folder, "sigma", caption, shown, notes)

    frame = frames.timings(aligned)
    caption = f"{title}. Training cost up to the selected checkpoint, validation excluded."
    notes = [
        "Seconds: process CPU seconds on a CPU, device seconds on a GPU; preparations included. "
        "Total: until training ended. Measured time differs from run to run."
    ]
    paths += write_table(frame, folder, "timings", caption, _shown_timings(frame), notes)

    frame = frames.efficiencies(aligned)
    caption = f"{title}. Data efficiency after Čano and Bojar (2020) on every interval of the training data."
    shown, reasons = _shown_efficiency(frame)
    notes = [
        "Σ: points per 1,000 records. Θ: seconds per 1,000 records. E = Σ/Θ: points per hour. σ, θ: percent. "
        f"ε = σ/θ. θ in updates and in examples stands beside θ in seconds. {spread}",
        *reasons,
    ]
    paths += write_table(frame, folder, "efficiency", caption, shown, notes)

    frame = frames.differences(aligned, settings)
    caption = f"{title}. Paired differences in F1 (points): each method at its largest fraction."
    notes = [
        "Against the best trivial system that does not see the reference (best on this test set, by metric) "
        f"and against the method's own smallest fraction. In brackets: {bootstrap}. p: two-sided, sign flips "
        f"of the paired differences; Holm: corrected over all {len(frame)} rows. {spread} {NO_FINDINGS}"
    ]
    decimals = {"p": 6, "p_holm": 6}
    paths += write_table(frame, folder, "differences", caption, _shown_differences(frame), notes, decimals)

    return paths + write_figure(intervals, settings, folder, "curves", corpora)


def _seed_note(intervals: pd.DataFrame) -> str:
    seeds = intervals.seeds[~intervals.method.isin(TRIVIAL)]
    if not len(seeds):
        return "No trained method."
    if (seeds == 1).any():
        return "One seed for each training: seed spread unknown."
    return f"Seeds of each training: {seeds.min()}" + (f" to {seeds.max()}." if seeds.max() > seeds.min() else ".")


def _signature_notes(scores: pd.DataFrame) -> list[str]:
    """Each signature once, with its corpora."""
    found = scores.groupby("signature", sort=True).corpus.unique()
    return [f"Signature ({', '.join(sorted(names))}): {signature}" for signature, names in found.items()]


def _counts(values: Iterable[Any]) -> list[str]:
    return [number(value) for value in values]


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


def _shown_scores(frame: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "corpus": frame.corpus,
            "method": frame.method,
            "%": _counts(frame.percent),
            "records": _counts(frame.records),
            "seed": _counts(frame.seed),
            **{TITLES[metric]: _counts(frame[metric]) for metric in METRICS},
            "items": _counts(frame["items"]),
        }
    )


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
    phases = [name for name in frame.columns if name.endswith("_seconds") and name != "total_seconds"]
    return pd.DataFrame(
        {
            "corpus": frame.corpus,
            "method": frame.method,
            "%": _counts(frame.percent),
            "records": _counts(frame.records),
            "seed": _counts(frame.seed),
            "seconds": [number(value, 1) for value in frame.seconds],
            **{f"in {name.removesuffix('_seconds')}": [number(value, 1) for value in frame[name]] for name in phases},
            "total": [number(value, 1) for value in frame.total_seconds],
            "updates": _counts(frame.updates),
            "examples": _counts(frame.examples),
            "device": frame.device,
            "lease": frame.lease,
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
