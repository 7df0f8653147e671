#!/usr/bin/env bash
# Every test of the project. Installs what a bare Debian machine lacks (a browser, PostgreSQL, languages); needs Rust,
# Node, make and git.
#
# ONLY names parts, with commas: lints, dependencies, web, rust, browser.
# ONLY=rust/server-it runs one test binary, ONLY=rust/server-it/times:: the tests of one file in it,
# ONLY=browser/charts one file of browser tests.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/setup.sh

ONLY="${ONLY:-lints,dependencies,web,rust,browser}"
# Logs, screenshots and traces of this run. The next run replaces them.
export TIDEWATCH_TEST_RESULTS="${TIDEWATCH_TEST_RESULTS:-$CACHE/test-results}"
rm -rf "$TIDEWATCH_TEST_RESULTS"
mkdir -p "$TIDEWATCH_TEST_RESULTS"
TIMES="$TIDEWATCH_TEST_RESULTS/times"
NOT_DONE="$TIDEWATCH_TEST_RESULTS/not-done"
touch "$TIMES" "$NOT_DONE"
# A fresh clone gains nothing from incremental compilation, which costs time and disk space.
if [ -n "${CI:-}" ]; then export CARGO_INCREMENTAL=0; fi

# The last lines of every run: durations, what was not done, the folder of results.
finish() {
  local status=$?
  printf '\n== time in seconds ==\n'
  awk '$1 >= 5 { printf "%6d  %s\n", $1, substr($0, length($1) + 2) }' "$TIMES"
  printf '%6d  %s\n' "$SECONDS" total
  if [ -s "$NOT_DONE" ]; then
    printf '\nnot done: %d\n' "$(wc -l <"$NOT_DONE")"
    sed 's/^/  /' "$NOT_DONE"
  fi
  if [ "$status" = 0 ]; then
    printf '\nall passed\n'
  else
    printf '\nfailed; logs, screenshots and traces: %s\n' "$TIDEWATCH_TEST_RESULTS"
  fi
}
trap finish EXIT

# timed PART NAME COMMAND...: runs the command and records its duration.
timed() {
  local part=$1 name=$2 began=$SECONDS
  shift 2
  printf '\n== %s: %s ==\n' "$part" "$name"
  local status=0
  "$@" || status=$?
  echo "$((SECONDS - began)) $part $name" >>"$TIMES"
  return "$status"
}

chosen() { [[ ",$ONLY" == *",$1,"* || ",$ONLY," == *",$1,"* || ",$ONLY" == *",$1/"* ]]; }

# The rest of ONLY after the part: `server-it/times` of `rust/server-it/times`.
rest_of() { tr ',' '\n' <<<"$ONLY" | sed -n "s#^$1/##p" | head -n 1; }

# The functions below join commands by &&: `timed` reads their status, which switches `set -e` off in them.
licences() {
  # Also the crates of other platforms, which the build has not downloaded.
  cargo fetch --locked --quiet &&
    cargo deny --offline --locked check licenses bans sources
}

# The advisory databases are separate repositories: without a network the advisories are not checked.
advisories() {
  if timeout 120 cargo deny fetch db >/dev/null 2>&1; then
    cargo deny --offline --locked check advisories || return
  else
    echo "advisories of crates: their database cannot be fetched" >>"$NOT_DONE"
  fi
  npm --prefix web run --silent audit
}

# Clippy's driver compiles what rustc compiles and reports its lints: one pass over the workspace for both.
linted_cargo() { RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-Dwarnings cargo "$@"; }

compile_tests() {
  linted_cargo test --workspace --all-targets --locked --no-run --message-format=json-render-diagnostics >"$TIDEWATCH_TEST_RESULTS/binaries.json"
}

# Temporary files of tests are in memory where it is large: no test depends on a real disk, they end processes or
# simulate what a disk does.
temporary_folder() {
  local free
  free=$(df --block-size=1G --output=avail /dev/shm 2>/dev/null | tail -n 1)
  if [ "${free:-0}" -ge 8 ]; then echo /dev/shm; else echo "${TMPDIR:-/tmp}"; fi
}

run_rust_tests() {
  TMPDIR=$(temporary_folder) node scripts/rust-tests.mjs "$TIDEWATCH_TEST_RESULTS/binaries.json" "$TIDEWATCH_TEST_RESULTS" "$(rest_of rust)"
}

# The binary of the Rust tests, because building it alone would compile its dependencies with other features.
run_browser_tests() {
  local file
  file=$(rest_of browser)
  (cd web && TMPDIR=$(temporary_folder) TIDEWATCH_BIN="$CARGO_TARGET_DIR/debug/tidewatch" npm run --silent e2e -- ${file:+"$file"})
}

timed set-up packages need_system_packages
if chosen browser; then timed set-up languages need_snippet_languages; fi
timed set-up web need_web
need_own_build

if chosen lints; then
  timed lints format cargo fmt --all --check
  # Otherwise the compilation of the tests below lints every target.
  if ! chosen rust && ! chosen browser; then
    timed lints clippy cargo clippy --workspace --all-targets --locked -- -D warnings
  fi
fi

if chosen dependencies; then
  timed dependencies cargo-deny need_cargo_deny
  timed dependencies licences licences
  timed dependencies advisories advisories
fi

if chosen web; then
  timed web check npm --prefix web run --silent check
  timed web unit npm --prefix web test --silent
fi

# The server embeds the built UI.
if chosen web || chosen rust || chosen browser; then timed web build make --silent web; fi
if chosen web; then timed web budget npm --prefix web run --silent budget; fi

if chosen rust || chosen browser; then timed rust compile compile_tests; fi
# A failed Rust test does not hide what the browser tests find.
failed=0
if chosen rust; then
  timed rust tests run_rust_tests || failed=1
  # Crates without examples switch their documentation tests off.
  timed rust documentation linted_cargo test --workspace --doc --locked || failed=1
fi
if chosen browser; then timed browser tests run_browser_tests || failed=1; fi
exit "$failed"
