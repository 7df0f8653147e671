//! Scopes limit the permissions of a token to a part of its user's.
//!
//! A token has one level, and applies to all projects of its user or to a list of them. Each level contains the ones
//! before it. The default is to read and write, which clients that predate scopes need; `admin` must be requested.

use serde_json::json;
use uuid::Uuid;

/// The level of a token. Each level contains those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScopeLevel {
    /// Reads.
    Read,
    /// Changes projects and triage decisions.
    Write,
    /// Reads data of owners and admins, creates organizations.
    Admin,
}

/// The scope of a token. A user's own login has none and is not limited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// Level of the token's permissions.
    pub level: ScopeLevel,
    /// Ids of the projects; `None`: all projects of the user, future ones included. An empty list permits none.
    pub projects: Option<Vec<Uuid>>,
}

/// The level of tokens for which no level was requested.
pub const DEFAULT_LEVEL: ScopeLevel = ScopeLevel::Write;

impl ScopeLevel {
    /// Every level, ascending.
    pub const ALL: [ScopeLevel; 3] = [ScopeLevel::Read, ScopeLevel::Write, ScopeLevel::Admin];

    /// The name in the API and the database.
    pub fn as_str(self) -> &'static str {
        match self {
            ScopeLevel::Read => "read",
            ScopeLevel::Write => "write",
            ScopeLevel::Admin => "admin",
        }
    }

    /// Parses [`ScopeLevel::as_str`]; `None` for other strings.
    pub fn parse(word: &str) -> Option<ScopeLevel> {
        ScopeLevel::ALL.into_iter().find(|level| level.as_str() == word)
    }

    /// Returns the highest level in OAuth's `scope`, a list separated by spaces. Unknown words are ignored, as RFC
    /// 6749, 3.3 allows; [`DEFAULT_LEVEL`] without a known one.
    pub fn requested(scope: Option<&str>) -> ScopeLevel {
        let words = scope.unwrap_or_default().split(' ');
        words.filter_map(ScopeLevel::parse).max().unwrap_or(DEFAULT_LEVEL)
    }

    /// The names of this level and of those it contains, ascending.
    pub fn words(self) -> Vec<String> {
        let contained = ScopeLevel::ALL.into_iter().filter(|level| *level <= self);
        contained.map(|level| level.as_str().to_owned()).collect()
    }

    /// Like [`ScopeLevel::words`], in the form of OAuth's `scope`.
    pub fn text(self) -> String {
        self.words().join(" ")
    }
}

impl Scope {
    /// A scope of all projects of the user.
    pub fn of(level: ScopeLevel) -> Scope {
        Scope { level, projects: None }
    }

    /// Returns whether the scope includes the project.
    pub fn opens(&self, project: Uuid) -> bool {
        self.projects.as_ref().is_none_or(|projects| projects.contains(&project))
    }

    /// The value of the column `projects`.
    pub(super) fn stored_projects(&self) -> Option<String> {
        self.projects.as_ref().map(|projects| json!(projects).to_string())
    }

    /// Parses the columns `scope` and `projects`. Invalid values give the smallest scope.
    pub(super) fn read(level: &str, projects: Option<&str>) -> Scope {
        let level = ScopeLevel::parse(level).unwrap_or(ScopeLevel::Read);
        Scope { level, projects: projects.map(|list| serde_json::from_str(list).unwrap_or_default()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_requested_level_is_returned() {
        for (scope, expected) in [
            (None, ScopeLevel::Write),
            (Some(""), ScopeLevel::Write),
            (Some("openid offline_access"), ScopeLevel::Write),
            (Some("read"), ScopeLevel::Read),
            (Some("openid read"), ScopeLevel::Read),
            (Some("write read"), ScopeLevel::Write),
            (Some("read write admin"), ScopeLevel::Admin),
            (Some("Admin"), ScopeLevel::Write),
        ] {
            assert_eq!(ScopeLevel::requested(scope), expected, "{scope:?}");
        }
        assert_eq!(ScopeLevel::Write.text(), "read write");
    }

    #[test]
    fn stored_scopes_are_read_back_and_never_widen() {
        let (one, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        for projects in [None, Some(vec![]), Some(vec![one])] {
            let scope = Scope { level: ScopeLevel::Admin, projects };
            assert_eq!(Scope::read("admin", scope.stored_projects().as_deref()), scope);
        }
        assert_eq!(Scope::read("everything", None).level, ScopeLevel::Read);
        let unreadable = Scope::read("write", Some("[oops"));
        assert!(!unreadable.opens(one) && !unreadable.opens(other));
        let narrow = Scope { level: ScopeLevel::Read, projects: Some(vec![one]) };
        assert!(narrow.opens(one) && !narrow.opens(other) && Scope::of(ScopeLevel::Read).opens(other));
    }
}
