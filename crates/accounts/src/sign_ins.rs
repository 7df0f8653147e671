//! Sign-ins in the audit log, and the security log: what happened to a person's own account. Lines about an account belong
//! to no organization; its owner sees them, and the admins of every organization that the person is a member of.

use serde_json::json;

use super::audit::{AuditLine, By};
use super::{Control, ControlError, User};

/// A sign-in from a device that has signed in before, and from one that has not.
const SIGNED_IN: &str = "sign_in.success";
const SIGNED_IN_ANEW: &str = "sign_in.new_device";

impl Control {
    /// Records a sign-in. `how`: `password`, `passkey`, `second factor`, or a provider.
    ///
    /// One from a device that is new to an account that has signed in before is worth a mail. `is_known_device`: by its
    /// cookie ([`Control::knows_device`]); none: a program without cookies, known by its name and address.
    pub async fn record_sign_in(
        &self,
        by: &By,
        user: &User,
        how: &str,
        is_known_device: Option<bool>,
    ) -> Result<(), ControlError> {
        let mut write = self.write().await?;
        let (all, alike): (i64, i64) = sqlx::query_as(
            "SELECT COUNT(*), COALESCE(SUM(CASE WHEN address = $2 AND user_agent = $3 THEN 1 ELSE 0 END), 0) \
             FROM audit_log WHERE user_id = $1 AND action IN ('sign_in.success', 'sign_in.new_device')",
        )
        .bind(user.id)
        .bind(&by.address)
        .bind(&by.user_agent)
        .fetch_one(write.on())
        .await?;
        let is_known = is_known_device.unwrap_or(alike > 0);
        let action = if all > 0 && !is_known { SIGNED_IN_ANEW } else { SIGNED_IN };
        let by = By { user_id: Some(user.id), name: user.email.clone(), ..by.clone() };
        write.audit(by.did(action).on("user", user.id).with(json!({ "how": how }))).await?;
        write.commit().await
    }

    /// Records a sign-in that was refused. `failures`: how many in a row this makes.
    pub async fn record_refusal(
        &self,
        by: &By,
        user: i64,
        email: &str,
        how: &str,
        failures: u32,
    ) -> Result<(), ControlError> {
        let mut write = self.write().await?;
        let by = By { user_id: Some(user), name: email.to_owned(), ..by.clone() };
        let details = json!({ "how": how, "failures": failures });
        write.audit(by.did("sign_in.refuse").on("user", user).with(details)).await?;
        write.commit().await
    }

    /// What happened to a person's account, newest first, older than the line `before`.
    pub async fn security_log(&self, user: i64, before: i64, most: i64) -> Result<Vec<AuditLine>, ControlError> {
        let rows = sqlx::query_as(
            "SELECT id, at_ns, user_id, actor, address, action, subject, details, user_agent FROM audit_log \
             WHERE organization_id IS NULL AND (user_id = $1 OR subject = $4) AND id < $2 ORDER BY id DESC LIMIT $3",
        )
        .bind(user)
        .bind(before)
        .bind(most)
        .bind(format!("user:{user}"))
        .fetch_all(self.pool())
        .await?;
        Ok(rows.into_iter().map(AuditLine::read).collect())
    }
}
