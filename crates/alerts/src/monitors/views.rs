//! Requests and responses of `/api/synthetics`.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tidewatch_query::time::to_rfc3339;
use tidewatch_query::views::page::{PageInfo, PageRequest};
use utoipa::ToSchema;

use super::config::{INTERVAL_SECONDS, TIMEOUT_SECONDS};
use super::secrets;
use crate::monitors::{
    Monitor, MonitorDay, MonitorOutcome, MonitorResult, MonitorState, MonitorSums, MonitorTransition,
};

/// Types of monitors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum CheckType {
    /// The response to an HTTP request.
    Http,
    /// A TCP connection.
    Tcp,
    /// The validity of a TLS certificate.
    Tls,
    /// The records of a name.
    Dns,
    /// Reports of a job in time.
    Heartbeat,
    /// Script in a browser.
    Browser,
}

impl CheckType {
    /// The name on the wire and in the database.
    pub fn name(self) -> &'static str {
        match self {
            CheckType::Http => "http",
            CheckType::Tcp => "tcp",
            CheckType::Tls => "tls",
            CheckType::Dns => "dns",
            CheckType::Heartbeat => "heartbeat",
            CheckType::Browser => "browser",
        }
    }
}

/// States of monitors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum StateView {
    /// The latest results are good.
    Up,
    /// As many consecutive results as its threshold were bad.
    Down,
    /// Nothing is known yet, or it is paused.
    Unknown,
}

impl From<MonitorState> for StateView {
    fn from(state: MonitorState) -> StateView {
        match state {
            MonitorState::Up => StateView::Up,
            MonitorState::Down => StateView::Down,
            MonitorState::Unknown => StateView::Unknown,
        }
    }
}

/// Outcomes of checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum OutcomeView {
    /// It is as it should be.
    Up,
    /// It is not.
    Down,
    /// The check was not made.
    Missed,
}

impl From<MonitorOutcome> for OutcomeView {
    fn from(outcome: MonitorOutcome) -> OutcomeView {
        match outcome {
            MonitorOutcome::Up => OutcomeView::Up,
            MonitorOutcome::Down => OutcomeView::Down,
            MonitorOutcome::Missed => OutcomeView::Missed,
        }
    }
}

/// Body of `POST /api/synthetics/checks`.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckRequest {
    /// 1 to 200 characters.
    pub name: String,
    /// The type.
    pub check_type: CheckType,
    /// Whether it is checked.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// Seconds between two checks.
    #[serde(default = "interval_seconds")]
    #[schema(minimum = 30, maximum = 86400, default = 60)]
    pub interval_seconds: i64,
    /// Seconds that a check may take.
    #[serde(default = "timeout_seconds")]
    #[schema(minimum = 1, maximum = 120, default = 10)]
    pub timeout_seconds: i64,
    /// Consecutive bad results that make it down; 1 for heartbeats and 3 for others when null.
    #[schema(minimum = 1, maximum = 10)]
    pub failure_threshold: Option<i64>,
    /// The configuration of the type.
    #[schema(value_type = BTreeMap<String, Value>)]
    pub config: Value,
}

fn yes() -> bool {
    true
}

fn interval_seconds() -> i64 {
    INTERVAL_SECONDS
}

fn timeout_seconds() -> i64 {
    TIMEOUT_SECONDS
}

/// Body of `PUT /api/synthetics/checks/{id}`; null keeps a value.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct CheckChange {
    /// 1 to 200 characters.
    pub name: Option<String>,
    /// The type, which cannot change.
    pub check_type: Option<CheckType>,
    /// Whether it is checked.
    pub enabled: Option<bool>,
    /// Seconds between two checks.
    #[schema(minimum = 30, maximum = 86400)]
    pub interval_seconds: Option<i64>,
    /// Seconds that a check may take.
    #[schema(minimum = 1, maximum = 120)]
    pub timeout_seconds: Option<i64>,
    /// Consecutive bad results that make it down.
    #[schema(minimum = 1, maximum = 10)]
    pub failure_threshold: Option<i64>,
    /// The whole configuration. `********` in place of a secret keeps the stored one.
    #[schema(value_type = Option<BTreeMap<String, Value>>)]
    pub config: Option<Value>,
}

