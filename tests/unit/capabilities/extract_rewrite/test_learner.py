"""The learner of extract-rewrite: labels, rewards by look-up, actor-critic, and its three phases."""

import contextlib
import random
from dataclasses import replace
from itertools import chain
from statistics import fmean

import pytest
import torch
from rouge_score import rouge_scorer

from invented import build
from sumcurve.capabilities.extract_rewrite.decoder import ExtractRewriteDecoder, chosen, extract, rewrite, rewriter
from sumcurve.capabilities.extract_rewrite.learner import (
    ExtractRewriteLearner,
    Labelled,
    Rewarded,
    Rewards,
    actor_critic,
    collate_labelled,
    collate_rewarded,
    extraction_labels,
    label_means,
    labels_of,
    look_up,
    rewards_of,
    standardised,
)
from sumcurve.capabilities.extract_rewrite.model import read_document
from sumcurve.capabilities.extract_rewrite.settings import ExtractRewriteSettings
from sumcurve.models.batch import collate as collate_examples
from sumcurve.models.batch import encode
from sumcurve.models.vocabulary import Vocabulary
from sumcurve.rouge_engine.rewards import repetition, words
from sumcurve.settings.models import RecurrentSettings
from sumcurve.settings.search import Search
from sumcurve.settings.training import Optimizer, PhaseSettings, Stop, Training
from sumcurve.store.records import Record
from sumcurve.training.fit import fit

CPU = torch.device("cpu")
SEARCH = Search(beam=1, max_tokens=8, block_ngram=0)
WORDS = [f"word{number}" for number in range(20)]
SCORER = rouge_scorer.RougeScorer(["rouge1", "rougeL"], use_stemmer=False)
LOSSES = ("nll", "extraction", "actor-critic")


def settings(**keys):
    abstractor = RecurrentSettings(
        kind="recurrent", embedding=8, hidden=8, feed="merged", copy_attention=True, output="tied", dropout=0.1
    )
    given = {
        "kind": "extract-rewrite",
        "abstractor": abstractor,
        "filters": 4,
        "hidden": 8,
        "dropout": 0.1,
        "sentences": 2,
        "rewrite_tokens": 4,
    }
    return ExtractRewriteSettings(**given | keys)


@pytest.fixture(scope="module")
def words_():
    return Vocabulary([*WORDS, "heron", "otter"])


def invented(count, seed=0):
    """Sentences that begin with "heron" or "otter" are in the summary, in this order and without their last word."""
    rng = random.Random(seed)
    records = []
    for number in range(count):
        rest = [[rng.choice([*WORDS, "stranger"]) for _ in range(rng.randint(1, 5))] for _ in range(5)]
        told = [[name, *(rng.choice(WORDS) for _ in range(2))] for name in ("heron", "otter")[: rng.randint(1, 2)]]
        source = rest[: rng.randint(0, 3)] + told
        rng.shuffle(source)
        records.append(Record(f"r{number}", [" ".join(one) for one in source], [" ".join(one[:-1]) for one in told]))
    return records


def phase(loss, name=None, **stop):
    stops = {"every_updates": 3, "every_epochs": 0.1, "patience": 3, "max_updates": 6} | stop
    return PhaseSettings(
        name=name or loss,
        loss=loss,
        discount=0.95 if loss == "actor-critic" else None,
        optimizer=Optimizer(rate=0.02, clip_norm=2.0),
        stop=Stop(**stops),
    )


def learning(vocabulary, train=None, valid=None, tokens=30, search=SEARCH):
    train, valid = invented(16) if train is None else train, invented(6, 1) if valid is None else valid
    model = build(settings(), len(vocabulary), 3)
    return ExtractRewriteLearner(model, vocabulary, settings(), train, valid, tokens, search, CPU)


@pytest.fixture
def learner(words_):
    return learning(words_)


# --- rewards


