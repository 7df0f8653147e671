//! Applies changes of projects' retention to the store, and removes the data of deleted projects.
//!
//! The retention of a project is a setting in the control database; the store removes the rows
//! (`lake/retention/delete_rows.rs`). This task passes the settings to the store periodically, so no change is lost
//! when the process ends. Rows past retention are hidden from queries at once, removed or not. A deleted project is
//! processed until none of its data is left in this data directory and no more can arrive; then the store records that
//! it is purged.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use tidewatch_store::days::day_of;
use tokio::sync::watch;

use crate::contexts::Ingest;
use tidewatch_limits as limits;
use tidewatch_query::context::QueryContext;
use tidewatch_query::retention::retention_of;

/// The day and the deleted projects for which the journal was tidied. When they change, covered exports are removed
/// from the journal, which has them as received.
#[derive(Default)]
pub struct TidiedFor(Mutex<Option<(i32, BTreeSet<u32>)>>);

/// Applies changes every [`limits::RETENTION_PAUSE`] until `stopped`.
pub async fn run(query: Arc<QueryContext>, ingest: Arc<Ingest>, mut stopped: watch::Receiver<bool>) {
    let tidied = Arc::new(TidiedFor::default());
    loop {
        let (query, ingest, tidied) = (query.clone(), ingest.clone(), tidied.clone());
        match tokio::task::spawn_blocking(move || apply(&query, &ingest, &tidied)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::error!("deleted projects cannot be purged yet: {error:#}"),
            Err(error) => tracing::error!(%error, "purging deleted projects failed: {error}"),
        }
        tokio::select! {
            () = tokio::time::sleep(limits::RETENTION_PAUSE) => {}
            _ = stopped.wait_for(|stop| *stop) => return,
        }
    }
}

/// Passes retention settings to the store, and removes uploads of deleted projects. Blocks.
pub fn apply(query: &QueryContext, ingest: &Ingest, tidied: &TidiedFor) -> anyhow::Result<()> {
    let store = &query.store;
    let purged = store.purged()?;
    let retention = retention_of(&query.projects, &purged);
    let now = Some((day_of(query.clock.now_ns()), retention.deleted_projects.clone()));
    let before = std::mem::replace(&mut *tidied.0.lock(), now.clone());
    ingest.durable_store.tidy_journal(before != now);
    store.set_project_retention(retention);
    let delay_ns = i64::try_from(limits::PURGE_DELAY.as_nanos()).unwrap_or(i64::MAX);
    for deleted in query.projects.deleted_projects().iter().filter(|deleted| !purged.contains(&deleted.number)) {
        if let Some(id) = deleted.id {
            ingest.symbols.remove_all(id)?;
        }
        let is_due = query.clock.now_ns().saturating_sub(deleted.deleted_ns) >= delay_ns;
        if is_due && !store.holds(deleted.number, Instant::now() + limits::PURGE_CHECK_MAX)? {
            store.set_purged(deleted.number)?;
            let project = deleted.number;
            tracing::info!(project, "nothing of the deleted project {project} is left here");
        }
    }
    Ok(())
}
