//! `traceparent` and `tracestate` of a caller, as specified by W3C Trace Context (level 1).

use axum::http::HeaderMap;

use tidewatch_limits as limits;

/// The caller's span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parent {
    /// Trace id.
    pub trace_id: [u8; 16],
    /// Id of the caller's span.
    pub span_id: [u8; 8],
    /// Whether the caller samples the trace.
    pub is_sampled: bool,
    /// `tracestate`, unchanged.
    pub state: String,
}

impl Parent {
    /// Reads the headers. `None`: they are missing or invalid, and the request begins a trace of its own.
    pub fn of(headers: &HeaderMap) -> Option<Parent> {
        let mut lines = headers.get_all("traceparent").iter();
        let (line, None) = (lines.next()?, lines.next()) else { return None };
        let mut parent = Parent::read(line.to_str().ok()?)?;
        let states: Option<Vec<&str>> = headers.get_all("tracestate").iter().map(|line| line.to_str().ok()).collect();
        let state = states.unwrap_or_default().join(",");
        if state.len() <= limits::TRACE_STATE_BYTES_MAX {
            parent.state = state;
        }
        Some(parent)
    }

    /// Parses `00-<trace id>-<span id>-<flags>`; later versions may append fields.
    pub fn read(line: &str) -> Option<Parent> {
        let mut fields = line.trim().split('-');
        let [version] = hex(fields.next()?)?;
        let trace_id = hex(fields.next()?)?;
        let span_id = hex(fields.next()?)?;
        let [flags] = hex(fields.next()?)?;
        let is_known = version != 0xff && (version != 0 || fields.next().is_none());
        let is_valid = trace_id != [0; 16] && span_id != [0; 8];
        (is_known && is_valid).then_some(Parent { trace_id, span_id, is_sampled: flags & 1 == 1, state: String::new() })
    }
}

/// Parses lower-case hex digits; upper case is invalid by the standard.
fn hex<const BYTES: usize>(text: &str) -> Option<[u8; BYTES]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let text = text.as_bytes();
    if text.len() != 2 * BYTES {
        return None;
    }
    let mut bytes = [0; BYTES];
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GOOD: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn lines() {
        for (line, sampled) in [
            (GOOD, Some(true)),
            ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00", Some(false)),
            ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03", Some(true)),
            ("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-comes", Some(true)),
            ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-comes", None),
            ("ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", None),
            ("00-0AF7651916CD43DD8448EB211C80319C-B7AD6B7169203331-01", None),
            ("00-00000000000000000000000000000000-b7ad6b7169203331-01", None),
            ("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", None),
            ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331", None),
            ("00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01", None),
            ("", None),
        ] {
            assert_eq!(Parent::read(line).map(|parent| parent.is_sampled), sampled, "{line}");
        }
    }

    #[test]
    fn several_parents_are_invalid() {
        let mut headers = HeaderMap::new();
        assert_eq!(Parent::of(&headers), None);
        headers.append("traceparent", GOOD.parse().unwrap());
        headers.append("tracestate", "a=1".parse().unwrap());
        headers.append("tracestate", "b=2".parse().unwrap());
        let parent = Parent::of(&headers).expect("a parent");
        assert_eq!((parent.span_id[0], parent.state.as_str()), (0xb7, "a=1,b=2"));
        headers.append("traceparent", GOOD.parse().unwrap());
        assert_eq!(Parent::of(&headers), None, "two parents are none");
    }

    proptest! {
        #[test]
        fn any_line_is_parsed_or_rejected(line in "\\PC*|[0-9a-f-]{50,60}") {
            let _ = Parent::read(&line);
        }
    }
}
