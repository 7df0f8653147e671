//! The tables of on-call: teams, schedules, escalation policies, pages, contact methods.

mod ack;
mod calendars;
mod contacts;
mod escalation;
mod links;
mod opening;
mod pages;
mod policies;
mod reach;
mod schedules;
mod teams;

pub use contacts::{ContactMethod, NewContactMethod, UserRule};
pub use links::AckLink;
pub use opening::{NewPage, PageEvent};
pub(crate) use pages::page_of_subject;
pub use pages::{OncallPage, PageDelivery, PageFilter};
pub use policies::{NewPolicy, OncallPolicy};
pub use schedules::{NewOverride, NewSchedule, OncallOverride, OncallSchedule};
pub use teams::{NewTeam, OncallTeam};
