//! What the process asks of the system for its files: as many open ones as it is allowed, and a folder nobody else reads.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

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
