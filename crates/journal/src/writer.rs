//! One group of records at a time into the active segment and onto the disk.
//!
//! A segment is written by one run of the program and only as long as nothing fails: after a failed write or sync it
//! is sealed at its last durable record and the next group opens a new one, whose header says where the old one ends.
//! Segments are made lazily, by the first group that needs one, so a full disk does not stop a start and heals by
//! itself. A segment gets its name only once its header is durable; zeros are written ahead of the records, so most
//! syncs change no file size.

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

/// A segment that has no name yet; removed on opening.
pub(crate) const UNNAMED: &str = "next.tmp";

pub(crate) struct Writer {
    options: Options,
    segments: Arc<Segments>,
    active: Option<Active>,
    /// Where the next record starts. Never goes back, also not after a failure.
    next: u64,
    /// What replay found at the end: `Sealed` as the next segment's header repeats it, until a record follows.
    found: Sealed,
    zeros: Vec<u8>,
}

struct Active {
    file: Box<dyn DiskFile>,
    salt: u64,
    base: u64,
    /// Written up to here with records, zeros or what was there before; a file offset.
    filled_to: u64,
    /// Up to here there is something from before.
    stale_to: u64,
}

impl Active {
    fn offset_of(&self, position: u64) -> u64 {
        HEADER_BYTES + (position - self.base)
    }

    /// Keeps what was there before from looking like the next record, damaged.
    fn mark_end(&self, end: u64) -> io::Result<()> {
        let bytes = self.stale_to.saturating_sub(end).min(END_MARK.len() as u64);
        if bytes > 0 { self.file.write_at(&END_MARK[..bytes as usize], end) } else { Ok(()) }
    }
}

impl Writer {
    /// `next` is past every position that may be found in the segments there are; `torn_from` is from where on a
    /// hole before the durable end is a torn write.
    pub fn new(options: Options, segments: Arc<Segments>, next: Position, torn_from: Position) -> Writer {
        let zeros = vec![0; options.zero_ahead_bytes() as usize];
        let found = Sealed { at: segments.durable(), torn_from };
        Writer { options, segments, active: None, next: next.0, found, zeros }
    }

    /// Makes a group of records durable, or none of it. Returns the position where its first record starts.
    ///
    /// `group` is records with unplaced headers (`len` and `crc` set); their `back` and `check` are filled in.
    pub fn commit(&mut self, group: &mut [u8]) -> Result<Position, AppendError> {
        let start = self.next;
        let outcome = self.write_group(group, start);
        if let Err(error) = &outcome {
            let refused = AppendError::from(error);
            match refused {
                AppendError::NoSpace => warn!(error = %error, "journal refused {} bytes: disk full", group.len()),
                _ => error!(error = %error, "journal refused {} bytes: {error}", group.len()),
            }
            self.seal_after_failure(&refused);
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
        // From here on these positions may be found in the file, whatever happens.
        self.next = start + group_bytes;
        let offset = active.offset_of(start);
        let written = active.file.write_at(group, offset);
        let written = written.and_then(|()| self.fill_ahead(&mut active, offset + group_bytes));
        let written = written.and_then(|()| active.mark_end(offset + group_bytes));
        let synced = written.and_then(|()| active.file.sync_data());
        self.active = Some(active);
        synced
    }

    /// What comes from now on gets a file that holds nothing else, and what came before can be trimmed. What fails here,
    /// the next group does.
    pub fn renew(&mut self) {
        self.segments.renew();
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

    /// Whether there is a segment to write to, or a new one can be made durable.
    pub fn probe(&mut self) -> bool {
        if self.active.is_none() {
            self.active = self.new_segment().ok();
        }
        self.active.is_some()
    }

    /// Keeps zeros ahead of `end`, a file offset. Having no space for them is no failure: the records are written.
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

    /// Header durable, then the name, then the name durable: a segment file that exists has a whole header.
    fn new_segment(&self) -> io::Result<Active> {
        let Options { dir, disk, .. } = &self.options;
        let durable = self.segments.durable();
        let torn_from = if durable == self.found.at { self.found.torn_from } else { durable };
        let (file, unnamed, filled_to) = self.new_file()?;
        let header = Header {
            salt: random_salt(),
            base: Position(self.next),
            sealed_at: durable,
            torn_from,
            is_reused: filled_to > HEADER_BYTES,
        };
        let path = segment::path(dir, header.base);
        let mut head = header.encode();
        if header.is_reused {
            head.extend(END_MARK);
        }
        let made = file.write_at(&head, 0).and_then(|()| file.sync_data());
        let named = made.and_then(|()| disk.rename(&unnamed, &path)).and_then(|()| disk.sync_dir(dir));
        if let Err(error) = named {
            // Neither may exist; what stays is an empty segment or is removed on opening.
            let _ = disk.remove(&unnamed);
            return Err(error);
        }
        self.segments.push(Segment { path, end: None, bytes: filled_to });
        Ok(Active { file, salt: header.salt, base: header.base.0, filled_to, stale_to: filled_to })
    }

    /// A file without a name of its own and how far it is filled: one whose segment was trimmed, as its blocks are there
    /// already and writing them again changes no metadata; else a new one.
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

    /// Ends the active segment, all of whose records are durable, and gives back what lies ahead if it is more than
    /// `ahead_max` bytes.
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

    /// Never trusts the active segment again. What the failed group left in it lies after the durable end.
    fn seal_after_failure(&mut self, why: &AppendError) {
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
            // At once: after a failed sync a restart would read refused records that are in memory only. When this
            // fails as well, the next group tries again.
            self.active = self.new_segment().ok();
        }
    }
}

/// Fills in what depends on the place: every record's distance to the start of the group, and its check.
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

/// Unpredictable to senders, which is all it must be: the standard library's seed for hash maps.
fn random_salt() -> u64 {
    RandomState::new().build_hasher().finish()
}
