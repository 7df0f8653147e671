use proptest::prelude::*;

use super::*;
use crate::project::EntityKind;

/// Nodes of (id, parent, start).
fn nodes(rows: &[(u8, u8, i64)]) -> Vec<Node> {
    rows.iter()
        .map(|(id, parent, start_ns)| Node {
            span_id: SpanId([*id; 8]),
            is_server_side: false,
            parent_span_id: SpanId([*parent; 8]),
            start_ns: *start_ns,
            duration_ns: 1,
        })
        .collect()
}

/// `1 .2 ..3`: one dot per level; `?` marks a missing parent.
fn summary(rows: &[(u8, u8, i64)], rows_max: usize) -> String {
    let nodes = nodes(rows);
    let result = waterfall(&nodes, rows_max);
    let line = |row: &Row| {
        let mark = if row.has_missing_parent { "?" } else { "" };
        format!("{}{}{mark}", ".".repeat(row.depth as usize), nodes[row.node as usize].span_id.0[0])
    };
    let gaps: Vec<_> = result.gaps.iter().map(|gap| format!(" {}", gap.as_str())).collect();
    result.rows.iter().map(line).collect::<Vec<_>>().join(" ") + &gaps.concat()
}

// Spec: span, rules 1 and 4.
#[test]
fn order_table() {
    for (rows, expected) in [
        (vec![], ""),
        (vec![(1, 0, 0)], "1"),
        (vec![(3, 1, 20), (2, 1, 10), (1, 0, 0)], "1 .2 .3"),
        (vec![(1, 0, 0), (2, 1, 1), (3, 2, 2), (4, 1, 3)], "1 .2 ..3 .4"),
        // Spans with the same start are ordered by id, so that the order is stable.
        (vec![(1, 0, 0), (3, 1, 5), (2, 1, 5)], "1 .2 .3"),
        // Two roots, chronological.
        (vec![(2, 0, 9), (1, 0, 3)], "1 2"),
        // A span with a missing parent is at depth 0, with its children below it.
        (vec![(1, 0, 0), (5, 9, 4), (6, 5, 5)], "1 5? .6 missing_parents"),
        // A cycle is broken at its earliest span; other children stay below.
        (vec![(1, 2, 5), (2, 1, 3), (3, 1, 1)], "2? .1 ..3 missing_parents"),
        (vec![(1, 1, 5)], "1? missing_parents"),
        // The same span twice.
        (vec![(1, 0, 0), (2, 1, 1), (2, 1, 1)], "1 .2"),
    ] {
        assert_eq!(summary(&rows, 100), expected, "{rows:?}");
    }
}

// DECISIONS 11: Zipkin and B3 share one span id between caller and callee.
#[test]
fn both_sides_of_a_shared_span_are_shown() {
    // The caller's root (1), both sides of its call (2), a span of the callee (3) and both sides of its own call (4).
    let rows = [(1, 0, 0), (2, 1, 1), (2, 1, 2), (3, 2, 3), (4, 3, 4), (4, 3, 5), (2, 1, 2)];
    let mut nodes = nodes(&rows);
    for position in [2, 5, 6] {
        nodes[position].is_server_side = true;
    }
    for _ in 0..rows.len() {
        nodes.rotate_left(1);
        let shown = waterfall(&nodes, 100);
        let lines: Vec<_> = shown.rows.iter().map(|row| (nodes[row.node as usize], row.depth)).collect();
        let expected = [(1, false, 0), (2, false, 1), (2, true, 2), (3, false, 3), (4, false, 4), (4, true, 5)];
        let rows = lines.iter().map(|(node, depth)| (node.span_id.0[0], node.is_server_side, *depth));
        assert_eq!(rows.collect::<Vec<_>>(), expected);
        assert!(shown.gaps.is_empty());
    }
    // One side alone, and a side that is its own parent.
    assert_eq!(waterfall(&nodes[..1], 100).rows.len(), 1);
    let cycle =
        [false, true].map(|is_server_side| Node { is_server_side, parent_span_id: nodes[0].span_id, ..nodes[0] });
    assert_eq!(waterfall(&cycle, 100).rows.len(), 2);
}

// Spec: span, rule 4: graph limits.
#[test]
fn the_limit_keeps_parents_and_is_reported() {
    assert_eq!(summary(&[(1, 0, 0), (2, 1, 1), (3, 2, 2), (4, 1, 3)], 2), "1 .2 span_limit");
    let result = waterfall(&nodes(&[(1, 0, 0), (2, 1, 1), (3, 2, 2)]), 2);
    assert_eq!((result.total, result.rows.len()), (3, 2));
}

#[test]
fn a_deep_trace_does_not_exhaust_the_stack() {
    let chain: Vec<Node> = (1..=100_000u64)
        .map(|id| Node {
            is_server_side: false,
            span_id: SpanId(id.to_be_bytes()),
            parent_span_id: SpanId((id - 1).to_be_bytes()),
            start_ns: 0,
            duration_ns: 0,
        })
        .collect();
    let result = waterfall(&chain, usize::MAX);
    assert_eq!(result.rows.last().map(|row| row.depth), Some(99_999));
}

proptest! {
    #[test]
    fn every_span_is_shown_once_below_its_parent(
        rows in prop::collection::vec((1u8..12, 0u8..12, -3i64..3), 0..24)
    ) {
        let nodes = nodes(&rows);
        let result = waterfall(&nodes, usize::MAX);
        let mut ids: Vec<_> = nodes.iter().map(|node| node.span_id).collect();
        ids.sort();
        ids.dedup();
        let mut shown: Vec<_> = result.rows.iter().map(|row| nodes[row.node as usize].span_id).collect();
        shown.sort();
        prop_assert_eq!(shown, ids);
        let mut path: Vec<SpanId> = Vec::new();
        for row in &result.rows {
            let node = nodes[row.node as usize];
            path.truncate(row.depth as usize);
            prop_assert_eq!(path.len(), row.depth as usize);
            if row.depth > 0 {
                prop_assert_eq!(path.last().copied(), Some(node.parent_span_id));
            }
            path.push(node.span_id);
        }
    }
}

// DECISIONS 8.
#[test]
fn stored_owner_table() {
    let span = |id: u8, parent: u8, entity, name| StoredSpan {
        span_id: SpanId([id; 8]),
        parent_span_id: SpanId([parent; 8]),
        entity,
        name,
    };
    let owners = StoredOwners::new(vec![
        span(1, 0, Some(EntityKind::Endpoint), "GET /a"),
        span(2, 1, None, ""),
        span(3, 2, Some(EntityKind::Task), "job"),
        span(4, 3, None, ""),
        span(5, 9, None, ""),
        span(6, 7, None, ""),
        span(7, 6, None, ""),
        span(8, 0, None, ""),
        // DECISIONS 11: caller and callee share an id.
        span(10, 0, None, ""),
        span(10, 0, Some(EntityKind::Endpoint), "GET /b"),
        span(11, 10, None, ""),
    ]);
    for (start, expected) in [
        (1, Some("GET /a")),
        (2, Some("GET /a")),
        (3, Some("job")),
        (4, Some("job")),
        (5, None),
        (6, None),
        (8, None),
        (9, None),
        (10, Some("GET /b")),
        (11, Some("GET /b")),
        (0, None),
    ] {
        assert_eq!(owners.owner(SpanId([start; 8])).map(|owner| owner.name), expected, "from {start}");
    }
}
