//! Reads the records of one segment in order, damaged segments included.
//!
//! After an invalid record header the reader searches byte by byte for the next valid one; the range between is a hole.
//! Whether a hole had been durable is decided at the end of the scan: everything before the first record of a group was
//! synced before that group was written.

use crate::Position;
use crate::disk::DiskFile;
use crate::segment::{END_MARK, HEADER_BYTES, Header, RECORD_HEADER_BYTES, RecordHeader};
use std::io;

/// Read-ahead size.
const WINDOW_BYTES: usize = 256 << 10;
/// Unit of a file that is skipped when it cannot be read.
const PAGE_BYTES: u64 = 4096;

/// The result of one pass over a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scan {
    /// End of the last valid record; start of the scan without one.
    pub end: Position,
    /// Best known end of the written bytes: the last non-zero byte, or the end of a damaged record.
    pub extent: Position,
    /// Ranges without a valid record, ascending.
    pub holes: Vec<Hole>,
    /// The first error of an unreadable page, which counts as damage.
    pub read_error: Option<String>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hole {
    pub from: Position,
    pub to: Position,
    /// Whether the range had been synced, which makes it damage. Otherwise it may be a torn last write.
    pub durable: bool,
}

/// The end of a segment according to the next segment's header.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Sealed {
    /// End of the durable records.
    pub at: Position,
    /// Holes from here on are torn writes.
    pub torn_from: Position,
}

/// Calls `visit` with the position and payload of each valid record that starts at or after `from`.
///
/// `sealed` is `None` for the last segment, whose end is found by reading. `from` must be a record boundary within the
/// segment. An error of `visit` ends the scan and is returned.
pub(crate) fn scan<E>(
    file: &dyn DiskFile,
    header: Header,
    from: Position,
    sealed: Option<Sealed>,
    mut visit: impl FnMut(Position, &[u8]) -> Result<(), E>,
) -> Result<Scan, ScanError<E>> {
    let mut window = Window::new(file)?;
    let offset_of = |position: Position| HEADER_BYTES + (position.0 - header.base.0);
    let position_of = |offset: u64| Position(header.base.0 + (offset - HEADER_BYTES));

    let file_end = window.file_bytes.max(HEADER_BYTES);
    let readable_end = sealed.map_or(file_end, |sealed| offset_of(sealed.at).min(file_end));
    let mut holes: Vec<Hole> = Vec::new();
    let mut durable_to = Position(0);
    let mut offset = offset_of(from);
    let mut end = offset;
    let mut claimed_to = offset;
    let mut hole_from = None;
    while offset < readable_end {
        let start = position_of(offset).0;
        let Some(record) = record_at(&mut window, header.salt, start, offset, readable_end) else {
            hole_from.get_or_insert(offset);
            offset = window.next_candidate(offset + 1, readable_end);
            continue;
        };
        let next = offset + (RECORD_HEADER_BYTES + record.len as usize) as u64;
        let payload = window.bytes(offset + RECORD_HEADER_BYTES as u64, record.len as usize);
        if crc32c::crc32c(payload) != record.crc {
            // The header is valid, so its length is trusted: the payload is not searched for records.
            hole_from.get_or_insert(offset);
            offset = next;
            claimed_to = next;
            continue;
        }
        if let Some(hole) = hole_from.take() {
            holes.push(Hole { from: position_of(hole), to: Position(start), durable: false });
        }
        durable_to = durable_to.max(Position(start.saturating_sub(u64::from(record.back))));
        visit(position_of(next), payload).map_err(ScanError::Visit)?;
        offset = next;
        end = next;
    }

    let extent = match sealed {
        Some(sealed) => sealed.at.max(position_of(end)),
        None => {
            // Old content of a recycled file follows the end mark.
            let is_marked = header.is_recycled && window.bytes(end, END_MARK.len()).iter().all(|&byte| byte == 0);
            let last_nonzero = if is_marked { end } else { window.last_nonzero(end, file_end) };
            position_of(last_nonzero.max(window.unreadable_to).max(claimed_to).max(end))
        }
    };
    if extent > position_of(end) {
        holes.push(Hole { from: position_of(end), to: extent, durable: false });
    }
    let durable_to = sealed.map_or(durable_to, |sealed| sealed.torn_from);
    for hole in &mut holes {
        hole.durable = hole.from < durable_to || window.read_error.is_some();
    }
    Ok(Scan { end: position_of(end), extent, holes, read_error: window.read_error })
}

