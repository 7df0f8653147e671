//! Where the time went: own time per operation, of the selected requests against those before.

use std::collections::BTreeMap;

use super::table::{SampleRates, Set};

/// A span of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Place of the parent among the spans of the request; none for the request's own span.
    pub parent: Option<usize>,
    /// Nanoseconds since any moment.
    pub start: i64,
    /// Not before the start.
    pub end: i64,
}

/// The own time of each span in nanoseconds: the time in which no child runs. At a moment when `k` children run, each
/// of them gets one `k`-th, so that own times add up to the duration of the span without a parent.
///
/// Children count as far as they lie in their parent. Spans that no path connects to a span without a parent have none.
pub fn own_times(spans: &[Span]) -> Vec<f64> {
    let mut children = vec![Vec::new(); spans.len()];
    let mut own = vec![0.0; spans.len()];
    let mut pending = Vec::new();
    for (place, span) in spans.iter().enumerate() {
        match span.parent {
            Some(parent) if parent < spans.len() && parent != place => children[parent].push(place),
            Some(_) => {}
            None => pending.push((place, vec![Piece { start: span.start, end: span.end.max(span.start), share: 1.0 }])),
        }
    }
    // Each span is visited once: it has one parent, and a circle is not connected to a span without one.
    while let Some((place, pieces)) = pending.pop() {
        let mut shares: BTreeMap<usize, Vec<Piece>> = BTreeMap::new();
        for piece in pieces {
            divide(piece, &children[place], spans, &mut own[place], &mut shares);
        }
        pending.extend(shares);
    }
    own
}

/// A part of a span's time, and the share of it that is the span's.
#[derive(Debug, Clone, Copy)]
struct Piece {
    start: i64,
    end: i64,
    share: f64,
}

/// Divides a piece of a span among the children that run in it, and the span itself while none does.
fn divide(piece: Piece, children: &[usize], spans: &[Span], own: &mut f64, shares: &mut BTreeMap<usize, Vec<Piece>>) {
    let mut events = Vec::new();
    for &child in children {
        let (start, end) = (spans[child].start.max(piece.start), spans[child].end.min(piece.end));
        if start < end {
            events.extend([(start, true, child), (end, false, child)]);
        }
    }
    events.sort_unstable();
    let (mut at, mut running): (i64, Vec<usize>) = (piece.start, Vec::new());
    for (time, begins, child) in events.into_iter().chain([(piece.end, false, usize::MAX)]) {
        if time > at {
            if running.is_empty() {
                *own += (time - at) as f64 * piece.share;
            }
            let share = piece.share / running.len().max(1) as f64;
            for &one in &running {
                let pieces = shares.entry(one).or_default();
                match pieces.last_mut() {
                    Some(last) if last.end == at && last.share.to_bits() == share.to_bits() => last.end = time,
                    _ => pieces.push(Piece { start: at, end: time, share }),
                }
            }
            at = time;
        }
        if begins {
            running.push(child);
        } else {
            running.retain(|&one| one != child);
        }
    }
}

/// The own time of one request by operation.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestTime {
    /// The set of the request.
    pub set: Set,
    /// Operation and nanoseconds, each operation once.
    pub operations: Vec<(u32, f64)>,
}

/// The own time of one operation in the selection and in what it is compared with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OperationTime {
    /// The operation.
    pub operation: u32,
    /// Mean of the selected minutes per request, nanoseconds; of the selected requests when there is no time before.
    pub selected: f64,
    /// Mean of the time before per request, nanoseconds; of the other requests of the same minutes when there is none.
    pub baseline: f64,
    /// `selected` less `baseline`.
    pub delta: f64,
    /// Part of all added time, 0 to 1.
    pub share: f64,
}

/// Least share and least added time of a row: 10 %, and a millisecond.
const SHARE_MIN: f64 = 0.1;
const DELTA_MIN: f64 = 1.0e6;

/// Operations by the time that they add to a request, most first.
///
/// Means have no bound: one wait of 5 s in twenty calls is 250 ms a request. Only for the order, and for whether an
/// operation has a row, times count up to the greater 99th percentile of both sides, so that a single outlier does not
/// stand first.
pub fn own_time(requests: &[RequestTime], rates: SampleRates) -> Vec<OperationTime> {
    let sides = Sides::of(requests, rates);
    let bounds = sides.usual_most();
    let usual: BTreeMap<u32, OperationTime> = sides
        .times(|operation, time| time.min(bounds[&operation]))
        .into_iter()
        .map(|row| (row.operation, row))
        .collect();
    let mut rows = sides.times(|_, time| time);
    rows.retain(|row| {
        let usual = &usual[&row.operation];
        row.delta >= DELTA_MIN && usual.delta >= DELTA_MIN && usual.share >= SHARE_MIN
    });
    let order = |row: &OperationTime| usual[&row.operation].delta;
    rows.sort_by(|a, b| order(b).total_cmp(&order(a)).then(a.operation.cmp(&b.operation)));
    rows
}

