//! The `DELTA_BINARY_PACKED` encoding: integers as differences from the preceding integer.

use integer_encoding::{VarInt, VarIntWriter};

/// Number of groups per block; each group has its own bit width.
const GROUPS: usize = 4;

/// Appends integers in groups of `group`: 32 for 32-bit integers, 64 for 64-bit integers.
pub fn encode(values: &[i64], group: usize, out: &mut Vec<u8>) {
    varint(group * GROUPS, out);
    varint(GROUPS, out);
    varint(values.len(), out);
    varint(values.first().copied().unwrap_or(0), out);
    let mut deltas = Vec::with_capacity(group * GROUPS);
    for block in 0..values.len().saturating_sub(1).div_ceil(group * GROUPS) {
        let start = block * group * GROUPS;
        let end = (start + group * GROUPS + 1).min(values.len());
        deltas.clear();
        deltas.extend(values[start..end].windows(2).map(|pair| pair[1].wrapping_sub(pair[0])));
        encode_block(&deltas, group, out);
    }
}

fn encode_block(deltas: &[i64], group: usize, out: &mut Vec<u8>) {
    let least = deltas.iter().copied().min().unwrap_or(0);
    varint(least, out);
    let widths = out.len();
    out.extend_from_slice(&[0; GROUPS]);
    for (number, deltas) in deltas.chunks(group).enumerate() {
        let above = |delta: i64| delta.wrapping_sub(least).cast_unsigned();
        let most = deltas.iter().copied().max().map_or(0, above);
        let width = u64::BITS - most.leading_zeros();
        out[widths + number] = width as u8;
        pack(deltas.iter().map(|delta| above(*delta)), width, out);
        // The last group is padded with zeros.
        let end = out.len() + (group - deltas.len()) * width as usize / 8;
        out.resize(end, 0);
    }
}

/// Appends values of at most `width` bits. The last byte is padded with zeros.
fn pack(values: impl ExactSizeIterator<Item = u64>, width: u32, out: &mut Vec<u8>) {
    if width == 0 {
        return;
    }
    out.reserve(values.len() * width as usize / 8 + 8);
    let (mut bits, mut count) = (0_u128, 0);
    for value in values {
        bits |= u128::from(value) << count;
        count += width;
        if count >= u64::BITS {
            out.extend_from_slice(&(bits as u64).to_le_bytes());
            bits >>= u64::BITS;
            count -= u64::BITS;
        }
    }
    out.extend_from_slice(&(bits as u64).to_le_bytes()[..count.div_ceil(8) as usize]);
}

/// Appends a variable-length integer; a signed one is zigzag-encoded.
fn varint(number: impl VarInt, out: &mut Vec<u8>) {
    out.write_varint(number).expect("a vector takes all bytes");
}
