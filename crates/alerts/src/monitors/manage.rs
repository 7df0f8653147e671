//! Changes of monitors: `POST`, `PUT` and `DELETE /api/synthetics/checks`.

use serde_json::json;
use tidewatch_accounts::{Actor, Project};
use tidewatch_limits as limits;
use tidewatch_query::context::QueryContext;
use tidewatch_query::error::QueryError;

use super::config::{CheckConfig, ConfigError, check_settings, failure_threshold};
use super::secrets;
use super::views::*;
use crate::monitors::{Monitors, NewMonitor};

impl From<ConfigError> for QueryError {
    fn from(error: ConfigError) -> QueryError {
        match error {
            ConfigError::Malformed(message) => QueryError::Malformed(message),
            ConfigError::Unprocessable(message) => QueryError::Unprocessable(message),
        }
    }
}

/// Refusal of a check by a browser on a server that makes none.
pub const NO_BROWSER: &str = "checks by a browser are off on this server (SYNTHETICS_BROWSER_MODE)";

/// `POST /api/synthetics/checks`. `has_browser`: whether this server makes checks by a browser.
pub async fn create(
    context: &QueryContext,
    actor: &Actor,
    project: &Project,
    request: CheckRequest,
    has_browser: bool,
) -> Result<Check, QueryError> {
    let check_type = request.check_type.name();
    if request.check_type == CheckType::Browser && !has_browser {
        return Err(QueryError::unprocessable(NO_BROWSER));
    }
    let config = CheckConfig::read(check_type, &secrets::restored(request.config, &serde_json::Value::Null))?;
    let new = checked(NewMonitor {
        name: request.name,
        check_type: check_type.to_owned(),
        is_enabled: request.enabled,
        interval_seconds: request.interval_seconds,
        timeout_seconds: request.timeout_seconds,
        failure_threshold: request.failure_threshold.unwrap_or_else(|| failure_threshold(check_type)),
        ..of_config(&config)
    })?;
    let (id, token) = Monitors::of(context).create_monitor(actor, project, &new).await?;
    let check = Check::of(Monitors::of(context).monitor(project.number, id).await?);
    Ok(Check { token, ..check })
}

/// `PUT /api/synthetics/checks/{id}`. `has_browser`: see [`create`].
pub async fn change(
    context: &QueryContext,
    actor: &Actor,
    project: &Project,
    id: i64,
    change: CheckChange,
    has_browser: bool,
) -> Result<Check, QueryError> {
    let stored = Monitors::of(context).monitor(project.number, id).await?.chosen;
    if change.check_type.is_some_and(|check_type| check_type.name() != stored.check_type) {
        return Err(QueryError::unprocessable("the type of a monitor cannot change"));
    }
    let config = match change.config {
        None => stored.config.clone(),
        Some(config) if secrets::would_leak(&config, &stored.config) => {
            return Err(QueryError::unprocessable(match stored.check_type == CheckType::Browser.name() {
                true => "another script needs the values of its variables again",
                false => "another host needs the secrets again",
            }));
        }
        Some(config) => secrets::restored(config, &stored.config),
    };
    let config = CheckConfig::read(&stored.check_type, &config)?;
    if matches!(config, CheckConfig::Browser(_)) && !has_browser && change.enabled == Some(true) {
        return Err(QueryError::unprocessable(NO_BROWSER));
    }
    let new = checked(NewMonitor {
        name: change.name.unwrap_or(stored.name),
        check_type: stored.check_type,
        is_enabled: change.enabled.unwrap_or(stored.is_enabled),
        interval_seconds: change.interval_seconds.unwrap_or(stored.interval_seconds),
        timeout_seconds: change.timeout_seconds.unwrap_or(stored.timeout_seconds),
        failure_threshold: change.failure_threshold.unwrap_or(stored.failure_threshold),
        ..of_config(&config)
    })?;
    Monitors::of(context).change_monitor(actor, project, id, &new).await?;
    Ok(Check::of(Monitors::of(context).monitor(project.number, id).await?))
}

