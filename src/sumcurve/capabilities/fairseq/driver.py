"""fairseq, asked over a pipe: a JSON object a line in, `{"do": what, ...}`, and one out, `{"error": ...}` at worst.

Runs in fairseq's environment, which has torch and numpy but nothing else of ours: of this package it imports what
imports neither. It takes seconds to import fairseq, so one process serves a whole training or output. Symbols are
fairseq's ids: a dictionary's names are numbers, so that no word is taken for one of fairseq's marks. fairseq's
checkpoints are pickles; those that this process has written are read here and nowhere else.
"""

import json
import math
import os
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.append(str(Path(__file__).parents[3]))  # after all else: nothing of ours stands for a package there
from sumcurve.machine.sums import Sums, apply

TOGETHER = 64  # examples computed together where nothing is learned; results are those of any other number
PLUG_IN = Path("examples", "pointer_generator", "pointer_generator_src")  # of the package: Enarvi et al. 2020


def write_pairs(folder: Path, part: str, pairs: Sequence[Sequence[Sequence[int]]], dictionary: Any) -> None:
    """What `fairseq-preprocess` writes of pairs of ids, but that a target ends as it is given, end mark or not."""
    import torch
    from fairseq.data import indexed_dataset

    for side, language in enumerate(("source", "target")):
        prefix = str(folder / f"{part}.source-target.{language}")
        builder = indexed_dataset.make_builder(f"{prefix}.bin", impl="mmap", vocab_size=len(dictionary))
        for pair in pairs:
            builder.add_item(torch.tensor(pair[side], dtype=torch.int32))
        builder.finalize(f"{prefix}.idx")


def write_dictionary(folder: Path, symbols: int) -> None:
    """Dictionaries of `symbols` symbols, fairseq's four marks among them."""
    for language in ("source", "target"):
        (folder / f"dict.{language}.txt").write_text("".join(f"{number} 1\n" for number in range(4, symbols)))