def rewritten(count, seed):
    """Rewrites, some empty or without a word, and references of sentences."""
    rng = random.Random(seed)

    def text(least):
        return " ".join(rng.choice(["Otter", "heron", "reed", "a-b", ",", "to"]) for _ in range(rng.randint(least, 6)))

    return [
        ([text(0) for _ in range(rng.randint(1, 5))], [text(1) for _ in range(rng.randint(1, 3))]) for _ in range(count)
    ]


def rewarded(texts, vocabulary):
    items = []
    for rewrites, references in texts:
        document = read_document(Record("r", ["word1"] * len(rewrites), references), vocabulary, 99, 99)
        items.append(Rewarded(document, rewards_of(rewrites, references)))
    return items


def rollouts(batch, seed):
    """Random non-empty choices in random order, then the stop."""
    rng, stop = random.Random(seed), batch.steps.shape[1]
    rows = [rng.sample(range(size), rng.randint(1, size)) for size in batch.documents.sizes.tolist()]
    longest = max(len(row) for row in rows) + 1
    return torch.tensor([row + [stop] * (longest - len(row)) for row in rows])


def test_rewards_looked_up_are_those_of_the_concatenated_texts(words_):
    texts = rewritten(60, 1)
    batch = collate_rewarded(rewarded(texts, words_))
    stop = batch.steps.shape[1]
    beyond = 0
    for seed in range(3):
        choices = rollouts(batch, seed)
        for (rewrites, references), row, found in zip(texts, choices.tolist(), look_up(batch, choices), strict=True):
            chosen = [rewrites[choice] for choice in row if choice != stop]
            expected = [
                SCORER.score(reference, text)["rougeL"].fmeasure
                for text, reference in zip(chosen, references, strict=False)
            ]
            beyond += len(chosen) > len(references)
            expected += [0.0] * (len(chosen) - len(references))
            expected.append(SCORER.score(" ".join(references), " ".join(chosen))["rouge1"].fmeasure)
            expected += [0.0] * (len(row) - len(expected))
            assert found.tolist() == pytest.approx(expected, abs=1e-6)
    assert beyond


def test_standardised_returns_have_mean_0_and_deviation_1_over_real_steps():
    returns = torch.randn(4, 5, generator=torch.Generator().manual_seed(1)).double() * 7 + 3
    real = torch.arange(5) < torch.tensor([[5], [1], [2], [4]])
    found = standardised(returns, real)
    assert found[real].mean().item() == pytest.approx(0.0, abs=1e-12)
    assert found[real].square().mean().item() == pytest.approx(1.0)
    assert not found[~real].any()
    torch.testing.assert_close(standardised(returns.masked_fill(~real, 99.0), real), found)
    for equal in (torch.full((2, 3), 0.7), torch.full((1, 1), 0.7)):
        found = standardised(equal, torch.ones_like(equal, dtype=torch.bool))
        torch.testing.assert_close(found, torch.zeros_like(equal), rtol=0, atol=1e-6)


# --- actor and critic


class SimplePolicy:
    """A model in double precision, a batch of documents with rewards, and rollouts over it."""

    def __init__(self, vocabulary):
        self.model = build(settings(), len(vocabulary), 4).double().eval()
        generator = torch.Generator().manual_seed(5)
        with torch.no_grad():
            for parameter in self.model.parameters():
                parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.4)
        self.items = []
        for number, record in enumerate(invented(5, 2)):
            document = read_document(record, vocabulary, 30, 60)
            self.items.append(Rewarded(document, rewards_of(record.source, invented(5, number)[0].target)))
        batch = collate_rewarded(self.items)
        self.choices = rollouts(batch, 6)
        self.rewards = look_up(batch, self.choices).double()
        self.slots = self.model.extractor.encode(batch.documents)

    def losses(self):
        return actor_critic(self.model, self.slots, self.choices, self.rewards, 0.9)


@pytest.fixture
def policy(words_):
    return SimplePolicy(words_)


