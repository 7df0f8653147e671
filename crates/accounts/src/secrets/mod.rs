//! Keys generated on first start, in `secrets/` of the data directory, readable by the owner only; and cryptography.
//!
//! [`seal`]: encryption of secrets. [`password`]: password hashes. [`totp`]: codes of authenticators. [`webauthn`]:
//! passkeys. [`tokens`]: generation and hashes of tokens. [`secret_settings`]: secrets of the configuration.
//!
//! Invariants: files of keys have mode 0600; a sealed value opens only for the purpose it was sealed for.

pub mod password;
pub mod seal;
pub mod secret_settings;
pub mod tokens;
pub mod totp;
pub mod webauthn;

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

const KEY_BYTES: usize = 32;

/// Returns the key that signs logins; generated when missing. Losing it signs all users out, nothing more.
pub fn login_key(data_dir: &Path) -> io::Result<Vec<u8>> {
    key_file(data_dir, "login.key")
}

/// Returns the key that seals secrets in the control database; generated when missing. Losing it loses the sealed data:
/// displayed project tokens, second factors, unsent mail.
pub fn sealing_key(data_dir: &Path) -> io::Result<Vec<u8>> {
    key_file(data_dir, "sealing.key")
}

fn key_file(data_dir: &Path, name: &str) -> io::Result<Vec<u8>> {
    let folder = data_dir.join("secrets");
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    let path = folder.join(name);
    match fs::read(&path) {
        Ok(key) if key.len() >= KEY_BYTES => return Ok(key),
        Ok(_) => return Err(io::Error::other(format!("{} is too short to be a key", path.display()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let mut key = vec![0; KEY_BYTES];
    getrandom::fill(&mut key).map_err(|error| io::Error::other(error.to_string()))?;
    // Written to a temporary file and renamed, so that a crash leaves no partial key.
    let temporary = folder.join(format!("{name}.new"));
    let mut file = fs::OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&temporary)?;
    file.write_all(&key)?;
    file.sync_all()?;
    fs::rename(&temporary, &path)?;
    Ok(key)
}
