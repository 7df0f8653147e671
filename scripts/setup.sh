# Shared by the scripts: the cache of compiled code, and installation of dependencies. Sourced, not run.
CACHE="${XDG_CACHE_HOME:-$HOME/.cache}/tidewatch"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$CACHE/target}"
export PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1
mkdir -p "$CACHE"

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; elif command -v sudo >/dev/null; then sudo "$@"; else
    echo "need root (or sudo) to run: $*" >&2
    return 1
  fi
}

# Discards compiled code of another checkout. Cargo identifies a package by its path within the workspace and compares
# times, so with two checkouts on one cache the older would run the tests and the binary of the newer.
need_own_build() {
  local checkout stamp="$CARGO_TARGET_DIR/.checkout"
  checkout="$(pwd -P)"
  [ "$(cat "$stamp" 2>/dev/null)" = "$checkout" ] && return 0
  local packages=()
  for manifest in crates/*/Cargo.toml; do packages+=(-p "tidewatch-$(basename "$(dirname "$manifest")")"); done
  cargo clean --quiet "${packages[@]}"
  cargo clean --quiet --release "${packages[@]}"
  mkdir -p "$CARGO_TARGET_DIR"
  echo "$checkout" >"$stamp"
}

# The C and C++ compilers for some dependencies (SQLite, zstd, Swift's demangler).
need_compilers() {
  { command -v cc && command -v c++; } >/dev/null || install build-essential
}

install() {
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
}

# Whether one version of LLVM has all tools for crates/symbols/tests/differential.
has_llvm() {
  local bin
  for bin in /usr/lib/llvm-*/bin; do
    [ -x "$bin/clang" ] && [ -x "$bin/ld64.lld" ] && [ -x "$bin/ld.lld" ] && [ -x "$bin/dsymutil" ] &&
      [ -x "$bin/llvm-symbolizer" ] && return 0
  done
  return 1
}

# The languages of the Connect page's snippets, which web/e2e/snippets.spec.ts runs or parses.
need_snippet_languages() {
  local missing=()
  command -v javac >/dev/null || missing+=(default-jdk-headless)
  command -v ruby >/dev/null || missing+=(ruby)
  command -v php >/dev/null || missing+=(php-cli)
  command -v elixir >/dev/null || missing+=(elixir)
  command -v go >/dev/null || missing+=(golang-go)
  [ ${#missing[@]} -eq 0 ] || install "${missing[@]}"
  need_go
}

# Go 1.21 downloads the release that a module requires. For an older one, this downloads that release as a module with its
# checksum in the public database.
GO=1.26.8
need_go() {
  local minor
  minor=$(go env GOVERSION | sed -E 's/^go1\.([0-9]+).*/\1/')
  [ "$minor" -lt 21 ] || return 0
  local release="golang.org/toolchain@v0.0.1-go$GO.$(go env GOOS)-$(go env GOARCH)"
  GOMODCACHE="$CACHE/go/mod" GOFLAGS=-modcacherw go mod download "$release"
  chmod +x "$CACHE/go/mod/$release"/bin/* "$CACHE/go/mod/$release"/pkg/tool/*/*
  export PATH="$CACHE/go/mod/$release/bin:$PATH"
}

# Debian packages that the tests use: a browser, Python with venv for a real OpenTelemetry SDK, PostgreSQL, curl for the
# upload scripts of app teams, ssh-keygen for signatures of releases, and LLVM, which builds and symbolizes Mach-O and ELF images.
need_system_packages() {
  local missing=()
  [ -x /usr/bin/chromium ] || missing+=(chromium fonts-liberation)
  [ -x /usr/bin/chromium-headless-shell ] || missing+=(chromium-headless-shell)
  command -v python3 >/dev/null || missing+=(python3 python3-venv)
  compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null || missing+=(postgresql)
  command -v curl >/dev/null || missing+=(curl)
  command -v ssh-keygen >/dev/null || missing+=(openssh-client)
  command -v valgrind >/dev/null || missing+=(valgrind)
  has_llvm || missing+=(clang lld llvm)
  need_compilers
  [ ${#missing[@]} -eq 0 ] || install "${missing[@]}"
}

# The tool that checks licenses, sources and advisories of dependencies. Unoptimized, because it runs for two seconds and
# compiles in less than two minutes that way.
CARGO_DENY=0.20.2
need_cargo_deny() {
  export PATH="$CACHE/tools/bin:$PATH"
  [ "$(cargo deny --version 2>/dev/null)" = "cargo-deny $CARGO_DENY" ] ||
    CARGO_TARGET_DIR="$CACHE/tools/target" CARGO_PROFILE_DEV_DEBUG=0 \
      cargo install cargo-deny --version "$CARGO_DENY" --locked --debug --force --quiet --root "$CACHE/tools"
}

# The UI's packages, exactly as locked.
need_web() {
  make --silent web/node_modules/.installed
}
