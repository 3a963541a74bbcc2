#!/usr/bin/env bash
# Resolve one lock per supported Python. torch is resolved with the rest and left out of the locks, and so are the
# CUDA packages that only its normal build asks for: uv adds what the build it finds needs (envs/torch.txt).
set -euo pipefail
cd "$(dirname "$0")"
for minor in 3.11 3.12 3.13; do
  uv pip compile --quiet --python-version "$minor" --no-header --no-annotate --no-emit-package torch \
    requirements.in torch.txt | grep -Ev '^(nvidia-|cuda-|triton)' > "lock-$minor.txt.partial"
  if grep -E '://|\+cpu|@ ' "lock-$minor.txt.partial"; then echo "lock-$minor.txt would name an address or a local build" >&2; exit 1; fi
  mv "lock-$minor.txt.partial" "lock-$minor.txt"
done
