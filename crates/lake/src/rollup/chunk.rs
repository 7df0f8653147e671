//! A chunk: the cells of one level and time range, encoded by column. A query decodes only the columns it uses.
//!
//! A cell has one entry in each column; all buckets of a cell are one entry in the sketch column.

use super::varint::{Reader, put, put_signed};
use tidewatch_store::rollup::sketch::Sketch;
use tidewatch_store::rollup::spec::Spec;

/// The aggregates of the rows with one key in one time bucket.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cell {
    /// Start of the time bucket, nanoseconds since the epoch.
    pub start: i64,
    /// The number of rows.
    pub rows: u64,
    /// The sum of their weights.
    pub weight: f64,
    /// In the order of [`Spec::sums`].
    pub sums: [f64; SUMS_MAX],
    /// Greatest time of a row, nanoseconds since the epoch.
    pub latest: i64,
    /// Smallest time of a row; not stored unless [`Spec::earliest`].
    pub earliest: i64,
    /// The value of the latest row in the column [`Spec::latest`].
    pub latest_value: [u8; 16],
    /// Bucket and weight; ascending and distinct when written.
    pub buckets: Vec<(i16, f64)>,
}

/// The maximum number of sums of a table.
pub const SUMS_MAX: usize = 5;

/// Numbers of the columns before the sums.
const PLACES: usize = 0;
const ROWS: usize = 1;
const WEIGHTS: usize = 2;
const LATEST: usize = 3;
/// Empty unless [`Spec::earliest`].
const EARLIEST: usize = 4;
const LATEST_VALUES: usize = 5;
const FIRST_SUM: usize = 6;

/// A byte below this is the step to a bucket with count one. A step of zero repeats the bucket.
const STEP_END: u8 = 0xF0;
/// Other counts and longer steps: one of these bytes, then the step, then the count.
const FAR: u8 = 0xF0;
const WHOLE: u8 = 0xF1;
const REAL: u8 = 0xF2;
/// A count up to this is encoded as one byte per unit.
const REPEATS_MAX: u64 = 3;

/// Encodes cells in any order. Cells of the same key and start add up.
#[derive(Debug)]
pub struct ChunkWriter {
    width: i64,
    spec: &'static Spec,
    cells: u64,
    /// Key, and start in units of `width`, of the previous cell.
    last: (i64, i64),
    /// Places, rows, weights, latest, earliest, values of the latest row, sums, sketch lengths, sketches.
    columns: Vec<Vec<u8>>,
}

impl ChunkWriter {
    /// A writer of cells with time buckets of `width` nanoseconds.
    pub fn new(spec: &'static Spec, width: i64) -> ChunkWriter {
        let columns = FIRST_SUM + spec.sums.len() + 2;
        ChunkWriter { width, spec, cells: 0, last: (0, 0), columns: vec![Vec::new(); columns] }
    }

    /// Appends a cell.
    pub fn write(&mut self, key: u32, cell: &Cell) {
        let place = (i64::from(key), cell.start.div_euclid(self.width));
        put_signed(&mut self.columns[PLACES], place.0 - self.last.0);
        put_signed(&mut self.columns[PLACES], place.1 - self.last.1);
        self.last = place;
        put(&mut self.columns[ROWS], cell.rows);
        // Most rows have weight 1.
        match cell.weight == cell.rows as f64 {
            true => put(&mut self.columns[WEIGHTS], 0),
            false => {
                put(&mut self.columns[WEIGHTS], 1);
                self.columns[WEIGHTS].extend(cell.weight.to_le_bytes());
            }
        }
        put(&mut self.columns[LATEST], cell.latest.abs_diff(cell.start));
        if self.spec.earliest {
            put(&mut self.columns[EARLIEST], cell.earliest.abs_diff(cell.start));
        }
        if self.spec.latest.is_some() {
            self.columns[LATEST_VALUES].extend(cell.latest_value);
        }
        let sketches = self.columns.len() - 1;
        for (column, sum) in (FIRST_SUM..sketches - 1).zip(cell.sums) {
            put_real(&mut self.columns[column], sum);
        }
        let before = self.columns[sketches].len();
        put_buckets(&mut self.columns[sketches], &cell.buckets);
        let length = self.columns[sketches].len() - before;
        put(&mut self.columns[sketches - 1], length as u64);
        self.cells += 1;
    }

