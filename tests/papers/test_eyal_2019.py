"""Eyal, Baumel and Elhadad 2019, "Question Answering as an Automatic Evaluation Metric for News Article Summarization".

ENT: the baseline (OpenNMT's), the salience layer (section 5.1, e_j = v tanh(U h_j + b), a_j = sigmoid(e_j)), its loss
(equation 6: delta BCE + (1 - delta) mean nll), and the score of the search (section 5.2: log p over Wu et al.'s length
norm, less coverage and entity penalties). APES: questions of the form of Figure 3, six of one reference, and scores of
the form of Figure 1, three questions of which summaries let 1, 1 and 3 be answered. The texts are invented.
"""

import re
from dataclasses import replace

import pytest
import torch

from equations import (
    VOCABULARY,
    batch_of,
    both_ways,
    examples,
    lstm,
    mean_nll,
    model_of,
    phase,
    row,
    same,
    same_gradients,
    says,
    softmax,
    weighted,
)
from sumcurve.capabilities.apes import scorer as apes
from sumcurve.capabilities.apes.questions import Asked, asked_about, numbered, write_questions
from sumcurve.capabilities.apes.settings import Apes
from sumcurve.decoding.search import generate
from sumcurve.settings.search import Search
from sumcurve.store.records import Record, write_jsonl
from sumcurve.training.losses import loss

DELTA, ALPHA, BETA, GAMMA = 0.3, 0.9, 0.5, 0.5


def eyal(m, source, inputs):
    """Of every step p(y_t), the attention, and the salience of every source word."""
    h, last = both_ways(m.encoder[0], [m.embedding.weight[row(word)] for word in source])
    hidden, cell = (  # each direction through the same layer
        torch.cat([torch.relu(layer.weight @ one + layer.bias) for one in both.chunk(2)])
        for layer, both in zip(m.bridge, last, strict=True)
    )
    e = [m.entity_v @ torch.tanh(m.entity_keys.weight @ h_j + m.entity_keys.bias) for h_j in h]
    salience = 1 / (1 + torch.exp(-torch.stack(e)))
    fed, steps = torch.zeros_like(hidden), []
    for word in inputs:
        ((hidden, cell),) = lstm(
            m.decoder.all_weights[0], [torch.cat((m.embedding.weight[row(word)], fed))], hidden, cell
        )
        a = softmax([m.v @ torch.tanh(m.keys.weight @ h_j + m.query.weight @ hidden + m.query.bias) for h_j in h])
        fed = m.combine.weight @ torch.cat((hidden, weighted(a, h))) + m.combine.bias
        generating = torch.sigmoid(m.gate.weight[0] @ fed + m.gate.bias[0])
        words = softmax(m.output.weight @ fed + m.output.bias)
        p = {known: generating * share for known, share in zip(VOCABULARY.words, words, strict=True)}
        for word_j, share in zip(source, a, strict=True):
            p[word_j] = p.get(word_j, 0) + (1 - generating) * share
        steps.append((p, a, salience))
    return steps


@pytest.fixture(scope="module")
def model():
    return model_of("ent", embedding=5, hidden=3, decoder=6)


def test_the_distribution_and_attention(model):
    says(model, eyal)


@torch.no_grad()
def test_salience_of_words_and_none_of_padding(model):
    found = model.encode(batch_of()).cache["salience"]
    for number, (source, inputs, _) in enumerate(examples()):
        _, _, salience = eyal(model, source, inputs)[0]
        same(found[number, : len(source)], salience)
        assert (found[number, len(source) :] == 0).all()


def test_the_joint_loss_and_its_gradient(model):
    """Every second source word is salient."""
    batch = batch_of()
    marks = torch.zeros(batch.src.shape, dtype=torch.double)
    marks[:, ::2] = 1
    entity = phase("ent", "entity").model_copy(update={"entity_weight": DELTA})
    found = loss(model, replace(batch, salient=marks), entity, VOCABULARY, 9)
    crossed = []
    for source, inputs, _ in examples():
        _, _, a = eyal(model, source, inputs)[0]
        own = [-torch.log(a_j if place % 2 == 0 else 1 - a_j) for place, a_j in enumerate(a)]
        crossed.append(sum(own) / len(own))
    expected = DELTA * sum(crossed) / len(crossed) + (1 - DELTA) * mean_nll(model, eyal, examples())
    same(found, expected)
    same_gradients(found, expected, model)


