//! Flame graphs and the table of functions.

use std::collections::HashMap;
use std::sync::Arc;

use tidewatch_accounts::Project;
use tidewatch_domain::rules::profile_stack::Frame;
use tidewatch_domain::rules::profile_temporality::Temporality;
use tidewatch_store::plan::Filter;
use tidewatch_store::tables::Table;

use super::names::Names;
use super::selection::{Facts, Selection};
use super::stacks::{self, Frames, NativeNames, StackSum, Summed};
use super::tree::{Sums, Tree};
use crate::answer::Answer;
use crate::error::QueryError;
use crate::executor::Executor;
use crate::filters;
use crate::page;
use crate::plans::{self, Window};
use crate::views::profile::*;

/// Maximum number of nodes of a flame graph: what a canvas can show.
pub const NODES_MAX: usize = 20_000;
/// Maximum number of samples of a flame graph in order of time.
const OCCURRENCES_MAX: usize = 20_000;
const TOP_DEFAULT: usize = 25;
/// WIRE 2.2.
const TOP_MAX: usize = 200;
/// Shown for a stack whose frames are no longer stored.
const UNKNOWN: Frame<'static> = Frame { function: "(unknown)", file: "", build_id: "", address: 0 };

/// Runs work on a thread that may block.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, QueryError> {
    tokio::task::spawn_blocking(work).await.map_err(QueryError::internal)
}

fn totals(facts: &Facts, selection: &Selection, summed: &Summed) -> FlameTotals {
    FlameTotals {
        profile_count: facts.profiles,
        sample_count: if selection.is_filtered() { summed.rows } else { facts.samples },
        total: summed.total(),
        first_profiles: summed.first,
    }
}

/// `POST /api/profiles/flamegraph`.
pub async fn flame_graph(
    executor: &Executor,
    project: &Project,
    names: Arc<dyn NativeNames>,
    request: FlameGraphRequest,
) -> Result<FlameGraph, QueryError> {
    let now = executor.context.clock.now_ns();
    let selection = Selection::read(&request.selection, project, now)?;
    let nodes_max = request.nodes_max.unwrap_or(NODES_MAX);
    if !(1..=NODES_MAX).contains(&nodes_max) {
        return Err(QueryError::unprocessable(format!("nodesMax is 1 to {NODES_MAX}")));
    }
    let baseline = request.baseline.as_ref().map(|baseline| {
        let or = |own: &Option<String>, other: &Option<String>| own.clone().or_else(|| other.clone());
        let of = &request.selection;
        ProfileSelection {
            from_date: or(&baseline.from_date, &of.from_date),
            to_date: or(&baseline.to_date, &of.to_date),
            app_version: or(&baseline.app_version, &of.app_version),
            server_name: or(&baseline.server_name, &of.server_name),
            ..of.clone()
        }
    });
    let baseline = baseline.map(|baseline| Selection::read(&baseline, project, now)).transpose()?;
    if request.order == FlameOrder::Time {
        if baseline.is_some() {
            return Err(QueryError::unprocessable("a diff has no order of time"));
        }
        return in_time(executor, &selection, names, nodes_max).await;
    }
    let read = async |selection: &Selection| {
        let facts = selection.facts(executor).await?;
        let summed = stacks::sums(executor, selection, &facts).await?;
        Ok::<_, QueryError>((facts, summed))
    };
    let (facts, summed) = read(&selection).await?;
    let of_baseline = match &baseline {
        Some(baseline) => Some((baseline, read(baseline).await?)),
        None => None,
    };
    let ranges: Vec<_> = [Some(&selection), baseline.as_ref()].into_iter().flatten().map(|of| of.range).collect();
    let baseline_sums = of_baseline.as_ref().map_or(&[][..], |(_, (_, summed))| &summed.sums);
    let all = summed.sums.iter().chain(baseline_sums).map(|sum| sum.stack);
    let mut frames = Frames::read(executor, selection.project, &ranges, all).await?;

    let shown = totals(&facts, &selection, &summed);
    let shown_baseline = of_baseline.as_ref().map(|(of, (facts, summed))| totals(facts, of, summed));
    let baseline = of_baseline.map(|(_, (_, summed))| summed.sums);
    let (sums, temporality) = (summed.sums, summed.temporality);
    let (names, nodes, truncated_nodes, missing_stacks) = blocking(move || {
        frames.name_addresses(&*names);
        let (mut tree, mut missing) = (Tree::new(), 0);
        let of_baseline = baseline.iter().flat_map(|sums| sums.iter().map(|sum| (sum, 1)));
        let mut all: Vec<(&StackSum, usize)> = sums.iter().map(|sum| (sum, 0)).chain(of_baseline).collect();
        // A full tree merges the lightest stacks.
        all.sort_by(|(a, _), (b, _)| b.value.abs().total_cmp(&a.value.abs()).then(a.stack.cmp(&b.stack)));
        for (sum, side) in all {
            match frames.of(sum.stack) {
                Some(frames) => tree.add(frames, sum.value, side),
                None => {
                    missing += 1;
                    tree.add([UNKNOWN].into_iter(), sum.value, side);
                }
            }
        }
        let (names, nodes, truncated) = tree.into_nodes(nodes_max, true, baseline.is_some());
        (names, nodes, truncated, missing)
    })
    .await?;
    Ok(view((facts, temporality), (shown, shown_baseline), names, nodes, (truncated_nodes, missing_stacks)))
}

