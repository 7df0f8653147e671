//! `GET /metrics`: the server's own metrics for Prometheus, only on the listener of `--metrics-listen`, never on the
//! public one. `docs/operate/metrics.md` lists them.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::encoding::text::encode_registry;
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;
use tidewatch_domain::units;
use tidewatch_store::Outcome;

use super::api::NoDescriptions;
use super::connection::connections::ConnectionCounts;
use super::routes;
use crate::contexts::{Ingest, Process};
use crate::error::ApiError;
use crate::process::logging::log_writer;
use crate::process::own_traces::Tracer;
use tidewatch_ingest::metrics::{Durations, Families, Histogram};
use tidewatch_ingest::symbols::removals::RemovalReason;
use tidewatch_limits::{BACKGROUND_SILENCE_MAX, HEARTBEAT_SILENCE_MAX};
use tidewatch_query::context::QueryContext;
use tidewatch_runtime::files;

const NS_PER_SECOND: u64 = units::SECOND_NS as u64;

/// The router of the metrics listener.
pub fn router(scrape: Scrape) -> Router {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(scrape));
    let registry = Arc::new(registry);
    let text = async move || {
        // Statistics of the store take locks, which may block.
        let encoded = tokio::task::spawn_blocking(move || {
            let mut text = String::new();
            encode_registry(&mut text, &registry).map(|()| text)
        });
        let text = encoded.await.map_err(ApiError::internal)?.map_err(ApiError::internal)?;
        Ok::<_, ApiError>(([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text))
    };
    Router::new().route("/metrics", get(text)).fallback(async || ApiError::not_found("no such path"))
}

/// Metrics of requests by route and status, and of connections.
pub struct Traffic {
    /// The counters of connections.
    pub connections: Arc<ConnectionCounts>,
    /// Documented paths without parameters, with the indexes of their routes.
    exact: HashMap<String, usize>,
    /// The segments of the other documented paths, with the indexes of their routes.
    patterns: Vec<(Vec<String>, usize)>,
    routes: Vec<Route>,
}

struct Route {
    path: String,
    latency: Histogram,
    /// Counts by the first digit of the status.
    statuses: [AtomicU64; 6],
}

/// The route of undocumented paths: the UI, and paths that do not exist.
const OTHER: usize = 0;

impl Default for Traffic {
    fn default() -> Traffic {
        let mut traffic = Traffic {
            connections: Arc::default(),
            exact: HashMap::new(),
            patterns: Vec::new(),
            routes: vec![Route::new("other")],
        };
        for path in routes::api::<NoDescriptions>().paths() {
            let at = traffic.routes.len();
            if path.contains('{') {
                traffic.patterns.push((path.split('/').map(str::to_owned).collect(), at));
            } else {
                traffic.exact.insert(path.to_owned(), at);
            }
            // The variants that exporters use (`http::routes`).
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
    /// The index of the route that counts requests to `path`.
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

    /// The documented path of a route. `None` for undocumented paths.
    pub fn documented(&self, route: usize) -> Option<&str> {
        (route != OTHER).then(|| self.routes[route].path.as_str())
    }

    /// Counts a response: its route, its status, and the time from the request head to the response head.
    pub fn add(&self, route: usize, status: u16, took: Duration) {
        let route = &self.routes[route];
        route.latency.add(took);
        let class = usize::from(status / 100).min(route.statuses.len() - 1);
        route.statuses[class].fetch_add(1, Ordering::Relaxed);
    }

    fn encode(&self, families: &mut Families<'_>) -> fmt::Result {
        let ConnectionCounts { open, evicted, refused } = &*self.connections;
        let [open, evicted, refused] = [open, evicted, refused].map(|count| count.load(Ordering::Relaxed));
        families.gauge("tidewatch_connections", "Connections open now.", open)?;
        families.counter("tidewatch_connections_evicted_total", "Idle connections closed for new ones.", evicted)?;
        families.counter("tidewatch_connections_refused_total", "Connections closed without a slot.", refused)?;
        let seen =
            || self.routes.iter().filter(|route| route.statuses.iter().any(|count| count.load(Ordering::Relaxed) > 0));
        let mut requests = families.family(
            MetricType::Counter,
            "tidewatch_http_requests_total",
            "Requests by route and class of status.",
        )?;
        for route in seen() {
            for (class, count) in route.statuses.iter().enumerate() {
                let count = count.load(Ordering::Relaxed);
                if count > 0 {
                    requests.sample(&[("route", &route.path), ("status", &format!("{class}xx"))], count)?;
                }
            }
        }
        let mut latencies = families.family(
            MetricType::Histogram,
            "tidewatch_http_request_seconds",
            "Time from the request head to the response head.",
        )?;
        for route in seen() {
            latencies.histogram(&[("route", &route.path)], &route.latency.snapshot())?;
        }
        Ok(())
    }
}

/// Collects all metrics for a scrape.
pub struct Scrape {
    /// Admission and storage.
    pub ingest: Arc<Ingest>,
    /// Queries.
    pub query: Arc<QueryContext>,
    /// Threads and memory of the process.
    pub process: Arc<Process>,
    /// Requests and connections.
    pub traffic: Arc<Traffic>,
    /// Spans of the server itself, if they are sent.
    pub tracer: Option<Arc<Tracer>>,
}

impl fmt::Debug for Scrape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scrape")
    }
}

