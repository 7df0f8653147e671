//! Frequent attributes in separate columns.
//!
//! A part may have, after its table's columns, extra nullable columns `attributes.<key>` and `resource.<key>` of text
//! or I64. A row's value is either in the extra column or in the encoded column, never in both. [`AttrColumns`] lists
//! the extra columns of a part and restores the encoded columns byte for byte ([`AttrColumns::fold`]).
//!
//! - `choose` chooses the keys from a sample of the rows; `split` splits encoded columns when a part is written; `rows`
//!   splits one column.
//! - `pairs` iterates over encoded attributes without decoding them; `look_up` maps a key to its column; `values`
//!   builds an extra column.
//!
//! Folding is exact because attributes are stored sorted by key (see `columns`). Unsorted rows, repeated keys and
//! values of another type stay in the encoded column.

mod choose;
mod fold;
mod look_up;
mod pairs;
mod rows;
mod split;
mod values;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::DataType;
use parquet::arrow::arrow_reader::ArrowReaderMetadata;

pub use choose::choose;
pub use split::Splitter;

/// The encoded columns that are split.
const ENCODED: [&str; 2] = ["attributes", "resource"];

/// Metadata key. Value: numbers of the extra columns whose key some row still has in the encoded column, joined by `,`.
pub const INCOMPLETE: &str = "tidewatch.incomplete_attribute_columns";

/// Extra columns per encoded column after merging parts with different extra columns.
const MERGED_MAX: usize = 48;

/// Rows sampled from each batch or row group to choose keys.
pub const SAMPLE_ROWS: usize = 256;

/// At most [`SAMPLE_ROWS`] row numbers below `count`, ascending, spread at irregular distances. At regular distances
/// the sample could hit the same span of every trace.
pub fn sample_rows(count: usize) -> Vec<u32> {
    let step = count.div_ceil(SAMPLE_ROWS).max(1);
    let aside = |first: usize| (first as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
    let row = |first: usize| first + aside(first) as usize % step.min(count - first);
    (0..count).step_by(step).map(|first| row(first) as u32).collect()
}

/// The batch reduced to the encoded columns that are split.
pub fn encoded(batch: &RecordBatch) -> RecordBatch {
    let columns: Vec<usize> = ENCODED.iter().filter_map(|name| batch.schema_ref().index_of(name).ok()).collect();
    batch.project(&columns).expect("the batch has these columns")
}

/// One extra column to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttrKey {
    /// `attributes` or `resource`.
    pub encoded: &'static str,
    /// The attribute's key.
    pub key: String,
    /// The column has I64 values; otherwise text.
    pub is_int: bool,
}

impl AttrKey {
    /// The column's name in the file.
    pub fn column(&self) -> String {
        format!("{}.{}", self.encoded, self.key)
    }
}

/// One extra column of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttrColumn {
    /// The column's name in the file.
    pub name: String,
    /// The encoded column that its values were split from.
    pub encoded: &'static str,
    /// The attribute's key.
    pub key: String,
    /// The column has I64 values; otherwise text.
    pub is_int: bool,
    /// No row of the part has the key in the encoded column: a null here means that the attribute is absent.
    pub complete: bool,
}

/// The extra columns of one part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AttrColumns {
    /// In file order: by encoded column, then key.
    columns: Vec<AttrColumn>,
}

impl AttrColumns {
    /// The extra columns in the schema of a part's file.
    pub fn of(metadata: &ArrowReaderMetadata) -> AttrColumns {
        let file = metadata.metadata().file_metadata();
        let pairs = file.key_value_metadata().into_iter().flatten();
        let incomplete = pairs.filter(|pair| pair.key == INCOMPLETE).find_map(|pair| pair.value.as_deref());
        let incomplete: Vec<usize> =
            incomplete.unwrap_or("").split(',').filter_map(|number| number.parse().ok()).collect();
        let names = metadata.schema().fields().iter().map(|field| field.name().as_str());
        let extra = names.filter_map(|name| {
            ENCODED.iter().find_map(|encoded| Some((name, *encoded, name.strip_prefix(encoded)?.strip_prefix('.')?)))
        });
        let is_int =
            |name: &str| metadata.schema().field_with_name(name).is_ok_and(|f| *f.data_type() == DataType::Int64);
        let column = |(number, (name, encoded, key)): (usize, (&str, &'static str, &str))| AttrColumn {
            name: name.to_owned(),
            encoded,
            key: key.to_owned(),
            is_int: is_int(name),
            complete: !incomplete.contains(&number),
        };
        AttrColumns { columns: extra.enumerate().map(column).collect() }
    }

    /// The extra columns of the part that parts with `all` are merged into, and for each whether it is incomplete: a
    /// part without the column may have the attribute in the encoded column. `None` when a part has no extra columns,
    /// types differ, or there would be too many columns: the attributes of such parts are split again.
    pub fn merged(all: &[Arc<AttrColumns>]) -> Option<(Vec<AttrKey>, Vec<bool>)> {
        let key = |c: &AttrColumn| AttrKey { encoded: c.encoded, key: c.key.clone(), is_int: c.is_int };
        let mut keys: Vec<AttrKey> = all.iter().flat_map(|columns| columns.columns.iter().map(key)).collect();
        keys.sort_by(|a, b| (a.encoded, &a.key, a.is_int).cmp(&(b.encoded, &b.key, b.is_int)));
        keys.dedup();
        let is_twice = |pair: &[AttrKey]| pair[0].encoded == pair[1].encoded && pair[0].key == pair[1].key;
        let counts = ENCODED.map(|encoded| keys.iter().filter(|key| key.encoded == encoded).count());
        let is_fit = !all.iter().any(|columns| columns.is_empty())
            && !keys.windows(2).any(is_twice)
            && counts.iter().all(|count| *count <= MERGED_MAX);
        let is_complete = |key: &AttrKey| {
            let mut own = all.iter().map(|columns| columns.find(key.encoded, &key.key));
            own.all(|column| column.is_some_and(|column| column.complete))
        };
        let incomplete = keys.iter().map(|key| !is_complete(key)).collect();
        (is_fit && !keys.is_empty()).then_some((keys, incomplete))
    }

    /// The index of each key among the extra columns; `None` when the keys are exactly the extra columns. `keys`
    /// includes all extra columns.
    pub fn places(&self, keys: &[AttrKey]) -> Option<Vec<Option<usize>>> {
        let place = |key: &AttrKey| {
            self.columns.iter().position(|column| column.encoded == key.encoded && column.key == key.key)
        };
        (keys.len() != self.columns.len()).then(|| keys.iter().map(place).collect())
    }

    /// Whether the part has no extra columns.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Whether the column is an encoded column that is split, or an extra column.
    pub fn is_encoded_or_extra(&self, name: &str) -> bool {
        ENCODED.contains(&name) || self.columns.iter().any(|column| column.name == name)
    }

    /// The extra column of an attribute; `None` when it has none.
    pub fn find(&self, encoded: &str, key: &str) -> Option<&AttrColumn> {
        self.columns.iter().find(|column| column.encoded == encoded && column.key == key)
    }

    /// The extra columns of an encoded column, which are read with it and folded.
    pub fn of_column(&self, encoded: &str) -> impl Iterator<Item = &AttrColumn> {
        self.columns.iter().filter(move |column| column.encoded == encoded)
    }
}
