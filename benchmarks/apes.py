"""Answers about summaries, each read once for all its questions and beside others of its length, against a loop.

The loop takes one summary at a time, as whoever scores a file line by line does, and asks the same reader every
question about it in turn; both must give the same answers. Sizes are those of Chen et al. (2016) and of summaries of
CNN and the Daily Mail, invented; weights are random, since time does not depend on them.

python benchmarks/apes.py [--summaries 2000 --loop 200 --threads 1 --seed 1]
"""

import argparse
import random
import time

import torch

from sumcurve.capabilities.apes.answers import AttentiveAnswers
from sumcurve.capabilities.apes.questions import anonymise, renumbered
from sumcurve.capabilities.apes.reader_model import Posing, Words, build, collate
from sumcurve.capabilities.apes.settings import AttentiveSettings

TEST = 11_490  # summaries of CNN/DailyMail's test part
WORDS = [f"word{number}" for number in range(50_000)]
Text = list[str]


def invented(count: int, seed: int) -> tuple[list[Text], list[list[Text]]]:
    """Summaries of 60 words or so with 6 entities, and 5 questions of 18 words about each."""
    drawn = random.Random(seed)

    def text(length: int, entities: int) -> Text:
        return [
            f"@entity{drawn.randrange(entities)}" if drawn.random() < 0.12 else drawn.choice(WORDS)
            for _ in range(length)
        ]

    documents = [["@entity0", *text(drawn.randint(35, 100), 6)] for _ in range(count)]
    questions = [[["@placeholder", *text(drawn.randint(8, 28), 8)] for _ in range(5)] for _ in range(count)]
    return documents, questions


@torch.no_grad()
def one_by_one(reader: AttentiveAnswers, documents: list[Text], questions: list[list[Text]]) -> list[list[int | None]]:
    found: list[list[int | None]] = []
    for document, asked in zip(documents, questions, strict=True):
        answers: list[int | None] = []
        for question in asked:
            read, put, mapping = renumbered(document, question)
            batch = collate([Posing(reader.words.ids(read), reader.words.ids(put), 0)])
            answer = int(reader.model(batch).argmax(1))
            answers.append({new: old for old, new in mapping.items()}[answer])
        found.append(answers)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--summaries", type=int, default=2000)
    parser.add_argument("--loop", type=int, default=200, help="of them, those that the loop answers")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    words = Words(50, WORDS)
    reader = AttentiveAnswers(build(words, AttentiveSettings(), arguments.seed), words, renumber=True)
    documents, questions = invented(arguments.summaries, arguments.seed)
    some = slice(arguments.loop)
    reader.answers(documents[:20], questions[:20])  # warm
    one_by_one(reader, documents[:2], questions[:2])
    took = {}
    for name, run, of in (("loop", one_by_one, some), ("batches", AttentiveAnswers.answers, slice(None))):
        began = time.process_time()
        answers = run(reader, documents[of], questions[of])
        took[name] = (time.process_time() - began) / len(answers)
        print(f"{name}: {1000 * took[name]:.2f} ms a summary, {TEST * took[name]:.0f} s for {TEST:,} and one reader")
        if name == "loop":
            expected = answers
    names = {f"name{number} of{number}": number for number in range(40)}
    said = [" ".join(documents[0]).replace("@entity", "name").split(" ") for _ in range(50)]
    began = time.process_time()
    for words_of_summary in said:
        anonymise(words_of_summary, names)
    told = (time.process_time() - began) / len(said)
    print(f"before either, entities' markers: {1000 * told:.2f} ms a summary, with {len(names)} names of an article")
    differ = sum(a != b for a, b in zip(expected, answers, strict=False))
    print(
        f"{took['loop'] / took['batches']:.1f} times as fast; {differ} of {len(expected)} summaries differ in an answer"
    )
    if differ:
        raise SystemExit("batches and loop must give the same answers")


if __name__ == "__main__":
    main()
