//! Profiles through the real server: pprof and OTLP, the read API, retries, crashes, limits. WIRE 2; DECISIONS 20.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;

use bumpalo::Bump;
use flate2::read::GzDecoder;
use serde_json::{Value, json};
use tidewatch_domain::decode;
use tidewatch_store::tables::Table;

use crate::client::{self, Answer};
use crate::harness::{Harness, Project, text};

const CPU: &str = "go:profile_cpu:nanoseconds";

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/profiles")
}

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(folder().join(format!("{name}.pprof"))).expect("a fixture")
}

async fn send(harness: &Harness, project: &Project, query: &str, body: &[u8]) -> Answer {
    let authorization = format!("Bearer {}", project.token);
    let headers = [("Authorization", authorization.as_str())];
    let path = format!("/api/profiles/ingest{query}");
    client::send(harness.address(), "POST", &path, &headers, body).await
}

/// A selection of the fixtures, whose time is that of their making.
fn select(service: &str, profile_type: &str) -> Value {
    json!({ "serviceName": service, "type": profile_type, "fromDate": "2026-11-01T00:00:00Z", "toDate": "2026-12-31T00:00:00Z" })
}

fn with(mut base: Value, changes: Value) -> Value {
    for (key, value) in changes.as_object().expect("an object") {
        base[key] = value.clone();
    }
    base
}

/// A row of a list of functions: own value, total value.
type Totals = BTreeMap<String, (i64, i64)>;

/// Totals per function as `go tool pprof` finds them.
fn expected(file: &str) -> Totals {
    let list = std::fs::read_to_string(folder().join(file)).expect("a list");
    let mut all = Totals::new();
    for line in list.lines() {
        let mut fields = line.splitn(3, ' ');
        let mut number = || fields.next().and_then(|field| field.parse::<i64>().ok()).expect("a number");
        let (own, total) = (number(), number());
        if (own, total) != (0, 0) {
            let of = all.entry(fields.next().expect("a name").to_owned()).or_default();
            *of = (of.0 + own, of.1 + total);
        }
    }
    all
}

fn integer(value: &Value) -> i64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value}")) as i64
}

/// Totals per function of a flame graph.
fn of_graph(graph: &Value) -> Totals {
    let list = |name: &str| graph["nodes"][name].as_array().expect("a column").clone();
    let (names, levels, own, total) = (list("name"), list("level"), list("self"), list("total"));
    let (mut all, mut path) = (Totals::new(), Vec::<usize>::new());
    for at in 1..names.len() {
        let (name, level) = (integer(&names[at]) as usize, integer(&levels[at]) as usize);
        path.truncate(level - 1);
        let of = all.entry(text(&graph["names"][name])).or_default();
        of.0 += integer(&own[at]);
        // A recursive function counts once.
        if !path.contains(&name) {
            of.1 += integer(&total[at]);
        }
        path.push(name);
    }
    all
}

