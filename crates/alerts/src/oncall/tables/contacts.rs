//! Contact methods of people, their verification by code, and the chains in which they are used.

use serde_json::{Value, json};
use tidewatch_accounts::tokens::hash;
use tidewatch_accounts::{Actor, ControlError, Database, Mail, Write};
use tidewatch_domain::units::HOUR_NS;
use tidewatch_limits as limits;

use crate::channels::{AlertStatus, Notification, PRIVATE_LINE, Severity, Target, notify};
use crate::oncall::{OnCall, contact};
use crate::tables::RowValues;

/// The purpose that configurations are sealed for.
const SEALED_AS: &str = "contact method";

/// A contact method.
#[derive(Debug, Clone, PartialEq)]
pub struct ContactMethod {
    /// Row id.
    pub id: i64,
    /// `email`, `slack`, `pushover`, `telegram` or `sms`.
    pub method_type: String,
    /// The configuration, with secrets.
    pub config: Value,
    /// The target without secrets.
    pub summary: String,
    /// Whether it is used.
    pub is_enabled: bool,
    /// Whether its owner has entered a code that was sent to it.
    pub is_verified: bool,
    /// Nanoseconds since the epoch.
    pub created_ns: i64,
}

/// A contact method as its owner sets it. The caller has checked it.
#[derive(Debug, Clone, PartialEq)]
pub struct NewContactMethod {
    /// The type.
    pub method_type: String,
    /// The configuration, with secrets.
    pub config: Value,
    /// The target without secrets.
    pub summary: String,
    /// It needs no code: the confirmed address of the account.
    pub is_verified: bool,
}

/// A step of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserRule {
    /// Id of the contact method.
    pub method: i64,
    /// Minutes after a page has reached the person.
    pub delay_minutes: i64,
}

const NO_METHOD: ControlError = ControlError::Missing("no such contact method");

type Columns = (i64, String, String, String, i64, Option<i64>, i64);

const METHODS: &str = "SELECT id, method_type, config_sealed, summary, enabled, verified_ns, created_ns \
     FROM oncall_contact_methods WHERE user_id = $1 ORDER BY id";

/// The columns that the user chooses. The configuration is sealed.
fn chosen(database: &Database, new: &NewContactMethod, at_ns: i64) -> Result<RowValues, ControlError> {
    let sealed = database.sealer().seal(SEALED_AS, &new.config.to_string())?;
    Ok(RowValues::of("oncall_contact_methods")
        .set("method_type", &new.method_type)
        .set("config_sealed", sealed)
        .set("summary", &new.summary)
        .set("verified_ns", new.is_verified.then_some(at_ns)))
}

impl OnCall {
    /// Returns the contact methods of a user.
    pub async fn contact_methods(&self, user: i64) -> Result<Vec<ContactMethod>, ControlError> {
        let rows: Vec<Columns> = sqlx::query_as(METHODS).bind(user).fetch_all(self.database.pool()).await?;
        Ok(rows.into_iter().filter_map(|row| method(&self.database, row)).collect())
    }

    /// Stores a contact method of the actor. Returns its id.
    pub async fn add_contact_method(&self, actor: &Actor, new: &NewContactMethod) -> Result<i64, ControlError> {
        let user = actor.user_id.ok_or(ControlError::UnknownUser)?;
        let mut write = self.database.write().await?;
        let known = methods_of(&mut write, user).await?;
        if known.len() >= limits::ONCALL_CONTACT_METHODS_MAX {
            return Err(ControlError::TooMany("contact methods"));
        }
        check_new(&known, None, new)?;
        let row = chosen(&self.database, new, actor.at_ns)?.set("user_id", user);
        let id = row.set("enabled", 1i64).set("created_ns", actor.at_ns).insert(&mut write).await?;
        let details = json!({ "type": new.method_type });
        write.audit(actor.did("contact_method.create").on("contact_method", id).with(details)).await?;
        write.commit().await?;
        Ok(id)
    }

