//! The write-ahead log of an SQLite database, read for damage that SQLite takes for the end of the log.
//!
//! SQLite reads a log up to the first frame whose checksum does not match: a power cut leaves such a frame behind the last
//! transaction that was synced. A flipped bit in the middle looks the same, and the transactions behind it are dropped
//! without an error. What follows tells them apart: with `synchronous = FULL` a transaction begins only after all frames
//! before it are durable. A frame that does not match, before a commit that another transaction continues, is damage.
//!
//! The format: <https://www.sqlite.org/fileformat2.html#the_write_ahead_log>.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const HEADER_BYTES: usize = 32;
const FRAME_HEADER_BYTES: usize = 24;
/// The lowest bit says the byte order of checksums: 1 is big-endian.
const MAGIC: u32 = 0x377f_0682;

/// The log of a database.
pub fn log_of(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

/// Reads that must agree: a process that writes the log meanwhile makes one of them inconsistent, not each alike.
const READS: usize = 3;

/// Damage of a database's log, as a sentence; `None` also when there is no log.
pub fn find_damage(database: &Path) -> io::Result<Option<String>> {
    let log = log_of(database);
    let mut found = None;
    for read in 0..READS {
        let bytes = match fs::read(&log) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            bytes => bytes?,
        };
        match damage(&bytes) {
            Some(at) if read == 0 || found == Some(at) => found = Some(at),
            _ => return Ok(None),
        }
    }
    let sentence = |at: usize| {
        format!("{} is damaged at byte {at}: SQLite would drop the complete transactions from there on", log.display())
    };
    Ok(found.map(sentence))
}

/// Offset of the header or the frame that is damaged.
fn damage(log: &[u8]) -> Option<usize> {
    let header = log.get(..HEADER_BYTES)?;
    let Some(wal) = Wal::read(log, header) else {
        // Frames that have the header's salts were written behind a header that was whole.
        return (log.get(HEADER_BYTES + 8..HEADER_BYTES + 16)? == &header[16..24] && header[16..24] != [0; 8])
            .then_some(0);
    };
    let bad = (0..wal.frames).find(|frame| !wal.follows(*frame))?;
    let is_continued = |frame: &usize| wal.follows(*frame) && wal.is_commit(*frame) && wal.follows(frame + 1);
    (bad + 1..wal.frames.saturating_sub(1)).find(is_continued).map(|_| wal.at(bad))
}

struct Wal<'a> {
    log: &'a [u8],
    salts: &'a [u8],
    is_big_endian: bool,
    frame_bytes: usize,
    /// Whole ones, valid or not.
    frames: usize,
}

type Sum = (u32, u32);

