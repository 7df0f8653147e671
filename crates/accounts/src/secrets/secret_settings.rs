//! Secrets that the operator configures: as a setting, or in a file that a setting names.

use std::path::PathBuf;

use anyhow::{Context, ensure};

use tidewatch_limits as limits;

/// Returns a secret setting or the content of its file, without surrounding white space; `None` if neither is set.
/// `what` is its name in errors. Fails if the file cannot be read.
pub fn secret_setting(value: &Option<String>, file: &Option<PathBuf>, what: &str) -> anyhow::Result<Option<String>> {
    let text = match (value, file) {
        (Some(value), _) => value.clone(),
        (None, Some(path)) => {
            std::fs::read_to_string(path).with_context(|| format!("cannot read the {what} from {}", path.display()))?
        }
        (None, None) => return Ok(None),
    };
    Ok(Some(text.trim().to_owned()))
}

/// Like [`secret_setting`], for a key that signs or seals. Fails if it is shorter than [`limits::LOGIN_KEY_BYTES_MIN`].
pub fn key_setting(value: &Option<String>, file: &Option<PathBuf>, what: &str) -> anyhow::Result<Option<Vec<u8>>> {
    let Some(key) = secret_setting(value, file, what)? else { return Ok(None) };
    let bytes_min = limits::LOGIN_KEY_BYTES_MIN;
    ensure!(key.len() >= bytes_min, "the {what} is shorter than {bytes_min} bytes");
    Ok(Some(key.into_bytes()))
}