class Driver:
    """One model: built, trained and asked."""

    def open(self, sums: Sums, threads: int, cuda: bool) -> dict[str, Any]:
        """Pin sums, then load fairseq; returns the versions in use."""
        apply(sums)
        import torch

        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(not cuda)
        self.device = torch.device("cuda" if cuda else "cpu")
        import fairseq  # noqa: F401

        return {"fairseq": f"fairseq-fixed {version('fairseq-fixed')}", "torch": torch.__version__}

    def build(self, folder: str, symbols: int, arguments: list[str], weights: str | None = None) -> dict[str, Any]:
        """A model as `fairseq-train` builds it from `arguments`, in a folder of its own; returns its parameters."""
        import fairseq
        import numpy as np
        from fairseq import options, tasks, utils
        from fairseq.dataclass.utils import convert_namespace_to_omegaconf
        from safetensors.torch import load_file

        write_dictionary(Path(folder), symbols)
        parser = options.get_training_parser()
        plug_in = str(Path(fairseq.__file__).parent / PLUG_IN)
        words = [folder, "--user-dir", plug_in, "--source-lang", "source", "--target-lang", "target", *arguments]
        self.cfg = convert_namespace_to_omegaconf(
            options.parse_args_and_arch(parser, [*words, *([] if self.device.type == "cuda" else ["--cpu"])])
        )
        utils.import_user_module(self.cfg.common)
        np.random.seed(self.cfg.common.seed)  # noqa: NPY002 (the generator that fairseq draws from)
        utils.set_torch_seed(self.cfg.common.seed)
        self.folder, self.task = Path(folder), tasks.setup_task(self.cfg.task)
        self.model = self.task.build_model(self.cfg.model)
        if weights is not None:
            self.model.load_state_dict(load_file(weights))
        self.model.to(self.device).eval()
        return {"parameters": {name: weights.numel() for name, weights in self.model.named_parameters()}}

    # --- training

    def prepare(self, pairs: list[list[list[int]]], checkpoint: str | None = None) -> dict[str, Any]:
        """Take up training on pairs of source and target, where a checkpoint left it or from the beginning."""
        from fairseq.logging import metrics
        from fairseq.trainer import Trainer

        metrics.reset()
        write_pairs(self.folder, "train", pairs, self.task.target_dictionary)
        self.pairs = len(pairs)
        self.task.load_dataset("train", combine=False, epoch=1)
        self.trainer = Trainer(self.cfg, self.task, self.model, self.task.build_criterion(self.cfg.criterion))
        self.examples, self.seconds, place = 0, 0.0, None
        if checkpoint is not None:
            kept = self.trainer.load_checkpoint(checkpoint)
            place, self.examples, self.seconds = kept["train_iterator"], kept["examples"], kept["seconds"]
        # The iterator of epoch 1 goes through all epochs: one of a later epoch would have other batches.
        self.epochs = self.trainer.get_train_iterator(epoch=1, load_dataset=False)
        if place:
            self.epochs.load_state_dict(place)
            self.trainer.lr_step(self.epochs.epoch)
        self.samples = self._samples()
        return {"updates": self.trainer.get_num_updates()}

    def _samples(self) -> Iterator[Any]:
        """Batches, epoch after epoch, as `fairseq-train` goes through them."""
        from fairseq.data import iterators

        while True:
            epoch = self.epochs.next_epoch_itr(shuffle=True)
            self.trainer.begin_epoch(self.epochs.epoch)
            self.trainer.lr_step_update()  # behind a checkpoint `begin_epoch` begins the warm-up again, for one update
            yield from iterators.GroupedIterator(epoch, 1)
            self.trainer.lr_step(self.epochs.epoch)

    def update(self, to: int) -> dict[str, Any]:
        """Train until `to` updates are done; returns their mean loss, in nats, and counts since the beginning."""
        from fairseq.logging import metrics

        losses = []
        began = self._clock()
        rate = 0.0
        while self.trainer.get_num_updates() < to:
            samples = next(self.samples)
            rate = self.trainer.get_lr()
            with metrics.aggregate(new_root=True) as logged:
                self.trainer.train_step(samples)
            losses.append(float(logged["loss"].avg) * math.log(2))  # fairseq logs bits
            self.examples += sum(len(sample["id"]) for sample in samples)
        self.seconds += self._clock() - began
        return {
            "loss": sum(losses) / len(losses),
            "rate": rate,
            "examples": self.examples,
            "epochs": self.examples / self.pairs,
            "seconds": self.seconds,
        }

    def _clock(self) -> float:
        """Seconds of compute, as those of our own trainings: of the process on a CPU, finished work on a GPU."""
        if self.device.type == "cpu":
            return time.process_time()
        import torch

        torch.cuda.synchronize()
        return time.perf_counter()

    def save(self, path: str) -> dict[str, Any]:
        """Write a checkpoint of the training."""
        further = {"train_iterator": self.epochs.state_dict(), "examples": self.examples, "seconds": self.seconds}
        self.trainer.consolidate_optimizer()
        self.trainer.save_checkpoint(path, further)
        return {}

    def weights(self, path: str) -> dict[str, Any]:
        """Write the model's weights as safetensors."""
        from safetensors.torch import save_file

        held = {name: tensor.detach().cpu().clone().contiguous() for name, tensor in self.model.state_dict().items()}
        save_file(held, path)
        return {}

    # --- what a model says

    def _batches(self, sources: list[list[int]], targets: list[list[int]] | None) -> Iterator[dict[str, Any]]:
        """Padded batches of examples, longest source first within one, with `id`, their places."""
        import torch
        from fairseq import utils
        from fairseq.data import LanguagePairDataset

        words = self.task.target_dictionary
        dataset = LanguagePairDataset(
            [torch.tensor(ids) for ids in sources],
            [len(ids) for ids in sources],
            words,
            None if targets is None else [torch.tensor(ids) for ids in targets],
            None if targets is None else [len(ids) for ids in targets],
            None if targets is None else words,
            left_pad_source=False,
            left_pad_target=False,
            shuffle=False,
        )
        order = sorted(range(len(sources)), key=lambda place: len(sources[place]))
        for first in range(0, len(order), TOGETHER):
            batch = dataset.collater([dataset[place] for place in order[first : first + TOGETHER]])
            yield utils.move_to_cuda(batch) if self.device.type == "cuda" else batch

    def score(self, sources: list[list[int]], targets: list[list[int]]) -> dict[str, Any]:
        """Log-probabilities of every symbol of each target, given its source."""
        import torch

        self.model.eval()
        lines: list[list[float]] = [[] for _ in targets]
        with torch.no_grad():
            for batch in self._batches(sources, targets):
                output = self.model(**batch["net_input"])
                logp = self.model.get_normalized_probs(output, log_probs=True)
                gold = logp.gather(2, batch["target"].unsqueeze(2)).squeeze(2)
                for place, line in zip(batch["id"].tolist(), gold.tolist(), strict=True):
                    lines[place] = line[: len(targets[place])]
        return {"logp": lines}

    def generate(self, sources: list[list[int]], **search: Any) -> dict[str, Any]:
        """The best summary of each source, with its end mark, and the source position each symbol attends to most.

        `search` are options of fairseq's SequenceGenerator; no summary holds the begin mark.
        """
        import torch
        from fairseq.sequence_generator import SequenceGenerator

        self.model.eval()
        words = self.task.target_dictionary
        if search.pop("ban_unknown"):
            search["unk_penalty"] = float("inf")
        generator = SequenceGenerator([self.model], words, max_len_a=0, **search)
        tokens: list[list[int]] = [[] for _ in sources]
        attended: list[list[int]] = [[] for _ in sources]
        with torch.no_grad():
            for batch in self._batches(sources, None):
                for place, beams in zip(batch["id"].tolist(), generator.generate([self.model], batch), strict=True):
                    best = beams[0]
                    tokens[place] = best["tokens"].tolist()
                    read = len(sources[place]) - 1  # the end mark of a source is no word of it
                    attention = best["attention"]
                    if attention is not None and attention.numel():
                        attended[place] = attention[:read].argmax(0).tolist()
        return {"tokens": tokens, "attended": attended}


def serve() -> None:
    """Answer until the pipe ends. What fairseq prints goes where errors go."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    driver = Driver()
    for line in sys.stdin:
        question = json.loads(line)
        try:
            answer = getattr(driver, question.pop("do"))(**question)
        except Exception as error:  # whatever fairseq raises: the asking process says it
            traceback.print_exc()
            answer = {"error": f"{type(error).__name__}: {error}", "arithmetic": isinstance(error, FloatingPointError)}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve()
