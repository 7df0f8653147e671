//! Messages of gRPC over HTTP/2: a flag, a length and the message; and the percent encoding of `grpc-message`.
//!
//! tonic is not used: it reads and inflates a message before a service sees it, and its types copy every string. Here a
//! message is admitted, limited, journaled and decoded like an OTLP/HTTP body, as received and borrowed.

use std::fmt::Write;

use bytes::Bytes;

/// Bytes before a message: the flag "compressed", and its length as a big-endian u32.
pub const PREFIX_BYTES: usize = 5;

/// A message as received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Whether the message is compressed as `grpc-encoding` says.
    pub is_compressed: bool,
    /// The message. Shares the memory of the body.
    pub message: Bytes,
}

/// Why the body of a unary call is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The body ends before its message does.
    #[error("the gRPC message ended early")]
    Short,
    /// Bytes follow the message; a unary call has one message.
    #[error("the call has more than one gRPC message")]
    Long,
    /// The flag is neither 0 nor 1; its value.
    #[error("the compressed flag of a gRPC message is 0 or 1, not {0}")]
    Flag(u8),
    /// A message is compressed, and `grpc-encoding` names no compression.
    #[error("the gRPC message is compressed, but grpc-encoding names no compression")]
    NoEncoding,
}

/// The only message of a body.
pub fn only(body: Bytes) -> Result<Frame, FrameError> {
    let Some((&[flag, length @ ..], message)) = body.split_first_chunk::<PREFIX_BYTES>() else {
        return Err(FrameError::Short);
    };
    if flag > 1 {
        return Err(FrameError::Flag(flag));
    }
    match message.len().cmp(&(u32::from_be_bytes(length) as usize)) {
        std::cmp::Ordering::Less => Err(FrameError::Short),
        std::cmp::Ordering::Greater => Err(FrameError::Long),
        std::cmp::Ordering::Equal => Ok(Frame { is_compressed: flag == 1, message: body.slice(PREFIX_BYTES..) }),
    }
}

/// An uncompressed message with its prefix.
pub fn encode(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).expect("responses are small");
    [&[0][..], &length.to_be_bytes(), message].concat()
}

/// `HealthCheckRequest.service`; empty when absent. `None`: the message is no HealthCheckRequest.
pub fn health_service(message: &[u8]) -> Option<String> {
    match message {
        [] => Some(String::new()),
        // Field 1, length-delimited; names of services have less than 128 bytes.
        [0x0a, length, name @ ..] if usize::from(*length) == name.len() && *length < 0x80 => {
            String::from_utf8(name.to_vec()).ok()
        }
        _ => None,
    }
}

/// Text for `grpc-message`: every byte but printable ASCII, and `%`, as `%XX`.
pub fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'%' | 0..0x20 | 0x7f.. => write!(encoded, "%{byte:02X}").expect("a String takes everything"),
            byte => encoded.push(byte.into()),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bodies_table() {
        let message =
            |is_compressed, message: &'static [u8]| Ok(Frame { is_compressed, message: Bytes::from_static(message) });
        for (body, expected) in [
            (&[0, 0, 0, 0, 2, 7, 8][..], message(false, &[7, 8])),
            (&[1, 0, 0, 0, 1, 7], message(true, &[7])),
            // An empty ExportRequest.
            (&[0, 0, 0, 0, 0], message(false, &[])),
            (&[], Err(FrameError::Short)),
            (&[0, 0, 0, 0], Err(FrameError::Short)),
            (&[0, 0, 0, 0, 2, 7], Err(FrameError::Short)),
            (&[0, 0xff, 0xff, 0xff, 0xff, 7], Err(FrameError::Short)),
            (&[0, 0, 0, 0, 1, 7, 8], Err(FrameError::Long)),
            (&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0], Err(FrameError::Long)),
            (&[2, 0, 0, 0, 0], Err(FrameError::Flag(2))),
        ] {
            assert_eq!(only(Bytes::copy_from_slice(body)), expected, "{body:?}");
        }
    }

    #[test]
    fn health_requests_table() {
        for (message, expected) in
            [(&[][..], Some("")), (&[0x0a, 2, b'a', b'b'], Some("ab")), (&[0x0a, 3, b'a'], None), (&[9], None)]
        {
            assert_eq!(health_service(message).as_deref(), expected, "{message:?}");
        }
    }

    #[test]
    fn percent_encoding_table() {
        for (text, expected) in [("plain text", "plain text"), ("5 %", "5 %25"), ("é\n", "%C3%A9%0A")] {
            assert_eq!(percent_encoded(text), expected);
        }
    }

    proptest! {
        #[test]
        fn a_message_is_read_as_encoded(message: Vec<u8>) {
            let body = Bytes::from(encode(&message));
            prop_assert_eq!(only(body), Ok(Frame { is_compressed: false, message: Bytes::from(message) }));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
            let _ = health_service(&bytes);
            let _ = only(Bytes::from(bytes));
        }
    }
}