@pytest.mark.usefixtures("double_precision")
@torch.no_grad()
def test_the_scores_of_a_search():
    """Of all hypotheses, ended and cut."""
    model = model_of("ent", embedding=5, hidden=3, decoder=6)
    model.output.bias[row("<eos>")] += 3
    penalties = {"alpha": ALPHA, "coverage_penalty": BETA, "entity_penalty": GAMMA}
    search = Search(beam=4, length_penalty="gnmt", max_tokens=6, unknown="keep", **penalties)
    batch = batch_of()
    found = generate(model, batch, search, exempt=(), n=4)
    finished = 0
    for number, (source, _, _) in enumerate(examples()):
        names = [*VOCABULARY.words, *(word for word in dict.fromkeys(source) if word not in VOCABULARY.words)]
        for ids, score in zip(found.tokens[number].tolist(), found.score[number], strict=True):
            words = [names[one] for one in ids if names[one] != "<pad>"]
            steps = eyal(model, source, ["<bos>", *words[:-1]])
            logp = sum(torch.log(p[word]) for word, (p, _, _) in zip(words, steps, strict=True))
            paid = sum(a for _, a, _ in steps)
            lp = ((5 + len(words)) / 6) ** ALPHA
            cp = BETA * (sum(torch.clamp(one, min=1) for one in paid) - len(source))
            ep = GAMMA * sum(torch.clamp(a - one, min=0) for a, one in zip(steps[0][2], paid, strict=True))
            same(score, logp / lp - cp - ep)
            finished += words[-1] == "<eos>"
    assert 0 < finished < found.score.numel()


# --- APES

REFERENCE = [
    "Ada Moor sold the Blue Mill to Carl Voss .",
    "Moor told Voss that Dunmere hurt Moor .",
    "nobody was asked .",
]
ENTITIES = [["Ada Moor", "Moor"], ["Blue Mill"], ["Carl Voss", "Voss"], ["Dunmere"]]


def questions(reference):
    """Sentence, text with the other entities' names as their longest, and the hidden entity's names."""
    made = []
    for number, sentence in enumerate(reference):
        marked = sentence
        for place, names in enumerate(ENTITIES):  # longest first within an entity
            marked = re.sub("|".join(rf"\b{name}\b" for name in names), f"#{place}", marked)
        for place in sorted(set(re.findall(r"#\d", marked))):
            made.append((number, marked.replace(place, "@placeholder"), int(place[1:])))
    return made


def test_one_reference_gives_six_questions():
    graph = numbered({name.lower(): name.lower() for names in ENTITIES for name in names})
    entity = [graph[names[0].lower()] for names in ENTITIES]
    assert all(graph[name.lower()] == entity[place] for place, names in enumerate(ENTITIES) for name in names)
    expected = [
        (number, re.sub(r"#(\d)", lambda one: f"@entity{entity[int(one[1])]}", text), entity[answer])
        for number, text, answer in questions(REFERENCE)
    ]
    found = [(one.sentence, " ".join(one.words), one.answer) for one in asked_about("r", REFERENCE, graph)]
    assert len(found) == 6
    assert found == sorted(expected, key=lambda one: (one[0], one[2]))  # a sentence's in the order of its entities


@pytest.mark.parametrize(("right", "expected"), [([0], 1 / 3), ([2], 1 / 3), ([0, 1, 2], 1.0)])
def test_a_summary_scores_the_share_of_questions_that_it_lets_be_answered(right, expected, tmp_path, monkeypatch):
    graph = numbered({name.lower(): name.lower() for names in ENTITIES for name in names})
    asked = asked_about("r", REFERENCE[:1], graph)
    assert len(asked) == 3

    class Reader:
        def answers(self, documents, texts):
            assert [list(text) for text in texts] == [[one.words for one in asked]]
            return [[one.answer if place in right else None for place, one in enumerate(asked)]]

    monkeypatch.setattr(apes, "reader_of", lambda folder, renumber: Reader())
    folder, output = tmp_path / "questions", tmp_path / "output"
    for made in (folder, output):
        made.mkdir()
    write_questions(folder, "test", [Asked("r", graph, asked)])
    write_jsonl(output / "summaries.jsonl", [{"id": "r", "summary": ["Moor met Voss ."]}])
    told = {folder: "questions", tmp_path / "reader": {"seed": 1}}
    found = apes.AnswersQuestions(Apes(seeds=[1])).score(output, [Record("r", ["x"], REFERENCE)], told)
    assert found.values["apes"] == found.values["apes_documents"] == [pytest.approx(100 * expected)]
