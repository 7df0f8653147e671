//! Groups: one row per name or other value, sorted, with their trends.

use std::cmp::Ordering;

use tidewatch_domain::ranking::by_total_cost;
use tidewatch_store::plan::{Filter, KeySource};

use super::{EntityKind, EntityStats, ListBody, RankedGroup, SortValue, stats};
use crate::error::QueryError;
use crate::executor::Executor;
use crate::filters;
use crate::grouping;
use crate::language;
use crate::page::{self, Paging};
use crate::time::Range;
use crate::trend::{self, TrendQuery};
use crate::views::page::Page;
use tidewatch_accounts::Project;

/// `POST /api/.../grouped`: a page of groups. WIRE 8.1.
pub async fn groups<K: EntityKind>(
    executor: &Executor,
    project: &Project,
    body: impl ListBody<K::GroupOrder>,
) -> Result<Page<K::Group>, QueryError> {
    let grouping = body.grouping();
    let (request, body_filter) = body.split();
    let now = executor.context.clock.now_ns();
    let range = Range::of_list(request.from_date.as_deref(), request.to_date.as_deref(), now)?;
    let paging = Paging::read(request.pagination)?;
    let order = page::order(&request.order_by)?;
    let root = filters::root(request.root_filter.as_deref())?;
    let query = language::filter(K::ROWS, request.query.as_deref())?;
    let filter = root.and(K::search(request.search.as_deref())).and(body_filter).and(query);

    let mut found = found::<K>(executor, project, range, filter.clone(), &grouping).await?;
    sort(&mut found, order, page::is_descending(request.sort_direction));
    let total = found.len() as u64;
    let data = views(executor, project, range, filter, &grouping, paging.cut(found)).await?;
    Ok(paging.page(data, total))
}

/// The first `count` groups of the range in the kind's default order, descending.
pub async fn top<K: EntityKind>(
    executor: &Executor,
    project: &Project,
    range: Range,
    count: usize,
) -> Result<Vec<K::Group>, QueryError> {
    let grouping = KeySource::Column("name");
    let mut found = found::<K>(executor, project, range, Filter::True, &grouping).await?;
    sort(&mut found, K::GroupOrder::default(), true);
    found.truncate(count);
    views(executor, project, range, Filter::True, &grouping, found).await
}

async fn found<K: EntityKind>(
    executor: &Executor,
    project: &Project,
    range: Range,
    filter: Filter,
    grouping: &KeySource,
) -> Result<Vec<RankedGroup<K>>, QueryError> {
    let context = K::ranking_context(executor, project).await?;
    let found = stats::by_group::<K>(executor, project.number, range, filter, grouping, &context).await?;
    let ranked = |(name, stats): (String, EntityStats<K::Metrics>)| RankedGroup {
        rank: K::rank(&name, &stats, &context),
        name,
        stats,
    };
    Ok(found.into_iter().map(ranked).collect())
}

/// Sorts groups; equal ones are sorted by count, then by name, so that pages do not overlap.
fn sort<K: EntityKind>(found: &mut [RankedGroup<K>], order: K::GroupOrder, is_descending: bool) {
    found.sort_by(|left, right| {
        let by_name = left.name.cmp(&right.name);
        let wanted = compare(&K::sort_value(order, left), &K::sort_value(order, right), by_name, is_descending);
        wanted.then(right.stats.total.total_cmp(&left.stats.total)).then(by_name)
    });
}

fn compare(left: &SortValue, right: &SortValue, by_name: Ordering, is_descending: bool) -> Ordering {
    let ascending = match (left, right) {
        (SortValue::Number(left), SortValue::Number(right)) => left.total_cmp(right),
        (SortValue::AbsentLast(Some(left)), SortValue::AbsentLast(Some(right))) => left.total_cmp(right),
        (SortValue::AbsentLast(left), SortValue::AbsentLast(right)) => return by_total_cost(*left, *right),
        _ => by_name,
    };
    if is_descending { ascending.reverse() } else { ascending }
}

async fn views<K: EntityKind>(
    executor: &Executor,
    project: &Project,
    range: Range,
    filter: Filter,
    grouping: &KeySource,
    shown: Vec<RankedGroup<K>>,
) -> Result<Vec<K::Group>, QueryError> {
    let names: Vec<String> = shown.iter().map(|found| found.name.clone()).collect();
    let filter = filter.and(grouping::of_names(K::TABLE, grouping, &names));
    let key = grouping::key(grouping);
    let query = TrendQuery { table: K::TABLE, project: project.number, filter: filter.clone(), key: key.clone() };
    let (trends, extra) = tokio::try_join!(
        trend::trends(executor, query, range),
        K::group_extra(executor, project.number, range, filter, &key)
    )?;
    let view = |found: RankedGroup<K>| {
        let trend = trends.line(found.name.as_str());
        K::group_view(found, &extra, trend)
    };
    Ok(shown.into_iter().map(view).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_values_come_last_in_either_direction() {
        let compare = |left, right, is_descending| {
            compare(&SortValue::AbsentLast(left), &SortValue::AbsentLast(right), Ordering::Equal, is_descending)
        };
        for is_descending in [false, true] {
            assert_eq!(compare(None, Some(0.0), is_descending), Ordering::Greater);
            assert_eq!(compare(Some(0.0), None, is_descending), Ordering::Less);
        }
        assert_eq!(compare(Some(1.0), Some(2.0), true), Ordering::Greater);
        assert_eq!(compare(Some(1.0), Some(2.0), false), Ordering::Less);
    }
}
