//! Incidents of the demo, sent through the front door: the Overview names what got worse, and Explain its cause.
//!
//! By default one seed of [`JUDGED`]. `TIDEWATCH_INCIDENTS=all` judges every kind, `TIDEWATCH_INCIDENTS=tenant,user`
//! these, and `TIDEWATCH_INCIDENT_SEEDS=5` five seeds of each, `TIDEWATCH_INCIDENT_SEEDS=6-25` these seeds.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use clap::ValueEnum;
use jiff::Timestamp;
use serde_json::{Value, json};
use tidewatch_bench::demo::incident::{Effect, Incident, Question, Subject};
use tidewatch_bench::demo::traffic::{History, Traffic};
use tidewatch_domain::units;

use crate::harness::{Harness, Project};

/// One kind for each way to be found: a new version, few slow requests, failures of a callee, nothing.
const JUDGED: [Incident; 4] = [Incident::Release, Incident::Canary, Incident::Zone, Incident::None];

/// The end of the history of seed 0. The same time gives the same history.
const NOW_NS: i64 = 1_795_000_000_000_000_000;
/// Between the ends of two seeds: another time of day.
const SEED_STEP_NS: i64 = 25_500_000_000_000;
const MINUTE_NS: i128 = units::MINUTE_NS as i128;
/// Largest distance of `since` from the planted time.
const SINCE_MINUTES: i128 = 10;
const RETRY_AFTER: std::time::Duration = std::time::Duration::from_millis(50);
/// Attempts at a question whose deadline passes.
const ATTEMPTS: usize = 5;
/// Largest distance of a numeric cut from the planted one.
const CUT_TOLERANCE: f64 = 0.05;

fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn seeds() -> std::ops::RangeInclusive<u64> {
    let number = |given: &str| given.parse().expect("a number of seeds, or the first and the last of them");
    let given = setting("TIDEWATCH_INCIDENT_SEEDS").unwrap_or_else(|| "1".to_owned());
    match given.split_once('-') {
        Some((first, last)) => number(first)..=number(last),
        None => 1..=number(&given),
    }
}

fn incidents() -> Vec<Incident> {
    let all = Incident::value_variants().iter().copied();
    match setting("TIDEWATCH_INCIDENTS") {
        Some(names) if names == "all" => all.collect(),
        Some(names) => all.filter(|one| names.split(',').any(|name| name == one.name())).collect(),
        None => JUDGED.to_vec(),
    }
}

fn rfc3339(time_ns: u64) -> String {
    Timestamp::from_nanosecond(i128::from(time_ns)).expect("a time").to_string()
}

/// Sends a history of 26 hours that ends now.
async fn plant(incident: Incident, seed: u64) -> (Harness, Project, History) {
    let clock = Arc::new(AtomicI64::new(NOW_NS + i64::try_from(seed).expect("a small number") * SEED_STEP_NS));
    let (harness, project) = Harness::with_project_at(&clock).await;
    let now_ns = u64::try_from(clock.load(Ordering::Relaxed)).expect("after 1970");
    let history = History { now_ns, minutes: 26 * 60, rate: 3.0, seed, incident, effect: Effect::Big };
    let mut traffic = Traffic::new(history);
    let headers = [("Content-Type", "application/x-protobuf")];
    loop {
        let is_over = traffic.clock_ns() >= now_ns;
        if is_over || traffic.shop.exports.span_count > 2000 {
            for (signal, body) in traffic.shop.exports.take_bodies() {
                // The history is sent as fast as the server takes it: like an exporter, again after a refusal.
                while harness.post_otlp(signal.as_str(), &project.token, &headers, &body).await.status == 503 {
                    tokio::time::sleep(RETRY_AFTER).await;
                    clock.fetch_add(RETRY_AFTER.as_nanos() as i64, Ordering::Relaxed);
                }
            }
        }
        if is_over {
            return (harness, project, history);
        }
        traffic.step();
    }
}

