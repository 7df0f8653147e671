//! Rewrites a protobuf message: reordered, repeated and unknown fields, split messages, groups, overlong varints. Some
//! rewrites change the meaning; all decoders must agree on the result.

use crate::dice::Dice;

/// Rewrites `message`. Bytes that are not a message are returned unchanged.
pub fn scrambled(message: &[u8], dice: &mut Dice) -> Vec<u8> {
    let Some(mut fields) = split(message) else { return message.to_vec() };
    for field in &mut fields {
        if field.wire_type == 2 && !looks_like_text(&field.content) && !dice.one_in(8) {
            field.content = scrambled(&field.content, dice);
        }
    }
    if dice.one_in(4) && !fields.is_empty() {
        let copy = fields[dice.below(fields.len())].clone();
        fields.insert(dice.below(fields.len() + 1), copy);
    }
    if dice.one_in(3) && fields.len() > 1 {
        let (left, right) = (dice.below(fields.len()), dice.below(fields.len()));
        fields.swap(left, right);
    }
    if dice.one_in(6) {
        fields.insert(dice.below(fields.len() + 1), unknown(dice));
    }
    let mut out = Vec::new();
    for field in &fields {
        field.write(&mut out, dice);
    }
    out
}

#[derive(Clone)]
struct Field {
    number: u64,
    wire_type: u64,
    /// The bytes after the key, without the length prefix.
    content: Vec<u8>,
}

impl Field {
    fn write(&self, out: &mut Vec<u8>, dice: &mut Dice) {
        let boundaries = if self.wire_type == 2 { boundaries(&self.content) } else { Vec::new() };
        if boundaries.len() > 2 && dice.one_in(4) {
            // Splits the message in two.
            let cut = boundaries[dice.below(boundaries.len())];
            for piece in [&self.content[..cut], &self.content[cut..]] {
                Field { content: piece.to_vec(), ..*self }.write_whole(out, dice);
            }
        } else {
            self.write_whole(out, dice);
        }
    }

    fn write_whole(&self, out: &mut Vec<u8>, dice: &mut Dice) {
        put_varint(self.number << 3 | self.wire_type, out, dice);
        if self.wire_type == 2 {
            put_varint(self.content.len() as u64, out, dice);
        }
        out.extend_from_slice(&self.content);
    }
}

fn put_varint(mut number: u64, out: &mut Vec<u8>, dice: &mut Dice) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    if dice.one_in(20) {
        // An overlong varint of at most ten bytes is valid.
        out.extend_from_slice(&[number as u8 | 0x80, 0x80, 0x00]);
    } else {
        out.push(number as u8);
    }
}

fn unknown(dice: &mut Dice) -> Field {
    let number = [20, 31, 32, 100, 1000, (1 << 29) - 1][dice.below(6)];
    let (wire_type, content) = match dice.below(6) {
        0 => (0, vec![0x96, 0x01]),
        1 => (1, vec![7; 8]),
        2 => (2, b"\xff\xfe not UTF-8".to_vec()),
        3 => (5, vec![7; 4]),
        4 if dice.one_in(200) => (0, vec![0xff; 12]),
        _ => {
            // A nested group. Each group ends with its own number.
            let mut content = vec![0x0b, 0x08, 0x05, 0x0c];
            let mut end = Vec::new();
            put_varint(number << 3 | 4, &mut end, &mut Dice::new(1));
            content.extend_from_slice(&end);
            (3, content)
        }
    };
    Field { number, wire_type, content }
}

fn looks_like_text(content: &[u8]) -> bool {
    content.iter().all(|byte| (0x20..0x7f).contains(byte))
}

/// The fields of a message; `None` for other bytes and for messages with groups.
fn split(mut message: &[u8]) -> Option<Vec<Field>> {
    let mut fields = Vec::new();
    while !message.is_empty() {
        let key = varint(&mut message)?;
        let length = match key & 7 {
            0 => {
                let mut rest = message;
                varint(&mut rest)?;
                message.len() - rest.len()
            }
            1 => 8,
            2 => usize::try_from(varint(&mut message)?).ok()?,
            5 => 4,
            _ => return None,
        };
        let (content, rest) = message.split_at_checked(length)?;
        message = rest;
        fields.push(Field { number: key >> 3, wire_type: key & 7, content: content.to_vec() });
    }
    Some(fields)
}

/// Offsets between the fields of a message, its start and end included.
fn boundaries(message: &[u8]) -> Vec<usize> {
    let mut at = vec![0];
    for field in split(message).unwrap_or_default() {
        let mut written = Vec::new();
        // Overlong varints in the message make the offsets wrong; the check below detects that.
        put_varint(field.number << 3 | field.wire_type, &mut written, &mut Dice::new(1));
        if field.wire_type == 2 {
            put_varint(field.content.len() as u64, &mut written, &mut Dice::new(1));
        }
        at.push(at[at.len() - 1] + written.len() + field.content.len());
    }
    if at[at.len() - 1] == message.len() { at } else { Vec::new() }
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}
