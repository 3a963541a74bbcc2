"""The learner of extract-rewrite: labels, rewards by look-up, actor-critic, and its three phases."""

import random
from dataclasses import replace
from itertools import chain
from typing import Any

import pytest
import torch
from rouge_score import rouge_scorer
from torch import Tensor

from sumcurve.decoding.extract_rewrite import ExtractRewriteDecoder, chosen, extract, rewrite, rewriter
from sumcurve.models.batch import collate as collate_examples
from sumcurve.models.batch import encode
from sumcurve.models.extract_rewrite import ExtractRewrite, read_document
from sumcurve.models.vocabulary import Vocabulary
from sumcurve.rouge.rewards import repetition, words
from sumcurve.settings.models import ExtractRewriteSettings, RecurrentSettings
from sumcurve.settings.search import Search
from sumcurve.settings.training import Optimizer, PhaseSettings, Stop, Training
from sumcurve.store.records import Record
from sumcurve.systems.families import build
from sumcurve.training.extract_rewrite import (
    ExtractRewriteLearner,
    Labelled,
    Rewarded,
    RewardedBatch,
    Rewards,
    actor_critic,
    before_the_end,
    collate_labelled,
    collate_rewarded,
    discounted,
    label_means,
    labels_of,
    look_up,
    rewards_of,
    standardised,
)
from sumcurve.training.fit import fit

CPU = torch.device("cpu")
SEARCH = Search(beam=1, max_tokens=8, block_ngram=0)
WORDS = [f"word{number}" for number in range(20)]
SCORER = rouge_scorer.RougeScorer(["rouge1", "rougeL"], use_stemmer=False)
LOSSES = ("nll", "extraction", "actor-critic")


def settings(**keys: object) -> ExtractRewriteSettings:
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
def words_() -> Vocabulary:
    return Vocabulary([*WORDS, "heron", "otter"])


def invented(count: int, seed: int = 0) -> list[Record]:
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


def phase(loss: str, name: str | None = None, **stop: Any) -> PhaseSettings:
    stops = {"every_updates": 3, "every_epochs": 0.1, "patience": 3, "max_updates": 6} | stop
    return PhaseSettings(
        name=name or loss,
        loss=loss,
        discount=0.95 if loss == "actor-critic" else None,
        optimizer=Optimizer(rate=0.02, clip_norm=2.0),
        stop=Stop(**stops),
    )


@pytest.fixture
def learner(words_: Vocabulary) -> ExtractRewriteLearner:
    return ExtractRewriteLearner(
        build(settings(), len(words_), 3), words_, settings(), invented(16), invented(6, 1), 30, SEARCH, CPU
    )


# --- rewards


def rewritten(count: int, seed: int) -> list[tuple[list[str], list[str]]]:
    """Rewrites, some empty or without a word, and references of sentences."""
    rng = random.Random(seed)

    def text(least: int) -> str:
        return " ".join(rng.choice(["Otter", "heron", "reed", "a-b", ",", "to"]) for _ in range(rng.randint(least, 6)))

    return [
        ([text(0) for _ in range(rng.randint(1, 5))], [text(1) for _ in range(rng.randint(1, 3))]) for _ in range(count)
    ]


def rewarded(texts: list[tuple[list[str], list[str]]], vocabulary: Vocabulary) -> list[Rewarded]:
    items = []
    for rewrites, references in texts:
        document = read_document(Record("r", ["word1"] * len(rewrites), references), vocabulary, 99, 99)
        items.append(Rewarded(document, rewards_of(rewrites, references)))
    return items


def rollouts(batch: RewardedBatch, seed: int) -> Tensor:
    """Random non-empty choices in random order, then the stop."""
    rng, stop = random.Random(seed), batch.steps.shape[1]
    rows = [rng.sample(range(size), rng.randint(1, size)) for size in batch.documents.sizes.tolist()]
    longest = max(len(row) for row in rows) + 1
    return torch.tensor([row + [stop] * (longest - len(row)) for row in rows])


def test_rewards_looked_up_are_those_of_the_concatenated_texts(words_: Vocabulary) -> None:
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


def test_rewards_do_not_depend_on_batch_mates(words_: Vocabulary) -> None:
    items = rewarded(rewritten(12, 2), words_)
    batch = collate_rewarded(items)
    choices, stop = rollouts(batch, 5), batch.steps.shape[1]
    together = look_up(batch, choices)
    for row, item in enumerate(items):
        size = len(item.document.ids)
        own = choices[row : row + 1].where(choices[row : row + 1] < stop, size)
        torch.testing.assert_close(look_up(collate_rewarded([item]), own)[0], together[row])


