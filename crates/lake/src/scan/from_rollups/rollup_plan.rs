//! Which plans roll-ups can answer, and which cells pass a test.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::buffer::BooleanBuffer;
use hashbrown::HashMap;

use super::super::filter::{passes, passes_all};
use crate::batch::datum::Datum;
use crate::batch::keys::Key;
use crate::rollup::keys::Keys;
use crate::scan::aggregators::Measure;
use crate::scan::plan_check::{CheckedPlan, Test};
use tidewatch_domain::units::MINUTE_NS;
use tidewatch_store::StoreError;
use tidewatch_store::plan::Op;
use tidewatch_store::rollup::spec::Spec;

/// Plan by which cells answer.
#[derive(Debug)]
pub(crate) struct RollupPlan {
    pub spec: &'static Spec,
    /// Origin and width of the plan's time bucket.
    pub bucket: Option<(i64, i64)>,
}

/// The granularity at which a test divides the rows of cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Granularity {
    /// It does not read the sketched column, or compares it with the edge of a band: all rows of a cell pass, or none.
    Cells,
    /// It compares the sketched column with a value inside a band: the part of the cell's sketch up to it passes.
    Buckets,
}

impl RollupPlan {
    /// `None` when the plan needs rows.
    pub fn of(
        plan: &CheckedPlan,
        keys: &[Key],
        measures: &[(Measure, Option<usize>)],
        tests: &[Test],
    ) -> Option<RollupPlan> {
        let spec = Spec::of(plan.table)?;
        let requires = |name| plan.non_time_tests().any(|test| test.requires(name));
        spec.required.is_none_or(requires).then_some(())?;
        let mut bucket = None;
        for key in keys {
            match key {
                Key::Column(column) | Key::OneOf { column, .. }
                    if column.name == "project" || spec.has_column(column.name) => {}
                Key::TimeBucket { origin, width } if bucket.is_none() => {
                    (origin % MINUTE_NS == 0 && width % MINUTE_NS == 0).then_some(())?;
                    bucket = Some((*origin, *width));
                }
                _ => return None,
            }
        }
        let granularities: Vec<Granularity> =
            tests.iter().map(|test| granularity(spec, test)).collect::<Option<_>>()?;
        if !plan.non_time_tests().all(|test| granularity(spec, test) == Some(Granularity::Cells)) {
            return None;
        }
        let fits = |(measure, test): &(Measure, Option<usize>)| {
            let granularity = test.map_or(Granularity::Cells, |test| granularities[test]);
            match measure {
                Measure::Weight { weighted: true } => true,
                _ if granularity > Granularity::Cells => false,
                Measure::Count => true,
                Measure::Sum { column, weighted: true } => spec.sum(column.name).is_some(),
                Measure::Samples { column, weighted: true } => spec.sketched == Some(column.name),
                Measure::Extreme { column, wanted } => column.name == "time" && (wanted.is_gt() || spec.earliest),
                Measure::AtTime { column, wanted } => spec.latest == Some(column.name) && wanted.is_gt(),
                _ => false,
            }
        };
        measures.iter().all(fits).then_some(RollupPlan { spec, bucket })
    }
}

/// The granularity of a test; `None` when it needs rows.
fn granularity(spec: &Spec, test: &Test) -> Option<Granularity> {
    let all = |tests: &[Test]| {
        tests.iter().try_fold(Granularity::Cells, |most, test| Some(most.max(granularity(spec, test)?)))
    };
    let is_dim = |name: &str| name == "project" || spec.has_column(name);
    match test {
        Test::True => Some(Granularity::Cells),
        Test::All(tests) | Test::Any(tests) => all(tests),
        Test::Not(test) => granularity(spec, test),
        Test::Compare { column, op: Op::Le | Op::Gt, value: Datum::I64(value) }
            if spec.sketched == Some(column.name) && !spec.bands.is_empty() =>
        {
            Some(if spec.bands.contains(value) { Granularity::Cells } else { Granularity::Buckets })
        }
        Test::IsNull { column } if !column.nullable || spec.has_presence(column.name) => Some(Granularity::Cells),
        Test::Compare { column, .. }
        | Test::In { column, .. }
        | Test::Contains { column, .. }
        | Test::Matches { column, .. }
        | Test::HasBits { column, .. }
        | Test::IsNull { column } => is_dim(column.name).then_some(Granularity::Cells),
        Test::Attribute { .. } | Test::AnyAttributeContains { .. } => None,
    }
}

/// Which cells of a part pass a test, by key.
pub(crate) struct CellFilter {
    /// By key: whether its cells pass, unless they are split.
    whole: BooleanBuffer,
    /// Keys whose cells pass in part: upper ends of ranges of the sketched column, ascending, and whether each passes.
    split: HashMap<u32, Vec<(f64, bool)>>,
}

