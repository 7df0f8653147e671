//! Backtraces of Rust in both manglings, short and full. Printed by Rust 1.95.

use super::model::{Builder, Frame, Lines, Relation, Role};
use super::text::{is_hex, leading_digits, place, write_file};

pub(super) fn parse<'a>(lines: Lines<'a>, builder: &mut Builder<'a>) {
    builder.exception("", Relation::Outermost, 0);
    // Causes of `anyhow` are numbered too, above the backtrace.
    let has_header = lines.text.contains("tack backtrace:");
    let mut is_open = !has_header;
    for line in lines {
        let trimmed = line.trim();
        if !is_open {
            is_open = trimmed.ends_with("tack backtrace:");
            continue;
        }
        if let Some(at) = trimmed.strip_prefix("at ") {
            let (file, number, column) = place(at);
            if let Some(frame) = builder.stack.frames.last_mut().filter(|frame| frame.file.is_empty()) {
                (frame.file, frame.line, frame.column) = (file, number, column);
                frame.role = role(frame.function, file);
            }
            continue;
        }
        let Some((_, rest)) = leading_digits(trimmed) else { continue };
        let Some(rest) = rest.strip_prefix(": ") else { continue };
        let path = rest.trim_start();
        let path = match path.strip_prefix("0x") {
            Some(address) => address.split_once(" - ").map_or("", |(_, path)| path),
            None => path,
        };
        if !path.is_empty() && path != "<unknown>" {
            let role = role(path, "");
            builder.frame(Frame { module: "", function: path, file: "", line: 0, column: 0, role });
        }
    }
}

const LIBRARIES: &[&str] = &[
    "std",
    "core",
    "alloc",
    "__rustc",
    "rust_begin_unwind",
    "backtrace",
    "panic_unwind",
    "__rust",
    "rust_panic",
    "_rust",
];

fn is_library_path(path: &str) -> bool {
    let root = path.trim_start_matches(['<', '&', '*', '(']).trim_start_matches("dyn ");
    let end = root.find([':', '[', '<', ' ', '>']).unwrap_or(root.len());
    LIBRARIES.contains(&&root[..end]) || root.starts_with("__rust")
}

fn role(path: &str, file: &str) -> Role {
    let is_plumbing = path.contains("panicking")
        || path.contains("rust_begin_unwind")
        || path.contains("backtrace")
        || path.contains("__rust_begin_short")
        || path.contains("rust_panic");
    let is_external = file.starts_with("/rustc/")
        || file.contains("/.cargo/registry/")
        || file.contains("/.cargo/git/")
        || file.contains("/rustlib/src/");
    let is_own = is_library_path(path)
        || (path.starts_with('<')
            && file.is_empty()
            && path.split_once(" as ").is_some_and(|(_, of)| is_library_path(of)));
    let is_start = matches!(
        path,
        "main"
            | "_start"
            | "__libc_start_main"
            | "__libc_start_call_main"
            | "start_thread"
            | "clone"
            | "clone3"
            | "<unknown>"
    ) || path.starts_with("__libc_start");
    match () {
        () if is_plumbing && (is_own || is_external) => Role::Plumbing,
        () if is_start => Role::Plumbing,
        () if is_own || is_external => Role::Library,
        () => Role::Application,
    }
}

/// The path without hashes, numbers of closures and type arguments; of `<X as Trait>::f` stay `X` and `f`.
pub(super) fn write(frame: &Frame<'_>, divider: char, out: &mut String) -> bool {
    if frame.function.is_empty() {
        write_file(frame.file, out);
        return false;
    }
    let path = match frame.function.rsplit_once("::h") {
        Some((path, hash)) if hash.len() == 16 && is_hex(hash, 16) => path,
        _ => frame.function,
    };
    let start = out.len();
    let mut depth = 0usize;
    // Depth of the angle bracket whose content is kept, and whether its type is complete.
    let (mut kept, mut is_over) = (0usize, false);
    let mut at = 0;
    let bytes = path.as_bytes();
    while at < bytes.len() {
        let byte = bytes[at];
        match byte {
            b'<' => {
                depth += 1;
                if depth == kept + 1 && !is_over && (at == 0 || out.len() == start) {
                    kept = depth;
                }
            }
            b'>' if at > 0 && bytes[at - 1] == b'-' => {}
            b'>' => {
                if depth == kept && kept > 0 {
                    kept = 0;
                    is_over = true;
                    depth = 0;
                } else {
                    depth = depth.saturating_sub(1);
                }
            }
            b' ' if kept > 0 && depth == kept && path[at..].starts_with(" as ") => {
                // The trait; the content ends at the bracket of this depth.
                kept = depth;
                let end = closing(bytes, at, depth);
                at = end;
                continue;
            }
            b'[' if depth <= kept
                && path[at + 1..].find(']').is_some_and(|end| is_hex(&path[at + 1..at + 1 + end], 8)) =>
            {
                at += path[at..].find(']').unwrap_or(0);
            }
            b'{' if depth <= kept => {
                let end = path[at..].find('}').map_or(path.len(), |end| at + end);
                out.push_str("{closure}");
                at = end;
                while at + 1 < bytes.len() && bytes[at + 1] == b'}' {
                    at += 1;
                }
            }
            _ if depth <= kept && byte.is_ascii() => out.push(char::from(byte)),
            _ if depth <= kept => {
                let letter = path[at..].chars().next().unwrap_or(' ');
                out.push(letter);
                at += letter.len_utf8();
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    while out[start..].ends_with("::") {
        out.truncate(out.len() - 2);
    }
    // `f::<T>` of v0 leaves `f::`, `a::<T>::f` leaves `a::::f`.
    if out[start..].contains("::::") {
        let shorter = out[start..].replace("::::", "::");
        out.truncate(start);
        out.push_str(&shorter);
    }
    if let Some(at) = out[start..].rfind("::") {
        let at = start + at;
        out.replace_range(at..at + 2, divider.encode_utf8(&mut [0; 4]));
    }
    true
}

/// Position of the bracket that closes `depth`, from `at`.
fn closing(bytes: &[u8], at: usize, depth: usize) -> usize {
    let mut current = depth;
    for (position, byte) in bytes.iter().enumerate().skip(at) {
        match byte {
            b'<' => current += 1,
            b'>' if bytes[position - 1] != b'-' => {
                current -= 1;
                if current < depth {
                    return position;
                }
            }
            _ => {}
        }
    }
    bytes.len()
}
