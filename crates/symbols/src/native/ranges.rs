//! Builds the range table from ranges with holes and overlaps, and the index into it.

use super::nodes::NONE;

/// Range starts and their nodes. Uncovered addresses become ranges of node [`NONE`]. The first of overlapping ranges
/// wins.
pub(super) fn gapless(ranges: &[(u32, u32, u32)]) -> (Vec<u32>, Vec<u32>) {
    let (mut starts, mut nodes): (Vec<u32>, Vec<u32>) =
        (Vec::with_capacity(ranges.len() + 1), Vec::with_capacity(ranges.len() + 1));
    let mut push = |start: u32, node: u32| {
        if nodes.last() != Some(&node) {
            starts.push(start);
            nodes.push(node);
        }
    };
    let mut at = 0;
    for &(start, end, node) in ranges {
        let start = start.max(at);
        if start >= end {
            continue;
        }
        if start > at {
            push(at, NONE);
        }
        push(start, node);
        at = end;
    }
    push(at, NONE);
    (starts, nodes)
}

/// The first range that starts in each block of `1 << shift` addresses or later, and a final entry.
pub(super) fn buckets(starts: &[u32], shift: u32) -> Vec<u32> {
    let last = starts.last().map_or(0, |s| s >> shift);
    let mut buckets = Vec::with_capacity(last as usize + 2);
    let mut index = 0u32;
    for bucket in 0..=last {
        while starts.get(index as usize).is_some_and(|s| s >> shift < bucket) {
            index += 1;
        }
        buckets.push(index);
    }
    buckets.push(starts.len() as u32);
    buckets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_become_ranges_and_the_first_of_overlapping_ranges_wins() {
        let (starts, nodes) = gapless(&[(10, 20, 1), (15, 30, 2), (30, 40, 2), (50, 60, 3)]);
        assert_eq!(starts, [0, 10, 20, 40, 50, 60]);
        assert_eq!(nodes, [NONE, 1, 2, NONE, 3, NONE]);
        assert_eq!(buckets(&starts, 4), [0, 2, 3, 4, 6]);
    }
}
