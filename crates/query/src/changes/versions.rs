//! The service of a change, and the version that it began with.

use std::collections::HashMap;

use tidewatch_domain::changes::{Change, Kind, Relation, STEPS, Served, carried_by};
use tidewatch_domain::units::{HOUR_NS, MINUTE_NS};
use tidewatch_store::plan::{Filter, Function, Key, Op, Value};
use tidewatch_store::tables::Table;

use super::read::{Subject, calls, refused};
use crate::deploys::WentLive;
use crate::error::QueryError;
use crate::executor::Executor;
use crate::time::Range;
use crate::{ai_metrics, filters, plans};

/// Rows before a change that tell which versions are known, nanoseconds.
const KNOWN: i64 = 6 * HOUR_NS;
/// A version is new when its first row is within this time of the start of the change, nanoseconds.
const NEW: i64 = 5 * MINUTE_NS;
/// Rise of a version's share of the calls around the start of the change that counts as going live: a rollback.
const RISE: f64 = 0.1;
/// The calls around the start that show the rise: this time before and after it, nanoseconds.
const NEAR: i64 = 10 * MINUTE_NS;

/// Output columns.
const NEAR_AFTER: &str = "near_after";
const NEAR_BEFORE: &str = "near_before";
const AFTER: &str = "after";
const AFTER_BAD: &str = "after_bad";
const BEFORE: &str = "before";
const BEFORE_BAD: &str = "before_bad";
const FIRST: &str = "first";

/// Where a change comes from.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Origin {
    /// The service with the most calls; empty when unknown.
    pub service: String,
    /// The version that carries the change or began with it.
    pub version: Option<(String, Relation)>,
}

/// The first sights of versions by service and version, nanoseconds since the epoch.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Known(HashMap<(String, String), i64>);

impl Known {
    /// The first sights of these deploys.
    pub fn new(deploys: &[WentLive]) -> Known {
        let mut known = Known::default();
        for one in deploys {
            let Some(first_ns) = one.first_ns else { continue };
            let key = (one.deploy.service.clone(), one.deploy.version.clone());
            let earliest = known.0.entry(key).or_insert(first_ns);
            *earliest = first_ns.min(*earliest);
        }
        known
    }

    /// The first sight of a version that has a row at `seen_ns`.
    fn first(&self, service: &str, version: &str, seen_ns: i64) -> i64 {
        let known = self.0.get(&(service.to_owned(), version.to_owned()));
        known.map_or(seen_ns, |first_ns| seen_ns.min(*first_ns))
    }
}

#[derive(Clone)]
struct Version {
    service: String,
    name: String,
    since: Served,
    before: Served,
    /// Calls in [`NEAR`] before and after the start.
    near: [f64; 2],
    first: i64,
}

/// The service with most calls of each subject in the hours before `end`, a minute. Traffic names no version: fewer
/// calls of one are the others' gain.
pub async fn services(
    executor: &Executor,
    project: u32,
    subjects: &[&Subject],
    end: i64,
) -> Result<Vec<Origin>, QueryError> {
    let range = Range {
        from: (end - STEPS).saturating_mul(MINUTE_NS).saturating_sub(KNOWN),
        to: end.saturating_mul(MINUTE_NS),
    };
    let mut origins = vec![(0.0, Origin::default()); subjects.len()];
    for table in [Table::Endpoints, Table::Tasks, Table::AiTraces] {
        let of_table = || subjects.iter().enumerate().filter(|(_, subject)| subject.table == table);
        let names: Vec<&str> = of_table().map(|(_, subject)| subject.name.as_str()).collect();
        if names.is_empty() {
            continue;
        }
        let filter = calls(table).and(filters::strings("name", &names));
        let keys = vec![Key::column("name"), Key::column("server_name")];
        let counts = vec![Function::Count.named(AFTER)];
        let answer = executor.run(plans::groups(table, &[project], range, filter, keys, counts)).await?;
        for row in answer.rows() {
            let Some((place, _)) = of_table().find(|(_, subject)| subject.name == row.text("name")) else { continue };
            let (most, origin) = &mut origins[place];
            if row.number(AFTER) > *most {
                (*most, origin.service) = (row.number(AFTER), row.text("server_name").to_owned());
            }
        }
    }
    Ok(origins.into_iter().map(|(_, origin)| origin).collect())
}

/// The status of most refused requests since a change.
pub async fn refused_with(
    executor: &Executor,
    project: u32,
    subject: &Subject,
    change: &Change,
    end: i64,
) -> Result<Option<i64>, QueryError> {
    let range = Range {
        from: change.since.saturating_mul(MINUTE_NS),
        to: change.recovered.unwrap_or(end).saturating_mul(MINUTE_NS),
    };
    let keys = vec![Key::column("status_code")];
    let filter = subject.rows().and(refused());
    let plan = plans::groups(subject.table, &[project], range, filter, keys, vec![Function::Count.named(AFTER)]);
    let answer = executor.run(plan).await?;
    let most = answer.rows().max_by(|one, other| one.number(AFTER).total_cmp(&other.number(AFTER)));
    Ok(most.map(|row| row.int("status_code")))
}

