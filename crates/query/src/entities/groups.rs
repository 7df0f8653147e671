//! Groups: one row per name, sorted, with their trends.

use std::cmp::Ordering;

use tidewatch_domain::ranking::by_total_cost;
use tidewatch_store::plan::Filter;

use super::{EntityKind, EntityStats, ListBody, stats};
use crate::ask::Ask;
use crate::error::QueryError;
use crate::filters;
use crate::page::{self, Paging};
use crate::time::Range;
use crate::trend::{self, Subject};
use crate::views::page::Page;
use tidewatch_accounts::Project;

/// All rows of one name in the range.
pub struct Found<K: EntityKind> {
    pub name: String,
    pub stats: EntityStats<K::Metrics>,
    pub judgement: K::Judgement,
}

/// What groups are sorted by.
pub enum SortValue {
    Name,
    Number(f64),
    /// Groups without a value come last in either direction.
    AbsentLast(Option<f64>),
}

/// `POST /api/.../grouped`. WIRE 8.1.
pub async fn groups<K: EntityKind>(
    ask: &Ask,
    project: &Project,
    body: impl ListBody<K::GroupOrder>,
) -> Result<Page<K::Group>, QueryError> {
    let (request, narrowed) = body.split();
    let now = ask.context.clock.now_ns();
    let range = Range::of_list(request.from_date.as_deref(), request.to_date.as_deref(), now)?;
    let paging = Paging::read(request.pagination)?;
    let order = page::order(&request.order_by)?;
    let root = filters::root(request.root_filter.as_deref())?;
    let filter = root.and(K::search(request.search.as_deref())).and(narrowed);

    let mut found = found::<K>(ask, project, range, filter.clone()).await?;
    sort(&mut found, order, page::is_descending(request.sort_direction));
    let total = found.len() as u64;
    let data = views(ask, project, range, filter, paging.cut(found)).await?;
    Ok(paging.page(data, total))
}

/// The first groups of the range in the kind's default order.
pub async fn top<K: EntityKind>(
    ask: &Ask,
    project: &Project,
    range: Range,
    count: usize,
) -> Result<Vec<K::Group>, QueryError> {
    let mut found = found::<K>(ask, project, range, Filter::True).await?;
    sort(&mut found, K::GroupOrder::default(), true);
    found.truncate(count);
    views(ask, project, range, Filter::True, found).await
}

async fn found<K: EntityKind>(
    ask: &Ask,
    project: &Project,
    range: Range,
    filter: Filter,
) -> Result<Vec<Found<K>>, QueryError> {
    let context = K::ranking(ask, project).await?;
    let found = stats::by_name::<K>(ask, project.number, range, filter, &context).await?;
    let judged = |(name, stats): (String, EntityStats<K::Metrics>)| Found {
        judgement: K::judge(&name, &stats, &context),
        name,
        stats,
    };
    Ok(found.into_iter().map(judged).collect())
}

/// Equal groups are sorted by count, then by name, so that pages do not overlap.
fn sort<K: EntityKind>(found: &mut [Found<K>], order: K::GroupOrder, is_descending: bool) {
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
    ask: &Ask,
    project: &Project,
    range: Range,
    filter: Filter,
    shown: Vec<Found<K>>,
) -> Result<Vec<K::Group>, QueryError> {
    let names: Vec<String> = shown.iter().map(|found| found.name.clone()).collect();
    let filter = filter.and(filters::texts("name", &names));
    let subject = Subject { table: K::TABLE, project: project.number, filter: filter.clone(), column: "name" };
    let (trends, extra) =
        tokio::try_join!(trend::trends(ask, subject, range), K::group_extra(ask, project.number, range, filter))?;
    let view = |found: Found<K>| {
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
