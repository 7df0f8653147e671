//! Following changes by other nodes and by the command line: the directory is reloaded when its version has changed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};

use tokio::runtime::Handle;

use super::seam::Database;
use crate::{ControlError, directory};
use tidewatch_limits as limits;

impl Database {
    /// Follows changes by other nodes and the command line every [`limits::DIRECTORY_PAUSE`], until `shutdown` is closed
    /// or the last [`Database`] is dropped.
    ///
    /// A thread measures the time and each poll runs as blocking work, because tests pause the timers of the runtime.
    pub fn follow(&self, shutdown: Receiver<()>) -> std::io::Result<()> {
        let (database, runtime) = (self.downgrade(), Handle::current());
        std::thread::Builder::new().name("directory".to_owned()).spawn(move || {
            let is_readable = Arc::new(AtomicBool::new(true));
            while let (Err(RecvTimeoutError::Timeout), Some(database)) =
                (shutdown.recv_timeout(limits::DIRECTORY_PAUSE), database.upgrade())
            {
                let (runtime_inside, is_readable) = (runtime.clone(), is_readable.clone());
                runtime.spawn_blocking(move || runtime_inside.block_on(poll(&database, &is_readable)));
            }
        })?;
        Ok(())
    }

    async fn refresh_if_changed(&self) -> Result<(), ControlError> {
        let version = directory::version(self.pool()).await?;
        let known = self.directory().read().version();
        if version == known { Ok(()) } else { self.refresh().await }
    }
}

/// Reloads the directory if it has changed. Logs the first of consecutive failures.
async fn poll(database: &Database, is_readable: &AtomicBool) {
    let polled = database.refresh_if_changed().await;
    let was_readable = is_readable.swap(polled.is_ok(), Ordering::Relaxed);
    if let (Err(error), true, false) = (polled, was_readable, database.pool().is_closed()) {
        tracing::error!("the control database cannot be read; what is in memory stays in force: {error}");
    }
}