// WIRE 2.1, 2.2; done-when: totals per function equal those of an independent reader.
#[tokio::test]
async fn a_profile_is_stored_and_read() {
    let (harness, project) = Harness::with_project().await;
    let answer = send(&harness, &project, "?service=shop&serverName=api-1&appVersion=1.2.0", &fixture("go-cpu")).await;
    assert_eq!((answer.status, answer.json()), (200, json!({})));
    assert_eq!(answer.header("Access-Control-Allow-Origin"), Some("*"));
    // A server may inflate the body first.
    let mut plain = Vec::new();
    GzDecoder::new(fixture("go-heap").as_slice()).read_to_end(&mut plain).expect("gzip");
    assert_eq!(send(&harness, &project, "?service=shop", &plain).await.status, 200);

    let range = json!({ "fromDate": "2026-11-01T00:00:00Z", "toDate": "2026-12-31T00:00:00Z" });
    let types = harness.query_json(&project, "/api/profiles/types", range.clone()).await;
    let found: Vec<String> = types["types"].as_array().expect("a list").iter().map(|of| text(&of["type"])).collect();
    let all = [
        CPU,
        "go:profile_cpu:samples",
        "go:profile_heap:alloc_objects",
        "go:profile_heap:alloc_space",
        "go:profile_heap:inuse_objects",
        "go:profile_heap:inuse_space",
    ];
    assert_eq!(found, all);
    let cpu = &types["types"][0];
    assert_eq!((&cpu["unit"], &cpu["isGauge"], &cpu["profile"]), (&json!("nanoseconds"), &json!(false), &json!("cpu")));
    assert_eq!((&types["types"][5]["unit"], &types["types"][5]["isGauge"]), (&json!("bytes"), &json!(true)));

    let expected_cpu = expected("go-cpu.cpu.top");
    let sum: i64 = expected_cpu.values().map(|(own, _)| own).sum();
    let groups =
        harness.query_json(&project, "/api/profiles/grouped", with(range, json!({ "search": "CPU:nano" }))).await;
    assert_eq!(groups["pagination"]["total"], 1);
    let group = &groups["data"][0];
    assert_eq!((&group["serviceName"], &group["type"]), (&json!("shop"), &json!(CPU)));
    assert_eq!((&group["profileCount"], integer(&group["totalValue"])), (&json!(1), sum));

    let graph = harness.query_json(&project, "/api/profiles/flamegraph", select("shop", CPU)).await;
    assert_eq!((&graph["profileCount"], integer(&graph["total"])), (&json!(1), sum));
    assert_eq!((&graph["truncatedNodes"], &graph["missingStacks"]), (&json!(0), &json!(0)));
    assert_eq!(of_graph(&graph), expected_cpu);
    let heap = harness.query_json(&project, "/api/profiles/flamegraph", select("shop", all[5])).await;
    assert_eq!(of_graph(&heap), expected("go-heap.inuse_space.top"));

    let top =
        harness.query_json(&project, "/api/profiles/top", with(select("shop", CPU), json!({ "limit": 200 }))).await;
    let rows = top["data"].as_array().expect("a list").iter();
    let of_top: Totals =
        rows.map(|row| (text(&row["name"]), (integer(&row["self"]), integer(&row["total"])))).collect();
    assert_eq!(of_top, expected_cpu);
    let by_package =
        with(select("shop", CPU), json!({ "by": "package", "orderBy": "total", "search": "encoding/json" }));
    let packages = harness.query_json(&project, "/api/profiles/top", by_package).await;
    assert_eq!((&packages["data"][0]["name"], &packages["functions"]), (&json!("encoding/json"), &json!(1)));

    let series = harness.query_json(&project, "/api/profiles/series", select("shop", CPU)).await;
    let points = series["points"].as_array().expect("a list");
    assert_eq!((points.len(), integer(&points[0]["value"]), &points[0]["profileCount"]), (1, sum, &json!(1)));
    let dimensions = harness.query_json(&project, "/api/profiles/dimensions", select("shop", CPU)).await;
    assert_eq!(dimensions, json!({ "appVersions": ["1.2.0"], "serverNames": ["api-1"] }));
}

