#!/usr/bin/env bash
# Measures every goal on the release binary and prints a table. docs/develop/benchmarks.md documents the variables.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/setup.sh

BENCH_DIR="${BENCH_DIR:-$CACHE/bench}"
mkdir -p "$BENCH_DIR"

# Symbol files, compared with addr2line, SymCache and LLVM's symbolizer in a separate workspace.
symbols() {
  need_compilers
  has_llvm || install clang lld llvm
  CARGO_TARGET_DIR="$CARGO_TARGET_DIR/symbols-bench" cargo run --release --locked --quiet --features symcache \
    --manifest-path crates/symbols/bench/Cargo.toml | tee "$BENCH_DIR/symbols.md"
}
case ",${ONLY:-}," in
  ,symbols,)
    symbols
    exit
    ;;
  *,symbols,*) symbols ;;
esac

need_own_build
cargo build --release --locked --bin tidewatch
# The package's binary is reported too.
bench_binary() { cargo bench --locked -p tidewatch-server --bench "$1" --no-run --message-format=json 2>/dev/null |
  grep -o "\"executable\":\"[^\"]*/$1-[^\"]*\"" | tail -n 1 | cut -d'"' -f4; }

STAGES_BIN="$(bench_binary stages)" ALLOCATIONS_BIN="$(bench_binary allocations)" \
TIDEWATCH_BIN="$CARGO_TARGET_DIR/release/tidewatch" \
BENCH_DIR="$BENCH_DIR" \
COMMIT="$(git rev-parse --short HEAD 2>/dev/null || echo unknown)$(git diff --quiet HEAD 2>/dev/null || echo ' with changes')" \
  "$(bench_binary goals)"

# After the other table.
[ -n "${ONLY:-}" ] || symbols
