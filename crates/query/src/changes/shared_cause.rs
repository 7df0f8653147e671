//! Subjects that got slower at one time because of the same operation: one card.

use tidewatch_domain::changes::SlowerOperation;
use tidewatch_domain::units::MINUTE_NS;
use tidewatch_limits as limits;

use super::callers::{Worse, clusters, kind_of};
use crate::error::QueryError;
use crate::executor::Executor;
use crate::explain;
use crate::time::Range;

/// Minutes before and since a change whose rows are compared.
const COMPARED: i64 = 10;
/// Part of the added time that one operation has when it is the cause.
const MOST: f64 = 0.5;

/// By index of a subject: the operation that slows it and other subjects, of the first of them. `guilty` points from the
/// others to the first, which is the most harmful.
pub async fn join(
    executor: &Executor,
    project: u32,
    worse: &[Worse<'_>],
    guilty: &mut [usize],
) -> Result<Vec<Option<SlowerOperation>>, QueryError> {
    let mut joined = vec![None; worse.len()];
    let of_itself: Vec<usize> =
        (0..worse.len()).filter(|index| guilty[*index] == *index && kind_of(worse[*index].1) == Some(false)).collect();
    for mut near in clusters(worse, &of_itself) {
        near.sort_by(|one, other| worse[*other].1.harm.total_cmp(&worse[*one].1.harm));
        near.truncate(limits::SHARED_CAUSE_SUBJECTS_MAX);
        let mut found: Vec<(usize, SlowerOperation)> = Vec::new();
        for index in near {
            let Some(slower) = slower_operation(executor, project, worse[index]).await? else { continue };
            match found.iter().find(|(_, known)| known.is_same(&slower)) {
                None => found.push((index, slower)),
                Some((first, known)) => {
                    joined[*first] = Some(known.clone());
                    guilty.iter_mut().filter(|of| **of == index).for_each(|of| *of = *first);
                }
            }
        }
    }
    Ok(joined)
}

/// The operation that has most of the time that a subject's change added.
async fn slower_operation(
    executor: &Executor,
    project: u32,
    (subject, change): Worse<'_>,
) -> Result<Option<SlowerOperation>, QueryError> {
    let minutes = |minute: i64| minute.saturating_mul(MINUTE_NS);
    let end = change.recovered.unwrap_or(i64::MAX).min(change.since.saturating_add(COMPARED));
    let on = Range { from: minutes(change.since), to: minutes(end) };
    let before = Range { from: minutes(change.since.saturating_sub(COMPARED)), to: minutes(change.since) };
    let (rows, most) = (subject.rows(), limits::SHARED_CAUSE_ROWS);
    let own_time = explain::added_time(executor, project, subject.table, rows, [before, on], most).await?;
    let first = own_time.into_iter().next().filter(|(_, time)| time.share >= MOST);
    Ok(first.map(|(operation, time)| SlowerOperation {
        name: operation.name,
        service: operation.service,
        added_ns: time.delta,
    }))
}
