//! The server's own metrics, as Prometheus text: on a listener of their own (`--metrics-listen`), never on the public one.
//!
//! What is not counted as it happens is read when somebody asks. Names and meanings: `docs/metrics.md`.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use tidewatch_journal::Times;
use tidewatch_lake::Outcome;

use super::connections::ConnectionCounts;
use super::routes;
use crate::app::App;
use crate::error::ApiError;
use crate::files;
use crate::limits::{BACKGROUND_SILENCE_MAX, HEARTBEAT_SILENCE_MAX};
use crate::metrics::{Histogram, write_histogram};
use crate::own_traces::Tracer;
use crate::telemetry::log_writer;

const NS_PER_SECOND: u64 = 1_000_000_000;

/// The router of the metrics listener.
pub fn router(app: Arc<App>, traffic: Arc<Traffic>, tracer: Option<Arc<Tracer>>) -> Router {
    let text = async move || {
        // Reading what the store counts takes locks for a moment.
        let made = tokio::task::spawn_blocking(move || text_of(&app, &traffic, tracer.as_deref())).await;
        made.map(|text| ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text))
            .map_err(ApiError::internal)
    };
    Router::new().route("/metrics", get(text)).fallback(async || ApiError::not_found("no such path"))
}

/// Requests by route and status.
pub struct Traffic {
    pub connections: Arc<ConnectionCounts>,
    /// Documented paths without parameters, and the places of their routes.
    exact: HashMap<String, usize>,
    /// The other documented paths, in segments.
    patterns: Vec<(Vec<String>, usize)>,
    routes: Vec<Route>,
}

struct Route {
    path: String,
    latency: Histogram,
    /// By the status's first digit.
    statuses: [AtomicU64; 6],
}

/// What no documented path takes: the UI, and what does not exist.
const OTHER: usize = 0;

impl Default for Traffic {
    fn default() -> Traffic {
        let mut traffic = Traffic {
            connections: Arc::default(),
            exact: HashMap::new(),
            patterns: Vec::new(),
            routes: vec![Route::new("other")],
        };
        for path in routes::api().paths() {
            let at = traffic.routes.len();
            if path.contains('{') {
                traffic.patterns.push((path.split('/').map(str::to_owned).collect(), at));
            } else {
                traffic.exact.insert(path.to_owned(), at);
            }
            // As exporters spell them: `http::routes`.
            if let Some(short) = path.strip_prefix("/api/otel") {
                for spelled in [short.to_owned(), format!("{short}/"), format!("{path}/")] {
                    traffic.exact.insert(spelled, at);
                }
            }
            traffic.routes.push(Route::new(path));
        }
        if let Some(health) = traffic.exact.get("/health").copied() {
            traffic.exact.extend(["/livez", "/readyz"].map(|probe| (probe.to_owned(), health)));
        }
        traffic
    }
}

impl Route {
    fn new(path: &str) -> Route {
        Route { path: path.to_owned(), latency: Histogram::default(), statuses: Default::default() }
    }
}

impl Traffic {
    /// Where requests to this path are counted.
    pub fn route(&self, path: &str) -> usize {
        if let Some(at) = self.exact.get(path) {
            return *at;
        }
        let matches = |pattern: &[String]| {
            let mut segments = path.split('/');
            pattern
                .iter()
                .all(|known| segments.next().is_some_and(|segment| known.starts_with('{') || segment == known))
                && segments.next().is_none()
        };
        self.patterns.iter().find(|(pattern, _)| matches(pattern)).map_or(OTHER, |(_, at)| *at)
    }

    /// The documented path; `None`: there is none.
    pub fn documented(&self, route: usize) -> Option<&str> {
        (route != OTHER).then(|| self.routes[route].path.as_str())
    }

    pub fn add(&self, route: usize, status: u16, took: Duration) {
        let route = &self.routes[route];
        route.latency.add(took);
        let class = usize::from(status / 100).min(route.statuses.len() - 1);
        route.statuses[class].fetch_add(1, Ordering::Relaxed);
    }