// WIRE 2.1: `endpoint` is always stored, other labels only if they are on the project's list.
#[tokio::test]
async fn labels_are_those_of_the_project() {
    let (harness, project) = Harness::with_project().await;
    assert_eq!(send(&harness, &project, "?service=shop", &fixture("go-cpu")).await.status, 200);
    let labels = harness.query_json(&project, "/api/profiles/labels", select("shop", CPU)).await;
    assert_eq!(
        labels,
        json!({ "labels": [{ "key": "endpoint", "values": ["GET /hash", "POST /orders"] }], "hasSpans": true })
    );

    let whole = harness.query_json(&project, "/api/profiles/flamegraph", select("shop", CPU)).await;
    let of = |endpoint: &str| with(select("shop", CPU), json!({ "labels": { "endpoint": endpoint } }));
    let hash = harness.query_json(&project, "/api/profiles/flamegraph", of("GET /hash")).await;
    let orders = harness.query_json(&project, "/api/profiles/flamegraph", of("POST /orders")).await;
    assert!(0 < integer(&hash["total"]) && integer(&hash["total"]) < integer(&whole["total"]), "{}", hash["total"]);
    let breakdown = with(select("shop", CPU), json!({ "dimension": "label:endpoint" }));
    let breakdown = harness.query_json(&project, "/api/profiles/series/breakdown", breakdown).await;
    let keys: BTreeMap<String, i64> = breakdown["series"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|series| (text(&series["key"]), integer(&series["points"][0]["value"])))
        .collect();
    assert_eq!((keys["GET /hash"], keys["POST /orders"]), (integer(&hash["total"]), integer(&orders["total"])));
    assert_eq!(keys.values().sum::<i64>(), integer(&whole["total"]));

    // The profiler's label with the id of a span selects its samples.
    let of_span = with(select("shop", CPU), json!({ "spanId": "00f067aa0ba902b7" }));
    let of_span = harness.query_json(&project, "/api/profiles/flamegraph", of_span).await;
    assert_eq!(integer(&of_span["total"]), integer(&hash["total"]) + integer(&orders["total"]));
    let link = json!({ "serviceName": "shop", "from": "2026-11-23T08:00:00Z", "to": "2026-11-23T23:00:00Z", "spanId": "00f067aa0ba902b7" });
    let links = harness.query_json(&project, "/api/profiles/links", link.clone()).await;
    assert_eq!((&links["types"][0]["type"], &links["types"][0]["bySpan"]), (&json!(CPU), &json!(true)), "{links}");
    let before = with(link, json!({ "from": "2026-11-22T08:00:00Z", "to": "2026-11-22T08:00:01Z" }));
    assert_eq!(harness.query_json(&project, "/api/profiles/links", before).await["types"], json!([]));

    for (body, status) in [
        (with(select("shop", CPU), json!({ "labels": { "customer": "acme" } })), 400),
        (select("", CPU), 400),
        (select("shop", ""), 400),
        (with(select("shop", CPU), json!({ "order": "time" })), 422),
        (with(select("shop", CPU), json!({ "nodesMax": 0 })), 422),
        (with(select("shop", CPU), json!({ "spanId": "x" })), 400),
    ] {
        let answer = harness.query(&project, "/api/profiles/flamegraph", body.clone()).await;
        assert_eq!(answer.status, status, "{body}: {}", answer.json());
    }
}

// DECISIONS 11, 20: a retry changes nothing; a crash after the response loses nothing.
#[tokio::test]
async fn a_retry_adds_nothing_and_a_crash_loses_nothing() {
    let (mut harness, project) = Harness::with_project().await;
    for _ in 0..2 {
        assert_eq!(send(&harness, &project, "?service=shop", &fixture("go-cpu")).await.status, 200);
    }
    let rows = |harness: &Harness| {
        [Table::Profiles, Table::ProfileSamples, Table::ProfileStacks].map(|table| harness.rows(table))
    };
    let once = rows(&harness);
    assert_eq!(once[0], 2, "two types");
    let before = harness.query_json(&project, "/api/profiles/flamegraph", select("shop", CPU)).await;
    harness.crash().await;
    assert_eq!(rows(&harness), once);
    let after = harness.query_json(&project, "/api/profiles/flamegraph", select("shop", CPU)).await;
    assert_eq!(after, before);
    // The same profile of another service is another profile, whose stacks are known.
    assert_eq!(send(&harness, &project, "?service=cart", &fixture("go-cpu")).await.status, 200);
    assert_eq!(rows(&harness), [4, 2 * once[1], once[2]]);
    let drops = harness.query_json(&project, "/api/drops", json!({ "fromDate": null, "toDate": null })).await;
    let of_profiles = |list: &str| -> Vec<Value> {
        let list = drops[list].as_array().expect("a list").iter();
        list.filter(|of| of["signal"] == "profiles").cloned().collect()
    };
    assert_eq!(of_profiles("data").len(), 1, "{drops}");
    assert_eq!(of_profiles("data")[0]["reason"], "duplicate");
    // After a start and a flush, too.
    harness.restart().await;
    let flushed = harness.query_json(&project, "/api/profiles/flamegraph", select("cart", CPU)).await;
    assert_eq!(of_graph(&flushed), expected("go-cpu.cpu.top"));
}