    /// Changes a contact method of the actor. Another configuration must be verified again.
    pub async fn change_contact_method(
        &self,
        actor: &Actor,
        id: i64,
        new: Option<&NewContactMethod>,
        is_enabled: Option<bool>,
    ) -> Result<(), ControlError> {
        let user = actor.user_id.ok_or(ControlError::UnknownUser)?;
        let mut write = self.database.write().await?;
        let known = methods_of(&mut write, user).await?;
        let old = known.iter().find(|method| method.id == id).ok_or(NO_METHOD)?;
        if let Some(is_enabled) = is_enabled {
            sqlx::query("UPDATE oncall_contact_methods SET enabled = $2 WHERE id = $1")
                .bind(id)
                .bind(i64::from(is_enabled))
                .execute(write.on())
                .await?;
        }
        if let Some(new) = new.filter(|new| (&new.method_type, &new.config) != (&old.method_type, &old.config)) {
            check_new(&known, Some(id), new)?;
            let row = chosen(&self.database, new, actor.at_ns)?.set("code_hash", "");
            let row = row.set("code_expires_ns", 0i64).set("code_attempts", 0i64);
            row.update(&mut write, &[("id", id)]).await?;
        }
        write.audit(actor.did("contact_method.change").on("contact_method", id)).await?;
        write.commit().await
    }

    /// Deletes a contact method of the actor, with its steps in chains.
    pub async fn delete_contact_method(&self, actor: &Actor, id: i64) -> Result<(), ControlError> {
        let user = actor.user_id.ok_or(ControlError::UnknownUser)?;
        let mut write = self.database.write().await?;
        let deleted = sqlx::query("DELETE FROM oncall_contact_methods WHERE id = $1 AND user_id = $2")
            .bind(id)
            .bind(user)
            .execute(write.on())
            .await?;
        if deleted.rows_affected() == 0 {
            return Err(NO_METHOD);
        }
        write.audit(actor.did("contact_method.delete").on("contact_method", id)).await?;
        write.commit().await
    }

    /// Sends a code to a contact method of the actor. Earlier codes end. `mail` renders the mail for an address and a
    /// code.
    pub async fn send_contact_code(
        &self,
        actor: &Actor,
        id: i64,
        mail: &(dyn Fn(&str, &str) -> Mail + Sync),
    ) -> Result<(), ControlError> {
        let user = actor.user_id.ok_or(ControlError::UnknownUser)?;
        let mut random = [0; 8];
        getrandom::fill(&mut random)?;
        let code = format!("{:06}", u64::from_le_bytes(random) % 1_000_000);
        let mut write = self.database.write().await?;
        let method = methods_of(&mut write, user).await?.into_iter().find(|method| method.id == id).ok_or(NO_METHOD)?;
        if method.is_verified {
            return Err(ControlError::Unacceptable("this contact method is verified already"));
        }
        count_send(&mut write, user, actor.at_ns).await?;
        sqlx::query(
            "UPDATE oncall_contact_methods SET code_hash = $2, code_expires_ns = $3, code_attempts = 0 WHERE id = $1",
        )
        .bind(id)
        .bind(code_hash(id, &code))
        .bind(actor.at_ns.saturating_add(limits::ONCALL_CODE_LIFE.as_nanos() as i64))
        .execute(write.on())
        .await?;
        let address = method.config["address"].as_str();
        match address.filter(|_| method.method_type == "email") {
            Some(address) => write.insert_mail(&mail(address, &code), actor.at_ns).await?,
            None => {
                let line = format!("Your code is {code}. Nobody else needs it.");
                send(&mut write, user, &method, "A code for a contact method", &line, actor.at_ns).await?;
            }
        }
        write.commit().await
    }

