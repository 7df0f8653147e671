//! How many files and connections the process may have open: as many as the system allows it.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

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
