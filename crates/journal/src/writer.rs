//! Writes groups of records into the active segment and syncs them.
//!
//! A segment belongs to one process run. After a failed write or sync it is sealed at its last durable record; the next
//! group starts a new segment, whose header records where the old one ends. Segments are created lazily by the first
//! group that needs one, so the server starts on a full disk and recovers once space returns. A segment is renamed to
//! its final name only after its header is durable. Zeros are written ahead of the records, so that most syncs do not
//! change the file size.

use crate::disk::DiskFile;
use crate::reader::Sealed;
use crate::segment::{self, END_MARK, HEADER_BYTES, Header, RECORD_HEADER_BYTES, RecordHeader};
use crate::segments::{Segment, Segments, Spare};
use crate::{AppendError, Options, Position};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use tracing::{error, warn};

/// File name of a segment whose header is not durable yet. Removed when the journal is opened.
pub(crate) const UNNAMED: &str = "next.tmp";

pub(crate) struct Writer {
    options: Options,
    segments: Arc<Segments>,
    active: Option<Active>,
    /// Start of the next record. Never decreases, not even after a failure.
    next: u64,
    /// The end of the journal as replay found it. Goes into the next segment's header while no record follows.
    replayed_end: Sealed,
    zeros: Vec<u8>,
}

struct Active {
    file: Box<dyn DiskFile>,
    salt: u64,
    base: u64,
    /// File offset up to which blocks are written: records, zeros or the content of a recycled file.
    filled_to: u64,
    /// File offset up to which a recycled file may hold old content.
    stale_to: u64,
}

impl Active {
    fn offset_of(&self, position: u64) -> u64 {
        HEADER_BYTES + (position - self.base)
    }

    /// Writes the end mark, so that old content is not mistaken for a damaged record.
    fn mark_end(&self, end: u64) -> io::Result<()> {
        let bytes = self.stale_to.saturating_sub(end).min(END_MARK.len() as u64);
        if bytes > 0 { self.file.write_at(&END_MARK[..bytes as usize], end) } else { Ok(()) }
    }
}

impl Writer {
    /// `next` is greater than every position in existing segments. Holes from `torn_from` to the durable position are
    /// torn writes.
    pub fn new(options: Options, segments: Arc<Segments>, next: Position, torn_from: Position) -> Writer {
        let zeros = vec![0; options.zero_ahead_bytes() as usize];
        let replayed_end = Sealed { at: segments.durable(), torn_from };
        Writer { options, segments, active: None, next: next.0, replayed_end, zeros }
    }

    /// Makes a group of records durable, all or none. Returns the start of its first record.
    ///
    /// The records of `group` have headers with `len` and `crc`; `back` and `check` are filled in.
    pub fn commit(&mut self, group: &mut [u8]) -> Result<Position, AppendError> {
        let start = self.next;
        let outcome = self.write_group(group, start);
        if let Err(error) = &outcome {
            let refused = AppendError::from(error);
            match refused {
                AppendError::NoSpace => warn!(error = %error, "journal refused {} bytes: disk full", group.len()),
                _ => error!(error = %error, "journal refused {} bytes: {error}", group.len()),
            }
            self.abandon_segment(&refused);
            return Err(refused);
        }
        self.segments.set_durable(Position(self.next));
        Ok(Position(start))
    }

    fn write_group(&mut self, group: &mut [u8], start: u64) -> io::Result<()> {
        let group_bytes = group.len() as u64;
        let fits = |active: &Active| active.offset_of(start) + group_bytes <= self.options.segment_bytes;
        let fresh = |active: &Active| active.base == start;
        if self.active.as_ref().is_some_and(|active| !fits(active) && !fresh(active)) {
            self.seal(self.options.zero_ahead_bytes() / 4);
        }
        let mut active = match self.active.take() {
            Some(active) => active,
            None => self.new_segment()?,
        };
        place(group, active.salt, start);
        // These positions may now be in the file, whatever happens next.
        self.next = start + group_bytes;
        let offset = active.offset_of(start);
        let written = active.file.write_at(group, offset);
        let written = written.and_then(|()| self.fill_ahead(&mut active, offset + group_bytes));
        let written = written.and_then(|()| active.mark_end(offset + group_bytes));
        let synced = written.and_then(|()| active.file.sync_data());
        self.active = Some(active);
        synced
    }

    /// Starts a segment in a new file, so that all earlier records can be trimmed. After a failure the next group tries
    /// again.
    pub fn rotate(&mut self) {
        self.segments.stop_recycling();
        let durable = self.segments.durable();
        match &mut self.active {
            Some(active) if durable.0 <= active.base => {
                if active.stale_to > HEADER_BYTES && active.file.set_len(HEADER_BYTES).is_ok() {
                    (active.filled_to, active.stale_to) = (HEADER_BYTES, HEADER_BYTES);
                    self.segments.change_last(|segment| segment.bytes = HEADER_BYTES);
                }
            }
            _ => {
                self.seal(0);
                self.active = self.new_segment().ok();
            }
        }
    }

