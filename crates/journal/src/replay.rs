//! Replays the records after a position and reports missing and damaged ranges.
//!
//! A segment's header records where the durable records before it end. Every segment but the last therefore has a known
//! end, a missing file is detected, and only the last segment can have a torn tail.

use crate::disk::{Disk, DiskFile};
use crate::reader::{self, Hole, Scan, ScanError, Sealed};
use crate::segment::{self, HEADER_BYTES, Header, HeaderError};
use crate::segments::{Segment, is_spare};
use crate::writer::UNNAMED;
use crate::{OpenError, Options, Position};
use std::error::Error;
use std::path::{Path, PathBuf};

/// The result of a replay. Every lost record lies in `torn_tail` or `corrupt`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplayReport {
    /// Records replayed.
    pub records: u64,
    /// Payload bytes replayed.
    pub bytes: u64,
    /// A partial last write: normal after a crash, and never reported as durable.
    pub torn_tail: Option<TornTail>,
    /// Damaged or missing ranges that had been durable, by position.
    pub corrupt: Vec<CorruptRange>,
}

/// A partial last write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TornTail {
    /// The last segment.
    pub segment: PathBuf,
    /// Start of the first invalid byte.
    pub from: Position,
    /// End of the written bytes, as far as they can be detected.
    pub to: Position,
}

/// A damaged or missing range that had been durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorruptRange {
    /// The segment; `None` when the file is missing.
    pub segment: Option<PathBuf>,
    /// Start of the range.
    pub from: Position,
    /// End of the range, exclusive.
    pub to: Position,
    /// Cause, for the operator.
    pub why: String,
}

/// The state from which the writer continues.
pub(crate) struct Replayed {
    pub report: ReplayReport,
    pub segments: Vec<Segment>,
    /// End of the last durable record.
    pub durable: Position,
    /// Greater than every position in the segments.
    pub next: Position,
    /// Start of the last segment's torn tail, at most `durable`.
    pub torn_from: Position,
}

struct Found {
    path: PathBuf,
    bytes: u64,
    base: Position,
    file: Box<dyn DiskFile>,
    /// `None` when both copies of the header are damaged.
    header: Option<Header>,
}

type Visit<'a> = dyn FnMut(Position, &[u8]) -> Result<(), Box<dyn Error + Send + Sync>> + 'a;

/// Replays every record after `from`, which is `Position(0)` or the position of a record.
pub(crate) fn replay(options: &Options, from: Position, visit: &mut Visit<'_>) -> Result<Replayed, OpenError> {
    read(find(options)?, from, visit)
}

/// Replays every record after `from` without changing anything. `dir` may be read-only; no other process may write to it.
pub fn inspect(dir: &Path, disk: &dyn Disk, from: Position, visit: &mut Visit<'_>) -> Result<ReplayReport, OpenError> {
    let listed = disk.list(dir).map_err(OpenError::io("list", dir))?;
    let found = listed.into_iter().filter_map(|(path, bytes)| found(disk, path, bytes).transpose());
    let mut found: Vec<Found> = found.collect::<Result<_, _>>()?;
    found.sort_by_key(|segment| segment.base);
    read(found, from, visit).map(|replayed| replayed.report)
}

fn read(found: Vec<Found>, from: Position, visit: &mut Visit<'_>) -> Result<Replayed, OpenError> {
    let mut report = ReplayReport::default();
    let mut segments = Vec::with_capacity(found.len());
    let mut durable = from;
    let mut next = from;
    let mut torn_from = None;
    let mut missing_after = Some(from);

    for (index, segment) in found.iter().enumerate() {
        let later = &found[index + 1..];
        let sealed = later
            .first()
            .and_then(|next| next.header)
            .map(|Header { sealed_at, torn_from, .. }| Sealed { at: sealed_at, torn_from });
        if let Some(Sealed { at, .. }) = sealed.filter(|sealed| sealed.at <= from.max(segment.base)) {
            segments.push(segment.listed(at));
            continue;
        }

        if let Some(after) = missing_after.take() {
            let begins = segment.header.map_or(segment.base, |header| header.sealed_at);
            if begins > after {
                report.corrupt.push(CorruptRange {
                    segment: None,
                    from: after,
                    to: begins,
                    why: format!("the segments before {} are missing", segment.path.display()),
                });
            }
        }

        let Some(header) = segment.header else {
            let end = sealed.map(|sealed| sealed.at).or(later.first().map(|next| next.base));
            let end = end.unwrap_or(segment.extent()).max(segment.base);
            report.corrupt.push(CorruptRange {
                segment: Some(segment.path.clone()),
                from: segment.base.max(from.min(end)),
                to: end,
                why: "both copies of the segment's header are damaged".into(),
            });
            segments.push(segment.listed(end));
            durable = durable.max(end);
            next = next.max(end).max(segment.extent());
            continue;
        };

        let start = from.max(segment.base);
        let scan = reader::scan(&*segment.file, header, start, sealed, |position, payload| {
            visit(position, payload).map_err(|source| OpenError::Replay { position, source })?;
            report.records += 1;
            report.bytes += payload.len() as u64;
            Ok(())
        });
        let scan = match scan {
            Ok(scan) => scan,
            Err(ScanError::Io(error)) => return Err(OpenError::io("read", &segment.path)(error)),
            Err(ScanError::Visit(error)) => return Err(error),
        };
        // The next segment's damaged header held the end of this one, so holes here count as damage, not as a torn tail.
        let end_is_lost = sealed.is_none() && !later.is_empty();
        report.add(segment, &scan, end_is_lost);
        if later.is_empty() && from > segment.extent() {
            report.corrupt.push(CorruptRange {
                segment: Some(segment.path.clone()),
                from: segment.extent(),
                to: from,
                why: "the journal ends before the position it is replayed from".into(),
            });
        }
        let torn = scan.holes.iter().find(|hole| !hole.durable).map(|hole| hole.from);
        // The last segment is empty when its first group failed. Its header then holds the end of the journal.
        let is_empty = sealed.is_none() && scan.end == segment.base;
        let (end, tear) = match (sealed, is_empty) {
            (Some(sealed), _) => (sealed.at, Some(sealed.torn_from)),
            (None, false) => (scan.end, torn),
            (None, true) => (header.sealed_at, Some(header.torn_from)),
        };
        segments.push(segment.listed(end));
        durable = durable.max(end);
        torn_from = tear;
        // The whole file counts: a damaged record may have ended with zeros, and its position must not be used again.
        next = next.max(scan.extent).max(segment.extent());
    }

    if found.is_empty() && from > Position(0) {
        let why = "the journal is empty, but was not before".into();
        report.corrupt.push(CorruptRange { segment: None, from, to: from, why });
    }
    let torn_from = torn_from.unwrap_or(durable).min(durable);
    Ok(Replayed { report, segments, durable, next, torn_from })
}

