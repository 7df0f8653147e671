//! Reads of the escalation policies for all rooms: an object that a policy names is not deleted.

use tidewatch_accounts::{ControlError, Write};

/// Whether a policy of the organization reaches a target.
pub(crate) async fn is_targeted(
    write: &mut Write<'_>,
    organization: i64,
    kind: &str,
    id: i64,
) -> Result<bool, ControlError> {
    let policies: Vec<String> = sqlx::query_scalar("SELECT definition FROM oncall_policies WHERE organization_id = $1")
        .bind(organization)
        .fetch_all(write.on())
        .await?;
    Ok(policies.iter().any(|policy| targets(policy, kind).contains(&id)))
}

/// The ids of the targets of a kind in a policy.
pub(crate) fn targets(policy: &str, kind: &str) -> Vec<i64> {
    let policy: serde_json::Value = serde_json::from_str(policy).unwrap_or_default();
    let steps = policy["steps"].as_array().into_iter().flatten();
    let all = steps.flat_map(|step| step["targets"].as_array().into_iter().flatten());
    all.filter(|target| target["type"] == kind).filter_map(|target| target["id"].as_i64()).collect()
}
