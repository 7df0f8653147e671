//! Where a part's roll-up lies in its file: an entry of the file's metadata, read with the footer.

use xxhash_rust::xxh3::xxh3_64;

use tidewatch_store::rollup::levels::{CHUNKS, EARLIER, WIDTHS};
use tidewatch_store::rollup::spec::Spec;

/// File metadata: numbers separated by blanks: the version, place of the keys (offset, length), then per chunk its
/// level, number (starting time in chunks of that level), offset and length.
pub const ROLLUP: &str = "tidewatch.rollup";

/// Bumped when the encoding changes.
const ENCODING: u64 = 2;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Directory {
    pub keys: Place,
    pub chunks: Vec<ChunkPlace>,
}

/// Bytes of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Place {
    pub offset: u64,
    pub length: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkPlace {
    pub level: usize,
    /// Its cells start in `number * width .. (number + 1) * width`, `width` being that of the level's chunks.
    pub number: i64,
    pub place: Place,
}

/// Says what was rolled up, so that a part written by another version is scanned, not misread.
fn version(widths: &[i64], chunks: &[i64], spec: &Spec) -> u64 {
    xxh3_64(format!("{ENCODING} {widths:?} {chunks:?} {spec:?}").as_bytes())
}

/// The levels that those of a part are now; `None` when it is of a version that cannot be read.
fn levels_of(found: u64, spec: &Spec) -> Option<Vec<usize>> {
    if found == version(&WIDTHS, &CHUNKS, spec) {
        return Some((0..WIDTHS.len()).collect());
    }
    let mut earlier = EARLIER.iter();
    earlier.find(|(widths, chunks, _)| found == version(widths, chunks, spec)).map(|(_, _, levels)| levels.to_vec())
}

impl ChunkPlace {
    /// Whether cells in `from..to` may lie in it.
    pub fn overlaps(&self, from: i64, to: i64) -> bool {
        let width = CHUNKS[self.level];
        self.number.saturating_mul(width) < to && self.number.saturating_add(1).saturating_mul(width) > from
    }
}

impl Directory {
    pub fn has(&self, level: usize) -> bool {
        self.chunks.iter().any(|chunk| chunk.level == level)
    }

    pub fn encode(&self, spec: &Spec) -> String {
        let mut text = format!("{} {} {}", version(&WIDTHS, &CHUNKS, spec), self.keys.offset, self.keys.length);
        for ChunkPlace { level, number, place } in &self.chunks {
            text.push_str(&format!(" {level} {number} {} {}", place.offset, place.length));
        }
        text
    }

    /// `None` when it is of another version, or no directory.
    pub fn decode(text: &str, spec: &Spec) -> Option<Directory> {
        let mut words = text.split(' ');
        let mut word = || words.next();
        let levels = levels_of(word()?.parse().ok()?, spec)?;
        let place = |first: Option<&str>, second: Option<&str>| -> Option<Place> {
            Some(Place { offset: first?.parse().ok()?, length: second?.parse().ok()? })
        };
        let keys = place(word(), word())?;
        let mut chunks = Vec::new();
        while let Some(level) = word() {
            let level = *levels.get(level.parse::<usize>().ok()?)?;
            let number = word()?.parse().ok()?;
            chunks.push(ChunkPlace { level, number, place: place(word(), word())? });
        }
        Some(Directory { keys, chunks })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidewatch_store::tables::Table;

    #[test]
    fn directories_come_back() {
        let spec = Spec::of(Table::Endpoints).unwrap();
        let chunk = |level, number| ChunkPlace { level, number, place: Place { offset: 9, length: 7 } };
        for chunks in [vec![], vec![chunk(0, -5), chunk(3, 0)]] {
            let directory = Directory { keys: Place { offset: 4, length: 5 }, chunks };
            let text = directory.encode(spec);
            assert_eq!(Directory::decode(&text, spec), Some(directory));
            assert_eq!(Directory::decode(&text, Spec::of(Table::AiTraces).unwrap()), None, "another spec");
            assert_eq!(Directory::decode(&format!("{text} 1"), spec), None);
        }
        assert_eq!(Directory::decode("", spec), None);
        let (widths, chunks, _) = EARLIER[0];
        let earlier = Directory::decode(&format!("{} 4 5 2 7 9 7 3 0 9 7", version(widths, chunks, spec)), spec);
        assert_eq!(
            earlier.map(|directory| directory.chunks),
            Some(vec![chunk(2, 7), chunk(4, 0)]),
            "days have moved up"
        );
        assert!(chunk(2, 1).overlaps(CHUNKS[2], CHUNKS[2] + 1) && !chunk(2, 1).overlaps(0, CHUNKS[2]));
    }
}
