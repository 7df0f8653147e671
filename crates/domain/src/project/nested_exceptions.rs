//! Joins the exceptions that nested spans of one request record of one failure. Issue 35, part 1, 7.
//!
//! Each span that an exception passes records it with the frames up to itself. The record of the deepest span decides on
//! the Issue of all of them; each record counts.

use super::Exception;
use crate::grouping::{Occurrence, is_one_failure};
use crate::model::TraceBatch;
use crate::rules::span_index::SpanIndex;

/// Exceptions of one request that are compared. Others keep their own group.
const COMPARED_MAX: usize = 200;
/// Levels between two spans that are followed.
const LEVELS_MAX: usize = 50;

/// Gives an exception the group of the same failure on the deepest span below its span. `occurrences` are those of
/// `exceptions`.
pub(super) fn join<'a>(
    batch: &TraceBatch<'a>,
    index: &SpanIndex<'_, 'a>,
    exceptions: &mut [Exception<'a>],
    occurrences: &[Occurrence<'a>],
) {
    let compared = exceptions.len().min(occurrences.len()).min(COMPARED_MAX);
    let may_be_one = |one: usize, other: usize| {
        let (left, right) = (&occurrences[one], &occurrences[other]);
        left.message == right.message && left.exception_type == right.exception_type
    };
    let has_other = |one: &usize| {
        (0..compared).any(|other| exceptions[*one].group != exceptions[other].group && may_be_one(*one, other))
    };
    let candidates = (0..compared).filter(has_other);
    let mut ascending: Vec<(usize, usize)> =
        candidates.map(|one| (ancestors(batch, index, exceptions[one].span).count(), one)).collect();
    ascending.sort_unstable();
    // From the deepest one upwards, each takes the group of the nearest one below it.
    for position in (0..ascending.len()).rev() {
        let (_, upper) = ascending[position];
        let mut lower = ascending[position + 1..].iter().map(|(_, lower)| *lower);
        let below = lower.find(|lower| {
            exceptions[upper].group != exceptions[*lower].group
                && may_be_one(upper, *lower)
                && ancestors(batch, index, exceptions[*lower].span).any(|span| span == exceptions[upper].span)
                && is_one_failure(&occurrences[upper], &occurrences[*lower])
        });
        if let Some(lower) = below {
            let Exception { group, group_version, .. } = exceptions[lower];
            (exceptions[upper].group, exceptions[upper].group_version) = (group, group_version);
        }
    }
}

/// The spans above a span, from its parent.
fn ancestors<'a>(batch: &TraceBatch<'a>, index: &SpanIndex<'_, 'a>, span: u32) -> impl Iterator<Item = u32> {
    let parent = |span: u32| batch.spans.get(span as usize).and_then(|span| index.parent_in_request(span));
    std::iter::successors(parent(span), move |span| parent(*span)).take(LEVELS_MAX)
}