/// Faults of the answer of `POST /api/overview/changes`.
fn wrong_changes(answer: &Value, expected: Option<Subject>, planted_ns: u64) -> Option<String> {
    let cards = answer["data"].as_array().expect("a list");
    let sentences: Vec<&str> = cards.iter().map(|card| card["sentence"].as_str().expect("a sentence")).collect();
    let Some(subject) = expected else {
        return (!cards.is_empty()).then(|| format!("quiet, but {sentences:?}"));
    };
    let Some(card) = cards.first() else { return Some(format!("{} is not named", subject.names[0])) };
    let name = card["name"].as_str().expect("a name");
    if !subject.names.contains(&name) || name == subject.names[0] && card["kind"] != subject.kind {
        return Some(format!("{} is not first: {sentences:?}", subject.names[0]));
    }
    let since: Timestamp = card["since"].as_str().expect("a time").parse().expect("RFC 3339");
    let late_ns = since.as_nanosecond() - i128::from(planted_ns);
    (late_ns.abs() > SINCE_MINUTES * MINUTE_NS)
        .then(|| format!("since is {} min after the planted time: {sentences:?}", late_ns / MINUTE_NS))
}

/// Whether a condition of an answer is the expected one.
fn is_condition(found: &Value, (key, value): (&str, &str)) -> bool {
    if found["attribute"] != key {
        return false;
    }
    let Some(text) = found["value"].as_str() else { return false };
    match value.strip_prefix(">=") {
        None => text == value,
        Some(least) => {
            let number = |text: &str| text.parse::<f64>().unwrap_or(f64::NAN);
            (number(text) / number(least) - 1.0).abs() <= CUT_TOLERANCE
        }
    }
}

/// Faults of the answer of `POST /api/explain`.
fn wrong_explanation(answer: &Value, expected: &tidewatch_bench::demo::incident::Expected) -> Option<String> {
    let rows = answer["data"].as_array().expect("a list");
    let brief = || {
        let row = |row: &Value| {
            format!("{}={} {:.2}", row["attribute"], row["value"], row["explained"].as_f64().unwrap_or(0.0))
        };
        format!(
            "selected {} of {}, rows {:?}",
            answer["selected"],
            answer["baseline"],
            rows.iter().take(3).map(row).collect::<Vec<_>>()
        )
    };
    let is_expected = |row: &Value, conditions: &[(&str, &str)]| {
        let synonyms = row["synonyms"].as_array().expect("a list");
        conditions.iter().all(|condition| {
            is_condition(row, *condition)
                || is_condition(&row["and"], *condition)
                || synonyms.iter().any(|one| is_condition(one, *condition))
        })
    };
    match rows.first() {
        None if expected.rows.is_empty() => None,
        Some(row) if expected.rows.iter().any(|conditions| is_expected(row, conditions)) => None,
        _ => Some(brief()),
    }
    .or_else(|| {
        let service = expected.own_time?;
        let first = &answer["ownTime"][0];
        (first["service"] != service).then(|| format!("own time of {first}, not of {service}"))
    })
}

async fn explain(harness: &Harness, project: &Project, history: &History, question: Question) -> Value {
    let body = json!({
        "entity": question.entity, "name": question.name,
        "fromDate": rfc3339(history.now_ns - history.minutes * 60_000_000_000), "toDate": rfc3339(history.now_ns),
        "budgetMs": 10_000,
        "selection": { "query": question.query, "fromDate": rfc3339(history.plan().at_ns) },
    });
    answered(harness, project, "/api/explain", body).await
}

/// The answer to a question, which is asked again when its deadline passes: what is judged is the answer, and a machine
/// that does much else may be late.
async fn answered(harness: &Harness, project: &Project, path: &str, body: Value) -> Value {
    for _ in 1..ATTEMPTS {
        let answer = harness.query(project, path, body.clone()).await;
        if answer.status != 504 {
            return answer.expect(200).json();
        }
    }
    harness.query_json(project, path, body).await
}

/// Faults of the answers to one incident.
async fn judge(incident: Incident, seed: u64) -> Vec<String> {
    let (harness, project, history) = plant(incident, seed).await;
    let expected = incident.expected();
    let range = json!({ "fromDate": null, "toDate": rfc3339(history.now_ns) });
    let changes = answered(&harness, &project, "/api/overview/changes", range).await;
    let mut wrong: Vec<String> = wrong_changes(&changes, expected.change, history.plan().at_ns).into_iter().collect();
    if let Some(question) = expected.question {
        let answer = explain(&harness, &project, &history, question).await;
        wrong.extend(wrong_explanation(&answer, &expected));
    }
    wrong.into_iter().map(|wrong| format!("{} {seed}: {wrong}", incident.name())).collect()
}

// ANSWERS 4: every incident is named by the Overview, and explained.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_incident_is_named_and_explained() {
    let mut wrong = Vec::new();
    for seed in seeds() {
        for incident in incidents() {
            wrong.extend(judge(incident, seed).await);
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}
