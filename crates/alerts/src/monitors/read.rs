//! Reads of monitors: lists, the overview, results and series.

use tidewatch_accounts::Project;
use tidewatch_domain::units::{DAY_NS, MINUTE_NS, SECOND_NS};
use tidewatch_limits as limits;
use tidewatch_query::context::QueryContext;
use tidewatch_query::error::QueryError;
use tidewatch_query::page::Paging;
use tidewatch_query::time::{Buckets, Range, to_rfc3339};

use super::overview::*;
use super::views::*;
use crate::monitors::{Monitor, MonitorDay, MonitorResultsOf, MonitorState, Monitors};

/// `GET /api/synthetics/checks`. `browser_problem`: why this server makes no checks by a browser.
pub async fn list(
    context: &QueryContext,
    project: &Project,
    browser_problem: Option<&str>,
) -> Result<Checks, QueryError> {
    let monitors = Monitors::of(context).monitors(project.number).await?.into_iter();
    let checks = monitors.map(|monitor| Check::of(monitor).with_browser_problem(browser_problem)).collect();
    Ok(Checks { checks })
}

/// `GET /api/synthetics/checks/{id}`.
pub async fn one(context: &QueryContext, project: &Project, id: i64) -> Result<Check, QueryError> {
    Ok(Check::of(Monitors::of(context).monitor(project.number, id).await?))
}

/// `GET /api/synthetics/open-count`.
pub async fn open_count(context: &QueryContext, project: &Project) -> Result<OpenCount, QueryError> {
    Ok(OpenCount { count: Monitors::of(context).monitors_down(project.number).await? })
}

/// `POST /api/synthetics/overview`. `browser_problem`: see [`list`].
pub async fn overview(
    context: &QueryContext,
    project: &Project,
    request: CheckOverviewRequest,
    browser_problem: Option<&str>,
) -> Result<CheckOverview, QueryError> {
    let paging = Paging::read(request.pagination)?;
    let mut all = Monitors::of(context).monitors(project.number).await?;
    let counts = counts(&all);
    let search = request.search.to_lowercase();
    all.retain(|monitor| {
        let has_state = request.state.is_none_or(|state| state == monitor.standing.state.into());
        has_state && monitor.chosen.name.to_lowercase().contains(&search)
    });
    all.sort_by_key(|monitor| monitor.standing.state != MonitorState::Down);
    let total = all.len() as u64;
    let shown = paging.cut(all);
    let ids: Vec<i64> = shown.iter().map(|monitor| monitor.id).collect();
    let (from_ns, to_ns) = bar_days(context.clock.now_ns());
    let mut days = Monitors::of(context).monitor_days(&ids, from_ns, to_ns).await?;
    let mut checks = Vec::with_capacity(shown.len());
    for monitor in shown {
        let days = days.remove(&monitor.id).unwrap_or_default();
        let latest = Monitors::of(context).latest_monitor_results(monitor.id, limits::MONITOR_SPARKLINE_POINTS).await?;
        let duration = |result: &crate::monitors::MonitorResult| {
            let total_ns = result.timings.total_ns?;
            Some(CheckDuration { at: to_rfc3339(result.at_ns), ms: total_ns as f64 / 1e6 })
        };
        checks.push(CheckOverviewRow {
            check: Check::of(monitor).with_browser_problem(browser_problem),
            uptime_pct: uptime(&days),
            days: days.iter().map(CheckDay::of).collect(),
            durations: latest.iter().rev().filter_map(duration).collect(),
            last_result: latest.into_iter().next().map(CheckResult::of),
        });
    }
    let browser_problem = browser_problem.map(str::to_owned);
    Ok(CheckOverview { checks, counts, browser_problem, pagination: paging.info(total) })
}

fn counts(monitors: &[Monitor]) -> CheckCounts {
    let mut counts = CheckCounts::default();
    for monitor in monitors {
        let count = match (monitor.chosen.is_enabled, monitor.standing.state) {
            (false, _) => &mut counts.paused,
            (true, MonitorState::Up) => &mut counts.up,
            (true, MonitorState::Down) => &mut counts.down,
            (true, MonitorState::Unknown) => &mut counts.unknown,
        };
        *count += 1;
    }
    counts
}

