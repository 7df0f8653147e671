//! Small numbers as Parquet's pages have them: runs of one number, and groups of eight packed bit by bit.

/// A run of one number pays from here on.
const RUN_MIN: usize = 8;

/// Bits that numbers up to `largest` take.
pub fn width(largest: u32) -> u8 {
    (u32::BITS - largest.leading_zeros()) as u8
}

/// Appends numbers of at most `width` bits each.
pub fn encode(width: u8, numbers: &[u32], out: &mut Vec<u8>) {
    if width == 0 {
        return run(width, 0, numbers.len(), out);
    }
    // From `literal` on, nothing is written yet.
    let (mut literal, mut at) = (0, 0);
    while at < numbers.len() {
        let length = numbers[at..].iter().take_while(|number| **number == numbers[at]).count();
        // Packed numbers come in groups of eight: the run gives what is missing of the last one.
        let missing = (at - literal).next_multiple_of(8) - (at - literal);
        if length >= missing + RUN_MIN {
            packed(width, &numbers[literal..at + missing], out);
            run(width, numbers[at], length - missing, out);
            literal = at + length;
        }
        at += length;
    }
    packed(width, &numbers[literal..], out);
}

fn run(width: u8, number: u32, length: usize, out: &mut Vec<u8>) {
    if length > 0 {
        varint((length as u64) << 1, out);
        out.extend_from_slice(&number.to_le_bytes()[..usize::from(width.div_ceil(8))]);
    }
}

/// The last group is filled up with zeros.
fn packed(width: u8, numbers: &[u32], out: &mut Vec<u8>) {
    if numbers.is_empty() {
        return;
    }
    let groups = numbers.len().div_ceil(8);
    varint((groups as u64) << 1 | 1, out);
    let end = out.len() + groups * usize::from(width);
    let (mut bits, mut count) = (0_u64, 0);
    for number in numbers {
        bits |= u64::from(*number) << count;
        count += u32::from(width);
        while count >= 8 {
            out.push(bits as u8);
            bits >>= 8;
            count -= 8;
        }
    }
    if count > 0 {
        out.push(bits as u8);
    }
    out.resize(end, 0);
}

fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}
