//! Secrets that an operator gives: as a setting, or in a file that a setting names.

use std::path::PathBuf;

use anyhow::{Context, ensure};

use tidewatch_limits as limits;

/// A secret setting, or what is in its file.
pub fn given(value: &Option<String>, file: &Option<PathBuf>, what: &str) -> anyhow::Result<Option<String>> {
    let text = match (value, file) {
        (Some(value), _) => value.clone(),
        (None, Some(path)) => {
            std::fs::read_to_string(path).with_context(|| format!("cannot read the {what} from {}", path.display()))?
        }
        (None, None) => return Ok(None),
    };
    Ok(Some(text.trim().to_owned()))
}

/// The same for a key that signs or seals, which must not be short.
pub fn key(value: &Option<String>, file: &Option<PathBuf>, what: &str) -> anyhow::Result<Option<Vec<u8>>> {
    let Some(key) = given(value, file, what)? else { return Ok(None) };
    let least = limits::LOGIN_KEY_BYTES_MIN;
    ensure!(key.len() >= least, "the {what} is shorter than {least} bytes");
    Ok(Some(key.into_bytes()))
}
