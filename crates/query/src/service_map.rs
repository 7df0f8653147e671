//! The map of services, and the page of one service. docs/use/services.md.
//!
//! Three plans over the peers of spans, which roll-ups answer: calls by caller and address, calls whose both sides are
//! known, and calls by the service that serves them. [`tidewatch_domain::service_map`] joins them.

use std::collections::{BTreeMap, BTreeSet};

use tidewatch_domain::rules::peer::PeerKind;
use tidewatch_domain::service_map::{self as rules, Calls, NodeId, NodeKind, Outgoing, Pair, Served};
use tidewatch_domain::units::MINUTE_NS;
use tidewatch_store::plan::{Aggregate, AttributeScope, Filter, Function, Key, KeySource, Op, Value};
use tidewatch_store::tables::Table;

use super::answer::Row;
use super::deploys::{self, WentLive};
use super::entities::whole;
use super::executor::Executor;
use super::filters;
use super::plans::{self, Window};
use super::time::{self, Buckets, Range};
use super::views::service_map::*;
use crate::error::QueryError;
use tidewatch_accounts::Project;
use tidewatch_limits as limits;

/// Output columns.
const CALLS: &str = "calls";
const ERRORS: &str = "errors";
const QUANTILES: &str = "quantiles";

/// OTLP numbers of SERVER and CONSUMER.
const SERVING_KINDS: [u64; 2] = [2, 5];

/// `POST /api/services/map`.
pub async fn map(executor: &Executor, project: &Project, request: ServiceMapRequest) -> Result<ServiceMap, QueryError> {
    let now = executor.context.clock.now_ns();
    let range = Range::of_list(request.from_date.as_deref(), request.to_date.as_deref(), now)?;
    // Both sides of a call are read, whichever is selected.
    let everyone = executor.clone().filtered(executor.filter().any_service());
    let (all, deploys) =
        tokio::try_join!(calls(&everyone, project.number, range), live_versions(&everyone, project.number))?;
    let services = request.service.map_or_else(|| executor.filter().services().to_vec(), |service| vec![service]);
    Ok(view(all, &services, &versions_by_service(&deploys, range), range))
}

/// `POST /api/services/detail`.
pub async fn detail(
    executor: &Executor,
    project: &Project,
    request: ServiceDetailRequest,
) -> Result<ServiceDetail, QueryError> {
    let now = executor.context.clock.now_ns();
    let range = Range::of_list(request.from_date.as_deref(), request.to_date.as_deref(), now)?;
    let name = request.service;
    let executor = &executor.clone().filtered(executor.filter().any_service());
    let buckets = Buckets::over(range, time::effective_minutes(None, range, limits::SERVICE_POINTS_MAX) * MINUTE_NS);
    let (all, deploys, points, (instances, instances_truncated)) = tokio::try_join!(
        calls(executor, project.number, range),
        live_versions(executor, project.number),
        series(executor, project.number, range, &name, &buckets),
        instances(executor, project.number, range, &name),
    )?;
    let map = view(all, std::slice::from_ref(&name), &versions_by_service(&deploys, range), range);
    let own = id(&NodeId::service(&name));
    let stats = map.nodes.iter().find(|node| node.id == own).map(|node| node.stats).unwrap_or_default();
    let mut versions: Vec<ServiceVersion> = live(&deploys, &name, range).map(version).collect();
    versions.reverse();
    versions.truncate(limits::SERVICE_VERSIONS_MAX);
    Ok(ServiceDetail {
        name,
        stats,
        series: points,
        interval_minutes: buckets.width / MINUTE_NS,
        versions,
        instances,
        instance_minutes: limits::SERVICE_INSTANCE_MINUTES,
        instances_truncated,
        map,
    })
}

/// The versions that went live in the selected environments.
async fn live_versions(executor: &Executor, project: u32) -> Result<Vec<WentLive>, QueryError> {
    let mut all = deploys::all(&executor.context, project).await?;
    all.retain(|one| executor.filter().selects_deploy(&one.deploy.service, Some(&one.deploy.environment)));
    Ok(all)
}

/// All calls of a range, and whether rare ones were not read.
type Read = (rules::ServiceMap, bool);

