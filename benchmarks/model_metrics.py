"""Metrics of models over all items at once, against a loop over pairs: processor seconds, side by side in one run.

Networks have random weights and the sizes of BERT-small (4 layers of width 512) and of a small BART; texts are seeded
words, summaries of 12 words with two references, sources of 6 sentences. A ratio above 1 is how many times as fast.

python benchmarks/model_metrics.py [--items 300] [--threads 1]
"""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
import transformers

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))  # its tokenizer and BART
import pretrained
from sumcurve.capabilities.metrics.bart_score import BartScore
from sumcurve.capabilities.metrics.bert_score import BertScore
from sumcurve.capabilities.metrics.entailment import Entailment

WORDS = [
    first + second for first in ("ba", "do", "ki", "lu", "me", "so") for second in ("r", "n", "st", "l", "mp", "t")
]


def save(folder: Path, kind: str, **told: object) -> Path:
    """A BERT of random weights, with its tokenizer."""
    tokenizer = pretrained.make_tokenizer([" ".join(WORDS)], "bart")
    tokenizer.cls_token, tokenizer.sep_token, tokenizer.model_max_length = "<s>", "</s>", 512
    sizes = {"hidden_size": 512, "num_hidden_layers": 4, "num_attention_heads": 8, "intermediate_size": 2048}
    config = transformers.BertConfig(vocab_size=len(tokenizer), **sizes, **told)
    getattr(transformers, kind)(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def seconds(run: Callable[[], object]) -> float:
    began = time.process_time()
    run()
    return time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=300)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    rng = random.Random(1)

    def text(words: int) -> str:
        return " ".join(rng.choices(WORDS, k=words))

    written = [text(12) for _ in range(options.items)]
    references = [[text(12), text(10)] for _ in written]
    sources = [[text(15) for _ in range(6)] for _ in written]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bert = BertScore(save(folder / "bert", "BertModel"), 3)
        labels = {0: "entailment", 1: "neutral", 2: "contradiction"}
        entailed = Entailment(save(folder / "classifier", "BertForSequenceClassification", id2label=labels))
        bart = BartScore(pretrained.make_folder(folder / "bart", "bart", [" ".join(WORDS)], width=256, layers=3))
        read = [text(40) for _ in written]
        runs: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
            "BERTScore": (
                lambda: bert.scores(written, references),
                lambda: [
                    bert.scores([candidate], [[reference]])
                    for candidate, some in zip(written, references, strict=True)
                    for reference in some
                ],
            ),
            "BARTScore": (
                lambda: bart.scores(read, written),
                lambda: [bart.scores([one], [other]) for one, other in zip(read, written, strict=True)],
            ),
            "entailment": (
                lambda: entailed.scores(sources, [[one] for one in written]),
                lambda: [
                    entailed.scores([[premise]], [[one]])
                    for one, source in zip(written, sources, strict=True)
                    for premise in source
                ],
            ),
        }
        for metric, (together, loop) in runs.items():
            together()  # kernels are loaded
            fast, slow = seconds(together), seconds(loop)
            print(f"{metric}: {slow / fast:.1f} times a loop over pairs ({fast:.2f} s for {options.items} items)")


if __name__ == "__main__":
    main()
