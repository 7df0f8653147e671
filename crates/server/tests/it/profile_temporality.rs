//! Temporality of profiles through the real server: amounts since the start of a process, deltas, states. DECISIONS 38;
//! note 0022.

use std::io::Read;

use bumpalo::Bump;
use flate2::read::GzDecoder;
use serde_json::{Value, json};
use tidewatch_domain::decode;
use tidewatch_domain::encode::Message;

use crate::client;
use crate::harness::{Harness, Project};
use crate::profiles::go;

const SPACE: &str = "go:profile_heap:alloc_space";
const IN_USE: &str = "go:profile_heap:inuse_space";
const DELAY: &str = "go:profile_contention:delay";
/// 2026-06-01T11:00:00Z, an hour before the time of the server under test.
const START: i64 = 1_780_311_600_000_000_000;
const MIB: i64 = 1 << 20;

/// A `profile.proto`: seconds since [`START`], seconds of duration, types, and the values of each function. Samples have
/// the function's name as the label `endpoint` too.
fn profile(seconds: i64, duration: i64, types: &[(&str, &str)], samples: &[(&str, &[i64])]) -> Vec<u8> {
    let mut strings = vec!["", "endpoint"];
    let mut number = |text| {
        strings.push(text);
        strings.len() as u64 - 1
    };
    let mut body = Vec::new();
    let mut message = Message(&mut body);
    for (name, unit) in types {
        let (name, unit) = (number(name), number(unit));
        message.message(1, |of| {
            of.uint(1, name);
            of.uint(2, unit);
        });
    }
    for (id, (function, values)) in (1..).zip(samples) {
        let name = number(function);
        message.message(2, |sample| {
            sample.uint(1, id);
            values.iter().for_each(|value| sample.uint(2, *value as u64));
            sample.message(3, |label| {
                label.uint(1, 1);
                label.uint(2, name);
            });
        });
        message.message(4, |location| {
            location.uint(1, id);
            location.message(4, |line| line.uint(1, id));
        });
        message.message(5, |of| {
            of.uint(1, id);
            of.uint(2, name);
        });
    }
    strings.iter().for_each(|text| message.text(6, text));
    message.uint(9, (START + seconds * 1_000_000_000) as u64);
    message.uint(10, (duration * 1_000_000_000) as u64);
    body
}

/// A heap profile: bytes allocated and in use by `main.load`.
fn heap(seconds: i64, duration: i64, allocated: i64, in_use: i64) -> Vec<u8> {
    let types = [("alloc_space", "bytes"), ("inuse_space", "bytes")];
    profile(seconds, duration, &types, &[("main.load", &[allocated, in_use])])
}

async fn send(harness: &Harness, project: &Project, query: &str, body: &[u8]) {
    let authorization = format!("Bearer {}", project.token);
    let headers = [("Authorization", authorization.as_str())];
    let path = format!("/api/profiles/ingest?service=shop{query}");
    client::send(harness.address(), "POST", &path, &headers, body).await.expect(200);
}

fn select(profile_type: &str) -> Value {
    json!({ "serviceName": "shop", "type": profile_type, "fromDate": "2026-06-01T10:00:00Z", "toDate": "2026-06-01T13:00:00Z" })
}

fn with(mut base: Value, changes: Value) -> Value {
    for (key, value) in changes.as_object().expect("an object") {
        base[key] = value.clone();
    }
    base
}

fn number(value: &Value) -> i64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value}")) as i64
}

/// The total of a type, the same in the flame graph, the list of functions, the series and the list of services, and
/// the number of first profiles that do not count.
async fn total(harness: &Harness, project: &Project, profile_type: &str) -> (i64, i64) {
    let query = async |path: &str, body: Value| harness.query_json(project, path, body).await;
    let graph = query("/api/profiles/flamegraph", select(profile_type)).await;
    let total = number(&graph["total"]);
    let top = query("/api/profiles/top", select(profile_type)).await;
    let own = top["data"].as_array().expect("a list").iter().map(|row| number(&row["self"])).sum::<i64>();
    assert_eq!((number(&top["total"]), own), (total, total), "{top}");
    let grouped =
        json!({ "search": profile_type, "fromDate": "2026-06-01T10:00:00Z", "toDate": "2026-06-01T13:00:00Z" });
    let groups = query("/api/profiles/grouped", grouped).await;
    assert_eq!(number(&groups["data"][0]["totalValue"]), total, "{groups}");
    let series = query("/api/profiles/series", with(select(profile_type), json!({ "intervalMinutes": 1440 }))).await;
    let points = series["points"].as_array().expect("a list");
    assert_eq!(points.iter().map(|point| number(&point["value"])).sum::<i64>(), total, "{series}");
    (total, number(&graph["firstProfiles"]["profiles"]))
}