impl Collector for Scrape {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut families = Families(encoder);
        self.traffic.encode(&mut families)?;
        self.durations(&mut families)?;
        self.queues(&mut families)?;
        self.queries(&mut families)?;
        self.store(&mut families)?;
        self.threads(&mut families)?;
        self.symbols(&mut families)?;
        self.own_spans(&mut families)?;
        self.refused_exports(&mut families)
    }
}

impl Scrape {
    fn durations(&self, families: &mut Families<'_>) -> fmt::Result {
        for (name, help, durations) in [
            (
                "tidewatch_admission_wait_seconds",
                "Waits for a slot at the ingest gate.",
                self.ingest.pipeline.metrics.admission.snapshot(),
            ),
            (
                "tidewatch_journal_wait_seconds",
                "Time from append until durable and visible.",
                self.ingest.pipeline.metrics.journal.snapshot(),
            ),
            (
                "tidewatch_flush_seconds",
                "Writing rows held in memory as parts.",
                self.ingest.store_metrics.flush.snapshot(),
            ),
            ("tidewatch_merge_seconds", "Merging parts, pauses included.", self.ingest.store_metrics.merge.snapshot()),
            (
                "tidewatch_journal_commit_seconds",
                "Writing and syncing one group of the journal.",
                Durations::of_cumulative(&self.ingest.durable_store.commit_latencies()),
            ),
        ] {
            families.family(MetricType::Histogram, name, help)?.histogram(&[], &durations)?;
        }
        Ok(())
    }

    fn queues(&self, families: &mut Families<'_>) -> fmt::Result {
        let stats = self.query.store.stats();
        let lost = self.ingest.durable_store.engine().lost().stats();
        let journal = self.ingest.durable_store.journal_backlog();
        for (name, help, value) in [
            ("tidewatch_admission_waiting", "Exports that wait for a slot now.", self.ingest.admission.waiting()),
            ("tidewatch_upload_waiting", "Uploads that wait for a slot now.", self.ingest.uploads.waiting()),
            ("tidewatch_questions_waiting", "Queries that wait for a thread now.", self.query.waiting()),
            ("tidewatch_journal_waiting", "Exports that wait for the journal's next group.", journal.records),
            ("tidewatch_journal_waiting_bytes", "Their bytes, and those being written.", journal.bytes),
            ("tidewatch_journal_bytes", "The journal on the disk.", self.ingest.durable_store.journal_bytes() as usize),
            ("tidewatch_flush_waiting", "Memtables that wait to be written as parts.", stats.sealed),
            ("tidewatch_memory_bytes", "Rows in memory.", stats.memory_bytes),
            (
                "tidewatch_memory_held_bytes",
                "Memory allocated for rows, including keys and unused capacity.",
                stats.held_bytes,
            ),
            ("tidewatch_export_bytes_held", "Memory held by bodies of exports.", self.ingest.bodies.held()),
            (
                "tidewatch_missing_files",
                "Parts and key files in the catalog that were missing or had another length at the start.",
                stats.missing_files,
            ),
            ("tidewatch_lost_files", "Files in lost/, set aside rather than removed.", lost.files as usize),
            ("tidewatch_lost_bytes", "Their size.", lost.bytes as usize),
            ("tidewatch_json_bytes_held", "Memory held by bodies of the API.", self.process.json_bodies.held()),
            (
                "tidewatch_store_behind",
                "1 while exports are refused because the store catches up.",
                usize::from(self.ingest.durable_store.is_behind()),
            ),
        ] {
            families.gauge(name, help, value as u64)?;
        }
        Ok(())
    }