/// The record header at `offset`, if it is valid and the record ends by `readable_end`.
fn record_at(window: &mut Window<'_>, salt: u64, start: u64, offset: u64, readable_end: u64) -> Option<RecordHeader> {
    let record = RecordHeader::decode(window.bytes(offset, RECORD_HEADER_BYTES), salt, start)?;
    let end = offset + RECORD_HEADER_BYTES as u64 + u64::from(record.len);
    (end <= readable_end).then_some(record)
}

#[derive(Debug)]
pub(crate) enum ScanError<E> {
    /// The file's length could not be read.
    Io(io::Error),
    Visit(E),
}

impl<E> From<io::Error> for ScanError<E> {
    fn from(error: io::Error) -> ScanError<E> {
        ScanError::Io(error)
    }
}

/// A read buffer that moves over a file. Unreadable pages are zeros, which are not a valid record.
pub(crate) struct Window<'a> {
    file: &'a dyn DiskFile,
    file_bytes: u64,
    start: u64,
    buffer: Vec<u8>,
    read_error: Option<String>,
    /// End offset of the last unreadable page.
    unreadable_to: u64,
}

impl<'a> Window<'a> {
    pub(crate) fn new(file: &'a dyn DiskFile) -> io::Result<Window<'a>> {
        Ok(Window { file, file_bytes: file.len()?, start: 0, buffer: Vec::new(), read_error: None, unreadable_to: 0 })
    }

    /// Up to `want` bytes at `offset`; fewer only at the end of the file.
    pub(crate) fn bytes(&mut self, offset: u64, want: usize) -> &[u8] {
        let want = (want as u64).min(self.file_bytes.saturating_sub(offset)) as usize;
        if offset < self.start || offset + want as u64 > self.start + self.buffer.len() as u64 {
            self.fill(offset, want.max(WINDOW_BYTES));
        }
        let at = (offset.saturating_sub(self.start)) as usize;
        self.buffer.get(at..at + want).unwrap_or_default()
    }

    fn fill(&mut self, offset: u64, want: usize) {
        let want = (want as u64).min(self.file_bytes.saturating_sub(offset)) as usize;
        self.start = offset;
        self.buffer.clear();
        self.buffer.resize(want, 0);
        if self.file.read_at(&mut self.buffer, offset).is_err() {
            self.fill_by_page();
        }
    }

    fn fill_by_page(&mut self) {
        self.buffer.fill(0);
        let mut at = 0;
        while at < self.buffer.len() {
            let offset = self.start + at as u64;
            let page_end = (offset / PAGE_BYTES + 1) * PAGE_BYTES;
            let end = (at + (page_end - offset) as usize).min(self.buffer.len());
            let page = &mut self.buffer[at..end];
            if let Err(error) = self.file.read_at(page, offset) {
                page.fill(0);
                self.read_error.get_or_insert_with(|| error.to_string());
                self.unreadable_to = self.unreadable_to.max(offset + (end - at) as u64);
            }
            at = end;
        }
    }

    /// A lower bound for the next offset at which a record that ends by `end` may start. A record header begins with at
    /// most 15 zero bytes, and its length fits the file.
    fn next_candidate(&mut self, offset: u64, end: u64) -> u64 {
        let piece = self.bytes(offset, PAGE_BYTES as usize);
        let zeros = piece.iter().position(|&byte| byte != 0).unwrap_or(piece.len());
        let first = zeros.saturating_sub(RECORD_HEADER_BYTES - 1);
        let room = end.saturating_sub(offset + RECORD_HEADER_BYTES as u64);
        let fits = |at: &usize| {
            let length = piece[*at..].first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
            length.is_none_or(|length| u64::from(length) + *at as u64 <= room)
        };
        offset + (first..piece.len()).find(fits).unwrap_or(piece.len()) as u64
    }

    /// End offset of the last non-zero byte in `from..to`; `from` when there is none.
    fn last_nonzero(&mut self, from: u64, to: u64) -> u64 {
        let mut last = from;
        let mut offset = from;
        while offset < to {
            let want = ((to - offset) as usize).min(WINDOW_BYTES);
            let piece = self.bytes(offset, want);
            if let Some(at) = piece.iter().rposition(|&byte| byte != 0) {
                last = offset + at as u64 + 1;
            }
            offset += want as u64;
        }
        last
    }
}
