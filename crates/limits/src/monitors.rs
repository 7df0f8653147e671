//! Limits of monitors and their results.

use std::time::Duration;

use crate::units::{KB, MIB, minutes, seconds};

/// Monitors of a project.
pub const MONITORS_MAX: i64 = 500;
/// Characters of the name of a monitor. WIRE 6.
pub const MONITOR_NAME_CHARS_MAX: usize = 200;
/// Seconds between two checks of a monitor. WIRE 6.
pub const MONITOR_INTERVAL_SECONDS: std::ops::RangeInclusive<i64> = 30..=86_400;
/// Seconds that one check may take. WIRE 6.
pub const MONITOR_TIMEOUT_SECONDS: std::ops::RangeInclusive<i64> = 1..=120;
/// Consecutive bad results that make a monitor down. WIRE 6.
pub const MONITOR_THRESHOLD: std::ops::RangeInclusive<i64> = 1..=10;
/// Seconds between two reports of a heartbeat.
pub const HEARTBEAT_PERIOD_SECONDS: std::ops::RangeInclusive<i64> = 30..=366 * 86_400;
/// Seconds that a report of a heartbeat may be late.
pub const HEARTBEAT_GRACE_SECONDS: std::ops::RangeInclusive<i64> = 0..=30 * 86_400;
/// Equal reports of a heartbeat within this time are one result.
pub const HEARTBEAT_REPEAT: Duration = seconds(10);
/// Bytes of the configuration of a monitor.
pub const MONITOR_CONFIG_BYTES_MAX: usize = 128 * KB;
/// Header fields, accepted statuses and DNS records of a monitor.
pub const MONITOR_HEADERS_MAX: usize = 50;
/// Memory of the compiled regular expression of a monitor, bytes.
pub const MONITOR_REGEX_BYTES_MAX: usize = MIB;
/// Bytes that a monitor reads of a response.
pub const MONITOR_RESPONSE_BYTES_MAX: usize = MIB;
/// Redirects that a check follows.
pub const MONITOR_REDIRECTS_MAX: usize = 10;
/// Characters of the reason of a result.
pub const MONITOR_REASON_CHARS_MAX: usize = 500;
/// Retention of the results of monitors. The sums by hour and day are bounded by number.
pub const MONITOR_RESULTS_RETENTION: Duration = Duration::from_secs(90 * 24 * 60 * 60);
/// Stored results of a monitor; the oldest are removed.
pub const MONITOR_RESULTS_MAX: i64 = 20_000;
/// Stored sums by hour of a monitor: 90 days and the current one.
pub const MONITOR_HOURS_MAX: i64 = 91 * 24;
/// Stored sums by day of a monitor.
pub const MONITOR_DAYS_MAX: i64 = 400;
/// Stored changes of the state of a monitor.
pub const MONITOR_TRANSITIONS_MAX: i64 = 1000;
/// Days of the bars of a monitor's availability. WIRE 6.
pub const MONITOR_BAR_DAYS: i64 = 90;
/// Points of the small chart of a monitor.
pub const MONITOR_SPARKLINE_POINTS: i64 = 60;
/// Points of the chart of a monitor.
pub const MONITOR_SERIES_POINTS_MAX: i64 = 500;
/// Checks that run at the same time.
pub const MONITORS_CONCURRENT: usize = 64;
/// Checks that run at the same time because users have requested them.
pub const MONITOR_RUNS_MAX: usize = 8;
/// Pause between two looks at the schedule of monitors.
pub const MONITORS_PAUSE: Duration = seconds(1);
/// Time for which a node takes the lease of monitors.
pub const MONITORS_LEASE: Duration = minutes(1);
/// A clock that is this far from where it should be has jumped.
pub const MONITORS_CLOCK_JUMP: Duration = seconds(30);
