//! The link from a span to the profiles of its service and moment.

use std::collections::{BTreeMap, HashSet};

use tidewatch_accounts::Project;
use tidewatch_domain::units::HOUR_NS;
use tidewatch_store::plan::{Function, Key};
use tidewatch_store::tables::Table;

use super::lists::type_seen;
use crate::error::QueryError;
use crate::executor::Executor;
use crate::plans::{self, Window};
use crate::time::{self, Range};
use crate::views::profile::{ProfileLink, ProfileLinks, ProfileLinksRequest};
use crate::{filters, ids};

/// A profile takes at most as long.
const DURATION_MAX: i64 = HOUR_NS;
/// Maximum number of profiles that are looked at.
const PROFILES_MAX: usize = 10_000;

/// `POST /api/profiles/links`.
pub async fn links(
    executor: &Executor,
    project: &Project,
    request: ProfileLinksRequest,
) -> Result<ProfileLinks, QueryError> {
    if request.service_name.is_empty() {
        return Err(QueryError::malformed("serviceName is missing"));
    }
    let span = Range::read(
        Some(&request.from).filter(|from| !from.is_empty()).map(String::as_str),
        Some(&request.to).filter(|to| !to.is_empty()).map(String::as_str),
        executor.context.clock.now_ns(),
        ["from", "to"],
    )?;
    let of_service = filters::text("server_name", &request.service_name);
    let range = Range { from: span.from.saturating_sub(DURATION_MAX), to: span.to };
    let columns = vec!["server_name", "profile_type", "time", "duration", "profile", "sample_type", "unit", "is_gauge"];
    let order = vec![plans::descending("time")];
    let window = Window::first(PROFILES_MAX);
    let numbers = [project.number];
    let filter = of_service.clone();
    let plan = plans::rows(Table::Profiles, &numbers, range, filter, columns, order, window);
    let non_empty = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let by_id = match (non_empty(&request.span_id), non_empty(&request.trace_id)) {
        (Some(id), _) => Some(filters::span(ids::parse_span(&id)?)),
        (None, Some(id)) => Some(filters::trace(ids::parse_trace(&id)?)),
        (None, None) => None,
    };
    let samples = async {
        let Some(by_id) = by_id else { return Ok(HashSet::new()) };
        let (keys, filter) = (vec![Key::column("profile_type")], filters::all([of_service, by_id]));
        let (table, count) = (Table::ProfileSamples, vec![Function::Count.named("rows")]);
        let answer = executor.run(plans::groups(table, &numbers, range, filter, keys, count)).await?;
        Ok::<HashSet<String>, QueryError>(answer.rows().map(|row| row.text("profile_type").to_owned()).collect())
    };
    let (answer, with_samples) = tokio::try_join!(executor.run(plan), samples)?;
    let mut found: BTreeMap<String, ProfileLink> = BTreeMap::new();
    let (mut from, mut to) = (span.from, span.to);
    for row in answer.rows() {
        let (start, duration) = (row.int("time"), row.int("duration"));
        if start.saturating_add(duration.max(1)) <= span.from {
            continue;
        }
        (from, to) = (from.min(start), to.max(start.saturating_add(1)));
        let profile_type = row.text("profile_type").to_owned();
        let by_span = with_samples.contains(&profile_type);
        let link = found.entry(profile_type).or_insert_with(|| ProfileLink {
            of: type_seen(row, start),
            profile_count: 0,
            by_span,
        });
        link.profile_count += 1;
    }
    let (from, to) = (time::to_rfc3339(from), time::to_rfc3339(to));
    Ok(ProfileLinks { types: found.into_values().collect(), from, to })
}
