//! Which of the subjects that got worse at one time call each other, read from traces.

use std::collections::{BTreeMap, HashMap};

use tidewatch_domain::changes::{Added, CallsMore, Change, Kind, guilty};
use tidewatch_domain::units::{HOUR_NS, MINUTE_NS};
use tidewatch_store::plan::Filter;
use tidewatch_store::tables::Table;

use super::found::NEAR_MINUTES;
use super::read::Subject;
use crate::answer::Row;
use crate::error::QueryError;
use crate::executor::Executor;
use crate::time::Range;
use crate::{filters, plans};
use tidewatch_limits as limits;

/// A subject with its most harmful change.
pub type Worse<'a> = (&'a Subject, &'a Change);

/// A row of a subject.
struct Call {
    subject: usize,
    trace: [u8; 16],
    start: i64,
    end: i64,
    is_failed: bool,
}

/// Calls of a caller to a callee since the caller's change, for each before it, that make the caller the cause.
const MULTIPLIED: f64 = 1.5;
/// Least calls to a callee for each of the caller's requests that count as more than before.
const CALLS_MIN: f64 = 0.5;

/// Which subjects are the cause, by index of a subject.
pub struct Guilt {
    /// The index of the guilty one: its own unless another subject explains its change.
    pub guilty: Vec<usize>,
    /// The callee that the subject calls more often since its change.
    pub calls_more: Vec<Option<CallsMore>>,
}