/// `DELETE /api/synthetics/checks/{id}`.
pub async fn delete(
    context: &QueryContext,
    actor: &Actor,
    project: &Project,
    id: i64,
) -> Result<CheckDeleted, QueryError> {
    Monitors::of(context).delete_monitor(actor, project, id).await?;
    Ok(CheckDeleted { deleted: true })
}

/// `POST /api/synthetics/checks/{id}/token`.
pub async fn replace_token(
    context: &QueryContext,
    actor: &Actor,
    project: &Project,
    id: i64,
) -> Result<Check, QueryError> {
    let token = Monitors::of(context).replace_heartbeat_token(actor, project, id).await?;
    let check = Check::of(Monitors::of(context).monitor(project.number, id).await?);
    Ok(Check { token: Some(token), ..check })
}

/// The configuration with the columns that repeat it; the other values are the caller's.
fn of_config(config: &CheckConfig) -> NewMonitor {
    let (period_seconds, grace_seconds) = match config {
        CheckConfig::Heartbeat(heartbeat) => (heartbeat.period_seconds, heartbeat.grace_seconds),
        _ => (0, 0),
    };
    NewMonitor {
        name: String::new(),
        check_type: String::new(),
        is_enabled: true,
        interval_seconds: 0,
        timeout_seconds: 0,
        failure_threshold: 0,
        period_seconds,
        grace_seconds,
        config: config.to_value(),
    }
}

/// The monitor with a trimmed name. WIRE 6: limits of the values that all types have.
fn checked(mut new: NewMonitor) -> Result<NewMonitor, QueryError> {
    let most = limits::MONITOR_NAME_CHARS_MAX;
    new.name = new.name.trim().to_owned();
    if new.name.is_empty() || new.name.chars().count() > most || new.name.contains(tidewatch_runtime::redact::is_hidden)
    {
        return Err(QueryError::unprocessable(format!("a name has 1 to {most} characters")));
    }
    let chosen = json!({
        "name": &new.name,
        "intervalSeconds": new.interval_seconds,
        "timeoutSeconds": new.timeout_seconds,
        "failureThreshold": new.failure_threshold,
    });
    check_settings(&new.check_type, &chosen)?;
    Ok(new)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// WIRE 6: name <= 200, interval 30 to 86400 s, timeout 1 to 120 s, threshold 1 to 10.
    #[test]
    fn values_of_all_types_are_checked() {
        for (name, interval_seconds, timeout_seconds, failure_threshold, expected) in [
            (" Checkout ", 30, 1, 1, Ok("Checkout")),
            (&"x".repeat(200), 86_400, 120, 10, Ok("x".repeat(200).as_str())),
            ("", 60, 10, 3, Err("a name has 1 to 200 characters")),
            ("a\u{202e}b", 60, 10, 3, Err("a name has 1 to 200 characters")),
            (&"x".repeat(201), 60, 10, 3, Err("a name has 1 to 200 characters")),
            ("a", 29, 10, 3, Err("intervalSeconds is 30 to 86400")),
            ("a", 86_401, 10, 3, Err("intervalSeconds is 30 to 86400")),
            ("a", 60, 0, 3, Err("timeoutSeconds is 1 to 120")),
            ("a", 60, 121, 3, Err("timeoutSeconds is 1 to 120")),
            ("a", 60, 10, 0, Err("failureThreshold is 1 to 10")),
            ("a", 60, 10, 11, Err("failureThreshold is 1 to 10")),
        ] {
            let config = CheckConfig::read("tls", &serde_json::json!({ "host": "example.com" })).expect("right");
            let name = name.to_owned();
            let new = NewMonitor { name, interval_seconds, timeout_seconds, failure_threshold, ..of_config(&config) };
            match (checked(new), expected) {
                (Ok(new), Ok(name)) => assert_eq!(new.name, name),
                (Err(error), Err(message)) => assert_eq!(error.to_string(), message),
                (found, _) => panic!("{found:?}"),
            }
        }
    }
}
