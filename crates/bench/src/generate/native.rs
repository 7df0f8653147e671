//! Bodies of the native protocol, and traces of it as OTLP JSON. WIRE 1.
//!
//! The same seed and time generate the same bytes; another seed gives other ids.

use std::fmt::Write as _;

use tidewatch_domain::units;
use tidewatch_query::time::to_rfc3339;

use super::vocabulary::sentence;
use crate::demo::random::Random;

/// Spans of a generated trace, the root included.
const SPANS_PER_TRACE: usize = 8;
/// Segments of a recorded session; the first one has a snapshot of the page.
const SEGMENTS: u64 = 6;
/// Elements of such a snapshot.
const ELEMENTS: usize = 300;
const SECOND_NS: u64 = units::SECOND_NS as u64;
const MILLISECOND_NS: u64 = units::MILLISECOND_NS as u64;
const RESOURCES: [&str; 8] = ["orders", "carts", "users", "prices", "stock", "payments", "reviews", "addresses"];
const REGIONS: [&str; 3] = ["eu-west-1", "us-east-1", "ap-south-1"];

/// The protocol of generated traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// `POST /api/report`.
    Report,
    /// `POST /api/otel/v1/traces`, JSON.
    OtlpJson,
}

/// Replaces `out` by a request with `spans` spans (rounded up to whole traces of eight) that ended within the second
/// before `now_ns`. Requests of one seed have the same traces in both protocols.
pub fn traces(protocol: Protocol, spans: usize, seed: u64, now_ns: u64, out: &mut String) {
    out.clear();
    let mut random = Random::new(seed);
    let second = (now_ns - 2 * SECOND_NS) / SECOND_NS * SECOND_NS;
    let times = Times { second, date: to_rfc3339(second.cast_signed()).trim_end_matches('Z').to_owned() };
    let traces = spans.div_ceil(SPANS_PER_TRACE);
    match protocol {
        Protocol::Report => {
            out.push_str(r#"{"collectionFrames":[{"stackTraces":[],"metrics":[],"traces":["#);
            for number in 0..traces {
                comma(number, out);
                report_trace(&mut random, &times, out);
            }
            out.push_str(r#"]}],"appVersion":"1.4.0","serverName":"shop-7d9f8b6c5d"}"#);
        }
        Protocol::OtlpJson => {
            out.push_str(
                r#"{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}},{"key":"service.version","value":{"stringValue":"1.4.0"}},{"key":"host.name","value":{"stringValue":"shop-7d9f8b6c5d"}}]},"scopeSpans":[{"scope":{"name":"shop"},"spans":["#,
            );
            for number in 0..traces {
                comma(number, out);
                otlp_trace(&mut random, &times, out);
            }
            out.push_str("]}]}]}");
        }
    }
}

/// The second in which the spans of a request start.
struct Times {
    /// Nanoseconds since the epoch.
    second: u64,
    /// The same in RFC 3339, without a zone.
    date: String,
}

/// Content of one span, the same in both protocols.
struct Draw {
    id: [u64; 2],
    /// Index in [`RESOURCES`].
    resource: usize,
    start_ms: u64,
    duration_ns: u64,
    tenant: u64,
    region: &'static str,
}

fn draw(random: &mut Random) -> Draw {
    Draw {
        id: [random.next(), random.next()],
        resource: random.below(RESOURCES.len() as u64) as usize,
        start_ms: random.below(1000),
        duration_ns: MILLISECOND_NS / 10 + random.below(40 * MILLISECOND_NS),
        tenant: random.below(500),
        region: random.pick(&REGIONS),
    }
}

fn report_trace(random: &mut Random, times: &Times, out: &mut String) {
    let (root, date) = (draw(random), &times.date);
    let (run, resource) = (uuid(root.id), RESOURCES[root.resource]);
    let _ = write!(
        out,
        r#"{{"id":"{run}","endpoint":"GET /{resource}/:id","duration":{},"recordedAt":"{date}.{:03}Z","statusCode":200,"bodySize":{},"clientIP":"203.0.113.{}","attributes":{{"tenant":"tenant-{}","region":"{}"}},"spans":["#,
        root.duration_ns,
        root.start_ms,
        root.tenant * 7,
        root.tenant % 250,
        root.tenant,
        root.region
    );
    for number in 1..SPANS_PER_TRACE {
        let child = draw(random);
        comma(number - 1, out);
        let (id, resource) = (uuid(child.id), RESOURCES[child.resource]);
        let _ = write!(
            out,
            r#"{{"id":"{id}","parentSpanId":"{run}","name":"HGETALL {resource}","startTime":"{date}.{:03}Z","duration":{},"attributes":{{"db.system.name":"redis","db.query.text":"HGETALL {resource}:1","server.address":"db-{}.internal"}}}}"#,
            child.start_ms, child.duration_ns, child.region
        );
    }
    out.push_str("]}");
}

fn otlp_trace(random: &mut Random, times: &Times, out: &mut String) {
    let root = draw(random);
    let (trace, run, resource) = (hex(root.id), root.id[1], RESOURCES[root.resource]);
    let start = times.second + root.start_ms * MILLISECOND_NS;
    let _ = write!(
        out,
        r#"{{"traceId":"{trace}","spanId":"{run:016x}","name":"GET /{resource}/:id","kind":2,"startTimeUnixNano":"{start}","endTimeUnixNano":"{}","attributes":[{{"key":"http.request.method","value":{{"stringValue":"GET"}}}},{{"key":"http.route","value":{{"stringValue":"/{resource}/:id"}}}},{{"key":"http.response.status_code","value":{{"intValue":"200"}}}},{{"key":"http.response.body.size","value":{{"intValue":"{}"}}}},{{"key":"client.address","value":{{"stringValue":"203.0.113.{}"}}}},{{"key":"tenant","value":{{"stringValue":"tenant-{}"}}}},{{"key":"region","value":{{"stringValue":"{}"}}}}]}}"#,
        start + root.duration_ns,
        root.tenant * 7,
        root.tenant % 250,
        root.tenant,
        root.region
    );
    for _ in 1..SPANS_PER_TRACE {
        let child = draw(random);
        let (id, resource, start) =
            (child.id[1], RESOURCES[child.resource], times.second + child.start_ms * MILLISECOND_NS);
        let _ = write!(
            out,
            r#",{{"traceId":"{trace}","spanId":"{id:016x}","parentSpanId":"{run:016x}","name":"HGETALL {resource}","kind":1,"startTimeUnixNano":"{start}","endTimeUnixNano":"{}","attributes":[{{"key":"db.system.name","value":{{"stringValue":"redis"}}}},{{"key":"db.query.text","value":{{"stringValue":"HGETALL {resource}:1"}}}},{{"key":"server.address","value":{{"stringValue":"db-{}.internal"}}}}]}}"#,
            start + child.duration_ns,
            child.region
        );
    }
}

/// Replaces `out` by a report with one segment of a recording: 30 seconds of rrweb events, the last ones at `now_ns`.
/// Consecutive numbers are segments of one session; the first of its [`SEGMENTS`] has the session and a snapshot.
pub fn segment(number: u64, now_ns: u64, out: &mut String) {
    out.clear();
    let index = number % SEGMENTS;
    let mut of_session = Random::new(number / SEGMENTS);
    let id = uuid([of_session.next(), of_session.next()]);
    let mut random = Random::new(number);
    let (start, end) = (to_rfc3339((now_ns - 30 * SECOND_NS).cast_signed()), to_rfc3339(now_ns.cast_signed()));
    let first_ms = (now_ns - 30 * SECOND_NS) / MILLISECOND_NS;
    out.push_str(r#"{"collectionFrames":[{"#);
    if index == 0 {
        let _ = write!(
            out,
            r#""sessions":[{{"id":"{id}","startedAt":"{start}","attributes":{{"url":"https://shop.example/","path":"/","userAgent":"Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0","language":"en","viewport":"1280x720","userId":"user-{}"}}}}],"#,
            number % 977
        );
    }
    let _ = write!(out, r#""sessionRecordings":[{{"sessionId":"{id}","segmentIndex":{index},"events":["#);
    if index == 0 {
        snapshot(&mut random, first_ms, out);
    }
    for step in 0..100_u64 {
        comma(usize::from(index == 0 || step > 0), out);
        let at = first_ms + step * 300;
        match step % 10 {
            9 => mutation(&mut random, at, out),
            8 => {
                let (node, y) = (random.below(300), random.below(4000));
                let _ = write!(out, r#"{{"type":3,"data":{{"source":3,"id":{node},"x":0,"y":{y}}},"timestamp":{at}}}"#);
            }
            _ => moves(&mut random, at, out),
        }
    }
    let _ = write!(
        out,
        r#"],"logs":[{{"type":"log","timestamp":"{end}","level":"info","message":"cart {} updated"}}],"actions":[{{"type":"network","timestamp":"{end}","method":"GET","url":"/api/{}/{}","durationMs":{},"statusCode":200}}],"startedAt":"{start}","endedAt":"{end}"}}]}}],"appVersion":"2.0.1","serverName":""}}"#,
        random.below(100_000),
        random.pick(&RESOURCES),
        random.below(100_000),
        random.below(400)
    );
}

/// A whole page, as rrweb sends it: about 60 kilobytes.
fn snapshot(random: &mut Random, at: u64, out: &mut String) {
    let _ = write!(
        out,
        r#"{{"type":4,"data":{{"href":"https://shop.example/","width":1280,"height":720}},"timestamp":{at}}},{{"type":2,"data":{{"node":{{"type":0,"id":1,"childNodes":[{{"type":2,"tagName":"body","attributes":{{}},"id":2,"childNodes":["#
    );
    for element in 0..ELEMENTS {
        comma(element, out);
        let _ = write!(
            out,
            r#"{{"type":2,"tagName":"div","attributes":{{"class":"card card-{} shadow-sm","data-id":"{}"}},"id":{},"childNodes":[{{"type":3,"textContent":""#,
            element % 9,
            random.below(1 << 40),
            2 * element + 3
        );
        let bytes = 20 + random.below(60) as usize;
        sentence(random, bytes, out);
        let _ = write!(out, r#"","id":{}}}]}}"#, 2 * element + 4);
    }
    let _ = write!(out, r#"]}}]}},"initialOffset":{{"left":0,"top":0}}}},"timestamp":{at}}}"#);
}

/// The path of the pointer over half a second.
fn moves(random: &mut Random, at: u64, out: &mut String) {
    out.push_str(r#"{"type":3,"data":{"source":1,"positions":["#);
    let (mut x, mut y) = (random.below(1280), random.below(720));
    for step in 0..10_usize {
        comma(step, out);
        (x, y) = ((x + random.below(40)) % 1280, (y + random.below(30)) % 720);
        let (node, offset) = (random.below(ELEMENTS as u64), 50 * step as i64 - 500);
        let _ = write!(out, r#"{{"x":{x},"y":{y},"id":{node},"timeOffset":{offset}}}"#);
    }
    let _ = write!(out, r#"]}},"timestamp":{at}}}"#);
}

/// New content of some elements.
fn mutation(random: &mut Random, at: u64, out: &mut String) {
    out.push_str(r#"{"type":3,"data":{"source":0,"texts":["#);
    for change in 0..4 {
        comma(change, out);
        let _ = write!(out, r#"{{"id":{},"value":""#, random.below(2 * ELEMENTS as u64));
        sentence(random, 40, out);
        out.push_str(r#""}"#);
    }
    let _ = write!(out, r#"],"attributes":[],"removes":[],"adds":[]}},"timestamp":{at}}}"#);
}

fn comma(number: usize, out: &mut String) {
    if number > 0 {
        out.push(',');
    }
}

fn hex(id: [u64; 2]) -> String {
    format!("{:016x}{:016x}", id[0], id[1])
}

fn uuid(id: [u64; 2]) -> String {
    let hex = hex(id);
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    const NOW: u64 = 1_800_000_000_000_000_000;

    fn parsed(body: &str) -> Value {
        serde_json::from_str(body).expect("JSON")
    }

    #[test]
    fn both_protocols_have_the_same_spans() {
        let (mut report, mut otlp) = (String::new(), String::new());
        traces(Protocol::Report, 512, 7, NOW, &mut report);
        traces(Protocol::OtlpJson, 512, 7, NOW, &mut otlp);
        let (report, otlp) = (parsed(&report), parsed(&otlp));
        let runs = report["collectionFrames"][0]["traces"].as_array().expect("traces").clone();
        let spans = otlp["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().expect("spans").clone();
        assert_eq!((runs.len() * SPANS_PER_TRACE, spans.len()), (512, 512));
        for (run, spans) in runs.iter().zip(spans.chunks(SPANS_PER_TRACE)) {
            assert_eq!(run["endpoint"], spans[0]["name"]);
            let names = |spans: &[Value]| spans.iter().map(|span| span["name"].clone()).collect::<Vec<_>>();
            assert_eq!(names(run["spans"].as_array().expect("spans")), names(&spans[1..]));
        }
    }

    #[test]
    fn segments_of_one_session_follow_each_other() {
        let mut body = String::new();
        let mut ids = Vec::new();
        for number in 0..2 * SEGMENTS {
            segment(number, NOW, &mut body);
            let frame = parsed(&body)["collectionFrames"][0].clone();
            let recording = &frame["sessionRecordings"][0];
            assert_eq!(recording["segmentIndex"], number % SEGMENTS);
            assert_eq!(frame["sessions"].is_array(), number % SEGMENTS == 0);
            assert!((10_000..150_000).contains(&body.len()), "{} bytes", body.len());
            ids.push(recording["sessionId"].to_string());
        }
        ids.dedup();
        assert_eq!(ids.len(), 2);
    }
}
