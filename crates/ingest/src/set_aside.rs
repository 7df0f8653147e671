//! Journal records that cannot be used are copied to `lost/journal/` before the journal is trimmed.
//!
//! ```text
//! <position>.record     one record as it was appended: header and body (`record`)
//! <position>.records    several, each as position u64, length u32, record. Little-endian
//! <position>.damaged    bytes of a segment in which no record fits
//! ```

use std::path::{Path, PathBuf};

use tidewatch_journal::{CorruptRange, Options, Position, read_damaged, read_records};
use tidewatch_store::{LostFiles, StoreError};

use tidewatch_limits::LOST_FILE_BYTES;

/// Reasons for setting data aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// A record that cannot be decoded.
    Undecodable,
    /// A record whose rows panic, when they are made or when they are applied.
    Panicked,
    /// A range of the journal that is damaged or missing.
    Damaged,
    /// Rows in memory that cannot be written as parts.
    Unencodable,
}

impl Reason {
    /// Every reason.
    pub const ALL: [Reason; 4] = [Reason::Undecodable, Reason::Panicked, Reason::Damaged, Reason::Unencodable];

    /// The name in metrics and log lines.
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::Undecodable => "undecodable",
            Reason::Panicked => "panicked",
            Reason::Damaged => "damaged",
            Reason::Unencodable => "unencodable",
        }
    }
}

/// Copies one record. Returns the path of the copy.
pub fn record(lost: &dyn LostFiles, position: Position, record: &[u8], today: i32) -> Result<PathBuf, StoreError> {
    lost.keep(&name(position, "record"), record, today)
}

/// Copies every record of `from < position <= to`.
pub fn records(
    lost: &dyn LostFiles,
    journal: &Options,
    from: Position,
    to: Position,
    today: i32,
) -> Result<(), StoreError> {
    let (mut first, mut gathered, mut failed) = (None, Vec::new(), None);
    let keep = |first: &mut Option<Position>, gathered: &mut Vec<u8>| match first.take() {
        Some(first) => lost.keep(&name(first, "records"), &std::mem::take(gathered), today).map(drop),
        None => Ok(()),
    };
    let read = read_records(journal, from, to, |position, record| {
        let length = u32::try_from(record.len()).expect("the journal bounds its records");
        first.get_or_insert(position);
        gathered.extend_from_slice(&position.0.to_le_bytes());
        gathered.extend_from_slice(&length.to_le_bytes());
        gathered.extend_from_slice(record);
        if gathered.len() < LOST_FILE_BYTES {
            return Ok(());
        }
        keep(&mut first, &mut gathered).map_err(|error| {
            failed = Some(error);
            std::io::ErrorKind::Other.into()
        })
    });
    match (read, failed) {
        (_, Some(error)) => Err(error),
        (Err(error), None) => Err(StoreError::io("read", &journal.dir, error)),
        (Ok(()), None) => keep(&mut first, &mut gathered),
    }
}

/// Copies the bytes of a damaged range; no bytes when its file is missing.
pub fn damaged(lost: &dyn LostFiles, journal: &Options, range: &CorruptRange, today: i32) -> Result<(), StoreError> {
    let (mut at, mut gathered, mut failed) = (range.from, Vec::new(), None);
    let keep = |at: &mut Position, gathered: &mut Vec<u8>| {
        let kept = lost.keep(&name(*at, "damaged"), gathered, today).map(drop);
        at.0 += gathered.len() as u64;
        gathered.clear();
        kept
    };
    let read = read_damaged(&*journal.disk, range, |piece| {
        gathered.extend_from_slice(piece);
        if gathered.len() < LOST_FILE_BYTES {
            return Ok(());
        }
        keep(&mut at, &mut gathered).map_err(|error| {
            failed = Some(error);
            std::io::ErrorKind::Other.into()
        })
    });
    match (read, failed) {
        (_, Some(error)) => Err(error),
        (Err(error), None) => Err(StoreError::io("read", &journal.dir, error)),
        (Ok(()), None) if gathered.is_empty() => Ok(()),
        (Ok(()), None) => keep(&mut at, &mut gathered),
    }
}

fn name(position: Position, kind: &str) -> PathBuf {
    Path::new("journal").join(format!("{:020}.{kind}", position.0))
}
