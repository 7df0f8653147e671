//! Who may change whose role, remove whom and invite whom. WIRE 5.3; pure, decided inside the transaction.
//!
//! | | |
//! |---|---|
//! | the owner's role | never changes; the owner is not removed and does not leave |
//! | one's own role | nobody changes; anybody but the owner leaves |
//! | admins | only the owner makes them, by a change or by an invitation |
//! | everything else | owners and admins |

use super::ControlError::Forbidden;
use super::{ControlError, Need, Role};

/// Who acts, and on whom: roles in the same organisation.
#[derive(Debug, Clone, Copy)]
pub struct Act {
    pub actor: Role,
    pub target: Role,
    pub is_self: bool,
}

pub fn may_change_role(act: Act, new: Role) -> Result<(), ControlError> {
    manages(act.actor)?;
    match act {
        Act { is_self: true, .. } => Err(Forbidden("nobody changes their own role")),
        Act { target: Role::Owner, .. } => Err(Forbidden("the owner's role does not change")),
        _ => may_give(act.actor, new),
    }
}

pub fn may_remove(act: Act) -> Result<(), ControlError> {
    match act {
        Act { target: Role::Owner, .. } => Err(Forbidden("the owner cannot leave or be removed")),
        Act { is_self: true, .. } => Ok(()),
        Act { actor, .. } => manages(actor),
    }
}

/// Roles in single projects bind users and read-only members alone.
pub fn may_override(act: Act) -> Result<(), ControlError> {
    manages(act.actor)?;
    match act {
        Act { is_self: true, .. } => Err(Forbidden("nobody changes their own role")),
        Act { target: Role::Owner | Role::Admin, .. } => {
            Err(Forbidden("owners and admins have no roles in single projects"))
        }
        _ => Ok(()),
    }
}

/// Gives a role to a member or to somebody invited.
pub fn may_give(actor: Role, new: Role) -> Result<(), ControlError> {
    manages(actor)?;
    match new {
        Role::Owner => Err(Forbidden("nobody is made an owner")),
        Role::Admin if actor != Role::Owner => Err(Forbidden("only the owner makes admins")),
        _ => Ok(()),
    }
}

fn manages(actor: Role) -> Result<(), ControlError> {
    if actor.meets(Need::Admin) { Ok(()) } else { Err(Forbidden("this is for owners and admins")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Role::{Admin, Owner, Readonly, User};

    const ROLES: [Role; 4] = [Owner, Admin, User, Readonly];

    // WIRE 5.3: "Owner's role is immutable; only owner promotes to admin; nobody changes self", for every combination.
    #[test]
    fn role_changes() {
        for actor in ROLES {
            for target in ROLES {
                for new in ROLES {
                    let change = |is_self| may_change_role(Act { actor, target, is_self }, new).is_ok();
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
    fn removals() {
        for actor in ROLES {
            for target in ROLES {
                let expected = matches!(actor, Owner | Admin) && target != Owner;
                let act = Act { actor, target, is_self: false };
                assert_eq!(may_remove(act).is_ok(), expected, "{actor:?} removes {target:?}");
                assert_eq!(may_override(act).is_ok(), expected && target != Admin, "{actor:?} overrides {target:?}");
            }
            let leaves = Act { actor, target: actor, is_self: true };
            assert_eq!(may_remove(leaves).is_ok(), actor != Owner, "{actor:?} leaves");
            assert!(may_override(leaves).is_err(), "{actor:?} overrides themselves");
        }
    }

    #[test]
    fn invitations() {
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
