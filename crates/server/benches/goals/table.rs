//! Output: a Markdown table that is readable in a terminal, and the same as JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::goals::{Bound, GOALS, Goal, Measured};

/// Description of a run.
pub struct Run {
    pub date: String,
    pub commit: String,
    /// Cores and processor family.
    pub machine: String,
    /// Data sets, rounds, durations.
    pub shape: String,
    /// Measurements of the machine itself.
    pub bare: Vec<String>,
}

pub fn markdown(run: &Run, results: &[Measured]) -> String {
    let head = ["goal", "what", "wanted", "measured", "", "seen"].map(str::to_owned);
    let mut rows = vec![head];
    rows.extend(GOALS.iter().map(|goal| row(goal, results.iter().find(|result| result.id == goal.id))));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..6).map(|column| if column == 5 { 0 } else { width(column) }).collect();
    let mut text = format!("{}, commit {}, {}; {}\n\n", run.date, run.commit, run.machine, run.shape);
    for (number, row) in rows.iter().enumerate() {
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(text, "| {cell:<width$} ");
        }
        text.push_str("|\n");
        if number == 0 {
            text.push_str(&widths.iter().map(|width| format!("|{}", "-".repeat(width + 2))).collect::<String>());
            text.push_str("|\n");
        }
    }
    text.push('\n');
    for line in &run.bare {
        let _ = writeln!(text, "- {line}");
    }
    text
}

fn row(goal: &Goal, result: Option<&Measured>) -> [String; 6] {
    let wanted = match goal.bound {
        Bound::AtLeast(least) => format!(">= {} {}", number(least), goal.unit),
        Bound::AtMost(most) => format!("<= {} {}", number(most), goal.unit),
    };
    let (measured, verdict, note) = match result {
        None => ("-".to_owned(), "not measured", String::new()),
        Some(result) if !result.value.is_finite() => ("-".to_owned(), "short", result.note.clone()),
        Some(result) => {
            (number(result.value), if goal.is_met(result.value) { "pass" } else { "short" }, result.note.clone())
        }
    };
    [goal.id.to_owned(), goal.what.to_owned(), wanted, measured, verdict.to_owned(), note]
}

/// Formats a number with three significant digits.
pub fn number(value: f64) -> String {
    match value.abs() {
        1000.0.. => {
            let digits = format!("{value:.0}");
            let mut text = String::new();
            for (index, digit) in digits.chars().enumerate() {
                if index > 0 && (digits.len() - index).is_multiple_of(3) {
                    text.push(',');
                }
                text.push(digit);
            }
            text
        }
        100.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

pub fn json(run: &Run, results: &[Measured]) -> Value {
    let result = |result: &Measured| {
        let met = GOALS.iter().find(|goal| goal.id == result.id).is_some_and(|goal| goal.is_met(result.value));
        json!({"id": result.id, "value": result.value, "met": met, "note": result.note})
    };
    json!({
        "date": run.date, "commit": run.commit, "machine": run.machine, "shape": run.shape, "bare": run.bare,
        "results": results.iter().map(result).collect::<Vec<_>>(),
    })
}
