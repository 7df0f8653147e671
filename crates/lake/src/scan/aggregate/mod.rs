//! The shape `Groups`: every thread groups the rows it reads, the threads' groups are merged, then ordered and limited.
//! Groups that exceed the memory of one query are aggregated in several [`passes`].

mod answer;
mod distinct;

use std::time::Instant;

use arrow::array::{BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;

use super::filter::passes as passing;
use super::passes::{self, Pass};
use super::pool::{check_deadline, for_each_parallel};
use crate::batch::keys::{Groups, Key};
use crate::batch::projection::Projection;
use crate::scan::aggregate::distinct::{DictionaryLookup, Distinct};
use crate::scan::aggregators::finish::{Cell, Finish};
use crate::scan::aggregators::{Measure, Selected, State};
use crate::scan::from_rollups::RollupPlan;
use crate::scan::from_rollups::read;
use crate::scan::from_rollups::read::CellReader;
use crate::scan::plan_check::{CheckedPlan, OutputOrder, Test, check_filter, output_names, resolve_order};
use crate::scan::read::part_reader::ReadOptions;
use crate::scan::read::sources::{OpenSources, Work};
use tidewatch_store::StoreError;
use tidewatch_store::plan;
use tidewatch_store::plan::{Function, GroupOrder};
use tidewatch_store::query_memory::{Budget, Share};
use tidewatch_store::tables::{Column, Kind, Table};

/// A checked plan of groups.
pub(crate) struct Grouping {
    keys: Vec<Key>,
    /// Names of the answer's columns: of the keys, then of the aggregates.
    names: Vec<&'static str>,
    /// Each measure with the index of its test in `tests`, if any.
    measures: Vec<(Measure, Option<usize>)>,
    tests: Vec<Test>,
    /// For each aggregate: the index of its measure, how its value is computed, and its column's type.
    aggregates: Vec<(usize, Finish, Output)>,
    order: Vec<OutputOrder>,
    limit: usize,
    offset: usize,
    projection: Projection,
}

/// The type of an aggregate's column.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Output {
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
    fn partition_key(&self) -> Option<&Key> {
        let of_series = |measure: &Measure| matches!(measure, Measure::Counters | Measure::Histograms);
        let is_whole = self.measures.iter().any(|(measure, _)| of_series(measure));
        if is_whole { None } else { passes::partition_key(&self.keys) }
    }

    /// Plan by which roll-ups answer; `None` when they cannot.
    pub fn rollup_plan(&self, plan: &CheckedPlan) -> Option<RollupPlan> {
        RollupPlan::of(plan, &self.keys, &self.measures, &self.tests)
    }
}

