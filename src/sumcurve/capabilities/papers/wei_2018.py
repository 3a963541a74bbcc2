"""Wei et al. (ACM TALLIP 2018; arXiv 1805.04033): self-train and dual-train by their equations, on three logits.

J = −log z_l − λ Σ s_i log z_i with z the softmax of the logits and s that of logits over a temperature τ, which are the
same (self-train) or a second output's (dual-train). The printed pages are not at hand, and with them no table.
tests/papers/test_wei_2018.py has `loss` and `gradient` of whole models, over tensors.
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


def loss(log_z: Vector, label: int, s: Vector) -> float:
    """J of one step, by the logs of output z and the soft target s, a constant."""
    return -(log_z[label] + LAMBDA * s @ log_z)


def gradient(z: Vector, y: Vector, s: Vector) -> Vector:
    """The gradient of J at the logits of z, worked out by hand; y is 1 at the label and 0 elsewhere."""
    return (z - y) + LAMBDA * (z - s)


def slope(target: Vector) -> Vector:
    """The gradient of J at the logits, by differences."""

    def at(logits: Vector) -> float:
        return loss(np.log(softmax(logits)), LABEL, target)

    steps = STEP * np.eye(len(LOGITS))
    return np.array([(at(LOGITS + one) - at(LOGITS - one)) / (2 * STEP) for one in steps])


def check() -> PaperResult:
    """Claims with their verdicts."""
    return result("Wei et al. 2018", [_temperature(), _gradient(), *BEYOND])


def _temperature() -> Claim:
    targets = [softmax(LOGITS, temperature) for temperature in (1, 2, 4, 8)]
    spread = [entropy(target) for target in targets]
    holds = spread == sorted(spread) and all((np.argsort(target) == np.argsort(LOGITS)).all() for target in targets)
    finding = (
        f"Of the logits {', '.join(f'{one:g}' for one in LOGITS)} the entropies at temperatures 1, 2, 4 and 8 are "
        f"{', '.join(f'{value:.3f}' for value in spread)}; the order stays"
    )
    return Claim.of(
        "The approach", "a higher temperature makes the soft target flatter, in the same order", holds, finding
    )


def _gradient() -> Claim:
    """Check whether both losses have the gradient (z − y) + λ(z − s) at the logits."""
    z, y = softmax(LOGITS), np.eye(len(LOGITS))[LABEL]
    targets = softmax(LOGITS, TAU), softmax(SECOND, TAU)
    holds = all(abs(slope(target) - gradient(z, y, target)).max() < STEP for target in targets)
    finding = (
        f"The gradient of J at the logits, by differences, {'is' if holds else 'is not'} (z − y) + λ(z − s) to within "
        f"{STEP:g}, with the soft target s of the same output and of a second one: λ(z − s) is 0 only where z is s"
    )
    return Claim.of("The approach", "the soft loss pulls the output towards its target", holds, finding)
