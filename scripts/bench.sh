#!/usr/bin/env bash
# Every goal measured on the release binary, one table at the end. What the variables mean: docs/benchmarks.md.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/setup.sh

cargo build --release --locked --bin tidewatch
# The package's binary is reported too.
bench_binary() { cargo bench --locked -p tidewatch-server --bench "$1" --no-run --message-format=json 2>/dev/null |
  grep -o "\"executable\":\"[^\"]*/$1-[^\"]*\"" | tail -n 1 | cut -d'"' -f4; }

STAGES_BIN="$(bench_binary stages)" ALLOCATIONS_BIN="$(bench_binary allocations)" \
TIDEWATCH_BIN="$CARGO_TARGET_DIR/release/tidewatch" \
BENCH_DIR="${BENCH_DIR:-$CACHE/bench}" \
COMMIT="$(git rev-parse --short HEAD 2>/dev/null || echo unknown)$(git diff --quiet HEAD 2>/dev/null || echo ' with changes')" \
  "$(bench_binary goals)"
