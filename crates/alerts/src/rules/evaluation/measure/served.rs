//! Rules of Endpoints and Tasks.

use std::collections::BTreeMap;

use tidewatch_domain::ranking::apdex;
use tidewatch_domain::units::MINUTE_NS;
use tidewatch_query::error::QueryError;
use tidewatch_query::time_windows::{Served, ServedKind, Windows};

use super::source::Source;
use crate::rules::config::RuleConfig;
use crate::rules::evaluation::Measured;
use crate::rules::words::{escaped, milliseconds, minutes, number};

/// Measures a rule in each window.
pub(super) async fn measure(
    source: &mut Source,
    config: &RuleConfig,
    windows: Windows,
) -> Result<Vec<Measured>, QueryError> {
    use ServedKind::{Endpoints, Tasks};
    let span = minutes(config.lookback_minutes());
    let each = |found: Vec<Served>, of: &dyn Fn(&Served) -> Measured| found.iter().map(of).collect();
    Ok(match config {
        RuleConfig::ErrorRate(rule) => {
            let found = source.served(Endpoints, windows, "*").await?;
            let of = |window, sum: &Sums| {
                let value = (sum.total >= rule.min_requests.max(1.0)).then(|| 100.0 * sum.server_errors / sum.total);
                let rate = value.unwrap_or(0.0);
                Measured {
                    window,
                    subject: String::new(),
                    value,
                    breaches: value.is_some_and(|value| value >= rule.threshold_percent),
                    title: format!("{} % of requests fail", number(rate)),
                    body: format!(
                        "{} of {} requests of the project {} failed in {span}. The threshold is {} %.",
                        number(sum.server_errors),
                        number(sum.total),
                        source.project.name,
                        number(rule.threshold_percent)
                    ),
                    page: "/endpoints".to_owned(),
                }
            };
            sums(&found).iter().map(|(window, sum)| of(*window, sum)).collect()
        }
        RuleConfig::ApdexDrop(rule) => {
            let found = source.served(Endpoints, windows, "*").await?;
            let of = |window, sum: &Sums| {
                let is_enough = sum.timed >= rule.min_requests.max(1.0);
                let value = apdex(sum.satisfied, sum.tolerating, sum.timed).filter(|_| is_enough);
                Measured {
                    window,
                    subject: String::new(),
                    value,
                    breaches: value.is_some_and(|value| value < rule.threshold_apdex),
                    title: format!("Apdex is {}", number(value.unwrap_or(0.0))),
                    body: format!(
                        "Of {} requests of the project {} in {span}. The threshold is {}.",
                        number(sum.timed),
                        source.project.name,
                        number(rule.threshold_apdex)
                    ),
                    page: "/endpoints".to_owned(),
                }
            };
            sums(&found).iter().map(|(window, sum)| of(*window, sum)).collect()
        }
        RuleConfig::ThroughputDrop(rule) => {
            let before = (rule.baseline_minutes.saturating_mul(MINUTE_NS) + windows.width - 1) / windows.width;
            let found = source.served(Endpoints, windows.and_before(before), "*").await?;
            let totals: BTreeMap<i64, f64> =
                sums(&found).into_iter().map(|(window, sum)| (window - before, sum.total)).collect();
            let of = |window: i64| {
                let usual: f64 = totals.range(window - before..window).map(|(_, total)| total).sum();
                let usual = usual / before as f64;
                let total = totals.get(&window).copied().unwrap_or(0.0);
                let value = (usual >= USUAL_MIN).then(|| (100.0 * (usual - total) / usual).max(0.0));
                Measured {
                    window,
                    subject: String::new(),
                    value,
                    breaches: value.is_some_and(|value| value >= rule.drop_percent),
                    title: format!("Requests dropped by {} %", number(value.unwrap_or(0.0))),
                    body: format!(
                        "{} requests of the project {} in {span}; {} is usual. The threshold is {} %.",
                        number(total),
                        source.project.name,
                        number(usual),
                        number(rule.drop_percent)
                    ),
                    page: "/endpoints".to_owned(),
                }
            };
            (0..windows.count).map(of).collect()
        }
        RuleConfig::EndpointErrorRate(rule) => {
            let found = source.served(Endpoints, windows, &rule.endpoint).await?;
            each(found, &|served| {
                let is_enough = served.total >= rule.min_requests.max(1.0);
                let value = is_enough.then(|| 100.0 * served.server_errors / served.total);
                Measured {
                    window: served.window,
                    subject: served.name.clone(),
                    value,
                    breaches: value.is_some_and(|value| value >= rule.threshold_percent),
                    title: format!("{}: {} % of requests fail", served.name, number(value.unwrap_or(0.0))),
                    body: format!(
                        "{} of {} requests failed in {span}. The threshold is {} %.",
                        number(served.server_errors),
                        number(served.total),
                        number(rule.threshold_percent)
                    ),
                    page: format!("/endpoints/{}", escaped(&served.name)),
                }
            })
        }
        RuleConfig::EndpointP95(rule) | RuleConfig::EndpointP99(rule) => {
            let (index, name) = if matches!(config, RuleConfig::EndpointP95(_)) { (0, "P95") } else { (1, "P99") };
            let found = source.served(Endpoints, windows, &rule.endpoint).await?;
            each(found, &|served| {
                latency(served, index, name, rule.threshold_ms, &span, format!("/endpoints/{}", escaped(&served.name)))
            })
        }
        RuleConfig::TaskDuration(rule) => {
            let found = source.served(Tasks, windows, &rule.task_name).await?;
            each(found, &|served| {
                latency(served, 0, "P95", rule.threshold_ms, &span, format!("/tasks/{}", escaped(&served.name)))
            })
        }
        RuleConfig::TaskFailureRate(rule) => {
            let found = source.served(Tasks, windows, &rule.task_name).await?;
            each(found, &|served| {
                let is_enough = served.total >= rule.min_executions.max(1.0);
                let value = is_enough.then(|| 100.0 * served.errors / served.total);
                Measured {
                    window: served.window,
                    subject: served.name.clone(),
                    value,
                    breaches: value.is_some_and(|value| value >= rule.threshold_percent),
                    title: format!("{}: {} % of runs fail", served.name, number(value.unwrap_or(0.0))),
                    body: format!(
                        "{} of {} runs failed in {span}. The threshold is {} %.",
                        number(served.errors),
                        number(served.total),
                        number(rule.threshold_percent)
                    ),
                    page: format!("/tasks/{}", escaped(&served.name)),
                }
            })
        }
        RuleConfig::Impact(level, rule) => {
            let found = source.served(Endpoints, windows, "*").await?;
            each(found, &|served| {
                let impact = served.impact.as_ref().filter(|_| served.total >= rule.min_requests.max(1.0));
                let value = impact.map(|impact| impact.score);
                let reason = impact.map_or("", |impact| impact.reason.as_str());
                Measured {
                    window: served.window,
                    subject: served.name.clone(),
                    value,
                    breaches: value.is_some_and(|value| value >= level.score()),
                    title: format!("{}: impact is {}", served.name, number(value.unwrap_or(0.0))),
                    body: format!(
                        "{reason}; {} requests in {span}. The threshold is {}.",
                        number(served.total),
                        number(level.score())
                    ),
                    page: format!("/endpoints/{}", escaped(&served.name)),
                }
            })
        }
        _ => Vec::new(),
    })
}

/// Requests of a usual window below which a drop is not measured.
const USUAL_MIN: f64 = 10.0;

fn latency(served: &Served, index: usize, name: &str, threshold_ms: f64, span: &str, page: String) -> Measured {
    let value = served.percentiles.map(|percentiles| percentiles[index] / 1e6);
    Measured {
        window: served.window,
        subject: served.name.clone(),
        value,
        breaches: value.is_some_and(|value| value >= threshold_ms),
        title: format!("{}: {name} is {}", served.name, milliseconds(value.unwrap_or(0.0))),
        body: format!("Of {} calls in {span}. The threshold is {}.", number(served.total), milliseconds(threshold_ms)),
        page,
    }
}

/// Requests of all names in a window.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    total: f64,
    server_errors: f64,
    timed: f64,
    satisfied: f64,
    tolerating: f64,
}

fn sums(found: &[Served]) -> BTreeMap<i64, Sums> {
    let mut sums: BTreeMap<i64, Sums> = BTreeMap::new();
    for served in found {
        let sum = sums.entry(served.window).or_default();
        sum.total += served.total;
        sum.server_errors += served.server_errors;
        sum.timed += served.timed;
        sum.satisfied += served.satisfied;
        sum.tolerating += served.tolerating;
    }
    sums
}
