//! Calls between services: the row of the side that arrives second has the service of the other. docs/use/services.md.

use arrow::array::AsArray;
use arrow::datatypes::{DataType, UInt8Type};
use tidewatch_domain::model::{AnyValue, KeyValue, Resource, Slice, Span, SpanId, SpanKind, TraceBatch, TraceId};
use tidewatch_domain::project::{KeptSpan, Promoted, TraceProjection};
use tidewatch_domain::rules::peer::{Peer, PeerKind};
use tidewatch_journal::Position;

use super::support::*;
use crate::{Lake, LakeOptions};
use tidewatch_store::columns::{NO_KEY, Rows};
use tidewatch_store::tables::Table;

/// One span: service, kind, trace, span, parent, peer.
type Sent = (&'static str, SpanKind, u8, u8, u8, Option<(PeerKind, &'static str)>);

fn request(sent: &[Sent]) -> Rows {
    let model = |(_, kind, trace, span, parent, _): &Sent| Span {
        trace_id: TraceId([*trace; 16]),
        span_id: SpanId([*span; 8]),
        parent_span_id: SpanId([*parent; 8]),
        name: "call",
        kind: *kind,
        start_ns: TODAY_NS as u64,
        end_ns: TODAY_NS as u64 + 5,
        attributes: Slice { start: 0, end: 1 },
        ..Span::default()
    };
    let batch = TraceBatch {
        resources: vec![Resource::default()],
        scopes: vec![Default::default()],
        spans: sent.iter().map(model).collect(),
        attributes: vec![KeyValue { key: "a", value: AnyValue::Int(1) }],
        ..TraceBatch::default()
    };
    let kept = |(index, (service, kind, .., peer)): (u32, &Sent)| KeptSpan {
        span: index,
        start_ns: TODAY_NS,
        duration_ns: 5,
        server_name: service,
        app_version: "",
        promoted: Promoted::default(),
        http_status: 0,
        weight: 1.0,
        peer: peer
            .map(|(kind, name)| Peer { name, kind })
            .or((*kind == SpanKind::Server).then_some(Peer { name: "", kind: PeerKind::Caller })),
        is_error: false,
    };
    let projection = TraceProjection { spans: (0..).zip(sent).map(kept).collect(), ..TraceProjection::default() };
    Rows::traces(1, &context(), &batch, &projection)
}

/// Service, peer, number of the peer's kind (0: null), and service of the peer of each stored row that has one, sorted.
fn peers(lake: &Lake) -> Vec<(String, String, u8, String)> {
    let mut peers = Vec::new();
    for batch in batches(lake, Table::Spans) {
        let text = |name: &str| {
            let column = batch.column_by_name(name).expect("the table has the column");
            arrow::compute::cast(column, &DataType::Utf8).expect("a text").as_string::<i32>().clone()
        };
        let (services, names, others) = (text("server_name"), text("peer"), text("peer_service"));
        let kinds = batch.column_by_name("peer_kind").expect("the table has it").as_primitive::<UInt8Type>().clone();
        for row in 0..batch.num_rows() {
            let kind = kinds.iter().nth(row).flatten().unwrap_or(0);
            peers.push((services.value(row).into(), names.value(row).into(), kind, others.value(row).into()));
        }
    }
    peers.sort();
    peers
}

fn expected(rows: &[(&str, &str, u8, &str)]) -> Vec<(String, String, u8, String)> {
    rows.iter().map(|(a, b, kind, c)| ((*a).into(), (*b).into(), *kind, (*c).into())).collect()
}

const HOST: Option<(PeerKind, &str)> = Some((PeerKind::Host, "api"));
const CALLER: Sent = ("web", SpanKind::Client, 1, 2, 1, HOST);
const CALLEE: Sent = ("cart", SpanKind::Server, 1, 3, 2, None);