    /// Verifies a contact method of the actor. Each call counts, also a wrong one.
    pub async fn verify_contact_method(&self, actor: &Actor, id: i64, code: &str) -> Result<(), ControlError> {
        let user = actor.user_id.ok_or(ControlError::UnknownUser)?;
        let mut write = self.database.write().await?;
        let found: Option<(Option<i64>, String, i64, i64)> = sqlx::query_as(
            "SELECT verified_ns, code_hash, code_expires_ns, code_attempts FROM oncall_contact_methods \
             WHERE id = $1 AND user_id = $2",
        )
        .bind(id)
        .bind(user)
        .fetch_optional(write.on())
        .await?;
        let (verified_ns, stored, expires_ns, attempts) = found.ok_or(NO_METHOD)?;
        if verified_ns.is_some() {
            return Ok(());
        }
        if stored.is_empty() || expires_ns <= actor.at_ns {
            return Err(ControlError::Unacceptable("the code has expired; send a new one"));
        }
        if attempts >= limits::ONCALL_CODE_ATTEMPTS_MAX {
            return Err(ControlError::Unacceptable("too many attempts; send a new code"));
        }
        let is_right = stored == code_hash(id, code.trim());
        let statement = match is_right {
            true => "UPDATE oncall_contact_methods SET verified_ns = $2, code_hash = '' WHERE id = $1",
            false => "UPDATE oncall_contact_methods SET code_attempts = code_attempts + 1 WHERE id = $1 AND $2 > 0",
        };
        sqlx::query(statement).bind(id).bind(actor.at_ns).execute(write.on()).await?;
        if is_right {
            write.audit(actor.did("contact_method.verify").on("contact_method", id)).await?;
        }
        write.commit().await?;
        if is_right { Ok(()) } else { Err(ControlError::Unacceptable("the code is not right")) }
    }

    /// Sends a test message to a contact method of the actor.
    pub async fn test_contact_method(&self, actor: &Actor, id: i64) -> Result<(), ControlError> {
        let user = actor.user_id.ok_or(ControlError::UnknownUser)?;
        let mut write = self.database.write().await?;
        let method = methods_of(&mut write, user).await?.into_iter().find(|method| method.id == id).ok_or(NO_METHOD)?;
        if !method.is_verified {
            return Err(ControlError::Unacceptable("verify this contact method first"));
        }
        count_send(&mut write, user, actor.at_ns).await?;
        let line = "Pages will reach you here.";
        send(&mut write, user, &method, "A test of a contact method", line, actor.at_ns).await?;
        write.commit().await
    }

    /// The chains of a user: for high and for low urgency.
    pub async fn user_rules(&self, user: i64) -> Result<(Vec<UserRule>, Vec<UserRule>), ControlError> {
        let rows: Vec<(String, i64, i64)> = sqlx::query_as(
            "SELECT urgency, contact_method_id, delay_minutes FROM oncall_user_rules WHERE user_id = $1 \
             ORDER BY position",
        )
        .bind(user)
        .fetch_all(self.database.pool())
        .await?;
        let of = |name: &str| {
            let own = rows.iter().filter(|(urgency, ..)| urgency == name);
            own.map(|&(_, method, delay_minutes)| UserRule { method, delay_minutes }).collect()
        };
        Ok((of("high"), of("low")))
    }

    /// Replaces the chains of the actor. The caller has checked lengths and delays.
    pub async fn set_user_rules(&self, actor: &Actor, high: &[UserRule], low: &[UserRule]) -> Result<(), ControlError> {
        let user = actor.user_id.ok_or(ControlError::UnknownUser)?;
        let mut write = self.database.write().await?;
        let known: Vec<i64> = methods_of(&mut write, user).await?.iter().map(|method| method.id).collect();
        if high.iter().chain(low).any(|rule| !known.contains(&rule.method)) {
            return Err(ControlError::Unacceptable("a rule names a contact method that you do not have"));
        }
        sqlx::query("DELETE FROM oncall_user_rules WHERE user_id = $1").bind(user).execute(write.on()).await?;
        for (urgency, rules) in [("high", high), ("low", low)] {
            for (position, rule) in (0i64..).zip(rules) {
                sqlx::query(
                    "INSERT INTO oncall_user_rules (user_id, urgency, position, delay_minutes, contact_method_id) \
                     VALUES ($1, $2, $3, $4, $5)",
                )
                .bind(user)
                .bind(urgency)
                .bind(position)
                .bind(rule.delay_minutes)
                .bind(rule.method)
                .execute(write.on())
                .await?;
            }
        }
        write.audit(actor.did("user_rules.change").on("user", user)).await?;
        write.commit().await
    }
}

/// The contact methods of a user that pages use.
pub(super) async fn usable_of(write: &mut Write<'_>, user: i64) -> Result<Vec<ContactMethod>, ControlError> {
    let mut methods = methods_of(write, user).await?;
    methods.retain(|method| method.is_enabled && method.is_verified);
    Ok(methods)
}

