"""A model of random weights, served on this machine by transformers, in a study from prompts to tables.

The server is that of this environment, or of the one whose Python SUMCURVE_SERVING names.
"""

import json
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import contextmanager

import pytest
from transformers.utils.import_utils import is_serve_available

import workplace
from pretrained import make_chat_model
from sumcurve.fetch.hub import sha256_of_model
from sumcurve.store import manifest
from sumcurve.store.stage import BuildError
from sumcurve.study.plan import Plan
from unit.capabilities.chat.test_study import write_study

SERVE = [os.environ.get("SUMCURVE_SERVING", sys.executable), "-m", "transformers.cli.transformers", "serve"]

pytestmark = pytest.mark.long


def free_port() -> int:
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return opened.getsockname()[1]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    if "SUMCURVE_SERVING" not in os.environ and not is_serve_available():
        pytest.skip(
            "transformers serve does not start here: pip install 'transformers[serving]' into another environment, and "
            "name its Python by SUMCURVE_SERVING"
        )
    return make_chat_model(tmp_path_factory.mktemp("model") / "random")


@contextmanager
def serving(folder, port):
    """The process of a server that answers."""
    log = folder.parent / "serve.log"
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    environment.pop("PYTHONPATH", None)
    with log.open("wb") as stream:
        options = ["--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
        process = subprocess.Popen([*SERVE, str(folder), *options], stdout=stream, stderr=stream, env=environment)
        try:
            for _ in range(600):
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=1).close()
                    break
                except OSError:
                    assert process.poll() is None, log.read_text()
                    time.sleep(0.2)
            yield process
        finally:
            process.terminate()
            process.wait(30)


@pytest.fixture(scope="module")
def served(model):
    """The model's folder and the address of its server."""
    with serving(model, port := free_port()):
        yield model, f"http://127.0.0.1:{port}/v1"


def test_a_server_that_dies_midway_is_asked_for_the_rest_when_it_is_back(model, tmp_path):
    home, port = workplace.configured(tmp_path), free_port()
    settings = {"url": f"http://127.0.0.1:{port}/v1", "model": str(model), "key": None, "examples": [0]}
    write_study(home, **settings, parameters={"max_tokens": 8}, concurrency=2, attempts=2)
    plan = Plan.read(home / "config", "prompts")
    (output,) = (row.output for row in plan.rows if row.method == "prompted-zero-shot")
    for key in plan.folder(output).inputs:
        workplace.build(plan, key, home)

    def answers():
        rows = (json.loads(line) for path in (home / "data" / "answers").glob("*") for line in path.open())
        return [row["request"] for row in rows if row["event"] == "answer"]

    def kill(process):
        while len(answers()) < 5:
            time.sleep(0.01)
        process.kill()

    with serving(model, port) as process:
        killer = threading.Thread(target=kill, args=(process,))
        killer.start()
        with pytest.raises(BuildError, match=r"no answer after 2 attempts.*the (\d+) answers that are there are not"):
            workplace.build(plan, output, home)
        killer.join()
    kept = answers()
    with serving(model, port):
        folder = workplace.build(plan, output, home)
    usage = json.loads((folder / "usage.json").read_text())
    assert 5 <= len(kept) < usage["items"] == usage["answers"]
    assert answers()[: len(kept)] == kept
    assert len({*answers()}) == len(answers()) == usage["items"]


def test_a_local_server_is_prompted_and_its_rows_are_in_tables(served, tmp_path):
    folder, url = served
    home = workplace.configured(tmp_path)
    weights = {"path": str(folder), "sha256": sha256_of_model(folder)}
    settings = {"url": url, "model": str(folder), "key": None, "weights": weights, "examples": [0, 1, 4]}
    write_study(home, **settings, parameters={"max_tokens": 8}, budget={"tokens": 1_000_000}, concurrency=2)
    plan = Plan.read(home / "config", "prompts")
    tables = workplace.tables_of(home, plan)
    rows = {row["records"]: row for row in tables["prompts"]}
    assert set(rows) == {"0", "1", "4"}
    for row in rows.values():
        assert (row["reproducible"], row["lost"], row["declined"]) == ("yes", "0", "0")
        assert row["sent"] == row["items"]
        assert int(row["output_tokens"]) <= 8 * int(row["items"])
        assert str(folder) in row["model"]
    lengths = [int(rows[count]["input_tokens"]) / int(rows[count]["items"]) for count in "014"]
    assert lengths == sorted(lengths)
    assert {"prompted", "prompted-zero-shot"} <= {row["method"] for row in tables["scores"]}
    (page,) = (home / "results" / "tables" / "prompts" / "pages").glob("*-scores.html")
    assert "◊" not in page.read_text()
    for row in plan.rows:
        if row.method.startswith("prompted"):
            assert manifest.read(home / "results" / row.output)["facts"]["served"]["models"]
    # Asked once more, with nothing kept, it says the same: what the table calls reproducible.
    again = tmp_path / "again"
    output = next(row.output for row in plan.rows if row.method == "prompted-zero-shot")
    for key in (*plan.folder(output).inputs, output):
        workplace.build(plan, key, again)
    first, second = (place / "results" / output / "summaries.jsonl" for place in (home, again))
    assert first.read_bytes() == second.read_bytes()
