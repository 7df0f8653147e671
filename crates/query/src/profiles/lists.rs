//! Services and types with profiles, and the values to select by.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tidewatch_accounts::Project;
use tidewatch_domain::rules::profile_temporality::{CUMULATIVE_TYPES, Temporality, temporality};
use tidewatch_domain::units::DAY_NS;
use tidewatch_domain::wire::for_each_attribute_text;
use tidewatch_store::plan::{Aggregate, Filter, Function, Key, Op, Value};
use tidewatch_store::tables::Table;

use super::counted::{self, Counted, ProfileRow};
use super::selection::Selection;
use crate::answer::Row;
use crate::error::QueryError;
use crate::executor::Executor;
use crate::filters;
use crate::page::{self, Paging};
use crate::plans::{self, Window};
use crate::time::{self, Range};
use crate::views::page::Page;
use crate::views::profile::*;

/// Maximum characters of a search. WIRE 2.2.
const SEARCH_CHARS_MAX: usize = 200;
/// Maximum number of types in a response.
const TYPES_MAX: usize = 1000;
/// Maximum number of versions, servers, or values of a label in a response.
const VALUES_MAX: usize = 1000;
/// Minimum range in which types are looked for. WIRE 2.2.
const TYPES_RANGE_MIN: i64 = 30 * DAY_NS;

const PROFILES: &str = "profiles";
const LAST: &str = "last";
const FIRST: &str = "first";
const SAMPLES: &str = "samples";
const VALUE: &str = "value";

/// Keys of a type.
fn type_keys() -> Vec<Key> {
    ["server_name", "profile_type"].map(Key::column).to_vec()
}

/// Aggregates that [`type_view`] needs.
fn type_aggregates() -> Vec<Aggregate> {
    vec![
        Function::Max("time").named(LAST),
        Function::Latest { column: "profile" }.named("profile"),
        Function::Latest { column: "sample_type" }.named("sample_type"),
        Function::Latest { column: "unit" }.named("unit"),
        Function::Latest { column: "is_gauge" }.named("is_gauge"),
    ]
}

fn type_view(row: Row<'_>) -> ProfileTypeView {
    type_seen(row, row.int(LAST))
}

/// The type in a row, last seen at this time.
pub(super) fn type_seen(row: Row<'_>, last_ns: i64) -> ProfileTypeView {
    ProfileTypeView {
        service_name: row.text("server_name").to_owned(),
        profile_type: row.text("profile_type").to_owned(),
        profile: row.text("profile").to_owned(),
        sample_type: row.text("sample_type").to_owned(),
        unit: row.text("unit").to_owned(),
        is_gauge: row.flag("is_gauge"),
        temporality: temporality(row.text("profile_type"), row.flag("is_gauge")).into(),
        last_seen: time::to_rfc3339(last_ns),
    }
}

/// `POST /api/profiles/grouped`.
pub async fn grouped(
    executor: &Executor,
    project: &Project,
    request: GroupedProfilesRequest,
) -> Result<Page<ProfileGroup>, QueryError> {
    let now = executor.context.clock.now_ns();
    let range = Range::of_list(request.from_date.as_deref(), request.to_date.as_deref(), now)?;
    let paging = Paging::read(request.pagination)?;
    let order = page::order(&request.order_by)?;
    let search = request.search.as_deref();
    if search.is_some_and(|search| search.chars().count() > SEARCH_CHARS_MAX) {
        return Err(QueryError::unprocessable(format!("search has at most {SEARCH_CHARS_MAX} characters")));
    }
    let filter = match filters::contains("server_name", search) {
        Filter::True => Filter::True,
        service => Filter::Any(vec![service, filters::contains("profile_type", search)]),
    };
    let mut aggregates = type_aggregates();
    aggregates.extend([
        Function::Count.named(PROFILES),
        Function::Sum("samples").named(SAMPLES),
        Function::Sum("value").named(VALUE),
        Function::Min("time").named(FIRST),
    ]);
    let is_compared = Filter::Any(vec![
        filters::is("is_gauge"),
        filters::strings("profile_type", &CUMULATIVE_TYPES),
        filters::compare("duration", Op::Eq, 0),
    ]);
    let compared = counted::read(executor, project.number, range, filter.clone().and(is_compared));
    let plan = plans::groups(Table::Profiles, &[project.number], range, filter, type_keys(), aggregates);
    let (answer, (compared, _)) = tokio::try_join!(executor.run(plan), compared)?;
    let compared = by_type(compared, range);
    let mut all: Vec<ProfileGroup> = answer
        .rows()
        .map(|row| {
            let of = type_view(row);
            let profile_count = row.count(PROFILES);
            let counted = compared.get(&(of.service_name.clone(), of.profile_type.clone()));
            let counted = counted.filter(|counted| counted.temporality != Temporality::Delta);
            ProfileGroup {
                profile_count,
                sample_count: row.count(SAMPLES),
                total_value: counted.map_or(row.number(VALUE), Counted::total),
                first_profiles: counted.map(|counted| counted.first).unwrap_or_default(),
                first_seen: time::to_rfc3339(row.int(FIRST)),
                of,
            }
        })
        .collect();
    all.sort_by(|a, b| {
        let by_order = match order {
            ProfileOrder::LastSeen => time_of(&a.of).cmp(&time_of(&b.of)),
            ProfileOrder::ServiceName => a.of.service_name.cmp(&b.of.service_name),
            ProfileOrder::Type => a.of.profile_type.cmp(&b.of.profile_type),
            ProfileOrder::ProfileCount => a.profile_count.cmp(&b.profile_count),
            ProfileOrder::SampleCount => a.sample_count.cmp(&b.sample_count),
            ProfileOrder::TotalValue => a.total_value.total_cmp(&b.total_value),
        };
        let by_order = if page::is_descending(request.sort_direction) { by_order.reverse() } else { by_order };
        let key = |group: &ProfileGroup| (group.of.service_name.clone(), group.of.profile_type.clone());
        by_order.then_with(|| key(a).cmp(&key(b)))
    });
    let total = all.len() as u64;
    Ok(paging.page(paging.cut(all), total))
}

