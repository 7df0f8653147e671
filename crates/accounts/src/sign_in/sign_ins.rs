//! Sign-ins in the audit log, and the security log of a user's account. Entries about an account belong to no
//! organization; its user sees them, and the admins of every organization that the user is a member of.

use serde_json::json;

use super::SignIn;
use crate::{Actor, AuditEntry, ControlError, User};

/// Actions of a sign-in from a known and from a new device.
const SIGN_IN: &str = "sign_in.success";
const SIGN_IN_FROM_NEW_DEVICE: &str = "sign_in.new_device";

impl SignIn {
    /// Records a sign-in. `how`: `password`, `passkey`, `second factor`, or a provider.
    ///
    /// A sign-in from a new device sends a mail, except the account's first. `is_known_device` is the result of
    /// [`SignIn::is_known_device`]; `None` for programs without cookies, which are recognized by User-Agent and
    /// address.
    pub async fn record_sign_in(
        &self,
        actor: &Actor,
        user: &User,
        how: &str,
        is_known_device: Option<bool>,
    ) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        let (all, same_client): (i64, i64) = sqlx::query_as(
            "SELECT COUNT(*), COALESCE(SUM(CASE WHEN address = $2 AND user_agent = $3 THEN 1 ELSE 0 END), 0) \
             FROM audit_log WHERE user_id = $1 AND action IN ('sign_in.success', 'sign_in.new_device')",
        )
        .bind(user.id)
        .bind(&actor.address)
        .bind(&actor.user_agent)
        .fetch_one(write.on())
        .await?;
        let is_known = is_known_device.unwrap_or(same_client > 0);
        let action = if all > 0 && !is_known { SIGN_IN_FROM_NEW_DEVICE } else { SIGN_IN };
        let actor = Actor { user_id: Some(user.id), name: user.email.clone(), ..actor.clone() };
        write.audit(actor.did(action).on("user", user.id).with(json!({ "how": how }))).await?;
        write.commit().await
    }

    /// Records a refused sign-in. `failures`: the number of consecutive failures, this one included.
    pub async fn record_refusal(
        &self,
        actor: &Actor,
        user: i64,
        email: &str,
        how: &str,
        failures: u32,
    ) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        let actor = Actor { user_id: Some(user), name: email.to_owned(), ..actor.clone() };
        let details = json!({ "how": how, "failures": failures });
        write.audit(actor.did("sign_in.refuse").on("user", user).with(details)).await?;
        write.commit().await
    }

    /// Returns at most `limit` entries about a user's account, newest first, older than the entry `before`.
    pub async fn security_log(&self, user: i64, before: i64, limit: i64) -> Result<Vec<AuditEntry>, ControlError> {
        let rows = sqlx::query_as(
            "SELECT id, at_ns, user_id, actor, address, action, subject, details, user_agent FROM audit_log \
             WHERE organization_id IS NULL AND (user_id = $1 OR subject = $4) AND id < $2 ORDER BY id DESC LIMIT $3",
        )
        .bind(user)
        .bind(before)
        .bind(limit)
        .bind(format!("user:{user}"))
        .fetch_all(self.database.pool())
        .await?;
        Ok(rows.into_iter().map(AuditEntry::read).collect())
    }
}
