//! Scopes: what a token may do at most, of what its person may do.
//!
//! A token has one level, and works in all projects of its person or in some. The levels contain each other. Without a
//! request for a scope a token reads and writes, because clients from before scopes do both; none is an admin unasked.

use serde_json::json;
use uuid::Uuid;

/// How far a token goes. Each level contains those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScopeLevel {
    /// Reads.
    Read,
    /// Changes projects and decisions.
    Write,
    /// Reads what only owners and admins read, makes organizations.
    Admin,
}

/// What a token may do. A person's own login has none and may do everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    pub level: ScopeLevel,
    /// None: all projects of the person, those to come too. An empty list opens nothing.
    pub projects: Option<Vec<Uuid>>,
}

/// Without a request for another.
pub const DEFAULT_LEVEL: ScopeLevel = ScopeLevel::Write;

impl ScopeLevel {
    pub const ALL: [ScopeLevel; 3] = [ScopeLevel::Read, ScopeLevel::Write, ScopeLevel::Admin];

    pub fn as_str(self) -> &'static str {
        match self {
            ScopeLevel::Read => "read",
            ScopeLevel::Write => "write",
            ScopeLevel::Admin => "admin",
        }
    }

    pub fn parse(word: &str) -> Option<ScopeLevel> {
        ScopeLevel::ALL.into_iter().find(|level| level.as_str() == word)
    }

    /// The level that OAuth's `scope` asks for: words between spaces. Unknown words are ignored, as RFC 6749, 3.3 allows;
    /// [`DEFAULT_LEVEL`] without a known one.
    pub fn asked(scope: Option<&str>) -> ScopeLevel {
        let words = scope.unwrap_or_default().split(' ');
        words.filter_map(ScopeLevel::parse).max().unwrap_or(DEFAULT_LEVEL)
    }

    /// This level and those it contains, as words.
    pub fn words(self) -> Vec<String> {
        let contained = ScopeLevel::ALL.into_iter().filter(|level| *level <= self);
        contained.map(|level| level.as_str().to_owned()).collect()
    }

    /// As OAuth's `scope`.
    pub fn text(self) -> String {
        self.words().join(" ")
    }
}

impl Scope {
    pub fn of(level: ScopeLevel) -> Scope {
        Scope { level, projects: None }
    }

    pub fn opens(&self, project: Uuid) -> bool {
        self.projects.as_ref().is_none_or(|projects| projects.contains(&project))
    }

    /// As `projects` is stored.
    pub(super) fn stored_projects(&self) -> Option<String> {
        self.projects.as_ref().map(|projects| json!(projects).to_string())
    }

    /// From the columns `scope` and `projects`. What cannot be read opens less, never more.
    pub(super) fn read(level: &str, projects: Option<&str>) -> Scope {
        let level = ScopeLevel::parse(level).unwrap_or(ScopeLevel::Read);
        Scope { level, projects: projects.map(|list| serde_json::from_str(list).unwrap_or_default()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_client_asks_for() {
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
            assert_eq!(ScopeLevel::asked(scope), expected, "{scope:?}");
        }
        assert_eq!(ScopeLevel::Write.text(), "read write");
    }

    #[test]
    fn what_is_stored_is_read_back_and_never_widens() {
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
