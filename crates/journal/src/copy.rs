//! Reads records and damaged ranges without opening the journal, to copy them before they are trimmed.

use crate::disk::Disk;
use crate::reader::{self, ScanError, Sealed};
use crate::replay::{self, CorruptRange};
use crate::segment::{self, HEADER_BYTES};
use crate::{Options, Position};
use std::io;

/// Read size for damaged ranges.
const PIECE_BYTES: usize = 256 << 10;

/// Calls `each` with the position and payload of every record in `from < position <= to`, in order. Damaged records are
/// skipped.
///
/// `from` and `to` are `Position(0)` or positions of records. The journal may be open, as long as the records up to `to`
/// are durable and are not trimmed concurrently.
pub fn read_records(
    options: &Options,
    from: Position,
    to: Position,
    mut each: impl FnMut(Position, &[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let Options { dir, disk, .. } = options;
    let mut segments: Vec<_> =
        disk.list(dir)?.into_iter().filter_map(|(path, bytes)| Some((segment::base_of(&path)?, path, bytes))).collect();
    segments.sort();
    for (index, (base, path, bytes)) in segments.iter().enumerate() {
        let extent = Position(base.0 + bytes.saturating_sub(HEADER_BYTES));
        if *base >= to || extent <= from {
            continue;
        }
        let file = disk.open(path)?;
        let Some(header) = replay::read_header(&*file, *base).map_err(unknown_version)? else { continue };
        let next = segments.get(index + 1).map(|(base, ..)| *base);
        let end = to.min(extent).min(next.unwrap_or(to));
        let sealed = Some(Sealed { at: end, torn_from: end });
        let scanned = reader::scan(&*file, header, from.max(*base), sealed, |position, payload| {
            if position <= to { each(position, payload) } else { Ok(()) }
        });
        scanned.map_err(|error| match error {
            ScanError::Io(error) | ScanError::Visit(error) => error,
        })?;
    }
    Ok(())
}

/// Calls `each` with the raw bytes of a damaged range, in pieces; never when the file is missing. Unreadable pages are
/// zeros.
pub fn read_damaged(
    disk: &dyn Disk,
    range: &CorruptRange,
    mut each: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let Some((path, base)) = range.segment.as_ref().and_then(|path| Some((path, segment::base_of(path)?))) else {
        return Ok(());
    };
    let file = disk.open(path)?;
    let offset_of = |position: Position| HEADER_BYTES + position.0.saturating_sub(base.0);
    // Includes a damaged header.
    let start = if range.from <= base { 0 } else { offset_of(range.from) };
    let end = offset_of(range.to).min(file.len()?);
    let mut window = reader::Window::new(&*file)?;
    let mut offset = start;
    while offset < end {
        let piece = window.bytes(offset, PIECE_BYTES.min((end - offset) as usize));
        if piece.is_empty() {
            break;
        }
        let length = piece.len() as u64;
        each(piece)?;
        offset += length;
    }
    Ok(())
}

fn unknown_version(version: u32) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("segment format version {version} is not known"))
}