    /// Appends the encoded chunk.
    pub fn finish(self, into: &mut Vec<u8>) {
        put(into, self.cells);
        self.columns.iter().for_each(|column| put(into, column.len() as u64));
        self.columns.iter().for_each(|column| into.extend_from_slice(column));
    }
}

/// Writes the first bucket, then for each bucket the step from the previous one and its count.
fn put_buckets(into: &mut Vec<u8>, buckets: &[(i16, f64)]) {
    let Some((first, _)) = buckets.first() else { return };
    put_signed(into, i64::from(*first));
    let mut last = *first;
    for (bucket, count) in buckets {
        let step = (i32::from(*bucket) - i32::from(last)) as u64;
        last = *bucket;
        let whole = *count as u64;
        if whole as f64 != *count {
            into.push(REAL);
            put(into, step);
            into.extend(count.to_le_bytes());
        } else if whole > REPEATS_MAX {
            into.push(WHOLE);
            put(into, step);
            put(into, whole);
        } else {
            match u8::try_from(step) {
                Ok(step) if step < STEP_END => into.push(step),
                _ => {
                    into.push(FAR);
                    put(into, step);
                }
            }
            into.extend((1..whole).map(|_| 0));
        }
    }
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// Encodes whole numbers in fewer bytes.
fn put_real(into: &mut Vec<u8>, value: f64) {
    const WHOLE_MAX: f64 = 9.0e15;
    let whole = value as i64;
    if whole as f64 == value && value.abs() < WHOLE_MAX && (value != 0.0 || value.is_sign_positive()) {
        put(into, zigzag(whole) << 1);
    } else {
        put(into, 1);
        into.extend(value.to_le_bytes());
    }
}

fn real(reader: &mut Reader<'_>) -> Option<f64> {
    match reader.number()? {
        1 => reader.double(),
        code => Some(((code >> 2) as i64 ^ -((code >> 1 & 1) as i64)) as f64),
    }
}

/// The columns of a chunk. Keys and starts are decoded, other columns on demand. Methods return `None` when the bytes
/// are not a valid chunk.
#[derive(Debug)]
pub struct Chunk<'a> {
    /// The key of each cell.
    pub keys: Vec<u32>,
    /// Start of each cell's time bucket, nanoseconds since the epoch.
    pub starts: Vec<i64>,
    columns: Vec<&'a [u8]>,
}

impl<'a> Chunk<'a> {
    /// Decodes keys and starts. `width`: the width of time buckets in nanoseconds.
    pub fn decode(bytes: &'a [u8], spec: &Spec, width: i64) -> Option<Chunk<'a>> {
        let mut reader = Reader { bytes };
        let cells = reader.count()?;
        let lengths: Vec<usize> =
            (0..FIRST_SUM + spec.sums.len() + 2).map(|_| reader.count()).collect::<Option<_>>()?;
        let columns: Vec<&[u8]> = lengths.into_iter().map(|length| reader.take(length)).collect::<Option<_>>()?;
        let mut places = Reader { bytes: columns[PLACES] };
        let (mut keys, mut starts) = (Vec::with_capacity(cells), Vec::with_capacity(cells));
        let (mut key, mut start) = (0_i64, 0_i64);
        for _ in 0..cells {
            key = key.checked_add(places.signed()?)?;
            start = start.checked_add(places.signed()?)?;
            keys.push(u32::try_from(key).ok()?);
            starts.push(start.checked_mul(width)?);
        }
        Some(Chunk { keys, starts, columns })
    }

    /// The number of rows of each cell.
    pub fn rows(&self) -> Option<Vec<u64>> {
        self.each(ROWS, Reader::number)
    }

    /// The weight of each cell.
    pub fn weights(&self) -> Option<Vec<f64>> {
        let mut rows = Reader { bytes: self.columns[ROWS] };
        self.each(WEIGHTS, |reader| {
            let rows = rows.number()?;
            match reader.number()? {
                0 => Some(rows as f64),
                _ => reader.double(),
            }
        })
    }

    /// The greatest time of each cell.
    pub fn latest(&self) -> Option<Vec<i64>> {
        let mut starts = self.starts.iter();
        self.each(LATEST, |reader| starts.next()?.checked_add_unsigned(reader.number()?))
    }

    /// The smallest time of each cell.
    pub fn earliest(&self) -> Option<Vec<i64>> {
        let mut starts = self.starts.iter();
        self.each(EARLIEST, |reader| starts.next()?.checked_add_unsigned(reader.number()?))
    }

    /// The value of each cell's latest row.
    pub fn latest_values(&self) -> Option<&'a [[u8; 16]]> {
        let (values, rest) = self.columns[LATEST_VALUES].as_chunks();
        (rest.is_empty() && values.len() == self.keys.len()).then_some(values)
    }

