//! The records before and after one record, of the same service and instance.

use std::collections::HashMap;

use tidewatch_domain::units::{DAY_NS, MINUTE_NS};
use tidewatch_limits as limits;
use tidewatch_store::plan::{AttributeScope, Filter, Op};
use tidewatch_store::tables::Table;

use super::{COLUMNS, numbered, view};
use crate::answer::Answer;
use crate::error::QueryError;
use crate::executor::Executor;
use crate::filters;
use crate::plans::{self, Window};
use crate::projects::Projects;
use crate::time::{self, Range};
use crate::views::log::{LogAround, LogAroundRequest, LogView};

/// The attribute of the resource that names one instance of a service.
const INSTANCE: &str = "service.instance.id";
/// Time before and after the record that is searched until enough records are found, nanoseconds.
const REACHES: [i64; 3] = [10 * MINUTE_NS, DAY_NS, 31 * DAY_NS];

/// A record with its place in the order: time, then id.
type Placed = (i64, u128, LogView);

/// `POST /api/logs/around`. The order of records is that of time and id, so that it is the same in every response.
/// [`QueryError::NotFound`] when no record has this time, service and id.
pub async fn around(
    executor: &Executor,
    projects: &Projects,
    request: LogAroundRequest,
) -> Result<LogAround, QueryError> {
    let at = time::parse(&request.timestamp, "timestamp")?;
    let count = request.count.unwrap_or(limits::LOGS_AROUND_DEFAULT);
    if count == 0 || count > limits::LOGS_AROUND_MAX {
        return Err(QueryError::unprocessable(format!("count is 1 to {}", limits::LOGS_AROUND_MAX)));
    }
    let mut near = Near { executor, projects, filter: filters::text("server_name", &request.service_name) };
    let is_record = |placed: &Placed| placed.2.id == request.id;
    let not_found = || QueryError::not_found("no such log record");
    let record = near.at(at).await?.into_iter().find(is_record).ok_or_else(not_found)?.2;
    let instance = record.resource_attributes.0.get(INSTANCE).cloned().filter(|_| request.same_instance);
    if let Some(instance) = &instance {
        let (scope, key) = (AttributeScope::Resource, INSTANCE.to_owned());
        let same = Filter::Attribute { scope, key, op: Op::Eq, value: instance.clone() };
        near.filter = near.filter.and(same);
    }
    let mut same_time = near.at(at).await?;
    let place = same_time.iter().position(is_record).ok_or_else(not_found)?;
    let mut after = same_time.split_off(place);
    let record = after.remove(0).2;
    let mut before = near.side(at, count + 1, true).await?;
    before.append(&mut same_time);
    after.append(&mut near.side(at, count + 1, false).await?);
    let more_before = before.len() > count;
    let more_after = after.len() > count;
    before.drain(..before.len().saturating_sub(count));
    after.truncate(count);
    let views = |placed: Vec<Placed>| placed.into_iter().map(|(.., view)| view).collect();
    Ok(LogAround { before: views(before), record, after: views(after), more_before, more_after, instance })
}

/// Reads records near the given one.
struct Near<'a> {
    executor: &'a Executor,
    projects: &'a Projects,
    filter: Filter,
}

impl Near<'_> {
    /// The records of one nanosecond, in order.
    async fn at(&self, at: i64) -> Result<Vec<Placed>, QueryError> {
        let range = Range { from: at, to: at.saturating_add(1) };
        let answer = self.read(range, true, limits::LOGS_AROUND_SAME_TIME_MAX).await?;
        Ok(self.placed(&[&answer], |_| true))
    }

    /// At least `count` records before (or after) a time, if there are, in order; at most one time more than that.
    async fn side(&self, at: i64, count: usize, is_before: bool) -> Result<Vec<Placed>, QueryError> {
        let mut found = None;
        for reach in REACHES {
            let range = match is_before {
                true => Range { from: at.saturating_sub(reach), to: at },
                false => Range { from: at.saturating_add(1), to: at.saturating_add(reach) },
            };
            let answer = self.read(range, is_before, count).await?;
            let is_enough = answer.len() >= count;
            found = Some(answer);
            if is_enough {
                break;
            }
        }
        let Some(answer) = found else { return Ok(Vec::new()) };
        if answer.len() < count {
            return Ok(self.placed(&[&answer], |_| true));
        }
        // The engine does not order records of equal time: those of the last time are read together.
        let last = answer.row(answer.len() - 1).int("time");
        let range = Range { from: last, to: last.saturating_add(1) };
        let of_last = self.read(range, true, limits::LOGS_AROUND_SAME_TIME_MAX).await?;
        let mut placed = self.placed(&[&answer], |time| time != last);
        placed.extend(self.placed(&[&of_last], |_| true));
        placed.sort_by_key(|(time, id, _)| (*time, *id));
        match is_before {
            true => drop(placed.drain(..placed.len().saturating_sub(count))),
            false => placed.truncate(count),
        }
        Ok(placed)
    }

    async fn read(&self, range: Range, descending: bool, limit: usize) -> Result<Answer, QueryError> {
        let order = vec![if descending { plans::descending("time") } else { plans::ascending("time") }];
        let numbers = self.projects.numbers();
        let (filter, window) = (self.filter.clone(), Window::first(limit));
        let plan = plans::rows(Table::Logs, &numbers, range, filter, COLUMNS.to_vec(), order, window);
        self.executor.run(plan).await
    }

    /// The records whose time passes, in order.
    fn placed(&self, answers: &[&Answer], passes: impl Fn(i64) -> bool) -> Vec<Placed> {
        let mut copies = HashMap::new();
        let rows = answers.iter().flat_map(|answer| answer.rows()).filter(|row| passes(row.int("time")));
        let mut placed: Vec<Placed> = rows
            .map(|row| {
                let id = numbered(row, &mut copies);
                (row.int("time"), id, view(row, id, self.projects))
            })
            .collect();
        placed.sort_by_key(|(time, id, _)| (*time, *id));
        placed
    }
}