    fn write(&self, text: &mut String) {
        let ConnectionCounts { open, evicted, refused } = &*self.connections;
        let [open, evicted, refused] = [open, evicted, refused].map(|count| count.load(Ordering::Relaxed));
        figures(
            text,
            [
                ("tidewatch_connections", "gauge", "Connections open now.", open),
                ("tidewatch_connections_evicted_total", "counter", "Idle ones closed for others.", evicted),
                ("tidewatch_connections_refused_total", "counter", "Those without a place.", refused),
            ],
        );
        head(text, "tidewatch_http_requests_total", "counter", "Requests by route and class of status.");
        let seen =
            || self.routes.iter().filter(|route| route.statuses.iter().any(|count| count.load(Ordering::Relaxed) > 0));
        for route in seen() {
            for (class, count) in route.statuses.iter().enumerate() {
                let count = count.load(Ordering::Relaxed);
                if count > 0 {
                    let path = &route.path;
                    let _ = writeln!(
                        text,
                        "tidewatch_http_requests_total{{route=\"{path}\",status=\"{class}xx\"}} {count}"
                    );
                }
            }
        }
        head(text, "tidewatch_http_request_seconds", "histogram", "From a request's head to its answer's.");
        for route in seen() {
            route.latency.write(text, "tidewatch_http_request_seconds", &format!("route=\"{}\",", route.path));
        }
    }
}

