//! Parquet's RLE and bit-packing hybrid: runs of one number, and bit-packed groups of eight numbers.

use integer_encoding::VarIntWriter;

/// Numbers per bit-packed group. A group of eight equal numbers, with the equal numbers that follow it, is a run.
const GROUP: usize = 8;

/// The number of bits that numbers up to `largest` take.
pub fn width(largest: u32) -> u8 {
    (u32::BITS - largest.leading_zeros()) as u8
}

/// Appends the definition levels of a nullable column (1 for a value, 0 for null), prefixed with their length in bytes.
pub fn encode_levels(levels: &[u32], out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    encode(1, levels, out);
    let length = (out.len() - start - 4) as u32;
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
}

/// Like [`encode_levels`], for `rows` rows of the same level.
pub fn repeat_level(level: u32, rows: usize, out: &mut Vec<u8>) {
    let mut levels = Vec::new();
    repeat(1, level, rows, &mut levels);
    out.extend_from_slice(&(levels.len() as u32).to_le_bytes());
    out.extend_from_slice(&levels);
}

/// Appends `numbers`, each of at most `width` bits.
pub fn encode(width: u8, numbers: &[u32], out: &mut Vec<u8>) {
    if width == 0 {
        return repeat(width, 0, numbers.len(), out);
    }
    // `numbers[literal..]` is not written yet.
    let (mut literal, mut at) = (0, 0);
    while let Some(group) = numbers[at..].first_chunk::<GROUP>() {
        if group.iter().all(|number| *number == group[0]) {
            packed(width, &numbers[literal..at], out);
            let length = run_length(&numbers[at..]);
            repeat(width, group[0], length, out);
            at += length;
            literal = at;
        } else {
            at += GROUP;
        }
    }
    packed(width, &numbers[literal..], out);
}

/// The number of leading numbers that equal the first.
fn run_length(numbers: &[u32]) -> usize {
    let first = numbers[0];
    let is_run = |group: &&[u32]| group.iter().all(|number| *number == first);
    let groups = numbers.chunks_exact(GROUP).take_while(is_run).count() * GROUP;
    groups + numbers[groups..].iter().take_while(|number| **number == first).count()
}

/// Appends a run of `length` times `number`, a number of at most `width` bits. Appends nothing when `length` is 0.
pub fn repeat(width: u8, number: u32, length: usize, out: &mut Vec<u8>) {
    if length > 0 {
        varint((length as u64) << 1, out);
        out.extend_from_slice(&number.to_le_bytes()[..usize::from(width.div_ceil(8))]);
    }
}

/// Appends bit-packed groups. The last group is padded with zeros.
fn packed(width: u8, numbers: &[u32], out: &mut Vec<u8>) {
    if numbers.is_empty() {
        return;
    }
    let groups = numbers.len().div_ceil(GROUP);
    varint((groups as u64) << 1 | 1, out);
    let bytes = usize::from(width);
    out.reserve(groups * bytes);
    let (whole, rest) = numbers.as_chunks::<GROUP>();
    let mut last = [0; GROUP];
    last[..rest.len()].copy_from_slice(rest);
    let last = if rest.is_empty() { &[][..] } else { &[last][..] };
    for group in whole.iter().chain(last) {
        // Eight numbers of `width` bits take `width` bytes.
        if width <= 8 {
            let bits = group.iter().rev().fold(0, |bits, number| bits << width | u64::from(*number));
            out.extend_from_slice(&bits.to_le_bytes()[..bytes]);
        } else {
            let half = |half: &[u32]| half.iter().rev().fold(0, |bits, number| bits << width | u128::from(*number));
            let (low, high) = group.split_at(GROUP / 2);
            let (low, high) = (half(low), half(high));
            // Half a group ends within a byte when the width is odd.
            let bits = low | high.checked_shl(4 * u32::from(width)).unwrap_or(0);
            out.extend_from_slice(&bits.to_le_bytes()[..bytes.min(16)]);
            if bytes > 16 {
                let above = (high >> (128 - 4 * u32::from(width))).to_le_bytes();
                out.extend_from_slice(&above[..bytes - 16]);
            }
        }
    }
}

fn varint(number: u64, out: &mut Vec<u8>) {
    out.write_varint(number).expect("a vector takes all bytes");
}
