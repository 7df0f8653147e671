//! The minute in which a change began.

/// Splits within this distance of the greatest logarithm of the likelihood are as good.
const TIE: f64 = 2.0;
/// Minutes within which a start is exact.
const EXACT: usize = 5;

/// The index of the first minute of the worse part, of minutes as (requests, bad requests): the split into two parts
/// with the greatest binomial likelihood. Also whether it is certain within five minutes. `None`: no split has a worse
/// end.
pub(super) fn split(minutes: &[(f64, f64)]) -> Option<(usize, bool)> {
    let likelihood = |(calls, bad): (f64, f64)| {
        let part = |of: f64| if of > 0.0 { of * (of / calls).ln() } else { 0.0 };
        if calls > 0.0 { part(bad) + part((calls - bad).max(0.0)) } else { 0.0 }
    };
    let is_worse = |head: (f64, f64), tail: (f64, f64)| tail.1 * head.0.max(1.0) > head.1 * tail.0.max(1.0);
    best(minutes, |head, _, tail, _| is_worse(head, tail).then(|| likelihood(head) + likelihood(tail)))
}

/// Like [`split`], for fallen numbers of requests: Poisson likelihood, fewer in the end.
pub(super) fn split_calls(minutes: &[(f64, f64)]) -> Option<(usize, bool)> {
    let likelihood = |calls: f64, minutes: usize| if calls > 0.0 { calls * (calls / minutes as f64).ln() } else { 0.0 };
    best(minutes, |head, before, tail, after| {
        let is_fewer = tail.0 / after as f64 <= head.0 / before as f64;
        is_fewer.then(|| likelihood(head.0, before) + likelihood(tail.0, after))
    })
}

/// The split with the greatest value, the latest of equal ones. `value` has the sums and lengths of both parts.
fn best(
    minutes: &[(f64, f64)],
    value: impl Fn((f64, f64), usize, (f64, f64), usize) -> Option<f64>,
) -> Option<(usize, bool)> {
    let add = |one: (f64, f64), other: &(f64, f64)| (one.0 + other.0, one.1 + other.1);
    let all = minutes.iter().fold((0.0, 0.0), add);
    let mut head = (0.0, 0.0);
    let mut values = Vec::with_capacity(minutes.len());
    for (index, minute) in minutes.iter().enumerate() {
        if index > 0 {
            let tail = (all.0 - head.0, all.1 - head.1);
            values.extend(value(head, index, tail, minutes.len() - index).map(|value| (index, value)));
        }
        head = add(head, minute);
    }
    let (start, greatest) = values.iter().copied().max_by(|one, other| one.1.total_cmp(&other.1))?;
    let is_near = |(index, value): &(usize, f64)| *value < greatest - TIE || index.abs_diff(start) <= EXACT;
    Some((start, values.iter().all(is_near)))
}
