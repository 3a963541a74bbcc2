from pathlib import Path
from types import SimpleNamespace

import pytest

from sumcurve.store.errors import CorpusError
from sumcurve.store.records import write_csv, write_json
from sumcurve.training import run
from sumcurve.training.history import History, Row


def test_records_are_drawn_by_the_seed(monkeypatch):
    monkeypatch.setattr(run, "drawn_positions", lambda folder, ids, seed: [seed])
    here, tokens = Path("nowhere"), SimpleNamespace(ids=None)
    assert run.NewRun({"seed": 2}, None, here, here, tokens, {}, True, "cpu", print).fraction_positions == [2]


def run_of(monkeypatch, drawn, share, most=500):
    """Of a fraction of these positions, of which a share chooses the checkpoint."""
    monkeypatch.setattr(run, "drawn_positions", lambda folder, ids, seed: drawn)
    form = SimpleNamespace(training=SimpleNamespace(valid_share=share, valid_records=most))
    here, tokens = Path("nowhere"), SimpleNamespace(ids=None)
    return run.NewRun({"seed": 1}, form, here, here, tokens, {}, True, "cpu", print)


def test_what_chooses_a_checkpoint_is_of_the_fraction_and_is_not_trained_on(monkeypatch):
    order = [*range(0, 200, 2), *range(1, 200, 2)]
    smaller = set[int]()
    for size in (5, 9, 40, 100, 200):
        lessons = run_of(monkeypatch, order[:size], 0.2)
        assert sorted([*lessons.drawn, *lessons.held_out]) == sorted(order[:size])
        assert len(lessons.held_out) == size // 5
        assert lessons.validated == ("train", lessons.held_out)
        assert smaller <= set(lessons.held_out)  # what a larger draw holds out, too
        smaller = set(lessons.held_out)
    capped = run_of(monkeypatch, order, 0.2, most=7)
    assert (len(capped.held_out), len(capped.drawn)) == (7, 193)
    assert run_of(monkeypatch, order, 0.0).drawn is order
    with pytest.raises(CorpusError, match="of 4 records is no record"):
        _ = run_of(monkeypatch, order[:4], 0.2).held_out


def test_the_beginning_of_a_finished_run_is_read_back_to_the_bit(tmp_path):
    def row(phase, update, number, **more):
        values = dict.fromkeys(
            ("epoch", "rate", "nll", "rouge1", "rouge2", "rougeLsum", "repetition", "tokens"), number
        )
        return Row(phase, update, update, 2 * update, train_loss=number if update else None, **values, **more)

    first = [row("nll", 40, 1 / 3, best=True, seconds=0.1), row("nll", 80, 2 / 7, best=False, seconds=1e-17)]
    second = [row("extraction", 0, 0.3, best=False, seconds=1 / 3), row("extraction", 9, 0.4, best=True, seconds=2 / 3)]
    last = [row("rl", 50, 0.5, best=True, seconds=0.9, reward=0.25, auc=None)]
    whole = History([*first, *second, *last], [("nll", "patience"), ("extraction", "patience"), ("rl", "most_updates")])
    for name, rows in (("history.csv", whole.rows()), ("timings.csv", whole.seconds())):
        write_csv(tmp_path / name, list(rows[0]), rows)
    write_json(tmp_path / "training.json", {"ended": [{"phase": a, "reason": b, "update": 1} for a, b in whole.ended]})
    found = run.read_beginning(tmp_path, ["nll", "extraction"])
    assert list(found) == [*first, *second]
    assert found.followed_by(History(last, whole.ended[2:])) == whole


def test_a_lost_reward_is_said_with_both_numbers_and_what_is_kept():
    def said(*rewards, best):
        measures = dict.fromkeys(("epoch", "rate", "nll", "rouge1", "rouge2", "rougeLsum", "repetition", "tokens"), 0.1)
        return run.reward_lost(
            [
                Row("rl", n, n, n, train_loss=None, **measures, best=n in best, seconds=0.0, reward=reward)
                for n, reward in enumerate(rewards)
            ]
        )

    reduced = "; it reduced the reward that it optimises (0.340 to 0.320), and "
    assert said(0.34, 0.33, 0.32, best=[0]) == f"{reduced}none of its checkpoints is better than its start"
    assert said(0.34, 0.35, 0.32, best=[0, 1]).endswith("(0.340 to 0.320), and the checkpoint of update 1 is kept")
    assert said(0.34, 0.35, best=[0]).startswith("; it did not improve the reward")
    assert said(0.34, 0.35, best=[0, 1]) == said(None, None, best=[1]) == ""
