//! Changes for the worse: minutes of a subject in, changes out.
//!
//! A subject is an Endpoint, a Task or an AI name. [`changes`] reads a [`Series`] of its minutes in steps of five
//! minutes: windows without their worst minutes are compared with two baselines, the last day and the same time of
//! other days, in units of the subject's own noise. [`suspicion`] tells from quarters of an hour which subjects need that
//! look, [`may_have_changed`] from the minutes of the last day which need those of other days. [`carried_by`] says how a
//! version relates to a change, [`guilty`] which of several subjects is the cause, [`sentence`] puts a change into words.
//! Everything is deterministic: the same minutes give the same changes.

mod baseline;
mod detect;
mod guilt;
mod screen;
mod series;
mod since;
#[cfg(test)]
mod tests;
mod version;
mod versus;
mod words;

pub use detect::{Change, Kind, LAST_MINUTES, LOOKED_BACK, STEPS, changes, falls, may_have_changed, may_have_fallen};
pub use guilt::{Added, guilty};
pub use screen::{QUANTILES, QUARTER, Quarter, SCREENED, Suspicion, suspicion};
pub use series::{Minute, Series};
pub use version::{Relation, Served, carried_by};
pub use versus::{Differs, Sample, differences};
pub use words::{CallsMore, Card, SlowerOperation, sentence};