/// A monitor.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// Its id.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// The type: `http`, `tcp`, `tls`, `dns`, `heartbeat` or `browser`.
    pub check_type: String,
    /// Whether it is checked.
    pub enabled: bool,
    /// Seconds between two checks.
    pub interval_seconds: i64,
    /// Seconds that a check may take.
    pub timeout_seconds: i64,
    /// Consecutive bad results that make it down.
    pub failure_threshold: i64,
    /// The configuration, with `********` in place of secrets.
    #[schema(value_type = BTreeMap<String, Value>)]
    pub config: Value,
    /// The state.
    pub state: StateView,
    /// Time since which it has the state.
    #[schema(format = DateTime)]
    pub state_since: String,
    /// Consecutive bad results.
    pub failures: i64,
    /// Of a heartbeat: time of the latest report.
    #[schema(format = DateTime)]
    pub last_ping_at: Option<String>,
    /// Of a heartbeat, in the answers of its creation and of a replacement only: the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Time of its creation.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// Time of the latest change by a user.
    #[schema(format = DateTime)]
    pub updated_at: String,
    /// Reason for which this server cannot check it; null if it can.
    pub problem: Option<String>,
}

impl Check {
    /// The monitor with the problem of checks by a browser, if it is one.
    pub fn with_browser_problem(mut self, problem: Option<&str>) -> Check {
        if self.check_type == CheckType::Browser.name() {
            self.problem = problem.map(str::to_owned);
        }
        self
    }

    /// The monitor as answers show it.
    pub fn of(monitor: Monitor) -> Check {
        let chosen = monitor.chosen;
        Check {
            id: monitor.id,
            name: chosen.name,
            check_type: chosen.check_type,
            enabled: chosen.is_enabled,
            interval_seconds: chosen.interval_seconds,
            timeout_seconds: chosen.timeout_seconds,
            failure_threshold: chosen.failure_threshold,
            config: secrets::masked(chosen.config),
            state: monitor.standing.state.into(),
            state_since: to_rfc3339(monitor.standing.since_ns),
            failures: monitor.standing.failures,
            last_ping_at: monitor.ping_ns.map(to_rfc3339),
            token: None,
            created_at: to_rfc3339(monitor.created_ns),
            updated_at: to_rfc3339(monitor.updated_ns),
            problem: None,
        }
    }
}

/// Response of `GET /api/synthetics/checks`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Checks {
    /// The monitors, by name.
    pub checks: Vec<Check>,
}

/// Response of `DELETE /api/synthetics/checks/{id}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CheckDeleted {
    /// True.
    pub deleted: bool,
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckResult {
    /// Its id; 0 if it was not stored.
    pub id: i64,
    /// Time of the check.
    #[schema(format = DateTime)]
    pub at: String,
    /// The outcome.
    pub outcome: OutcomeView,
    /// Reason of a bad or missed result; empty if it is good.
    pub reason: String,
    /// HTTP status.
    pub status_code: Option<i64>,
    /// Trace id that the request carried; empty without one.
    pub trace_id: String,
    /// Milliseconds of the resolution of the name.
    pub dns_ms: Option<f64>,
    /// Milliseconds of the TCP connection.
    pub connect_ms: Option<f64>,
    /// Milliseconds of the TLS handshake.
    pub tls_ms: Option<f64>,
    /// Milliseconds from the request to the first byte of the response.
    pub wait_ms: Option<f64>,
    /// Milliseconds of everything.
    pub total_ms: Option<f64>,
    /// End of the validity of the certificate.
    #[schema(format = DateTime)]
    pub tls_expires_at: Option<String>,
    /// Output of the script of a check by a browser. Stored for bad results only.
    pub output: String,
}

impl CheckResult {
    /// The result as answers show it.
    pub fn of(result: MonitorResult) -> CheckResult {
        let ms = |ns: Option<i64>| ns.map(|ns| ns as f64 / 1e6);
        CheckResult {
            id: result.id,
            at: to_rfc3339(result.at_ns),
            outcome: result.outcome.into(),
            reason: result.reason,
            status_code: result.status_code,
            trace_id: result.trace_id,
            dns_ms: ms(result.timings.dns_ns),
            connect_ms: ms(result.timings.connect_ns),
            tls_ms: ms(result.timings.tls_ns),
            wait_ms: ms(result.timings.wait_ns),
            total_ms: ms(result.timings.total_ns),
            tls_expires_at: result.tls_expires_ns.map(to_rfc3339),
            output: result.output,
        }
    }
}