def test_a_vectorised_rollout_equals_one_document_at_a_time(policy):
    """Advantage actor-critic, document by document and step by step, with the same choices."""
    model, stop = policy.model, policy.slots.mask.shape[1]
    logps, values, returns = [], [], []
    for item, row, rewards in zip(policy.items, policy.choices.tolist(), policy.rewards.tolist(), strict=True):
        size = len(item.document.ids)
        own = [choice for choice in row if choice != stop]
        slots = model.extractor.encode(collate_rewarded([item]).documents)
        logps += model.logp(model.with_stop(slots), torch.tensor([[*own, size]]))[0].tolist()
        values += model.critic(slots, len(own) + 1)[0].tolist()
        rewards = rewards[: len(own) + 1]
        returns += [sum(0.9 ** (k - t) * r for k, r in enumerate(rewards) if k >= t) for t in range(len(rewards))]
    count = len(returns)
    mean = sum(returns) / count
    deviation = (sum((value - mean) ** 2 for value in returns) / count) ** 0.5
    standard = [(value - mean) / deviation for value in returns]
    steps = len(policy.items) * (model.settings.sentences + 1)  # the same whatever was drawn
    expected_policy = -sum(lp * (r - v) for lp, r, v in zip(logps, standard, values, strict=True)) / steps
    expected_value = sum((r - v) ** 2 for r, v in zip(standard, values, strict=True)) / steps
    found = policy.losses()
    assert [loss.item() for loss in found] == pytest.approx([expected_policy, expected_value], abs=1e-9)


def gradients(model):
    """Whether each part of the model has a gradient that is not zero."""
    parts = {"encoder": model.extractor.encoder, "pointer": model.extractor.pointer, "critic": model.critic}
    found = {
        name: any(parameter.grad is not None and parameter.grad.any() for parameter in part.parameters())
        for name, part in parts.items()
    }
    return found | {"stop": model.stop.grad is not None and bool(model.stop.grad.any())}


@pytest.mark.parametrize(("place", "trained"), [(0, {"encoder", "pointer", "stop"}), (1, {"encoder", "critic"})])
def test_policy_and_value_loss_train_their_own_parts_and_the_shared_encoder(place, trained, policy):
    policy.losses()[place].backward()
    assert {name for name, moved in gradients(policy.model).items() if moved} == trained


# --- items


def test_labels_take_the_unused_sentence_of_highest_recall_and_the_first_of_equals():
    rng = random.Random(5)

    def sentences(most):  # of few words, so that ties, empty overlaps and repeated sentences are frequent
        return [rng.choices("abcde-", k=rng.randrange(1, 8)) for _ in range(rng.randrange(1, most))]

    for _ in range(300):
        source, target = ([words(" ".join(sentence)) for sentence in sentences(most)] for most in (8, 5))
        labels = extraction_labels(source, target)
        assert len(labels) == len(set(labels)) == min(len(source), len(target))
        for step, (label, reference) in enumerate(zip(labels, target, strict=False)):
            recall = {
                index: SCORER.score(" ".join(reference), " ".join(sentence))["rougeL"].recall
                for index, sentence in enumerate(source)
                if index not in labels[:step]
            }
            assert label == next(index for index, value in recall.items() if value == max(recall.values()))


def test_labels_of_targets_without_words_are_the_first_sentences():
    assert extraction_labels([["a"], ["b"], ["c"]], [[], []]) == [0, 1]


def test_labels_are_of_the_sentences_as_read_and_never_more_than_these(words_):
    record = Record("r", ["word1 word2 heron", "word3 heron"], ["heron", "word3", "word1"])
    assert labels_of(read_document(record, words_, 30, 60)) == [0, 1]
    assert labels_of(read_document(record, words_, 2, 60)) == [0]
    assert labels_of(read_document(replace(record, target=["word3"]), words_, 30, 60)) == [1]


