//! Lines for the terminal of a user.

use std::io::Write;

/// Prints a line to standard error.
pub fn remark(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// A size for display: `12.3 MB`, in powers of 1000.
pub fn megabytes(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// `1 file`, `2 files`.
pub fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!([999, 1_500, 14_500_000].map(megabytes), ["999 bytes", "1.5 kB", "14.5 MB"]);
        assert_eq!((counted(1, "file"), counted(0, "file")), ("1 file".to_owned(), "0 files".to_owned()));
    }
}
