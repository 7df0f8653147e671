//! The services that send to a project, read from the counts per minute and from roll-ups. No rows of telemetry are
//! read.

use std::collections::{BTreeMap, BTreeSet};

use tidewatch_domain::units::{HOUR_NS, MINUTE_NS};
use tidewatch_store::columns::Sender;
use tidewatch_store::plan::{Filter, Function, Key, KeySource, Op};
use tidewatch_store::tables::Table;

use super::answer::Row;
use super::deploys::{self, WentLive};
use super::entities::whole;
use super::executor::Executor;
use super::plans::{self, Window};
use super::time::{self, Range};
use super::views::page::RangeQuery;
use super::views::services::*;
use super::{ai_metrics, filters, ids};
use crate::error::QueryError;
use tidewatch_accounts::Project;
use tidewatch_limits as limits;

/// `GET /api/services`.
pub async fn read(executor: &Executor, project: &Project, query: RangeQuery) -> Result<Services, QueryError> {
    let now = executor.context.clock.now_ns();
    let requested = Range::read(query.from.as_deref(), query.to.as_deref(), now, ["from", "to"])?;
    // The time of a count is the start of its minute.
    let range = Range { from: requested.from.saturating_sub(requested.from.rem_euclid(MINUTE_NS)), to: requested.to };
    let hour = range.to.saturating_sub(HOUR_NS);
    let recent = Range { from: range.from.max(hour.saturating_sub(hour.rem_euclid(MINUTE_NS))), to: range.to };
    let live = live_since(&deploys::all(&executor.context, project.number).await?);
    let (found, endpoints, tasks, ai_traces, issues) = tokio::try_join!(
        senders(executor, project.number, range, recent.from, &live),
        promoted(executor, project.number, recent, Table::Endpoints),
        promoted(executor, project.number, recent, Table::Tasks),
        promoted(executor, project.number, recent, Table::AiTraces),
        promoted(executor, project.number, recent, Table::Exceptions),
    )?;
    let (found, environments) = found;
    let environments = environments.into_iter().take(limits::SERVICES_LISTED_MAX).collect();
    let mut services: Vec<ServiceEntry> = found.into_values().collect();
    services.sort_by(|one, other| (other.last, &one.view.name).cmp(&(one.last, &other.view.name)));
    let truncated = services.len() > limits::SERVICES_LISTED_MAX;
    services.truncate(limits::SERVICES_LISTED_MAX);
    let services = services.into_iter().map(|found| found.view).collect();
    Ok(Services { services, truncated, environments, promoted: Promoted { endpoints, tasks, ai_traces, issues } })
}

/// When versions went live, nanoseconds since the epoch, by service and version.
type LiveSince = BTreeMap<(String, String), i64>;

fn live_since(deploys: &[WentLive]) -> LiveSince {
    let key = |one: &WentLive| (one.deploy.service.clone(), one.deploy.version.clone());
    // Ascending by time: the latest of several environments remains.
    deploys.iter().map(|one| (key(one), one.deployed_ns())).collect()
}

/// A service, and the times of its latest records: of all, of those with a language or SDK, and of those with a
/// version. The resources of some signals lack them.
struct ServiceEntry {
    last: i64,
    sdk_at: i64,
    /// With the time at which the version went live: while it is rolled out, two of them send in the same minute.
    version_at: (i64, i64),
    view: ServiceSeen,
}

/// Output columns of [`senders`].
const SENDER: &str = "sender";
const SIGNAL: &str = "signal";
const RECORDS: &str = "records";
const RECENT_RECORDS: &str = "recent_records";
const LAST: &str = "last";