def test_pairs_hold_the_unknown_words_of_one_sentence(words_):
    record = Record(
        "r", ["crane heron word1", "word2 crake otter word3"], ["heron crake crane", "otter crake word1 word2 word3"]
    )
    learner = learning(words_, [record], [record])
    first, second = learner.prepare(phase("nll"))
    assert first.record.source_tokens == ["crane", "heron", "word1"]
    assert first.unknowns == ["crane"]
    assert [words_.words.index("heron"), 1, len(words_), 3] == first.target  # crake is of the other sentence
    assert second.unknowns == ["crake"]
    assert len(second.target) == settings().rewrite_tokens  # cut, so without an end


def test_label_losses_leave_padding_out(learner):
    extraction = phase("extraction")
    items = learner.prepare(extraction)
    assert {len(item.labels) for item in items} == {1, 2}
    batch = learner.collate(items, extraction)
    learner.model.eval()
    slots = learner.model.extractor.encode(batch.documents)
    found = label_means(learner.model, slots, batch.labels)
    for item, mean in zip(items, found, strict=True):
        own = learner.collate([item], extraction)
        logp = learner.model.logp(learner.model.extractor.encode(own.documents), torch.tensor([item.labels]))
        torch.testing.assert_close(mean, -logp.mean(), rtol=0, atol=1e-6)
    torch.testing.assert_close(learner.loss(batch, extraction), found.mean())


def contents(items):
    """Items as plain values."""
    if not isinstance(items[0], Rewarded):
        return list(items)
    names = Rewards.__slots__
    return [
        (item.document, [torch.as_tensor(getattr(item.rewards, name)).tolist() for name in names]) for item in items
    ]


@pytest.mark.parametrize("loss", LOSSES)
def test_a_resumed_phase_finds_the_same_items(loss, learner):
    """Items are made of what the phase does not train; neither they nor validation draw a random number."""
    state = torch.get_rng_state()
    items = learner.prepare(phase(loss))
    scores = learner.validate(phase(loss))
    assert torch.equal(torch.get_rng_state(), state)
    with torch.no_grad():
        for parameter in learner.parameters(phase(loss)):
            parameter.add_(0.3)
    again = learner.prepare(phase(loss))
    assert contents(again) == contents(items)
    assert learner.validate(phase(loss)) != scores


def test_rewards_are_of_the_abstractors_rewrites(learner, words_):
    """Each sentence rewritten by itself; another abstractor, other rewards."""
    rewarding = phase("actor-critic")
    items = learner.prepare(rewarding)
    model = learner.model.eval()
    system = ExtractRewriteDecoder(model, words_, Search(beam=1, max_tokens=99, block_ngram=0), 30, 8, stops=True)
    for item in items[:5]:
        for row, sentence in enumerate(item.document.sentences):
            record = Record("one", [sentence], ["word1"])
            (summary,) = system.summarize(collate_examples([encode(record, words_, 30, 8)]))
            text = " ".join(chain(*summary))
            expected = [SCORER.score(target, text)["rougeL"].fmeasure for target in item.document.record.target]
            assert item.rewards.steps[row].tolist() == pytest.approx(expected, abs=1e-6)
            assert int(item.rewards.lengths[row]) == len(words(text))
    with torch.no_grad():
        for parameter in model.abstractor.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1)))
    assert contents(learner.prepare(rewarding)) != contents(items)


def test_only_the_first_phase_on_rewards_sets_the_critic(learner):
    pointer, critic = learner.model.extractor.pointer, learner.model.critic.pointer
    for name in ("first", "second"):
        at = phase("actor-critic", name)
        learner.switch(at)
        learner.prepare(at)
        if name == "first":
            torch.testing.assert_close(critic.state_dict(), pointer.state_dict(), rtol=0, atol=0)
            with torch.no_grad():
                critic.lstm.weight_hh_l0.zero_()
    assert not critic.lstm.weight_hh_l0.any()
    assert pointer.lstm.weight_hh_l0.any()