    fn queries(&self, families: &mut Families<'_>) -> fmt::Result {
        let (bytes_max, memory) = self.query.store.query_memory();
        families.gauge("tidewatch_query_memory_bytes", "Memory held by queries.", memory.bytes as u64)?;
        families.gauge(
            "tidewatch_query_memory_peak_bytes",
            "Peak memory held by queries since the start.",
            memory.peak_bytes as u64,
        )?;
        families.gauge(
            "tidewatch_query_memory_max_bytes",
            "Memory that all queries together may hold.",
            bytes_max as u64,
        )?;
        families.gauge(
            "tidewatch_query_memory_waiting",
            "Threads of queries that wait for memory.",
            memory.waiting as u64,
        )?;
        families.counter("tidewatch_query_memory_waits_total", "Waits of queries for memory.", memory.waits)?;
        families.counter(
            "tidewatch_query_memory_wait_seconds_total",
            "Time that queries waited for memory.",
            memory.waited.as_secs_f64(),
        )
    }

    fn store(&self, families: &mut Families<'_>) -> fmt::Result {
        let store = &self.query.store;
        let stats = store.stats();
        let mut rows =
            families.family(MetricType::Gauge, "tidewatch_rows", "Rows by table, in parts and in memory.")?;
        for table in &stats.tables {
            let name = table.table.name();
            rows.sample(&[("table", name), ("in", "parts")], table.rows)?;
            rows.sample(&[("table", name), ("in", "memory")], table.memory_rows as u64)?;
        }
        let mut parts = families.family(MetricType::Gauge, "tidewatch_parts", "Parts by table.")?;
        for table in &stats.tables {
            parts.sample(&[("table", table.table.name())], table.parts as u64)?;
        }
        let missing: u64 = store.gaps().iter().map(|gap| gap.rows).sum();
        families.gauge("tidewatch_missing_rows", "Stored rows that are no longer available.", missing)?;
        let mut suspects =
            families.family(MetricType::Gauge, "tidewatch_suspect_parts", "Parts that could not be read, by table.")?;
        for table in &stats.tables {
            suspects.sample(&[("table", table.table.name())], table.suspects as u64)?;
        }
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        families.counter(
            "tidewatch_removed_rows_total",
            "Rows removed past their retention, or with their project.",
            count(&self.ingest.store_metrics.removed_rows),
        )?;
        families.counter(
            "tidewatch_disk_budget_rows_total",
            "Rows of the oldest days, removed for the disk budget.",
            count(&self.ingest.store_metrics.budget_rows),
        )?;
        families.gauge("tidewatch_disk_bytes", "Parts and key files on the disk.", stats.disk_bytes())?;
        families.gauge("tidewatch_disk_bytes_max", "The disk budget; 0: none.", self.process.config.disk_bytes_max)?;
        families.gauge(
            "tidewatch_disk_free_bytes",
            "Free bytes of the data directory's file system.",
            free_bytes(&self.process),
        )?;
        families.gauge(
            "tidewatch_clock_ahead_seconds",
            "How far the clock is ahead of the time that retention trusts, after a jump.",
            store.clock_ahead_ns().unsigned_abs() / NS_PER_SECOND,
        )?;
        families.counter(
            "tidewatch_store_failures_total",
            "Flushes, merges and removals that failed.",
            count(&self.ingest.store_metrics.failures),
        )?;
        let mut records = families.family(
            MetricType::Counter,
            "tidewatch_records_total",
            "Spans, log records and points by outcome and reason.",
        )?;
        for counted in store.outcome_counts() {
            let outcome = counted.outcome.as_ref();
            // The other outcomes are those of requests.
            if [Outcome::Kept, Outcome::Dropped, Outcome::Trimmed].iter().any(|known| known.as_str() == outcome) {
                let (signal, reason) = (&counted.signal, &counted.reason);
                records.sample(&[("signal", signal), ("outcome", outcome), ("reason", reason)], counted.count)?;
            }
        }
        Ok(())
    }

