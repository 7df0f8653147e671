#!/usr/bin/env bash
# Creates the files of a release in RELEASE_DIR (release/): the binary, the bills of materials, checksums, provenance, and
# a signature by RELEASE_KEY (see scripts/sign-release.sh). Requires a clean checkout of the released commit.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/setup.sh
: "${RELEASE_KEY:?the SSH key that signs}"
[ -z "$(git status --porcelain)" ] || { echo "the checkout differs from its commit: commit or remove what git status names" >&2; exit 1; }

folder="${RELEASE_DIR:-release}"
mkdir -p "$folder"
[ -z "$(ls -A "$folder")" ] || { echo "$folder is not empty" >&2; exit 1; }
need_compilers
need_web
need_own_build
make --silent web
# Reproducible: the same commit and compilers give the same bytes on any machine.
export SOURCE_DATE_EPOCH
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export RUSTFLAGS="--remap-path-prefix=$PWD=/src --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo"
cargo build --release --locked --bin tidewatch
cp "$CARGO_TARGET_DIR/release/tidewatch" "$folder/tidewatch-$(uname -m)-linux"
SBOM_DIR="$folder" bash scripts/sbom.sh
bash scripts/sign-release.sh "$folder" "$RELEASE_KEY"
