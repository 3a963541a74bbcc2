"""TRANS-nocopy against fairseq's Transformer of the same sizes: updates per second, and validation loss by update.

Both are trained by the same settings on the same records of the corpus docstrings (`make study` prepares it), in one
process after another, with the same kernels; validation, left out of the time, is ours. fairseq's batches, positions
and initialisation are its own. Needs `make fairseq-env`.

python benchmarks/fairseq.py [--updates 600 --records 4000 --valid 500 --form small --sums portable] [--device cuda]
"""

import argparse
import tempfile
from pathlib import Path
from types import SimpleNamespace

from sumcurve.capabilities.fairseq.settings import FairseqSettings
from sumcurve.machine import sums
from sumcurve.settings.forms import Form
from sumcurve.study.methods import read_method
from sumcurve.study.plan import Plan


def budgeted(method: str, form: str, updates: int) -> Form:
    """The method in a form, with so many updates and four validations."""
    told = read_method(Path("config/methods") / f"{method}.yaml").forms[form]
    [phase] = told.training.phases
    stop = {
        "every_updates": updates // 4,
        "every_epochs": 1e-9,
        "patience": 99,
        "min_updates": 0,
        "max_updates": updates,
    }
    phase = phase.model_copy(update={"stop": phase.stop.model_copy(update=stop)})
    return told.model_copy(update={"training": told.training.model_copy(update={"phases": [phase]})})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in {"updates": 600, "records": 4000, "valid": 500}.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--form", default="small")
    parser.add_argument("--sums", default="portable", choices=["portable", "native"])
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--results", type=Path, default=Path("results"))
    options = parser.parse_args()
    sums.apply(options.sums)  # before torch is imported

    import torch

    from sumcurve.capabilities.fairseq import learner as fairseq
    from sumcurve.capabilities.fairseq.model import Fairseq, FairseqModel
    from sumcurve.corpora.store import Corpus
    from sumcurve.models.batch import encode
    from sumcurve.models.vocabulary import Vocabulary
    from sumcurve.systems.families import MODELS
    from sumcurve.training.fit import fit
    from sumcurve.training.history import History
    from sumcurve.training.run import compute_clock

    torch.set_num_threads(1)
    device = torch.device(options.device)
    plan = Plan.read(Path("config"), "fairseq")
    settings = plan.corpora["docstrings"]
    [prepared] = plan.named("corpora", "corpus")
    corpus = Corpus(options.results / prepared.key)
    train = list(corpus.part("train").first(options.records))
    valid = list(corpus.part("valid").first(options.valid))
    lengths, search = (settings.source_tokens, settings.target_tokens), settings.search.greedy()
    ours, theirs = (budgeted(name, options.form, options.updates) for name in ("trans_nocopy", "fairseq_transformer"))
    counts: dict[str, int] = {}
    for record in train:
        for sentence in (*record.source, *record.target):
            for word in sentence.split(" "):
                counts[word] = counts.get(word, 0) + 1
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    vocabulary = Vocabulary.from_counts(ordered, ours.training.vocabulary, ours.training.min_count)

    told = {"source_tokens": lengths[0], "target_tokens": lengths[1], "seed": 1}
    learner = MODELS[ours.model.kind].learner_of(told, ours, train, valid, vocabulary, device, search=search)
    fitted = fit(learner, ours.training, seed=1, clock=compute_clock(device), device=device)
    found: dict[str, tuple[int, History]] = {"TRANS-nocopy": (learner.parameter_counts()["total"], fitted.history)}
    assert isinstance(theirs.model, FairseqSettings)
    with tempfile.TemporaryDirectory() as folder, Fairseq(options.sums, 1, options.device) as process:
        work, state = Path(folder) / "work", Path(folder) / "state"
        work.mkdir()
        model = FairseqModel(process, theirs.model, theirs.training, vocabulary, lengths, 1, work)
        read = [[encode(record, vocabulary, *lengths) for record in part] for part in (train, valid)]
        references = [record.all_references for record in valid]
        quiet = SimpleNamespace(note=lambda line: None, watch=lambda progress: None)
        history = fairseq.train(
            model, theirs.training, *read, references, search, state, told, quiet.note, quiet.watch
        ).history
        found["fairseq-transformer"] = model.parameter_counts()["total"], history
    print(f"{len(train)} records, {len(vocabulary)} words, form {options.form}, sums {options.sums}, {options.device}")
    updates = [row.update for row in fitted.history]
    heads = "".join(f" nll, ROUGE-1 after {update} |" for update in updates)
    print(f"| | parameters | updates a second |{heads}")
    print("|---|---:|---:|" + "---:|" * len(updates))
    for name, (parameters, history) in found.items():
        last = history[-1]
        cells = "".join(f" {row.nll:.3f}, {100 * row.rouge1:.1f} |" for row in history)
        print(f"| {name} | {parameters:,} | {last.update / last.seconds:.1f} |{cells}")


if __name__ == "__main__":
    main()
