//! The location of a part's roll-up in its file: an entry of the file's metadata, which is read with the footer.

use xxhash_rust::xxh3::xxh3_64;

use tidewatch_store::rollup::levels::{CHUNKS, EARLIER, WIDTHS};
use tidewatch_store::rollup::spec::Spec;

/// Metadata key. Value: numbers separated by blanks: the version, offset and length of the keys, then per chunk its
/// level, number (start in units of the level's chunk width), offset and length.
pub const ROLLUP: &str = "tidewatch.rollup";

/// Incremented when the encoding changes.
const ENCODING: u64 = 2;

/// Location of a roll-up's keys and chunks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Directory {
    /// The table of keys.
    pub keys: Place,
    /// The chunks of all stored levels.
    pub chunks: Vec<ChunkPlace>,
}

/// A range of bytes of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Place {
    /// Bytes before it.
    pub offset: u64,
    /// Its number of bytes.
    pub length: u64,
}

/// Location of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkPlace {
    /// Index of its level in [`WIDTHS`].
    pub level: usize,
    /// Its cells start in `number * width .. (number + 1) * width`, where `width` is that of the level's chunks.
    pub number: i64,
    /// Its bytes in the file.
    pub place: Place,
}

/// Identifies encoding, levels and spec, so that the roll-up of a part with others is ignored instead of misread.
fn version(widths: &[i64], chunks: &[i64], spec: &Spec) -> u64 {
    xxh3_64(format!("{ENCODING} {widths:?} {chunks:?} {spec:?}").as_bytes())
}

/// Maps the levels of a part with version `found` to current levels; `None` when the version cannot be read.
fn levels_of(found: u64, spec: &Spec) -> Option<Vec<usize>> {
    if found == version(&WIDTHS, &CHUNKS, spec) {
        return Some((0..WIDTHS.len()).collect());
    }
    let mut earlier = EARLIER.iter();
    earlier.find(|(widths, chunks, _)| found == version(widths, chunks, spec)).map(|(_, _, levels)| levels.to_vec())
}

impl ChunkPlace {
    /// Whether it may have cells that start in `from..to`.
    pub fn overlaps(&self, from: i64, to: i64) -> bool {
        let width = CHUNKS[self.level];
        self.number.saturating_mul(width) < to && self.number.saturating_add(1).saturating_mul(width) > from
    }
}

impl Directory {
    /// Whether the level is stored.
    pub fn has(&self, level: usize) -> bool {
        self.chunks.iter().any(|chunk| chunk.level == level)
    }

    /// The value of the metadata key [`ROLLUP`].
    pub fn encode(&self, spec: &Spec) -> String {
        let mut text = format!("{} {} {}", version(&WIDTHS, &CHUNKS, spec), self.keys.offset, self.keys.length);
        for ChunkPlace { level, number, place } in &self.chunks {
            text.push_str(&format!(" {level} {number} {} {}", place.offset, place.length));
        }
        text
    }

    /// Parses the value of [`ROLLUP`]. `None` when it is of another version, or malformed.
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
    fn encoded_directories_are_decoded() {
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
