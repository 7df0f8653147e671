//! Metadata of an original, stored as an `.info` file next to it.

use serde::{Deserialize, Serialize};

use super::keys::{ScriptPath, SymbolKey};
use super::release::Release;
use tidewatch_limits as limits;

/// Metadata of an original, as JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Info {
    /// The kind of the file, as [`SymbolKey::kind`].
    pub kind: String,
    /// The name it was uploaded with.
    pub name: String,
    /// The app's version, if the upload stated it: the latest one that this content was uploaded for.
    pub version: Option<String>,
    /// Earlier versions that the same content was uploaded for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier_versions: Vec<String>,
    /// The distribution, if the upload stated it. `None` also if stored before this field existed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dist: Option<String>,
    /// Size of the content in bytes.
    pub bytes: u64,
    /// XXH3-128 of the content, 32 hex digits.
    pub hash: String,
    /// Whether it has debug information. Only native code can lack it.
    pub has_debug_info: bool,
    /// Nanoseconds since the epoch.
    pub uploaded_ns: i64,
    /// Architecture of native code; `None` for other files.
    #[serde(default)]
    pub arch: Option<String>,
    /// Path of a script or a source map in its build. `None`: another kind, or stored before this field existed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Debug id of a script or a source map, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub debug_id: Option<String>,
    /// The uploader. `None`: stored before this field existed.
    #[serde(default)]
    pub by: Option<Uploader>,
}

/// The client that uploaded an original. An upload token belongs to the project, so no user is known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uploader {
    /// The `User-Agent`; may be empty.
    pub user_agent: String,
    /// Its network address.
    pub address: String,
}

impl Info {
    /// Bytes charged to the project's quota. A small file is charged a disk block.
    pub fn charge(&self) -> u64 {
        charge(self.bytes)
    }

    /// Path in its build of the script or source map with this key. `None` for other kinds.
    pub fn path_of(&self, key: &SymbolKey) -> Option<ScriptPath> {
        if !key.is_script() && !key.is_source_map() {
            return None;
        }
        ScriptPath::of(self.path.as_deref().unwrap_or(&self.name))
    }

    /// The releases that the content was uploaded for; one that names nothing if the upload stated none.
    pub fn releases(&self) -> Vec<Release> {
        let release = |version: Option<&String>| Release { version: version.cloned(), dist: self.dist.clone() };
        let earlier = self.earlier_versions.iter().map(|version| release(Some(version)));
        [release(self.version.as_ref())].into_iter().chain(earlier).collect()
    }

    /// Records that the same content was uploaded for this version too. Returns whether the version was not the latest
    /// one already.
    pub fn add_version(&mut self, version: Option<String>) -> bool {
        let Some(version) = version.filter(|version| self.version.as_ref() != Some(version)) else { return false };
        self.earlier_versions.retain(|known| *known != version);
        self.earlier_versions.extend(self.version.replace(version));
        let over = self.earlier_versions.len().saturating_sub(limits::SYMBOL_VERSIONS_MAX);
        self.earlier_versions.drain(..over);
        true
    }
}

/// Bytes charged to the quota for a file of this size. See [`Info::charge`].
pub fn charge(bytes: u64) -> u64 {
    bytes.max(limits::SYMBOL_CHARGE_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_one_content() {
        let mut info = Info::default();
        for (version, is_new) in
            [(None, false), (Some("1"), true), (Some("1"), false), (Some("2"), true), (Some("1"), true)]
        {
            assert_eq!(info.add_version(version.map(str::to_owned)), is_new, "{version:?}");
        }
        assert_eq!((info.version.as_deref(), &info.earlier_versions[..]), (Some("1"), &["2".to_owned()][..]));
        for number in 0..100 {
            info.add_version(Some(format!("3.{number}")));
        }
        assert_eq!(info.earlier_versions.len(), limits::SYMBOL_VERSIONS_MAX);
    }
}
