"""Claims of papers, each recomputed in exact numbers from the printed ones; the command that prints them."""

import json
import subprocess
import sys
from collections.abc import Iterator
from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from examples import examples
from sumcurve.__main__ import main
from sumcurve.capabilities.papers import PAPERS, akhmetov_2022, cano_bojar_2020, eyal_2019, kumar_cheung_2019, wei_2018
from sumcurve.capabilities.papers.claims import VERDICTS, cell, meets, printed_rows


def around(text: str) -> tuple[Fraction, Fraction]:
    """The ends of what rounds to a printed number."""
    half = Fraction(1, 2 * 10 ** len(text.partition(".")[2]))
    return Fraction(text) - half, Fraction(text) + half


def is_rounded(value: Fraction, text: str) -> bool:
    unit = Decimal(1).scaleb(-len(text.partition(".")[2]))
    number = Decimal(value.numerator) / Decimal(value.denominator)
    return Decimal(text) in {number.quantize(unit, mode) for mode in (ROUND_HALF_UP, ROUND_HALF_DOWN)}


def of_claim(paper, words: str):
    (claim,) = (claim for claim in paper.check().claims if words in claim.claim)
    return claim


# --- Čano and Bojar

NEITHER = {"CNNDM ABS 1→2 ε2", "CNNDM FASTRL 1→2 εL"}
ROUNDING = {"CNNDM NATS 2→3 σ1", "CNNDM NATS 2→3 σ2", "CNNDM TRANS 1→2 ε2", "OAGS PCOV 2→3 σ2"}


def efficiency(
    printed: dict[str, str], before: dict[str, str], after: dict[str, str]
) -> Iterator[tuple[str, str, list]]:
    """Every cell of a row of Tables 3 and 4: name, as printed, its formula at all corners, then by printed inputs."""
    d, more = int(before["records"]), int(after["records"])
    name = f"{printed['corpus']} {printed['method']} {printed['interval'][0]}→{printed['interval'][1]}"

    def corners(column: str) -> list[tuple[Fraction, Fraction]]:
        ends = product(around(before[column]), around(after[column]))
        return [*ends, (Fraction(before[column]), Fraction(after[column]))]

    times = corners("train_seconds")
    yield f"{name} θ", printed["theta_pct"], [100 * (u / t - 1) * d / (more - d) for t, u in times]
    for short in "12L":
        scores = corners(f"rouge{short}")
        yield f"{name} σ{short}", printed[f"sigma{short}_pct"], [100 * (r / s - 1) * d / (more - d) for s, r in scores]
        quotients = [(r / s - 1) / (u / t - 1) for (s, r), (t, u) in product(scores, times)]
        yield f"{name} ε{short}", printed[f"epsilon{short}"], quotients


def test_cano_bojar_cells_of_tables_3_and_4_that_table_2_does_not_give() -> None:
    table = {(row["corpus"], row["method"], row["split"]): row for row in cano_bojar_2020.trainings()}
    printed = cano_bojar_2020.efficiencies()
    every = [
        one
        for row in printed
        for one in efficiency(row, *(table[row["corpus"], row["method"], split] for split in row["interval"]))
    ]
    off = {name for name, text, values in every if not is_rounded(values[-1], text)}
    wrong = {name for name, text, values in every if min(values) > around(text)[1] or max(values) < around(text)[0]}
    assert (off, wrong) == (NEITHER | ROUNDING, NEITHER)
    finding = {one.where: one for one in cano_bojar_2020.cells()}
    assert set(finding) == {name for name, *_ in every}
    assert len(finding) == 154
    assert {name for name, one in finding.items() if not one.is_rounded_value} == off
    assert {name for name, one in finding.items() if not one.follows} == wrong
    for name, text, values in every:
        assert finding[name].printed == text
        assert (finding[name].low, finding[name].value, finding[name].high) == pytest.approx(
            tuple(map(float, (min(values), values[-1], max(values)))), rel=1e-9
        )
    claim = of_claim(cano_bojar_2020, "are those of Table 2")
    assert claim.verdict == "does not follow"
    assert "Of 154 cells 148 are what Table 2 gives, rounded, and 6 are not: 4 may" in claim.finding


