//! The monitors of status pages, as the control database has them.

use tidewatch_accounts::Database;

use crate::monitors::{MonitorState as StoredState, MonitorSummary, Monitors};
use crate::status_pages::{CheckState, MonitorDay, MonitorSource, MonitorState, Reading};

/// Reads monitors from the control database.
pub struct StoredMonitors;

impl MonitorSource for StoredMonitors {
    fn monitors<'a>(&'a self, database: &'a Database, organization: i64) -> Reading<'a, Vec<MonitorState>> {
        Box::pin(async move {
            let monitors = Monitors::new(database).monitors_of_organization(organization).await?;
            Ok(monitors.into_iter().map(component).collect())
        })
    }

    fn days<'a>(
        &'a self,
        database: &'a Database,
        ids: &'a [i64],
        from_ns: i64,
        to_ns: i64,
    ) -> Reading<'a, Vec<MonitorDay>> {
        Box::pin(async move {
            let days = Monitors::new(database).monitor_days(ids, from_ns, to_ns).await?;
            let of_monitor = |(monitor, days): (i64, Vec<crate::monitors::MonitorDay>)| {
                days.into_iter().map(move |day| MonitorDay {
                    monitor,
                    day_ns: day.day_ns,
                    total: day.total,
                    up: day.up,
                    missed: day.missed,
                })
            };
            Ok(days.into_iter().flat_map(of_monitor).collect())
        })
    }
}

fn component(monitor: MonitorSummary) -> MonitorState {
    let state = match monitor.state {
        StoredState::Up => CheckState::Up,
        StoredState::Down => CheckState::Down,
        StoredState::Unknown => CheckState::Unknown,
    };
    MonitorState { id: monitor.id, name: monitor.name, check_type: monitor.check_type, state }
}