/// The requests of the selected minutes and those before; of the selection and the others where no time is before.
struct Sides<'r> {
    /// Side (0: now), weight, and times.
    requests: Vec<(usize, f64, &'r RequestTime)>,
}

impl<'r> Sides<'r> {
    fn of(requests: &'r [RequestTime], rates: SampleRates) -> Sides<'r> {
        let has_before = requests.iter().any(|request| !matches!(request.set, Set::Selected | Set::Rest));
        let side = |request: &'r RequestTime| match request.set {
            Set::Selected => (0, 1.0 / rates.selected, request),
            Set::Rest if has_before => (0, 1.0 / rates.rest, request),
            _ => (1, 1.0, request),
        };
        Sides { requests: requests.iter().map(side).collect() }
    }

    /// Every operation by its number. `counted` says how much of a time counts, in nanoseconds.
    fn times(&self, counted: impl Fn(u32, f64) -> f64) -> Vec<OperationTime> {
        let mut sums: BTreeMap<u32, [f64; 2]> = BTreeMap::new();
        let mut totals = [0.0; 2];
        for &(side, weight, request) in &self.requests {
            totals[side] += weight;
            for &(operation, time) in &request.operations {
                sums.entry(operation).or_default()[side] += weight * counted(operation, time);
            }
        }
        let mean = |sum: f64, total: f64| if total > 0.0 { sum / total } else { 0.0 };
        let mut rows: Vec<OperationTime> = sums
            .into_iter()
            .map(|(operation, [now, before])| {
                let (selected, baseline) = (mean(now, totals[0]), mean(before, totals[1]));
                OperationTime { operation, selected, baseline, delta: selected - baseline, share: 0.0 }
            })
            .collect();
        let added: f64 = rows.iter().map(|row| row.delta.max(0.0)).sum();
        for row in &mut rows {
            row.share = if added > 0.0 { row.delta.max(0.0) / added } else { 0.0 };
        }
        rows
    }

    /// The greater 99th percentile of both sides, of each operation.
    fn usual_most(&self) -> BTreeMap<u32, f64> {
        let mut times: BTreeMap<u32, [Vec<f64>; 2]> = BTreeMap::new();
        for &(side, _, request) in &self.requests {
            for &(operation, time) in &request.operations {
                times.entry(operation).or_default()[side].push(time);
            }
        }
        let most = |sides: [Vec<f64>; 2]| {
            let of_side = |mut times: Vec<f64>| {
                let place = times.len().saturating_sub(1) * 99 / 100;
                if times.is_empty() { 0.0 } else { *times.select_nth_unstable_by(place, f64::total_cmp).1 }
            };
            sides.into_iter().map(of_side).fold(0.0, f64::max)
        };
        times.into_iter().map(|(operation, sides)| (operation, most(sides))).collect()
    }
}

/// The own time of one operation over all requests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanTime {
    /// The operation.
    pub operation: u32,
    /// Mean per request, nanoseconds; requests without the operation count as 0.
    pub mean: f64,
    /// Part of the time of all operations, 0 to 1.
    pub share: f64,
    /// Requests with the operation.
    pub requests: u32,
}

/// Every operation by its own time per request, most first.
pub fn mean_times(requests: &[RequestTime]) -> Vec<MeanTime> {
    let mut sums: BTreeMap<u32, (f64, u32)> = BTreeMap::new();
    for &(operation, time) in requests.iter().flat_map(|request| &request.operations) {
        let (sum, count) = sums.entry(operation).or_default();
        *sum += time;
        *count += 1;
    }
    let total: f64 = sums.values().map(|(sum, _)| sum).sum();
    let of = |(operation, (sum, count)): (u32, (f64, u32))| MeanTime {
        operation,
        mean: sum / requests.len() as f64,
        share: if total > 0.0 { sum / total } else { 0.0 },
        requests: count,
    };
    let mut rows: Vec<MeanTime> = sums.into_iter().map(of).collect();
    rows.sort_by(|a, b| b.mean.total_cmp(&a.mean).then(a.operation.cmp(&b.operation)));
    rows
}