impl CellFilter {
    /// Evaluates a test on the keys of a part.
    pub fn of(rollup_plan: &RollupPlan, test: &Test, keys: &Keys) -> Result<CellFilter, StoreError> {
        let spec = rollup_plan.spec;
        if granularity(spec, test) != Some(Granularity::Buckets) {
            return Ok(CellFilter { whole: passes(test, &keys.batch)?, split: HashMap::new() });
        }
        let (Some(sketched), Some(name_dim)) = (spec.sketched, spec.dims.first()) else {
            return Ok(CellFilter { whole: passes(test, &keys.batch)?, split: HashMap::new() });
        };
        let mut edges = Edges { sketched, name_dim: name_dim.column(), by_name: HashMap::new() };
        edges.collect(test, None);
        let names = crate::batch::cells::cells(&keys.batch, edges.name_dim)?;
        // By key: the upper ends of the ranges into which the test divides the key's band, ascending.
        let pieces: Vec<Vec<i64>> = (0..keys.bands.len())
            .map(|key| {
                let band = keys.bands[key];
                let end = spec.band_end(band);
                let before = band.checked_sub(1).map_or(i64::MIN, |band| spec.band_end(band));
                let inside = |edge: &i64| before < *edge && *edge < end;
                let mut pieces: Vec<i64> = edges.of(names.bytes(key)).filter(inside).collect();
                pieces.push(end);
                pieces.sort_unstable();
                pieces.dedup();
                pieces
            })
            .collect();
        let most = pieces.iter().map(Vec::len).max().unwrap_or(1);
        let mut rounds = Vec::with_capacity(most);
        for round in 0..most {
            let ends = pieces.iter().map(|pieces| pieces[round.min(pieces.len() - 1)]);
            rounds.push(passes(test, &with_column(&keys.batch, sketched, ends.collect())?)?);
        }
        let mut split = HashMap::new();
        for (key, pieces) in pieces.iter().enumerate().filter(|(_, pieces)| pieces.len() > 1) {
            let booleans: Vec<(f64, bool)> =
                pieces.iter().zip(&rounds).map(|(end, round)| (*end as f64, round.value(key))).collect();
            if booleans.iter().any(|(_, passes)| *passes != booleans[0].1) {
                split.insert(key as u32, booleans);
            }
        }
        Ok(CellFilter { whole: rounds.swap_remove(0), split })
    }

    /// Whether the cells of a key pass, unless they are split.
    #[inline]
    pub fn whole(&self, key: u32) -> bool {
        self.whole.value(key as usize)
    }

    /// Which values of a split key pass: upper ends of ranges, and whether the range passes.
    #[inline]
    pub fn split(&self, key: u32) -> Option<&[(f64, bool)]> {
        if self.split.is_empty() { None } else { self.split.get(&key).map(Vec::as_slice) }
    }
}

/// Whether a value passes, given the ranges of a split key.
pub(crate) fn passes_split(pieces: &[(f64, bool)], value: f64) -> bool {
    pieces.iter().find(|(end, _)| value <= *end).or(pieces.last()).is_some_and(|(_, passes)| *passes)
}

/// The values with which a test compares the sketched column, by the value of the first dimension it applies to.
struct Edges<'a> {
    sketched: &'a str,
    name_dim: &'a str,
    /// `None` applies to every name.
    by_name: HashMap<Option<Vec<u8>>, Vec<i64>>,
}

impl Edges<'_> {
    fn collect(&mut self, test: &Test, name: Option<&[u8]>) {
        match test {
            Test::All(tests) => {
                // Conjuncts of a comparison with a name apply to that name only.
                let own = tests.iter().find_map(|test| match test {
                    Test::Compare { column, op: Op::Eq, value: Datum::Bytes(bytes) }
                        if column.name == self.name_dim =>
                    {
                        Some(bytes.as_slice())
                    }
                    _ => None,
                });
                tests.iter().for_each(|test| self.collect(test, name.or(own)));
            }
            Test::Any(tests) => tests.iter().for_each(|test| self.collect(test, name)),
            Test::Not(test) => self.collect(test, name),
            Test::Compare { column, value: Datum::I64(value), .. } if column.name == self.sketched => {
                self.by_name.entry(name.map(<[u8]>::to_vec)).or_default().push(*value);
            }
            _ => {}
        }
    }

    fn of(&self, name: &[u8]) -> impl Iterator<Item = i64> {
        let lists = [self.by_name.get(&None), self.by_name.get(&Some(name.to_vec()))];
        lists.into_iter().flatten().flatten().copied()
    }
}

fn with_column(batch: &RecordBatch, name: &str, values: Int64Array) -> Result<RecordBatch, StoreError> {
    let internal = StoreError::internal("read a roll-up");
    let schema = batch.schema();
    let at = schema.index_of(name).map_err(StoreError::internal("read a roll-up"))?;
    let mut columns = batch.columns().to_vec();
    columns[at] = Arc::new(values) as ArrayRef;
    RecordBatch::try_new(schema, columns).map_err(internal)
}

/// Keys whose rows pass all tests except the time range.
pub(crate) fn passing_keys(plan: &CheckedPlan, keys: &Keys) -> Result<BooleanBuffer, StoreError> {
    passes_all(plan.non_time_tests(), &keys.batch)
}
