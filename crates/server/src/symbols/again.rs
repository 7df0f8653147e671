//! Stack traces that were stored raw, resolved once their symbols are there. DECISIONS 14.
//!
//! Exceptions of the last [`limits::RESOLVE_AGAIN_DAYS`] days are looked at, part by part, in the background; what changes
//! is written again and belongs to another Issue from then on. What was sent is stored with each of them, so this can
//! be done as often as symbols change.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::{ArrayRef, BooleanArray, RecordBatch, StringArray, UInt64Array};
use arrow::compute::filter_record_batch;
use bumpalo::Bump;
use parking_lot::Mutex;
use tidewatch_domain::rules::exception::stack_trace;
use tidewatch_domain::rules::issue_group::issue_group;
use tidewatch_domain::wire;
use tidewatch_store::StoreError;
use tidewatch_store::lake::{Changed, Rewrite};
use tidewatch_store::tables::Table;
use tidewatch_symbols::{DebugId, Hints};
use tokio::sync::{Notify, watch};
use uuid::Uuid;

use crate::app::App;
use crate::control::Project;
use crate::limits;
use crate::query::answer::{Answer, Row};
use crate::query::ask::{self, Window};
use crate::query::filters;
use crate::query::time::Range;

/// Projects whose symbols have changed.
#[derive(Default)]
pub struct Again {
    projects: Mutex<HashSet<Uuid>>,
    added: Notify,
}

impl Again {
    pub fn add(&self, project: Uuid) {
        self.projects.lock().insert(project);
        self.added.notify_one();
    }
}

/// Until `stopped`: resolves again what waits, project by project.
pub async fn run(app: Arc<App>, mut stopped: watch::Receiver<bool>) {
    loop {
        tokio::select! {
            () = app.symbols.again.added.notified() => {}
            _ = stopped.wait_for(|stop| *stop) => return,
        }
        // Requests that did not find the symbols yet are stored by then, and are looked at too.
        tokio::select! {
            () = tokio::time::sleep(limits::RESOLVE_AGAIN_PAUSE) => {}
            _ = stopped.wait_for(|stop| *stop) => return,
        }
        let (working, stop) = (app.clone(), stopped.clone());
        let work = move || {
            // Files of one upload are made one after another: one look at the rows serves all of them.
            working.symbols.builder.settle();
            let projects = std::mem::take(&mut *working.symbols.again.projects.lock());
            for project in projects.into_iter().filter_map(|id| working.control.project_by_id(id)) {
                if let Err(error) = resolve_again(&working, &project, &|| *stop.borrow()) {
                    tracing::error!(%error, "stack traces cannot be resolved again: {error}");
                }
            }
        };
        if let Err(error) = tokio::task::spawn_blocking(work).await {
            tracing::error!(%error, "resolving stack traces again failed: {error}");
        }
    }
}

/// Blocks. How many exceptions changed.
pub fn resolve_again(app: &App, project: &Project, stop: &dyn Fn() -> bool) -> Result<usize, StoreError> {
    let days = Duration::from_secs(limits::RESOLVE_AGAIN_DAYS * 24 * 60 * 60);
    let which = Rewrite {
        table: Table::Exceptions,
        project: project.number,
        since_ns: app.clock.now_ns() - i64::try_from(days.as_nanos()).unwrap_or(i64::MAX),
    };
    let mut senders = Senders { app, project, known: HashMap::new() };
    let mut changed = 0;
    app.intake.lake().rewrite(which, stop, &mut |batch| {
        let found = texts(app, project, batch, &mut senders)?;
        changed += found.len();
        if found.is_empty() { Ok(None) } else { with(batch, &found).map(Some) }
    })?;
    if changed > 0 {
        tracing::info!(project = project.number, changed, "resolved {changed} stack traces again");
    }
    Ok(changed)
}

/// Row and new text, by row.
type Changes = Vec<(usize, String)>;