// Five uploads of one process that allocated 10 MiB show 10 MiB, in any order, sent again, and after a crash.
#[tokio::test]
async fn uploads_of_one_process_are_not_added_up() {
    let (mut harness, project) = Harness::with_project().await;
    let uploads: Vec<Vec<u8>> = (0..5)
        .map(|upload| heap(10 * upload, if upload == 0 { 10 } else { 0 }, 10 * MIB, MIB * (upload + 1)))
        .collect();
    for upload in [3, 0, 4, 1, 1, 2, 0] {
        send(&harness, &project, "&serverName=api-1", &uploads[upload]).await;
    }
    assert_eq!(total(&harness, &project, SPACE).await, (10 * MIB, 0));
    assert_eq!(total(&harness, &project, IN_USE).await, (5 * MIB, 0), "a state: the latest");
    harness.crash().await;
    send(&harness, &project, "&serverName=api-1", &uploads[2]).await;
    assert_eq!(total(&harness, &project, SPACE).await, (10 * MIB, 0));
    let time = json!({ "fromDate": "2026-06-01T10:00:00Z", "toDate": "2026-06-01T13:00:00Z" });
    let types = harness.query_json(&project, "/api/profiles/types", time).await;
    let found: Vec<&Value> = types["types"].as_array().expect("a list").iter().map(|of| &of["temporality"]).collect();
    assert_eq!(found, [&json!("cumulative"), &json!("gauge")]);
}

// A first profile without a duration is the base of differences, and the answer says so. If nothing differs from it,
// it is shown.
#[tokio::test]
async fn a_first_profile_that_does_not_cover_its_own_time_is_a_base() {
    let (harness, project) = Harness::with_project().await;
    send(&harness, &project, "", &heap(0, 0, 5 * MIB, MIB)).await;
    let graph = harness.query_json(&project, "/api/profiles/flamegraph", select(SPACE)).await;
    assert_eq!(graph["firstProfiles"], json!({ "profiles": 1, "value": (5 * MIB) as f64, "areShown": true }));
    assert_eq!(total(&harness, &project, SPACE).await, (5 * MIB, 1));
    for upload in 1..5 {
        send(&harness, &project, "", &heap(10 * upload, 0, 5 * MIB + 2 * MIB * upload, MIB)).await;
    }
    assert_eq!(total(&harness, &project, SPACE).await, (8 * MIB, 1));
    let graph = harness.query_json(&project, "/api/profiles/flamegraph", select(SPACE)).await;
    assert_eq!((&graph["firstProfiles"]["areShown"], &graph["temporality"]), (&json!(false), &json!("cumulative")));
    // The profile before the range is the base of the first one in it.
    let later = with(select(SPACE), json!({ "fromDate": "2026-06-01T11:00:25Z" }));
    let graph = harness.query_json(&project, "/api/profiles/flamegraph", later).await;
    assert_eq!((number(&graph["total"]), number(&graph["firstProfiles"]["profiles"])), (4 * MIB, 0));
}

#[tokio::test]
async fn restarts_and_instances_count_apart() {
    let (harness, project) = Harness::with_project().await;
    // A restart: the third value is smaller. The other instance allocates less, and would look like restarts.
    for (seconds, allocated) in [(0, 4), (10, 6), (20, 1), (30, 3)] {
        send(&harness, &project, "&serverName=api-1", &heap(seconds, 0, allocated * MIB, MIB)).await;
        send(&harness, &project, "&serverName=api-2", &heap(seconds + 1, 0, (1 + seconds / 10) * MIB, 2 * MIB)).await;
    }
    assert_eq!(total(&harness, &project, SPACE).await, ((2 + 3 + 3) * MIB, 2));
    assert_eq!(total(&harness, &project, IN_USE).await, (3 * MIB, 0));
    // Two processes of one instance.
    for (process, first) in [("1", 7), ("2", 1)] {
        for (seconds, allocated) in [(40, first), (50, first + 2)] {
            let query = format!("&serverName=api-3&processId={process}");
            send(&harness, &project, &query, &heap(seconds, 0, allocated * MIB, MIB)).await;
        }
    }
    assert_eq!(total(&harness, &project, SPACE).await, ((8 + 4) * MIB, 4));
    assert_eq!(total(&harness, &project, IN_USE).await, (5 * MIB, 0));
    let by = async |profile_type: &str, dimension: &str| {
        let body = with(select(profile_type), json!({ "dimension": dimension, "intervalMinutes": 1440 }));
        let answer = harness.query_json(&project, "/api/profiles/series/breakdown", body).await;
        let series = answer["series"].as_array().expect("a list").clone();
        let value = |one: &Value| (crate::harness::text(&one["key"]), number(&one["points"][0]["value"]) / MIB);
        let mut found: Vec<(String, i64)> = series.iter().map(value).collect();
        found.sort();
        found
    };
    let pairs = |list: &[(&str, i64)]| list.iter().map(|(key, value)| ((*key).to_owned(), *value)).collect::<Vec<_>>();
    assert_eq!(by(SPACE, "serverName").await, pairs(&[("api-1", 5), ("api-2", 3), ("api-3", 4)]));
    assert_eq!(by(IN_USE, "serverName").await, pairs(&[("api-1", 1), ("api-2", 2), ("api-3", 2)]));
    assert_eq!(by(SPACE, "label:endpoint").await, pairs(&[("main.load", 12)]));
}

