"""A model of random weights, served on this machine by transformers, in a study from prompts to tables."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
import torch
import transformers
from transformers.utils.import_utils import is_serve_available

import workplace
from pretrained import make_tokenizer
from sumcurve.harvest.fetch import sha256_of_model
from sumcurve.store import manifest
from sumcurve.study.plan import Plan
from unit.capabilities.chat.test_study import write_study

ROOT = Path(__file__).parents[2]
TEMPLATE = "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}assistant:"
SERVE = [sys.executable, "-m", "transformers.cli.transformers", "serve"]

pytestmark = pytest.mark.long


def make_model(folder: Path) -> Path:
    """A small decoder that writes what its random weights say, and reads prompts of any length here."""
    rows = map(json.loads, (ROOT / "tests" / "data" / "tales.jsonl").read_text().splitlines())
    tokenizer = make_tokenizer([sentence for row in rows for sentence in row["source"]], "gpt2", size=400)
    tokenizer.chat_template = TEMPLATE
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=4096,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        initializer_range=0.5,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def free_port() -> int:
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return opened.getsockname()[1]


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The model's folder and the address of its server."""
    if not is_serve_available():
        pytest.skip("transformers serve does not start here: pip install 'transformers[serving]'")
    folder, port = make_model(tmp_path_factory.mktemp("model") / "random"), free_port()
    log = folder.parent / "serve.log"
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
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
            yield folder, f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()
            process.wait(30)


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
    page = (home / "results" / "tables" / "prompts" / "scores.md").read_text()
    assert "◊" not in page
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
