//! The suite that every engine passes: random rows, random plans, and the answers of a model that knows no batches, no
//! parts and no roll-ups.
//!
//! - An engine implements [`Engine`] and calls [`answers_as_the_model`], [`rankings_as_the_model`] and
//!   [`only_kept_rows_answer`] with many seeds; each panics with both answers when they differ.
//! - [`rows`]: a table as plain values. [`plans`]: random plans. [`rankings`]: those of rankings and charts.
//! - [`model`]: the algebra of [`crate::plan`], as simply as it can be written. [`compare`]: when answers are the same.

pub mod compare;
pub mod dice;
pub mod model;
pub mod plans;
pub mod rankings;
pub mod rows;

use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::TelemetryStore;
use crate::plan::{Plan, Shape};
use crate::retention::Keeping;
use crate::tables::Table;
use compare::{assert_same, assert_same_but_quantiles};
use dice::Dice;
use rows::{Cell, DAY, MIDNIGHT, PROJECTS, Row, random_rows};

/// What is tested.
pub trait Engine {
    /// Opens a store that holds exactly `rows`, received in several requests and stored in the ways that `dice` choose.
    fn hold(&self, table: Table, rows: &[Row], dice: &mut Dice) -> Held;
}

/// A store, and what must live as long as it does.
pub struct Held {
    pub store: Arc<dyn TelemetryStore>,
    /// A temporary folder, a server that was started.
    pub resources: Box<dyn Any>,
}

/// The day after the last of the random rows, nanoseconds.
const NOW: i64 = MIDNIGHT + 2 * DAY;

/// Random rows and plans. Quantiles may be those of a sketch.
pub fn answers_as_the_model(engine: &dyn Engine, table: Table, seed: u64, rows: usize) {
    let mut dice = Dice::new(seed);
    let rows = random_rows(table, rows, &mut dice);
    let held = engine.hold(table, &rows, &mut dice);
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

/// The plans of rankings and charts, which engines answer from roll-ups when there are many rows.
pub fn rankings_as_the_model(engine: &dyn Engine, table: Table, seed: u64, rows: usize) {
    let mut dice = Dice::new(seed);
    let rows = rankings::rows(table, rows, &mut dice);
    let held = engine.hold(table, &rows, &mut dice);
    for _ in 0..10 {
        let plan = rankings::plan(table, &mut dice);
        assert_answer(&*held.store, &plan, &model::answer(&plan, &rows));
    }
}

/// Rows whose retention has passed are in no answer, and all others are.
pub fn only_kept_rows_answer(engine: &dyn Engine, table: Table, seed: u64, rows: usize) {
    let mut dice = Dice::new(seed);
    let rows = random_rows(table, rows, &mut dice);
    let mut keeping = Keeping::default();
    for project in PROJECTS {
        match dice.below(4) {
            0 => drop(keeping.gone.insert(project)),
            1 => drop(keeping.days.insert(project, dice.below(4) as u32)),
            _ => {}
        }
    }
    let held = engine.hold(table, &rows, &mut dice);
    held.store.set_keeping(keeping.clone());
    held.store.retain(NOW).expect("the engine removes rows");
    let kept: Vec<Row> = rows.iter().filter(|row| is_kept(table, row, &keeping)).cloned().collect();
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

/// 30 days of everything, unless the project has days of its own.
fn is_kept(table: Table, row: &Row, keeping: &Keeping) -> bool {
    let cell = |name: &str| &row[table.column(name).expect("every table has it").0];
    let (Cell::I64(time), Cell::U64(project)) = (cell("time"), cell("project")) else { panic!("no time and project") };
    let project = *project as u32;
    let days = keeping.days.get(&project).copied().unwrap_or(30);
    !keeping.gone.contains(&project) && (days == 0 || *time >= NOW - i64::from(days) * DAY)
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(600)
}
