//! Checked plans of groups.

use crate::batch::keys::Key;
use crate::batch::projection::Projection;
use crate::scan::aggregators::Measure;
use crate::scan::aggregators::finish::Finish;
use crate::scan::from_rollups::RollupPlan;
use crate::scan::passes;
use crate::scan::plan_check::{CheckedPlan, OutputOrder, Test, check_filter, output_names, resolve_order};
use tidewatch_store::StoreError;
use tidewatch_store::plan::{self, Function, GroupOrder};
use tidewatch_store::tables::{Column, Kind, Table};

/// A checked plan of groups.
pub(crate) struct Grouping {
    pub(super) keys: Vec<Key>,
    /// Names of the answer's columns: of the keys, then of the aggregates.
    pub(super) names: Vec<&'static str>,
    /// Each measure with the index of its test in `tests`, if any.
    pub(super) measures: Vec<(Measure, Option<usize>)>,
    pub(super) tests: Vec<Test>,
    /// For each aggregate: the index of its measure, how its value is computed, and its column's type.
    pub(super) aggregates: Vec<(usize, Finish, Output)>,
    pub(super) order: Vec<OutputOrder>,
    pub(super) limit: usize,
    pub(super) offset: usize,
    pub(super) projection: Projection,
}

/// The type of an aggregate's column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Output {
    Kind(Kind, bool),
    /// List of doubles.
    List,
}

impl Grouping {
    pub fn check(
        table: Table,
        keys: &[plan::Key],
        aggregates: &[plan::Aggregate],
        order: &[GroupOrder],
        limit: usize,
        offset: usize,
    ) -> Result<Grouping, StoreError> {
        let order = resolve_order(keys, aggregates, order)?;
        let names = output_names(keys, aggregates);
        let keys: Vec<Key> = keys.iter().map(|key| Key::check(table, &key.source)).collect::<Result<_, _>>()?;
        let mut filters: Vec<&plan::Filter> = Vec::new();
        let mut tests = Vec::new();
        let mut measures = Vec::new();
        let mut outputs = Vec::new();
        for plan::Aggregate { function, filter, .. } in aggregates {
            let test = match filter {
                plan::Filter::True => None,
                filter => Some(match filters.iter().position(|known| *known == filter) {
                    Some(index) => index,
                    None => {
                        filters.push(filter);
                        tests.push(check_filter(table, filter)?);
                        tests.len() - 1
                    }
                }),
            };
            let measure = (Measure::of(table, function)?, test);
            let index = measures.iter().position(|known| *known == measure).unwrap_or_else(|| {
                measures.push(measure);
                measures.len() - 1
            });
            outputs.push((index, finish_of(function, &keys), output_of(table, function)));
        }
        let mut projection = Projection::default();
        keys.iter().for_each(|key| key.add_to(&mut projection));
        measures.iter().for_each(|(measure, _)| measure.columns(&mut |name| projection.column(name)));
        tests.iter().for_each(|test: &Test| test.add_to(&mut projection));
        Ok(Grouping { keys, names, measures, tests, aggregates: outputs, order, limit, offset, projection })
    }

    /// The column, if the plan lists the distinct values of one column and nothing else.
    pub fn distinct(&self) -> Option<&'static Column> {
        match self.keys.as_slice() {
            [Key::Column(column)] if self.measures.is_empty() => Some(column),
            _ => None,
        }
    }

    /// The key that divides the groups among passes. `None` for aggregates over the steps of a series, whose rows may
    /// belong to several groups.
    pub(super) fn partition_key(&self) -> Option<&Key> {
        let of_series = |measure: &Measure| matches!(measure, Measure::Counters | Measure::Histograms);
        let is_whole = self.measures.iter().any(|(measure, _)| of_series(measure));
        if is_whole { None } else { passes::partition_key(&self.keys) }
    }

    /// Plan by which roll-ups answer; `None` when they cannot.
    pub fn rollup_plan(&self, plan: &CheckedPlan) -> Option<RollupPlan> {
        RollupPlan::of(plan, &self.keys, &self.measures, &self.tests)
    }
}

pub(super) fn finish_of(function: &Function, keys: &[Key]) -> Finish {
    let width = keys.iter().find_map(|key| match key {
        Key::TimeBucket { width, .. } => Some(*width),
        _ => None,
    });
    match function {
        Function::Sum(_) => Finish::NullWhenEmpty,
        Function::Quantiles { qs, .. } | Function::HistogramQuantiles { qs } => Finish::Quantiles(qs.clone()),
        Function::Rate => Finish::Rate(width.expect("a checked rate has a time bucket")),
        _ => Finish::Plain,
    }
}

pub(super) fn output_of(table: Table, function: &Function) -> Output {
    let as_column = |name: &str| {
        let (_, column) = table.column(name).expect("the function was checked");
        Output::Kind(column.kind, true)
    };
    match function {
        Function::Count | Function::Distinct(_) => Output::Kind(Kind::U64, false),
        Function::Weight => Output::Kind(Kind::F64, false),
        Function::Sum(_) | Function::Rate => Output::Kind(Kind::F64, true),
        Function::Min(name) | Function::Max(name) => as_column(name),
        Function::Latest { column } | Function::Earliest { column } => as_column(column),
        Function::Quantiles { .. } | Function::HistogramQuantiles { .. } => Output::List,
    }
}
