//! Base64 (RFC 4648) for `bytesValue` of OTLP/JSON. Output is padded; both alphabets are read, padded or not.

use std::borrow::Cow;

use base64::Engine;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD, STANDARD};

/// Reads the standard alphabet without padding. Bits after the last byte are ignored: some writers do not clear them.
const LENIENT: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, NO_PAD.with_decode_allow_trailing_bits(true));

/// Appends `bytes` in the standard alphabet, padded.
pub(crate) fn encode(bytes: &[u8], out: &mut String) {
    STANDARD.encode_string(bytes, out);
}

/// Appends the decoded bytes of `text`: standard or URL-safe alphabet, padded or not. `None` when it is not base64.
pub(crate) fn decode(text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let unpadded = match text {
        [head @ .., b'=', b'='] | [head @ .., b'='] if text.len().is_multiple_of(4) => head,
        _ => text,
    };
    LENIENT.decode_vec(standard(unpadded), out).ok()
}

/// The text in the standard alphabet.
fn standard(text: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr2(b'-', b'_', text).is_none() {
        return Cow::Borrowed(text);
    }
    let letters = text.iter().map(|letter| match letter {
        b'-' => b'+',
        b'_' => b'/',
        other => *other,
    });
    Cow::Owned(letters.collect())
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
        for spelling in ["+/+/", "-_-_", "+_-/"] {
            let mut back = Vec::new();
            assert_eq!(decode(spelling.as_bytes(), &mut back), Some(()));
            assert_eq!(back, [0xfb, 0xff, 0xbf]);
        }
    }

    #[test]
    fn bits_after_the_last_byte_are_ignored() {
        for spelling in ["Zh", "Zh==", "Zm-=", "Zm9"] {
            assert_eq!(decode(spelling.as_bytes(), &mut Vec::new()), Some(()), "{spelling}");
        }
    }

    #[test]
    fn not_base64() {
        for text in ["A", "Zg=", "Zg===", "Z=g=", "====", "=", "Zm9v!", "Zm 9v", "Zm9vA"] {
            assert_eq!(decode(text.as_bytes(), &mut Vec::new()), None, "{text}");
        }
    }
}