/// Body of `POST /api/synthetics/checks/{id}/results`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct CheckResultsRequest {
    /// Start of the time range, inclusive; 24 hours before `toDate` when null.
    #[schema(format = DateTime)]
    pub from_date: Option<String>,
    /// End of the time range, exclusive; now when null.
    #[schema(format = DateTime)]
    pub to_date: Option<String>,
    /// Only bad and missed ones.
    pub failed_only: bool,
    /// The page.
    pub pagination: Option<PageRequest>,
}

/// Response of `POST /api/synthetics/checks/{id}/results`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct CheckResults {
    /// Results, newest first.
    pub data: Vec<CheckResult>,
    /// Position of this page in the list.
    pub pagination: PageInfo,
}

/// Body of `POST /api/synthetics/checks/{id}/series`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct CheckSeriesRequest {
    /// Start of the time range, inclusive; 24 hours before `toDate` when null.
    #[schema(format = DateTime)]
    pub from_date: Option<String>,
    /// End of the time range, exclusive; now when null.
    #[schema(format = DateTime)]
    pub to_date: Option<String>,
}

/// The results of a stretch of time. Averages are of the results with a duration.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckPoint {
    /// Start of the stretch.
    #[schema(format = DateTime)]
    pub at: String,
    /// All results.
    pub total: i64,
    /// Good ones.
    pub up: i64,
    /// Checks that were not made.
    pub missed: i64,
    /// Average milliseconds of the resolution of the name.
    pub dns_ms: f64,
    /// Average milliseconds of the TCP connection.
    pub connect_ms: f64,
    /// Average milliseconds of the TLS handshake.
    pub tls_ms: f64,
    /// Average milliseconds from the request to the first byte of the response.
    pub wait_ms: f64,
    /// Average milliseconds of everything; null without a result that has a duration.
    pub total_ms: Option<f64>,
    /// The longest duration, milliseconds.
    pub max_ms: Option<f64>,
}

impl CheckPoint {
    /// The sums as averages.
    pub fn of(sums: MonitorSums) -> CheckPoint {
        let average = |sum: i64| if sums.timed == 0 { 0.0 } else { sum as f64 / sums.timed as f64 / 1e6 };
        CheckPoint {
            at: to_rfc3339(sums.bucket_ns),
            total: sums.total,
            up: sums.up,
            missed: sums.missed,
            dns_ms: average(sums.dns_ns),
            connect_ms: average(sums.connect_ns),
            tls_ms: average(sums.tls_ns),
            wait_ms: average(sums.wait_ns),
            total_ms: (sums.timed > 0).then(|| average(sums.total_ns)),
            max_ms: (sums.timed > 0).then_some(sums.max_ns as f64 / 1e6),
        }
    }
}

/// A change of the state.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckTransition {
    /// Its time.
    #[schema(format = DateTime)]
    pub at: String,
    /// The state before.
    pub from: StateView,
    /// The state since.
    pub to: StateView,
    /// Reason of the change; empty for a recovery.
    pub reason: String,
    /// Trace id of the check that changed the state; may be empty.
    pub trace_id: String,
}

impl CheckTransition {
    /// The change as answers show it.
    pub fn of(change: MonitorTransition) -> CheckTransition {
        CheckTransition {
            at: to_rfc3339(change.at_ns),
            from: change.from.into(),
            to: change.to.into(),
            reason: change.reason,
            trace_id: change.trace_id,
        }
    }
}

/// The results of a UTC day.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct CheckDay {
    /// Start of the day.
    #[schema(format = DateTime)]
    pub bucket: String,
    /// All results.
    pub total: i64,
    /// Good ones.
    pub up: i64,
    /// Checks that were not made.
    pub missed: i64,
}

impl CheckDay {
    /// The day as answers show it.
    pub fn of(day: &MonitorDay) -> CheckDay {
        CheckDay { bucket: to_rfc3339(day.day_ns), total: day.total, up: day.up, missed: day.missed }
    }
}

/// Response of `POST /api/synthetics/checks/{id}/series`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckSeries {
    /// Seconds of each stretch.
    pub bucket_seconds: i64,
    /// Stretches with results, ascending.
    pub points: Vec<CheckPoint>,
    /// Percentage of good results in the range, without those that were missed; null without any.
    pub uptime_pct: Option<f64>,
    /// Changes of the state in the range, newest first.
    pub transitions: Vec<CheckTransition>,
    /// The last 90 UTC days, those with results, ascending.
    pub days: Vec<CheckDay>,
}