// docs/use/services.md, "Pairs".
#[test]
fn the_second_side_has_the_service_of_the_first() {
    let database = Some((PeerKind::Database, "pg shop"));
    for (rule, requests, stored) in [
        ("the caller first", vec![vec![CALLER], vec![CALLEE]], vec![("cart", "api", 4, "web"), ("web", "api", 3, "")]),
        ("the callee first", vec![vec![CALLEE], vec![CALLER]], vec![("cart", "", 4, ""), ("web", "api", 3, "cart")]),
        ("in one request", vec![vec![CALLER, CALLEE]], vec![("cart", "api", 4, "web"), ("web", "api", 3, "")]),
        (
            "a caller without an address",
            vec![vec![CALLEE], vec![("web", SpanKind::Client, 1, 2, 1, None)]],
            vec![("cart", "", 4, ""), ("web", "", 3, "cart")],
        ),
        (
            "one service",
            vec![vec![CALLER], vec![("web", SpanKind::Server, 1, 3, 2, None)]],
            vec![("web", "", 4, ""), ("web", "api", 3, "")],
        ),
        (
            "a query of a database",
            vec![vec![("web", SpanKind::Client, 1, 2, 1, database)], vec![CALLEE]],
            vec![("cart", "", 4, ""), ("web", "pg shop", 1, "")],
        ),
        (
            "another trace",
            vec![vec![CALLER], vec![("cart", SpanKind::Server, 9, 3, 2, None)]],
            vec![("cart", "", 4, ""), ("web", "api", 3, "")],
        ),
        (
            "two callees, for instance a retry of the client library",
            vec![vec![CALLER], vec![CALLEE], vec![("cart", SpanKind::Server, 1, 4, 2, None)]],
            vec![("cart", "api", 4, "web"), ("cart", "api", 4, "web"), ("web", "api", 3, "")],
        ),
        (
            "one id of both sides, as of Zipkin and B3",
            vec![vec![CALLER], vec![("cart", SpanKind::Server, 1, 2, 1, None)]],
            vec![("cart", "api", 4, "web"), ("web", "api", 3, "")],
        ),
        (
            "one id of both sides, the callee first, without a parent",
            vec![vec![("cart", SpanKind::Server, 1, 2, 0, None)], vec![("web", SpanKind::Client, 1, 2, 0, HOST)]],
            vec![("cart", "", 4, ""), ("web", "api", 3, "cart")],
        ),
        (
            "one id of both sides, below a call to a third service",
            vec![
                vec![("gate", SpanKind::Client, 1, 1, 0, Some((PeerKind::Host, "web"))), CALLER],
                vec![("cart", SpanKind::Server, 1, 2, 1, None)],
            ],
            vec![("cart", "api", 4, "web"), ("gate", "web", 3, ""), ("web", "api", 3, "")],
        ),
        ("an internal span", vec![vec![("web", SpanKind::Internal, 1, 2, 1, None)]], vec![("web", "", 0, "")]),
        (
            "a retry pairs nothing twice",
            vec![vec![CALLEE], vec![CALLER], vec![CALLER]],
            vec![("cart", "", 4, ""), ("web", "api", 3, "cart")],
        ),
    ] {
        let bench = Bench::new(1);
        let mut lake = bench.open();
        for (position, sent) in (1..).zip(&requests) {
            lake.apply(Position(position), NO_KEY, TODAY_NS, request(sent));
        }
        assert_eq!(peers(&lake), expected(&stored), "{rule}");
        // A replay of all requests stores the same rows, and so does a flush.
        drop(lake);
        lake = bench.open();
        for (position, sent) in (1..).zip(&requests) {
            lake.apply(Position(position), NO_KEY, TODAY_NS, request(sent));
        }
        lake.flush().expect("it flushes");
        assert_eq!(peers(&lake), expected(&stored), "{rule}, replayed and flushed");
    }
}

#[test]
fn memory_is_bounded_and_the_newest_sides_are_kept() {
    let bench = Bench::new(1);
    let lake = Lake::open(LakeOptions { calls_max: 4, ..bench.options() }).expect("it opens");
    let callers: Vec<Sent> = (1..=9).map(|trace| ("web", SpanKind::Client, trace, 2, 1, HOST)).collect();
    lake.apply(Position(1), NO_KEY, TODAY_NS, request(&callers));
    let callees: Vec<Sent> = (1..=9).map(|trace| ("cart", SpanKind::Server, trace, 3, 2, None)).collect();
    lake.apply(Position(2), NO_KEY, TODAY_NS, request(&callees));
    let paired = peers(&lake).into_iter().filter(|(.., other)| other == "web").count();
    assert_eq!(paired, 3, "two halves of two: the newer one has one side, the older one two");

    let bench = Bench::new(2);
    let lake = Lake::open(LakeOptions { calls_max: 0, ..bench.options() }).expect("it opens");
    lake.apply(Position(1), NO_KEY, TODAY_NS, request(&[CALLER, CALLEE]));
    assert_eq!(peers(&lake), expected(&[("cart", "", 4, ""), ("web", "api", 3, "")]));
}
