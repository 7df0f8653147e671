//! Sources of a backup: the store of the running server, or a data directory that no process uses.

use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use tidewatch_journal::DurableSegment;
use tidewatch_lake::Lake;
use tidewatch_lake::check::copy_idle_catalog;
use tokio::runtime::Handle;

use crate::config::Config;
use crate::contexts::{Accounts, Ingest};
use tidewatch_accounts::Location;

/// A store that can be copied. Every method blocks.
pub trait Source {
    /// Prevents parts and key files from being unlinked until the value is dropped.
    fn hold_files(&self) -> Box<dyn Any>;

    /// Prevents journal segments from being removed or reused until the value is dropped.
    fn hold_journal(&self) -> Box<dyn Any>;

    /// Copies the catalog to the file `to`.
    fn copy_catalog(&self, to: &Path) -> anyhow::Result<()>;

    /// Copies the control database to the file `to`. Returns false if it is in PostgreSQL.
    fn copy_control(&self, to: &Path) -> anyhow::Result<bool>;

    /// The journal's segments with their current durable lengths.
    fn segments(&self) -> anyhow::Result<Vec<DurableSegment>>;
}

/// The store of this process.
#[derive(Clone)]
pub struct Serving {
    /// The embedded engine.
    pub lake: Arc<Lake>,
    /// The journal.
    pub ingest: Arc<Ingest>,
    /// The control database.
    pub accounts: Arc<Accounts>,
    /// The runtime that async calls run on.
    pub runtime: Handle,
}

impl Source for Serving {
    fn hold_files(&self) -> Box<dyn Any> {
        Box::new(self.lake.hold_files())
    }

    fn hold_journal(&self) -> Box<dyn Any> {
        Box::new(self.ingest.durable_store.pause_trim())
    }

    fn copy_catalog(&self, to: &Path) -> anyhow::Result<()> {
        Ok(self.lake.copy_catalog(to)?)
    }

    fn copy_control(&self, to: &Path) -> anyhow::Result<bool> {
        Ok(self.runtime.block_on(self.accounts.control.database().copy_to(to))?)
    }

    fn segments(&self) -> anyhow::Result<Vec<DurableSegment>> {
        Ok(self.ingest.durable_store.durable_segments())
    }
}

/// A data directory that no process uses. The caller holds its lock.
pub struct Idle {
    data: PathBuf,
    control: Location,
    runtime: tokio::runtime::Runtime,
}

impl Idle {
    /// `config`: the effective settings. An error if the control database's settings cannot be read.
    pub fn new(config: &Config) -> anyhow::Result<Idle> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        Ok(Idle {
            data: config.data_dir.clone(),
            control: config.control_database()?,
            runtime: runtime.context("cannot start a runtime")?,
        })
    }
}

impl Source for Idle {
    fn hold_files(&self) -> Box<dyn Any> {
        Box::new(())
    }

    fn hold_journal(&self) -> Box<dyn Any> {
        Box::new(())
    }

    fn copy_catalog(&self, to: &Path) -> anyhow::Result<()> {
        Ok(copy_idle_catalog(&self.data.join("catalog.sqlite"), to)?)
    }

    fn copy_control(&self, to: &Path) -> anyhow::Result<bool> {
        Ok(self.runtime.block_on(tidewatch_accounts::copy_database(&self.control, to))?)
    }

    fn segments(&self) -> anyhow::Result<Vec<DurableSegment>> {
        let folder = self.data.join("journal");
        let mut segments = Vec::new();
        for entry in std::fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))? {
            let entry = entry?;
            let path = entry.path();
            if path.extension().is_some_and(|extension| extension == "segment") {
                segments.push(DurableSegment { path, bytes: entry.metadata()?.len() });
            }
        }
        segments.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(segments)
    }
}