fn view(
    (facts, temporality): (Facts, ProfileTemporality),
    (totals, baseline): (FlameTotals, Option<FlameTotals>),
    names: Names,
    nodes: FlameNodes,
    (truncated_nodes, missing_stacks): (usize, usize),
) -> FlameGraph {
    FlameGraph {
        unit: facts.unit,
        is_gauge: facts.is_gauge,
        temporality,
        totals,
        baseline,
        names: names.names,
        packages: names.packages,
        files: names.files,
        nodes,
        truncated_nodes,
        has_timestamps: facts.has_timestamps,
        missing_stacks,
    }
}

/// A flame graph in order of time.
async fn in_time(
    executor: &Executor,
    selection: &Selection,
    native: Arc<dyn NativeNames>,
    nodes_max: usize,
) -> Result<FlameGraph, QueryError> {
    let narrow = || QueryError::unprocessable("there are too many samples for an order of time; narrow the range");
    let facts = selection.facts(executor).await?;
    if !facts.has_timestamps {
        return Err(QueryError::unprocessable("these profiles have no time per sample"));
    }
    if facts.temporality != Temporality::Delta {
        return Err(QueryError::unprocessable("states and amounts since the start of a process have no order of time"));
    }
    let filter = filters::all([selection.samples(), filters::not(Filter::IsNull { column: "timestamps" })]);
    let columns = vec!["time", "stack", "value", "timestamps"];
    let window = Window::first(OCCURRENCES_MAX + 1);
    let (table, order) = (Table::ProfileSamples, vec![plans::ascending("time")]);
    let plan = plans::rows(table, &[selection.project], selection.range, filter, columns, order, window);
    let answer = executor.run(plan).await?;
    let occurrences = occurrences(&answer).ok_or_else(narrow)?;
    let all = occurrences.iter().map(|(_, sum)| sum.stack);
    let mut frames = Frames::read(executor, selection.project, &[selection.range], all).await?;
    let totals = FlameTotals {
        profile_count: facts.profiles,
        sample_count: occurrences.len() as u64,
        total: occurrences.iter().map(|(_, sum)| sum.value).sum(),
        first_profiles: FirstProfiles::default(),
    };
    let (names, nodes, missing) = blocking(move || {
        frames.name_addresses(&*native);
        let (mut tree, mut missing) = (Tree::new(), HashMap::new());
        for (_, sum) in occurrences {
            match frames.of(sum.stack) {
                Some(frames) => tree.append(frames, sum.value),
                None => {
                    missing.insert(sum.stack, ());
                    tree.append([UNKNOWN].into_iter(), sum.value);
                }
            }
            if tree.len() > nodes_max {
                return None;
            }
        }
        let (names, nodes, _) = tree.into_nodes(nodes_max, false, false);
        Some((names, nodes, missing.len()))
    })
    .await?
    .ok_or_else(narrow)?;
    Ok(view((facts, ProfileTemporality::Delta), (totals, None), names, nodes, (0, missing)))
}

