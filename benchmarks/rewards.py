"""What bit-parallel LCS and looked-up rewards save in reinforcement learning of extraction (Chen & Bansal 2018).

First, ROUGE-L of many candidates against one reference: `Reference.rouge_l` against rouge-score's textbook table.
Second, actor-critic: rewards looked up in tables made once, against rollouts whose sentences are rewritten on the fly
and compared then, both vectorised over documents. Both draw the same rollouts and must earn the same. A rollout is
sampling and its rewards; an update is the rollout, the encoder and all gradients. Tables cost time before the first
update: it is printed, and after how many updates on each document it is earned back.

python benchmarks/rewards.py [--repetitions 5] [--batch 32 --sentences 20 --tokens 25 --words 30000]
"""

import argparse
import random
import statistics
import time
from collections.abc import Callable
from functools import partial
from itertools import chain

import torch
from rouge_score.rouge_scorer import _score_lcs
from torch import Tensor

from sumcurve.decoding.extract_rewrite import chosen, rewrite, rewriter
from sumcurve.models.extract_rewrite import ExtractRewrite, Slots
from sumcurve.models.vocabulary import Vocabulary
from sumcurve.rouge_engine.rewards import Reference, f1_of_ngrams, words
from sumcurve.settings.models import ExtractRewriteSettings, RecurrentSettings
from sumcurve.settings.search import Search
from sumcurve.settings.training import Optimizer, PhaseSettings, Stop
from sumcurve.store.records import Record
from sumcurve.systems.families import build
from sumcurve.training.extract_rewrite import ExtractRewriteLearner, RewardedBatch, actor_critic, look_up

LONGEST = 30  # tokens of a rewrite
CHOSEN = 4  # sentences that a rollout takes, about


def text(rng: random.Random, vocabulary: int, tokens: int) -> list[str]:
    """Words whose frequencies fall about as those of a language do."""
    return [f"w{int(vocabulary ** rng.random())}" for _ in range(tokens)]


def interleaved(forms: dict[str, Callable[[], object]], repetitions: int, synchronise: bool) -> dict[str, float]:
    """Median seconds of each form; the first round warms up."""
    seconds: dict[str, list[float]] = {name: [] for name in forms}
    for repetition in range(repetitions + 1):
        for name, form in forms.items():
            begin = time.perf_counter()
            form()
            if synchronise:
                torch.cuda.synchronize()
            if repetition:
                seconds[name].append(time.perf_counter() - begin)
    return {name: statistics.median(values) for name, values in seconds.items()}


def compare_scores(candidate_tokens: int, reference_tokens: int, repetitions: int) -> None:
    rng = random.Random(0)
    pairs = [
        (text(rng, 2000, reference_tokens), [text(rng, 2000, candidate_tokens) for _ in range(30)]) for _ in range(20)
    ]

    def ours() -> list[float]:
        found = []
        for reference, candidates in pairs:
            prepared = Reference(reference)
            found += [prepared.rouge_l(candidate).f1 for candidate in candidates]
        return found

    def theirs() -> list[float]:
        return [_score_lcs(reference, one).fmeasure for reference, candidates in pairs for one in candidates]

    if max(abs(one - other) for one, other in zip(ours(), theirs(), strict=True)) > 1e-12:
        raise SystemExit("the scores differ")
    slow, fast = interleaved({"table": theirs, "bits": ours}, repetitions, False).values()
    count = sum(len(candidates) for _, candidates in pairs)
    print(
        f"ROUGE-L of {candidate_tokens} x {reference_tokens} words: textbook table {slow / count * 1e6:7.1f} us, "
        f"bit-parallel {fast / count * 1e6:5.1f} us, ratio {slow / fast:.1f}"
    )


