//! Users, organizations, their members and invitations.
//!
//! - `users`, `profiles`: accounts and what their users choose.
//! - `organizations`: the first registration, organizations, the roles of their members.
//! - `members`, `member_rules`: who may change which member. `invitations`: new members, by mail.
//! - `lookups`: users, organizations and roles in memory. `support`: for `tidewatch admin`.

mod invitations;
mod lookups;
mod member_rules;
mod members;
mod organizations;
mod profiles;
mod support;
mod users;

pub(crate) use member_rules::{MemberAction, may_change_role};
pub(crate) use members::revoke_invitations_of;
pub(crate) use organizations::insert_membership;
pub(crate) use users::insert_user;

pub use invitations::{Invitation, Invited, NewInvitation};
pub use members::Member;
pub use organizations::{NewAccount, OrganizationChange};
pub use profiles::Profile;
pub use users::NewUser;

use crate::Database;

/// Users, organizations and their members.
#[derive(Clone)]
pub struct People {
    database: Database,
}

impl People {
    /// Reads and writes in `database`.
    pub fn new(database: Database) -> People {
        People { database }
    }
}
