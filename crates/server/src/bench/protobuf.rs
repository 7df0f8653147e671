//! The protobuf wire format, as much of it as a load tool needs: writing messages, and walking over the fields of one.

/// Writes fields to the end of a buffer.
pub struct Message<'o>(pub &'o mut Vec<u8>);

impl Message<'_> {
    /// A varint field; left out when zero, as proto3 does.
    pub fn uint(&mut self, field: u32, value: u64) {
        if value != 0 {
            self.key(field, 0);
            put_varint(self.0, value);
        }
    }

    pub fn fixed64(&mut self, field: u32, value: u64) {
        self.key(field, 1);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub fn fixed32(&mut self, field: u32, value: u32) {
        self.key(field, 5);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub fn double(&mut self, field: u32, value: f64) {
        self.fixed64(field, value.to_bits());
    }

    pub fn bytes(&mut self, field: u32, value: &[u8]) {
        self.key(field, 2);
        put_varint(self.0, value.len() as u64);
        self.0.extend_from_slice(value);
    }

    pub fn text(&mut self, field: u32, value: &str) {
        self.bytes(field, value.as_bytes());
    }

    /// A nested message. Its length is known only afterwards: long ones are moved by the second byte of it.
    pub fn message(&mut self, field: u32, fill: impl FnOnce(&mut Message<'_>)) {
        self.key(field, 2);
        let at = self.0.len();
        self.0.push(0);
        fill(&mut Message(self.0));
        let length = self.0.len() - at - 1;
        if length < 128 {
            self.0[at] = length as u8;
        } else {
            let mut prefix = Vec::with_capacity(5);
            put_varint(&mut prefix, length as u64);
            self.0.splice(at..=at, prefix);
        }
    }

    fn key(&mut self, field: u32, wire_type: u32) {
        put_varint(self.0, u64::from(field << 3 | wire_type));
    }
}

fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 128 {
        out.push(value as u8 | 128);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Where a field's content lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    pub number: u32,
    /// 1: eight bytes; 2: length-delimited.
    pub wire_type: u8,
    pub start: usize,
    pub end: usize,
}

/// The fixed64 and length-delimited fields of the message at `start..end`, in order. `None`: this is no message.
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
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = *body.get(*at)?;
        *at += 1;
        value |= u64::from(byte & 127) << shift;
        if byte < 128 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_found() {
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
    fn cut_off_bodies_are_no_messages() {
        let mut body = Vec::new();
        Message(&mut body).text(1, "hello");
        for length in 1..body.len() {
            assert_eq!(fields(&body, 0, length), None, "{length}");
        }
    }
}