    /// Whether an active segment exists or could be created.
    pub fn probe(&mut self) -> bool {
        if self.active.is_none() {
            self.active = self.new_segment().ok();
        }
        self.active.is_some()
    }

    /// Writes zeros from file offset `end`. A full disk is not an error here: the records are already written.
    fn fill_ahead(&self, active: &mut Active, end: u64) -> io::Result<()> {
        if end <= active.filled_to {
            return Ok(());
        }
        let room = self.options.segment_bytes.saturating_sub(end);
        let zeros = &self.zeros[..room.min(self.zeros.len() as u64) as usize];
        active.filled_to = match active.file.write_at(zeros, end) {
            Ok(()) => end + zeros.len() as u64,
            Err(error) if AppendError::from(&error) == AppendError::NoSpace => end,
            Err(error) => return Err(error),
        };
        let bytes = active.filled_to;
        self.segments.change_last(|segment| segment.bytes = bytes);
        Ok(())
    }

    /// Creates a segment. Its header is synced before the rename, so every segment file has a complete header.
    fn new_segment(&self) -> io::Result<Active> {
        let Options { dir, disk, .. } = &self.options;
        let durable = self.segments.durable();
        let torn_from = if durable == self.replayed_end.at { self.replayed_end.torn_from } else { durable };
        let (file, unnamed, filled_to) = self.new_file()?;
        let header = Header {
            salt: random_salt(),
            base: Position(self.next),
            sealed_at: durable,
            torn_from,
            is_recycled: filled_to > HEADER_BYTES,
        };
        let path = segment::path(dir, header.base);
        let mut head = header.encode();
        if header.is_recycled {
            head.extend(END_MARK);
        }
        let made = file.write_at(&head, 0).and_then(|()| file.sync_data());
        let named = made.and_then(|()| disk.rename(&unnamed, &path)).and_then(|()| disk.sync_dir(dir));
        if let Err(error) = named {
            // A file that remains is an empty segment, or is removed when the journal is opened.
            let _ = disk.remove(&unnamed);
            return Err(error);
        }
        self.segments.push(Segment { path, end: None, bytes: filled_to });
        Ok(Active { file, salt: header.salt, base: header.base.0, filled_to, stale_to: filled_to })
    }

    /// A file for a new segment, its temporary path, and the offset up to which its blocks are allocated. Prefers a
    /// spare: overwriting its blocks changes no metadata.
    fn new_file(&self) -> io::Result<(Box<dyn DiskFile>, PathBuf, u64)> {
        let Options { dir, disk, .. } = &self.options;
        while let Some(Spare { path, bytes }) = self.segments.take_spare() {
            if let Ok(file) = disk.open(&path) {
                return Ok((file, path, bytes.max(HEADER_BYTES)));
            }
        }
        let unnamed = dir.join(UNNAMED);
        Ok((disk.create(&unnamed)?, unnamed, HEADER_BYTES))
    }

    /// Ends the active segment, whose records are all durable. Truncates it if more than `ahead_max` bytes follow them.
    fn seal(&mut self, ahead_max: u64) {
        let Some(active) = self.active.take() else { return };
        let durable = self.segments.durable();
        let length = active.offset_of(durable.0);
        let cut = active.filled_to - length > ahead_max && active.file.set_len(length).is_ok();
        self.segments.change_last(|segment| {
            segment.end = Some(durable);
            segment.bytes = if cut { length } else { segment.bytes };
        });
    }

    /// Seals the active segment after a failure. Bytes of the failed group lie after the durable position.
    fn abandon_segment(&mut self, why: &AppendError) {
        let Some(active) = &self.active else { return };
        let durable = self.segments.durable();
        if durable.0 <= active.base {
            self.active = None;
            self.segments.drop_last();
        } else if *why == AppendError::NoSpace {
            self.segments.drop_spares();
            self.seal(0);
        } else {
            self.active = None;
            self.segments.change_last(|segment| segment.end = Some(durable));
        }
        if *why != AppendError::NoSpace {
            // Immediately: after a failed sync, a restart could read refused records from the page cache. If this fails
            // too, the next group tries again.
            self.active = self.new_segment().ok();
        }
    }
}

/// Fills in the header fields that depend on the position: `back` and `check`.
fn place(group: &mut [u8], salt: u64, start: u64) {
    let mut at = 0;
    while at < group.len() {
        let bytes = &group[at..];
        let header = RecordHeader {
            len: RecordHeader::unplaced_len(bytes) as u32,
            back: at as u32,
            crc: RecordHeader::unplaced_crc(bytes),
        };
        group[at..at + RECORD_HEADER_BYTES].copy_from_slice(&header.encode(salt, start + at as u64));
        at += RECORD_HEADER_BYTES + header.len as usize;
    }
}

/// A salt that senders cannot predict, from the standard library's hash map seed.
fn random_salt() -> u64 {
    RandomState::new().build_hasher().finish()
}
