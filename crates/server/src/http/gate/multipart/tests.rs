//! RFC 7578 as browsers, curl and upload tools write it; then random input.

use super::*;
use proptest::prelude::*;

const TYPE: &str = "multipart/form-data; boundary=XX";

/// The events of a body that is pushed `step` bytes at a time, with the data of each part joined.
fn read(body: &[u8], step: usize) -> Result<Vec<Event>, MultipartError> {
    let mut parser = Multipart::new(TYPE)?;
    let mut events: Vec<Event> = Vec::new();
    for bytes in body.chunks(step.max(1)) {
        parser.push(bytes);
        while let Some(event) = parser.event()? {
            match (events.last_mut(), event) {
                (Some(Event::Data(known)), Event::Data(more)) => *known = [&known[..], &more].concat().into(),
                (_, event) => events.push(event),
            }
        }
        assert!(parser.buffer.len() <= limits::PART_HEADER_BYTES_MAX + step + 100, "{}", parser.buffer.len());
    }
    parser.finish()?;
    Ok(events)
}

fn part(name: &str, file_name: Option<&str>) -> Event {
    Event::Part(PartHead { name: name.to_owned(), file_name: file_name.map(str::to_owned) })
}

fn data(text: &str) -> Event {
    Event::Data(Bytes::copy_from_slice(text.as_bytes()))
}

#[test]
fn bodies_can_be_split_anywhere() {
    let two = "--XX\r\nContent-Disposition: form-data; name=\"files\"; filename=\"a.map\"\r\nContent-Type: text/plain\r\n\r\n\
               one\r\n--X\r\n\r\n--XX\r\ncontent-disposition:form-data;name=files;filename=b\r\n\r\n\r\n--XX--\r\nepilogue --XX";
    let events = [
        part("files", Some("a.map")),
        data("one\r\n--X\r\n"),
        Event::PartEnd,
        part("files", Some("b")),
        Event::PartEnd,
        Event::End,
    ];
    for step in 1..=two.len() {
        assert_eq!(read(two.as_bytes(), step).as_deref(), Ok(&events[..]), "{step}");
    }
    for (body, expected) in [
        ("--XX--", Ok(vec![Event::End])),
        ("preamble\r\n--XX--\r\n", Ok(vec![Event::End])),
        (
            "--XX  \r\nContent-Disposition: form-data; name=v\r\n\r\n1\r\n--XX--",
            Ok(vec![part("v", None), data("1"), Event::PartEnd, Event::End]),
        ),
        ("--XX\r\n\r\nx\r\n--XX--", Err(MultipartError::NoName)),
        ("--XX\r\nContent-Type: a/b\r\n\r\nx\r\n--XX--", Err(MultipartError::NoName)),
        ("--XX\r\nContent-Disposition: form-data\r\n\r\nx\r\n--XX--", Err(MultipartError::NoName)),
        ("--XXmore", Err(MultipartError::BadBoundary)),
        ("--XX -", Err(MultipartError::BadBoundary)),
        ("--XX\r\nContent-Disposition: form-data; name=v\r\n\r\n1", Err(MultipartError::Unfinished)),
        ("", Err(MultipartError::Unfinished)),
        ("nothing", Err(MultipartError::Unfinished)),
    ] {
        for step in 1..=body.len().max(1) {
            assert_eq!(read(body.as_bytes(), step), expected, "{body:?} in steps of {step}");
        }
    }
}

#[test]
fn boundaries() {
    for (value, expected) in [
        ("multipart/form-data; boundary=XX", Some("XX")),
        ("Multipart/Form-Data; charset=utf-8; Boundary=\"X; X\"", Some("X; X")),
        ("multipart/form-data;boundary=----WebKitFormBoundary7MA4", Some("----WebKitFormBoundary7MA4")),
        ("multipart/form-data; boundary=", None),
        ("multipart/form-data", None),
        ("multipart/mixed; boundary=XX", None),
        ("application/json", None),
        ("", None),
    ] {
        assert_eq!(boundary(value).as_deref(), expected, "{value:?}");
    }
    assert!(boundary(&format!("multipart/form-data; boundary={}", "x".repeat(70))).is_some());
    assert!(boundary(&format!("multipart/form-data; boundary={}", "x".repeat(71))).is_none());
}

#[test]
fn names_of_files() {
    for (disposition, expected) in [
        (r#"form-data; name="files"; filename="a \"b\" \\c.map""#, Some(r#"a "b" \c.map"#)),
        (r#"form-data; filename="C:\d\e.map"; name="files""#, Some(r"C:\d\e.map")),
        (r#"form-data; name="files"; filename="ä.map""#, Some("ä.map")),
        (r#"form-data; name="files"; filename="open"#, Some("open")),
        (r#"form-data; name="files"; filename="#, Some("")),
        (r#"form-data; name="files""#, None),
    ] {
        let head = part_head(&format!("A: b\r\nContent-Disposition: {disposition}\r\n\r\n")).expect("a name");
        assert_eq!((head.name.as_str(), head.file_name.as_deref()), ("files", expected), "{disposition}");
    }
}

#[test]
fn headers_without_end_are_refused_early() {
    let body = format!("--XX\r\nContent-Disposition: form-data; name={}", "n".repeat(1 << 20));
    assert_eq!(read(body.as_bytes(), 1000), Err(MultipartError::LongHeaders));
}

proptest! {
    #[test]
    fn written_parts_are_read_back(parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..5), step in 1usize..400) {
        // The boundary occurs in no part.
        let parts: Vec<Vec<u8>> = parts.into_iter().map(|part| part.into_iter().map(|byte| if byte == b'X' { b'Y' } else { byte }).collect()).collect();
        let mut body = Vec::new();
        let mut expected = Vec::new();
        for bytes in &parts {
            body.extend_from_slice(b"--XX\r\nContent-Disposition: form-data; name=\"files\"\r\n\r\n");
            body.extend_from_slice(bytes);
            body.extend_from_slice(b"\r\n");
            expected.push(part("files", None));
            if !bytes.is_empty() {
                expected.push(Event::Data(Bytes::copy_from_slice(bytes)));
            }
            expected.push(Event::PartEnd);
        }
        body.extend_from_slice(b"--XX--");
        expected.push(Event::End);
        prop_assert_eq!(read(&body, step), Ok(expected));
    }

    #[test]
    fn any_bytes_are_read_or_refused(words in prop::collection::vec(prop_oneof![
        Just(b"--XX".to_vec()), Just(b"\r\n".to_vec()), Just(b"\r\n--XX".to_vec()), Just(b"--".to_vec()), Just(b"\r\n\r\n".to_vec()),
        Just(b"Content-Disposition: form-data; name=\"a".to_vec()), Just(b"\"".to_vec()), prop::collection::vec(any::<u8>(), 0..5),
    ], 0..30), step in 1usize..50) {
        let body = words.concat();
        // The result does not depend on how the body is split.
        prop_assert_eq!(read(&body, step), read(&body, body.len()));
    }

    #[test]
    fn any_content_type_is_read_or_refused(text: String) {
        let _ = Multipart::new(&text);
        let _ = part_head(&text);
    }
}
