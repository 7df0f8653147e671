//! Tables of calls and the edges they make. docs/use/services.md.

use proptest::prelude::*;

use super::*;

fn calls(calls: f64) -> Calls {
    Calls { calls, errors: calls / 10.0, p50: Some(calls), p95: Some(calls * 2.0) }
}

fn outgoing(service: &str, kind: PeerKind, peer: &str, number: f64) -> Outgoing {
    Outgoing { service: service.into(), peer: peer.into(), kind, calls: calls(number) }
}

fn pair(caller: &str, address: &str, callee: &str, number: f64) -> Pair {
    Pair { caller: caller.into(), address: address.into(), callee: callee.into(), calls: calls(number) }
}

fn name(id: &NodeId) -> String {
    let kind = match id.kind {
        NodeKind::Service => "",
        NodeKind::Database => "db:",
        NodeKind::Messaging => "queue:",
        NodeKind::Host => "host:",
    };
    format!("{kind}{}", id.name)
}

fn edges(map: &ServiceMap) -> Vec<String> {
    let edge = |edge: &Edge| format!("{} > {} {}", name(&edge.from), name(&edge.to), edge.calls.calls);
    map.edges.iter().map(edge).collect()
}

// docs/use/services.md, "Edges".
#[test]
fn edges_table() {
    use PeerKind::{Database, Host, ReceivedFrom, SentTo};
    for (rule, outgoing, pairs, expected) in [
        ("a database", vec![outgoing("a", Database, "pg", 5.0)], vec![], vec!["a > db:pg 5"]),
        (
            "messaging is between producer and consumer",
            vec![outgoing("a", SentTo, "q", 5.0), outgoing("b", ReceivedFrom, "q", 4.0)],
            vec![],
            vec!["a > queue:q 5", "queue:q > b 4"],
        ),
        ("an address without a pair", vec![outgoing("a", Host, "x", 5.0)], vec![], vec!["a > host:x 5"]),
        (
            "one service behind an address: the caller's count",
            vec![outgoing("a", Host, "x", 50.0)],
            vec![pair("a", "x", "b", 2.0)],
            vec!["a > b 50"],
        ),
        (
            "several services behind an address: in proportion of the pairs",
            vec![outgoing("a", Host, "x", 40.0)],
            vec![pair("a", "x", "b", 3.0), pair("a", "x", "c", 1.0)],
            vec!["a > b 30", "a > c 10"],
        ),
        (
            "pairs of another caller say nothing about the address",
            vec![outgoing("a", Host, "localhost", 4.0), outgoing("b", Host, "localhost", 3.0)],
            vec![pair("a", "localhost", "c", 1.0)],
            vec!["a > c 4", "b > host:localhost 3"],
        ),
        (
            "several addresses of one service",
            vec![outgoing("a", Host, "x", 4.0), outgoing("a", Host, "y", 3.0)],
            vec![pair("a", "x", "b", 1.0), pair("a", "y", "b", 1.0)],
            vec!["a > b 7"],
        ),
        ("a pair without an address", vec![], vec![pair("a", "", "b", 3.0)], vec!["a > b 3"]),
        (
            "calls without an address are counted by their pairs",
            vec![outgoing("a", Host, "", 9.0)],
            vec![pair("a", "", "b", 3.0), pair("a", "", "b", 4.0)],
            vec!["a > b 7"],
        ),
        ("a pair whose caller is outside of the range", vec![], vec![pair("a", "x", "b", 3.0)], vec!["a > b 3"]),
        ("no edge to itself", vec![], vec![pair("a", "x", "a", 3.0)], vec![]),
        (
            "an address that is the caller's own",
            vec![outgoing("a", Host, "x", 3.0)],
            vec![pair("a", "x", "a", 3.0)],
            vec![],
        ),
    ] {
        assert_eq!(edges(&map(&outgoing, &pairs, &[])), expected, "{rule}");
    }
}

#[test]
fn nodes_have_the_calls_that_they_serve() {
    let served =
        [Served { service: "b".into(), calls: calls(90.0) }, Served { service: "c".into(), calls: calls(1.0) }];
    let outgoing = [
        outgoing("a", PeerKind::Host, "x", 40.0),
        outgoing("a", PeerKind::Database, "pg", 7.0),
        outgoing("b", PeerKind::Database, "pg", 9.0),
        outgoing("b", PeerKind::ReceivedFrom, "q", 5.0),
    ];
    let map = map(&outgoing, &[pair("a", "x", "b", 1.0)], &served);
    let nodes: Vec<_> = map.nodes.iter().map(|node| (name(&node.id), node.calls.calls, node.calls.p50)).collect();
    assert_eq!(
        nodes,
        [
            ("b".to_owned(), 90.0, Some(90.0)),
            ("c".to_owned(), 1.0, Some(1.0)),
            ("a".to_owned(), 0.0, None),
            ("db:pg".to_owned(), 16.0, Some(9.0)),
            ("queue:q".to_owned(), 5.0, Some(5.0)),
        ]
    );
    assert_eq!(edges(&map.clone().around(&["b".to_owned()])), ["a > b 40", "b > db:pg 9", "queue:q > b 5"]);
    assert_eq!(map.clone().around(&["b".to_owned()]).nodes.len(), 4);
    assert_eq!(map.clone().around(&["c".to_owned()]).nodes.len(), 1);
    let bounded = map.at_most(3, 1);
    assert_eq!((bounded.nodes.len(), bounded.nodes_left_out, bounded.edges_left_out), (3, 2, 3));
    assert_eq!(edges(&bounded), ["a > b 40"]);
}

proptest! {
    #[test]
    fn calls_with_a_peer_are_counted_once(
        numbers in prop::collection::vec((0..4_u8, 0..3_u8, 1..100_u32), 0..12),
        paired in prop::collection::vec((0..4_u8, 0..3_u8, 4..7_u8, 1..9_u32), 0..12),
    ) {
        // Callees are other services than callers: no edge is one to itself.
        let mut sums: BTreeMap<(u8, u8), u32> = BTreeMap::new();
        for (service, peer, number) in numbers {
            *sums.entry((service, peer)).or_default() += number;
        }
        let all: Vec<Outgoing> = sums
            .iter()
            .map(|((service, peer), number)| {
                outgoing(&service.to_string(), PeerKind::Host, &format!("h{peer}"), f64::from(*number))
            })
            .collect();
        let pairs: Vec<Pair> = paired
            .iter()
            .filter(|(service, peer, ..)| sums.contains_key(&(*service, *peer)))
            .map(|(service, peer, callee, number)| {
                pair(&service.to_string(), &format!("h{peer}"), &callee.to_string(), f64::from(*number))
            })
            .collect();
        let made = map(&all, &pairs, &[]);
        let total: f64 = made.edges.iter().map(|edge| edge.calls.calls).sum();
        prop_assert!((total - f64::from(sums.values().sum::<u32>())).abs() < 1e-6);
        let reversed = |list: &[Pair]| list.iter().rev().cloned().collect::<Vec<_>>();
        let other = map(&all.iter().rev().cloned().collect::<Vec<_>>(), &reversed(&pairs), &[]);
        prop_assert_eq!(edges(&made).len(), edges(&other).len());
    }
}
