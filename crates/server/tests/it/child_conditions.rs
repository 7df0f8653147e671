//! `child.` conditions of queries: rows with a span below that meets them (docs/use/query-language.md).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::harness::{Harness, Project};
use crate::requests::{CONSUMER, Made, SERVER, column, made};

/// A number that looks random, the same in every run.
fn dice(state: &mut u64, sides: u64) -> u64 {
    *state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
    (*state >> 33) % sides
}

/// A span as the test knows it. Ids are those of [`made`].
struct Known {
    trace: u64,
    span: u64,
    /// 0: none.
    parent: u64,
    name: String,
    colour: Option<&'static str>,
    size: i64,
}

/// Traces of random trees; some parents are not stored.
fn forest() -> (Vec<Known>, Vec<Made>) {
    let (mut known, mut spans, mut state) = (Vec::new(), Vec::new(), 7);
    for trace in 1..=80_u64 {
        let size = 1 + dice(&mut state, 9);
        for place in 0..size {
            let span = trace * 100 + place;
            let parent = match place {
                0 if dice(&mut state, 8) == 0 => trace * 100 + 99,
                0 => 0,
                _ => trace * 100 + dice(&mut state, place),
            };
            let kind = [SERVER, 1, 3, CONSUMER][dice(&mut state, 4) as usize];
            let name = ["work", "query", "send"][dice(&mut state, 3) as usize].to_owned();
            let colour = [Some("red"), Some("blue"), None, None][dice(&mut state, 4) as usize];
            let number = dice(&mut state, 6) as i64;
            let mut one = made(trace, span, kind, &name, trace as f64 + place as f64 * 0.001, 5.0);
            one = one.with_int("size", number);
            if kind == SERVER {
                one = one.with("http.request.method", "GET").with("http.route", "/work");
            }
            if parent != 0 {
                one = one.parent(parent);
            }
            if let Some(colour) = colour {
                one = one.with("colour", colour);
            }
            spans.push(one);
            known.push(Known { trace, span, parent, name, colour, size: number });
        }
    }
    (known, spans)
}

/// Whether a span below `of` passes.
fn has_below(known: &[Known], of: (u64, u64), passes: &dyn Fn(&Known) -> bool) -> bool {
    let parents: BTreeMap<u64, u64> =
        known.iter().filter(|one| one.trace == of.0).map(|one| (one.span, one.parent)).collect();
    known.iter().filter(|one| one.trace == of.0 && passes(one)).any(|one| {
        let mut at = one.parent;
        while at != 0 && at != of.1 {
            at = parents.get(&at).copied().unwrap_or(0);
        }
        at == of.1
    })
}

type Ids = BTreeSet<(u64, u64)>;

async fn listed(harness: &Harness, project: &Project, path: &str, query: &str) -> Ids {
    let body = json!({ "query": query, "pagination": { "page": 1, "pageSize": 100 } });
    let mut ids = Ids::new();
    for page in 1.. {
        let mut body = body.clone();
        body["pagination"]["page"] = page.into();
        let answer = harness.query_json(project, path, body).await;
        let number = |value: &Value| u64::from_str_radix(value.as_str().expect("an id"), 16).expect("hexadecimal");
        let rows = column(&answer, "traceId").into_iter().zip(column(&answer, "spanId"));
        let before = ids.len();
        ids.extend(rows.map(|(trace, span)| (number(trace), number(span))));
        if ids.len() == before {
            assert_eq!(answer["pagination"]["total"], ids.len(), "{path} {query}");
            return ids;
        }
    }
    unreachable!("the last page is empty")
}

// Every answer equals that of a walk over the trees.
#[tokio::test]
async fn child_conditions_find_the_rows_above_matching_spans() {
    let (harness, project) = Harness::with_project().await;
    let (known, spans) = forest();
    harness.send(&project, &spans).await;
    type Passes = Box<dyn Fn(&Known) -> bool>;
    let cases: Vec<(&str, Passes)> = vec![
        ("child.colour:red", Box::new(|one| one.colour == Some("red"))),
        ("child.colour:*e*", Box::new(|one| one.colour.is_some())),
        ("has:child.colour", Box::new(|one| one.colour.is_some())),
        ("child.size>=4", Box::new(|one| one.size >= 4)),
        ("child.name=work", Box::new(|one| one.name == "work")),
        ("child.service:shop", Box::new(|_| true)),
        ("child.colour:green", Box::new(|_| false)),
    ];
    for path in ["/api/endpoints", "/api/tasks"] {
        let rows = listed(&harness, &project, path, "").await;
        assert!(rows.len() > 30, "{path}: {}", rows.len());
        for (query, passes) in &cases {
            let wanted: Ids = rows.iter().copied().filter(|id| has_below(&known, *id, passes)).collect();
            assert_eq!(listed(&harness, &project, path, query).await, wanted, "{path} {query}");
            let others: Ids = rows.difference(&wanted).copied().collect();
            assert_eq!(listed(&harness, &project, path, &format!("-({query})")).await, others, "{path} -{query}");
        }
        // Two conditions may hold for different spans.
        let both: Ids = rows
            .iter()
            .copied()
            .filter(|id| {
                has_below(&known, *id, &|one| one.colour == Some("red")) && has_below(&known, *id, &|one| one.size == 5)
            })
            .collect();
        assert_eq!(listed(&harness, &project, path, "child.colour:red child.size=5").await, both);
    }

    // Groups, charts, heatmaps and facets count the same rows.
    let wanted = listed(&harness, &project, "/api/endpoints", "child.colour:red").await.len();
    let body = json!({ "query": "child.colour:red" });
    let groups = harness.query_json(&project, "/api/endpoints/grouped", body.clone()).await;
    let total: u64 = column(&groups, "count").into_iter().filter_map(Value::as_u64).sum();
    assert_eq!(total, wanted as u64, "{groups}");
    let mut of_endpoint = body.clone();
    of_endpoint["entity"] = "endpoint".into();
    let map = harness.query_json(&project, "/api/heatmap", of_endpoint).await;
    assert_eq!(map["total"], wanted);
    let facets = json!({ "rows": "endpoint", "query": "child.colour:red", "fields": ["service"] });
    let facets = harness.query_json(&project, "/api/query/facets", facets).await;
    assert_eq!(facets["rows"], wanted);
    // Fields and values are completed from spans.
    let names = json!({ "rows": "endpoint", "prefix": "child.col" });
    let names = harness.query_json(&project, "/api/query/complete", names).await;
    assert_eq!(names["data"][0]["text"], "child.colour", "{names}");
    let values = json!({ "rows": "task", "field": "child.colour", "prefix": "r" });
    let values = harness.query_json(&project, "/api/query/complete", values).await;
    assert_eq!(values["data"][0]["text"], "red", "{values}");

    for (path, query) in
        [("/api/spans", "child.a:1"), ("/api/logs", "child.a:1"), ("/api/endpoints", "child.duration>red")]
    {
        let answer = harness.query(&project, path, json!({ "query": query })).await.expect(400).json();
        assert!(answer["position"].is_u64(), "{path} {query}: {answer}");
    }
}
