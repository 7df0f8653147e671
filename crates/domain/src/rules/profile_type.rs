//! The types of profiles. WIRE 2.1.

use crate::model::ProfileFormat;

/// The type of the values of a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileType {
    /// The stored name, for example `go:profile_cpu:nanoseconds`.
    pub name: String,
    /// The kind of profile, for example `cpu` or `heap`.
    pub profile: String,
    /// Whether values are a state, of which an average is shown, instead of an amount, which is summed up.
    pub is_gauge: bool,
}

/// Maximum length of a name or unit in bytes; the rest is cut off.
const NAME_BYTES_MAX: usize = 100;

/// The type of a sample type with this name and unit.
///
/// WIRE names three types of pprof with the prefix `go`, whatever the language. Types of the same profile are named
/// alike; others have the prefix of their format.
pub fn profile_type(format: ProfileFormat, name: &str, unit: &str) -> ProfileType {
    let of = |profile: &str, last: &str, is_gauge| ProfileType {
        name: format!("go:profile_{profile}:{last}"),
        profile: profile.to_owned(),
        is_gauge,
    };
    match (name, unit) {
        ("cpu", "nanoseconds") => of("cpu", unit, false),
        ("samples", "count") => of("cpu", "samples", false),
        ("alloc_space" | "alloc_objects", _) => of("heap", name, false),
        ("inuse_space" | "inuse_objects", _) => of("heap", name, true),
        ("goroutine" | "threadcreate", _) => of(name, name, true),
        // Profiles of mutexes and of blocking have the same types.
        ("contentions" | "delay", _) => of("contention", name, false),
        _ => {
            let prefix = match format {
                ProfileFormat::Pprof => "pprof",
                ProfileFormat::Otlp => "otel",
            };
            let (name, unit) = (cut(name, NAME_BYTES_MAX), cut(unit, NAME_BYTES_MAX));
            let profile = if name.is_empty() { "samples" } else { name };
            let unit = if unit.is_empty() { "count" } else { unit };
            // Heap profiles of Node.js: what is in use.
            let is_gauge = matches!((profile, unit), ("objects", "count") | ("space", "bytes"));
            ProfileType { name: format!("{prefix}:profile_{profile}:{unit}"), profile: profile.to_owned(), is_gauge }
        }
    }
}

/// The longest start of a text within `bytes_max` bytes.
pub(crate) fn cut(text: &str, bytes_max: usize) -> &str {
    let mut end = bytes_max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    // WIRE 2.1: the first three.
    #[test]
    fn type_table() {
        use ProfileFormat::{Otlp, Pprof};
        assert_eq!((cut("aé", 1), cut("aé", 2), cut("aé", 3), cut("", 0)), ("a", "a", "aé", ""));
        for (format, name, unit, expected, profile, is_gauge) in [
            (Pprof, "cpu", "nanoseconds", "go:profile_cpu:nanoseconds", "cpu", false),
            (Pprof, "inuse_space", "bytes", "go:profile_heap:inuse_space", "heap", true),
            (Pprof, "alloc_space", "bytes", "go:profile_heap:alloc_space", "heap", false),
            (Pprof, "samples", "count", "go:profile_cpu:samples", "cpu", false),
            (Pprof, "goroutine", "count", "go:profile_goroutine:goroutine", "goroutine", true),
            (Pprof, "delay", "nanoseconds", "go:profile_contention:delay", "contention", false),
            (Pprof, "wall", "nanoseconds", "pprof:profile_wall:nanoseconds", "wall", false),
            (Pprof, "space", "bytes", "pprof:profile_space:bytes", "space", true),
            (Pprof, "", "", "pprof:profile_samples:count", "samples", false),
            (Otlp, "cpu", "nanoseconds", "go:profile_cpu:nanoseconds", "cpu", false),
            (Otlp, "off_cpu", "nanoseconds", "otel:profile_off_cpu:nanoseconds", "off_cpu", false),
        ] {
            let found = profile_type(format, name, unit);
            assert_eq!((found.name.as_str(), found.profile.as_str(), found.is_gauge), (expected, profile, is_gauge));
        }
    }
}
