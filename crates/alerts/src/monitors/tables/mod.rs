//! The tables of monitors.

mod changes;
mod history;
mod monitors;
mod results;
mod sums;

pub use history::{MonitorDay, MonitorResultsOf, MonitorSummary, MonitorSums, MonitorTransition};
pub use monitors::{Monitor, MonitorOutcome, MonitorResult, MonitorStanding, MonitorState, MonitorTimings, NewMonitor};
pub use results::{Lease, MonitorChange, MonitorRules, MonitorSlot, ScheduledMonitor};
