//! Which files are logos: PNG and JPEG, by their content. WIRE 6.

/// The content type of a logo. `None`: the file is none.
pub fn content_type(file: &[u8]) -> Option<&'static str> {
    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
    const JPEG: &[u8] = b"\xff\xd8\xff";
    if file.starts_with(PNG) && file.get(12..16) == Some(b"IHDR") {
        return Some("image/png");
    }
    (file.starts_with(JPEG) && file.len() > 4).then_some("image/jpeg")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn png_and_jpeg_only() {
        for (file, expected) in [
            (&b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0"[..], Some("image/png")),
            (b"\xff\xd8\xff\xe0\0\x10JFIF", Some("image/jpeg")),
            (b"\x89PNG\r\n\x1a\n<svg onload=alert(1)>", None),
            (b"\xff\xd8\xff", None),
            (b"GIF89a", None),
            (b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>", None),
            (b"<!doctype html>", None),
            (b"", None),
        ] {
            assert_eq!(content_type(file), expected);
        }
    }
}