def test_returns_are_discounted_sums_of_what_follows() -> None:
    rewards = torch.rand(3, 6, generator=torch.Generator().manual_seed(1))
    expected = [[sum(0.9 ** (k - t) * row[k] for k in range(t, 6)) for t in range(6)] for row in rewards.tolist()]
    torch.testing.assert_close(discounted(rewards, 0.9), torch.tensor(expected))


def test_standardised_returns_have_mean_0_and_deviation_1_over_real_steps() -> None:
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

    def __init__(self, vocabulary: Vocabulary) -> None:
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

    def losses(self) -> tuple[Tensor, Tensor]:
        return actor_critic(self.model, self.slots, self.choices, self.rewards, 0.9)


@pytest.fixture
def policy(words_: Vocabulary) -> SimplePolicy:
    return SimplePolicy(words_)


def test_a_vectorised_rollout_equals_one_document_at_a_time(policy: SimplePolicy) -> None:
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
    expected_policy = -sum(lp * (r - v) for lp, r, v in zip(logps, standard, values, strict=True)) / count
    expected_value = sum((r - v) ** 2 for r, v in zip(standard, values, strict=True)) / count
    found = policy.losses()
    assert [loss.item() for loss in found] == pytest.approx([expected_policy, expected_value], abs=1e-9)


def gradients(model: ExtractRewrite) -> dict[str, bool]:
    """Whether each part of the model has a gradient that is not zero."""
    parts = {"encoder": model.extractor.encoder, "pointer": model.extractor.pointer, "critic": model.critic}
    found = {
        name: any(parameter.grad is not None and parameter.grad.any() for parameter in part.parameters())
        for name, part in parts.items()
    }
    return found | {"stop": model.stop.grad is not None and bool(model.stop.grad.any())}


def test_the_policy_loss_gives_the_critic_no_gradient(policy: SimplePolicy) -> None:
    policy.losses()[0].backward()
    assert gradients(policy.model) == {"encoder": True, "pointer": True, "stop": True, "critic": False}


def test_the_value_loss_trains_the_critic_and_the_shared_encoder(policy: SimplePolicy) -> None:
    policy.losses()[1].backward()
    assert gradients(policy.model) == {"encoder": True, "pointer": False, "stop": False, "critic": True}


def test_a_better_rollout_becomes_more_probable(policy: SimplePolicy) -> None:
    """Of two documents the first earns, the second does not: one step raises the first's log-probability."""
    rewards = torch.zeros_like(policy.rewards)
    rewards[0, 0] = 1.0
    model = policy.model
    with torch.no_grad():
        for parameter in model.critic.value.parameters():
            parameter.zero_()

    def logp() -> Tensor:
        slots = model.with_stop(model.extractor.encode(collate_rewarded(policy.items).documents))
        real = before_the_end(policy.choices, policy.slots.mask.shape[1])
        return (model.logp(slots, policy.choices) * real)[:, 0]

    before = logp().detach()
    actor_critic(model, policy.slots, policy.choices, rewards, 0.0)[0].backward()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.grad is not None:
                parameter.sub_(parameter.grad, alpha=1e-3)
    assert logp()[0] > before[0]


def bandits(count: int, seed: int, vocabulary: Vocabulary) -> list[Rewarded]:
    """Documents of four sentences, of which the reference is the one that holds "heron"; rewrites change nothing."""
    rng = random.Random(seed)
    items = []
    for _ in range(count):
        source = [" ".join(rng.choice(WORDS) for _ in range(3)) for _ in range(4)]
        best = rng.randrange(4)
        source[best] = f"{source[best]} heron"
        document = read_document(Record("r", source, [source[best]]), vocabulary, 99, 99)
        items.append(Rewarded(document, rewards_of(source, [source[best]])))
    return items


def test_actor_critic_learns_the_best_sentence_and_to_stop(words_: Vocabulary, learner: ExtractRewriteLearner) -> None:
    torch.manual_seed(3)
    model, rewarding = learner.model, phase("actor-critic")
    optimizer = torch.optim.Adam(learner.parameters(rewarding), 0.01)
    learner.prepare(rewarding)
    model.train()
    for update in range(220):
        batch = learner.collate(bandits(16, update, words_), rewarding)
        optimizer.zero_grad()
        learner.loss(batch, rewarding).backward()
        optimizer.step()
    model.eval()
    test = collate_rewarded(bandits(100, 10**6, words_))
    slots = model.with_stop(model.extractor.encode(test.documents))
    best = test.steps[:, :, 0].argmax(1)
    logp = model.logp(slots, torch.stack((best, torch.full_like(best, 4)), 1)).sum(1)
    assert logp.exp().mean() > 0.95
    assert sum(row == [choice] for row, choice in zip(model.extract(slots), best.tolist(), strict=True)) > 95


