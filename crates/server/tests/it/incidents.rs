//! The incidents of the demo: the generated spans hold what each is said to plant, and the server stores all of them.

use std::collections::{BTreeMap, HashMap};

use bumpalo::Bump;
use clap::ValueEnum;
use serde_json::json;
use tidewatch_bench::demo::incident::{Effect, Expected, Incident};
use tidewatch_bench::demo::traffic::{History, Traffic};
use tidewatch_domain::decode::{self, Encoding};
use tidewatch_domain::model::{AnyValue, KeyValue, Signal, Slice, StatusCode, TraceBatch};

use crate::harness::Harness;

/// 2026-11-23T09:44:00Z.
const NOW_NS: u64 = 1_795_427_040_000_000_000;

fn history(incident: Incident, seed: u64) -> History {
    History { now_ns: NOW_NS, minutes: 24, rate: 4.0, seed, incident, effect: Effect::Big }
}

fn bodies(history: History) -> Vec<(Signal, Vec<u8>)> {
    let mut traffic = Traffic::new(history);
    while traffic.clock_ns() < history.now_ns {
        traffic.step();
    }
    traffic.shop.exports.take_bodies()
}

/// A span with an HTTP route or a model call, with its attributes, those of its resource, and the queries of its trace.
struct Row {
    name: String,
    service: String,
    at_ns: u64,
    duration_ms: f64,
    is_failed: bool,
    attributes: HashMap<String, String>,
    queries: Vec<String>,
}

impl Row {
    fn is(&self, conditions: &[(&str, &str)]) -> bool {
        conditions.iter().all(|(key, value)| {
            let found = self.attributes.get(*key);
            match value.strip_prefix(">=") {
                Some(least) => found.is_some_and(|found| number(found) >= number(least)),
                None if *key == "db.query.text" => self.queries.iter().any(|query| query == value),
                None => found.is_some_and(|found| found == value),
            }
        })
    }

    /// Whether it is selected by one of the queries that the incidents use.
    fn is_selected(&self, query: &str) -> bool {
        if let Some(limit) = query.strip_prefix("duration>") {
            let limit = match limit.strip_suffix("ms") {
                Some(ms) => number(ms),
                None => number(limit.strip_suffix('s').expect("seconds")) * 1000.0,
            };
            return self.duration_ms > limit;
        }
        match query.strip_prefix("output_tokens>") {
            Some(limit) => number(&self.attributes["gen_ai.usage.output_tokens"]) > number(limit),
            None => self.is_failed,
        }
    }
}

fn number(digits: &str) -> f64 {
    digits.parse().expect("a number")
}

fn rows(bodies: &[(Signal, Vec<u8>)]) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut queries: HashMap<[u8; 16], Vec<String>> = HashMap::new();
    for (_, body) in bodies.iter().filter(|(signal, _)| *signal == Signal::Traces) {
        let arena = Bump::new();
        let batch = decode::traces(Encoding::Protobuf, body, &arena).expect("a readable export");
        assert_eq!(batch.refused.len(), 0);
        for span in &batch.spans {
            let mut attributes = attributes_of(&batch, batch.resources[span.resource as usize].attributes);
            attributes.extend(attributes_of(&batch, span.attributes));
            if let Some(query) = attributes.get("db.query.text") {
                queries.entry(span.trace_id.0).or_default().push(query.clone());
            }
            let name = attributes.get("trace.name").cloned().unwrap_or_else(|| span.name.to_owned());
            if attributes.contains_key("http.route") || attributes.contains_key("trace.name") {
                let row = Row {
                    name,
                    service: attributes["service.name"].clone(),
                    at_ns: span.start_ns,
                    duration_ms: (span.end_ns - span.start_ns) as f64 / 1e6,
                    is_failed: span.status == StatusCode::Error,
                    attributes,
                    queries: Vec::new(),
                };
                rows.push((span.trace_id.0, row));
            }
        }
    }
    let found = rows.into_iter().map(|(trace, mut row): ([u8; 16], Row)| {
        row.queries = queries.get(&trace).cloned().unwrap_or_default();
        row
    });
    found.collect()
}

