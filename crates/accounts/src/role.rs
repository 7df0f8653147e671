//! Roles and their permissions. WIRE 5.3.
//!
//! | | read | write | admin | owner |
//! |---|---|---|---|---|
//! | readonly | yes | | | |
//! | user | yes | yes | | |
//! | admin | yes | yes | yes | |
//! | owner | yes | yes | yes | yes |

/// A role in an organization or a project. The most powerful one is the smallest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub enum Role {
    /// Everything. An organization has one owner.
    Owner,
    /// Manages members, tokens and settings.
    Admin,
    /// Changes projects and triage decisions.
    User,
    /// Reads.
    Readonly,
}

/// The permission that a route requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    /// Reading, for every member.
    Read,
    /// Changing projects and triage decisions.
    Write,
    /// Managing members, tokens and settings.
    Admin,
    /// Actions of the owner.
    Owner,
}

impl Role {
    /// The name in the API and the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::Owner => "owner",
            Role::Admin => "admin",
            Role::User => "user",
            Role::Readonly => "readonly",
        }
    }

    /// Parses [`Role::as_str`]; `None` for other strings.
    pub fn parse(text: &str) -> Option<Role> {
        [Role::Owner, Role::Admin, Role::User, Role::Readonly].into_iter().find(|role| role.as_str() == text)
    }

    /// Returns whether the role has the permission.
    pub fn permits(self, permission: Permission) -> bool {
        match permission {
            Permission::Read => true,
            Permission::Write => self <= Role::User,
            Permission::Admin => self <= Role::Admin,
            Permission::Owner => self == Role::Owner,
        }
    }

    /// The effective role in a project with the override `project_role`. Overrides do not apply to owners and admins.
    pub fn overridden(self, project_role: Option<Role>) -> Role {
        match (self, project_role) {
            (Role::User | Role::Readonly, Some(project_role @ (Role::User | Role::Readonly))) => project_role,
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
    fn roles_have_the_permissions_of_the_table() {
        for (permission, expected) in [
            (Permission::Read, &ROLES[..]),
            (Permission::Write, &ROLES[..3]),
            (Permission::Admin, &ROLES[..2]),
            (Permission::Owner, &ROLES[..1]),
        ] {
            let found: Vec<Role> = ROLES.into_iter().filter(|role| role.permits(permission)).collect();
            assert_eq!(found, expected, "{permission:?}");
        }
    }

    // WIRE 5.3: per-project override user|readonly for user/readonly members.
    #[test]
    fn overrides_apply_to_users_and_readonly_members() {
        for (own, project_role, expected) in [
            (Owner, Some(Readonly), Owner),
            (Admin, Some(Readonly), Admin),
            (User, Some(Readonly), Readonly),
            (Readonly, Some(User), User),
            (User, Some(Admin), User),
            (User, None, User),
        ] {
            assert_eq!(own.overridden(project_role), expected, "{own:?} {project_role:?}");
        }
        for role in ROLES {
            assert_eq!(Role::parse(role.as_str()), Some(role));
        }
        assert_eq!(Role::parse("root"), None);
    }
}
