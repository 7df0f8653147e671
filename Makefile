# Thin: every line is a command one could type.
# Compiled third-party code lives outside the checkout, so that a warm run takes minutes.
CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/tidewatch
export CARGO_TARGET_DIR ?= $(CACHE)/target
DATA_DIR ?= ./data
LISTEN ?= 127.0.0.1:8080
BIN_RELEASE = $(CARGO_TARGET_DIR)/release/tidewatch

.PHONY: compilers run test dev demo bench web check snapshots sbom release fuzz clean

## Start the server with embedded storage; prints the URL and how to send the first span.
run: compilers web
	cargo build --release --locked --bin tidewatch
	$(BIN_RELEASE) serve --listen $(LISTEN) --data-dir $(DATA_DIR)

# What some crates need, installed when it is missing; and no compiled code of another checkout.
compilers:
	@bash -c 'source scripts/setup.sh && need_compilers && need_own_build'

## Every test: Rust, web, browser. Installs what it needs.
test:
	bash scripts/test.sh

## Live-reload UI on http://127.0.0.1:5173 against a local server.
dev: web/node_modules/.installed
	bash scripts/dev.sh

## Realistic sample traffic into a running server (TIDEWATCH_URL, TIDEWATCH_TOKEN). INCIDENT=name says what goes wrong in it.
demo: compilers
	cargo build --release --locked --bin tidewatch
	$(BIN_RELEASE) demo --url http://$(LISTEN) $(if $(INCIDENT),--incident $(INCIDENT)) $(DEMO_ARGS)

## Every performance goal, measured: one table. QUICK=1 takes five minutes, SPANS=n sets the data's size, ONLY=G5,G8a,symbols some goals.
bench:
	bash scripts/bench.sh

## Formatting, lints, types: what a reviewer's machine would say first.
check: web/node_modules/.installed
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cd web && npm run --silent check

## Regenerate what tests compare: docs/openapi.json, docs/operate/limits.md, docs/operate/configuration.md, the typed client.
snapshots:
	# A rewritten snapshot fails its test, so that nobody forgets to look at the change.
	-UPDATE_SNAPSHOTS=1 cargo test --locked --workspace snapshot
	cd web && npm run --silent gen

## What the binary is made of, as CycloneDX: sbom/*.cdx.json.
sbom:
	bash scripts/sbom.sh

## The files of a release, with checksums, bills of materials, provenance and a signature by RELEASE_KEY: release/.
release:
	bash scripts/release.sh

## Fuzzing of every parser of outside bytes, FUZZ_SECONDS a target; installs nightly Rust and cargo-fuzz, or says why not.
fuzz:
	bash scripts/fuzz.sh

web: web/dist/index.html

web/dist/index.html: web/node_modules/.installed $(shell find web/src web/public web/index.html web/vite.config.ts -type f 2>/dev/null)
	cd web && npm run --silent build
	@touch $@

web/node_modules/.installed: web/package.json web/package-lock.json
	cd web && PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm ci --no-audit --no-fund
	@touch $@

clean:
	rm -rf web/dist web/node_modules
	cargo clean