def test_cano_bojar_epsilons_that_are_not_the_quotient_in_their_row() -> None:
    wrong = {
        f"{row['corpus']} {row['method']} {row['interval'][0]}→{row['interval'][1]} ε{short}"
        for row in cano_bojar_2020.efficiencies()
        for short in "12L"
        for sigma, theta in [(around(row[f"sigma{short}_pct"]), around(row["theta_pct"]))]
        if sigma[0] / theta[1] > around(row[f"epsilon{short}"])[1]
        or sigma[1] / theta[0] < around(row[f"epsilon{short}"])[0]
    }
    assert {one.where for one in cano_bojar_2020.quotients() if not one.follows} == wrong
    assert len(wrong) == 4


def test_cano_bojar_sizes_and_the_most_efficient() -> None:
    """287.4 thousand is cut into 95.8, 191.6 and 287.4."""
    assert [round(287.4 * part / 3) for part in (1, 2, 3)] == [96, 192, 287]
    claim = of_claim(cano_bojar_2020, "thirds")
    assert claim.verdict == "holds"
    assert "CNNDM has 287.25 to 287.50 thousand" in claim.finding  # ends of 192K × 3/2 and of 287K
    assert "OAGS has 1498.50 to 1501.50 thousand" in claim.finding  # of 500K × 3: 1M and 1.5M are coarser
    best = {"epsilon": 0, "theta": 0, "sigma": 0}
    printed = cano_bojar_2020.efficiencies()
    for corpus, interval in product(("CNNDM", "OAGS"), ("12", "23")):
        block = [row for row in printed if (row["corpus"], row["interval"]) == (corpus, interval)]
        (trans,) = (row for row in block if row["method"] == "TRANS")
        for column in list(block[0])[3:]:
            sign = -1 if column == "theta_pct" else 1
            ahead = all(sign * float(trans[column]) >= sign * float(row[column]) for row in block)
            best[next(kind for kind in best if column.startswith(kind))] += ahead
    assert best == {"epsilon": 12, "theta": 4, "sigma": 11}
    claim = of_claim(cano_bojar_2020, "most efficient")
    assert claim.verdict == "holds"
    assert (
        "the largest ε in 12 of 12 places, the least θ in 4 of 4 places, the largest σ in 11 of 12 places (CNNDM"
        in claim.finding
    )


# --- Akhmetov


def test_akhmetov_z_and_what_tables_4_and_5_should_be() -> None:
    assert round(norm.ppf(0.975), 3) == 1.960
    claim = of_claim(akhmetov_2022, "Z of 95 %")
    assert claim.verdict == "does not follow"
    assert f"should be 1.960; 1.956 is Z of intervals of {100 - 200 * norm.sf(1.956):.2f} %" in claim.finding
    statistics = akhmetov_2022.notebooks()
    made = {(row["search"], row["measure"]): row for row in akhmetov_2022.spread().rows}
    assert len(made) == 10
    for (search, measure), row in made.items():
        printed = statistics[search, measure, "17038"]
        variance = float(printed["sd"]) ** 2
        assert row["variation_pct"] ** 2 == pytest.approx(1e4 * variance / float(printed["mean"]) ** 2)
        assert row["half"] ** 2 == pytest.approx(1.956**2 * variance / 17038)
        assert row["half95"] == pytest.approx(norm.interval(0.95, scale=(variance / 17038) ** 0.5)[1])


def test_akhmetov_table_1_is_of_the_articles_before_some_were_dropped() -> None:
    sizes = {
        (row["articles"], row["of"]): [f"{float(row[name]):.2f}" for name in ("mean", "sd")]
        for row in printed_rows("printed/akhmetov_2022_notebooks.csv")
        if row["measure"] == "sentences"
    }
    printed = akhmetov_2022.text()
    for of in ("text", "abstract"):
        assert sizes["17334", of] == [printed[of, "mean"], printed[of, "sd"]] != sizes["17038", of]
    assert sizes["17038", "text"] == ["263.44", "102.65"]
    assert sizes["17038", "abstract"] == ["11.77", "2.14"]
    assert sizes["17038", "VNS"][0] == "15.33"
    assert {of_claim(akhmetov_2022, words).verdict for words in ("describes the", "VNS replaces")} == {
        "differs from the authors' files"
    }


