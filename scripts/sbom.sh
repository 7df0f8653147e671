#!/usr/bin/env bash
# A bill of materials of each half, as CycloneDX: the crates of the binary and the npm packages of the UI, with versions,
# licences and checksums. Written to SBOM_DIR (sbom/).
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/setup.sh

folder="${SBOM_DIR:-sbom}"
mkdir -p "$folder"
export PATH="$CACHE/tools/bin:$PATH"
cargo cyclonedx --version >/dev/null 2>&1 ||
  CARGO_TARGET_DIR="$CACHE/tools/target" CARGO_PROFILE_DEV_DEBUG=0 \
    cargo install cargo-cyclonedx --locked --debug --quiet --root "$CACHE/tools"
cargo cyclonedx --manifest-path crates/server/Cargo.toml --format json --spec-version 1.5 --target x86_64-unknown-linux-gnu \
  --override-filename tidewatch.cdx --quiet
# The tool writes beside each manifest of the workspace.
mv crates/server/tidewatch.cdx.json "$folder/tidewatch.cdx.json"
find crates -name 'tidewatch.cdx.json' -delete
(cd web && npm sbom --silent --package-lock-only --omit dev --sbom-format cyclonedx) >"$folder/web.cdx.json"
ls -l "$folder"
