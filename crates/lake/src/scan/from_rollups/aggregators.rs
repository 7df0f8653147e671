//! Adds cells of roll-ups to the aggregate states of rows.

use super::read::{CellColumns, SelectedCells};
use super::rollup_plan::{CellFilter, passes_split};
use crate::batch::datum::Datum;
use crate::scan::aggregators::{Measure, State};
use tidewatch_store::StoreError;
use tidewatch_store::rollup::sketch::middle_of;

impl State {
    /// Like [`State::update`], with all rows of the selected cells that pass `passing`.
    pub fn add_cells(
        &mut self,
        measure: Measure,
        columns: &CellColumns<'_>,
        counted: &SelectedCells,
        passing: Option<&CellFilter>,
    ) -> Result<(), StoreError> {
        let keys = &columns.chunk.keys;
        let passes = |cell: u32| passing.is_none_or(|passing| passing.whole(keys[cell as usize]));
        let each = |visit: &mut dyn FnMut(usize, usize)| {
            for &(cell, group) in counted.iter().filter(|(cell, _)| passes(*cell)) {
                visit(cell as usize, group as usize);
            }
        };
        match (self, measure) {
            (State::Counts(counts), _) => {
                let rows = columns.rows()?;
                each(&mut |cell, group| counts[group] += rows[cell]);
            }
            (State::Totals(totals), Measure::Weight { .. }) => {
                let weights = columns.weights()?;
                for &(cell, group) in counted {
                    let (at, key) = (cell as usize, keys[cell as usize]);
                    let total = &mut totals[group as usize];
                    match passing.and_then(|passing| passing.split(key)) {
                        None if passes(cell) => total.add(weights[at]),
                        None => {}
                        Some(pieces) => {
                            let mut weight = 0.0;
                            let add = |bucket, count| {
                                if passes_split(pieces, middle_of(bucket)) {
                                    weight += count;
                                }
                            };
                            columns.sketches()?.each(at, add).ok_or_else(|| columns.damaged())?;
                            total.add(weight);
                        }
                    }
                }
            }
            (State::Totals(totals), Measure::Sum { column, .. }) => {
                let sums = columns.sums(column.name)?;
                // Cells of keys without the column add no row, so that an empty sum stays null.
                let values = columns.has_values(column.name);
                each(&mut |cell, group| {
                    if values.is_none_or(|values| values.is_valid(keys[cell] as usize)) {
                        totals[group].add(sums[cell]);
                    }
                });
            }
            (State::Extremes { values, .. }, Measure::Extreme { wanted, .. }) => {
                let times = if wanted.is_gt() { columns.latest()? } else { columns.earliest()? };
                each(&mut |cell, group| {
                    let best = &mut values[group];
                    let is_known = matches!(best, Some(Datum::I64(best)) if times[cell].cmp(best) != wanted);
                    if !is_known {
                        *best = Some(Datum::I64(times[cell]));
                    }
                });
            }
            (State::AtTimes { values, bytes }, Measure::AtTime { .. }) => {
                let (times, latest) = (columns.latest()?, columns.latest_values()?);
                each(&mut |cell, group| {
                    let best = &mut values[group];
                    let is_known = best.as_ref().is_some_and(|(time, datum)| {
                        let known = matches!(datum, Datum::Bytes(bytes) if bytes.as_slice() >= &latest[cell][..]);
                        *time > times[cell] || (*time == times[cell] && known)
                    });
                    if !is_known {
                        *bytes += latest[cell].len();
                        *best = Some((times[cell], Datum::Bytes(latest[cell].to_vec())));
                    }
                });
            }
            (State::Sketches(sketches), Measure::Samples { .. }) => {
                let packed = columns.sketches()?;
                for &(cell, group) in counted.iter().filter(|(cell, _)| passes(*cell)) {
                    let sketch = &mut sketches[group as usize];
                    packed.add_to(cell as usize, sketch).ok_or_else(|| columns.damaged())?;
                }
            }
            _ => unreachable!("a plan with other measures is not answered from roll-ups"),
        }
        Ok(())
    }
}