# --- the three phases


def test_every_phase_lowers_its_loss_and_trains_its_own_part(learner):
    model = learner.model
    parts = {
        "abstractor": list(model.abstractor.parameters()),
        "extractor": list(model.extractor.parameters()),
        "stop": [model.stop],
        "critic": list(model.critic.parameters()),
    }
    trained = {"nll": {"abstractor"}, "extraction": {"extractor"}, "actor-critic": {"extractor", "stop", "critic"}}
    torch.manual_seed(2)
    for loss in LOSSES:
        at = phase(loss)
        learner.switch(at)
        items = learner.prepare(at)
        optimizer = torch.optim.Adam(learner.parameters(at), 0.02 if loss != "actor-critic" else 0.005)
        before = {name: [parameter.detach().clone() for parameter in part] for name, part in parts.items()}

        def measured(at=at, items=items):
            """The loss without dropout; of the policy, its expected reward with the sign turned."""
            learner.model.eval()
            batch = learner.collate(items, at)
            with torch.no_grad():
                if at.loss != "actor-critic":
                    return learner.loss(batch, at).item()
                slots = model.with_stop(model.extractor.encode(batch.documents))
                return -sum(look_up(batch, model.sample(slots)).sum().item() for _ in range(10)) / (10 * len(items))

        start = measured()
        for _ in range(40):
            model.train()
            optimizer.zero_grad()
            learner.loss(learner.collate(items, at), at).backward()
            optimizer.step()
        assert measured() < start - 0.05 * abs(start), loss
        for name, part in parts.items():
            changed = any(not torch.equal(old, new) for old, new in zip(before[name], part, strict=True))
            assert changed == (name in trained[loss]), (loss, name)


def share_earned(written, references):
    """ROUGE-L F1 of each rewrite against the reference in its place, and ROUGE-1 of all; of one each."""
    steps = [SCORER.score(*pair)["rougeL"].fmeasure for pair in zip(references, written, strict=False)]
    whole = SCORER.score(" ".join(references), " ".join(written))["rouge1"].fmeasure
    return (sum(steps) + whole) / (len(references) + 1)


@pytest.mark.parametrize("loss", ["extraction", "actor-critic"])
def test_validation_scores_the_summaries_of_the_system(loss, learner, words_):
    at, model, stops = phase(loss), learner.model, loss == "actor-critic"
    system = ExtractRewriteDecoder(model, words_, SEARCH, 30, 8, stops)
    documents = [item.document for item in learner.valid]
    seen = []
    for seed in range(2):
        with torch.no_grad():  # another abstractor: what a phase rewrote is of no use to the next
            for parameter in model.abstractor.parameters():
                parameter.add_(torch.randn(parameter.shape, generator=torch.Generator().manual_seed(seed)) * 0.5)
        learner.prepare(at)
        model.train()
        scores = learner.validate(at)
        assert not model.training
        records = invented(6, 1)
        summaries = system.summarize(collate_examples([encode(record, words_, 30, 8) for record in records]))
        texts = [" ".join(chain(*summary)) for summary in summaries]
        pairs = zip([" ".join(record.target) for record in records], texts, strict=True)
        batch = collate_labelled([Labelled(document, labels_of(document)) for document in documents])
        slots = model.extractor.encode(batch.documents)
        expected = {
            "tokens": fmean(len(text.split()) for text in texts),
            "rouge1": fmean(SCORER.score(*pair)["rouge1"].fmeasure for pair in pairs),
            "nll": label_means(model, model.with_stop(slots) if stops else slots, batch.labels).mean().item(),
            "repetition": fmean(repetition([text]) for text in texts),
        }
        rewarded = {"reward", "sample_reward", "sample_tokens", "entropy"} if stops else set()
        assert scores.keys() == {*expected, "rouge2", "rougeLsum"} | rewarded
        if stops:
            extracted = extract(model, documents, stops, CPU)
            rewrites = rewrite(rewriter(model, words_, SEARCH), chosen(documents, extracted), CPU)
            expected["reward"] = fmean(
                share_earned([rewrites[document.sentences[choice]] for choice in choices], document.record.target)
                for document, choices in zip(documents, extracted, strict=True)
            )
            assert 0 < scores["reward"] < 1
        assert {name: scores[name] for name in expected} == pytest.approx(expected, rel=1e-5)
        seen.append(texts)
    assert seen[0] != seen[1]


