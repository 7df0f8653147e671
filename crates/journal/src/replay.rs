//! Opening: which segments there are, which of them hold records after the caller's position, and what is missing.
//!
//! The header of a segment says where the durable records before it end, so every segment but the last has a known
//! end, and a missing file is noticed. Only the last one can have a torn tail.

use crate::disk::{Disk, DiskFile};
use crate::reader::{self, Hole, Scan, ScanError, Sealed};
use crate::segment::{self, HEADER_BYTES, Header, HeaderError};
use crate::segments::{Segment, is_spare};
use crate::writer::UNNAMED;
use crate::{OpenError, Options, Position};
use std::error::Error;
use std::path::{Path, PathBuf};

/// What opening found. Damage is never silent: a record that is gone lies in `torn_tail` or in `corrupt`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplayReport {
    /// Records replayed.
    pub records: u64,
    /// Payload bytes replayed.
    pub bytes: u64,
    /// The last write before the end was cut short: normal after a crash, and never settled as durable.
    pub torn_tail: Option<TornTail>,
    /// Damage to what was durable once, by position.
    pub corrupt: Vec<CorruptRange>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TornTail {
    pub segment: PathBuf,
    pub from: Position,
    pub to: Position,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorruptRange {
    /// `None` when the file itself is missing.
    pub segment: Option<PathBuf>,
    pub from: Position,
    pub to: Position,
    pub why: String,
}

/// What the writer goes on from.
pub(crate) struct Replayed {
    pub report: ReplayReport,
    pub segments: Vec<Segment>,
    /// End of the last durable record.
    pub durable: Position,
    /// Past everything that may be found in the segments.
    pub next: Position,
    /// Where the torn tail of the last segment begins; `durable` when there is none before it.
    pub torn_from: Position,
}

struct Found {
    path: PathBuf,
    bytes: u64,
    base: Position,
    file: Box<dyn DiskFile>,
    /// `None` when both copies are damaged.
    header: Option<Header>,
}

type Visit<'a> = dyn FnMut(Position, &[u8]) -> Result<(), Box<dyn Error + Send + Sync>> + 'a;

/// Reads every record after `from`, which is `Position(0)` or the position of a record.
pub(crate) fn replay(options: &Options, from: Position, visit: &mut Visit<'_>) -> Result<Replayed, OpenError> {
    read(find(options)?, from, visit)
}

/// Reads every record after `from` and changes nothing: `dir` need not be writable, and nobody else may write to it.
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
        // The end of this one went with the header of the next: then no hole in it can be called a torn tail.
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
        // The last one may hold nothing (its first group failed): then all ends where it says the one before ends.
        let is_empty = sealed.is_none() && scan.end == segment.base;
        let (end, tear) = match (sealed, is_empty) {
            (Some(sealed), _) => (sealed.at, Some(sealed.torn_from)),
            (None, false) => (scan.end, torn),
            (None, true) => (header.sealed_at, Some(header.torn_from)),
        };
        segments.push(segment.listed(end));
        durable = durable.max(end);
        torn_from = tear;
        // All of the file: a damaged record may have ended with zeros, and its position was given out.
        next = next.max(scan.extent).max(segment.extent());
    }

    if found.is_empty() && from > Position(0) {
        let why = "the journal is empty, but was not before".into();
        report.corrupt.push(CorruptRange { segment: None, from, to: from, why });
    }
    let torn_from = torn_from.unwrap_or(durable).min(durable);
    Ok(Replayed { report, segments, durable, next, torn_from })
}

/// The segments in order of position; everything in the directory made durable and leftovers removed.
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
    // A killed process may have left both in the page cache only; what is replayed must stay.
    if let Some(last) = found.last() {
        last.file.sync_data().map_err(OpenError::io("sync", &last.path))?;
    }
    disk.sync_dir(dir).map_err(OpenError::io("sync", dir))?;
    Ok(found)
}

/// `None`: the file is no segment.
fn found(disk: &dyn Disk, path: PathBuf, bytes: u64) -> Result<Option<Found>, OpenError> {
    let Some(base) = segment::base_of(&path) else { return Ok(None) };
    let file = disk.open(&path).map_err(OpenError::io("open", &path))?;
    let known = segment::VERSION;
    let header =
        read_header(&*file, base).map_err(|version| OpenError::Version { path: path.clone(), version, known })?;
    Ok(Some(Found { path, bytes, base, file, header }))
}

/// Segments whose header is whole in one copy only, or has stray bytes beside it. A replay reads them; one more damaged
/// byte may cost the segment.
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

/// `Err` is the version of a format this program does not know.
pub(crate) fn read_header(file: &dyn DiskFile, base: Position) -> Result<Option<Header>, u32> {
    let mut block = vec![0; HEADER_BYTES as usize];
    // Tried again once: an unreadable header costs the whole segment.
    let read = file.read_at(&mut block, 0).or_else(|_| file.read_at(&mut block, 0)).unwrap_or(0);
    match Header::decode(&block[..read]) {
        Ok(header) if header.base == base => Ok(Some(header)),
        Ok(_) | Err(HeaderError::Damaged) => Ok(None),
        Err(HeaderError::Version(version)) => Err(version),
    }
}

impl Found {
    /// The position after the last byte of the file.
    fn extent(&self) -> Position {
        Position(self.base.0 + self.bytes.saturating_sub(HEADER_BYTES))
    }

    fn listed(&self, end: Position) -> Segment {
        Segment { path: self.path.clone(), end: Some(end), bytes: self.bytes }
    }
}

impl ReplayReport {
    /// True when nothing that was durable is damaged or missing. A torn tail is no damage.
    pub fn is_whole(&self) -> bool {
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