// WIRE 2.2: a diff of two versions, series by version.
#[tokio::test]
async fn versions_are_compared() {
    let (harness, project) = Harness::with_project().await;
    for (version, file) in [("1", "go-cpu"), ("2", "go-cpu")] {
        assert_eq!(
            send(&harness, &project, &format!("?service=shop&appVersion={version}"), &fixture(file)).await.status,
            200
        );
    }
    let request = with(select("shop", CPU), json!({ "appVersion": "2", "baseline": { "appVersion": "1" } }));
    let graph = harness.query_json(&project, "/api/profiles/flamegraph", request).await;
    assert_eq!((&graph["profileCount"], &graph["baseline"]["profileCount"]), (&json!(1), &json!(1)));
    assert_eq!(graph["total"], graph["baseline"]["total"]);
    assert_eq!(graph["nodes"]["total"], graph["nodes"]["baselineTotal"]);
    assert_eq!(graph["nodes"]["self"], graph["nodes"]["baselineSelf"]);
    let breakdown = with(select("shop", CPU), json!({ "dimension": "appVersion" }));
    let breakdown = harness.query_json(&project, "/api/profiles/series/breakdown", breakdown).await;
    let keys: Vec<&Value> =
        breakdown["series"].as_array().expect("a list").iter().map(|series| &series["key"]).collect();
    assert_eq!(keys, [&json!("1"), &json!("2")]);
    let few = with(select("shop", CPU), json!({ "nodesMax": 10 }));
    let few = harness.query_json(&project, "/api/profiles/flamegraph", few).await;
    assert!(few["nodes"]["name"].as_array().expect("a column").len() <= 10);
    assert!(integer(&few["truncatedNodes"]) > 0);
    assert_eq!(few["nodes"]["total"][0], graph["total"].as_f64().map(|total| total * 2.0).expect("a number"));
}

// WIRE 2.2: the download is read by pprof.
#[tokio::test]
async fn downloads_have_the_same_totals() {
    let (harness, project) = Harness::with_project().await;
    assert_eq!(send(&harness, &project, "?service=shop", &fixture("go-cpu")).await.status, 200);
    let answer = harness.query(&project, "/api/profiles/pprof", select("shop", CPU)).await;
    assert_eq!((answer.status, answer.header("Content-Type")), (200, Some("application/octet-stream")));
    let disposition = answer.header("Content-Disposition").map(str::to_owned);
    assert_eq!(disposition.as_deref(), Some("attachment; filename=\"shop-go_profile_cpu_nanoseconds.pprof\""));
    let mut body = Vec::new();
    GzDecoder::new(answer.body.as_slice()).read_to_end(&mut body).expect("gzip");
    let arena = Bump::new();
    let batch = decode::pprof(&body, &arena).expect("a profile");
    assert_eq!((batch.sample_types[0].name, batch.sample_types[0].unit), ("cpu", "nanoseconds"));
    let sum: i64 = expected("go-cpu.cpu.top").values().map(|(own, _)| own).sum();
    assert_eq!(batch.values.iter().sum::<i64>(), sum);
    // Sent again, as the profile of another service, it is the same flame graph.
    assert_eq!(send(&harness, &project, "?service=copy", &answer.body).await.status, 200);
    let copy = harness.query_json(&project, "/api/profiles/flamegraph", select("copy", CPU)).await;
    assert_eq!(of_graph(&copy), expected("go-cpu.cpu.top"));
    if let Some(go) = go() {
        let file = harness.data().join("download.pprof");
        std::fs::write(&file, &answer.body).expect("a file");
        let read = std::process::Command::new(go)
            .args(["tool", "pprof", "-top", "-nodecount=1000000", "-nodefraction=0", "-unit=ns"])
            .arg(&file)
            .output()
            .expect("go runs");
        let listed = String::from_utf8_lossy(&read.stdout).into_owned();
        assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
        for (name, (own, total)) in expected("go-cpu.cpu.top") {
            let row = listed.lines().find(|line| line.split_whitespace().skip(5).collect::<Vec<_>>().join(" ") == name);
            let row: Vec<&str> = row.unwrap_or_else(|| panic!("{name} in {listed}")).split_whitespace().collect();
            let number = |field: &str| field.trim_end_matches("ns").parse::<i64>().expect("a number");
            assert_eq!((number(row[0]), number(row[3])), (own, total), "{name}");
        }
    } else {
        eprintln!("go is not installed: the download is not opened with `go tool pprof`");
    }
    let empty = harness.query(&project, "/api/profiles/pprof", select("nobody", CPU)).await;
    assert_eq!(empty.status, 404);
}

