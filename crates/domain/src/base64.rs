//! Base64 (RFC 4648) for `bytesValue` of OTLP/JSON. Output is padded; both alphabets are read, padded or not.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Appends `bytes` in the standard alphabet, padded.
pub(crate) fn encode(bytes: &[u8], out: &mut String) {
    for chunk in bytes.chunks(3) {
        let byte = |i: usize| chunk.get(i).copied().map_or(0, u32::from);
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..4 {
            let letter = ALPHABET[(bits >> (18 - 6 * i) & 63) as usize];
            out.push(if i <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
}

/// Appends the decoded bytes of `text`: standard or URL-safe alphabet, padded or not. `None` when it is not base64.
pub(crate) fn decode(text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let unpadded = match text {
        [head @ .., b'=', b'='] | [head @ .., b'='] if text.len().is_multiple_of(4) => head,
        _ => text,
    };
    if unpadded.len() % 4 == 1 {
        return None;
    }
    for chunk in unpadded.chunks(4) {
        let mut bits = 0;
        for &letter in chunk {
            bits = bits << 6 | u32::from(sextet(letter)?);
        }
        bits <<= 6 * (4 - chunk.len());
        out.extend_from_slice(&bits.to_be_bytes()[1..chunk.len()]);
    }
    Some(())
}

fn sextet(letter: u8) -> Option<u8> {
    match letter {
        b'A'..=b'Z' => Some(letter - b'A'),
        b'a'..=b'z' => Some(letter - b'a' + 26),
        b'0'..=b'9' => Some(letter - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip() {
        // RFC 4648, section 10.
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            let mut out = String::new();
            encode(bytes.as_bytes(), &mut out);
            assert_eq!(out, text);
            for spelling in [text, text.trim_end_matches('=')] {
                let mut back = Vec::new();
                assert_eq!(decode(spelling.as_bytes(), &mut back), Some(()), "{spelling}");
                assert_eq!(back, bytes.as_bytes(), "{spelling}");
            }
        }
    }

    #[test]
    fn url_safe_alphabet() {
        for spelling in ["+/+/", "-_-_"] {
            let mut back = Vec::new();
            assert_eq!(decode(spelling.as_bytes(), &mut back), Some(()));
            assert_eq!(back, [0xfb, 0xff, 0xbf]);
        }
    }

    #[test]
    fn not_base64() {
        for text in ["A", "Zg=", "Zg===", "Z=g=", "====", "=", "Zm9v!", "Zm 9v", "Zm9vA"] {
            assert_eq!(decode(text.as_bytes(), &mut Vec::new()), None, "{text}");
        }
    }
}
