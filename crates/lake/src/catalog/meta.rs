//! The `meta` table: positions, counters, and the checksums of the other tables.
//!
//! Every transaction writes all of it. SQLite's pages have no checksum, and a flipped bit in a page's cell count makes
//! rows disappear without an error; these checksums detect that before any decision is based on the lists.

use rusqlite::{Connection, Transaction};
use xxhash_rust::xxh3::xxh3_64;

/// The contribution of one listed file to a [`Sum`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Number of rows of a part, or of keys of a key file.
    pub rows: u64,
    /// XXH3 of every column.
    pub hash: u64,
}

/// A checksum of listed files, independent of their order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sum {
    pub count: u64,
    pub rows: u64,
    xor: u64,
}

impl Sum {
    pub fn add(&mut self, entry: Entry) {
        self.count = self.count.wrapping_add(1);
        self.rows = self.rows.wrapping_add(entry.rows);
        self.xor ^= entry.hash;
    }

    pub fn remove(&mut self, entry: Entry) {
        self.count = self.count.wrapping_sub(1);
        self.rows = self.rows.wrapping_sub(entry.rows);
        self.xor ^= entry.hash;
    }

    pub fn of(entries: impl IntoIterator<Item = Entry>) -> Sum {
        let mut sum = Sum::default();
        entries.into_iter().for_each(|entry| sum.add(entry));
        sum
    }
}

/// The `meta` table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Meta {
    /// The journal position that the parts cover.
    pub covered: u64,
    /// No file has this id or a higher one; lower ids are never reused.
    pub next_id: u64,
    /// The highest project number that any row has ever had.
    pub highest_project: u64,
    /// Number of transactions: tells whether a failed COMMIT was committed.
    pub commits: u64,
    pub parts: Sum,
    pub dedup: Sum,
}

const COUNT: usize = 10;
const KEYS: [&str; COUNT] = [
    "covered",
    "next_id",
    "highest_project",
    "commits",
    "parts_count",
    "parts_rows",
    "parts_xor",
    "seen_count",
    "seen_keys",
    "seen_xor",
];
/// The key of the checksum of these values.
const CHECKSUM: &str = "checksum";

impl Meta {
    fn values(&self) -> [u64; COUNT] {
        let Meta { covered, next_id, highest_project, commits, parts, dedup } = *self;
        [
            covered,
            next_id,
            highest_project,
            commits,
            parts.count,
            parts.rows,
            parts.xor,
            dedup.count,
            dedup.rows,
            dedup.xor,
        ]
    }

    fn of(values: [u64; COUNT]) -> Meta {
        let [covered, next_id, highest_project, commits, parts @ .., dedup_count, dedup_keys, dedup_xor] = values;
        let sum = |[count, rows, xor]: [u64; 3]| Sum { count, rows, xor };
        let dedup = sum([dedup_count, dedup_keys, dedup_xor]);
        Meta { covered, next_id, highest_project, commits, parts: sum(parts), dedup }
    }

    fn checksum(&self) -> u64 {
        xxh3_64(self.values().map(u64::to_le_bytes).as_flattened())
    }

    /// `None` when a value is missing or the checksum does not match.
    pub fn read(connection: &Connection) -> rusqlite::Result<Option<Meta>> {
        let mut values = [0; COUNT];
        for (key, value) in KEYS.into_iter().zip(&mut values) {
            let Some(found) = value_of(connection, key)? else { return Ok(None) };
            *value = found;
        }
        let meta = Meta::of(values);
        Ok((value_of(connection, CHECKSUM)? == Some(meta.checksum())).then_some(meta))
    }

    pub fn write(&self, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        let mut statement = transaction.prepare_cached("INSERT OR REPLACE INTO meta VALUES (?1, ?2)")?;
        for (key, value) in KEYS.into_iter().zip(self.values()).chain([(CHECKSUM, self.checksum())]) {
            statement.execute((key, value as i64))?;
        }
        Ok(())
    }

    /// `covered`, the only value of the table before version 4.
    pub fn covered_before_4(connection: &Connection) -> rusqlite::Result<u64> {
        Ok(value_of(connection, KEYS[0])?.unwrap_or(0))
    }
}

fn value_of(connection: &Connection, key: &str) -> rusqlite::Result<Option<u64>> {
    let mut statement = connection.prepare_cached("SELECT value FROM meta WHERE key = ?1")?;
    match statement.query_row([key], |row| row.get::<_, i64>(0)) {
        Ok(value) => Ok(Some(value as u64)),
        Err(rusqlite::Error::QueryReturnedNoRows) => Ok(None),
        Err(error) => Err(error),
    }
}