/// The segments, sorted by position. Syncs the directory and the last segment, and removes leftover files.
fn find(options: &Options) -> Result<Vec<Found>, OpenError> {
    let Options { dir, disk, .. } = options;
    let listed = disk.list(dir).map_err(OpenError::io("list", dir))?;
    let mut found = Vec::new();
    for (path, bytes) in listed {
        if path.file_name().is_some_and(|name| name == UNNAMED) || is_spare(&path) {
            disk.remove(&path).map_err(OpenError::io("remove", &path))?;
        }
        found.extend(self::found(&**disk, path, bytes)?);
    }
    found.sort_by_key(|segment| segment.base);
    // A killed process may have left them in the page cache only. Replayed records must be durable.
    if let Some(last) = found.last() {
        last.file.sync_data().map_err(OpenError::io("sync", &last.path))?;
    }
    disk.sync_dir(dir).map_err(OpenError::io("sync", dir))?;
    Ok(found)
}

/// Opens a segment; `None` for any other file.
fn found(disk: &dyn Disk, path: PathBuf, bytes: u64) -> Result<Option<Found>, OpenError> {
    let Some(base) = segment::base_of(&path) else { return Ok(None) };
    let file = disk.open(&path).map_err(OpenError::io("open", &path))?;
    let known = segment::VERSION;
    let header =
        read_header(&*file, base).map_err(|version| OpenError::Version { path: path.clone(), version, known })?;
    Ok(Some(Found { path, bytes, base, file, header }))
}

/// Segments with one damaged copy of the header, or with stray bytes in the header block. They are still replayed, but
/// damage to the other copy would lose the segment.
pub fn header_damage(dir: &Path, disk: &dyn Disk) -> Result<Vec<PathBuf>, OpenError> {
    let mut damaged = Vec::new();
    for (path, bytes) in disk.list(dir).map_err(OpenError::io("list", dir))? {
        let Some(segment) = found(disk, path, bytes)? else { continue };
        let mut block = vec![0; HEADER_BYTES as usize];
        let read = segment.file.read_at(&mut block, 0).map_err(OpenError::io("read", &segment.path))?;
        if segment.header.is_some_and(|header| header.encode() != block[..read]) {
            damaged.push(segment.path);
        }
    }
    Ok(damaged)
}

/// The header of the segment at `base`; `None` when it is damaged. The error is an unknown format version.
pub(crate) fn read_header(file: &dyn DiskFile, base: Position) -> Result<Option<Header>, u32> {
    let mut block = vec![0; HEADER_BYTES as usize];
    // One retry, because an unreadable header loses the whole segment.
    let read = file.read_at(&mut block, 0).or_else(|_| file.read_at(&mut block, 0)).unwrap_or(0);
    match Header::decode(&block[..read]) {
        Ok(header) if header.base == base => Ok(Some(header)),
        Ok(_) | Err(HeaderError::Damaged) => Ok(None),
        Err(HeaderError::Version(version)) => Err(version),
    }
}

impl Found {
    /// Position of the end of the file.
    fn extent(&self) -> Position {
        Position(self.base.0 + self.bytes.saturating_sub(HEADER_BYTES))
    }

    fn listed(&self, end: Position) -> Segment {
        Segment { path: self.path.clone(), end: Some(end), bytes: self.bytes }
    }
}

impl ReplayReport {
    /// Whether no durable record is damaged or missing. A torn tail is not damage.
    pub fn is_intact(&self) -> bool {
        self.corrupt.is_empty()
    }

    fn add(&mut self, segment: &Found, scan: &Scan, end_is_lost: bool) {
        let why = match &scan.read_error {
            Some(error) => format!("cannot be read: {error}"),
            None => "no record fits here".into(),
        };
        for &Hole { from, to, durable } in &scan.holes {
            if durable || end_is_lost {
                let segment = Some(segment.path.clone());
                self.corrupt.push(CorruptRange { segment, from, to, why: why.clone() });
            } else {
                let tail = self.torn_tail.get_or_insert(TornTail { segment: segment.path.clone(), from, to });
                tail.to = to;
            }
        }
    }
}