fn attributes_of(batch: &TraceBatch<'_>, range: Slice) -> HashMap<String, String> {
    let text = |value: &AnyValue<'_>| match value {
        AnyValue::Str(string) => (*string).to_owned(),
        AnyValue::Bool(flag) => flag.to_string(),
        AnyValue::Int(integer) => integer.to_string(),
        AnyValue::Double(double) => double.to_string(),
        other => format!("{other:?}"),
    };
    range.of(&batch.attributes).iter().map(|KeyValue { key, value }| ((*key).to_owned(), text(value))).collect()
}

fn share(rows: &[&Row], is: impl Fn(&Row) -> bool) -> f64 {
    rows.iter().filter(|row| is(row)).count() as f64 / rows.len().max(1) as f64
}

fn median_ms(rows: &[&Row]) -> f64 {
    let mut durations: Vec<f64> = rows.iter().map(|row| row.duration_ms).collect();
    durations.sort_by(f64::total_cmp);
    durations[durations.len() / 2]
}

/// The rows of an entity before and after the incident began.
fn around<'r>(rows: &'r [Row], name: &str, at_ns: u64) -> (Vec<&'r Row>, Vec<&'r Row>) {
    rows.iter().filter(|row| row.name == name).partition(|row| row.at_ns < at_ns)
}

/// Of the selected rows during the incident, most have the planted condition; of the others few have it, or nothing had
/// it before.
fn check_condition(incident: Incident, rows: &[Row], at_ns: u64, expected: &Expected) {
    let Some(question) = expected.question else { return };
    let (before, during) = around(rows, question.name, at_ns);
    assert!(during.len() >= 40, "{incident:?}: {} of {}", during.len(), question.name);
    let (selected, others): (Vec<&Row>, Vec<&Row>) =
        during.iter().copied().partition(|row| row.is_selected(question.query));
    let was = share(&before, |row| row.is_selected(question.query));
    assert!(selected.len() >= 10, "{incident:?}: {} selected", selected.len());
    assert!(was < 0.2, "{incident:?}: {was} were selected before");
    let is_planted = |row: &Row| expected.rows.iter().any(|conditions| row.is(conditions));
    if expected.rows.is_empty() {
        assert!(share(&during, |row| row.is_selected(question.query)) > 0.6, "{incident:?}: nearly all are slow");
        return;
    }
    let (of_selected, of_others, of_before) =
        (share(&selected, is_planted), share(&others, is_planted), share(&before, is_planted));
    let least = if incident == Incident::Tenant { 0.8 } else { 0.6 };
    assert!(of_selected >= least, "{incident:?}: {of_selected} of the selected, {of_others} of the others");
    let is_new_everywhere = of_before == 0.0 && of_others > 0.9;
    assert!(is_new_everywhere || of_others < 0.65 * of_selected, "{incident:?}: {of_others} of the others");
}

/// Quiet incidents leave durations and failures of each endpoint as they were. `settled_ns`: when what is short is over.
fn check_quiet(incident: Incident, rows: &[Row], at_ns: u64, settled_ns: u64) {
    for name in ["POST /orders", "POST /charges", "GET /products/:sku", "GET /search"] {
        let (before, during) = around(rows, name, at_ns);
        let after: Vec<&Row> = during.into_iter().filter(|row| row.at_ns >= settled_ns).collect();
        let (was, is) = (median_ms(&before), median_ms(&after));
        assert!((is / was - 1.0).abs() < 0.15, "{incident:?}: {name} from {was} ms to {is} ms");
        let (was, is) = (share(&before, |row| row.is_failed), share(&after, |row| row.is_failed));
        assert!((is - was).abs() < 0.025, "{incident:?}: {name} fails in {is}, before in {was}");
    }
}

