//! Which plans roll-ups can answer, and which cells pass which test.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::buffer::BooleanBuffer;
use hashbrown::HashMap;

use super::super::filter::{passes, passes_all};
use crate::batch::datum::Datum;
use crate::batch::keys::Key;
use crate::rollup::keys::Keys;
use crate::scan::aggregators::Measure;
use crate::scan::plan_check::{Question, Test};
use tidewatch_store::StoreError;
use tidewatch_store::plan::Op;
use tidewatch_store::rollup::levels::MINUTE;
use tidewatch_store::rollup::spec::Spec;

/// A plan that cells can answer.
#[derive(Debug)]
pub(crate) struct Rolled {
    pub spec: &'static Spec,
    /// Origin and width of the plan's time bucket.
    pub bucket: Option<(i64, i64)>,
}

/// How a test looks at the sketched column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    /// Not at all, or at the edges of bands: a whole cell passes, or none of it.
    Cells,
    /// Inside a band: a share of a cell passes, as its sketch says.
    Buckets,
}

impl Rolled {
    /// `None` when a part of the plan needs rows.
    pub fn of(
        question: &Question,
        keys: &[Key],
        measures: &[(Measure, Option<usize>)],
        tests: &[Test],
    ) -> Option<Rolled> {
        let spec = Spec::of(question.table)?;
        let mut bucket = None;
        for key in keys {
            match key {
                Key::Column(column) | Key::OneOf { column, .. }
                    if column.name == "project" || spec.has_column(column.name) => {}
                Key::TimeBucket { origin, width } if bucket.is_none() => {
                    (origin % MINUTE == 0 && width % MINUTE == 0).then_some(())?;
                    bucket = Some((*origin, *width));
                }
                _ => return None,
            }
        }
        let reaches: Vec<Reach> = tests.iter().map(|test| reach(spec, test)).collect::<Option<_>>()?;
        if !question.others().all(|test| reach(spec, test) == Some(Reach::Cells)) {
            return None;
        }
        let fits = |(measure, test): &(Measure, Option<usize>)| {
            let reach = test.map_or(Reach::Cells, |test| reaches[test]);
            match measure {
                Measure::Weight { weighted: true } => true,
                _ if reach > Reach::Cells => false,
                Measure::Count => true,
                Measure::Sum { column, weighted: true } => spec.sum(column.name).is_some(),
                Measure::Samples { column, weighted: true } => spec.sketched == Some(column.name),
                Measure::Extreme { column, wanted } => column.name == "time" && (wanted.is_gt() || spec.earliest),
                Measure::AtTime { column, wanted } => spec.latest == Some(column.name) && wanted.is_gt(),
                _ => false,
            }
        };
        measures.iter().all(fits).then_some(Rolled { spec, bucket })
    }
}

/// `None` when the test needs rows.
fn reach(spec: &Spec, test: &Test) -> Option<Reach> {
    let all = |tests: &[Test]| tests.iter().try_fold(Reach::Cells, |most, test| Some(most.max(reach(spec, test)?)));
    let is_dim = |name: &str| name == "project" || spec.has_column(name);
    match test {
        Test::True => Some(Reach::Cells),
        Test::All(tests) | Test::Any(tests) => all(tests),
        Test::Not(test) => reach(spec, test),
        Test::Compare { column, op: Op::Le | Op::Gt, value: Datum::I64(value) }
            if spec.sketched == Some(column.name) && !spec.bands.is_empty() =>
        {
            Some(if spec.bands.contains(value) { Reach::Cells } else { Reach::Buckets })
        }
        Test::IsNull { column } if !column.nullable || spec.has_presence(column.name) => Some(Reach::Cells),
        Test::Compare { column, .. }
        | Test::In { column, .. }
        | Test::Contains { column, .. }
        | Test::HasBits { column, .. }
        | Test::IsNull { column } => is_dim(column.name).then_some(Reach::Cells),
        Test::Attribute { .. } | Test::AnyAttributeContains { .. } => None,
    }
}

/// What a test says of the cells of each key of a part.
pub(crate) struct Passing {
    /// Whether cells of a key pass, if they are not split.
    whole: BooleanBuffer,
    /// Of keys whose cells pass in part: the sketched column's values up to each of these (ascending) pass or do not.
    split: HashMap<u32, Vec<(f64, bool)>>,
}

impl Passing {
    pub fn of(rolled: &Rolled, test: &Test, keys: &Keys) -> Result<Passing, StoreError> {
        let spec = rolled.spec;
        if reach(spec, test) != Some(Reach::Buckets) {
            return Ok(Passing { whole: passes(test, &keys.batch)?, split: HashMap::new() });
        }
        let (Some(sketched), Some(lead)) = (spec.sketched, spec.dims.first()) else {
            return Ok(Passing { whole: passes(test, &keys.batch)?, split: HashMap::new() });
        };
        let mut edges = Edges { sketched, lead: lead.column(), by_name: HashMap::new() };
        edges.collect(test, None);
        let names = crate::batch::cells::cells(&keys.batch, edges.lead)?;
        // The pieces of each key: values up to these, cut out of the key's band.
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
            let truths: Vec<(f64, bool)> =
                pieces.iter().zip(&rounds).map(|(end, round)| (*end as f64, round.value(key))).collect();
            if truths.iter().any(|(_, truth)| *truth != truths[0].1) {
                split.insert(key as u32, truths);
            }
        }
        Ok(Passing { whole: rounds.swap_remove(0), split })
    }

    #[inline]
    pub fn whole(&self, key: u32) -> bool {
        self.whole.value(key as usize)
    }

    /// Which values of a split key pass.
    #[inline]
    pub fn split(&self, key: u32) -> Option<&[(f64, bool)]> {
        if self.split.is_empty() { None } else { self.split.get(&key).map(Vec::as_slice) }
    }
}

/// Whether a value passes that lies in the pieces of a split key.
pub(crate) fn passes_split(pieces: &[(f64, bool)], value: f64) -> bool {
    pieces.iter().find(|(end, _)| value <= *end).or(pieces.last()).is_some_and(|(_, truth)| *truth)
}

/// Where a test cuts the sketched column, by the name it is about.
struct Edges<'a> {
    sketched: &'a str,
    lead: &'a str,
    /// `None`: whatever the name.
    by_name: HashMap<Option<Vec<u8>>, Vec<i64>>,
}

impl Edges<'_> {
    fn collect(&mut self, test: &Test, name: Option<&[u8]>) {
        match test {
            Test::All(tests) => {
                // What stands beside a comparison of the name is about that name alone.
                let own = tests.iter().find_map(|test| match test {
                    Test::Compare { column, op: Op::Eq, value: Datum::Bytes(bytes) } if column.name == self.lead => {
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

/// Keys whose rows pass all tests but those of time.
pub(crate) fn passing_keys(question: &Question, keys: &Keys) -> Result<BooleanBuffer, StoreError> {
    passes_all(question.others(), &keys.batch)
}