/// The chain of a user: ids of contact methods, and delays in minutes.
pub(super) async fn chain_of(
    write: &mut Write<'_>,
    user: i64,
    is_urgent: bool,
) -> Result<Vec<(i64, i64)>, ControlError> {
    let chain = sqlx::query_as(
        "SELECT contact_method_id, delay_minutes FROM oncall_user_rules WHERE user_id = $1 AND urgency = $2 \
         ORDER BY position",
    );
    Ok(chain.bind(user).bind(if is_urgent { "high" } else { "low" }).fetch_all(write.on()).await?)
}

async fn methods_of(write: &mut Write<'_>, user: i64) -> Result<Vec<ContactMethod>, ControlError> {
    let rows: Vec<Columns> = sqlx::query_as(METHODS).bind(user).fetch_all(write.on()).await?;
    Ok(rows.into_iter().filter_map(|row| method(write.database(), row)).collect())
}

/// `None`: sealed with another key.
fn method(database: &Database, row: Columns) -> Option<ContactMethod> {
    let (id, method_type, sealed, summary, enabled, verified_ns, created_ns) = row;
    let config = serde_json::from_str(&database.sealer().open(SEALED_AS, &sealed).ok()?).ok()?;
    let (is_enabled, is_verified) = (enabled != 0, verified_ns.is_some());
    Some(ContactMethod { id, method_type, config, summary, is_enabled, is_verified, created_ns })
}

fn check_new(known: &[ContactMethod], id: Option<i64>, new: &NewContactMethod) -> Result<(), ControlError> {
    let is_same = |method: &ContactMethod| (&method.method_type, &method.config) == (&new.method_type, &new.config);
    match known.iter().any(|method| Some(method.id) != id && is_same(method)) {
        true => Err(ControlError::Unacceptable("you have this contact method already")),
        false => Ok(()),
    }
}

/// Counts a message that a user sends to a contact method. [`ControlError::TooOften`] beyond the limit of an hour.
async fn count_send(write: &mut Write<'_>, user: i64, at_ns: i64) -> Result<(), ControlError> {
    sqlx::query("DELETE FROM oncall_contact_sends WHERE user_id = $1 AND (sent_ns <= $2 OR sent_ns > $3)")
        .bind(user)
        .bind(at_ns - HOUR_NS)
        .bind(at_ns + HOUR_NS)
        .execute(write.on())
        .await?;
    let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM oncall_contact_sends WHERE user_id = $1")
        .bind(user)
        .fetch_one(write.on())
        .await?;
    if count >= limits::ONCALL_CONTACT_SENDS_MAX {
        return Err(ControlError::TooOften("too many messages were sent to your contact methods", 3600));
    }
    sqlx::query("INSERT INTO oncall_contact_sends (user_id, sent_ns) VALUES ($1, $2)")
        .bind(user)
        .bind(at_ns)
        .execute(write.on())
        .await?;
    Ok(())
}

/// Queues a message with a line that is not stored readable.
async fn send(
    write: &mut Write<'_>,
    user: i64,
    method: &ContactMethod,
    subject: &str,
    line: &str,
    at_ns: i64,
) -> Result<(), ControlError> {
    let organization = write.database().memberships(user).first().map(|membership| membership.organization.id);
    let organization = organization.ok_or(ControlError::Unacceptable("you are not a member of an organization"))?;
    let mut config = contact::delivery(&method.method_type, &method.config);
    config[PRIVATE_LINE] = json!(line);
    let notification = Notification {
        organization,
        project: None,
        alert_key: format!("contact_method:{}", method.id),
        status: AlertStatus::Firing,
        severity: Severity::Info,
        rule_type: "test".to_owned(),
        rule_name: "On-call".to_owned(),
        subject: subject.to_owned(),
        body: String::new(),
        path: "/account?tab=contact".to_owned(),
        series: Vec::new(),
        at_ns,
    };
    let target = Target::Direct { channel_type: method.method_type.clone(), config };
    notify(write, &notification, &[target]).await?;
    Ok(())
}

fn code_hash(id: i64, code: &str) -> String {
    hash(&format!("contact method {id} {code}"))
}