def make_learner(options: argparse.Namespace) -> ExtractRewriteLearner:
    """Documents whose reference is the beginnings of some sentences; a model of the released code's widths."""
    rng = random.Random(1)
    vocabulary = Vocabulary(f"w{number}" for number in range(options.words))
    records = []
    for number in range(options.batch):
        source = [
            text(rng, options.words, options.tokens - rng.randrange(options.tokens // 2))
            for _ in range(options.sentences)
        ]
        target = [one[: options.tokens * 3 // 5] for one in rng.sample(source, CHOSEN)]
        records.append(Record(str(number), [" ".join(one) for one in source], [" ".join(one) for one in target]))
    abstractor = RecurrentSettings(
        kind="recurrent",
        embedding=128,
        hidden=256,
        learned_start=True,
        bridge="linear",
        feed="readout",
        attention="projected",
        readout="tanh",
        copy_attention=True,
        gate=("context", "h", "input"),
        output="tied",
        output_bias=False,
    )
    settings = ExtractRewriteSettings(
        kind="extract-rewrite", abstractor=abstractor, hidden=256, sentences=CHOSEN, rewrite_tokens=LONGEST
    )
    model = build(settings, len(vocabulary), seed=1)
    device = torch.device(options.device)
    return ExtractRewriteLearner(
        model, vocabulary, settings, records, records[:1], 10**6, Search(beam=1, max_tokens=10**6), device
    )


def teach_to_stop(model: ExtractRewrite, batch: RewardedBatch) -> None:
    """Let the policy stop after about CHOSEN sentences, as a trained one does; which ones, it does not learn."""
    optimizer = torch.optim.Adam([*model.extractor.pointer.parameters(), model.stop], 1e-3)
    slots = model.with_stop(model.extractor.encode(batch.documents))
    slots.states = slots.states.detach()
    size, stop = len(slots.mask), slots.mask.shape[1] - 1
    generator = torch.Generator().manual_seed(3)
    for _ in range(60):
        order = torch.rand(size, stop, generator=generator).argsort(1)[:, :CHOSEN]
        choices = torch.cat((order, torch.full((size, 1), stop)), 1).to(slots.mask.device)
        optimizer.zero_grad()
        (-model.logp(slots, choices).mean()).backward()
        optimizer.step()


def on_the_fly(learner: ExtractRewriteLearner, choices: Tensor) -> Tensor:
    """Rewards [B, T] as the released code gets them: rewrite what was chosen, then compare."""
    documents, stop = learner.train, max(len(document.ids) for document in learner.train)
    extracted = [[choice for choice in row if choice != stop] for row in choices.tolist()]
    system = rewriter(learner.model, learner.vocabulary, Search(beam=1, max_tokens=LONGEST, block_ngram=0))
    rewrites = rewrite(system, chosen(documents, extracted), learner.device)
    rewards = torch.zeros(choices.shape)
    for row, (document, taken) in enumerate(zip(documents, extracted, strict=True)):
        written = [words(rewrites[document.sentences[choice]]) for choice in taken]
        references = [words(sentence) for sentence in document.record.target]
        for step, (one, reference) in enumerate(zip(written, references, strict=False)):
            rewards[row, step] = Reference(reference).rouge_l(one).f1
        rewards[row, len(taken)] = f1_of_ngrams(list(chain(*written)), list(chain(*references)), 1)
    return rewards.to(choices.device)


def compare_updates(options: argparse.Namespace) -> None:
    learner = make_learner(options)
    phase = PhaseSettings(
        name="rl",
        loss="actor-critic",
        discount=0.95,
        optimizer=Optimizer(rate=1e-4),
        stop=Stop(every_updates=1, every_epochs=1, patience=1, max_updates=1),
    )
    begin = time.perf_counter()
    items = learner.prepare(phase)
    prepared = time.perf_counter() - begin
    batch = learner.collate(items, phase).to(learner.device)
    assert isinstance(batch, RewardedBatch)
    model = learner.model
    teach_to_stop(model, batch)

    looked_up, fresh = partial(look_up, batch), partial(on_the_fly, learner)

    def rollout(slots: Slots, reward: Callable[[Tensor], Tensor]) -> tuple[Tensor, Tensor]:
        torch.manual_seed(5)
        choices = model.sample(model.with_stop(slots))
        return choices, reward(choices)

    def update(reward: Callable[[Tensor], Tensor]) -> None:
        model.train()
        model.zero_grad(set_to_none=True)
        slots = model.extractor.encode(batch.documents)
        choices, rewards = rollout(slots, reward)
        policy, value = actor_critic(model, slots, choices, rewards, 0.95)
        (policy + value).backward()

    with torch.no_grad():
        slots = model.extractor.encode(batch.documents)
    (choices, rewards), (others, expected) = rollout(slots, looked_up), rollout(slots, fresh)
    if not torch.equal(choices, others) or not torch.allclose(rewards, expected, atol=1e-6):
        raise SystemExit("the rewards differ")
    taken = (choices != batch.steps.shape[1]).sum(1).float().mean().item()
    print(
        f"actor-critic, batch {options.batch}, {options.sentences} sentences of up to {options.tokens} tokens, "
        f"{options.words} words, {taken:.1f} sentences a rollout, same rewards"
    )
    synchronise = options.device.startswith("cuda")
    for name, form in (("rollout", partial(rollout, slots)), ("update", update)):
        forms = {"on the fly": partial(form, fresh), "looked up": partial(form, looked_up)}
        slow, fast = interleaved(forms, options.repetitions, synchronise).values()
        print(
            f"{name:8} rewritten on the fly {slow * 1e3:7.1f} ms, looked up {fast * 1e3:7.1f} ms, "
            f"ratio {slow / fast:.1f}"
        )
    print(
        f"rewriting and comparing the batch's documents beforehand took {prepared:.2f} s, "
        f"earned back after {prepared / (slow - fast):.1f} updates on each"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("repetitions", 5), ("batch", 32), ("sentences", 20), ("tokens", 25), ("words", 30_000)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print(f"{options.device}, {options.threads} thread(s), {options.repetitions} interleaved repetitions")
    compare_scores(25, 15, options.repetitions)
    compare_scores(100, 60, options.repetitions)
    compare_updates(options)


if __name__ == "__main__":
    main()