/// The guilty subjects: a callee that explains the change of its callers, and a caller that multiplied its calls.
pub async fn guilty_of(executor: &Executor, project: u32, worse: &[Worse<'_>]) -> Result<Guilt, QueryError> {
    // Callers and the called are of different services.
    let executor = &executor.unfiltered();
    let mut guilt = Guilt { guilty: (0..worse.len()).collect(), calls_more: vec![None; worse.len()] };
    for is_failing in [false, true] {
        let of_kind: Vec<usize> =
            (0..worse.len()).filter(|index| kind_of(worse[*index].1) == Some(is_failing)).collect();
        for near in clusters(worse, &of_kind) {
            let subjects: Vec<Worse<'_>> = near.iter().map(|index| worse[*index]).collect();
            let mut sampled = Vec::new();
            for index in 0..subjects.len() {
                sampled.push(sample(executor, project, &subjects, index).await?);
            }
            let mut added: Vec<Added> = match is_failing {
                // The failed shares of all calls are known. Those of two samples of a hundred calls differ by chance.
                true => {
                    let change = |index: usize| subjects[index].1.after - subjects[index].1.before;
                    let passed_on = |of: &Called| of.calls * change(of.subject);
                    (0..subjects.len()).map(|index| sampled[index].added(change(index), passed_on)).collect()
                }
                // What callees took is of the same traces: which calls are sampled does not change the difference.
                false => {
                    let passed_on = |of: &Called| of.took - of.calls * sampled[of.subject].before;
                    sampled.iter().map(|of| of.added(of.after - of.before, passed_on)).collect()
                }
            };
            for (caller, of) in sampled.iter().enumerate() {
                let pressed = of.called.iter().filter(|called| {
                    let begins_no_later = subjects[caller].1.since <= subjects[called.subject].1.since;
                    begins_no_later && called.is_multiplied()
                });
                let mut most: Option<&Called> = None;
                for called in pressed {
                    added[called.subject].pressed_by = Some(caller);
                    most = most.filter(|most| most.calls - most.calls_before >= called.calls - called.calls_before);
                    most = most.or(Some(called));
                }
                guilt.calls_more[near[caller]] = most.map(|called| CallsMore {
                    callee: subjects[called.subject].0.name.clone(),
                    before: called.calls_before,
                    after: called.calls,
                });
            }
            for (index, found) in guilty(&added).into_iter().enumerate() {
                guilt.guilty[near[index]] = near[found];
            }
        }
    }
    Ok(guilt)
}

/// Whether the change is of failures (or of durations). `None`: it is not passed on to callers.
pub(super) fn kind_of(change: &Change) -> Option<bool> {
    match change.kind {
        Kind::Slower | Kind::SlowerTail | Kind::SlowShare => Some(false),
        Kind::Failing | Kind::Refusing => Some(true),
        Kind::Fewer | Kind::Dearer => None,
    }
}

/// Groups of at least two subjects whose changes begin within [`NEAR_MINUTES`] of the first of them.
pub(super) fn clusters(worse: &[Worse<'_>], of: &[usize]) -> Vec<Vec<usize>> {
    let since = |index: &usize| worse[*index].1.since;
    let mut sorted = of.to_vec();
    sorted.sort_by_key(since);
    let mut clusters: Vec<Vec<usize>> = Vec::new();
    for index in sorted {
        match clusters.last_mut() {
            Some(cluster) if since(&index).abs_diff(since(&cluster[0])) <= NEAR_MINUTES => cluster.push(index),
            _ => clusters.push(vec![index]),
        }
    }
    clusters.retain(|cluster| cluster.len() > 1);
    clusters
}

/// Calls of a subject before and since its change.
struct Sampled {
    /// Mean durations, nanoseconds.
    before: f64,
    after: f64,
    /// The others that it called since, by index.
    called: Vec<Called>,
}

/// Calls of a subject to a callee, averages per call. Repeats of a call that failed are the callee's, and do not count.
struct Called {
    subject: usize,
    calls: f64,
    /// Before the change.
    calls_before: f64,
    /// Sum of the durations of these calls, nanoseconds.
    took: f64,
}

impl Sampled {
    fn added(&self, change: f64, passed_on: impl Fn(&Called) -> f64) -> Added {
        let callees = self.called.iter().map(|of| (of.subject, passed_on(of))).collect();
        Added { change, callees, pressed_by: None }
    }
}

impl Called {
    /// Whether the caller makes many more calls than before.
    fn is_multiplied(&self) -> bool {
        self.calls >= CALLS_MIN && self.calls >= MULTIPLIED * self.calls_before
    }
}

async fn sample(
    executor: &Executor,
    project: u32,
    subjects: &[Worse<'_>],
    index: usize,
) -> Result<Sampled, QueryError> {
    let (subject, change) = subjects[index];
    let since = change.since.saturating_mul(MINUTE_NS);
    let end = change.recovered.map_or(i64::MAX, |minute| minute.saturating_mul(MINUTE_NS));
    let calls_of = async |range: Range| {
        let window = plans::Window::first(limits::CALLERS_SAMPLED / 2);
        let plan = plans::rows(subject.table, &[project], range, subject.rows(), columns(), vec![], window);
        let answer = executor.run(plan).await?;
        Ok::<_, QueryError>(answer.rows().map(|row| call(row, index)).collect::<Vec<Call>>())
    };
    let before = calls_of(Range { from: since.saturating_sub(HOUR_NS), to: since }).await?;
    let own = calls_of(Range { from: since, to: since.saturating_add(HOUR_NS).min(end) }).await?;
    let below = others(executor, project, subjects, index, &own).await?;
    let below_before = others(executor, project, subjects, index, &before).await?;
    let most = longest(&own);
    let mut called: BTreeMap<usize, Called> = BTreeMap::new();
    for ((call, parent), is_repeat) in below.iter().zip(parents(&own, &below)).zip(repeats(&below)) {
        let Some(subject) = parent else { continue };
        let of = called.entry(subject).or_insert(Called { subject, calls: 0.0, calls_before: 0.0, took: 0.0 });
        of.took += call.took().min(most) / own.len() as f64;
        of.calls += if is_repeat { 0.0 } else { 1.0 / own.len() as f64 };
    }
    for ((_, parent), is_repeat) in below_before.iter().zip(parents(&before, &below_before)).zip(repeats(&below_before))
    {
        if let Some(of) = parent.and_then(|subject| called.get_mut(&subject)).filter(|_| !is_repeat) {
            of.calls_before += 1.0 / before.len() as f64;
        }
    }
    if before.is_empty() {
        // How often it called before is not known.
        called.values_mut().for_each(|of| of.calls_before = of.calls);
    }
    Ok(Sampled { before: mean(&before), after: mean(&own), called: called.into_values().collect() })
}

fn columns() -> Vec<&'static str> {
    vec!["trace_id", "time", "duration", "name", "is_error"]
}

fn call(row: Row<'_>, subject: usize) -> Call {
    let start = row.int("time");
    let end = start.saturating_add(row.int("duration"));
    Call { subject, trace: row.id16("trace_id"), start, end, is_failed: row.flag("is_error") }
}

impl Call {
    /// Nanoseconds.
    fn took(&self) -> f64 {
        (self.end - self.start) as f64
    }
}

/// Four times the duration of nearly all: what is longer counts as this.
fn longest(calls: &[Call]) -> f64 {
    let mut durations: Vec<f64> = calls.iter().map(Call::took).collect();
    durations.sort_unstable_by(f64::total_cmp);
    durations.get(durations.len() * 99 / 100).copied().unwrap_or(0.0) * 4.0
}

/// The mean duration of the rows.
fn mean(calls: &[Call]) -> f64 {
    let most = longest(calls);
    calls.iter().map(|call| call.took().min(most)).sum::<f64>() / calls.len().max(1) as f64
}

/// The rows of the other subjects in the same traces.
async fn others(
    executor: &Executor,
    project: u32,
    subjects: &[Worse<'_>],
    index: usize,
    own: &[Call],
) -> Result<Vec<Call>, QueryError> {
    if own.is_empty() {
        return Ok(Vec::new());
    }
    let from = own.iter().map(|call| call.start).min().unwrap_or(0);
    let to = own.iter().map(|call| call.end).max().unwrap_or(from).saturating_add(1);
    let traces = || filters::ids("trace_id", own.iter().map(|call| call.trace));
    let mut found = Vec::new();
    for table in [Table::Endpoints, Table::Tasks, Table::AiTraces] {
        let of_table = subjects.iter().enumerate().filter(|(other, of)| *other != index && of.0.table == table);
        let names: HashMap<&str, usize> = of_table.map(|(other, of)| (of.0.name.as_str(), other)).collect();
        if names.is_empty() {
            continue;
        }
        let mut listed: Vec<String> = names.keys().map(|name| (*name).to_owned()).collect();
        listed.sort();
        let filter: Filter = traces().and(filters::strings("name", &listed));
        let window = plans::Window::first(limits::CALLEES_READ_MAX);
        let plan = plans::rows(table, &[project], Range { from, to }, filter, columns(), vec![], window);
        let answer = executor.run(plan).await?;
        found.extend(answer.rows().filter_map(|row| Some(call(row, *names.get(row.text("name"))?))));
    }
    Ok(found)
}

/// For each row below: its subject, when the nearest row around it in its trace is an own one.
fn parents(own: &[Call], below: &[Call]) -> Vec<Option<usize>> {
    let mut traces: HashMap<[u8; 16], Vec<(&Call, bool)>> = HashMap::new();
    for (call, is_own) in own.iter().map(|call| (call, true)).chain(below.iter().map(|call| (call, false))) {
        traces.entry(call.trace).or_default().push((call, is_own));
    }
    let nearest_is_own = |call: &Call| {
        let around = traces.get(&call.trace)?.iter().filter(|(other, _)| {
            let contains = other.start <= call.start && call.end <= other.end;
            contains && (other.end - other.start) > (call.end - call.start)
        });
        let nearest = around.min_by_key(|(other, _)| other.end - other.start)?;
        nearest.1.then_some(call.subject)
    };
    below.iter().map(nearest_is_own).collect()
}

/// For each call: whether an earlier call of its subject in its trace failed.
fn repeats(calls: &[Call]) -> Vec<bool> {
    let mut failed: HashMap<([u8; 16], usize), i64> = HashMap::new();
    for call in calls.iter().filter(|call| call.is_failed) {
        let end = failed.entry((call.trace, call.subject)).or_insert(call.end);
        *end = call.end.min(*end);
    }
    let is_repeat = |call: &Call| failed.get(&(call.trace, call.subject)).is_some_and(|end| *end <= call.start);
    calls.iter().map(is_repeat).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // ANSWERS 6 B: repeats of a failed call are the callee's fault.
    #[test]
    fn calls_after_a_failed_one_are_repeats() {
        let call = |subject, trace: u8, start, is_failed| Call {
            subject,
            trace: [trace; 16],
            start,
            end: start + 10,
            is_failed,
        };
        let calls = [
            call(1, 1, 0, true),
            call(1, 1, 20, true),
            call(1, 1, 40, false),
            call(2, 1, 40, false),
            call(1, 2, 0, false),
            call(1, 2, 20, false),
        ];
        assert_eq!(repeats(&calls), [false, true, true, false, false, false]);
        let called = |calls, calls_before| Called { subject: 1, calls, calls_before, took: 0.0 };
        for (of, expected) in
            [(called(4.0, 1.0), true), (called(1.2, 1.0), false), (called(0.1, 0.01), false), (called(1.0, 0.0), true)]
        {
            assert_eq!(of.is_multiplied(), expected);
        }
    }

    // A row belongs to the nearest row around it: calls of a callee are not those of its caller.
    #[test]
    fn calls_below_a_callee_are_not_the_callers() {
        let call = |subject, trace: u8, start, end| Call { subject, trace: [trace; 16], start, end, is_failed: false };
        let own = [call(0, 1, 0, 100), call(0, 2, 0, 100)];
        let below =
            [call(1, 1, 10, 90), call(2, 1, 20, 80), call(2, 2, 20, 80), call(1, 3, 0, 10), call(1, 2, 90, 120)];
        assert_eq!(parents(&own, &below), [Some(1), None, Some(2), None, None]);
    }
}