#[test]
fn each_incident_is_in_the_spans() {
    let is_wrong = |incident: &Incident| std::panic::catch_unwind(|| check(*incident)).is_err();
    let wrong: Vec<Incident> = Incident::value_variants().iter().copied().filter(is_wrong).collect();
    assert_eq!(wrong, [], "the reasons are above");
}

fn check(incident: Incident) {
    let (history, minute_ns) = (history(incident, 5), 60_000_000_000);
    let (at_ns, rows) = (history.plan().at_ns, rows(&bodies(history)));
    let expected = incident.expected();
    check_condition(incident, &rows, at_ns, &expected);
    match incident {
        Incident::None | Incident::Wave => check_quiet(incident, &rows, at_ns, at_ns),
        Incident::DeployHarmless => check_quiet(incident, &rows, at_ns, at_ns + 2 * minute_ns),
        Incident::Burst => check_quiet(incident, &rows, at_ns, at_ns + 4 * minute_ns),
        Incident::TrafficDrop => {
            let (before, during) = around(&rows, "GET /products/:sku", at_ns);
            let usual = before.len() as f64 / 2.0;
            assert!((0.1..0.35).contains(&(during.len() as f64 / usual)), "{} of {usual}", during.len());
        }
        Incident::Silence => {
            let of_payments = |row: &&Row| row.service == "payments";
            let (before, during): (Vec<&Row>, Vec<&Row>) =
                rows.iter().filter(of_payments).partition(|row| row.at_ns < at_ns);
            assert!(!before.is_empty() && during.is_empty(), "{} during", during.len());
        }
        _ => assert!(expected.question.is_some(), "{incident:?}"),
    }
}

#[test]
fn the_same_seed_and_time_give_the_same_bytes() {
    let of = |seed, now_ns| bodies(History { now_ns, minutes: 3, ..history(Incident::Canary, seed) });
    let first = of(1, NOW_NS);
    assert!(first == of(1, NOW_NS));
    assert!(first != of(2, NOW_NS));
    assert!(first != of(1, NOW_NS + 60_000_000_000));
}

/// A day before the two busy hours is sent as well, and an incident begins 40 minutes before the end.
#[test]
fn a_day_of_history() {
    let day = History { minutes: 26 * 60, rate: 0.2, ..history(Incident::None, 1) };
    assert_eq!(day.plan().at_ns, NOW_NS - 40 * 60_000_000_000);
    let rows = rows(&bodies(day));
    let mut hours: BTreeMap<u64, usize> = BTreeMap::new();
    for row in &rows {
        *hours.entry((row.at_ns + 26 * 3_600_000_000_000 - NOW_NS) / 3_600_000_000_000).or_default() += 1;
    }
    let count = |hour: u64| hours.get(&hour).copied().unwrap_or(0);
    assert!((0..26).all(|hour| count(hour) > 20), "{hours:?}");
    assert!(count(24) > 5 * count(23) && count(25) > 5 * count(23), "{hours:?}");
}

/// Every record of the demo is stored, except the INTERNAL roots that the specification drops.
#[tokio::test]
async fn nothing_of_an_incident_is_refused() {
    let (harness, project) = Harness::with_project().await;
    let now_ns = u64::try_from(harness.app().process.clock.now_ns()).expect("after 1970");
    let history = History { now_ns, minutes: 12, ..history(Incident::TwoCauses, 1) };
    for (signal, body) in bodies(history) {
        let headers = [("Content-Type", "application/x-protobuf")];
        harness.post_otlp(signal.as_str(), &project.token, &headers, &body).await.expect(200);
    }
    let drops = harness.query_json(&project, "/api/drops", json!({ "fromDate": null, "toDate": null })).await;
    let requests = drops["requests"].as_array().expect("a list");
    assert!(!requests.is_empty() && requests.iter().all(|one| one["outcome"] == "accepted"), "{drops}");
    for one in drops["data"].as_array().expect("a list") {
        assert_eq!(one["reason"], "unmatched_root", "{drops}");
    }
}
