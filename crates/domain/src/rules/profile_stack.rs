//! Frames of a profile's stack, their stored form and their hash. WIRE 2.1.

use std::collections::HashMap;

use xxhash_rust::xxh3::Xxh3Builder;

use crate::decode::protobuf::reader::{KnownFields, Reader, length, varint};

/// Maximum length of a function's name or a file's path in bytes; the rest is cut off.
pub const FRAME_TEXT_BYTES_MAX: usize = 1024;

/// One frame of a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Frame<'a> {
    /// Name of the function. Empty for an address that is not symbolized.
    pub function: &'a str,
    /// Source file, or the loaded file of an address; empty when unknown.
    pub file: &'a str,
    /// Build id of the loaded file of an address, hex digits; else empty.
    pub build_id: &'a str,
    /// Address in the loaded file; 0 when symbolized.
    pub address: u64,
}

/// Hashes frames from the root to the leaf: FNV-1a, 64 bits, of every name followed by a zero byte. WIRE 2.1.
#[derive(Debug, Clone, Copy)]
pub struct StackHash(u64);

impl Default for StackHash {
    fn default() -> Self {
        StackHash(0xcbf2_9ce4_8422_2325)
    }
}

impl StackHash {
    /// Adds the next frame. A frame without a name is hashed by the build and the address.
    pub fn add(&mut self, frame: &Frame<'_>) {
        match frame.function {
            "" => {
                let file = if frame.build_id.is_empty() { frame.file } else { frame.build_id };
                self.bytes(file.as_bytes());
                self.bytes(b"!");
                self.bytes(&frame.address.to_le_bytes());
            }
            name => self.bytes(name.as_bytes()),
        }
        self.bytes(&[0]);
    }

