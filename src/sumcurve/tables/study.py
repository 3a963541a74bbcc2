"""All tables and the figure of one study, written into one folder.

timings, efficiency, stopping, methods and oracle_timings hold measured time; all others are the same bytes for the same
evidence in any order.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sumcurve.curves.fit import LEAST_SIZES
from sumcurve.settings import Bootstrap
from sumcurve.tables import comparisons, efficiencies, frames, layout, learning
from sumcurve.tables.boxes import write_boxes
from sumcurve.tables.cells import seed_variances
from sumcurve.tables.evidence import SEARCH, TRIVIAL, EvidenceError, Study, align
from sumcurve.tables.figure import Overlay, write_figure
from sumcurve.tables.oracle import write_oracle
from sumcurve.tables.table import write_table

NO_FINDINGS = "Rankings at this size are no findings about the methods."
GOLD = "-gold"  # in the signature of a search that reads the reference


def write_study(folder: Path, study: Study, settings: Bootstrap) -> list[Path]:
    """Write every table (CSV, Markdown, LaTeX, HTML) and figure (SVG, PNG) into `folder`; returns their
    paths.

    The figures are curves.svg and oracle.svg. Raises EvidenceError where the evidence does not fit together.
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
    share = f"{100 * settings.confidence:g} %"
    bootstrap = f"{share} BCa bootstrap over the test items, {settings.resamples:,} resamples, seed {settings.seed}"
    variances = seed_variances(common, settings)
    if any(variances.values()):
        bootstrap = f"{share} t interval over test items and seeds, or with one seed the {bootstrap}"
    intervals = frames.intervals(common, variances, settings)
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
    put("corpora", caption, frame, layout.corpora(frame), corpora)

    frame = frames.dropped(study.statistics)
    put("dropped", "Records read, kept, and dropped by reason.", frame, layout.dropped(frame), corpora)

    frame = frames.scores(aligned, study.refused)
    shown, reasons = layout.scores(frame)
    notes = [
        *_signature_notes(frame),
        "Search: common is the corpus's, for all methods; paper is what the method's paper asks of decoding, at the "
        f"largest fraction (see table searches). Trivial systems search nothing. {spread}{caveat}",
        *reasons,
        *corpora,
    ]
    put("scores", "Mean F1 over the test items, in percent.", frame, shown, notes)

    notes = [
        f"In brackets: {bootstrap}. Bold: the best of its corpus and size, and significantly ahead of every other "
        "trained method there (paired, Holm over all pairs, 5 %). Empty: summaries without a word, which score 0. "
        f"{spread}{caveat}"
    ]
    caption = "Mean F1 in percent with the common search, averaged over seeds, with intervals."
    best = comparisons.ahead(common, variances, settings)
    put("intervals", caption, intervals, layout.intervals(intervals, best), notes)

    frame = efficiencies.seeds(variances)
    caption = (
        "What seeds vary by, pooled over methods and sizes: standard deviation of one seed's mean score, in points."
    )
    notes = [
        "A seed draws the training subset, the initialisation and the order of the data; at 100 % all seeds have the "
        "same records. Of models: what a larger test set would not take away. Equal: p of Bartlett's test that all "
        "cells vary alike; with few seeds a high one is no proof. Correlations over common seeds: of methods at one "
        "size, of sizes of one method; intervals take both as 0. "
        f"{spread}"
    ]
    put("seeds", caption, frame, layout.seeds(frame), notes, {"equal_p": 6})

    ceilings: dict[str, dict[str, NDArray[np.float64]]] = {one.corpus: {} for one in study.ceilings}
    for one in study.ceilings:
        ceilings[one.corpus][one.metric] = one.percents()
    measured = efficiencies.measure(common, ceilings, settings)
    frame = efficiencies.sigma(measured)
    caption = (
        "Data score efficiency: σ = (Δs/s)/(Δd/d), percent; Σ = Δs/Δd, points per 1,000 records; gap closed, percent."
    )
    shown, reasons = layout.sigma(frame)
    notes = [
        f"In brackets: {bootstrap}, items drawn for both fractions together. Gap closed: Δs over the distance of the "
        "smaller training from the extractive optimum, since σ rewards a low start. "
        f"{spread}{caveat}",
        *reasons,
    ]
    put("sigma", caption, frame, shown, notes)

    frame = frames.timings(common)
    notes = [
        "Seconds: process CPU seconds on a CPU, device seconds on a GPU; preparations included. "
        "Total: until training ended. Measured time differs from run to run."
    ]
    caption = "Training cost up to the selected checkpoint, validation excluded."
    put("timings", caption, frame, layout.timings(frame), notes)

    frame = frames.methods(common, study.titles)
    notes = [
        "Parameters: of the model that decodes; vocabulary: those that grow with it. Updates, examples, epochs and "
        "seconds: up to the selected checkpoint, means over seeds; seconds as in table timings. Ended: why each phase "
        f"stopped, in order. {spread}{caveat}"
    ]
    put("methods", "What each method was at its largest fraction.", frame, layout.methods(frame), notes)

    frame = efficiencies.efficiencies(measured, common)
    caption = "Data efficiency after Čano and Bojar (2020) on every interval of the training data."
    shown, reasons = layout.efficiency(frame)
    notes = [
        "Σ: points per 1,000 records. Θ: seconds per 1,000 records. E = Σ/Θ: points per hour. σ, θ: percent. "
        "ε = σ/θ. θ in updates and in examples stands beside θ in seconds. In brackets: "
        f"{share} intervals, of θ from seeds alone, of ε Fieller's (one seed: of items alone). {spread}{caveat}",
        *reasons,
    ]
    put("efficiency", caption, frame, shown, notes)

    frame = efficiencies.stopping_rules(common, settings)
    shown, reasons = layout.stopping(frame)
    notes = [
        "Common: up to the selected checkpoint. Fixed: the largest number of updates, or of epochs, that all sizes and "
        "seeds of the method have, in every phase. Within: up to the first validation of the last phase within 1 % of "
        f"the selected ROUGE. In brackets: {share} intervals from seeds alone. {spread}",
        *reasons,
    ]
    put("stopping", "θ in percent under several stopping rules, from the kept Histories.", frame, shown, notes)

    frame = comparisons.comparisons(common, variances, settings)
    notes = [
        "Row minus column, in points; bold where p < 0.05 after Holm's correction over all pairs and metrics of the "
        f"corpus (paired over test items; intervals and p in comparisons.csv). {spread}{caveat}"
    ]
    caption = "Every two systems of a corpus, each method at its largest fraction, with the common search."
    put("comparisons", caption, frame, layout.comparisons(frame), notes, {"p": 6, "p_holm": 6})

    learned = learning.learn(common, variances, settings)
    lacking = [f"{corpus}: {reason}." for corpus, reason in learned.refused.items()]
    frame = learning.families(learned)
    notes = [
        "Two free parameters for each method, the others shared. RMSE in points, mean log predictive density and share "
        f"of scores inside the {share} predictive interval, for the largest size held back (1) and for the two largest "
        "(2). "
        f"Weight: of the family in the average that bands and verdicts come from. {caveat}",
        *lacking,
    ]
    put("families", "Families of learning curves, judged by what they predict.", frame, layout.families(frame), notes)

    frame = learning.verdicts(learned)
    notes = [
        f"Never beyond four times the largest size, and undecided unless the data say more; a fit needs {LEAST_SIZES} "
        f"sizes. Level: the {share} interval of the difference holds 0. Probabilities are of single claims: of many at "
        f"0.975, one in forty may err. {spread}{caveat}",
        *lacking,
    ]
    caption = "Who is ahead, and who is expected ahead on more data."
    put("verdicts", caption, frame, layout.verdicts(frame), notes)

    frame = comparisons.differences(common, variances, settings)
    notes = [
        "Against the best trivial system that does not see the reference (best on this test set, by metric) "
        f"and against the method's own smallest fraction. In brackets: {bootstrap}. p: two-sided, sign flips "
        f"of the paired differences, or the t test over items and seeds; Holm: corrected over all {len(frame)} rows. "
        f"{spread}{caveat}"
    ]
    caption = "Paired differences in F1 (points): each method at its largest fraction, with the common search."
    put("differences", caption, frame, layout.differences(frame), notes, {"p": 6, "p_holm": 6})

    frame = frames.searches(aligned, settings, study.missing)
    shown, reasons = layout.searches(frame)
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
        put("missing", caption, frame, layout.missing(frame), [])

    remarks = [f"{one.corpus} without {one.method}: {one.reason}." for one in study.refused]
    drawn = [*([caveat.strip()] if caveat else []), *corpora, *remarks]
    scores, lengths, told = write_oracle(put, study, settings)
    paths += write_boxes(scores, lengths, folder, "oracle", told, study.in_part)

    bands = learning.bands(learned)
    overlays = {
        one.corpus: Overlay(
            bands[bands.corpus == one.corpus],
            {
                ceiling.metric: [
                    (
                        "optimum" if ceiling.proven == len(ceiling.ids) else "bound of the optimum",
                        float(ceiling.percents().mean()),
                    ),
                    *([("source words", 100 * ceiling.source_words)] if ceiling.source_words is not None else []),
                ]
                for ceiling in study.ceilings
                if ceiling.corpus == one.corpus
            },
        )
        for one in study.statistics
    }
    return paths + write_figure(intervals, settings, folder, "curves", drawn, study.in_part, overlays)


def _seed_note(intervals: pd.DataFrame) -> str:
    seeds = intervals.seeds[~intervals.method.isin(TRIVIAL)]
    if not len(seeds):
        return "No trained method."
    if seeds.max() == 1:
        return "One seed for each training: seed spread unknown."
    if seeds.min() == seeds.max():
        return f"Seeds of each training: {seeds.min()}."
    unknown = "; where there is one, it is taken to vary as the others do." if seeds.min() == 1 else "."
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
