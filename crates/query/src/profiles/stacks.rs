//! The sums of the selected samples by stack, and the frames of these stacks.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tidewatch_domain::rules::profile_stack::{self, Frame};
use tidewatch_domain::rules::profile_temporality::Temporality;
use tidewatch_store::days::{bounds, day_of};
use tidewatch_store::plan::{Filter, Function, Key, Value};
use tidewatch_store::tables::Table;

use super::counted::Counted;
use super::selection::{Facts, Selection};
use crate::answer::Answer;
use crate::error::QueryError;
use crate::executor::Executor;
use crate::plans::{self, Window};
use crate::time::Range;
use crate::views::profile::{FirstProfiles, ProfileTemporality};

/// With more stacks than this, all stacks of the days are read instead of these.
const NAMED_STACKS_MAX: usize = 256;

/// The sum of the values of one stack.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StackSum {
    pub stack: u64,
    pub value: f64,
}

/// The sums of a selection.
#[derive(Debug, Clone)]
pub struct Summed {
    pub sums: Vec<StackSum>,
    /// Number of rows that they are made of.
    pub rows: u64,
    pub first: FirstProfiles,
    pub temporality: ProfileTemporality,
}

impl Summed {
    /// The sum of all stacks.
    pub fn total(&self) -> f64 {
        self.sums.iter().map(|sum| sum.value).sum()
    }
}

/// Sums by stack.
pub async fn sums(executor: &Executor, selection: &Selection, facts: &Facts) -> Result<Summed, QueryError> {
    match Counted::read(executor, selection, facts).await? {
        Some(counted) => of_counted(executor, selection, &counted).await,
        None => {
            let (sums, rows) = of_all(executor, selection).await?;
            Ok(Summed { sums, rows, first: FirstProfiles::default(), temporality: Counted::view(None, facts) })
        }
    }
}

async fn of_counted(executor: &Executor, selection: &Selection, counted: &Counted) -> Result<Summed, QueryError> {
    let (first, temporality) = (counted.first, counted.temporality.into());
    let weights = counted.weights();
    if weights.is_empty() {
        return Ok(Summed { sums: Vec::new(), rows: 0, first, temporality });
    }
    let profiles = weights.keys().copied().collect();
    let answer = counted.samples(executor, selection, &profiles, vec![Key::column("stack")]).await?;
    let finder = counted.finder();
    let (mut by_stack, mut rows) = (BTreeMap::<u64, f64>::new(), 0);
    for row in answer.rows() {
        let Some((profile, value)) = finder.find(row) else { continue };
        let Some(weight) = weights.get(&profile) else { continue };
        *by_stack.entry(row.u64("stack")).or_default() += weight * value;
        rows += row.count("rows");
    }
    // A stack of which less is left than there was belongs to a process that was replaced unnoticed.
    let is_shown = |value: &f64| *value > 0.0 || counted.temporality == Temporality::Gauge && *value != 0.0;
    let sums = by_stack.into_iter().filter(|(_, value)| is_shown(value));
    Ok(Summed { sums: sums.map(|(stack, value)| StackSum { stack, value }).collect(), rows, first, temporality })
}

/// Sums of all selected samples by stack, and the number of rows that they are made of.
async fn of_all(executor: &Executor, selection: &Selection) -> Result<(Vec<StackSum>, u64), QueryError> {
    let aggregates = vec![Function::Sum("value").named("value"), Function::Count.named("rows")];
    let plan = plans::groups(
        Table::ProfileSamples,
        &[selection.project],
        selection.range,
        selection.samples(),
        vec![Key::column("stack")],
        aggregates,
    );
    let answer = executor.run(plan).await?;
    let sums = answer.rows().map(|row| StackSum { stack: row.u64("stack"), value: row.number("value") }).collect();
    Ok((sums, answer.rows().map(|row| row.count("rows")).sum()))
}

/// Names of addresses, from uploaded debug files. WIRE 4.2.
pub trait NativeNames: Send + Sync {
    /// The functions at addresses of the file with this build id, outermost first, each with its source file. Addresses
    /// that are unknown are left out.
    fn functions(&self, build_id: &str, addresses: &BTreeSet<u64>) -> HashMap<u64, Vec<(String, String)>>;
}

/// The frames of stacks.
pub struct Frames {
    answer: Answer,
    rows: HashMap<u64, usize>,
    /// Functions and files of addresses by build id.
    named: HashMap<String, HashMap<u64, Vec<(String, String)>>>,
}

impl Frames {
    /// Reads the frames of the stacks that were sampled in any of `ranges`.
    pub async fn read(
        executor: &Executor,
        project: u32,
        ranges: &[Range],
        stacks: impl Iterator<Item = u64>,
    ) -> Result<Frames, QueryError> {
        let stacks: BTreeSet<u64> = stacks.collect();
        let range = ranges.iter().copied().reduce(Range::join).unwrap_or(Range { from: 0, to: 1 });
        // A stack is stored with the first nanosecond of its day.
        let from = bounds(day_of(range.from)).0;
        let filter = match stacks.len() <= NAMED_STACKS_MAX {
            true => Filter::In { column: "stack", values: stacks.iter().map(|stack| Value::U64(*stack)).collect() },
            false => Filter::True,
        };
        let range = Range { from, to: range.to.max(from.saturating_add(1)) };
        let columns = vec!["stack", "frames"];
        let window = Window::first(plans::GROUPS_MAX);
        let plan = plans::rows(Table::ProfileStacks, &[project], range, filter, columns, vec![], window);
        let answer = executor.run(plan).await?;
        let rows = answer.rows().enumerate().map(|(at, row)| (row.u64("stack"), at));
        let rows = rows.filter(|(stack, _)| stacks.contains(stack)).collect();
        Ok(Frames { answer, rows, named: HashMap::new() })
    }

    /// Names the addresses of files whose debug files were uploaded, also after the profile.
    pub fn name_addresses(&mut self, names: &dyn NativeNames) {
        let mut unnamed: HashMap<&str, BTreeSet<u64>> = HashMap::new();
        for row in self.rows.values() {
            let all = profile_stack::frames(self.answer.row(*row).bytes("frames"));
            for frame in all.filter(|frame| frame.function.is_empty() && !frame.build_id.is_empty()) {
                unnamed.entry(frame.build_id).or_default().insert(frame.address);
            }
        }
        let name =
            |(build_id, addresses): (&str, BTreeSet<u64>)| (build_id.to_owned(), names.functions(build_id, &addresses));
        self.named = unnamed.into_iter().map(name).collect();
    }

    /// The frames of a stack, root first; `None` when they are no longer stored.
    pub fn of(&self, stack: u64) -> Option<impl Iterator<Item = Frame<'_>>> {
        let row = self.answer.row(*self.rows.get(&stack)?);
        Some(profile_stack::frames(row.bytes("frames")).flat_map(|frame| {
            let named = match frame.function {
                "" => self.named.get(frame.build_id).and_then(|of_file| of_file.get(&frame.address)),
                _ => None,
            };
            let inlined = named.into_iter().flatten();
            let inlined = inlined.map(|(function, file)| Frame { function, file, ..Frame::default() });
            named.is_none().then_some(frame).into_iter().chain(inlined)
        }))
    }
}
