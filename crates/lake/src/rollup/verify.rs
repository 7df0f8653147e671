//! Compares a part's roll-up with its rows, cell by cell.

use std::collections::BTreeMap;

use arrow::row::{RowConverter, SortField};

use super::builder::Builder;
use super::chunk::{Cell, Chunk};
use super::directory::{Directory, Place};
use super::keys;
use tidewatch_store::StoreError;
use tidewatch_store::rollup::levels::WIDTHS;
use tidewatch_store::rollup::spec::Spec;
use tidewatch_store::tables::Table;

/// Relative tolerance of sums, whose terms may have been added in another order.
const TOLERANCE: f64 = 1e-9;

/// By level, key as comparable bytes, and start.
type CellsByPlace = BTreeMap<(usize, Vec<u8>, i64), Cell>;

/// A builder that rebuilds the roll-up of the rows with all levels.
pub fn builder(table: Table) -> Option<Builder> {
    Builder::new(table, 0)
}

/// Describes the first difference between the stored roll-up and its rows; `None` when they agree. `read` returns bytes
/// of the part's file; `rebuilt` was given all rows of the part.
pub fn difference(
    table: Table,
    stored: &Directory,
    read: &mut dyn FnMut(Place) -> Result<Vec<u8>, StoreError>,
    rebuilt: Builder,
) -> Result<Option<String>, StoreError> {
    let Some(spec) = Spec::of(table) else { return Ok(None) };
    let Some(section) = rebuilt.finish(0) else {
        return Ok(Some("its rows cannot be rolled up".to_owned()));
    };
    let Some(directory) = Directory::decode(&section.directory, spec) else {
        return Ok(Some("its rows cannot be rolled up".to_owned()));
    };
    let mut slice = |place: Place| {
        let from = place.offset as usize;
        Ok(section.bytes[from..from + place.length as usize].to_vec())
    };
    let Some(expected) = cells(table, spec, &directory, &mut slice)? else {
        return Ok(Some("its rows cannot be rolled up".to_owned()));
    };
    let Some(found) = cells(table, spec, stored, read)? else {
        return Ok(Some("the roll-up cannot be read".to_owned()));
    };
    let mut counts = (0, 0);
    for ((level, key, start), cell) in &expected {
        if !stored.has(*level) {
            continue;
        }
        counts.0 += 1;
        let place = (*level, key.clone(), *start);
        match found.get(&place) {
            None => return Ok(Some(format!("the roll-up misses rows of the time {start}"))),
            Some(other) if !is_same(cell, other) => {
                return Ok(Some(format!("the roll-up has other values than the rows of the time {start}")));
            }
            Some(_) => counts.1 += 1,
        }
    }
    Ok((counts.1 != found.len()).then(|| "the roll-up has cells without rows".to_owned()))
}

/// Decodes all cells of a roll-up. `None` when the bytes are not one.
fn cells(
    table: Table,
    spec: &Spec,
    directory: &Directory,
    read: &mut dyn FnMut(Place) -> Result<Vec<u8>, StoreError>,
) -> Result<Option<CellsByPlace>, StoreError> {
    let Some(keys) = keys::decode(&read(directory.keys)?, table, spec) else { return Ok(None) };
    let batch = keys?.batch;
    let fields = batch.schema().fields().iter().map(|field| SortField::new(field.data_type().clone())).collect();
    let wrong = StoreError::internal("compare a roll-up");
    let rows =
        RowConverter::new(fields).and_then(|converter| converter.convert_columns(batch.columns())).map_err(wrong)?;
    let mut cells = CellsByPlace::new();
    for place in &directory.chunks {
        let bytes = read(place.place)?;
        let mut add = || -> Option<()> {
            let chunk = Chunk::decode(&bytes, spec, WIDTHS[place.level])?;
            let (counts, weights, latest) = (chunk.rows()?, chunk.weights()?, chunk.latest()?);
            let earliest = if spec.earliest { Some(chunk.earliest()?) } else { None };
            let values = if spec.latest.is_some() { Some(chunk.latest_values()?) } else { None };
            let sums: Vec<Vec<f64>> = (0..spec.sums.len()).map(|sum| chunk.sums(sum)).collect::<Option<_>>()?;
            let sketches = chunk.sketches()?;
            for at in 0..chunk.keys.len() {
                let key = chunk.keys[at] as usize;
                let key = (key < rows.num_rows()).then(|| rows.row(key).data().to_vec())?;
                let mut buckets = Vec::new();
                sketches.each(at, |bucket, count| buckets.push((bucket, count)))?;
                let cell = cells.entry((place.level, key, chunk.starts[at])).or_insert_with(|| Cell {
                    start: chunk.starts[at],
                    latest: i64::MIN,
                    earliest: i64::MAX,
                    ..Cell::default()
                });
                cell.rows += counts[at];
                cell.weight += weights[at];
                cell.earliest = cell.earliest.min(earliest.as_ref().map_or(i64::MAX, |earliest| earliest[at]));
                let value = values.map_or([0; 16], |values| values[at]);
                if (latest[at], value) > (cell.latest, cell.latest_value) {
                    (cell.latest, cell.latest_value) = (latest[at], value);
                }
                cell.sums.iter_mut().zip(&sums).for_each(|(sum, more)| *sum += more[at]);
                cell.buckets.extend(buckets);
            }
            Some(())
        };
        if add().is_none() {
            return Ok(None);
        }
    }
    for cell in cells.values_mut() {
        cell.buckets.sort_unstable_by_key(|(bucket, _)| *bucket);
        cell.buckets.dedup_by(|(bucket, count), (kept, sum)| {
            let is_same = bucket == kept;
            *sum += if is_same { *count } else { 0.0 };
            is_same
        });
    }
    Ok(Some(cells))
}

