from pathlib import Path
from types import SimpleNamespace

import pytest

from sumcurve.training import run


class Drawn(Exception):
    """Training is left as soon as its records are drawn."""


@pytest.mark.parametrize(
    ("told", "expected"), [({"seed": 2}, 2), ({"seed": 2, "draw": 7}, 7), ({"seed": 2, "draw": 0}, 0)]
)
def test_records_are_drawn_by_the_draw_and_else_by_the_seed(monkeypatch, told, expected) -> None:
    def positions(fraction: Path, train: Path, seed: int) -> None:
        raise Drawn(seed)

    monkeypatch.setattr(run, "positions", positions)
    monkeypatch.setattr(run.Corpus, "part", lambda corpus, name: SimpleNamespace(first=lambda count: []))
    monkeypatch.setattr(run.torch, "set_num_threads", lambda threads: None)
    monkeypatch.setattr(run.torch, "use_deterministic_algorithms", lambda on: None)
    here = Path("nowhere")
    with pytest.raises(Drawn, match=rf"^{expected}$"):
        run.train_run(
            {"threads": 1, **told},
            settings=SimpleNamespace(training=SimpleNamespace(valid_records=1)),
            fraction=here,
            corpus=here,
            entities=None,
            parent=None,
            stage=here,
            state=here,
            events=here,
            name="run",
            lease=SimpleNamespace(device="cpu"),
            note=print,
            terminal=None,
            position=0,
            found={},
        )
