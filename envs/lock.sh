#!/usr/bin/env bash
# Resolve one lock per supported Python, with the sha256 of every file of a release; what is locked already stays as it
# is where it can. torch is resolved with the rest and left out of the locks, and so are the CUDA packages that only its
# normal build asks for: uv adds what the build it finds needs (envs/torch.txt).
set -euo pipefail
cd "$(dirname "$0")"
lock() { # LOCK MINOR ARGUMENTS…
  cp "$1" "$1.partial"
  uv pip compile --quiet --python-version "$2" --generate-hashes --no-header --no-annotate --no-emit-package torch \
    --output-file "$1.partial" "${@:3}" torch.txt > /dev/null
  sed -E -i '/^(nvidia-|cuda-|triton)/,/[^\\]$/d' "$1.partial"  # the lines of its hashes, too
  if grep -E '://|\+cpu|@ ' "$1.partial"; then echo "$1 would name an address or a local build" >&2; exit 1; fi
  mv "$1.partial" "$1"
}
for minor in 3.11 3.12 3.13; do
  lock "lock-$minor.txt" "$minor" --all-extras ../pyproject.toml requirements.in
done
lock fairseq/lock-3.11.txt 3.11 --override fairseq/override.txt fairseq/requirements.in
uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
  --output-file docs/lock.txt docs/requirements.in > /dev/null