# --- items


def test_labels_are_of_the_sentences_as_read_and_never_more_than_these(words_: Vocabulary) -> None:
    record = Record("r", ["word1 word2 heron", "word3 heron"], ["heron", "word3", "word1"])
    assert labels_of(read_document(record, words_, 30, 60)) == [0, 1]
    assert labels_of(read_document(record, words_, 2, 60)) == [0]
    assert labels_of(read_document(replace(record, target=["word3"]), words_, 30, 60)) == [1]


def test_a_record_without_a_target_is_refused(words_: Vocabulary) -> None:
    records = [Record("nothing", ["word1"], [""])]
    with pytest.raises(ValueError, match="'nothing' has an empty target"):
        ExtractRewriteLearner(build(settings(), len(words_), 3), words_, settings(), records, records, 30, SEARCH, CPU)


def test_pairs_hold_the_unknown_words_of_one_sentence(words_: Vocabulary) -> None:
    record = Record(
        "r", ["crane heron word1", "word2 crake otter word3"], ["heron crake crane", "otter crake word1 word2 word3"]
    )
    learner = ExtractRewriteLearner(
        build(settings(), len(words_), 3), words_, settings(), [record], [record], 30, SEARCH, CPU
    )
    first, second = learner.prepare(phase("nll"))
    assert first.record.source_tokens == ["crane", "heron", "word1"]
    assert first.unknowns == ["crane"]
    assert [words_.words.index("heron"), 1, len(words_), 3] == first.target  # crake is of the other sentence
    assert second.unknowns == ["crake"]
    assert len(second.target) == settings().rewrite_tokens  # cut, so without an end


def test_label_losses_leave_padding_out(learner: ExtractRewriteLearner) -> None:
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


def contents(items: Any) -> list[Any]:
    """Items as plain values."""
    if not isinstance(items[0], Rewarded):
        return list(items)
    names = Rewards.__slots__
    return [
        (item.document, [torch.as_tensor(getattr(item.rewards, name)).tolist() for name in names]) for item in items
    ]


@pytest.mark.parametrize("loss", LOSSES)
def test_a_resumed_phase_finds_the_same_items(loss: str, learner: ExtractRewriteLearner) -> None:
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


def test_rewards_are_of_the_abstractors_rewrites(learner: ExtractRewriteLearner, words_: Vocabulary) -> None:
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


def test_only_the_first_phase_on_rewards_sets_the_critic(learner: ExtractRewriteLearner) -> None:
    first, second = phase("actor-critic", "first"), phase("actor-critic", "second")
    pointer, critic = learner.model.extractor.pointer, learner.model.critic.pointer
    learner.switch(first)
    learner.prepare(first)
    assert torch.equal(critic.lstm.weight_hh_l0, pointer.lstm.weight_hh_l0)
    with torch.no_grad():
        critic.lstm.weight_hh_l0.zero_()
    learner.switch(second)
    learner.prepare(second)
    assert not critic.lstm.weight_hh_l0.any()


# --- the three phases


def test_every_phase_lowers_its_loss_and_trains_its_own_part(learner: ExtractRewriteLearner) -> None:
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

        def measured(at: PhaseSettings = at, items: Any = items) -> float:
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


def share_earned(written: list[str], references: list[str]) -> float:
    """ROUGE-L F1 of each rewrite against the reference in its place, and ROUGE-1 of all; of one each."""
    steps = [SCORER.score(*pair)["rougeL"].fmeasure for pair in zip(references, written, strict=False)]
    whole = SCORER.score(" ".join(references), " ".join(written))["rouge1"].fmeasure
    return (sum(steps) + whole) / (len(references) + 1)