def test_validation_of_the_abstractor_rewrites_the_labelled_sentences(learner, words_):
    scores = learner.validate(phase("nll"))
    system = ExtractRewriteDecoder(
        learner.model, words_, Search(beam=1, max_tokens=99, block_ngram=0), 30, 8, stops=True
    )
    lengths = []
    for item in learner.valid:
        sentences = [item.document.sentences[label] for label in item.labels]
        records = [Record("one", [sentence], ["word1"]) for sentence in sentences]
        summaries = system.summarize(collate_examples([encode(record, words_, 30, 8) for record in records]))
        lengths.append(min(8, sum(len(list(chain(*summary))) for summary in summaries)))
    assert scores["tokens"] == pytest.approx(sum(lengths) / len(lengths))


def test_identity_tells_data_apart(learner, words_):
    own = learner.identity()
    assert learning(words_).identity() == own

    def differing(vocabulary=words_, **keys):
        other = learning(vocabulary, **keys).identity()
        return {name for name in own if own[name] != other[name]}

    changed = [replace(invented(16)[0], target=["word1"]), *invented(16)[1:]]
    both = {"training documents", "validation documents"}
    assert differing(train=changed) == {"training documents"}
    assert differing(tokens=4) == both
    assert differing(search=SEARCH.model_copy(update={"max_tokens": 9})) == {"validation search"}
    assert differing(Vocabulary(reversed(words_.words[5:]))) == both


class Killed(Exception):
    """What ends a training from outside."""


def test_killed_at_every_validation_is_bit_identical(words_):
    plan = Training(batch=8, vocabulary=99, valid_records=6, phases=[phase(loss) for loss in LOSSES])

    def train(**keys):
        return fit(learning(words_), plan, seed=1, clock=lambda: 0.0, device=CPU, **keys)

    whole, states = train(), [None]

    def keep(state):
        states.append(state)
        raise Killed

    fitted = None
    while fitted is None:
        with contextlib.suppress(Killed):
            fitted = train(resume=states[-1], keep=keep)
    assert len(states) == len(whole.history) + 1
    assert fitted.history.rows() == whole.history.rows()
    assert all(torch.equal(fitted.weights[name], whole.weights[name]) for name in whole.weights)


@pytest.mark.parametrize("name", LOSSES)
def test_bfloat16_leaves_recurrences_in_single_precision(name, learner, monkeypatch):
    """Every LSTM, of the extractor as of the abstractor, reads, holds and says single precision under autocast."""
    batch = learner.collate(learner.prepare(phase(name)), phase(name))
    learner.model.eval()
    torch.manual_seed(1)
    single = learner.loss(batch, phase(name))
    seen = []
    true = torch.lstm

    def lstm(inputs, state, weights, *rest):
        found = true(inputs, state, weights, *rest)
        seen.extend(tensor.dtype for tensor in (inputs, *state, *weights, *found))
        return found

    monkeypatch.setattr(torch, "lstm", lstm)
    torch.manual_seed(1)
    with torch.autocast("cpu", torch.bfloat16):
        half = learner.loss(batch, phase(name))
    assert set(seen) == {torch.float32}
    half.backward()
    assert half.item() == pytest.approx(single.item(), rel=0.02)
    assert all(p.grad.dtype == torch.float32 for p in learner.model.parameters() if p.grad is not None)