/// Everything, as Prometheus reads it.
fn text_of(app: &App, traffic: &Traffic, tracer: Option<&Tracer>) -> String {
    let mut text = String::new();
    traffic.write(&mut text);
    for (name, help, histogram) in [
        ("tidewatch_admission_wait_seconds", "Waits for a slot at the ingest gate.", &app.ingest.metrics.admission),
        ("tidewatch_journal_wait_seconds", "From append until durable and visible.", &app.ingest.metrics.journal),
        ("tidewatch_flush_seconds", "Writing rows held in memory as parts.", &app.store_metrics.flush),
        ("tidewatch_merge_seconds", "Merging parts, pauses included.", &app.store_metrics.merge),
    ] {
        head(&mut text, name, "histogram", help);
        histogram.write(&mut text, name, "");
    }
    head(&mut text, COMMITS, "histogram", "Writing and syncing one group of the journal.");
    let Times { at_most, count, total } = app.intake.journal_commits();
    let buckets = at_most.iter().map(|(bound, count)| (bound.as_secs_f64(), *count));
    write_histogram(&mut text, COMMITS, "", buckets, (count, total));
    let stats = app.intake.lake().stats();
    let lost = app.intake.lake().lost().stats();
    let journal = app.intake.journal_waiting();
    for (name, help, value) in [
        ("tidewatch_admission_waiting", "Exports that wait for a slot now.", app.admission.waiting()),
        ("tidewatch_upload_waiting", "Uploads that wait for a slot now.", app.uploads.waiting()),
        ("tidewatch_questions_waiting", "Questions that wait for a thread now.", app.query.waiting()),
        ("tidewatch_journal_waiting", "Exports that wait for the journal's next group.", journal.records),
        ("tidewatch_journal_waiting_bytes", "Their bytes, and those being written.", journal.bytes),
        ("tidewatch_journal_bytes", "The journal on the disk.", app.intake.journal_bytes() as usize),
        ("tidewatch_flush_waiting", "Memtables that wait to be written as parts.", stats.sealed),
        ("tidewatch_memory_bytes", "Rows in memory.", stats.memory_bytes),
        ("tidewatch_memory_held_bytes", "What they take, with their keys and room for more.", stats.held_bytes),
        ("tidewatch_export_bytes_held", "Memory held by bodies of exports.", app.bodies.held()),
        (
            "tidewatch_missing_files",
            "Listed parts and key files that were missing or had another length at the start.",
            stats.missing_files,
        ),
        ("tidewatch_lost_files", "Files in lost/, set aside rather than removed.", lost.files as usize),
        ("tidewatch_lost_bytes", "Their size.", lost.bytes as usize),
        ("tidewatch_json_bytes_held", "Memory held by bodies of the API.", app.json_bodies.held()),
        (
            "tidewatch_store_behind",
            "1 while nothing is accepted because the store catches up.",
            usize::from(app.intake.is_behind()),
        ),
    ] {
        head(&mut text, name, "gauge", help);
        let _ = writeln!(text, "{name} {value}");
    }
    let (bytes_max, questions) = app.intake.lake().query_memory();
    figures(
        &mut text,
        [
            ("tidewatch_query_memory_bytes", "gauge", "Memory held by questions.", questions.bytes as u64),
            ("tidewatch_query_memory_peak_bytes", "gauge", "The most since the start.", questions.peak_bytes as u64),
            ("tidewatch_query_memory_max_bytes", "gauge", "What all questions may hold.", bytes_max as u64),
            ("tidewatch_query_memory_waiting", "gauge", "Threads of questions that wait.", questions.waiting as u64),
            ("tidewatch_query_memory_waits_total", "counter", "Waits of questions for memory.", questions.waits),
        ],
    );
    let waited = questions.waited.as_secs_f64();
    head(&mut text, "tidewatch_query_memory_wait_seconds_total", "counter", "Time that questions waited for memory.");
    let _ = writeln!(text, "tidewatch_query_memory_wait_seconds_total {waited}");
    head(&mut text, "tidewatch_rows", "gauge", "Rows by table, in parts and in memory.");
    for table in &stats.tables {
        let name = table.table.name();
        let _ = writeln!(text, "tidewatch_rows{{table=\"{name}\",in=\"parts\"}} {}", table.rows);
        let _ = writeln!(text, "tidewatch_rows{{table=\"{name}\",in=\"memory\"}} {}", table.memory_rows);
    }
    head(&mut text, "tidewatch_parts", "gauge", "Parts by table.");
    for table in &stats.tables {
        let _ = writeln!(text, "tidewatch_parts{{table=\"{}\"}} {}", table.table.name(), table.parts);
    }
    let gaps = app.intake.lake().gaps();
    let missing = gaps.iter().map(|gap| gap.rows).sum();
    figures(&mut text, [("tidewatch_missing_rows", "gauge", "Rows that were stored and set aside since.", missing)]);
    head(&mut text, "tidewatch_suspect_parts", "gauge", "Parts that could not be read, by table.");
    for table in &stats.tables {
        let _ = writeln!(text, "tidewatch_suspect_parts{{table=\"{}\"}} {}", table.table.name(), table.suspects);
    }
    let removed = app.store_metrics.removed_rows.load(Ordering::Relaxed);
    let budget_rows = app.store_metrics.budget_rows.load(Ordering::Relaxed);
    let clock_ahead = app.intake.lake().clock_ahead_ns().unsigned_abs() / NS_PER_SECOND;
    figures(
        &mut text,
        [
            ("tidewatch_removed_rows_total", "counter", "Rows that were kept no longer.", removed),
            (
                "tidewatch_disk_budget_rows_total",
                "counter",
                "Rows of the oldest days, dropped for the disk budget.",
                budget_rows,
            ),
            ("tidewatch_disk_bytes", "gauge", "Parts and key files on the disk.", stats.disk_bytes()),
            ("tidewatch_disk_bytes_max", "gauge", "What they may take; 0: any number.", app.config.disk_bytes_max),
            ("tidewatch_disk_free_bytes", "gauge", "Free bytes of the data directory's file system.", free_bytes(app)),
            (
                "tidewatch_clock_ahead_seconds",
                "gauge",
                "How far the clock is ahead of what retention trusts, on account of a jump.",
                clock_ahead,
            ),
        ],
    );
    head(&mut text, "tidewatch_store_failures_total", "counter", "Flushes, merges and removals that failed.");
    let _ = writeln!(text, "tidewatch_store_failures_total {}", app.store_metrics.failures.load(Ordering::Relaxed));
    head(&mut text, RECORDS, "counter", "Spans, log records and points by what became of them, and why.");
    for counted in app.intake.lake().counted() {
        let outcome = counted.outcome.as_ref();
        // The others are requests.
        if [Outcome::Kept, Outcome::Dropped, Outcome::Trimmed].iter().any(|known| known.as_str() == outcome) {
            let (signal, reason, count) = (counted.signal, counted.reason, counted.count);
            let _ =
                writeln!(text, "{RECORDS}{{signal=\"{signal}\",outcome=\"{outcome}\",reason=\"{reason}\"}} {count}");
        }
    }
    head(&mut text, "tidewatch_thread_alive", "gauge", "Whether a thread gets on.");
    for heartbeat in app.intake.heartbeats() {
        let is_alive = heartbeat.missing(Instant::now(), HEARTBEAT_SILENCE_MAX).is_none();
        let _ = writeln!(text, "tidewatch_thread_alive{{thread=\"{}\"}} {}", heartbeat.name(), u8::from(is_alive));
    }
    for heartbeat in app.background.heartbeats() {
        let is_alive = heartbeat.missing(Instant::now(), BACKGROUND_SILENCE_MAX).is_none();
        let _ = writeln!(text, "tidewatch_thread_alive{{thread=\"{}\"}} {}", heartbeat.name(), u8::from(is_alive));
    }
    head(&mut text, "tidewatch_set_aside_total", "counter", "What of the journal was set aside in lost/, by reason.");
    for (reason, count) in app.intake.set_aside() {
        let _ = writeln!(text, "tidewatch_set_aside_total{{reason=\"{}\"}} {count}", reason.as_str());
    }
    head(&mut text, "tidewatch_demo_loads_total", "counter", "Loads of demo data that ended, by how.");
    for (end, count) in app.demos.ended() {
        let _ = writeln!(text, "tidewatch_demo_loads_total{{end=\"{}\"}} {count}", end.as_str());
    }
    let lost = log_writer::lines_lost();
    figures(
        &mut text,
        [("tidewatch_log_lines_lost_total", "counter", "Log lines that could not be written to standard error.", lost)],
    );
    let (cache, (built, failed)) = (app.symbols.cache.figures(), app.symbols.builder.figures());
    figures(
        &mut text,
        [
            ("tidewatch_symbol_cache_bytes", "gauge", "Symbol artifacts in memory.", cache.bytes as u64),
            ("tidewatch_symbol_cache_hits_total", "counter", "Artifacts found in memory.", cache.hits),
            ("tidewatch_symbol_cache_misses_total", "counter", "Artifacts not found in memory.", cache.misses),
            ("tidewatch_symbol_artifacts_built_total", "counter", "Artifacts made from uploads.", built),
            ("tidewatch_symbol_artifacts_failed_total", "counter", "Uploads no artifact can be made from.", failed),
            (
                "tidewatch_symbol_uploads_over_quota_total",
                "counter",
                "Uploads refused because their project keeps too much.",
                app.symbols.over_quota.load(Ordering::Relaxed),
            ),
        ],
    );
    if let Some(tracer) = tracer {
        let spans = tracer.figures();
        figures(
            &mut text,
            [
                ("tidewatch_own_spans_waiting", "gauge", "Own spans that wait to be sent.", spans.waiting),
                ("tidewatch_own_spans_sent_total", "counter", "Own spans that were taken.", spans.sent),
                ("tidewatch_own_spans_dropped_total", "counter", "Own spans given up.", spans.dropped),
            ],
        );
    }
    head(&mut text, "tidewatch_refused_exports_total", "counter", "Exports refused, by reason and signal.");
    for (reason, signal, count) in app.refusals_by_kind() {
        let _ = writeln!(text, "tidewatch_refused_exports_total{{reason=\"{reason}\",signal=\"{signal}\"}} {count}");
    }
    text
}