    /// The sum with index `sum` in [`Spec::sums`], of each cell.
    pub fn sums(&self, sum: usize) -> Option<Vec<f64>> {
        self.each(FIRST_SUM + sum, real)
    }

    /// The sketches of all cells.
    pub fn sketches(&self) -> Option<Sketches<'a>> {
        let bytes = self.columns[self.columns.len() - 1];
        let mut end = 0;
        let ends = self.each(self.columns.len() - 2, |reader| {
            end += reader.count_below(bytes.len() - end)?;
            Some(end)
        })?;
        Some(Sketches { bytes, ends })
    }

    fn each<T>(&self, column: usize, mut read: impl FnMut(&mut Reader<'a>) -> Option<T>) -> Option<Vec<T>> {
        let mut reader = Reader { bytes: self.columns[column] };
        self.keys.iter().map(|_| read(&mut reader)).collect()
    }
}

/// The sketches of a chunk's cells, still encoded.
#[derive(Debug)]
pub struct Sketches<'a> {
    bytes: &'a [u8],
    ends: Vec<usize>,
}

impl Sketches<'_> {
    /// Visits the buckets of a cell in ascending order; a bucket may be visited several times.
    pub fn each(&self, cell: usize, mut visit: impl FnMut(i16, f64)) -> Option<()> {
        let mut reader = Reader { bytes: self.of(cell) };
        if reader.bytes.is_empty() {
            return Some(());
        }
        let mut bucket = reader.signed()? as i16;
        while let Some((step, count)) = next_count(&mut reader)? {
            bucket = bucket.wrapping_add(step as i16);
            visit(bucket, count);
        }
        Some(())
    }

    /// Adds the buckets of a cell to `sketch`. This is the innermost loop of quantiles over roll-ups.
    pub fn add_to(&self, cell: usize, sketch: &mut Sketch) -> Option<()> {
        let mut reader = Reader { bytes: self.of(cell) };
        if reader.bytes.is_empty() {
            return Some(());
        }
        let mut bucket = reader.signed()? as i16;
        loop {
            // Nearly every byte is a step to a bucket with count one.
            let taken = sketch.add_ones(&mut bucket, reader.bytes, STEP_END);
            reader.bytes = &reader.bytes[taken..];
            match next_count(&mut reader)? {
                Some((step, count)) => {
                    bucket = bucket.wrapping_add(step as i16);
                    sketch.add_bucket(bucket, count);
                }
                None => return Some(()),
            }
        }
    }

    fn of(&self, cell: usize) -> &[u8] {
        let start = if cell == 0 { 0 } else { self.ends[cell - 1] };
        &self.bytes[start..self.ends[cell]]
    }
}

