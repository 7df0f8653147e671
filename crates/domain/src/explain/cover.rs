//! The rows of an explanation: each explains what the rows above it do not.

use super::cause_order::can_begin;
use super::conjunction::conjunction;
use super::score::{Baseline, SUPPORT_MIN};
use super::search::{Candidate, Mode, SYNONYM, Search};
use super::table::{Condition, Counts, LeftOut, Set, Table};

/// Maximum number of rows.
const ROWS_MAX: usize = 5;
/// Part of the first selection below which the search ends.
const REMAINDER_MIN: f64 = 0.05;
/// Conditions that distinguish the selection.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// Mode in which the first row was found, or would have been.
    pub mode: Mode,
    /// Best first.
    pub rows: Vec<Row>,
    /// Reason for an answer without rows.
    pub no_rows: Option<NoRows>,
    /// Columns that were no candidates, by their places.
    pub left_out: Vec<(usize, LeftOut)>,
}

/// Reasons for an answer without rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoRows {
    /// Fewer than five requests are selected.
    FewSelected,
    /// No condition distinguishes the selection.
    NothingDiffers,
}

/// One row: a condition, or two that hold together.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Search that found the condition.
    pub kind: RowKind,
    /// One condition, or the two of a pair.
    pub conditions: Vec<Condition>,
    /// Conditions on other attributes that hold for the same requests, first the likeliest cause.
    pub synonyms: Vec<Condition>,
    /// Part of what remained of the selection that the condition explains, 0 to 1.
    pub explained: f64,
    /// Share of the selected requests that meet the condition, among those no row above explains.
    pub selected_share: f64,
    /// Share of the requests they are compared with.
    pub compared_share: f64,
    /// Selected requests that meet the condition.
    pub count: u32,
    /// The score, in nats.
    pub score: f64,
}

/// Searches that find a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowKind {
    /// It differs within the selected minutes.
    Condition,
    /// Two conditions together.
    Pair,
    /// It began with the selection: the same minutes hold nothing to compare with.
    Began,
}

/// Ranks the conditions that distinguish the selection.
pub fn explain(table: &Table) -> Explanation {
    let all = table.count(|_| true);
    let mut search = Search::new(table, all);
    let mut explanation =
        Explanation { mode: Mode::SameMinutes, rows: Vec::new(), no_rows: None, left_out: search.left_out.clone() };
    if all.selected() < SUPPORT_MIN {
        explanation.no_rows = Some(NoRows::FewSelected);
        return explanation;
    }
    let least = (all.selected() * REMAINDER_MIN).max(SUPPORT_MIN);
    while explanation.rows.len() < ROWS_MAX {
        let remaining = search.remaining();
        if remaining.selected() < least {
            break;
        }
        let (mode, baseline, kept) = search.ranked(remaining);
        if explanation.rows.is_empty() {
            explanation.mode = mode;
        }
        let Some(row) = baseline.and_then(|baseline| row(&search, &baseline, &kept, remaining)) else { break };
        search.remove(&row.conditions);
        explanation.rows.push(row);
    }
    // It explains most of the selection, and the other rows together little.
    if let Some(row) = began_with(table, all, &explanation) {
        explanation.rows.insert(0, row);
        explanation.rows.truncate(ROWS_MAX);
    }
    if explanation.rows.is_empty() {
        explanation.no_rows = Some(NoRows::NothingDiffers);
    }
    explanation
}

/// The row of the best condition, or of the pair that is better.
fn row(search: &Search<'_>, baseline: &Baseline, kept: &[Candidate], all: Counts) -> Option<Row> {
    let best = kept.first()?;
    let (kind, conditions, counts, score) = match conjunction(search, baseline, kept) {
        Some(pair) => (RowKind::Pair, vec![pair.first, pair.second], pair.counts, pair.score),
        None => (RowKind::Condition, vec![best.condition], best.counts, best.score),
    };
    let (mut shown, mut synonyms) = (Vec::new(), Vec::new());
    for condition in conditions {
        let mut same = search.synonyms(condition, kept);
        // The likeliest cause is shown; the others fold under it.
        same.sort_by_key(|&one| search.cause(one));
        shown.push(same.remove(0));
        synonyms.extend(same);
    }
    Some(Row {
        kind,
        explained: score.explained,
        selected_share: counts.selected() / all.selected(),
        compared_share: if all.rest() > 0.0 { counts.rest() / all.rest() } else { 0.0 },
        count: counts.0[Set::Selected as usize],
        score: score.score,
        conditions: shown,
        synonyms,
    })
}

/// Condition that all selected requests meet, and hardly any of the five minutes before: the row of a full rollout.
fn began_with(table: &Table, all: Counts, explanation: &Explanation) -> Option<Row> {
    /// Least growth of the band, least unexplained part, and requests that the minutes before need.
    const GROWTH_MIN: f64 = 0.2;
    const EXPLAINED_MAX: f64 = 0.4;
    const JUST_BEFORE_MIN: f64 = 50.0;
    if all.just_before() < JUST_BEFORE_MIN {
        return None;
    }
    let rate_before = all.selected_before() / all.before();
    let growth = 1.0 - rate_before * all.on(table.rates) / (all.selected() / table.rates.selected);
    let unexplained: f64 = explanation.rows.iter().map(|row| 1.0 - row.explained).product();
    let enough = if explanation.mode == Mode::Excess { EXPLAINED_MAX } else { EXPLAINED_MAX * growth };
    if growth < GROWTH_MIN || 1.0 - unexplained >= enough {
        return None;
    }
    let search = Search::new(table, all);
    let mut found = search.kept(&Baseline::JustBefore { all });
    let on = all.on(table.rates);
    found.retain(|candidate| {
        let counts = candidate.counts;
        can_begin(&table.columns[candidate.condition.column].name)
            && candidate.score.explained >= 0.8
            && counts.selected() >= SYNONYM * all.selected()
            && counts.on(table.rates) >= SYNONYM * on
            && counts.just_before() <= (1.0 - SYNONYM) * all.just_before()
    });
    found.sort_by_key(|candidate| search.cause(candidate.condition));
    let mut columns = Vec::new();
    found.retain(|candidate| {
        let is_new = !columns.contains(&candidate.condition.column);
        columns.push(candidate.condition.column);
        is_new
    });
    let best = *found.first()?;
    Some(Row {
        kind: RowKind::Began,
        conditions: vec![best.condition],
        synonyms: found[1..].iter().map(|candidate| candidate.condition).collect(),
        explained: best.score.explained,
        selected_share: best.counts.selected() / all.selected(),
        compared_share: best.counts.just_before() / all.just_before(),
        count: best.counts.0[Set::Selected as usize],
        score: best.score.score,
    })
}
