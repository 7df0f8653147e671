//! Finds the built web UI and writes the table of files that `http/ui.rs` embeds. Never runs npm. Compresses the OpenAPI
//! document that `http/openapi.rs` embeds. Chooses options of the linker.
//!
//! Without `web/dist/index.html` the table holds one page that says how to build the UI; the API works all the same.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

const PLACEHOLDER: &str = "<!doctype html>
<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Tidewatch</title></head>
<body><h1>Tidewatch</h1><p>The UI is not part of this binary: run <code>make web</code> and build again.
The API works: see <a href=\"/api/openapi.json\">/api/openapi.json</a>.</p></body></html>
";

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let web = package.join("../../web");
    let dist = web.join("dist");
    println!("cargo:rerun-if-changed=build.rs");
    if web.is_dir() {
        // A watched path that does not exist would rebuild this crate every time; an empty folder is noticed when filled.
        let _ = fs::create_dir_all(&dist);
    }
    if dist.is_dir() {
        println!("cargo:rerun-if-changed={}", dist.display());
    }
    fold_identical_code();
    compress(&package.join("../../docs/openapi.json"), &out.join("openapi.json.gz"));
    let mut files = BTreeMap::new();
    if dist.join("index.html").is_file() {
        warn_when_stale(&web, &dist);
        find(&dist, &dist, &mut files).expect("web/dist can be read");
    } else {
        println!("cargo:warning=the web UI is not built: run `make web` (the API works without it)");
        let page = out.join("placeholder.html");
        write_if_changed(&page, PLACEHOLDER);
        files.insert("index.html".to_owned(), page);
    }
    write_if_changed(&out.join("ui_files.rs"), &table(&files));
}

/// Merges functions with identical code in release binaries: 1.1 MB. Only where rustc's own linker, LLD, is the default
/// and no other one is configured, because GNU ld has no such option.
fn fold_identical_code() {
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let has_other_linker = env::var_os("RUSTC_LINKER").is_some() || flags.contains("link");
    if is("TARGET", "x86_64-unknown-linux-gnu") && is("PROFILE", "release") && !has_other_linker {
        println!("cargo:rustc-link-arg-bins=-Wl,--icf=all");
    }
}

/// Writes the gzip form of `from`.
fn compress(from: &Path, to: &Path) {
    println!("cargo:rerun-if-changed={}", from.display());
    let text = fs::read(from).expect("docs/openapi.json can be read");
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&text).expect("writing to memory");
    fs::write(to, encoder.finish().expect("writing to memory")).expect("OUT_DIR can be written");
}

/// Every file under `folder`, by its path relative to `root`.
fn find(root: &Path, folder: &Path, files: &mut BTreeMap<String, PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            find(root, &path, files)?;
            continue;
        }
        let name = path.strip_prefix(root).expect("found under the root").to_string_lossy().replace('\\', "/");
        if !name.starts_with('.') {
            files.insert(name, path.canonicalize()?);
        }
    }
    Ok(())
}

/// Rust source: a slice of `File`. A file with a gzip sibling is embedded in compressed form only.
fn table(files: &BTreeMap<String, PathBuf>) -> String {
    let mut source = String::from("&[\n");
    for (name, path) in files {
        let sibling_of = |suffix: &str| name.strip_suffix(suffix).is_some_and(|original| files.contains_key(original));
        if sibling_of(".br") || sibling_of(".gz") {
            continue;
        }
        let sibling = |suffix: &str| match files.get(&format!("{name}{suffix}")) {
            Some(path) => format!("Some(include_bytes!({path:?}))"),
            None => "None".to_owned(),
        };
        let identity = match files.contains_key(&format!("{name}.gz")) {
            true => "None".to_owned(),
            false => format!("Some(include_bytes!({path:?}))"),
        };
        let hash = hex(&Sha256::digest(fs::read(path).expect("an embedded file can be read")));
        writeln!(
            source,
            "File {{ path: \"/{name}\", hash: \"{}\", identity: {identity}, brotli: {}, gzip: {} }},",
            &hash[..32],
            sibling(".br"),
            sibling(".gz")
        )
        .expect("writing to a string");
    }
    source + "]\n"
}

/// An unchanged file keeps its time, and the crate stays built.
fn write_if_changed(path: &Path, text: &str) {
    if fs::read(path).ok().as_deref() != Some(text.as_bytes()) {
        fs::write(path, text).expect("OUT_DIR can be written");
    }
}

/// Compares `dist/.srchash` with the sources, hashed as web/build/precompress.ts does.
fn warn_when_stale(web: &Path, dist: &Path) {
    let Ok(built) = fs::read_to_string(dist.join(".srchash")) else { return };
    if let Ok(now) = source_hash(web)
        && now != built.trim()
    {
        println!("cargo:warning=the web UI is older than its sources: run `make web`");
    }
}

fn source_hash(web: &Path) -> io::Result<String> {
    let mut files = BTreeMap::new();
    for folder in ["src", "public"] {
        find(web, &web.join(folder), &mut files)?;
    }
    for name in ["index.html", "package-lock.json", "vite.config.ts"] {
        files.insert(name.to_owned(), web.join(name));
    }
    let mut hash = Sha256::new();
    for (name, path) in files {
        hash.update(name.as_bytes());
        hash.update([0]);
        hash.update(fs::read(path)?);
        hash.update([0]);
    }
    Ok(hex(&hash.finalize()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
