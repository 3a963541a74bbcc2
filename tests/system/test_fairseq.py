"""fairseq's programs of config/programs/fairseq, as config/studies/fairseq.yaml asks for them, on twenty records."""

import os
import re
from pathlib import Path

import pytest

from sumcurve.capabilities.programs.command import Command, CommandSettings
from sumcurve.capabilities.programs.process import MODEL
from sumcurve.capabilities.programs.training import learn
from sumcurve.settings.config import read_study
from sumcurve.store.records import Record, Text
from sumcurve.study.doors import StudySettings
from sumcurve.systems.system import LOG_OF, Item

ROOT = Path(__file__).parents[2]
FAIRSEQ = ROOT / os.environ.get("SUMCURVE_FAIRSEQ", ".venv-fairseq")
SYSTEMS = read_study(ROOT / "config" / "studies" / "fairseq.yaml").validated(StudySettings).systems
PROGRAMS = {name: system for name, system in SYSTEMS.items() if system and system.get("kind") == "command"}
TARGET = ["They leave late.", "Nobody knows why!"]
ROWS = [{"id": str(n), "source": [f"Train number {n} was here.", "It left."], "target": TARGET} for n in range(20)]

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        not (FAIRSEQ / "bin" / "fairseq-train").exists(),
        reason="no environment of fairseq: `make fairseq-env` makes it",
    ),
]


def told(name: str, more: str) -> CommandSettings:
    """A system of the study; of an option that stands twice fairseq takes the last."""
    settings = CommandSettings.model_validate({key: value for key, value in PROGRAMS[name].items() if key != "title"})
    sure = "--dropout 0 --lr 0.02 --warmup-updates 0 --batch-size 4 --patience 99"
    return settings.model_copy(update={"train": f"{settings.train} {sure} {more}"})


@pytest.mark.parametrize("name", PROGRAMS)
def test_twenty_records_are_learned_and_a_killed_training_goes_on(tmp_path, monkeypatch, name):
    """All records have one target of two sentences, which a model that has learned writes of every source."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("SUMCURVE_FAIRSEQ", str(FAIRSEQ))

    def trained(folder: str, epochs: int) -> str:
        settings, log = told(name, f"--max-epoch {epochs}").training(), tmp_path / f"{folder}.log"
        (tmp_path / folder).mkdir()
        scratch = tmp_path / "scratch"
        assert learn(settings, ROWS, ROWS[:4], 1, 1, "cpu", tmp_path / folder / MODEL, scratch, log) > 0
        return log.read_text()

    first, second = (set(re.findall(r"begin training epoch (\d+)", trained(*of))) for of in (("a", 2), ("b", 12)))
    assert first == {"1", "2"}
    assert second == {str(epoch) for epoch in range(3, 13)}, "it goes on behind the last epoch"
    items = [Item(Record(row["id"], ["x"], ["y"]), Text(row["id"], row["source"], TARGET)) for row in ROWS]
    settings = told(name, "")
    specified = {"command": settings.summarize, "timeout": 600, "lower": True, "split": False, "max_tokens": 20}
    specified |= {"settings": settings.settings, "environment": settings.environment}
    system = Command.of_run(specified, tmp_path / "b", {LOG_OF: tmp_path / "said.log"}, "cpu", 0)
    assert list(system.summarize(items)) == [["they leave late .", "nobody knows why !"]] * len(ROWS)
