//! Scenario: bodies in every encoding, whole, doubled, cut, lying about their size, and bombs.
//! Guarantee: the right bytes, or a named refusal, and never more memory than the limit (plus one byte).

use std::io::Write;

use super::*;

const LIMIT: usize = 1 << 20;

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

fn zlib(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

fn raw(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

fn zstd(data: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(data, 3).unwrap()
}

fn text() -> Vec<u8> {
    (0..20_000u32).flat_map(|n| format!("span {n} ").into_bytes()).collect()
}

#[track_caller]
fn check(name: &str, coding: Coding, body: &[u8], expected: Result<&[u8], InflateError>) {
    let mut inflater = Inflater::default();
    // Twice: the second run reuses the buffer.
    for _ in 0..2 {
        assert_eq!(inflater.inflate(coding, body, LIMIT), expected, "{name}");
    }
    assert!(inflater.buffer.len() <= LIMIT + 1, "{name}: the buffer grew to {}", inflater.buffer.len());
}

#[test]
fn whole_bodies() {
    let text = text();
    check("identity", Coding::Identity, &text, Ok(&text));
    check("gzip", Coding::Gzip, &gzip(&text), Ok(&text));
    check("zlib", Coding::Deflate, &zlib(&text), Ok(&text));
    check("raw deflate", Coding::Deflate, &raw(&text), Ok(&text));
    check("zstd", Coding::Zstd, &zstd(&text), Ok(&text));
    for (name, coding, empty) in [
        ("gzip", Coding::Gzip, gzip(b"")),
        ("zlib", Coding::Deflate, zlib(b"")),
        ("raw deflate", Coding::Deflate, raw(b"")),
        ("zstd", Coding::Zstd, zstd(b"")),
    ] {
        check(name, coding, &empty, Ok(b""));
    }
}

#[test]
fn several_members() {
    let text = text();
    let doubled = [text.as_slice(), &text].concat();
    // Equal members are the hard case: the last trailer's size and checksum match the first member too.
    check("two equal gzip members", Coding::Gzip, &[gzip(&text), gzip(&text)].concat(), Ok(&doubled));
    check("a small and a large", Coding::Gzip, &[gzip(b"a"), gzip(b"bcd")].concat(), Ok(b"abcd"));
    check("a large and a small", Coding::Gzip, &[gzip(b"abc"), gzip(b"d")].concat(), Ok(b"abcd"));
    check("two zstd frames", Coding::Zstd, &[zstd(b"ab"), zstd(b"cd")].concat(), Ok(b"abcd"));
}

#[test]
fn damaged_bodies() {
    let text = text();
    for (coding, whole) in [(Coding::Gzip, gzip(&text)), (Coding::Deflate, zlib(&text)), (Coding::Zstd, zstd(&text))] {
        check("cut in half", coding, &whole[..whole.len() / 2], Err(InflateError::Bad));
        let mut flipped = whole.clone();
        flipped[whole.len() / 2] ^= 0xff;
        let mut inflater = Inflater::default();
        assert_ne!(inflater.inflate(coding, &flipped, LIMIT), Ok(text.as_slice()), "{coding:?}: a flipped bit shows");
    }
    for coding in [Coding::Gzip, Coding::Deflate, Coding::Zstd] {
        check("not compressed at all", coding, b"{\"resourceSpans\":[]}", Err(InflateError::Bad));
    }
    for coding in [Coding::Gzip, Coding::Deflate] {
        check("empty", coding, b"", Err(InflateError::Bad));
    }
    let mut wrong_size = gzip(&text);
    let last = wrong_size.len() - 1;
    wrong_size[last] = 0x7f;
    check("a trailer that lies about the size", Coding::Gzip, &wrong_size, Err(InflateError::Bad));
}

#[test]
fn the_limit_counts_inflated_bytes() {
    let (full, over) = (vec![b'a'; LIMIT], vec![b'a'; LIMIT + 1]);
    for (coding, compress) in [
        (Coding::Gzip, gzip as fn(&[u8]) -> Vec<u8>),
        (Coding::Deflate, zlib),
        (Coding::Deflate, raw),
        (Coding::Zstd, zstd),
    ] {
        check("at the limit", coding, &compress(&full), Ok(&full));
        check("one over", coding, &compress(&over), Err(InflateError::TooLarge));
        check("a bomb", coding, &compress(&vec![0; 200 << 20]), Err(InflateError::TooLarge));
    }
    check("at the limit", Coding::Identity, &full, Ok(&full));
    check("one over", Coding::Identity, &over, Err(InflateError::TooLarge));
}

#[test]
fn content_codings() {
    for (values, expected) in [
        (&[][..], Ok(Coding::Identity)),
        (&[""], Ok(Coding::Identity)),
        (&["identity"], Ok(Coding::Identity)),
        (&["gzip"], Ok(Coding::Gzip)),
        (&["GZIP"], Ok(Coding::Gzip)),
        (&["x-gzip"], Ok(Coding::Gzip)),
        (&["deflate"], Ok(Coding::Deflate)),
        (&[" zstd "], Ok(Coding::Zstd)),
        (&["identity, gzip"], Ok(Coding::Gzip)),
        (&["gzip, gzip"], Err("gzip, gzip (more than one)")),
        (&["gzip", "zstd"], Err("zstd (more than one)")),
        (&["snappy"], Err("snappy")),
        (&["lz4"], Err("lz4")),
        (&["br"], Err("br")),
    ] {
        let headers = HeaderMap::from_iter(values.iter().map(|value| (CONTENT_ENCODING, value.parse().unwrap())));
        assert_eq!(of(&headers), expected.map_err(str::to_owned), "{values:?}");
    }
}