/// The samples by time, each with its share of the value of its row; `None` when there are too many.
fn occurrences(answer: &Answer) -> Option<Vec<(i64, StackSum)>> {
    let mut all = Vec::new();
    for row in answer.rows() {
        let (offsets, _) = row.bytes("timestamps").as_chunks::<8>();
        if all.len() + offsets.len() > OCCURRENCES_MAX {
            return None;
        }
        let value = row.number("value") / offsets.len().max(1) as f64;
        let (start, stack) = (row.int("time"), row.u64("stack"));
        let times = offsets.iter().map(|offset| start.saturating_add(i64::from_le_bytes(*offset)));
        all.extend(times.map(|time| (time, StackSum { stack, value })));
    }
    all.sort_by_key(|(time, sum)| (*time, sum.stack));
    Some(all)
}

/// `POST /api/profiles/top`.
pub async fn top(
    executor: &Executor,
    project: &Project,
    native: Arc<dyn NativeNames>,
    request: TopFunctionsRequest,
) -> Result<TopFunctions, QueryError> {
    let selection = Selection::read(&request.selection, project, executor.context.clock.now_ns())?;
    let limit = request.limit.unwrap_or(TOP_DEFAULT);
    if !(1..=TOP_MAX).contains(&limit) {
        return Err(QueryError::unprocessable(format!("limit is 1 to {TOP_MAX}")));
    }
    let facts = selection.facts(executor).await?;
    let summed = stacks::sums(executor, &selection, &facts).await?;
    let (total, first_profiles, temporality) = (summed.total(), summed.first, summed.temporality);
    let sums = summed.sums;
    let all = sums.iter().map(|sum| sum.stack);
    let mut frames = Frames::read(executor, selection.project, &[selection.range], all).await?;
    let needle = request.search.as_deref().unwrap_or_default().to_ascii_lowercase();
    let (by, order) = (request.by, page::order(&request.order_by)?);
    let (data, functions) = blocking(move || {
        frames.name_addresses(&*native);
        let (mut names, mut packages, mut totals) = (Names::default(), Names::default(), Sums::default());
        let mut package_of: Vec<u32> = Vec::new();
        let mut numbers: Vec<u32> = Vec::new();
        for sum in &sums {
            numbers.clear();
            let mut add = |frame: Frame<'_>| {
                let name = names.number(&frame);
                if by == TopBy::Function {
                    return numbers.push(name);
                }
                if name as usize >= package_of.len() {
                    package_of.push(packages.add(&names.packages[name as usize], ""));
                }
                numbers.push(package_of[name as usize]);
            };
            match frames.of(sum.stack) {
                Some(frames) => frames.for_each(&mut add),
                None => add(UNKNOWN),
            }
            totals.add(numbers.iter().copied(), sum.value);
        }
        let sorted = totals.sorted(|summed| match order {
            TopOrder::Own => summed.own,
            TopOrder::Total => summed.total,
        });
        let shown = if by == TopBy::Function { &names } else { &packages };
        let matches = |name: &str| needle.is_empty() || name.to_ascii_lowercase().contains(&needle);
        let matching: Vec<_> =
            sorted.into_iter().filter(|(number, _)| matches(&shown.names[*number as usize])).collect();
        let functions = matching.len();
        let row = |(number, summed): (u32, super::tree::Summed)| {
            let (name, number) = (shown.names[number as usize].clone(), number as usize);
            let (package, file) = match by {
                TopBy::Function => (names.packages[number].clone(), names.files[number].clone()),
                TopBy::Package => (name.clone(), String::new()),
            };
            TopFunction { name, package, file, own: summed.own, total: summed.total }
        };
        (matching.into_iter().take(limit).map(row).collect(), functions)
    })
    .await?;
    let Facts { unit, is_gauge, .. } = facts;
    Ok(TopFunctions { unit, is_gauge, temporality, first_profiles, total, data, functions })
}
