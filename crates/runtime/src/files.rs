//! What the process asks of the system for its files: as many open ones as it is allowed, and files nobody else reads;
//! checksums of files.

use std::fs::{DirBuilder, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{Mode, statvfs};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit, umask};
use xxhash_rust::xxh3::Xxh3;

/// Bytes read at a time.
const PIECE_BYTES: usize = 1 << 20;

/// Makes the data directory, readable to its owner alone: telemetry and accounts lie in it. One that is there stays as
/// its owner made it.
pub fn make_data_directory(path: &Path) -> io::Result<()> {
    if let Some(above) = path.parent() {
        std::fs::create_dir_all(above)?;
    }
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        made => made,
    }
}

/// What the process was started with; [`u32::MAX`]: as it still is.
static FIRST_UMASK: AtomicU32 = AtomicU32::new(u32::MAX);

/// Files made from now on are readable to their owner alone (0600, folders 0700). Call it before there are other threads.
pub fn keep_new_files_private() {
    let first = umask(Mode::RWXG | Mode::RWXO);
    umask(first | Mode::RWXG | Mode::RWXO);
    FIRST_UMASK.store(first.bits(), Ordering::Relaxed);
}

/// Gives a listening socket's file the mode that the operator's own umask gives it: a proxy of another user opens it.
pub fn open_socket_file(path: &Path) -> io::Result<()> {
    match FIRST_UMASK.load(Ordering::Relaxed) {
        u32::MAX => Ok(()),
        first => std::fs::set_permissions(path, Permissions::from_mode(0o777 & !first)),
    }
}

/// Bytes that this process may still write on the file system of the path.
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    let system = statvfs(path)?;
    Ok(system.f_bavail.saturating_mul(system.f_frsize))
}

/// Raises the soft limit to the hard one. Each connection is an open file; the soft limit is often 1024.
pub fn allow_as_many_as_possible() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current == maximum {
        return;
    }
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        tracing::warn!(%error, "cannot open more than {current:?} files: {error}");
    }
}

/// Copies everything to `to`; returns its length and its XXH3-128 as 32 hex digits.
pub fn copy_hashed(mut from: impl Read, to: &mut dyn Write) -> io::Result<(u64, String)> {
    let (mut hasher, mut bytes, mut piece) = (Xxh3::new(), 0, vec![0; PIECE_BYTES]);
    loop {
        let read = match from.read(&mut piece) {
            Ok(0) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        hasher.update(&piece[..read]);
        to.write_all(&piece[..read])?;
        bytes += read as u64;
    }
    Ok((bytes, format!("{:032x}", hasher.digest128())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_directory_is_its_owners_alone() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mode = |path: &Path| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
        let data = folder.path().join("var/tidewatch");
        make_data_directory(&data).expect("it can be made");
        assert_eq!(mode(&data), 0o700);
        std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o750)).expect("it is ours");
        make_data_directory(&data).expect("it is there already");
        assert_eq!(mode(&data), 0o750);
        let file = folder.path().join("file");
        std::fs::write(&file, "").expect("it can be written");
        assert!(make_data_directory(&file).is_err());
    }
}
