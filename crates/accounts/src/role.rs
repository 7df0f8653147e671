//! Roles and what they open: the one policy. WIRE 5.3.
//!
//! | | read | write | admin | owner |
//! |---|---|---|---|---|
//! | readonly | yes | | | |
//! | user | yes | yes | | |
//! | admin | yes | yes | yes | |
//! | owner | yes | yes | yes | yes |

/// Most powerful first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub enum Role {
    Owner,
    Admin,
    User,
    Readonly,
}

/// What a route asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Any member.
    Read,
    /// May change projects and what is decided about them.
    Write,
    /// May manage members, tokens and settings.
    Admin,
    Owner,
}

impl Role {
    pub fn as_str(self) -> &'static str {
        match self {
            Role::Owner => "owner",
            Role::Admin => "admin",
            Role::User => "user",
            Role::Readonly => "readonly",
        }
    }

    /// None for anything else.
    pub fn parse(text: &str) -> Option<Role> {
        [Role::Owner, Role::Admin, Role::User, Role::Readonly].into_iter().find(|role| role.as_str() == text)
    }

    pub fn meets(self, need: Need) -> bool {
        match need {
            Need::Read => true,
            Need::Write => self <= Role::User,
            Need::Admin => self <= Role::Admin,
            Need::Owner => self == Role::Owner,
        }
    }

    /// The role in a project where `there` stands instead of the organisation's. It never binds owners and admins.
    pub fn overridden(self, there: Option<Role>) -> Role {
        match (self, there) {
            (Role::User | Role::Readonly, Some(there @ (Role::User | Role::Readonly))) => there,
            (own, _) => own,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Role::{Admin, Owner, Readonly, User};

    const ROLES: [Role; 4] = [Owner, Admin, User, Readonly];

    // WIRE 5.3: the table above.
    #[test]
    fn what_roles_open() {
        for (need, expected) in [
            (Need::Read, &ROLES[..]),
            (Need::Write, &ROLES[..3]),
            (Need::Admin, &ROLES[..2]),
            (Need::Owner, &ROLES[..1]),
        ] {
            let found: Vec<Role> = ROLES.into_iter().filter(|role| role.meets(need)).collect();
            assert_eq!(found, expected, "{need:?}");
        }
    }

    // WIRE 5.3: per-project override user|readonly for user/readonly members.
    #[test]
    fn overrides() {
        for (own, there, expected) in [
            (Owner, Some(Readonly), Owner),
            (Admin, Some(Readonly), Admin),
            (User, Some(Readonly), Readonly),
            (Readonly, Some(User), User),
            (User, Some(Admin), User),
            (User, None, User),
        ] {
            assert_eq!(own.overridden(there), expected, "{own:?} {there:?}");
        }
        for role in ROLES {
            assert_eq!(Role::parse(role.as_str()), Some(role));
        }
        assert_eq!(Role::parse("root"), None);
    }
}
