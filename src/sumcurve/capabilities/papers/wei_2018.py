"""Wei et al. (ACM TALLIP 2018; arXiv 1805.04033): self-train and dual-train by their equations, on three logits.

J = −log z_l − λ Σ s_i log z_i with z the softmax of the logits and s that of logits over a temperature τ, which are the
same (self-train) or a second output's (dual-train). The printed pages are not at hand, and with them no table.
"""

import numpy as np
from numpy.typing import NDArray

from sumcurve.capabilities.papers.claims import Claim, PaperResult, result

LOGITS = np.array([2.0, 1.0, -1.0])
SECOND = np.array([0.5, 1.5, 0.0])  # of the second output
LABEL, LAMBDA, TAU = 1, 0.7, 2.5
STEP = 1e-6  # of differences, and what two gradients may differ by
BEYOND = (
    Claim.beyond(
        "The approach",
        "self-train without a temperature softens the output",
        "the authors' code, which is not at hand: a constant target is the output itself, so that its pull λ(z − z) is "
        "0, and through one that passes gradients J lowers the entropy of z; here it is a constant, at a temperature",
    ),
    Claim.beyond(
        "ROUGE",
        "dual-train is above the baseline and self-train below it, on LCSTS",
        "the printed rows and LCSTS, by application; make study STUDY=debian-zh trains all three on another corpus",
    ),
    Claim.beyond(
        "People",
        "dual-train is 4 % more accurate than the baseline",
        "the printed counts, which are not at hand, and people",
    ),
)
Vector = NDArray[np.float64]


def softmax(logits: Vector, temperature: float = 1.0) -> Vector:
    powers = np.exp((logits - logits.max()) / temperature)
    return np.asarray(powers / powers.sum())


def entropy(shares: Vector) -> float:
    return -float(shares @ np.log(shares))


def loss(logits: Vector, target: Vector) -> float:
    """J of one step, with the soft target held constant."""
    logs = np.log(softmax(logits))
    return -float(logs[LABEL] + LAMBDA * target @ logs)


def slope(target: Vector) -> Vector:
    """The gradient of J at the logits, by differences."""
    steps = STEP * np.eye(len(LOGITS))
    return np.array([(loss(LOGITS + one, target) - loss(LOGITS - one, target)) / (2 * STEP) for one in steps])


def check() -> PaperResult:
    """Claims with their verdicts."""
    return result("Wei et al. 2018", [_temperature(), _gradient(), *BEYOND])


def _temperature() -> Claim:
    targets = [softmax(LOGITS, temperature) for temperature in (1, 2, 4, 8)]
    spread = [entropy(target) for target in targets]
    holds = spread == sorted(spread) and all((np.argsort(target) == np.argsort(LOGITS)).all() for target in targets)
    finding = f"Entropies at 1, 2, 4 and 8 are {', '.join(f'{value:.3f}' for value in spread)}; the order stays"
    return Claim.of(
        "The approach", "a higher temperature makes the soft target flatter, in the same order", holds, finding
    )


def _gradient() -> Claim:
    """Check whether both losses have the gradient (z − y) + λ(z − s) at the logits."""
    z, y = softmax(LOGITS), np.eye(len(LOGITS))[LABEL]
    far = 0.0
    for target in (softmax(LOGITS, TAU), softmax(SECOND, TAU)):
        far = max(far, float(abs(slope(target) - (z - y) - LAMBDA * (z - target)).max()))
    finding = f"Differences agree with (z − y) + λ(z − s) to {far:.0e}, by a target of its own and by a second output's"
    return Claim.of("The approach", "the soft loss pulls the output towards its target", far < STEP, finding)