/// Reads the step to the next bucket and its count; `Some(None)` at the end.
#[inline]
fn next_count(reader: &mut Reader<'_>) -> Option<Option<(u64, f64)>> {
    let Some((&code, rest)) = reader.bytes.split_first() else { return Some(None) };
    reader.bytes = rest;
    if code < STEP_END {
        return Some(Some((u64::from(code), 1.0)));
    }
    let step = reader.number()?;
    let count = match code {
        FAR => 1.0,
        WHOLE => reader.number()? as f64,
        REAL => reader.double()?,
        _ => return None,
    };
    Some(Some((step, count)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use tidewatch_domain::units::MINUTE_NS;
    use tidewatch_store::tables::Table;

    fn cells() -> impl Strategy<Value = Vec<(u32, Cell)>> {
        let real = prop_oneof![Just(0.0), any::<i32>().prop_map(f64::from), -1e300..1e300, Just(-0.0), Just(9.1e15)];
        let count = prop_oneof![Just(1.0), (1..1000_u16).prop_map(f64::from), 1.0..9.0];
        let buckets = prop::collection::btree_map(-4032..4033_i16, count, 0..9);
        let cell = (0..9_u32, -9..9_i64, 1..9_u64, prop_oneof![Just(None), (1.0..99.0).prop_map(Some)]);
        let cell = (cell, prop::array::uniform5(real), 0..MINUTE_NS, buckets);
        let cell = cell.prop_map(|((key, minute, rows, weight), mut sums, latest, buckets)| {
            sums[1..].fill(0.0);
            let (earliest, latest_value) = (0, [0; 16]);
            let start = minute * MINUTE_NS;
            let weight = weight.unwrap_or(rows as f64);
            let buckets = buckets.into_iter().collect();
            (key, Cell { start, rows, weight, sums, latest: start + latest, earliest, latest_value, buckets })
        });
        prop::collection::vec(cell, 0..20)
    }

    proptest! {
        #[test]
        fn written_cells_are_read_back(cells in cells()) {
            let spec = Spec::of(Table::Endpoints).unwrap();
            let mut writer = ChunkWriter::new(spec, MINUTE_NS);
            cells.iter().for_each(|(key, cell)| writer.write(*key, cell));
            let mut bytes = Vec::new();
            writer.finish(&mut bytes);
            let chunk = Chunk::decode(&bytes, spec, MINUTE_NS).unwrap();
            let (rows, weights, latest) = (chunk.rows().unwrap(), chunk.weights().unwrap(), chunk.latest().unwrap());
            let (sums, sketches) = (chunk.sums(0).unwrap(), chunk.sketches().unwrap());
            prop_assert_eq!(chunk.keys.len(), cells.len());
            for (at, (key, cell)) in cells.iter().enumerate() {
                let mut buckets = Vec::new();
                sketches
                    .each(at, |bucket, count| match buckets.last_mut() {
                        Some((last, sum)) if *last == bucket => *sum += count,
                        _ => buckets.push((bucket, count)),
                    })
                    .unwrap();
                let mut sketch = Sketch::default();
                sketches.add_to(at, &mut sketch).unwrap();
                prop_assert_eq!(sketch.buckets(), buckets.clone());
                let mut back = Cell { start: chunk.starts[at], rows: rows[at], weight: weights[at], ..Cell::default() };
                (back.latest, back.sums[0], back.buckets) = (latest[at], sums[at], buckets);
                prop_assert_eq!((chunk.keys[at], &back), (*key, cell));
                prop_assert_eq!(back.sums[0].to_bits(), cell.sums[0].to_bits());
            }
        }

        #[test]
        fn earliest_and_latest_are_read_back(cells in prop::collection::vec((0..MINUTE_NS, 0..MINUTE_NS, any::<[u8; 16]>()), 0..9)) {
            let spec = Spec::of(Table::Exceptions).unwrap();
            let mut writer = ChunkWriter::new(spec, MINUTE_NS);
            for (earliest, latest, latest_value) in &cells {
                writer.write(1, &Cell {
                    start: 5 * MINUTE_NS,
                    earliest: 5 * MINUTE_NS + earliest,
                    latest: 5 * MINUTE_NS + latest,
                    latest_value: *latest_value,
                    ..Cell::default()
                });
            }
            let mut bytes = Vec::new();
            writer.finish(&mut bytes);
            let chunk = Chunk::decode(&bytes, spec, MINUTE_NS).unwrap();
            let (earliest, latest) = (chunk.earliest().unwrap(), chunk.latest().unwrap());
            let values = chunk.latest_values().unwrap();
            let back: Vec<_> = (0..cells.len())
                .map(|at| (earliest[at] - 5 * MINUTE_NS, latest[at] - 5 * MINUTE_NS, values[at]))
                .collect();
            prop_assert_eq!(back, cells);
        }

        #[test]
        fn arbitrary_bytes_are_decoded_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let spec = Spec::of(Table::AiTraces).unwrap();
            let Some(chunk) = Chunk::decode(&bytes, spec, MINUTE_NS) else { return Ok(()) };
            let _ = (chunk.rows(), chunk.weights(), chunk.latest(), chunk.earliest(), chunk.latest_values());
            let _ = chunk.sums(4);
            if let Some(sketches) = chunk.sketches() {
                let mut sketch = Sketch::default();
                let cells = 0..chunk.keys.len();
                let _: Vec<_> =
                    cells.map(|cell| (sketches.each(cell, |_, _| {}), sketches.add_to(cell, &mut sketch))).collect();
            }
        }
    }
}