fn is_same(one: &Cell, other: &Cell) -> bool {
    let close = |one: f64, other: f64| (one - other).abs() <= TOLERANCE * one.abs().max(other.abs()).max(1.0);
    one.rows == other.rows
        && close(one.weight, other.weight)
        && (one.latest, one.earliest, one.latest_value) == (other.latest, other.earliest, other.latest_value)
        && one.sums.iter().zip(&other.sums).all(|(one, other)| close(*one, *other))
        && one.buckets.len() == other.buckets.len()
        && one.buckets.iter().zip(&other.buckets).all(|(one, other)| one.0 == other.0 && close(one.1, other.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;
    use crate::tests::support::*;
    use arrow::array::RecordBatch;
    use tidewatch_journal::Position;
    use tidewatch_store::columns::NO_KEY;

    fn rolled(batches: &[RecordBatch], shrink: u64) -> (Builder, Vec<u8>, Directory) {
        let table = Table::Endpoints;
        let (mut one, mut other) = (Builder::new(table, shrink).unwrap(), builder(table).unwrap());
        for batch in batches {
            one.add(batch).unwrap();
            other.add(batch).unwrap();
        }
        let section = one.finish(0).unwrap();
        let directory = Directory::decode(&section.directory, Spec::of(table).unwrap()).unwrap();
        (other, section.bytes, directory)
    }

    #[test]
    fn a_roll_up_of_other_rows_differs() {
        let bench = Bench::new(1);
        let lake = bench.open();
        for n in 1..=3_u8 {
            let spans: Vec<_> = (1..=40).map(|m| span(n, m, TODAY_NS + i64::from(m) * 90 * SECOND_NS)).collect();
            lake.apply(Position(n.into()), NO_KEY, TODAY_NS, request(n.into(), &spans));
        }
        lake.flush().unwrap();
        let rows: Vec<RecordBatch> = match &lake.sources(&everything(Table::Endpoints))[..] {
            [Source::Part(part)] => try_read(part).unwrap(),
            other => panic!("one part, not {other:?}"),
        };
        let all = rows[0].clone();
        let fewer = all.slice(0, all.num_rows() - 1);
        for shrink in [0, 2] {
            for (stored, rebuilt, is_same) in
                [(&all, &all, true), (&fewer, &all, false), (&all, &fewer, false), (&fewer, &fewer, true)]
            {
                let (_, bytes, directory) = rolled(std::slice::from_ref(stored), shrink);
                let (rebuilt, ..) = rolled(std::slice::from_ref(rebuilt), 0);
                let mut read = |place: Place| {
                    let from = place.offset as usize;
                    Ok(bytes[from..from + place.length as usize].to_vec())
                };
                let difference = difference(Table::Endpoints, &directory, &mut read, rebuilt).unwrap();
                assert_eq!(difference.is_none(), is_same, "shrink {shrink}: {difference:?}");
            }
        }
    }
}