impl<'a> Wal<'a> {
    /// `None`: the header does not match its checksum.
    fn read(log: &'a [u8], header: &'a [u8]) -> Option<Wal<'a>> {
        let is_big_endian = match number(header, 0)? ^ MAGIC {
            0 => false,
            1 => true,
            _ => return None,
        };
        let page_bytes = number(header, 8)? as usize;
        let is_size = page_bytes.is_power_of_two() && (512..=65536).contains(&page_bytes);
        let is_whole = sum(is_big_endian, (0, 0), &header[..24]) == stored(header, 24)?;
        let frame_bytes = FRAME_HEADER_BYTES + page_bytes;
        let frames = (log.len() - HEADER_BYTES) / frame_bytes;
        (is_size && is_whole).then(|| Wal { log, salts: &header[16..24], is_big_endian, frame_bytes, frames })
    }

    fn at(&self, frame: usize) -> usize {
        HEADER_BYTES + frame * self.frame_bytes
    }

    fn bytes(&self, frame: usize) -> &'a [u8] {
        &self.log[self.at(frame)..][..self.frame_bytes]
    }

    fn is_commit(&self, frame: usize) -> bool {
        number(self.bytes(frame), 4) != Some(0)
    }

    /// The frame is of this log's generation, and its checksum continues the one before it.
    fn follows(&self, frame: usize) -> bool {
        let bytes = self.bytes(frame);
        let before = match frame {
            0 => stored(self.log, 24),
            _ => stored(self.bytes(frame - 1), 16),
        };
        let sum = before.map(|before| {
            let header = sum(self.is_big_endian, before, &bytes[..8]);
            sum(self.is_big_endian, header, &bytes[FRAME_HEADER_BYTES..])
        });
        &bytes[8..16] == self.salts && sum == stored(bytes, 16)
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn stored(bytes: &[u8], at: usize) -> Option<Sum> {
    Some((number(bytes, at)?, number(bytes, at + 4)?))
}

/// `content`: a multiple of 8 bytes.
fn sum(is_big_endian: bool, from: Sum, content: &[u8]) -> Sum {
    let word = |bytes: &[u8]| {
        let bytes = bytes.try_into().expect("four bytes");
        if is_big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    };
    content.chunks_exact(8).fold(from, |(mut first, mut second), pair| {
        first = first.wrapping_add(word(&pair[..4])).wrapping_add(second);
        second = second.wrapping_add(word(&pair[4..])).wrapping_add(first);
        (first, second)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rusqlite::Connection;
    use tempfile::TempDir;

    use super::*;

    /// A log of transactions of one to a few frames, after `restarts` earlier generations in the same file.
    fn log(transactions: usize, restarts: usize) -> Vec<u8> {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("a.sqlite");
        let open = Connection::open(&path).unwrap();
        open.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE a (x BLOB)").unwrap();
        for generation in 0..=restarts {
            // Each generation leaves frames of the longer one before it.
            for number in 0..transactions + 5 * (restarts - generation) {
                open.execute("INSERT INTO a VALUES (randomblob(?1))", [100 + number as i64 * 700]).unwrap();
            }
            if generation < restarts {
                open.execute_batch("PRAGMA wal_checkpoint(FULL)").unwrap();
            }
        }
        fs::read(log_of(&path)).unwrap()
    }

    fn frames(log: &[u8]) -> Wal<'_> {
        Wal::read(log, &log[..HEADER_BYTES]).unwrap()
    }

    #[test]
    fn a_whole_log_is_no_finding() {
        for (transactions, restarts) in [(1, 0), (9, 0), (4, 1), (3, 2)] {
            let log = log(transactions, restarts);
            assert_eq!(damage(&log), None);
            let wal = frames(&log);
            let valid = (0..wal.frames).take_while(|frame| wal.follows(*frame)).count();
            assert!(valid > 0 && (restarts == 0) == (valid == wal.frames), "{valid} of {}", wal.frames);
        }
    }

    /// As a power cut leaves them.
    #[test]
    fn a_torn_end_is_no_finding() {
        let whole = log(6, 0);
        for length in (0..whole.len()).step_by(97) {
            assert_eq!(damage(&whole[..length]), None, "cut at {length}");
        }
        let wal = frames(&whole);
        let last_but_one = (0..wal.frames - 1).rfind(|frame| wal.is_commit(*frame)).unwrap();
        for frame in last_but_one + 1..wal.frames {
            let mut log = whole.clone();
            log[wal.at(frame) + 100] ^= 1;
            assert_eq!(damage(&log), None, "frame {frame} of the last transaction");
        }
    }

    #[test]
    fn a_flipped_bit_before_complete_transactions_is_found() {
        let whole = log(8, 1);
        let wal = frames(&whole);
        let valid = (0..wal.frames).take_while(|frame| wal.follows(*frame)).count();
        // The commit before the last transaction is the last proof. A damaged checksum takes the next frame with it.
        let proof = (0..valid - 1).rfind(|frame| wal.is_commit(*frame)).unwrap();
        for frame in 0..proof - 1 {
            for place in [0, 5, 9, 14, 17, 23, 24, wal.frame_bytes - 1] {
                let mut log = whole.clone();
                log[wal.at(frame) + place] ^= 0x10;
                assert_eq!(damage(&log), Some(wal.at(frame)), "byte {place} of frame {frame}");
            }
        }
        for place in [0, 3, 5, 9, 13, 24, 31] {
            let mut log = whole.clone();
            log[place] ^= 0x10;
            assert_eq!(damage(&log), Some(0), "byte {place} of the header");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..3000), has_magic: bool) {
            let mut bytes = bytes;
            if has_magic && bytes.len() > HEADER_BYTES {
                bytes[..4].copy_from_slice(&MAGIC.to_be_bytes());
                bytes[8..12].copy_from_slice(&512_u32.to_be_bytes());
                let (first, second) = sum(false, (0, 0), &bytes[..24]);
                bytes[24..28].copy_from_slice(&first.to_be_bytes());
                bytes[28..32].copy_from_slice(&second.to_be_bytes());
            }
            damage(&bytes);
        }
    }
}
