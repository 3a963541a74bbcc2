"""What planning costs: `snakemake -n` on the finished study against starting Snakemake and doing nothing.

Run it in a checkout where the study is finished. Prints the ratio, and fails when anything is left to do.
"""

import statistics
import subprocess
import sys
import time

REPETITIONS = 5


def seconds(*command: str) -> tuple[float, str]:
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return time.perf_counter() - began, done.stdout + done.stderr


def main() -> None:
    plans, starts = [], []
    for _ in range(REPETITIONS):
        starts.append(seconds(sys.executable, "-c", "import snakemake.cli")[0])
        took, said = seconds("snakemake", "-n")
        if "Nothing to be done" not in said:
            raise SystemExit("the study is not finished: run `make study` first")
        plans.append(took)
    plan, start = statistics.median(plans), statistics.median(starts)
    print(f"planning the finished study: {plan:.2f} s, importing Snakemake: {start:.2f} s, ratio {plan / start:.2f}")


if __name__ == "__main__":
    main()