/// The profiles of cumulative and gauge types by service and type.
fn by_type(rows: Vec<ProfileRow>, range: Range) -> HashMap<(String, String), Counted> {
    let mut grouped: HashMap<(String, String), Vec<ProfileRow>> = HashMap::new();
    for row in rows {
        grouped.entry((row.service.clone(), row.profile_type.clone())).or_default().push(row);
    }
    grouped.into_iter().map(|(key, rows)| (key, Counted::of(rows, range, |_| true))).collect()
}

/// RFC 3339 with trailing zeros cut off does not sort as text.
fn time_of(of: &ProfileTypeView) -> i64 {
    time::parse(&of.last_seen, "lastSeen").unwrap_or_default()
}

/// `POST /api/profiles/types`.
pub async fn types(
    executor: &Executor,
    project: &Project,
    request: ProfileTypesRequest,
) -> Result<ProfileTypes, QueryError> {
    let now = executor.context.clock.now_ns();
    let Range { from, to } = Range::of_list(request.from_date.as_deref(), request.to_date.as_deref(), now)?;
    let range = Range { from: from.min(to.saturating_sub(TYPES_RANGE_MIN)), to };
    let service = request.service_name.filter(|service| !service.is_empty());
    let filter = service.map_or(Filter::True, |service| filters::text("server_name", &service));
    let order = ["server_name", "profile_type"].map(plans::least).to_vec();
    let plan = plans::ordered_groups(
        Table::Profiles,
        &[project.number],
        range,
        filter,
        type_keys(),
        type_aggregates(),
        order,
        Window::first(TYPES_MAX),
    );
    Ok(ProfileTypes { types: executor.run(plan).await?.rows().map(type_view).collect() })
}

/// `POST /api/profiles/dimensions`.
pub async fn dimensions(
    executor: &Executor,
    project: &Project,
    request: ProfileSelection,
) -> Result<ProfileDimensions, QueryError> {
    let request = ProfileSelection { app_version: None, server_name: None, ..request };
    let selection = Selection::read(&request, project, executor.context.clock.now_ns())?;
    let values = async |column: &'static str| {
        let plan = plans::ordered_groups(
            Table::Profiles,
            &[selection.project],
            selection.range,
            selection.profiles.clone(),
            vec![Key::column(column)],
            vec![],
            vec![plans::least(column)],
            Window::first(VALUES_MAX),
        );
        let answer = executor.run(plan).await?;
        let values = answer.rows().map(|row| row.text(column).to_owned()).filter(|value| !value.is_empty());
        Ok::<Vec<String>, QueryError>(values.collect())
    };
    let (app_versions, server_names) = tokio::try_join!(values("app_version"), values("instance"))?;
    Ok(ProfileDimensions { app_versions, server_names })
}

/// `POST /api/profiles/labels`.
pub async fn labels(
    executor: &Executor,
    project: &Project,
    request: ProfileSelection,
) -> Result<ProfileLabels, QueryError> {
    let selection = Selection::read(&request, project, executor.context.clock.now_ns())?;
    let has_id = Filter::Any(vec![
        filters::not(Filter::eq("trace_id", Value::Bytes(vec![0; 16]))),
        filters::not(Filter::eq("span_id", Value::Bytes(vec![0; 8]))),
    ]);
    let plan = plans::groups(
        Table::ProfileSamples,
        &[selection.project],
        selection.range,
        selection.samples(),
        vec![Key::column("attributes")],
        vec![Function::Count.named("with_spans").only(has_id)],
    );
    let answer = executor.run(plan).await?;
    let mut values: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut has_spans = false;
    for row in answer.rows() {
        has_spans |= row.count("with_spans") > 0;
        for_each_attribute_text(row.bytes("attributes"), |key, value| {
            let known = values.entry(key.to_owned()).or_default();
            if known.len() < VALUES_MAX {
                known.insert(value.into_owned());
            }
        });
    }
    let label = |(key, values): (String, BTreeSet<String>)| ProfileLabel { key, values: values.into_iter().collect() };
    Ok(ProfileLabels { labels: values.into_iter().map(label).collect(), has_spans })
}
