#!/usr/bin/env bash
# The ratios of every benchmark, taken in one run: CPU time, allocations, instructions (with valgrind), end-to-end load.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/setup.sh

bench_binary() { cargo bench --locked -p tidewatch-server --bench "$1" --no-run --message-format=json 2>/dev/null |
  grep -o '"executable":"[^"]*"' | tail -n 1 | cut -d'"' -f4; }

stages=$(bench_binary stages)
"$stages"
"$(bench_binary allocations)"

if command -v valgrind >/dev/null; then
  printf '\n# instructions per unit (callgrind; the same on every machine)\n'
  instructions() { valgrind --tool=callgrind --callgrind-out-file=/dev/null "$stages" --only "$1" --repeat "$2" 2>&1 |
    sed -n 's/.*Collected : \([0-9]*\).*/\1/p'; }
  for stage in "traces512/prost decode" "traces512/decode protobuf" "traces512/decode + rules" "traces512/decode + rules + columns" "traces512/decode JSON"; do
    few=$(instructions "$stage" 2); many=$(instructions "$stage" 12)
    printf '%-50s %10d\n' "$stage" $(((many - few) / 10 / 512))
  done
else
  printf '\nvalgrind is not installed: no instruction counts\n'
fi

cargo build --release --locked --bin tidewatch
TIDEWATCH_BIN="$CARGO_TARGET_DIR/release/tidewatch" "$(bench_binary load)" "$@"
