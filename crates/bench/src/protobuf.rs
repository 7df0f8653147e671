//! Iterates over the fields of a protobuf message.

use integer_encoding::VarInt;

/// A field and the position of its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Field number.
    pub number: u32,
    /// 1: eight bytes; 2: length-delimited.
    pub wire_type: u8,
    /// First byte of the content.
    pub start: usize,
    /// End of the content, exclusive.
    pub end: usize,
}

/// The fixed64 and length-delimited fields of the message at `start..end`, in order. `None`: not a valid message.
pub fn fields(body: &[u8], start: usize, end: usize) -> Option<Vec<Field>> {
    let mut found = Vec::new();
    let mut at = start;
    while at < end {
        let key = varint(body, &mut at)?;
        let wire_type = (key & 7) as u8;
        let start = at;
        let length = match wire_type {
            0 => {
                varint(body, &mut at)?;
                continue;
            }
            1 => 8,
            2 => usize::try_from(varint(body, &mut at)?).ok()?,
            5 => 4,
            _ => return None,
        };
        let start = if wire_type == 2 { at } else { start };
        at = start.checked_add(length).filter(|next| *next <= end)?;
        if wire_type != 5 {
            found.push(Field { number: u32::try_from(key >> 3).ok()?, wire_type, start, end: at });
        }
    }
    Some(found)
}

fn varint(body: &[u8], at: &mut usize) -> Option<u64> {
    let (value, length) = u64::decode_var(body.get(*at..)?)?;
    *at += length;
    Some(value)
}

#[cfg(test)]
mod tests {
    use tidewatch_domain::encode::Message;

    use super::*;

    #[test]
    fn encoded_fields_are_found() {
        let mut body = Vec::new();
        let mut message = Message(&mut body);
        message.uint(1, 300);
        message.fixed64(2, 7);
        message.message(3, |inner| inner.text(1, &"x".repeat(200)));
        message.fixed32(4, 1);
        message.text(5, "end");
        let found = fields(&body, 0, body.len()).expect("a message");
        assert_eq!(found.iter().map(|field| field.number).collect::<Vec<_>>(), [2, 3, 5]);
        let inner = fields(&body, found[1].start, found[1].end).expect("a message");
        assert_eq!(inner[0].end - inner[0].start, 200);
        assert_eq!(&body[found[2].start..found[2].end], b"end");
    }

    #[test]
    fn truncated_messages_are_invalid() {
        let mut body = Vec::new();
        Message(&mut body).text(1, "hello");
        for length in 1..body.len() {
            assert_eq!(fields(&body, 0, length), None, "{length}");
        }
    }
}