/// The path of Go; `None` where it is not installed.
pub fn go() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/local/go/bin")]);
    folders.map(|folder| folder.join("go")).find(|file| file.is_file())
}

// WIRE 2.1: 400 with a sentence; 413; the service is the project's name by default.
#[tokio::test]
async fn bad_bodies_are_refused_and_the_project_is_the_service() {
    let (harness, project) = Harness::with_project().await;
    let mut cut = fixture("go-cpu");
    cut.truncate(cut.len() / 2);
    for body in [&b""[..], b"{}", &cut, b"\x1f\x8b"] {
        let answer = send(&harness, &project, "", body).await;
        assert_eq!(answer.status, 400, "{body:?}");
        assert!(!text(&answer.json()["error"]).is_empty());
    }
    let long = format!("?service={}", "x".repeat(300));
    assert_eq!(send(&harness, &project, &long, &fixture("go-cpu")).await.status, 400);
    let stranger = Project { token: "nobody".to_owned(), ..project.clone() };
    assert_eq!(send(&harness, &stranger, "", &fixture("go-cpu")).await.status, 401);
    let preflight = client::send(harness.address(), "OPTIONS", "/api/profiles/ingest", &[], b"").await;
    assert_eq!(preflight.status, 204);
    let get = client::send(harness.address(), "GET", "/api/profiles/ingest", &[], b"").await;
    assert_eq!((get.status, get.header("Allow")), (405, Some("POST, OPTIONS")));
    assert_eq!(send(&harness, &project, "", &fixture("node-wall")).await.status, 200);
    let types = harness.query_json(&project, "/api/profiles/types", json!({ "toDate": "2026-12-01T00:00:00Z" })).await;
    assert_eq!(
        (&types["types"][0]["serviceName"], types["types"].as_array().map(Vec::len)),
        (&json!("first"), Some(2)),
        "{types}"
    );
}

/// An OTLP request in JSON: two samples of a span at two times each.
fn otlp() -> Value {
    json!({
        "resourceProfiles": [{
            "resource": { "attributes": [
                { "key": "service.name", "value": { "stringValue": "cart" } },
                { "key": "service.version", "value": { "stringValue": "7" } },
            ] },
            "scopeProfiles": [{ "profiles": [{
                "sampleType": { "typeStrindex": 1, "unitStrindex": 2 },
                "timeUnixNano": "1780315200000000000", "durationNano": "10000000000",
                "samples": [
                    { "stackIndex": 1, "linkIndex": 1, "values": ["10", "10"], "timestampsUnixNano": ["1780315200000000001", "1780315200000000003"] },
                    { "stackIndex": 2, "values": ["5"], "timestampsUnixNano": ["1780315200000000002"] },
                ],
            }] }],
        }],
        "dictionary": {
            "stringTable": ["", "cpu", "nanoseconds", "main", "work", "idle"],
            "functionTable": [{}, { "nameStrindex": 3 }, { "nameStrindex": 4 }, { "nameStrindex": 5 }],
            "locationTable": [{}, { "lines": [{ "functionIndex": 1 }] }, { "lines": [{ "functionIndex": 2 }] }, { "lines": [{ "functionIndex": 3 }] }],
            "stackTable": [{}, { "locationIndices": [2, 1] }, { "locationIndices": [3, 1] }],
            "linkTable": [{}, { "traceId": "4bf92f3577b34da6a3ce929d0e0e4736", "spanId": "00f067aa0ba902b7" }],
            "mappingTable": [{}], "attributeTable": [{}],
        },
    })
}

