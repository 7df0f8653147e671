//! Rules for role changes, removals and invitations. WIRE 5.3. Pure functions, called inside the transaction.
//!
//! | | |
//! |---|---|
//! | owner | the role cannot be changed; the owner cannot be removed or leave |
//! | own role | cannot be changed; all members but the owner can leave |
//! | admins | only the owner appoints them, by a role change or an invitation |
//! | all other changes | by owners and admins |

use crate::ControlError::Forbidden;
use crate::{ControlError, Permission, Role};

/// The actor and the target of a change: roles in the same organization.
#[derive(Debug, Clone, Copy)]
pub struct MemberAction {
    /// Role of the user who makes the change.
    pub actor: Role,
    /// Role of the member who is changed.
    pub target: Role,
    /// Both are the same user.
    pub is_self: bool,
}

/// Checks a change of the target's role to `new`.
pub fn may_change_role(action: MemberAction, new: Role) -> Result<(), ControlError> {
    manages(action.actor)?;
    match action {
        MemberAction { is_self: true, .. } => Err(Forbidden("nobody changes their own role")),
        MemberAction { target: Role::Owner, .. } => Err(Forbidden("the owner's role does not change")),
        _ => may_give(action.actor, new),
    }
}

/// Checks the removal of the target, which may be the actor.
pub fn may_remove(action: MemberAction) -> Result<(), ControlError> {
    match action {
        MemberAction { target: Role::Owner, .. } => Err(Forbidden("the owner cannot leave or be removed")),
        MemberAction { is_self: true, .. } => Ok(()),
        MemberAction { actor, .. } => manages(actor),
    }
}

/// Checks a change of the target's project roles, which apply to users and read-only members only.
pub fn may_override(action: MemberAction) -> Result<(), ControlError> {
    manages(action.actor)?;
    match action {
        MemberAction { is_self: true, .. } => Err(Forbidden("nobody changes their own role")),
        MemberAction { target: Role::Owner | Role::Admin, .. } => {
            Err(Forbidden("owners and admins have no roles in single projects"))
        }
        _ => Ok(()),
    }
}

/// Checks whether `actor` may give the role to a member or an invited user.
pub fn may_give(actor: Role, new: Role) -> Result<(), ControlError> {
    manages(actor)?;
    match new {
        Role::Owner => Err(Forbidden("nobody is made an owner")),
        Role::Admin if actor != Role::Owner => Err(Forbidden("only the owner makes admins")),
        _ => Ok(()),
    }
}

fn manages(actor: Role) -> Result<(), ControlError> {
    if actor.permits(Permission::Admin) { Ok(()) } else { Err(Forbidden("this is for owners and admins")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Role::{Admin, Owner, Readonly, User};

    const ROLES: [Role; 4] = [Owner, Admin, User, Readonly];

    // WIRE 5.3: "Owner's role is immutable; only owner promotes to admin; nobody changes self", for every combination.
    #[test]
    fn role_changes_follow_the_rules() {
        for actor in ROLES {
            for target in ROLES {
                for new in ROLES {
                    let change = |is_self| may_change_role(MemberAction { actor, target, is_self }, new).is_ok();
                    let expected = match (actor, target, new) {
                        (User | Readonly, _, _) | (_, Owner, _) | (_, _, Owner) => false,
                        (Admin, _, Admin) => false,
                        (Owner | Admin, _, _) => true,
                    };
                    assert_eq!(change(false), expected, "{actor:?} makes {target:?} {new:?}");
                    assert!(!change(true), "{actor:?} makes themselves {new:?}");
                }
            }
        }
    }

    #[test]
    fn removals_follow_the_rules() {
        for actor in ROLES {
            for target in ROLES {
                let expected = matches!(actor, Owner | Admin) && target != Owner;
                let action = MemberAction { actor, target, is_self: false };
                assert_eq!(may_remove(action).is_ok(), expected, "{actor:?} removes {target:?}");
                assert_eq!(may_override(action).is_ok(), expected && target != Admin, "{actor:?} overrides {target:?}");
            }
            let leaves = MemberAction { actor, target: actor, is_self: true };
            assert_eq!(may_remove(leaves).is_ok(), actor != Owner, "{actor:?} leaves");
            assert!(may_override(leaves).is_err(), "{actor:?} overrides themselves");
        }
    }

    #[test]
    fn invitations_follow_the_rules() {
        for (actor, new, expected) in [
            (Owner, Admin, true),
            (Owner, User, true),
            (Owner, Owner, false),
            (Admin, Admin, false),
            (Admin, User, true),
            (Admin, Readonly, true),
            (User, Readonly, false),
            (Readonly, Readonly, false),
        ] {
            assert_eq!(may_give(actor, new).is_ok(), expected, "{actor:?} invites {new:?}");
        }
    }
}
