import pytest
import torch
from torch import nn

from sumcurve.settings.training import Optimizer
from sumcurve.training.optimization import Schedule, build


@pytest.mark.parametrize("name", ["adam", "adagrad"])
def test_updates_follow_the_papers_formulas(name):
    settings = Optimizer(name=name, rate=0.1, betas=(0.8, 0.95), epsilon=1e-6, accumulator=0.3)
    parameter = nn.Parameter(torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64))
    frozen = nn.Parameter(torch.ones(2), requires_grad=False)
    optimizer = build(settings, [parameter, frozen])
    x = parameter.detach().clone()
    first, second, total = torch.zeros(3).double(), torch.zeros(3).double(), torch.full((3,), 0.3).double()
    for step in range(1, 6):
        gradient = torch.tensor([0.3, -0.2, 0.05]).double() * step
        parameter.grad = gradient.clone()
        optimizer.step()
        if name == "adam":  # Kingma & Ba 2015, algorithm 1
            first, second = 0.8 * first + 0.2 * gradient, 0.95 * second + 0.05 * gradient**2
            x = x - 0.1 * (first / (1 - 0.8**step)) / ((second / (1 - 0.95**step)).sqrt() + 1e-6)
        else:  # Duchi et al. 2011, with an accumulator that starts above 0
            total = total + gradient**2
            x = x - 0.1 * gradient / (total.sqrt() + 1e-6)
        torch.testing.assert_close(parameter.detach(), x, rtol=1e-6, atol=1e-9)
    assert frozen.tolist() == [1.0, 1.0]


def test_noam_is_vaswanis_schedule_with_the_peak_at_the_rate():
    width, warmup, factor = 512, 8000, 2
    peak = factor * width**-0.5 * warmup**-0.5
    schedule = Schedule(Optimizer(rate=peak, schedule="noam", warmup_updates=warmup), 300_000)
    for update in (1, 17, 7999, 8000, 8001, 200_000):
        expected = factor * width**-0.5 * min(update**-0.5, update * warmup**-1.5)
        assert schedule.rate(update) == pytest.approx(expected, rel=1e-12)


def test_constant_warms_up_linearly_and_stays():
    schedule = Schedule(Optimizer(rate=0.8, warmup_updates=4), 9)
    assert [schedule.rate(update) for update in range(1, 7)] == pytest.approx([0.2, 0.4, 0.6, 0.8, 0.8, 0.8])
    for _ in range(9):
        schedule.observe(better=False)
    assert schedule.rate(7) == 0.8
    assert Schedule(Optimizer(rate=0.8), 9).rate(1) == 0.8


def test_plateau_halves_after_every_two_stale_validations_in_a_row():
    schedule = Schedule(Optimizer(rate=0.8, schedule="plateau"), 99)
    rates = []
    for better in (True, False, True, False, False, False, False, True, False, False):
        schedule.observe(better)
        rates.append(schedule.rate(99))
    assert rates == [0.8, 0.8, 0.8, 0.8, 0.4, 0.4, 0.2, 0.2, 0.2, 0.1]


@pytest.mark.parametrize(("share", "updates"), [(0.0, 0), (0.0, 7), (0.1, 0)])
def test_linear_is_transformers_schedule_that_reaches_nothing_an_update_after_the_last(share, updates):
    """Against `get_linear_schedule_with_warmup`, whose steps count from 0."""
    from transformers import get_linear_schedule_with_warmup

    budget, rate = 50, 0.8
    schedule = Schedule(Optimizer(rate=rate, schedule="linear", warmup_share=share, warmup_updates=updates), budget)
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=rate)
    theirs = get_linear_schedule_with_warmup(optimizer, updates or round(share * budget), budget + 1)
    for update in range(1, budget + 1):
        optimizer.step()
        theirs.step()
        assert schedule.rate(update) == pytest.approx(theirs.get_last_lr()[0], rel=1e-12)
        assert schedule.rate(update) > 0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"warmup_share": 0.1}, "schedule constant ignores warmup_share"),
        ({"schedule": "linear", "warmup_share": 0.1, "warmup_updates": 3}, "either"),
    ],
)
def test_a_warmup_that_is_ignored_is_an_error(wrong, message):
    with pytest.raises(ValueError, match=message):
        Optimizer(rate=0.1, **wrong)