// WIRE 2.1: the OTLP signal; samples with times have an order of time.
#[tokio::test]
async fn otlp_profiles_are_stored_with_links_and_times() {
    let (harness, project) = Harness::with_project().await;
    let authorization = format!("Bearer {}", project.token);
    let headers = [("Authorization", authorization.as_str()), ("Content-Type", "application/json")];
    let path = "/api/otel/v1development/profiles";
    for _ in 0..2 {
        let answer = client::send(harness.address(), "POST", path, &headers, otlp().to_string().as_bytes()).await;
        assert_eq!((answer.status, answer.json()), (200, json!({})));
    }
    let selection = json!({
        "serviceName": "cart", "type": CPU, "fromDate": "2026-06-01T11:00:00Z", "toDate": "2026-06-01T13:00:00Z",
        "order": "time",
    });
    let graph = harness.query_json(&project, "/api/profiles/flamegraph", selection.clone()).await;
    let names: Vec<String> = graph["nodes"]["name"]
        .as_array()
        .expect("a column")
        .iter()
        .map(|name| text(&graph["names"][integer(name) as usize]))
        .collect();
    assert_eq!(names, ["total", "main", "work", "idle", "work"]);
    assert_eq!(graph["nodes"]["total"], json!([25.0, 25.0, 10.0, 5.0, 10.0]));
    let of_span = with(selection, json!({ "order": "heavy", "spanId": "00f067aa0ba902b7" }));
    let of_span = harness.query_json(&project, "/api/profiles/flamegraph", of_span).await;
    assert_eq!((&of_span["total"], &of_span["hasTimestamps"]), (&json!(20.0), &json!(true)));
    let link = json!({
        "serviceName": "cart", "from": "2026-06-01T12:00:05Z", "to": "2026-06-01T12:00:06Z",
        "traceId": "4bf92f3577b34da6a3ce929d0e0e4736",
    });
    let links = harness.query_json(&project, "/api/profiles/links", link).await;
    assert_eq!(links["types"][0]["bySpan"], true);
    assert_eq!(links["from"], "2026-06-01T12:00:00Z");
    let bad = client::send(harness.address(), "POST", path, &headers, b"{\"dictionary\": 7}").await;
    assert_eq!(bad.status, 400);
}

/// Two profiles in another batch and order than [`otlp`]: the one of `otlp` with an id, and one that measures more.
fn with_ids(first_id: &str, others: &[(&str, &str)]) -> Value {
    let mut request = otlp();
    let profiles = request["resourceProfiles"][0]["scopeProfiles"][0]["profiles"].as_array_mut().expect("profiles");
    profiles[0]["profileId"] = json!(first_id);
    for (id, time) in others {
        let mut other = profiles[0].clone();
        other["profileId"] = json!(id);
        other["timeUnixNano"] = json!(time);
        profiles.insert(0, other);
    }
    request
}