@pytest.mark.parametrize("loss", ["extraction", "actor-critic"])
def test_validation_scores_the_summaries_of_the_system(
    loss: str, learner: ExtractRewriteLearner, words_: Vocabulary
) -> None:
    at, model, stops = phase(loss), learner.model, loss == "actor-critic"
    system = ExtractRewriteDecoder(model, words_, Search(beam=1, max_tokens=8, block_ngram=0), 30, 8, stops)
    records = invented(6, 1)
    seen = []
    for seed in range(2):
        with torch.no_grad():  # another abstractor: what a phase rewrote is of no use to the next
            for parameter in model.abstractor.parameters():
                parameter.add_(torch.randn(parameter.shape, generator=torch.Generator().manual_seed(seed)) * 0.5)
        learner.prepare(at)
        model.train()
        scores = learner.validate(at)
        assert not model.training
        summaries = system.summarize(collate_examples([encode(record, words_, 30, 8) for record in records]))
        texts = [" ".join(chain(*summary)) for summary in summaries]
        rouge1 = [
            SCORER.score(" ".join(record.target), text)["rouge1"].fmeasure
            for record, text in zip(records, texts, strict=True)
        ]
        batch = collate_labelled([Labelled(document := item.document, labels_of(document)) for item in learner.valid])
        slots = model.extractor.encode(batch.documents)
        nll = label_means(model, model.with_stop(slots) if stops else slots, batch.labels).mean().item()
        expected = {
            "tokens": sum(len(text.split()) for text in texts) / 6,
            "rouge1": sum(rouge1) / 6,
            "nll": nll,
            "repetition": sum(repetition([text]) for text in texts) / 6,
        }
        assert {name: scores[name] for name in expected} == pytest.approx(expected, rel=1e-5)
        assert scores.keys() == {*expected, "rouge2", "rougeLsum"} | ({"reward"} if stops else set())
        if stops:
            documents = [item.document for item in learner.valid]
            extracted = extract(model, documents, stops, CPU)
            rewrites = rewrite(rewriter(model, words_, SEARCH), chosen(documents, extracted), CPU)
            shares = [
                share_earned([rewrites[document.sentences[choice]] for choice in choices], document.record.target)
                for document, choices in zip(documents, extracted, strict=True)
            ]
            assert scores["reward"] == pytest.approx(sum(shares) / len(shares), abs=1e-6)
            assert 0 < scores["reward"] < 1
        seen.append(texts)
    assert seen[0] != seen[1]


def test_validation_of_the_abstractor_rewrites_the_labelled_sentences(
    learner: ExtractRewriteLearner, words_: Vocabulary
) -> None:
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


def test_identity_tells_data_apart(learner: ExtractRewriteLearner, words_: Vocabulary) -> None:
    def identity(
        train: list[Record] | None = None, tokens: int = 30, search: Search = SEARCH, vocabulary: Vocabulary = words_
    ) -> dict[str, str]:
        model = build(settings(), len(vocabulary), 3)
        given = (model, vocabulary, settings(), train or invented(16), invented(6, 1), tokens, search, CPU)
        return ExtractRewriteLearner(*given).identity()

    own = learner.identity()
    assert identity() == own

    def differing(other: dict[str, str]) -> set[str]:
        return {name for name in own if own[name] != other[name]}

    changed = [replace(invented(16)[0], target=["word1"]), *invented(16)[1:]]
    both = {"training documents", "validation documents"}
    assert differing(identity(changed)) == {"training documents"}
    assert differing(identity(tokens=4)) == both
    assert differing(identity(search=SEARCH.model_copy(update={"max_tokens": 9}))) == {"validation search"}
    assert differing(identity(vocabulary=Vocabulary(reversed(words_.words[5:])))) == both


def test_missing_records_are_refused(words_: Vocabulary) -> None:
    with pytest.raises(ValueError, match="no validation records"):
        ExtractRewriteLearner(build(settings(), len(words_), 3), words_, settings(), invented(2), [], 30, SEARCH, CPU)


class Killed(Exception):
    """What ends a training from outside."""


def test_killed_at_every_validation_is_bit_identical(words_: Vocabulary) -> None:
    plan = Training(batch=8, vocabulary=99, valid_records=6, phases=[phase(loss) for loss in LOSSES])

    def train(**keys: Any) -> Any:
        model = build(settings(), len(words_), 3)
        learner = ExtractRewriteLearner(model, words_, settings(), invented(16), invented(6, 1), 30, SEARCH, CPU)
        return fit(learner, plan, seed=1, clock=lambda: 0.0, device=CPU, **keys)

    whole = train()
    states: list[Any] = [None]

    def keep(state: Any) -> None:
        states.append(state)
        raise Killed

    while True:
        try:
            fitted = train(resume=states[-1], keep=keep)
        except Killed:
            continue
        break
    assert len(states) == len(whole.history) + 1
    assert fitted.history.rows() == whole.history.rows()
    assert all(torch.equal(fitted.weights[name], whole.weights[name]) for name in whole.weights)


@pytest.mark.parametrize("name", LOSSES)
def test_bfloat16_leaves_recurrences_in_single_precision(
    name: str, learner: ExtractRewriteLearner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every LSTM, of the extractor as of the abstractor, reads, holds and says single precision under autocast."""
    batch = learner.collate(learner.prepare(phase(name)), phase(name))
    learner.model.eval()
    torch.manual_seed(1)
    single = learner.loss(batch, phase(name))
    seen = []
    true = torch.lstm

    def lstm(inputs: Tensor, state: tuple[Tensor, Tensor], weights: list[Tensor], *rest: Any) -> Any:
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
