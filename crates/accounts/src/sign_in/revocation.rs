//! The end of all sessions and credentials of a user.

use serde_json::json;

use super::SignIn;
use super::second_factor::drop_idle_recovery_codes;
use super::sessions::end_sessions;
use crate::{Actor, ControlError, Write};

/// Credentials that are deleted in addition to the sessions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AlsoRevoke {
    /// All personal access tokens.
    pub personal_tokens: bool,
    /// All passkeys; recovery codes too if no other second factor remains.
    pub passkeys: bool,
}

impl SignIn {
    /// Ends every session of the user, and deletes the credentials in `also`.
    pub async fn revoke_sessions(&self, actor: &Actor, user: i64, also: AlsoRevoke) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        end_sessions(&mut write, user, actor.at_ns).await?;
        end_credentials(&mut write, actor, user, also).await?;
        write.audit(actor.did("user.revoke_sessions").on("user", user)).await?;
        write.commit().await
    }
}

pub(super) async fn end_credentials(
    write: &mut Write<'_>,
    actor: &Actor,
    user: i64,
    also: AlsoRevoke,
) -> Result<(), ControlError> {
    let kinds = [
        (also.personal_tokens, "DELETE FROM personal_access_tokens WHERE user_id = $1", "token.delete_all"),
        (also.passkeys, "DELETE FROM passkeys WHERE user_id = $1", "passkey.remove_all"),
    ];
    for (_, statement, action) in kinds.into_iter().filter(|(is_selected, ..)| *is_selected) {
        let ended = sqlx::query(statement).bind(user).execute(write.on()).await?.rows_affected();
        write.audit(actor.did(action).on("user", user).with(json!({ "count": ended }))).await?;
    }
    if also.passkeys {
        drop_idle_recovery_codes(write, user).await?;
        write.changes_directory();
    }
    Ok(())
}
