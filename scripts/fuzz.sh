#!/usr/bin/env bash
# Coverage-guided fuzzing of every parser of untrusted bytes, FUZZ_SECONDS (60) per target. Installs a nightly toolchain and
# cargo-fuzz if they are missing; if that fails, runs the property tests with more cases. Arguments select targets.
# Crashing inputs are stored in fuzz/artifacts/.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/setup.sh

by_properties() {
  echo "fuzz: $1; running the property tests with ${FUZZ_CASES:-20000} cases instead" >&2
  PROPTEST_CASES="${FUZZ_CASES:-20000}" exec cargo test --locked --workspace -- outside_bytes multipart client_ip decode recipe
}

need_compilers
command -v rustup >/dev/null || by_properties "coverage needs a nightly Rust, and there is no rustup to install one"
rustup run nightly rustc --version >/dev/null 2>&1 || rustup toolchain install nightly --profile minimal ||
  by_properties "a nightly Rust cannot be installed"
export PATH="$CACHE/tools/bin:$PATH"
cargo fuzz --version >/dev/null 2>&1 || cargo install cargo-fuzz --locked --root "$CACHE/tools" ||
  by_properties "cargo-fuzz cannot be installed"

# Coverage builds cannot share compiled code with other builds.
export CARGO_TARGET_DIR="$CARGO_TARGET_DIR/fuzz"
mkdir -p "$CARGO_TARGET_DIR"
seeds="$CARGO_TARGET_DIR/seeds"
rm -rf "$seeds"
mkdir -p "$seeds/symbols" "$seeds/otlp" "$seeds/profiles"
# Small inputs run fast.
find fixtures/symbols -type f ! -name '*.zst' -size -200k -exec cp --backup=numbered -t "$seeds/symbols" {} +
find fixtures/otlp -type f -name '*.body' -size -200k -exec cp --backup=numbered -t "$seeds/otlp" {} +
for file in fixtures/profiles/*.pprof; do gzip -dc "$file" > "$seeds/profiles/$(basename "$file")"; done
if command -v zstd >/dev/null; then
  find fixtures/symbols -type f -name '*.zst' -size -60k | while read -r file; do
    zstd -dqf "$file" -o "$seeds/symbols/$(echo "${file#fixtures/}" | tr / _)"
  done
fi

needs_server() { grep -A2 "^name = \"$1\"" fuzz/Cargo.toml | grep -q required-features; }

run() {
  local target=$1 folder=otlp features=()
  needs_server "$target" && features=(--features server)
  [[ $target == symbols_* ]] && folder=symbols
  [[ $target == profiles ]] && folder=profiles
  local corpus="$CARGO_TARGET_DIR/corpus/$target"
  mkdir -p "$corpus"
  echo "== $target =="
  (cd fuzz && cargo +nightly fuzz run "${features[@]}" "$target" "$corpus" "$seeds/$folder" -- \
    -max_total_time="${FUZZ_SECONDS:-60}" -max_len=200000 -timeout=20 -rss_limit_mb=2048 -print_final_stats=1)
}

targets=("$@")
if [ ${#targets[@]} = 0 ]; then
  # Targets without the server first, because the others take many minutes to compile.
  large=()
  for target in $(cd fuzz && cargo fuzz list); do
    if needs_server "$target"; then large+=("$target"); else targets+=("$target"); fi
  done
  targets+=("${large[@]}")
fi
for target in "${targets[@]}"; do run "$target"; done
