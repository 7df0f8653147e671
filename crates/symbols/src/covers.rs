//! Cuts nested ranges into disjoint pieces, each with its innermost scope.

use std::ops::Range;

/// A range of addresses of an image, or of offsets of a script, that a scope covers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cover {
    pub start: u32,
    pub end: u32,
    /// The caller's number of the scope.
    pub scope: u32,
    /// The deepest of scopes with equal ranges is innermost.
    pub depth: u32,
}

/// Cuts nested covers into disjoint pieces, sorted by address, each with its innermost scope.
///
/// Of covers that overlap without nesting, the one that starts later wins until it ends. O(n log n) for any input.
pub(crate) fn innermost(mut covers: Vec<Cover>) -> Vec<(Range<u32>, u32)> {
    covers.sort_by_key(|c| (c.start, std::cmp::Reverse(c.end), c.depth));
    let mut pieces: Vec<(Range<u32>, u32)> = Vec::with_capacity(covers.len() * 2);
    let mut open: Vec<(u32, u32)> = Vec::new();
    let mut at = 0;
    for cover in covers {
        close_until(&mut open, &mut pieces, &mut at, cover.start);
        if let Some(&(_, scope)) = open.last() {
            push(&mut pieces, at..cover.start, scope);
        }
        at = cover.start;
        open.push((cover.end, cover.scope));
    }
    close_until(&mut open, &mut pieces, &mut at, u32::MAX);
    pieces
}

fn close_until(open: &mut Vec<(u32, u32)>, pieces: &mut Vec<(Range<u32>, u32)>, at: &mut u32, until: u32) {
    while let Some(&(end, scope)) = open.last() {
        if end > until {
            break;
        }
        if end > *at {
            push(pieces, *at..end, scope);
            *at = end;
        }
        open.pop();
    }
}

fn push(pieces: &mut Vec<(Range<u32>, u32)>, range: Range<u32>, scope: u32) {
    if range.is_empty() {
        return;
    }
    match pieces.last_mut() {
        Some((last, last_scope)) if last.end == range.start && *last_scope == scope => last.end = range.end,
        _ => pieces.push((range, scope)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cover(start: u32, end: u32, scope: u32, depth: u32) -> Cover {
        Cover { start, end, scope, depth }
    }

    #[test]
    fn inner_calls_interrupt_their_callers() {
        let covers = vec![cover(0, 100, 1, 1), cover(10, 30, 2, 2), cover(15, 20, 3, 3), cover(200, 210, 4, 1)];
        let expected = [(0..10, 1), (10..15, 2), (15..20, 3), (20..30, 2), (30..100, 1), (200..210, 4)]
            .map(|p: (Range<u32>, u32)| p);
        assert_eq!(innermost(covers), expected);
    }

    proptest! {
        #[test]
        fn pieces_are_sorted_disjoint_and_cover_the_same_addresses(
            raw in proptest::collection::vec((0u32..200, 1u32..60, 0u32..5), 0..30)
        ) {
            let covers: Vec<_> = raw.iter().enumerate().map(|(i, &(s, l, d))| cover(s, s + l, i as u32, d)).collect();
            let pieces = innermost(covers.clone());
            prop_assert!(pieces.windows(2).all(|p| p[0].0.end <= p[1].0.start));
            for address in 0..300u32 {
                let hit = pieces.iter().find(|(range, _)| range.contains(&address));
                let covered = covers.iter().any(|c| (c.start..c.end).contains(&address));
                prop_assert_eq!(hit.is_some(), covered);
                if let Some((_, scope)) = hit {
                    let cover = covers[*scope as usize];
                    prop_assert!((cover.start..cover.end).contains(&address));
                }
            }
        }
    }
}
