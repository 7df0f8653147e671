//! How long the telemetry of each project is kept, and what deleted projects leave behind.
//!
//! Projects say how long (`control`), the store removes (`lake/retention/delete_rows.rs`); this tells the one of the other, again and
//! again, so that nothing is lost when the process ends in between. Whatever a project keeps no longer is hidden from
//! questions at once, removed or not. A deleted project is looked after until nothing of it is left in this data directory
//! and nothing more can come; then the store notes that it is purged.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use tidewatch_store::days::day_of;
use tokio::sync::watch;

use crate::app::App;
use tidewatch_limits as limits;
use tidewatch_query::retention::keeping_of;

/// The journal holds exports as they came. When this changes it lets go of all that parts cover: a day, and the deleted
/// projects that may still be in it.
#[derive(Default)]
pub struct Journalled(Mutex<Option<(i32, BTreeSet<u32>)>>);

/// Until `stopped`.
pub async fn run(app: Arc<App>, mut stopped: watch::Receiver<bool>) {
    let journalled = Arc::new(Journalled::default());
    loop {
        let (looking, journalled) = (app.clone(), journalled.clone());
        match tokio::task::spawn_blocking(move || look(&looking, &journalled)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::error!("deleted projects cannot be purged yet: {error:#}"),
            Err(error) => tracing::error!(%error, "purging deleted projects failed: {error}"),
        }
        tokio::select! {
            () = tokio::time::sleep(limits::KEEPING_PAUSE) => {}
            _ = stopped.wait_for(|stop| *stop) => return,
        }
    }
}

/// Tells the store what to keep, and removes uploads of deleted projects. Blocks.
pub fn look(app: &App, journalled: &Journalled) -> anyhow::Result<()> {
    let store = &app.store;
    let purged = store.purged()?;
    let keeping = keeping_of(&app.control, &purged);
    let now = Some((day_of(app.clock.now_ns()), keeping.gone.clone()));
    let before = std::mem::replace(&mut *journalled.0.lock(), now.clone());
    app.intake.tidy_journal(before != now);
    store.set_keeping(keeping);
    let settles_ns = i64::try_from(limits::PURGE_SETTLES.as_nanos()).unwrap_or(i64::MAX);
    for deleted in app.control.deleted_projects().iter().filter(|deleted| !purged.contains(&deleted.number)) {
        if let Some(id) = deleted.id {
            app.symbols.remove_all(id)?;
        }
        let is_settled = app.clock.now_ns().saturating_sub(deleted.deleted_ns) >= settles_ns;
        if is_settled && !store.holds(deleted.number, Instant::now() + limits::PURGE_LOOK_MAX)? {
            store.set_purged(deleted.number)?;
            let project = deleted.number;
            tracing::info!(project, "nothing of the deleted project {project} is left here");
        }
    }
    Ok(())
}
