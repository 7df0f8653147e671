//! Finds and reads fixtures, compressed or not.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use serde::de::DeserializeOwned;

/// The folders of fixtures: the repository's, and the one named by the environment.
pub fn roots() -> &'static [PathBuf] {
    static ROOTS: OnceLock<Vec<PathBuf>> = OnceLock::new();
    ROOTS.get_or_init(|| {
        let mut roots = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/symbols")];
        match std::env::var_os("TIDEWATCH_SYMBOLS_DIR") {
            Some(dir) => roots.push(dir.into()),
            None => eprintln!("TIDEWATCH_SYMBOLS_DIR is not set: testing on fixtures/symbols alone"),
        }
        roots
    })
}

/// The content of a file, stored uncompressed, as `.zst` or as `.xz`.
pub fn read(path: &Path) -> Option<Vec<u8>> {
    if let Ok(bytes) = std::fs::read(path) {
        return Some(match path.extension().and_then(|e| e.to_str()) {
            Some("zst") => zstd::decode_all(&bytes[..]).expect("a fixture is valid zstd"),
            Some("xz") => unxz(path),
            _ => bytes,
        });
    }
    let with = |extension: &str| PathBuf::from(format!("{}.{extension}", path.display()));
    [with("zst"), with("xz")].iter().find(|p| p.exists()).and_then(|p| read(p))
}

fn unxz(path: &Path) -> Vec<u8> {
    let output = Command::new("xz").arg("-dc").arg(path).output().expect("xz is installed");
    assert!(output.status.success(), "cannot decompress {}", path.display());
    output.stdout
}

pub fn json<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let bytes = read(path)?;
    Some(serde_json::from_slice(&bytes).unwrap_or_else(|e| panic!("{}: {e}", path.display())))
}

/// The files below a folder, without the extensions of compression.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match path.is_dir() {
                true => folders.push(path),
                false => found.push(match path.extension().and_then(|e| e.to_str()) {
                    Some("zst" | "xz") => path.with_extension(""),
                    _ => path,
                }),
            }
        }
    }
    found.sort();
    found
}