fn finish_of(function: &Function, keys: &[Key]) -> Finish {
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

fn output_of(table: Table, function: &Function) -> Output {
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

/// Groups and states of one thread.
struct Collected<'a> {
    groups: Groups,
    states: Vec<State>,
    assigned: Vec<u32>,
    /// Only groups of this pass are collected.
    pass: Option<Pass<'a>>,
    share: Share<'a>,
}

impl Collected<'_> {
    fn update(&mut self, grouping: &Grouping, batch: &RecordBatch) -> Result<(), StoreError> {
        match self.pass {
            _ if batch.num_rows() == 0 => Ok(()),
            Some(pass) => self.add_rows(grouping, &pass.filter(batch)?),
            None => self.add_rows(grouping, batch),
        }
    }

    fn add_rows(&mut self, grouping: &Grouping, batch: &RecordBatch) -> Result<(), StoreError> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        self.groups.assign(batch, &mut self.assigned)?;
        let masks = grouping.tests.iter().map(|test| passing(test, batch)).collect::<Result<Vec<_>, _>>()?;
        for (state, (measure, test)) in self.states.iter_mut().zip(&grouping.measures) {
            state.grow(self.groups.len());
            let selected = Selected { groups: &self.assigned, mask: test.map(|test| &masks[test]) };
            state.update(*measure, batch, &selected)?;
        }
        self.share.holds(self.bytes())
    }

    /// Approximate heap bytes.
    fn bytes(&self) -> usize {
        self.groups.bytes() + self.states.iter().map(State::bytes).sum::<usize>()
    }

    fn add_cells(&mut self, grouping: &Grouping, cells: CellReader<'_>, deadline: Instant) -> Result<(), StoreError> {
        let Collected { groups, states, share, .. } = self;
        cells.each(groups, deadline, |groups, columns, counted, tests| {
            states.iter_mut().for_each(|state| state.grow(groups.len()));
            read::add(&grouping.measures, states, columns, counted, tests)?;
            share.holds(groups.bytes() + states.iter().map(State::bytes).sum::<usize>())
        })
    }

    /// Merges the groups of another thread. Both are in memory until the end.
    fn merge(&mut self, grouping: &Grouping, other: Collected<'_>) -> Result<(), StoreError> {
        self.share.holds(self.bytes() + other.bytes())?;
        let groups = self.groups.absorb(&other.groups);
        for ((state, other), (measure, _)) in self.states.iter_mut().zip(other.states).zip(&grouping.measures) {
            state.grow(self.groups.len());
            state.merge(*measure, other, &groups);
        }
        self.share.holds(self.bytes())
    }

    /// Reserves memory for the cells of an answer of `count` groups. Returns the bytes reserved.
    fn holds_answer(&mut self, grouping: &Grouping, count: usize) -> Result<usize, StoreError> {
        let cells = grouping.aggregates.iter().map(|(_, finish, _)| match finish {
            Finish::Quantiles(qs) => size_of::<Cell>() + size_of_val(qs.as_slice()),
            _ => size_of::<Cell>(),
        });
        let group = size_of::<usize>() + cells.sum::<usize>();
        let held = self.bytes().saturating_add(count.saturating_mul(group));
        self.share.holds(held)?;
        Ok(held)
    }
}

/// Runs a plan of groups. `passes`: the number of passes; `None` for as many as needed.
pub(crate) fn run(
    plan: &CheckedPlan,
    grouping: &Grouping,
    rollup_plan: Option<&RollupPlan>,
    (opened, passes): (&OpenSources<'_>, Option<u32>),
    budget: &Budget<'_>,
    deadline: Instant,
) -> Result<RecordBatch, StoreError> {
    let mut work = if plan.matches_nothing() { Vec::new() } else { opened.work(plan, rollup_plan, deadline)? };
    let divided = GroupQuery { plan, grouping, rollup_plan, opened, budget, deadline };
    let partition_key = grouping.partition_key();
    if let (Some(count), Some(key)) = (passes, partition_key) {
        return divided.passes(&mut work, key, count);
    }
    let mut answer = divided.pass(&mut work, None, (grouping.offset, grouping.limit));
    for count in passes::COUNTS {
        let (Err(StoreError::Budget(_)), Some(key)) = (&answer, partition_key) else { break };
        answer = divided.passes(&mut work, key, count);
    }
    answer
}

/// A plan of groups whose rows are read once, or once for each pass.
struct GroupQuery<'a> {
    plan: &'a CheckedPlan,
    grouping: &'a Grouping,
    rollup_plan: Option<&'a RollupPlan>,
    opened: &'a OpenSources<'a>,
    budget: &'a Budget<'a>,
    deadline: Instant,
}