async fn calls(executor: &Executor, project: u32, range: Range) -> Result<Read, QueryError> {
    let outgoing = [PeerKind::Database, PeerKind::SentTo, PeerKind::Host, PeerKind::ReceivedFrom];
    let paired = peer_is(&[PeerKind::Host, PeerKind::Caller]).and(Filter::Compare {
        column: "peer_service",
        op: Op::Ne,
        value: Value::Text(String::new()),
    });
    let (outgoing, pairs, served) = tokio::try_join!(
        groups(executor, project, range, peer_is(&outgoing), &["server_name", "peer", "peer_kind"]),
        groups(executor, project, range, paired, &["server_name", "peer", "peer_kind", "peer_service"]),
        groups(executor, project, range, serving(), &["server_name"]),
    )?;
    let is_truncated = [&outgoing, &pairs, &served].iter().any(|read| read.len() >= limits::SERVICE_CALLS_READ_MAX);
    let outgoing: Vec<Outgoing> = outgoing
        .rows()
        .filter_map(|row| {
            let kind = peer_kind(row)?;
            Some(Outgoing { service: text(row, "server_name"), peer: text(row, "peer"), kind, calls: measured(row) })
        })
        .collect();
    let pairs: Vec<Pair> = pairs
        .rows()
        .filter_map(|row| {
            let (own, other) = (text(row, "server_name"), text(row, "peer_service"));
            let (caller, callee) = if peer_kind(row)? == PeerKind::Caller { (other, own) } else { (own, other) };
            Some(Pair { caller, address: text(row, "peer"), callee, calls: measured(row) })
        })
        .collect();
    let served: Vec<Served> =
        served.rows().map(|row| Served { service: text(row, "server_name"), calls: measured(row) }).collect();
    Ok((rules::map(&outgoing, &pairs, &served), is_truncated))
}

/// Sums over the spans that pass, by these columns: the groups with most calls.
async fn groups(
    executor: &Executor,
    project: u32,
    range: Range,
    filter: Filter,
    columns: &[&'static str],
) -> Result<super::answer::Answer, QueryError> {
    let keys = columns.iter().map(|column| Key::column(column)).collect();
    let window = Window::first(limits::SERVICE_CALLS_READ_MAX);
    let order = vec![plans::greatest(CALLS)];
    executor.run(plans::ordered_groups(Table::Spans, &[project], range, filter, keys, measures(), order, window)).await
}

fn measures() -> Vec<Aggregate> {
    vec![
        Function::Weight.named(CALLS),
        Function::Weight.named(ERRORS).only(filters::is("is_error")),
        Function::Quantiles { column: "duration", qs: vec![0.5, 0.95] }.named(QUANTILES),
    ]
}

fn measured(row: Row<'_>) -> Calls {
    let quantiles = row.numbers(QUANTILES).unwrap_or_default();
    let quantile = |index: usize| quantiles.get(index).copied();
    Calls { calls: row.number(CALLS), errors: row.number(ERRORS), p50: quantile(0), p95: quantile(1) }
}

fn peer_is(kinds: &[PeerKind]) -> Filter {
    Filter::In { column: "peer_kind", values: kinds.iter().map(|kind| Value::U64(*kind as u64)).collect() }
}

/// The spans of calls that a service serves.
fn serving() -> Filter {
    let kinds = SERVING_KINDS.iter().map(|kind| Value::U64(*kind)).collect();
    peer_is(&[PeerKind::Caller, PeerKind::ReceivedFrom]).and(Filter::In { column: "kind", values: kinds })
}

fn peer_kind(row: Row<'_>) -> Option<PeerKind> {
    u8::try_from(row.u64("peer_kind")).ok().and_then(PeerKind::from_number)
}

fn text(row: Row<'_>, column: &str) -> String {
    row.opt_text(column).unwrap_or("").to_owned()
}

/// The calls that a service serves, over time.
async fn series(
    executor: &Executor,
    project: u32,
    range: Range,
    service: &str,
    buckets: &Buckets,
) -> Result<Vec<ServicePoint>, QueryError> {
    let filter = serving().and(filters::text("server_name", service));
    let answer = executor
        .run(plans::groups(Table::Spans, &[project], range, filter, vec![plans::bucket(buckets)], measures()))
        .await?;
    let width = Range { from: 0, to: buckets.width };
    let mut points: Vec<(i64, CallStats)> =
        answer.rows().map(|row| (row.int(plans::BUCKET), stats(measured(row), width))).collect();
    points.sort_by_key(|(start, _)| *start);
    Ok(points.into_iter().map(|(start, stats)| ServicePoint { timestamp: time::to_rfc3339(start), stats }).collect())
}

/// Resource attributes that name a process, the preferred one first; the second is the host.
const INSTANCE_KEYS: [(&str, &str); 4] = [
    ("instance", "service.instance.id"),
    ("host", "host.name"),
    ("pod", "k8s.pod.name"),
    ("container", "container.id"),
];

/// The processes that sent spans in the last minutes of the range, and whether there are more.
async fn instances(
    executor: &Executor,
    project: u32,
    range: Range,
    service: &str,
) -> Result<(Vec<ServiceInstance>, bool), QueryError> {
    let range =
        Range { from: range.from.max(range.to.saturating_sub(limits::SERVICE_INSTANCE_MINUTES * MINUTE_NS)), ..range };
    let attribute = |(name, key): &(&'static str, &str)| {
        KeySource::Attribute { scope: AttributeScope::Resource, key: (*key).to_owned() }.named(name)
    };
    let mut keys: Vec<Key> = INSTANCE_KEYS.iter().map(attribute).collect();
    keys.push(Key::column("app_version"));
    let aggregates = vec![Function::Weight.named(CALLS), Function::Max("time").named("latest")];
    let window = Window::first(limits::SERVICE_INSTANCES_MAX + 1);
    let order = vec![plans::greatest(CALLS)];
    let filter = filters::text("server_name", service);
    let answer = executor
        .run(plans::ordered_groups(Table::Spans, &[project], range, filter, keys, aggregates, order, window))
        .await?;
    let instance = |row: Row<'_>| ServiceInstance {
        name: INSTANCE_KEYS.iter().find_map(|(name, _)| row.opt_text(name)).unwrap_or("").to_owned(),
        host: text(row, "host"),
        version: text(row, "app_version"),
        spans: whole(row.number(CALLS)),
        last_seen: time::to_rfc3339(row.int("latest")),
    };
    let found = answer.rows().take(limits::SERVICE_INSTANCES_MAX).map(instance).collect();
    Ok((found, answer.len() > limits::SERVICE_INSTANCES_MAX))
}