def test_akhmetov_countings_and_optima_of_the_published_examples() -> None:
    agree, best, optimum = {"set": 0, "multiset": 0}, {}, {}
    off = []
    for row in printed_rows("printed/akhmetov_2022_examples.csv"):
        hits, words = map(int, row["multiset"].split("/"))
        assert hits % 2 == 0  # twice the matches, of both texts' words
        if not row["rouge1"]:
            optimum[row["article"]] = hits / words
            continue
        best[row["article"]] = max(best.get(row["article"], 0), hits / words)
        twice, distinct = map(int, row["set"].split("/"))
        assert twice <= hits
        assert distinct <= words
        agree["multiset"] += abs(hits / words - float(row["rouge1"])) < 1e-6
        agree["set"] += abs(twice / distinct - float(row["rouge1"])) < 1e-6
        off.append(float(row["rouge1"]) - twice / distinct)
    assert agree == {"set": 0, "multiset": 23}
    assert (
        f"0 have the score of sets and 23 that of multisets; sets give {sum(off) / 25:.3f} less"
        in of_claim(akhmetov_2022, "as a set").finding
    )
    gains = [optimum[article] - score for article, score in best.items()]
    assert len(gains) == 5
    assert min(gains) > 0.03
    claim = of_claim(akhmetov_2022, "from above")
    assert claim.verdict == "differs from the authors' files"
    assert f"better than all five, by {sum(gains) / 5:.3f} on average" in claim.finding


# --- Kumar and Cheung


def test_kumar_cheung_dodged_is_the_mean_over_rules() -> None:
    """Shares and rates drawn from all that round to the printed ones lie between the ends and reach the cell."""
    generator = np.random.default_rng(1)
    logs = printed_rows("printed/kumar_cheung_2019_logs.csv")
    finding = {one.where: one for one in kumar_cheung_2019.cells()}
    assert len(finding) == 3
    for name, one in finding.items():
        every, *rules = [row for row in logs if f"{row['system']} on {row['corpus']}" == name]
        shares, rates = (np.array([float(row[column]) for row in rules]) for column in ("share_pct", "dodged_pct"))
        assert len(rules) == 8
        assert one.value == pytest.approx(np.average(rates, weights=shares))
        drawn = [
            np.average(rates + generator.uniform(-0.005, 0.005, 8), weights=shares + generator.uniform(-0.05, 0.05, 8))
            for _ in range(2000)
        ]
        assert one.low <= min(drawn) <= max(drawn) <= one.high
        assert min(abs(mean - float(every["dodged_pct"])) for mean in drawn) < 0.005
        assert one.follows


def test_kumar_cheung_people_and_shares_of_rules() -> None:
    """Of 200, 99 and 87 are 49.5 % and 43.5 %; together 186 are 93 %."""
    assert (100 * 99 / 200, 100 * 87 / 200, 100 * (99 + 87) / 200) == (49.5, 43.5, 93)
    claim = of_claim(kumar_cheung_2019, "readability")
    assert claim.verdict == "holds"
    assert (
        "99 contrasts have the first, 87 the second and 185 to 187 at least one, so that 0 to 1 have both"
        in claim.finding
    )
    assert of_claim(kumar_cheung_2019, "of each rule").verdict == "holds"
    assert (round(564852 / 11490, 1), round(509041 / 10000, 1)) == (49.2, 50.9)
    assert "50.9 on Gigaword, 49.2 on CNN/DailyMail" in of_claim(kumar_cheung_2019, "about 50").finding
    assert of_claim(kumar_cheung_2019, "keep the shares").verdict == "differs from the authors' files"


# --- Eyal