// A retry changes nothing, in another body too: an OTLP profile is known by its id.
#[tokio::test]
async fn a_profile_that_comes_again_in_another_batch_is_a_duplicate() {
    let (mut harness, project) = Harness::with_project().await;
    let authorization = format!("Bearer {}", project.token);
    let path = "/api/otel/v1development/profiles";
    let send = async |harness: &Harness, kind: &str, body: &[u8]| {
        let headers = [("Authorization", authorization.as_str()), ("Content-Type", kind)];
        assert_eq!(client::send(harness.address(), "POST", path, &headers, body).await.status, 200);
    };
    let (one, two) = ("0af7651916cd43dd8448eb211c80319c", "1af7651916cd43dd8448eb211c80319c");
    let later = "1780315260000000000";
    let rows = |harness: &Harness| [Table::Profiles, Table::ProfileSamples].map(|table| harness.rows(table));
    send(&harness, "application/json", with_ids(one, &[]).to_string().as_bytes()).await;
    assert_eq!(rows(&harness), [1, 2]);
    // Beside a new profile, only the new one is stored.
    send(&harness, "application/json", with_ids(one, &[(two, later)]).to_string().as_bytes()).await;
    assert_eq!(rows(&harness), [2, 4]);
    // Base64 and protobuf are other bodies of the same profiles; a crash between changes nothing.
    harness.crash().await;
    send(&harness, "application/json", with_ids("CvdlGRbNQ92ESOshHIAxnA==", &[]).to_string().as_bytes()).await;
    send(&harness, "application/x-protobuf", &protobuf_request(&protobuf_profile(2))).await;
    assert_eq!(rows(&harness), [2, 4]);
    // Converters give the values of one profile the same id: another time is another profile.
    send(&harness, "application/json", with_ids(one, &[(one, later)]).to_string().as_bytes()).await;
    assert_eq!(rows(&harness), [3, 6]);
    // Profiles without an id in another body are other profiles.
    let without = with_ids("", &[]);
    send(&harness, "application/json", without.to_string().as_bytes()).await;
    assert_eq!(rows(&harness), [4, 8]);
    let drops = harness.query_json(&project, "/api/drops", json!({ "fromDate": null, "toDate": null })).await;
    let duplicates: Vec<_> =
        drops["data"].as_array().expect("a list").iter().filter(|of| of["reason"] == "duplicate").collect();
    assert_eq!(duplicates.len(), 1, "{drops}");
    assert_eq!((&duplicates[0]["signal"], integer(&duplicates[0]["count"])), (&json!("profiles"), 7), "2 + 2 + 1 + 2");
}

/// The first profile of [`with_ids`] with one sample, which has this stack and the value 5.
pub fn protobuf_profile(stack: u8) -> Vec<u8> {
    [
        [0x0a, 4, 0x08, 1, 0x10, 2].as_slice(),
        &[0x12, 5, 0x08, stack, 0x22, 1, 5],
        &[0x19],
        &1_780_315_200_000_000_000_u64.to_le_bytes(),
        &[0x3a, 16],
        &0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c_u128.to_be_bytes(),
    ]
    .concat()
}

/// A request of the service `cart` with one profile, and the dictionary of [`otlp`] as far as it needs one.
pub fn protobuf_request(profile: &[u8]) -> Vec<u8> {
    let field = |number: u8, bytes: &[u8]| {
        let length = u8::try_from(bytes.len()).ok().filter(|length| *length < 128).expect("a short message");
        [&[number << 3 | 2, length], bytes].concat()
    };
    let scope = field(2, profile);
    let value = field(1, b"cart");
    let pair = [field(1, b"service.name"), field(2, &value)].concat();
    let resource = field(1, &field(1, &pair));
    let strings = ["", "cpu", "nanoseconds", "idle"].map(|text| field(5, text.as_bytes())).concat();
    let functions = [field(3, &[]), field(3, &[0x08, 3])].concat();
    let locations = [field(2, &[]), field(2, &field(3, &[0x08, 1]))].concat();
    let stacks = [field(7, &[]), field(7, &[0x08, 0]), field(7, &[0x08, 1])].concat();
    let dictionary = [field(1, &[]), locations, functions, strings, stacks].concat();
    [field(1, &[resource, field(2, &scope)].concat()), field(2, &dictionary)].concat()
}