/// 0 when it cannot be found out.
fn free_bytes(app: &App) -> u64 {
    files::free_bytes(&app.config.data_dir).unwrap_or(0)
}

/// Name, kind, help and value.
fn figures<const N: usize>(text: &mut String, figures: [(&str, &str, &str, u64); N]) {
    for (name, kind, help, value) in figures {
        head(text, name, kind, help);
        let _ = writeln!(text, "{name} {value}");
    }
}

const COMMITS: &str = "tidewatch_journal_commit_seconds";
const RECORDS: &str = "tidewatch_records_total";

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_their_routes() {
        let traffic = Traffic::default();
        for (path, expected) in [
            ("/api/otel/v1/traces", "/api/otel/v1/traces"),
            ("/v1/traces/", "/api/otel/v1/traces"),
            ("/api/login", "/api/login"),
            ("/api/exception-stack-traces/abc", "/api/exception-stack-traces/{hash}"),
            ("/api/none", "other"),
            ("/", "other"),
            ("", "other"),
        ] {
            assert_eq!(traffic.routes[traffic.route(path)].path, expected, "{path}");
        }
    }

    #[test]
    fn buckets_add_up() {
        let histogram = Histogram::default();
        for ms in [0, 1, 3, 30, 1_000_000] {
            histogram.add(Duration::from_millis(ms));
        }
        let mut text = String::new();
        histogram.write(&mut text, "x", "");
        let counts: Vec<u64> = text
            .lines()
            .filter(|line| line.starts_with("x_bucket"))
            .filter_map(|line| line.rsplit(' ').next()?.parse().ok())
            .collect();
        assert!(counts.is_sorted() && counts.last() == Some(&5) && counts[counts.len() - 2] == 4, "{text}");
        assert!(text.ends_with("x_sum{} 1000.034\nx_count{} 5\n"), "{text}");
    }
}
