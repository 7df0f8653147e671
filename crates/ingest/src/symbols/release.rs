//! Releases: the version and the distribution that an upload or a stack trace names. DECISIONS 33; note 0023.
//!
//! An upload that names another release than the trace never resolves it.

use std::fmt;

use tidewatch_limits as limits;
use tidewatch_runtime::redact::plain;
use xxhash_rust::xxh3::Xxh3;

/// A release as an upload or a stack trace names it. Both may be absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Release {
    /// Version of the app, `service.version`.
    pub version: Option<String>,
    /// Distribution: one of several builds of a version.
    pub dist: Option<String>,
}

/// Identifies a release in the key of an upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReleaseId(u64);

/// Digits of a [`ReleaseId`].
const ID_DIGITS: usize = 16;

/// Relation of an upload's release to that of a trace. Greater ones are preferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// Both name a version or a distribution, and these differ.
    Other,
    /// Nothing is named by both.
    Unsaid,
    /// This many of version and distribution are equal, and none differs.
    Same(u8),
}

impl Release {
    /// The release with these names. They are shortened like those of uploads; empty ones count as absent.
    pub fn of(version: Option<&str>, dist: Option<&str>) -> Release {
        let name = |text: Option<&str>| {
            text.map(|text| plain(text.trim(), limits::UPLOAD_NAME_CHARS_SHOWN)).filter(|text| !text.is_empty())
        };
        Release { version: name(version), dist: name(dist) }
    }

    /// The id of the release. `None`: it names nothing.
    pub fn id(&self) -> Option<ReleaseId> {
        if self.version.is_none() && self.dist.is_none() {
            return None;
        }
        let mut hasher = Xxh3::new();
        for name in [&self.version, &self.dist] {
            hasher.update(name.as_deref().unwrap_or_default().as_bytes());
            hasher.update(&[0]);
        }
        Some(ReleaseId(hasher.digest()))
    }

    /// Relation of this release of an upload to that of a trace.
    pub fn fit(&self, trace: &Release) -> Fit {
        let mut same = 0;
        for names in [(&self.version, &trace.version), (&self.dist, &trace.dist)] {
            match names {
                (Some(one), Some(other)) if one != other => return Fit::Other,
                (Some(_), Some(_)) => same += 1,
                _ => {}
            }
        }
        if same == 0 { Fit::Unsaid } else { Fit::Same(same) }
    }
}

impl ReleaseId {
    /// Parses the displayed form.
    pub fn parse(text: &str) -> Option<ReleaseId> {
        let is_id = text.len() == ID_DIGITS && text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
        is_id.then(|| u64::from_str_radix(text, 16).ok()).flatten().map(ReleaseId)
    }
}

impl fmt::Display for ReleaseId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}", self.0)
    }
}

/// The uploads of one name that may resolve a trace: those that fit best. Without one that names the trace's release, an
/// upload of another release excludes those that name none.
pub fn fitting<K>(candidates: Vec<(Fit, K)>) -> Vec<K> {
    let best = candidates.iter().map(|(fit, _)| *fit).max();
    let has_other = candidates.iter().any(|(fit, _)| *fit == Fit::Other);
    match best {
        None | Some(Fit::Other) => Vec::new(),
        Some(Fit::Unsaid) if has_other => Vec::new(),
        Some(best) => candidates.into_iter().filter(|(fit, _)| *fit == best).map(|(_, key)| key).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release(text: &str) -> Release {
        let (version, dist) = text.split_once('/').unwrap_or((text, ""));
        Release::of(Some(version), Some(dist))
    }

    #[test]
    fn fits_table() {
        for (upload, trace, expected) in [
            ("", "", Fit::Unsaid),
            ("1", "", Fit::Unsaid),
            ("", "1", Fit::Unsaid),
            ("1", "1", Fit::Same(1)),
            ("1", "2", Fit::Other),
            ("1/a", "1/a", Fit::Same(2)),
            ("1/a", "1", Fit::Same(1)),
            ("1", "1/a", Fit::Same(1)),
            ("1/a", "1/b", Fit::Other),
            ("1/a", "2/a", Fit::Other),
            ("/a", "1/a", Fit::Same(1)),
            ("/a", "1/b", Fit::Other),
        ] {
            assert_eq!(release(upload).fit(&release(trace)), expected, "{upload:?} {trace:?}");
        }
    }

    // A map of another known release never applies; an upload without a version only where no other names one.
    #[test]
    fn choices_table() {
        for (uploads, trace, expected) in [
            (&["1", "2", ""][..], "1", &["1"][..]),
            (&["1", "2", ""], "3", &[]),
            (&["1"], "2", &[]),
            (&[""], "2", &[""]),
            (&["1", "2", ""], "", &["1", "2", ""]),
            (&["1", "1/a", "1/b"], "1/a", &["1/a"]),
            (&["1", "1/b"], "1/a", &["1"]),
            (&["1/b"], "1/a", &[]),
            (&[], "1", &[]),
        ] {
            let trace = release(trace);
            let candidates = uploads.iter().map(|upload| (release(upload).fit(&trace), *upload)).collect();
            assert_eq!(fitting(candidates), expected, "{uploads:?} {trace:?}");
        }
    }

    #[test]
    fn ids_tell_releases_apart() {
        let ids: std::collections::HashSet<_> = ["1", "2", "1/a", "/a", "/1"].map(|text| release(text).id()).into();
        assert_eq!((ids.len(), release("").id(), release(" / ").id()), (5, None, None));
        let id = release("1/a").id().expect("it names something");
        assert_eq!(ReleaseId::parse(&id.to_string()), Some(id));
        for text in ["", "1", "+123456789abcdef", "0123456789ABCDEF"] {
            assert_eq!(ReleaseId::parse(text), None, "{text}");
        }
    }
}
