#!/usr/bin/env bash
# Resolve one lock per supported Python; what is locked already stays as it is where it can. torch is resolved with the
# rest and left out of the locks, and so are the CUDA packages that only its normal build asks for: uv adds what the
# build it finds needs (envs/torch.txt).
set -euo pipefail
cd "$(dirname "$0")"
for minor in 3.11 3.12 3.13; do
  lock="lock-$minor.txt"
  cp "$lock" "$lock.partial"
  uv pip compile --quiet --python-version "$minor" --no-header --no-annotate --no-emit-package torch \
    --all-extras --output-file "$lock.partial" ../pyproject.toml requirements.in torch.txt > /dev/null
  sed -E -i '/^(nvidia-|cuda-|triton)/d' "$lock.partial"
  if grep -E '://|\+cpu|@ ' "$lock.partial"; then echo "$lock would name an address or a local build" >&2; exit 1; fi
  mv "$lock.partial" "$lock"
done
lock=fairseq/lock-3.11.txt
cp "$lock" "$lock.partial"
uv pip compile --quiet --python-version 3.11 --no-header --no-annotate --no-emit-package torch \
  --override fairseq/override.txt --output-file "$lock.partial" fairseq/requirements.in torch.txt > /dev/null
sed -E -i '/^(nvidia-|cuda-|triton)/d' "$lock.partial"
mv "$lock.partial" "$lock"