fn texts(app: &App, project: &Project, batch: &RecordBatch, senders: &mut Senders<'_>) -> Result<Changes, StoreError> {
    let answer = Answer::new(batch.clone());
    let mut changed = Vec::new();
    for (number, row) in answer.rows().enumerate() {
        if row.int("project") != i64::from(project.number) {
            continue;
        }
        let sent = ["event_attributes", "attributes"]
            .iter()
            .find_map(|column| wire::attribute_text(row.bytes(column), "exception.stacktrace"));
        let Some(sent) = sent else { continue };
        let arena = Bump::new();
        let raw = stack_trace(row.text("exception_type"), row.text("message"), sent.trim_end(), &arena);
        let sender = senders.of(row)?;
        let hints = Hints { language: sender.language.as_deref(), debug_id: sender.build_id, ..Hints::default() };
        let resolved = app.symbols.resolve(project.id, raw, &hints, app.clock.now_ns());
        if let Some((resolved, _)) = resolved
            && resolved.resolved > 0
            && resolved.text != row.text("stack_trace")
        {
            changed.push((number, resolved.text));
        }
    }
    Ok(changed)
}

/// Their rows with these texts, and the Issues they belong to.
fn with(batch: &RecordBatch, changes: &Changes) -> Result<Changed, StoreError> {
    let mut is_changed = vec![false; batch.num_rows()];
    changes.iter().for_each(|(number, _)| is_changed[*number] = true);
    let rows = BooleanArray::from(is_changed);
    let chosen = filter_record_batch(batch, &rows).map_err(StoreError::internal("change stack traces"))?;
    let answer = Answer::new(chosen.clone());
    let texts = changes.iter().map(|(_, text)| text.as_str());
    let groups = answer
        .rows()
        .zip(texts.clone())
        .map(|(row, text)| issue_group(row.text("exception_type"), row.text("message"), text));
    let place = |name| Table::Exceptions.column(name).expect("a column of exceptions").0;
    let mut columns: Vec<ArrayRef> = chosen.columns().to_vec();
    columns[place("group")] = Arc::new(UInt64Array::from_iter_values(groups));
    columns[place("stack_trace")] = Arc::new(StringArray::from_iter_values(texts));
    let to = RecordBatch::try_new(batch.schema(), columns).map_err(StoreError::internal("change stack traces"))?;
    Ok(Changed { rows, to })
}

/// What a program says of itself, from its spans: it is not repeated beside each exception.
#[derive(Debug, Clone, Default)]
struct Sender {
    language: Option<String>,
    build_id: Option<DebugId>,
}

/// By service and version, which are one program.
struct Senders<'s> {
    app: &'s App,
    project: &'s Project,
    known: HashMap<(String, String), Sender>,
}

impl Senders<'_> {
    fn of(&mut self, row: Row<'_>) -> Result<Sender, StoreError> {
        let program = (row.text("server_name").to_owned(), row.text("app_version").to_owned());
        if let Some(sender) = self.known.get(&program) {
            return Ok(sender.clone());
        }
        let Some(sender) = self.ask(row)? else { return Ok(Sender::default()) };
        self.known.insert(program, sender.clone());
        Ok(sender)
    }

    /// `None`: its span was not kept.
    fn ask(&self, row: Row<'_>) -> Result<Option<Sender>, StoreError> {
        let filter = filters::all([filters::trace(row.trace_id("trace_id")), filters::span(row.span_id("span_id"))]);
        let time = row.int("time");
        let range = Range { from: time.saturating_sub(DAY_NS), to: time.saturating_add(DAY_NS) };
        let columns = vec!["resource"];
        let plan =
            ask::rows(Table::Spans, &[self.project.number], range, filter, columns, Vec::new(), Window::first(1));
        let deadline = Instant::now() + limits::LIST_DEADLINE;
        let answer = Answer::new(self.app.intake.lake().ask(&plan, deadline)?);
        let sender = answer.first().map(|row| {
            let resource = row.bytes("resource");
            let text = |key| wire::attribute_text(resource, key).map(|text| text.into_owned());
            let build = text("app.debug.proguard_uuid").or_else(|| text("app.debug.build_id"));
            Sender { language: text("telemetry.sdk.language"), build_id: build.as_deref().and_then(DebugId::parse) }
        });
        Ok(sender)
    }
}

const DAY_NS: i64 = 24 * 60 * 60 * 1_000_000_000;
