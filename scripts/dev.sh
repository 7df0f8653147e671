#!/usr/bin/env bash
# The UI with live reload on http://127.0.0.1:5173, against a debug server with data of its own. Ctrl-C ends both.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/setup.sh

LISTEN="${LISTEN:-127.0.0.1:8080}"
need_web
need_own_build
cargo build --locked --bin tidewatch
"$CARGO_TARGET_DIR/debug/tidewatch" serve --listen "$LISTEN" --data-dir data/dev &
server=$!
trap 'kill "$server" 2>/dev/null; wait "$server"' EXIT
cd web
TIDEWATCH_URL="http://$LISTEN" npm run --silent dev
