//! Background work of alerts. The rules are in `tidewatch_alerts`, the tables in the control database.
//!
//! - [`channels`]: sends queued notifications. [`monitors`]: checks of monitors. [`oncall`]: opens and escalates pages. [`rules`]: evaluates rules.
//!   [`status`]: incidents.

pub mod channels;
pub mod monitors;
pub mod oncall;
pub mod rules;
pub mod status;
