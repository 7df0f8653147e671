//! On-call: teams, schedules, escalation policies, pages, contact methods. WIRE 5.7.
//!
//! The rules are pure and in another crate, which depends on this one: the transactions that change pages call them as
//! [`PagingRules`].
//!
//! Invariants: a notification becomes one page, and a step runs once, whichever node ends at whatever time.

mod calendars;
mod contacts;
mod escalation;
mod links;
mod opening;
mod pages;
mod policies;
mod reach;
mod rules;
mod schedules;
mod teams;

pub use contacts::{ContactMethod, NewContactMethod, UserRule};
pub use links::AckLink;
pub use opening::{NewPage, PageEvent};
pub(super) use pages::page_of_subject;
pub use pages::{OncallPage, PageDelivery, PageFilter};
pub use policies::{NewPolicy, OncallPolicy};
pub use rules::{ChainInput, ChainOutcome, PageProgress, PagingRules, PersonProgress, StepInput, StepOutcome};
pub use schedules::{NewOverride, NewSchedule, OncallOverride, OncallSchedule};
pub(super) use teams::is_targeted;
pub use teams::{NewTeam, OncallTeam};

/// The lease of the node that opens and escalates pages.
pub const LEASE: &str = "oncall";
