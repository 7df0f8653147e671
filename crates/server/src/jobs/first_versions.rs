//! Stores the first sights of versions that the ingest path has found (`ingest/first_versions.rs`).

use std::collections::HashSet;
use std::sync::Arc;

use tidewatch_store::columns::Sender;
use tidewatch_store::plan::{Function, Key, KeySource};
use tidewatch_store::tables::Table;
use tokio::sync::watch;

use crate::contexts::Ingest;
use tidewatch_accounts::FirstVersion;
use tidewatch_limits as limits;
use tidewatch_query::context::QueryContext;
use tidewatch_query::error::QueryError;
use tidewatch_query::executor::Executor;
use tidewatch_query::time::Range;
use tidewatch_query::{filters, plans};

/// Output columns of [`counted`].
const SENDER: &str = "sender";
const FIRST: &str = "first";

/// Looks for versions that were not stored before the process ended, then stores new ones as they arrive, until
/// `stopped`.
pub async fn run(query: Arc<QueryContext>, ingest: Arc<Ingest>, mut stopped: watch::Receiver<bool>) {
    for project in query.projects.all_projects() {
        match counted(&query, &ingest, project.number).await {
            Ok(seen) => ingest.pipeline.first_versions.add(seen),
            Err(error) => tracing::warn!(%error, "cannot look for versions of {}: {error}", project.id),
        }
    }
    loop {
        let stored = ingest.pipeline.first_versions.store(&query.projects).await;
        let failed = stored.inspect_err(|error| tracing::error!("first versions are not stored yet: {error}")).is_err();
        tokio::select! {
            () = ingest.pipeline.first_versions.arrived(), if !failed => {}
            () = tokio::time::sleep(limits::FIRST_VERSIONS_PAUSE), if failed => {}
            _ = stopped.wait_for(|stop| *stop) => break,
        }
    }
    if let Err(error) = ingest.pipeline.first_versions.store(&query.projects).await {
        tracing::error!("first versions are not stored; the next start looks for them: {error}");
    }
}

/// Versions in the stored counts by sender that are not known: those of a data directory of an older release, or of
/// requests that parts cover since just before a crash. Their time is the minute of their first receipt.
async fn counted(query: &Arc<QueryContext>, ingest: &Ingest, project: u32) -> Result<Vec<FirstVersion>, QueryError> {
    let keys = vec![KeySource::Column("reason").named(SENDER), Key::column("signal")];
    let aggregates = vec![Function::Min("time").named(FIRST)];
    let filter = filters::text("outcome", "sent");
    let plan = plans::groups(Table::IngestCounts, &[project], Range::ALL, filter, keys, aggregates);
    let answer = Executor::within(query.clone(), limits::LIST_DEADLINE).run(plan).await?;
    let version = |sender: Sender<'_>, first_ns| FirstVersion {
        project,
        service: sender.service.to_owned(),
        environment: sender.environment.to_owned(),
        version: sender.version.to_owned(),
        first_ns,
    };
    let stored = query.projects.first_versions(project).await?;
    let stored: HashSet<(&str, &str)> = stored.iter().map(|one| (one.service.as_str(), one.version.as_str())).collect();
    let is_new = |sender: &Sender<'_>| {
        let Sender { service, environment, version, .. } = *sender;
        // Older releases have not counted by environment.
        let is_stored = environment.is_empty() && stored.contains(&(service, version));
        !version.is_empty()
            && !is_stored
            && !ingest.pipeline.first_versions.is_known(project, service, environment, version)
    };
    // Profiles lack the environment.
    let rows = answer.rows().filter(|row| row.text("signal") != "profiles");
    let seen = rows.map(|row| (Sender::parse(row.text(SENDER)), row.int(FIRST)));
    let new = seen.filter(|(sender, _)| is_new(sender));
    Ok(new.map(|(sender, first_ns)| version(sender, first_ns)).collect())
}