    fn threads(&self, families: &mut Families<'_>) -> fmt::Result {
        let mut alive =
            families.family(MetricType::Gauge, "tidewatch_thread_alive", "Whether a thread makes progress.")?;
        let background = self.process.background.heartbeats();
        let storing = self.ingest.durable_store.heartbeats().map(|heartbeat| (heartbeat, HEARTBEAT_SILENCE_MAX));
        let others = background.iter().map(|heartbeat| (heartbeat, BACKGROUND_SILENCE_MAX));
        for (heartbeat, silence_max) in storing.chain(others) {
            let is_alive = heartbeat.missing(Instant::now(), silence_max).is_none();
            alive.sample(&[("thread", heartbeat.name())], u64::from(is_alive))?;
        }
        let mut set_aside = families.family(
            MetricType::Counter,
            "tidewatch_set_aside_total",
            "Unusable content of the journal copied to lost/, by reason.",
        )?;
        for (reason, count) in self.ingest.durable_store.set_aside() {
            set_aside.sample(&[("reason", reason.as_str())], count)?;
        }
        let mut demos = families.family(
            MetricType::Counter,
            "tidewatch_demo_loads_total",
            "Finished loads of demo data, by result.",
        )?;
        for (end, count) in self.ingest.demos.ended() {
            demos.sample(&[("end", end.as_str())], count)?;
        }
        families.counter(
            "tidewatch_log_lines_lost_total",
            "Log lines that could not be written to standard error.",
            log_writer::lines_lost(),
        )
    }

    fn symbols(&self, families: &mut Families<'_>) -> fmt::Result {
        let symbols = &self.ingest.symbols;
        let (cache, (built, failed)) = (symbols.cache.stats(), symbols.builder.stats());
        families.gauge("tidewatch_symbol_cache_bytes", "Symbol artifacts in memory.", cache.bytes as u64)?;
        families.counter("tidewatch_symbol_cache_hits_total", "Artifacts found in memory.", cache.hits)?;
        families.counter("tidewatch_symbol_cache_misses_total", "Artifacts not found in memory.", cache.misses)?;
        families.counter("tidewatch_symbol_artifacts_built_total", "Artifacts built from uploads.", built)?;
        families.counter(
            "tidewatch_symbol_artifacts_failed_total",
            "Uploads that could not be converted to artifacts.",
            failed,
        )?;
        families.counter(
            "tidewatch_symbol_uploads_over_quota_total",
            "Uploads refused because of their project's quota.",
            symbols.over_quota.load(Ordering::Relaxed),
        )?;
        let removed = |reason: RemovalReason| symbols.removals.total(reason);
        families.counter(
            "tidewatch_symbol_files_removed_too_many_releases_total",
            "Uploads removed because newer releases of the file were uploaded.",
            removed(RemovalReason::TooManyReleases),
        )?;
        families.counter(
            "tidewatch_symbol_files_removed_release_too_old_total",
            "Uploads removed because of the age of their release.",
            removed(RemovalReason::ReleaseTooOld),
        )
    }

    fn own_spans(&self, families: &mut Families<'_>) -> fmt::Result {
        let Some(tracer) = &self.tracer else { return Ok(()) };
        let spans = tracer.stats();
        families.gauge("tidewatch_own_spans_waiting", "Own spans that wait to be sent.", spans.waiting)?;
        families.counter("tidewatch_own_spans_sent_total", "Own spans that were delivered.", spans.sent)?;
        families.counter("tidewatch_own_spans_dropped_total", "Own spans that were discarded.", spans.dropped)
    }

    fn refused_exports(&self, families: &mut Families<'_>) -> fmt::Result {
        let mut refused = families.family(
            MetricType::Counter,
            "tidewatch_refused_exports_total",
            "Exports refused, by reason and signal.",
        )?;
        for (reason, signal, count) in self.ingest.refusals_by_kind() {
            refused.sample(&[("reason", reason), ("signal", signal)], count)?;
        }
        Ok(())
    }
}

/// The free bytes of the data directory's file system; 0 if they cannot be determined.
fn free_bytes(process: &Process) -> u64 {
    files::free_bytes(&process.config.data_dir).unwrap_or(0)
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
}
