//! Names of frames for display: functions, packages, files.

use std::collections::HashMap;

use tidewatch_domain::project::TRUNCATED;
use tidewatch_domain::rules::profile_stack::Frame;
use xxhash_rust::xxh3::Xxh3Builder;

/// Maximum number of distinct names; further ones are shown as [`TRUNCATED`].
const NAMES_MAX: usize = 1 << 19;

/// Distinct names with their packages and files.
#[derive(Default)]
pub struct Names {
    numbers: HashMap<String, u32, Xxh3Builder>,
    /// Display names.
    pub names: Vec<String>,
    /// By name.
    pub packages: Vec<String>,
    /// By name; of several files of a name the first.
    pub files: Vec<String>,
}

impl Names {
    /// The number of a frame's name.
    pub fn number(&mut self, frame: &Frame<'_>) -> u32 {
        if frame.function.is_empty() {
            let name = address_name(frame);
            return self.add(&name, frame.file);
        }
        self.add(frame.function, frame.file)
    }

    /// The number of a frame's name that was added already.
    pub fn known(&self, frame: &Frame<'_>) -> Option<u32> {
        match frame.function {
            "" => self.numbers.get(&address_name(frame)).copied(),
            name => self.numbers.get(name).copied(),
        }
    }

    /// The number of a name.
    pub fn add(&mut self, name: &str, file: &str) -> u32 {
        if let Some(known) = self.numbers.get(name) {
            return *known;
        }
        if self.names.len() == NAMES_MAX && name != TRUNCATED {
            return self.add(TRUNCATED, "");
        }
        let number = self.names.len() as u32;
        self.numbers.insert(name.to_owned(), number);
        self.names.push(name.to_owned());
        self.packages.push(package(name, file).to_owned());
        self.files.push(file.to_owned());
        number
    }
}

/// The name of an address that is not symbolized: file and address.
pub fn address_name(frame: &Frame<'_>) -> String {
    match base_name(frame.file) {
        "" => format!("{:#x}", frame.address),
        file => format!("{file}!{:#x}", frame.address),
    }
}

fn base_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// The package of a function, by the conventions of its language; empty when unknown.
pub fn package<'a>(name: &'a str, file: &'a str) -> &'a str {
    for folder in ["node_modules/", "site-packages/", "dist-packages/"] {
        if let Some((_, inside)) = file.rsplit_once(folder) {
            return first_folders(inside);
        }
    }
    if file.starts_with("node:") {
        return file.split('/').next().unwrap_or(file);
    }
    let is_address = name.contains("!0x");
    if is_address || name.starts_with("0x") || name.starts_with('(') {
        return base_name(file);
    }
    // Rust and C++: the first segment of the path.
    if name.contains("::") {
        let path = name.trim_start_matches(['<', '&', '*', '[']).trim_start_matches("dyn ");
        return path.split("::").next().unwrap_or("").split(['<', ' ']).next().unwrap_or("");
    }
    if file.ends_with(".java") || file.ends_with(".kt") || file.ends_with(".scala") {
        return name.rsplitn(3, '.').nth(2).unwrap_or("");
    }
    // Go: what precedes the first dot after the last slash. Type arguments may contain slashes.
    let plain = &name[..name.find('[').unwrap_or(name.len())];
    let last = plain.rfind('/').map_or(0, |slash| slash + 1);
    if file.ends_with(".go") || last > 0 || file.is_empty() {
        return plain[last..].find('.').map_or("", |dot| &plain[..last + dot]);
    }
    ""
}

/// The name of an npm or Python package at the start of a path.
fn first_folders(inside: &str) -> &str {
    let mut slashes = inside.match_indices('/').map(|(at, _)| at);
    let count = if inside.starts_with('@') { 1 } else { 0 };
    slashes.nth(count).map_or(inside, |at| &inside[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn package_table() {
        for (name, file, expected) in [
            ("net/http.(*conn).serve", "/usr/lib/go/src/net/http/server.go", "net/http"),
            ("main.main", "/app/main.go", "main"),
            ("github.com/a/b.c.Do", "/x.go", "github.com/a/b"),
            ("slices.SortFunc[go.shape.[]a/b.X]", "/x.go", "slices"),
            ("runtime.mallocgc", "", "runtime"),
            ("tokio::runtime::task::poll", "/x.rs", "tokio"),
            ("<alloc::vec::Vec<T> as core::ops::Drop>::drop", "/x.rs", "alloc"),
            ("render", "file:///app/node_modules/react-dom/server.js", "react-dom"),
            ("get", "/app/node_modules/@org/kit/a.js", "@org/kit"),
            ("run", "/lib/python3/site-packages/django/core.py", "django"),
            ("read", "node:internal/fs/promises", "node:internal"),
            ("java.util.HashMap.get", "HashMap.java", "java.util"),
            ("libc.so.6!0x12", "/lib/libc.so.6", "libc.so.6"),
            ("anonymous", "file:///app/a.js", ""),
            ("", "", ""),
        ] {
            assert_eq!(package(name, file), expected, "{name} {file}");
        }
    }
}
