//! Names of people, and checks of what users enter.

use std::collections::BTreeMap;

use crate::contexts::Accounts;
use crate::error::ApiError;
use tidewatch_accounts::Member;
use tidewatch_alerts::oncall::views::OncallPerson;
use tidewatch_limits as limits;
use tidewatch_query::time;
use tidewatch_runtime::redact::is_hidden;

/// The members of an organization by id.
pub struct People(BTreeMap<i64, Member>);

impl People {
    pub async fn of(accounts: &Accounts, organization: i64) -> Result<People, ApiError> {
        let members = accounts.control.people.members(organization).await?;
        Ok(People(members.into_iter().map(|member| (member.user_id, member)).collect()))
    }

    /// `None`: no member.
    pub fn person(&self, user: i64) -> Option<OncallPerson> {
        let member = self.0.get(&user)?;
        Some(OncallPerson { user_id: user, name: member.name.clone(), email: member.email.clone() })
    }

    /// The name of a member, or their address.
    pub fn name(&self, user: i64) -> Option<String> {
        let member = self.0.get(&user)?;
        Some(if member.name.is_empty() { member.email.clone() } else { member.name.clone() })
    }

    /// All names by id.
    pub fn names(&self) -> BTreeMap<i64, String> {
        self.0.keys().filter_map(|user| Some((*user, self.name(*user)?))).collect()
    }
}

/// The trimmed value: 1 to 100 characters on one line. Otherwise fails with 422.
pub fn name(field: &str, value: &str) -> Result<String, ApiError> {
    let value = value.trim();
    let most = limits::ONCALL_NAME_CHARS_MAX;
    if value.is_empty() || value.chars().count() > most || value.contains(is_hidden) {
        return Err(ApiError::unprocessable(format!("{field} has 1 to {most} characters on one line")));
    }
    Ok(value.to_owned())
}

/// The trimmed value of at most 1000 characters; lines are allowed. Otherwise fails with 422.
pub fn description(field: &str, value: &str) -> Result<String, ApiError> {
    let value = value.trim();
    let most = limits::ONCALL_DESCRIPTION_CHARS_MAX;
    let is_wrong = |c: char| is_hidden(c) && !matches!(c, '\n' | '\t' | '\r');
    if value.chars().count() > most || value.contains(is_wrong) {
        return Err(ApiError::unprocessable(format!("{field} has at most {most} characters")));
    }
    Ok(value.to_owned())
}

/// Nanoseconds since the epoch of a time in RFC 3339. Otherwise fails with 400.
pub fn instant(field: &str, value: Option<&str>) -> Result<i64, ApiError> {
    let value = value.ok_or_else(|| ApiError::malformed(format!("{field} is missing")))?;
    Ok(time::parse(value, field)?)
}

/// The id in a path. Otherwise fails with 404.
pub fn id(value: &str, what: &'static str) -> Result<i64, ApiError> {
    value.parse().map_err(|_| ApiError::not_found(what))
}
