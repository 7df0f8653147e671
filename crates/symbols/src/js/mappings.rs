//! Decodes `mappings` of source maps: Base64 VLQ numbers, up to five deltas per segment.

use crate::{SymbolError, error::Result, limits::SEGMENTS_MAX};

/// Marks an absent source or name.
pub(super) const NONE: u32 = u32::MAX;

/// A segment: the original place of the script from this position on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Segment {
    /// Zero-based line of the script.
    pub line: u32,
    /// Zero-based column of the script in UTF-16 units.
    pub column: u32,
    /// Index of the source in its map, or [`NONE`].
    pub source: u32,
    /// Zero-based.
    pub source_line: u32,
    /// Zero-based.
    pub source_column: u32,
    /// Index of the name in its map, or [`NONE`].
    pub name: u32,
}

const INVALID: u8 = 0xff;
const DIGITS: [u8; 256] = {
    let mut digits = [INVALID; 256];
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut i = 0;
    while i < 64 {
        digits[alphabet[i] as usize] = i as u8;
        i += 1;
    }
    digits
};

/// Reads one number of at most 32 bits with the sign, and moves `at` past it.
#[inline]
pub(super) fn number(text: &[u8], at: &mut usize) -> Result<i64> {
    let (mut value, mut shift) = (0u64, 0u32);
    loop {
        let digit = text.get(*at).map_or(INVALID, |byte| DIGITS[*byte as usize]);
        if digit == INVALID {
            return Err(SymbolError::malformed("the mappings have a character that is not a Base64 digit"));
        }
        *at += 1;
        // A number may be padded with any number of zeros.
        match shift {
            0..35 => value |= u64::from(digit & 31) << shift,
            _ if digit & 31 == 0 => {}
            _ => return Err(SymbolError::malformed("the mappings have a number of more than 32 bits")),
        }
        if digit < 32 {
            break;
        }
        shift = (shift + 5).min(35);
    }
    let magnitude = (value >> 1) as i64;
    if magnitude > i64::from(i32::MAX) + 1 {
        return Err(SymbolError::malformed("the mappings have a number of more than 32 bits"));
    }
    Ok(if value & 1 == 1 { -magnitude } else { magnitude })
}

fn moved(value: u32, delta: i64, what: &str) -> Result<u32> {
    u32::try_from(i64::from(value) + delta)
        .ok()
        .filter(|v| *v <= i32::MAX as u32)
        .ok_or_else(|| SymbolError::malformed(format!("the mappings have {what} that is negative or too large")))
}

/// Appends the segments of a plain map for the script's range from `start` to `end`, sorted by position.
pub(super) fn read(
    text: &str,
    (start, end): ((u32, u32), (u32, u32)),
    (sources, names): (usize, usize),
    out: &mut Vec<Segment>,
) -> Result<()> {
    let bytes = text.as_bytes();
    let mut at = 0;
    let (mut line, mut column) = (start.0, start.1);
    let (mut source, mut source_line, mut source_column, mut name) = (0u32, 0u32, 0u32, 0u32);
    let mut line_from = out.len();
    let mut sorted = true;
    while at < bytes.len() {
        match bytes[at] {
            b';' => {
                end_line(out, line_from, &mut sorted);
                line_from = out.len();
                line = line.saturating_add(1);
                column = 0;
                at += 1;
                continue;
            }
            b',' => {
                at += 1;
                continue;
            }
            _ => {}
        }
        let before = column;
        column = moved(column, number(bytes, &mut at)?, "a column")?;
        sorted &= column >= before;
        let mut segment = Segment { line, column, source: NONE, source_line: 0, source_column: 0, name: NONE };
        if more(bytes, at) {
            source = moved(source, number(bytes, &mut at)?, "a source")?;
            source_line = moved(source_line, number(bytes, &mut at)?, "an original line")?;
            source_column = moved(source_column, number(bytes, &mut at)?, "an original column")?;
            if source as usize >= sources {
                return Err(SymbolError::malformed("the mappings refer to a source that is not listed"));
            }
            segment = Segment { source, source_line, source_column, ..segment };
            if more(bytes, at) {
                name = moved(name, number(bytes, &mut at)?, "a name")?;
                if name as usize >= names {
                    return Err(SymbolError::malformed("the mappings refer to a name that is not listed"));
                }
                segment.name = name;
            }
            if more(bytes, at) {
                return Err(SymbolError::malformed("the mappings have a segment of more than five numbers"));
            }
        }
        if (line, column) < end {
            if out.len() >= SEGMENTS_MAX {
                return Err(SymbolError::TooLarge {
                    what: "the segments of the source map",
                    limit: SEGMENTS_MAX as u64,
                });
            }
            out.push(segment);
        }
    }
    end_line(out, line_from, &mut sorted);
    Ok(())
}

#[inline]
fn more(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_some_and(|b| !matches!(b, b',' | b';'))
}

fn end_line(out: &mut [Segment], from: usize, sorted: &mut bool) {
    if !*sorted {
        out[from..].sort_by_key(|s| s.column);
        *sorted = true;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WHOLE: ((u32, u32), (u32, u32)) = ((0, 0), (u32::MAX, u32::MAX));

    /// Line, column, source, original line, original column, name.
    type Row = (u32, u32, u32, u32, u32, u32);

    #[track_caller]
    fn check(text: &str, expected: Option<&[Row]>) {
        let mut out = Vec::new();
        let read = read(text, WHOLE, (2, 2), &mut out);
        let got: Vec<_> =
            out.iter().map(|s| (s.line, s.column, s.source, s.source_line, s.source_column, s.name)).collect();
        match expected {
            Some(expected) => assert_eq!((read, got.as_slice()), (Ok(()), expected), "{text}"),
            None => assert!(read.is_err(), "{text}"),
        }
    }

    #[test]
    fn segments_are_deltas() {
        check("AAAA;;CACAC,C", Some(&[(0, 0, 0, 0, 0, NONE), (2, 1, 0, 1, 0, 1), (2, 2, NONE, 0, 0, NONE)]));
        check("EAAA,DAAA", Some(&[(0, 1, 0, 0, 0, NONE), (0, 2, 0, 0, 0, NONE)]));
        check("", Some(&[]));
        check(",,;,", Some(&[]));
        check("ggggggggggggA", Some(&[(0, 0, NONE, 0, 0, NONE)]));
    }

    #[test]
    fn broken_mappings_are_refused() {
        // Negative column, line, unknown source, unknown name, wrong count, not Base64, truncated, too long.
        for text in ["DAAA", "AADA", "AEAA", "AAAAE", "AA", "AAAAAA", "A!AA", "AÄAA", "AAgg", "gggggggE", "//////////"]
        {
            check(text, None);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[A-Za-z0-9+/,;!]{0,200}") {
            let mut out = Vec::new();
            if read(&text, WHOLE, (3, 3), &mut out).is_ok() {
                prop_assert!(out.windows(2).all(|p| (p[0].line, p[0].column) <= (p[1].line, p[1].column)));
            }
        }
    }
}