// Deltas stay sums; whatever has no duration and grows is cumulative.
#[tokio::test]
async fn types_table() {
    let names = ["cpu", "alloc_space", "delay", "requests", "events"];
    let stored =
        ["go:profile_cpu:nanoseconds", SPACE, DELAY, "pprof:profile_requests:count", "pprof:profile_events:count"];
    for (at, unit, duration, values, expected) in [
        (0, "nanoseconds", 10, [5, 7, 3], 15),
        // As `/debug/pprof/allocs?seconds=10` returns them.
        (1, "bytes", 10, [5, 7, 3], 15),
        (2, "nanoseconds", 0, [5, 7, 9], 4),
        (3, "count", 0, [5, 7, 9], 4),
        (4, "count", 0, [5, 7, 3], 15),
    ] {
        let (harness, project) = Harness::with_project().await;
        for (seconds, value) in [0, 10, 20].into_iter().zip(values) {
            let body = profile(seconds, duration, &[(names[at], unit)], &[("main.load", &[value])]);
            send(&harness, &project, "&serverName=api-1", &body).await;
        }
        assert_eq!(total(&harness, &project, stored[at]).await.0, expected, "{}", names[at]);
    }
}

// Functions are compared one by one, also in the download.
#[tokio::test]
async fn functions_have_the_differences_of_their_own_stacks() {
    let (harness, project) = Harness::with_project().await;
    let types = [("alloc_space", "bytes")];
    send(&harness, &project, "", &profile(0, 0, &types, &[("main.load", &[10]), ("main.idle", &[20])])).await;
    let later: [(&str, &[i64]); 3] = [("main.load", &[15]), ("main.idle", &[20]), ("main.new", &[1])];
    send(&harness, &project, "", &profile(10, 0, &types, &later)).await;
    let top = harness.query_json(&project, "/api/profiles/top", select(SPACE)).await;
    let rows = top["data"].as_array().expect("a list").iter();
    let found: Vec<_> = rows.map(|row| (crate::harness::text(&row["name"]), number(&row["self"]))).collect();
    assert_eq!(found, [("main.load".to_owned(), 5), ("main.new".to_owned(), 1)]);
    let of_load = with(select(SPACE), json!({ "labels": { "endpoint": "main.load" } }));
    let graph = harness.query_json(&project, "/api/profiles/flamegraph", of_load).await;
    assert_eq!(number(&graph["total"]), 5);
}

// `go tool pprof` takes a name that equals the system name for mangled, and cuts type arguments and parameters.
#[tokio::test]
async fn downloads_keep_whole_names() {
    let (harness, project) = Harness::with_project().await;
    let names = [
        "main.(*Cache[go.shape.string]).Get",
        "std::map<int, std::vector<int>>::at(int const&)",
        "Lang::Fn(a)::Inner<T>",
    ];
    let samples: Vec<(&str, &[i64])> = names.iter().map(|name| (*name, &[7][..])).collect();
    let body = profile(0, 10, &[("cpu", "nanoseconds")], &samples);
    send(&harness, &project, "", &body).await;
    let answer = harness.query(&project, "/api/profiles/pprof", select("go:profile_cpu:nanoseconds")).await;
    let mut body = Vec::new();
    GzDecoder::new(answer.body.as_slice()).read_to_end(&mut body).expect("gzip");
    let arena = Bump::new();
    let batch = decode::pprof(&body, &arena).expect("a profile");
    let mut found: Vec<&str> =
        batch.functions.iter().map(|function| function.name).filter(|name| !name.is_empty()).collect();
    found.sort_unstable();
    assert_eq!(found, ["Lang::Fn(a)::Inner<T>", names[0], names[1]]);
    let Some(go) = go() else {
        eprintln!("go is not installed: the download is not opened with `go tool pprof`");
        return;
    };
    let file = harness.data().join("names.pprof");
    std::fs::write(&file, &answer.body).expect("a file");
    let read = std::process::Command::new(go).args(["tool", "pprof", "-raw"]).arg(&file).output().expect("go runs");
    let listed = String::from_utf8_lossy(&read.stdout).into_owned();
    assert!(names.iter().all(|name| listed.contains(name)), "{listed}");
}
