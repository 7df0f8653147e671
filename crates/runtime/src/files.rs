//! Files of the process: the data directory, file modes, free space, the limit on open files, and checksums.

use std::fs::{DirBuilder, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{Mode, statvfs};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit, umask};
use xxhash_rust::xxh3::Xxh3;

/// Size of a read, bytes.
const CHUNK_BYTES: usize = 1 << 20;

/// Creates the data directory, which contains telemetry and accounts, with mode 0700. An existing directory keeps its
/// mode. Fails if `path` is not a directory.
pub fn create_data_directory(path: &Path) -> io::Result<()> {
    if let Some(above) = path.parent() {
        std::fs::create_dir_all(above)?;
    }
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        made => made,
    }
}

/// The umask that the process was started with; [`u32::MAX`] before [`restrict_umask`].
static FIRST_UMASK: AtomicU32 = AtomicU32::new(u32::MAX);

/// Restricts subsequently created files to their owner (0600, directories 0700). Must be called before other threads
/// start.
pub fn restrict_umask() {
    let first = umask(Mode::RWXG | Mode::RWXO);
    umask(first | Mode::RWXG | Mode::RWXO);
    FIRST_UMASK.store(first.bits(), Ordering::Relaxed);
}

/// Sets the mode of a listening socket's file according to the umask that the process was started with, so that a proxy
/// of another user can open it. Does nothing before [`restrict_umask`].
pub fn set_socket_mode(path: &Path) -> io::Result<()> {
    match FIRST_UMASK.load(Ordering::Relaxed) {
        u32::MAX => Ok(()),
        first => std::fs::set_permissions(path, Permissions::from_mode(0o777 & !first)),
    }
}

/// Returns the bytes that this process can still write on the file system of `path`.
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    let system = statvfs(path)?;
    Ok(system.f_bavail.saturating_mul(system.f_frsize))
}

/// Raises the soft limit on open files to the hard limit, and logs a failure. Each connection is an open file; the soft
/// limit is often 1024.
pub fn raise_open_file_limit() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current == maximum {
        return;
    }
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        tracing::warn!(%error, "cannot open more than {current:?} files: {error}");
    }
}

/// Copies `from` to `to`. Returns the length in bytes and the XXH3-128 as 32 hex digits.
pub fn copy_hashed(mut from: impl Read, to: &mut dyn Write) -> io::Result<(u64, String)> {
    let (mut hasher, mut bytes, mut chunk) = (Xxh3::new(), 0, vec![0; CHUNK_BYTES]);
    loop {
        let read = match from.read(&mut chunk) {
            Ok(0) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        hasher.update(&chunk[..read]);
        to.write_all(&chunk[..read])?;
        bytes += read as u64;
    }
    Ok((bytes, format!("{:032x}", hasher.digest128())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_directory_is_created_for_its_owner_only() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mode = |path: &Path| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
        let data = folder.path().join("var/tidewatch");
        create_data_directory(&data).expect("it can be made");
        assert_eq!(mode(&data), 0o700);
        std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o750)).expect("it is ours");
        create_data_directory(&data).expect("it is there already");
        assert_eq!(mode(&data), 0o750);
        let file = folder.path().join("file");
        std::fs::write(&file, "").expect("it can be written");
        assert!(create_data_directory(&file).is_err());
    }
}