impl GroupQuery<'_> {
    fn passes(&self, work: &mut [Work], key: &Key, count: u32) -> Result<RecordBatch, StoreError> {
        let Grouping { offset, limit, .. } = *self.grouping;
        let mut share = self.budget.share();
        let mut bytes = 0;
        let mut answers = Vec::new();
        for index in 0..count {
            let pass = Pass { key, index, count };
            let answer = self.pass(work, Some(pass), (0, offset.saturating_add(limit)))?;
            bytes += answer.get_array_memory_size();
            // Twice: the answers of the passes and their concatenation; then that, and the rows taken from it.
            share.holds(2 * bytes)?;
            answers.push(answer);
        }
        passes::merge_answers(answers, self.grouping.keys.len(), &self.grouping.order, (offset, limit))
    }

    /// The groups of one pass, or all groups. Applies offset, then limit.
    fn pass(
        &self,
        work: &mut [Work],
        pass: Option<Pass<'_>>,
        (offset, limit): (usize, usize),
    ) -> Result<RecordBatch, StoreError> {
        let GroupQuery { plan, grouping, rollup_plan, opened, budget, deadline } = *self;
        let distinct = grouping.distinct().and_then(Distinct::of);
        if distinct.is_some() {
            distinct::whole_first(work);
        }
        let state = if rollup_plan.is_some() { State::for_rollups } else { State::new };
        let make = || Collected {
            groups: Groups::new(&grouping.keys),
            states: grouping.measures.iter().map(|(measure, _)| state(*measure)).collect(),
            assigned: Vec::new(),
            pass,
            share: budget.share(),
        };
        let scan = Scan { plan, grouping, rollup_plan, opened, distinct, budget, deadline };
        let collected = for_each_parallel(work, make, |collected, work| {
            let known = collected.groups.len();
            scan.add(collected, work)?;
            if let Some(distinct) = &scan.distinct {
                distinct.add(&collected.groups, known..collected.groups.len());
            }
            Ok(())
        })?;
        let mut collected = collected.into_iter();
        let mut all = collected.next().unwrap_or_else(make);
        for other in collected {
            check_deadline(deadline)?;
            all.merge(grouping, other)?;
        }
        answer::batch(grouping, all, (offset, limit))
    }
}

struct Scan<'a> {
    plan: &'a CheckedPlan,
    grouping: &'a Grouping,
    rollup_plan: Option<&'a RollupPlan>,
    opened: &'a OpenSources<'a>,
    /// Set when the plan only lists the distinct values of a column.
    distinct: Option<Distinct>,
    budget: &'a Budget<'a>,
    deadline: Instant,
}

impl Scan<'_> {
    fn add(&self, collected: &mut Collected<'_>, work: &Work) -> Result<(), StoreError> {
        let Scan { plan, grouping, deadline, .. } = *self;
        match work {
            Work::Memory { batch, .. } => {
                check_deadline(deadline)?;
                let mask = plan.passes(batch)?;
                if mask.count_set_bits() == 0 {
                    return Ok(());
                }
                let internal = StoreError::internal("filter rows");
                let names = grouping.projection.table_columns();
                let narrow = batch.schema_ref().fields().iter().enumerate();
                let wanted = narrow.filter(|(_, field)| names.contains(&field.name().as_str()));
                let indices: Vec<usize> = wanted.map(|(index, _)| index).collect();
                let mask = BooleanArray::new(mask, None);
                let passed = batch.project(&indices).and_then(|narrow| filter_record_batch(&narrow, &mask));
                collected.update(grouping, &passed.map_err(internal)?)
            }
            Work::Part { source, slice } => {
                let Some(part) = self.opened.part(*source) else { return Ok(()) };
                if let Some(distinct) = &self.distinct {
                    match distinct.look_up(part, slice)? {
                        DictionaryLookup::All(batch) => return collected.update(grouping, &batch),
                        DictionaryLookup::Known => return Ok(()),
                        DictionaryLookup::Unknown => {}
                    }
                }
                let options =
                    ReadOptions { projection: &grouping.projection, row_numbers: false, budget: self.budget, deadline };
                part.read(slice, None, &options, |batch| collected.update(grouping, &batch))
            }
            Work::Cells { source, rollup, cover } => {
                let (Some(part), Some(rollup_plan)) = (self.opened.part(*source), self.rollup_plan) else {
                    return Ok(());
                };
                let keys_and_tests = (grouping.keys.as_slice(), grouping.tests.as_slice());
                let cells =
                    CellReader::open(rollup_plan, plan, keys_and_tests, collected.pass, &part.part, (rollup, cover))?;
                collected.add_cells(grouping, cells, deadline)
            }
        }
    }
}