    /// The hash of the frames so far.
    pub fn get(self) -> u64 {
        self.0
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

/// Maximum number of beginnings of stacks whose hashes are kept.
const PREFIXES_MAX: usize = 1 << 16;

/// The hashes of beginnings of stacks, as a tree: most stacks of a profile share the frames near the root.
#[derive(Default)]
pub struct Prefixes {
    /// Numbers of prefixes, from 1, by the prefix without its last location (0: none) and that location.
    numbers: HashMap<(u32, u32), u32, Xxh3Builder>,
    /// By number less 1.
    hashes: Vec<StackHash>,
}

impl Prefixes {
    /// The hash of the stack of these locations, root first. `frames`: those of a location, root first, always the same.
    pub fn hash<'f, F: Iterator<Item = Frame<'f>>>(
        &mut self,
        locations: impl Iterator<Item = u32>,
        frames: impl Fn(u32) -> F,
    ) -> StackHash {
        let mut hash = StackHash::default();
        let mut prefix = Some(0);
        let mut is_known = true;
        for location in locations {
            let known = prefix.filter(|_| is_known).and_then(|prefix| self.numbers.get(&(prefix, location)));
            if let Some(known) = known {
                (prefix, hash) = (Some(*known), self.hashes[*known as usize - 1]);
                continue;
            }
            // No longer prefix of this stack is known either.
            is_known = false;
            frames(location).for_each(|frame| hash.add(&frame));
            prefix = self.add(prefix, location, hash);
        }
        hash
    }

    /// Numbers a prefix that is new. `None` when there are too many, and when `parent` has no number.
    fn add(&mut self, parent: Option<u32>, location: u32, hash: StackHash) -> Option<u32> {
        let parent = parent.filter(|_| self.hashes.len() < PREFIXES_MAX)?;
        self.hashes.push(hash);
        let number = self.hashes.len() as u32;
        self.numbers.insert((parent, location), number);
        Some(number)
    }
}

/// Appends a frame to a stored stack: field 1 of a protobuf message, with function (1), file (2), build id (3) and
/// address (4).
pub fn put_frame(frame: &Frame<'_>, out: &mut Vec<u8>) {
    let text = |text: &str| if text.is_empty() { 0 } else { 1 + varint_bytes(text.len() as u64) + text.len() };
    let number = if frame.address == 0 { 0 } else { 1 + varint_bytes(frame.address) };
    out.push(1 << 3 | 2);
    put_varint((text(frame.function) + text(frame.file) + text(frame.build_id) + number) as u64, out);
    for (field, text) in [(1, frame.function), (2, frame.file), (3, frame.build_id)] {
        if !text.is_empty() {
            out.push(field << 3 | 2);
            put_varint(text.len() as u64, out);
            out.extend_from_slice(text.as_bytes());
        }
    }
    if frame.address != 0 {
        out.push(4 << 3);
        put_varint(frame.address, out);
    }
}

/// The frames of a stored stack, root first. Damage ends the list.
pub fn frames(stored: &[u8]) -> impl Iterator<Item = Frame<'_>> {
    let mut stack = Reader::new(stored);
    std::iter::from_fn(move || {
        if stack.is_done() || stack.key().ok()? != length(1) {
            return None;
        }
        let mut message = stack.message().ok()?;
        let mut frame = Frame::default();
        const FUNCTION: u32 = length(1);
        const FILE: u32 = length(2);
        const BUILD: u32 = length(3);
        const ADDRESS: u32 = varint(4);
        while !message.is_done() {
            match message.key().ok()? {
                FUNCTION => frame.function = message.string("function").ok()?,
                FILE => frame.file = message.string("file").ok()?,
                BUILD => frame.build_id = message.string("build id").ok()?,
                ADDRESS => frame.address = message.varint().ok()?,
                other => message.skip(other, KnownFields::new(&[])).ok()?,
            }
        }
        Some(frame)
    })
}

fn put_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn varint_bytes(value: u64) -> usize {
    (64 - (value | 1).leading_zeros() as usize).div_ceil(7)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn stored_frames_are_read(all: Vec<(String, String, String, u64)>) {
            let given = || all.iter().map(|(function, file, build_id, address)| Frame {
                function, file, build_id, address: *address,
            });
            let mut stored = Vec::new();
            given().for_each(|frame| put_frame(&frame, &mut stored));
            prop_assert!(frames(&stored).eq(given()));
        }

        #[test]
        fn prefixes_do_not_change_hashes(stacks: Vec<Vec<u8>>) {
            const NAMES: [&str; 5] = ["main", "run", "work", "read", "a"];
            // Locations have up to two frames.
            let frames = |location: u32| {
                let names = NAMES.into_iter().cycle().skip(location as usize % 5).take(location as usize % 3);
                names.map(|function| Frame { function, ..Frame::default() })
            };
            let mut prefixes = Prefixes::default();
            for stack in &stacks {
                let locations = || stack.iter().map(|location| u32::from(location % 7));
                let mut naive = StackHash::default();
                locations().flat_map(frames).for_each(|frame| naive.add(&frame));
                prop_assert_eq!(prefixes.hash(locations(), frames).get(), naive.get());
            }
        }

        #[test]
        fn any_bytes_are_read(stored: Vec<u8>) {
            frames(&stored).for_each(drop);
        }
    }

    // The reference values are those of Go's hash/fnv: "main\x00" and "main\x00work\x00".
    #[test]
    fn hash_is_fnv_1a_of_names_and_zeros() {
        let mut naive = 0xcbf2_9ce4_8422_2325_u64;
        for byte in b"main\0work\0" {
            naive = (naive ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
        let mut hash = StackHash::default();
        for function in ["main", "work"] {
            hash.add(&Frame { function, ..Frame::default() });
        }
        assert_eq!(hash.get(), naive);
        let of = |frame: Frame<'_>| {
            let mut hash = StackHash::default();
            hash.add(&frame);
            hash.get()
        };
        let native = Frame { build_id: "ab", address: 7, ..Frame::default() };
        assert_ne!(of(native), of(Frame { address: 8, ..native }));
        assert_ne!(of(native), of(Frame { build_id: "ac", ..native }));
    }
}
