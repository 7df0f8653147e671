#!/usr/bin/env bash
# Every test of the project. Installs what a bare Debian machine lacks (a browser, PostgreSQL, languages); needs Rust, Node, make and git.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/setup.sh

step() { printf '\n== %s ==\n' "$*"; }

step "set-up"
need_system_packages
need_snippet_languages
need_web
need_own_build

step "format and lints"
cargo fmt --all --check
cargo clippy --workspace --all-targets --locked -- -D warnings

step "dependencies: licences, sources, advisories"
need_cargo_deny
# Also the crates of other platforms, which the build has not downloaded.
cargo fetch --locked --quiet
cargo deny --offline --locked check licenses bans sources
# The advisory database is a separate repository; without a network the advisories are not checked.
if timeout 120 cargo deny fetch db >/dev/null 2>&1; then
  cargo deny --offline --locked check advisories
else
  echo "advisories: their database cannot be had here; not checked"
fi

# The registry has the advisories of the packages that reach the browser; without a network they are not checked.
(cd web && npm run --silent audit)

step "web: types, lints, unit tests"
(cd web && npm run --silent check && npm test --silent)

step "web: build and budgets"
make --silent web
(cd web && npm run --silent budget)

step "rust tests"
cargo test --workspace --locked

step "browser tests"
# The binary of the Rust tests, because building it alone would compile its dependencies with other features.
(cd web && TIDEWATCH_BIN="$CARGO_TARGET_DIR/debug/tidewatch" npm run --silent e2e)

step "all passed"