/// Reads the calls of the subject by service and version, before and since the change, which is not of traffic.
pub async fn origin(
    executor: &Executor,
    project: u32,
    subject: &Subject,
    change: &Change,
    known: &Known,
    end: i64,
) -> Result<Origin, QueryError> {
    let since = change.since.saturating_mul(MINUTE_NS);
    let to = change.recovered.unwrap_or(end).saturating_mul(MINUTE_NS);
    let range = Range { from: since.saturating_sub(KNOWN), to: to.max(since.saturating_add(1)) };
    let bad = match change.kind {
        Kind::Slower | Kind::SlowerTail | Kind::SlowShare => {
            filters::compare("duration", Op::Gt, change.slow_ns as i64)
        }
        Kind::Failing | Kind::Fewer => filters::is("is_error"),
        Kind::Refusing => refused(),
        Kind::Dearer => {
            let value = Value::F64((change.before * change.after).max(0.0).sqrt());
            Filter::Compare { column: "total_cost", op: Op::Gt, value }.and(ai_metrics::counted())
        }
    };
    let (after, before) = (filters::compare("time", Op::Ge, since), filters::compare("time", Op::Lt, since));
    let near_before = filters::compare("time", Op::Ge, since.saturating_sub(NEAR)).and(before.clone());
    let near_after = after.clone().and(filters::compare("time", Op::Lt, since.saturating_add(NEAR)));
    let aggregates = vec![
        Function::Count.named(NEAR_BEFORE).only(near_before),
        Function::Count.named(NEAR_AFTER).only(near_after),
        Function::Count.named(AFTER).only(after.clone()),
        Function::Count.named(AFTER_BAD).only(after.and(bad.clone())),
        Function::Count.named(BEFORE).only(before.clone()),
        Function::Count.named(BEFORE_BAD).only(before.and(bad)),
        Function::Min("time").named(FIRST),
    ];
    let keys = vec![Key::column("server_name"), Key::column("app_version")];
    let answer =
        executor.run(plans::groups(subject.table, &[project], range, subject.rows(), keys, aggregates)).await?;
    let versions: Vec<Version> = answer
        .rows()
        .map(|row| Version {
            service: row.text("server_name").to_owned(),
            name: row.text("app_version").to_owned(),
            since: Served { calls: row.number(AFTER), bad: row.number(AFTER_BAD) },
            before: Served { calls: row.number(BEFORE), bad: row.number(BEFORE_BAD) },
            near: [row.number(NEAR_BEFORE), row.number(NEAR_AFTER)],
            first: known.first(row.text("server_name"), row.text("app_version"), row.int(FIRST)),
        })
        .collect();
    Ok(choose(&versions, since))
}

fn choose(versions: &[Version], since: i64) -> Origin {
    let calls = |version: &&Version| version.since.calls + version.before.calls;
    let most = versions.iter().max_by(|one, other| calls(one).total_cmp(&calls(other)));
    let Some(service) = most.map(|version| version.service.clone()) else { return Origin::default() };
    let add = |one: Served, other: Served| Served { calls: one.calls + other.calls, bad: one.bad + other.bad };
    let of_service = || versions.iter().filter(|version| version.service == service);
    let was = of_service().map(|version| version.before).fold(Served::default(), add);
    let all = of_service().map(|version| version.since).fold(Served::default(), add);
    let near = [0, 1].map(|index: usize| of_service().map(|version| version.near[index]).sum::<f64>());
    let mut found: Option<(&Version, Relation)> = None;
    for version in of_service().filter(|version| !version.name.is_empty()) {
        let old = Served { calls: all.calls - version.since.calls, bad: all.bad - version.since.bad };
        let share = |index: usize| version.near[index] / near[index].max(1.0);
        let rose = share(1) - share(0);
        let is_first = version.first >= since.saturating_sub(NEW) && version.first <= since.saturating_add(NEW);
        // The first version that is known went live before everything.
        let is_new = was.calls > 0.0 && rose >= RISE && (is_first || version.before.calls > 0.0);
        let relation = carried_by(version.since, old, was, is_new && version.since.calls > 0.0);
        if let Some(relation @ (Relation::Carries | Relation::BeganWith)) = relation {
            let is_better = found.is_none_or(|(other, known)| {
                let rank = |relation| u8::from(relation == Relation::Carries);
                (rank(relation), version.since.calls) > (rank(known), other.since.calls)
            });
            if is_better {
                found = Some((version, relation));
            }
        }
    }
    let version = found.map(|(version, relation)| (version.name.clone(), relation));
    Origin { service, version }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(name: &str, since: (f64, f64), before: (f64, f64), first: i64) -> Version {
        let served = |(calls, bad)| Served { calls, bad };
        let (since, before) = (served(since), served(before));
        let near = [before.calls, since.calls];
        Version { service: "checkout".to_owned(), name: name.to_owned(), since, before, near, first }
    }

    #[test]
    fn versions_are_named_when_they_went_live_with_the_change() {
        let since = 1_000 * HOUR_NS;
        let old = |calls| version("1.41.0", calls, (600.0, 6.0), since - 6 * HOUR_NS);
        let new = |calls, first| version("1.42.0", calls, (0.0, 0.0), first);
        // It was rolled out before the change, within the hours that are read.
        let rolled_out = Version { near: [50.0, 100.0], ..version("1.42.0", (100.0, 90.0), (50.0, 1.0), 0) };
        let replaced = Version { near: [50.0, 0.0], ..version("1.41.0", (0.0, 0.0), (600.0, 6.0), 0) };
        for (versions, expected) in [
            (vec![old((0.0, 0.0)), new((100.0, 90.0), since)], Some(("1.42.0", Relation::BeganWith))),
            (vec![old((500.0, 5.0)), new((60.0, 50.0), since)], Some(("1.42.0", Relation::Carries))),
            (vec![old((100.0, 90.0)), new((100.0, 90.0), since)], None),
            (vec![old((100.0, 90.0))], None),
            (vec![rolled_out.clone(), Version { near: [0.0, 0.0], ..replaced.clone() }], None),
            (vec![rolled_out, replaced], Some(("1.42.0", Relation::BeganWith))),
            (vec![], None),
        ] {
            let found = choose(&versions, since).version;
            let found = found.as_ref().map(|(name, relation)| (name.as_str(), *relation));
            assert_eq!(found, expected);
        }
    }
}
