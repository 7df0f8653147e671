//! The tables of monitors.

mod changes;
mod history;
mod monitors;
mod results;
mod sums;

pub use history::{MonitorDay, MonitorResultsOf, MonitorSummary, MonitorSums, MonitorTransition};
pub use monitors::{Monitor, MonitorResult, MonitorTimings, NewMonitor};
pub use results::{Lease, MonitorSlot, ScheduledMonitor};
