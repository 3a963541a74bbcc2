"""Parameters of every method's form `paper` and others, beside the counts that Čano and Bojar (2020) print.

Counts are over distinct storages; what has a row or an entry per word is counted as vocabulary. Nothing is measured.
The paper's vocabularies are 49,000 words of CNN/DailyMail and 98,000 of OAGS.

python benchmarks/parameters.py [--words 49000 98000]
"""

import argparse
from pathlib import Path

from sumcurve.models.summarizer import parameter_counts
from sumcurve.settings.models import ModelSettings
from sumcurve.study.methods import read_method
from sumcurve.systems.families import build

METHODS = Path(__file__).parents[1] / "config" / "methods"
SUBWORDS = ("bart", "transformers", "fairseq")  # kinds whose vocabulary is no number of words
PRINTED = {"ABS": "15M / 22M", "PCOV": "14M / 21M", "NATS": "15M", "GLOBEN": "68M", "TRANS": "81M / 129M"}


def counts(model: ModelSettings, words: int) -> dict[str, int]:
    if model.kind == "extract-rewrite":
        return parameter_counts(build(model, words, 0))
    return parameter_counts(build(model, words, 0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, nargs="+", default=[49_000, 98_000])
    words = parser.parse_args().words
    print("| method | settings |" + "".join(f" {size:,} words |" for size in words) + " not vocabulary | printed |")
    print("|---|---|" + "---:|" * (len(words) + 1) + "---|")
    for path in sorted(METHODS.glob("*.yaml")):
        method = read_method(path)
        for name, form in method.forms.items():
            if name not in ("paper", "count-matched") or form.model.kind in SUBWORDS:
                continue
            found = [counts(form.model, size) for size in words]
            cells = "".join(f" {one['total'] / 1e6:.2f}M |" for one in found)
            print(
                f"| {method.title} | {name} |{cells} {found[0]['other'] / 1e6:.2f}M | {PRINTED.get(method.title, '')} |"
            )


if __name__ == "__main__":
    main()