/// The services by name, and the names of their environments.
async fn senders(
    executor: &Executor,
    project: u32,
    range: Range,
    recent_from: i64,
    live: &LiveSince,
) -> Result<(BTreeMap<String, ServiceEntry>, BTreeSet<String>), QueryError> {
    let keys = vec![KeySource::Column("reason").named(SENDER), Key::column(SIGNAL)];
    let aggregates = vec![
        Function::Sum("count").named(RECORDS),
        Function::Sum("count").named(RECENT_RECORDS).only(filters::compare("time", Op::Ge, recent_from)),
        Function::Max("time").named(LAST),
    ];
    let filter = filters::text("outcome", "sent");
    let plan = plans::groups(Table::IngestCounts, &[project], range, filter, keys, aggregates);
    let mut found = BTreeMap::new();
    let mut environments = BTreeSet::new();
    for row in executor.run(plan).await?.rows() {
        add(&mut found, live, row);
        let environment = Sender::parse(row.text(SENDER)).environment;
        if !environment.is_empty() && !environments.contains(environment) {
            environments.insert(environment.to_owned());
        }
    }
    Ok((found, environments))
}

fn add(found: &mut BTreeMap<String, ServiceEntry>, live: &LiveSince, row: Row<'_>) {
    let (sender, last) = (Sender::parse(row.text(SENDER)), row.int(LAST));
    let non_empty = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let service = found.entry(sender.service.to_owned()).or_insert_with(|| ServiceEntry {
        last: i64::MIN,
        sdk_at: i64::MIN,
        version_at: (i64::MIN, i64::MIN),
        view: ServiceSeen {
            name: sender.service.to_owned(),
            language: None,
            sdk_name: None,
            sdk_version: None,
            version: None,
            last_seen: String::new(),
            traces: SignalSeen::default(),
            metrics: SignalSeen::default(),
            logs: SignalSeen::default(),
        },
    });
    let view = &mut service.view;
    if last > service.last {
        service.last = last;
        view.last_seen = time::to_rfc3339(last);
    }
    if !sender.version.is_empty() {
        let since = live.get(&(sender.service.to_owned(), sender.version.to_owned())).copied().unwrap_or(i64::MIN);
        if (last, since) > service.version_at {
            service.version_at = (last, since);
            view.version = non_empty(sender.version);
        }
    }
    if last > service.sdk_at && !(sender.language.is_empty() && sender.sdk.is_empty()) {
        service.sdk_at = last;
        view.language = non_empty(sender.language);
        view.sdk_name = non_empty(sender.sdk);
        view.sdk_version = non_empty(sender.sdk_version);
    }
    let seen = match row.text(SIGNAL) {
        "traces" => &mut view.traces,
        "metrics" => &mut view.metrics,
        // They have a page of their own.
        "profiles" => return,
        _ => &mut view.logs,
    };
    seen.count += row.count(RECORDS);
    seen.last_hour += row.count(RECENT_RECORDS);
    seen.last_seen = seen.last_seen.take().max(Some(time::to_rfc3339(last)));
}

/// Output column of [`promoted`]: weighted rows.
const OCCURRENCES: &str = "occurrences";
/// Output column of [`promoted`]: stored rows.
const STORED: &str = "stored";

/// Counts names and their rows, from roll-ups. Names beyond [`limits::PROMOTED_NAMES_MAX`] are not counted.
async fn promoted(executor: &Executor, project: u32, range: Range, table: Table) -> Result<PromotedCount, QueryError> {
    let filter = if table == Table::AiTraces { ai_metrics::model_calls() } else { Filter::True };
    let is_issue = table == Table::Exceptions;
    let key = if is_issue { "group" } else { "name" };
    let (keys, aggregates) =
        (vec![Key::column(key)], vec![Function::Weight.named(OCCURRENCES), Function::Count.named(STORED)]);
    let order = vec![plans::greatest(OCCURRENCES)];
    let window = Window::first(limits::PROMOTED_NAMES_MAX);
    let plan = plans::ordered_groups(table, &[project], range, filter, keys, aggregates, order, window);
    let answer = executor.run(plan).await?;
    let name = |row: Row<'_>| if is_issue { ids::format_hash(row.u64(key)) } else { row.text(key).to_owned() };
    Ok(PromotedCount {
        names: answer.len() as u64,
        count: whole(answer.rows().map(|row| row.number(OCCURRENCES)).sum()),
        stored_count: answer.rows().map(|row| row.count(STORED)).sum(),
        first: answer.first().map(name),
    })
}
