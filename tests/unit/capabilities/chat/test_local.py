"""A prompted model without a server: what this process decodes is what `generate` writes, and a study holds it."""

import json
from pathlib import Path

import pytest
import torch
import transformers
import yaml

import workplace
from pretrained import make_chat_model
from sumcurve.capabilities.chat.client import ServerError
from sumcurve.capabilities.chat.local import LocalModel
from sumcurve.fetch.hub import sha256_of_model
from sumcurve.settings.config import PlanError
from sumcurve.study.plan import Plan
from sumcurve.watch import costs, estimate
from unit.capabilities.chat.test_study import write_study

MOST = 8


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_chat_model(tmp_path_factory.mktemp("model") / "random")


def conversation(examples, source):
    """As a template with a system's message makes it."""
    turns = [{"role": "system", "content": "Answer with a summary."}]
    for shown, target in examples:
        turns += [{"role": "user", "content": shown}, {"role": "assistant", "content": target}]
    return [*turns, {"role": "user", "content": source}]


def body(messages, most=MOST):
    return json.dumps({"model": "random", "messages": messages, "max_tokens": most}).encode()


def generated(folder, messages, most=MOST):
    """The answer to a conversation by transformers alone, which reads all of it at once."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    network = transformers.AutoModelForCausalLM.from_pretrained(folder)
    ids = tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_tensors="pt", return_dict=False)
    written = network.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=most, do_sample=False)
    return ids.shape[1], written[0, ids.shape[1] :], tokenizer


def test_examples_are_read_once(folder, monkeypatch):
    decoder, read = LocalModel(folder, "0" * 64), []
    network = decoder._model.network
    forward = network.model.forward

    def counted(input_ids=None, **given):
        read.append(input_ids.shape[1])
        return forward(input_ids=input_ids, **given)

    monkeypatch.setattr(network.model, "forward", counted)
    examples = [("A long text about a ship that crossed the desert. " * 5, "Ship.")]
    long = decoder.post(body(conversation(examples, "Cloud."), 1)).tokens.input
    assert sum(read) == long
    read.clear()
    assert decoder.post(body(conversation(examples, "Comet."), 1)).tokens.input > sum(read) > 0
    assert sum(read) < long / 4


def test_examples_whose_last_letters_are_a_subword_with_what_follows_are_read_anew(folder, tmp_path):
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.chat_template = "{% for turn in messages %}{{ turn['content'] }}{% endfor %}"
    transformers.AutoModelForCausalLM.from_pretrained(folder).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    parts = ["A needle opened. The shi", "p crossed the desert."]
    alone, together = (tokenizer(text, add_special_tokens=False).input_ids for text in (parts[0], "".join(parts)))
    assert together[: len(alone)] != alone
    messages = [{"role": "user", "content": part} for part in parts]
    answer = LocalModel(tmp_path, "0" * 64).post(body(messages))
    length, ids, tokenizer = generated(tmp_path, messages)
    assert (answer.tokens.input, answer.text) == (length, tokenizer.decode(ids, skip_special_tokens=True))


def test_a_prompt_longer_than_the_positions_is_refused(folder):
    with pytest.raises(ServerError, match=r"subwords and an answer of 8 exceed its 4,096 positions; lower `examples`"):
        LocalModel(folder, "0" * 64).post(body(conversation([], "Ship 12. " * 3000)))


@pytest.mark.parametrize("template", [None, "{{ strftime_now('%d') }}{{ messages[0]['content'] }}"])
def test_a_folder_without_a_chat_template_that_lasts_is_refused(folder, tmp_path, template):
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.chat_template = template
    transformers.AutoModelForCausalLM.from_pretrained(folder).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    with pytest.raises(ServerError, match=r"its chat template (is missing|has the day's date in it)"):
        LocalModel(tmp_path, "0" * 64).post(body(conversation([], "Ship.")))
    with pytest.raises(ServerError, match="transformers cannot read it"):
        LocalModel(tmp_path / "nowhere", "0" * 64).post(body([]))


def written(home, folder, **settings):
    weights = {"path": str(folder), "sha256": sha256_of_model(folder)}
    write_study(
        home, **{"url": None, "key": None, "model": "random", "weights": weights, "examples": [0, 2]} | settings
    )
    path = home / "config" / "studies" / "prompts.yaml"
    study = yaml.safe_load(path.read_text())
    system = study["systems"]["prompted"]
    study["systems"]["prompted"] = {name: value for name, value in system.items() if value is not None}
    path.write_text(yaml.safe_dump(study))
    return Plan.read(home / "config", "prompts")


@pytest.mark.long
def test_a_study_prompts_without_a_server_and_repeats_a_killed_step(folder, tmp_path):
    home = workplace.configured(tmp_path)
    plan = written(home, folder, parameters={"max_tokens": MOST})
    tables = workplace.tables_of(home, plan)
    rows = {row["records"]: row for row in tables["prompts"]}
    assert set(rows) == {"0", "2"}
    for row in rows.values():
        assert (row["reproducible"], row["lost"], row["declined"], row["model"]) == ("yes", "0", "0", "random")
    assert int(rows["0"]["input_tokens"]) < int(rows["2"]["input_tokens"])
    output = next(row.output for row in plan.rows if row.method == "prompted" and row.seed == 2)
    summaries = (home / "results" / output / "summaries.jsonl").read_bytes()
    # Outputs are made side by side: each has its own ledger, since two processes cannot write one.
    ledgers = [*(home / "data" / "answers").glob("*/random-*.jsonl")]
    assert len(ledgers) == len([row for row in plan.rows if row.method.startswith("prompted")])
    (ledger,) = (path for path in ledgers if path.parent.name == Path(output).name)
    lines = ledger.read_text().splitlines(keepends=True)
    again = tmp_path / "again"
    kept = again / "data" / "answers" / ledger.parent.name
    kept.mkdir(parents=True)
    (kept / ledger.name).write_text("".join(lines[: len(lines) // 2 + 1]))  # of a process that was killed
    for key in (*plan.folder(output).inputs, output):
        workplace.build(plan, key, again)
    assert (again / "results" / output / "summaries.jsonl").read_bytes() == summaries


def test_a_prompt_is_priced_by_the_weights_that_its_subwords_pass(folder, tmp_path):
    """Of each item `source_words` and a fourth of the answer's tokens, two subwords each; those written take longer."""

    def price(**settings):
        home = workplace.configured(tmp_path / str(len(list(tmp_path.iterdir()))))
        plan = written(home, folder, **settings)
        seconds = estimate.prices(plan, home / "results", [], {})
        (output,) = (row.output for row in plan.rows if row.method == "prompted-zero-shot")
        return seconds[output] - costs.START

    network = transformers.AutoModelForCausalLM.from_pretrained(folder)
    weights = sum(one.numel() for name, one in network.named_parameters() if one.dim() == 2 and "embed" not in name)
    items = 20
    one_word_read = 2 * weights * items / costs.CORE_ADDS
    told = {"parameters": {"max_tokens": 8}}
    short, long = price(source_words=10, **told), price(source_words=110, **told)
    assert long - short == pytest.approx(100 * one_word_read, rel=1e-3)
    assert short > 12 * one_word_read
    shorter = price(source_words=10, parameters={"max_tokens": 4})
    assert short - shorter > one_word_read


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"weights": None}, "give the `url` of a server, or `weights`, which are decoded here"),
        ({"timeout": 5}, "`timeout` is of a server: leave it out, or give the `url`"),
        ({"parameters": {"top_p": 0.9}}, "parameters: top_p is of a server; what is decoded here is greedy"),
        ({"parameters": {"max_tokens": -3}}, "parameters: `max_tokens` is a number from 1 on"),
        ({"url": "http://localhost:abc/v1"}, "Port could not be cast to integer value as 'abc'"),
        ({"parameters": {"temperature": 1}}, "parameters: temperature is of a server"),
    ],
)
def test_settings_of_servers_alone_are_refused(folder, tmp_path, settings, why):
    with pytest.raises(PlanError, match=why):
        written(workplace.configured(tmp_path), folder, **settings)
