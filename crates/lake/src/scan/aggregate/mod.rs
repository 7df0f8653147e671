//! The shape `Groups`: every thread groups the rows it reads, the threads' groups are merged, then ordered and limited.
//! Groups that exceed the memory of one query are aggregated in several [`passes`].

mod answer;
mod collected;
mod distinct;
mod grouping;

use std::time::Instant;

use arrow::array::{BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;

use self::collected::Collected;
pub(crate) use self::grouping::Grouping;
use super::passes::{self, Pass};
use super::pool::{check_deadline, for_each_parallel};
use crate::batch::keys::{Groups, Key};
use crate::scan::aggregate::distinct::{DictionaryLookup, Distinct};
use crate::scan::aggregators::State;
use crate::scan::from_rollups::RollupPlan;
use crate::scan::from_rollups::read::CellReader;
use crate::scan::plan_check::CheckedPlan;
use crate::scan::read::part_reader::ReadOptions;
use crate::scan::read::sources::{OpenSources, Work};
use tidewatch_store::StoreError;
use tidewatch_store::query_memory::Budget;

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
