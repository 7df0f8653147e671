//! What is known of an original besides its bytes: the `.info` file beside it.

use serde::{Deserialize, Serialize};

use super::keys::{ScriptPath, SymbolKey};
use tidewatch_limits as limits;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Info {
    pub kind: String,
    /// As its sender called it.
    pub name: String,
    /// Of the app, when the sender said it: the latest that this content was sent for.
    pub version: Option<String>,
    /// The versions that the same content was sent for before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier_versions: Vec<String>,
    pub bytes: u64,
    /// XXH3-128 of the content, 32 hex digits.
    pub hash: String,
    pub has_debug_info: bool,
    /// Nanoseconds since the epoch.
    pub uploaded_ns: i64,
    /// Of native code.
    #[serde(default)]
    pub arch: Option<String>,
    /// Where a script or a source map lies in its build. `None`: neither, or stored before that was noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Of a script or a source map, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub debug_id: Option<String>,
    /// `None`: stored before that was noted.
    #[serde(default)]
    pub by: Option<Uploader>,
}

/// Who sent an original. An upload token is the project's, not a person's: the rest is what is known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uploader {
    /// As the tool calls itself; may be empty.
    pub user_agent: String,
    /// Its network address.
    pub address: String,
}

impl Info {
    /// What it takes of the project's quota: a small file takes a block of the disk too.
    pub fn charge(&self) -> u64 {
        charge(self.bytes)
    }

    /// Where the script or source map of this key lies in its build.
    pub fn path_of(&self, key: &SymbolKey) -> Option<ScriptPath> {
        if !key.is_script() && !key.is_source_map() {
            return None;
        }
        ScriptPath::of(self.path.as_deref().unwrap_or(&self.name))
    }

    /// Notes that the same content was sent for this version too. Whether that is new.
    pub fn add_version(&mut self, version: Option<String>) -> bool {
        let Some(version) = version.filter(|version| self.version.as_ref() != Some(version)) else { return false };
        self.earlier_versions.retain(|known| *known != version);
        self.earlier_versions.extend(self.version.replace(version));
        let over = self.earlier_versions.len().saturating_sub(limits::SYMBOL_VERSIONS_MAX);
        self.earlier_versions.drain(..over);
        true
    }
}

/// See [`Info::charge`].
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