def test_eyal_correlations_are_those_of_some_data() -> None:
    """Vectors whose products are the printed correlations exist if Cholesky's square roots do."""
    printed = eyal_2019.correlations()
    for people in ("Pyramid", "Responsiveness"):
        names = ("R1", "R2", "RL", "RSU", "APES", people)
        matrix = np.array([[printed.get(frozenset((one, other)), 1.0) for other in names] for one in names])
        vectors = np.linalg.cholesky(matrix)
        assert np.allclose(vectors @ vectors.T, matrix)
        assert max(names[:-1], key=lambda name: printed[frozenset((name, people))]) == "APES"
        assert of_claim(eyal_2019, f"correlates best with {people}").verdict == "holds"
        least = eyal_2019.least_eigenvalue(people)
        assert np.linalg.det(matrix - least * np.eye(6)) == pytest.approx(0, abs=1e-12)
    assert of_claim(eyal_2019, "one set of summaries").verdict == "holds"


def test_eyal_scores_of_figure_1_and_tables_3_and_4() -> None:
    assert [f"{right / 3:.2f}" for right in (1, 1, 3)] == ["0.33", "0.33", "1.00"]
    assert "are 1 of 3, 1 of 3, 3 of 3" in of_claim(eyal_2019, "shares of three").finding
    printed = eyal_2019.scores()
    both = {key[1:] for key in printed if key[0] == "Table 3"} & {key[1:] for key in printed if key[0] == "Table 4"}
    assert len(both) == 3
    assert all(printed["Table 3", *key] == printed["Table 4", *key] for key in both)
    table = {key[1:]: float(text) for key, text in printed.items() if key[0] == "Table 4"}
    assert table["shuffled gold", "R1"] == 100 > table["shuffled gold", "RL"]
    for measure in ("APES", "R1", "R2", "RL"):
        below, model, above = (table[of, measure] for of in ("baseline", "entity attention", "gold positions"))
        assert below < model < above
    assert {claim.verdict for claim in eyal_2019.check().claims} == {"holds", "cannot be checked here"}


# --- Wei


def test_wei_s_soft_loss_at_temperature_1_sharpens_or_does_nothing() -> None:
    """J and its gradient are those of whole models in tests/papers/test_wei_2018.py."""
    for held in (True, False):
        logits = torch.tensor(wei_2018.LOGITS, requires_grad=True)
        z = torch.softmax(logits, 0)
        (-(z.detach() if held else z) @ torch.log(z)).backward()
        assert bool(logits.grad.abs().max() < 1e-12) == held
        after = torch.softmax(logits.detach() - logits.grad, 0)
        assert float(-after @ after.log()) <= float((-z @ z.log()).detach()) + 1e-12
    assert of_claim(wei_2018, "pulls the output").verdict == "holds"
    assert of_claim(wei_2018, "higher temperature").verdict == "holds"


# --- of all papers


@examples(60)
@given(st.lists(st.fractions(1, 90, max_denominator=10**4), min_size=2, max_size=2), st.integers(0, 3))
def test_a_cell_of_unrounded_inputs_follows_and_one_far_off_does_not(inputs, digits) -> None:
    printed = [f"{round(number, 2):.2f}" for number in map(float, inputs)]
    quotient = float(inputs[0] / inputs[1])
    assert cell("", f"{quotient:.{digits}f}", lambda a, b: a / b, *printed).follows
    one = cell("", f"{quotient:.{digits}f}", lambda a, b: a / b, *printed)
    assert one.low <= quotient * (1 + 1e-9)
    assert one.high >= quotient * (1 - 1e-9)
    assert not meets(f"{one.high + 1:.3f}", one.low, one.high)
    assert not meets(f"{one.low - 1:.3f}", one.low, one.high)


@pytest.mark.parametrize("paper", PAPERS)
def test_the_command_prints_every_claim_and_writes_it(paper: str, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["sumcurve", "check", paper, "--json", str(tmp_path / "out.json")])
    main()
    printed = capsys.readouterr().out
    written = json.loads((tmp_path / "out.json").read_text())
    assert written["claims"]
    for claim in written["claims"]:
        assert claim["verdict"] in VERDICTS
        assert f"{claim['where']}: {claim['claim']}. {claim['finding']}." in printed
    assert written["answer"][0] == printed.splitlines()[0]


def test_adding_the_verb_loads_nothing_heavy() -> None:
    code = "import sys; import sumcurve.capabilities.papers.command; assert not {'numpy', 'pandas'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
