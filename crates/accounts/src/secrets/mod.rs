//! Keys made on first start, in `secrets/` of the data directory, readable by the owner alone.
//!
//! [`seal`]: what they encrypt. [`totp`]: codes of authenticators. [`webauthn`]: passkeys.

pub mod given;
pub mod password;
pub mod seal;
pub mod totp;
pub mod webauthn;

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

const KEY_BYTES: usize = 32;

/// The key that signs logins; made when missing. Losing it signs everybody out, nothing more.
pub fn login_key(data_dir: &Path) -> io::Result<Vec<u8>> {
    key_file(data_dir, "login.key")
}

/// The key that secrets in the control database are sealed with; made when missing. Losing it loses what can only be
/// read with it: project tokens as people see them, second factors, mail that waits.
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
    // Written aside and renamed, so that a crash leaves no short key behind.
    let aside = folder.join(format!("{name}.new"));
    let mut file = fs::OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&aside)?;
    file.write_all(&key)?;
    file.sync_all()?;
    fs::rename(&aside, &path)?;
    Ok(key)
}
