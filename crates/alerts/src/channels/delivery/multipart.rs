//! Bodies of `multipart/form-data`: fields and one PNG picture.

/// Separates the parts. Random content contains it with no probability that matters, and fields are checked.
const BOUNDARY: &str = "tidewatch-5b0c8e1d7f2a49c3";

/// The content type.
pub fn content_type() -> String {
    format!("multipart/form-data; boundary={BOUNDARY}")
}

/// A body with fields and a picture in the field `picture_field`.
pub fn body(fields: &[(&str, &str)], picture_field: &str, png: &[u8]) -> Vec<u8> {
    let mut body = Vec::with_capacity(png.len() + 2048);
    for (name, value) in fields {
        let value = value.replace(BOUNDARY, "");
        body.extend_from_slice(
            format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n").as_bytes(),
        );
    }
    body.extend_from_slice(
        format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{picture_field}\"; filename=\"chart.png\"\r\n\
             Content-Type: image/png\r\n\r\n"
        )
        .as_bytes(),
    );
    body.extend_from_slice(png);
    body.extend_from_slice(format!("\r\n--{BOUNDARY}--\r\n").as_bytes());
    body
}