/// `POST /api/synthetics/checks/{id}/results`.
pub async fn results(
    context: &QueryContext,
    project: &Project,
    id: i64,
    request: CheckResultsRequest,
) -> Result<CheckResults, QueryError> {
    let paging = Paging::read(request.pagination)?;
    let now_ns = context.clock.now_ns();
    let range = Range::of_list(request.from_date.as_deref(), request.to_date.as_deref(), now_ns)?;
    let monitor = Monitors::of(context).monitor(project.number, id).await?.id;
    let of = MonitorResultsOf { monitor, from_ns: range.from, to_ns: range.to, is_failed_only: request.failed_only };
    let window = paging.window();
    let (results, total) = Monitors::of(context).monitor_results(of, window.limit as i64, window.offset as i64).await?;
    let data = results.into_iter().map(CheckResult::of).collect();
    Ok(CheckResults { data, pagination: paging.info(total) })
}

/// `POST /api/synthetics/checks/{id}/series`.
pub async fn series(
    context: &QueryContext,
    project: &Project,
    id: i64,
    request: CheckSeriesRequest,
) -> Result<CheckSeries, QueryError> {
    let now_ns = context.clock.now_ns();
    let range = Range::of_list(request.from_date.as_deref(), request.to_date.as_deref(), now_ns)?;
    let monitor = Monitors::of(context).monitor(project.number, id).await?;
    let width_min_ns = (monitor.chosen.interval_seconds * SECOND_NS).max(MINUTE_NS);
    let buckets = Buckets::at_most(range, limits::MONITOR_SERIES_POINTS_MAX, width_min_ns);
    let sums = Monitors::of(context).monitor_sums(id, buckets.origin, range.to, buckets.width).await?;
    let (good, made) = sums.iter().fold((0, 0), |(good, made), one| (good + one.up, made + one.total - one.missed));
    let mut transitions = Monitors::of(context).monitor_transitions(id, range.from).await?;
    transitions.retain(|change| change.at_ns < range.to);
    let (from_ns, to_ns) = bar_days(now_ns);
    let days = Monitors::of(context).monitor_days(&[id], from_ns, to_ns).await?.remove(&id).unwrap_or_default();
    Ok(CheckSeries {
        bucket_seconds: buckets.width / SECOND_NS,
        points: sums.into_iter().map(CheckPoint::of).collect(),
        uptime_pct: percentage(good, made),
        transitions: transitions.into_iter().map(CheckTransition::of).collect(),
        days: days.iter().map(CheckDay::of).collect(),
    })
}

/// The last [`limits::MONITOR_BAR_DAYS`] UTC days, today included.
fn bar_days(now_ns: i64) -> (i64, i64) {
    let tomorrow_ns = now_ns.div_euclid(DAY_NS) * DAY_NS + DAY_NS;
    (tomorrow_ns - limits::MONITOR_BAR_DAYS * DAY_NS, tomorrow_ns)
}

/// WIRE 6: uptime = up / (total - missed).
fn uptime(days: &[MonitorDay]) -> Option<f64> {
    percentage(days.iter().map(|day| day.up).sum(), days.iter().map(|day| day.total - day.missed).sum())
}

fn percentage(good: i64, made: i64) -> Option<f64> {
    (made > 0).then(|| 100.0 * good as f64 / made as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missed_checks_do_not_count_in_the_uptime() {
        let day = |total, up, missed| MonitorDay { day_ns: 0, total, up, missed };
        for (days, expected) in [
            (vec![], None),
            (vec![day(5, 0, 5)], None),
            (vec![day(10, 10, 0)], Some(100.0)),
            (vec![day(10, 4, 2), day(10, 5, 8)], Some(90.0)),
        ] {
            assert_eq!(uptime(&days), expected, "{days:?}");
        }
    }

    #[test]
    fn ninety_days_end_with_today() {
        let (from_ns, to_ns) = bar_days(1_780_315_200 * SECOND_NS);
        assert_eq!(
            (to_rfc3339(from_ns).as_str(), to_rfc3339(to_ns).as_str()),
            ("2026-03-04T00:00:00Z", "2026-06-02T00:00:00Z")
        );
    }
}
