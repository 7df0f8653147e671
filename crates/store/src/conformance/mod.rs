//! The conformance suite of engines: random rows, random plans, and the answers of a model without batches, parts and
//! roll-ups.
//!
//! - An engine implements [`Engine`] and calls [`answers_match_the_model`], [`rankings_match_the_model`] and
//!   [`expired_rows_are_in_no_answer`] with many seeds; each panics with both answers when they differ.
//! - [`rows`]: a table as plain values. [`plans`]: random plans. [`rankings`]: random plans of rankings and charts.
//! - [`traces`]: searches for traces, with a model of their own.
//! - [`model`]: the simplest implementation of [`crate::plan`]. [`compare`]: the equality of answers.

pub mod compare;
pub mod dice;
mod histograms;
pub mod model;
pub mod plans;
pub mod rankings;
pub mod rows;
pub mod traces;

use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tidewatch_domain::units::DAY_NS;

use crate::TelemetryStore;
use crate::plan::{Plan, Shape};
use crate::retention::ProjectRetention;
use crate::tables::Table;
use compare::{assert_same, assert_same_but_quantiles};
use dice::Dice;
use rows::{Cell, MIDNIGHT, PROJECTS, Row, random_rows};

/// The engine under test.
pub trait Engine {
    /// Opens a store with exactly `rows`, received in several requests and stored in ways chosen by `dice`.
    fn open_with(&self, table: Table, rows: &[Row], dice: &mut Dice) -> TestStore;
}

/// A store with the resources that must outlive it.
pub struct TestStore {
    /// The store.
    pub store: Arc<dyn TelemetryStore>,
    /// For instance a temporary folder or a server process.
    pub resources: Box<dyn Any>,
}

/// The start of the day after the last random row, nanoseconds since the epoch.
const NOW: i64 = MIDNIGHT + 2 * DAY_NS;

/// Answers random plans over random rows; quantiles may have the error of a sketch. Panics when an answer differs from
/// the model's.
pub fn answers_match_the_model(engine: &dyn Engine, table: Table, seed: u64, rows: usize) {
    let mut dice = Dice::new(seed);
    let rows = random_rows(table, rows, &mut dice);
    let held = engine.open_with(table, &rows, &mut dice);
    for _ in 0..8 {
        let plan = plans::random_plan(table, &rows, &mut dice);
        let expected = model::answer(&plan, &rows);
        assert_answer(&*held.store, &plan, &expected);
        if let Shape::Rows { .. } = plan.shape {
            let page = held.store.query_page(&held.store.request_memory(), &plan, soon());
            let (page, total) = page.unwrap_or_else(|error| panic!("{error} for a page of {plan:#?}"));
            assert_same(&plan, &expected, &page, "a page");
            assert_eq!(total, expected.rows.len() as u64, "rows counted of {plan:#?}");
        }
    }
}

/// Answers plans of rankings and charts, for which engines use roll-ups when there are many rows. Panics when an answer
/// differs from the model's.
pub fn rankings_match_the_model(engine: &dyn Engine, table: Table, seed: u64, rows: usize) {
    let mut dice = Dice::new(seed);
    let rows = rankings::rows(table, rows, &mut dice);
    let held = engine.open_with(table, &rows, &mut dice);
    for _ in 0..10 {
        let plan = rankings::plan(table, &mut dice);
        assert_answer(&*held.store, &plan, &model::answer(&plan, &rows));
    }
}

/// Removes rows past their retention, then answers random plans. Panics unless the answers are from exactly the other
/// rows.
pub fn expired_rows_are_in_no_answer(engine: &dyn Engine, table: Table, seed: u64, rows: usize) {
    let mut dice = Dice::new(seed);
    let rows = random_rows(table, rows, &mut dice);
    let mut retention = ProjectRetention::default();
    for project in PROJECTS {
        match dice.below(4) {
            0 => drop(retention.deleted_projects.insert(project)),
            1 => drop(retention.days.insert(project, dice.below(4) as u32)),
            _ => {}
        }
    }
    let held = engine.open_with(table, &rows, &mut dice);
    held.store.set_project_retention(retention.clone());
    held.store.retain(NOW).expect("the engine removes rows");
    let kept: Vec<Row> = rows.iter().filter(|row| is_kept(table, row, &retention)).cloned().collect();
    for _ in 0..4 {
        let plan = plans::random_plan(table, &rows, &mut dice);
        assert_answer(&*held.store, &plan, &model::answer(&plan, &kept));
    }
}

fn assert_answer(store: &dyn TelemetryStore, plan: &Plan, expected: &model::Answer) {
    let answer = store.query(&store.request_memory(), plan, soon());
    let answer = answer.unwrap_or_else(|error| panic!("{error} for {plan:#?}"));
    assert_same_but_quantiles(plan, expected, &answer, "the engine has it");
}

/// Whether a row is within retention: 30 days, unless the project has a retention of its own.
fn is_kept(table: Table, row: &Row, retention: &ProjectRetention) -> bool {
    let cell = |name: &str| &row[table.column(name).expect("every table has it").0];
    let (Cell::I64(time), Cell::U64(project)) = (cell("time"), cell("project")) else { panic!("no time and project") };
    let project = *project as u32;
    let days = retention.days.get(&project).copied().unwrap_or(30);
    !retention.deleted_projects.contains(&project) && (days == 0 || *time >= NOW - i64::from(days) * DAY_NS)
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(600)
}