/// The deploys of versions that were live in the range, ascending: those of the range, and the last one before it in
/// each environment.
fn live<'d>(deploys: &'d [WentLive], service: &str, range: Range) -> impl Iterator<Item = &'d WentLive> {
    let mut before: BTreeMap<&str, usize> = BTreeMap::new();
    let mut is_live = vec![false; deploys.len()];
    for (index, one) in deploys.iter().enumerate().filter(|(_, one)| one.deploy.service == service) {
        if one.deployed_ns() < range.from {
            before.insert(&one.deploy.environment, index);
        } else if one.deployed_ns() < range.to {
            is_live[index] = true;
        }
    }
    before.into_values().for_each(|index| is_live[index] = true);
    deploys.iter().zip(is_live).filter_map(|(one, is_live)| is_live.then_some(one))
}

fn version(one: &WentLive) -> ServiceVersion {
    ServiceVersion {
        version: one.deploy.version.clone(),
        environment: one.deploy.environment.clone(),
        time: time::to_rfc3339(one.deployed_ns()),
        first_seen: one.first_ns.map(time::to_rfc3339),
    }
}

/// The number of versions of each service that were live in the range.
fn versions_by_service(deploys: &[WentLive], range: Range) -> BTreeMap<String, u64> {
    let services: BTreeSet<&str> = deploys.iter().map(|one| one.deploy.service.as_str()).collect();
    let count = |service: &str| {
        let versions: BTreeSet<&str> = live(deploys, service, range).map(|one| one.deploy.version.as_str()).collect();
        (service.to_owned(), versions.len() as u64)
    };
    services.into_iter().map(count).collect()
}

/// `services`: only they and their neighbours; all when empty.
fn view((map, truncated): Read, services: &[String], versions: &BTreeMap<String, u64>, range: Range) -> ServiceMap {
    let map = if services.is_empty() { map } else { map.around(services) };
    let map = map.at_most(limits::SERVICE_MAP_NODES_MAX, limits::SERVICE_MAP_EDGES_MAX);
    let node = |node: rules::Node| ServiceNode {
        id: id(&node.id),
        kind: node.id.kind.into(),
        stats: stats(node.calls, range),
        versions: match node.id.kind {
            NodeKind::Service => versions.get(&node.id.name).copied().unwrap_or(0),
            _ => 0,
        },
        name: node.id.name,
    };
    let edge =
        |edge: rules::Edge| ServiceEdge { from: id(&edge.from), to: id(&edge.to), stats: stats(edge.calls, range) };
    ServiceMap {
        nodes: map.nodes.into_iter().map(node).collect(),
        edges: map.edges.into_iter().map(edge).collect(),
        nodes_left_out: map.nodes_left_out as u64,
        edges_left_out: map.edges_left_out as u64,
        truncated,
    }
}

fn stats(calls: Calls, range: Range) -> CallStats {
    CallStats {
        calls: whole(calls.calls),
        errors: whole(calls.errors),
        per_minute: calls.calls * MINUTE_NS as f64 / range.length().max(1) as f64,
        p50_duration: calls.p50,
        p95_duration: calls.p95,
    }
}

fn id(node: &NodeId) -> String {
    let kind = match node.kind {
        NodeKind::Service => "service",
        NodeKind::Database => "database",
        NodeKind::Messaging => "messaging",
        NodeKind::Host => "host",
    };
    format!("{kind}:{}", node.name)
}
