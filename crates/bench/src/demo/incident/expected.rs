//! The expected answers of the product about an incident.

use std::fmt;

use super::Incident;

/// The answers to an incident.
#[derive(Debug, Clone, Copy, Default)]
pub struct Expected {
    /// What is said to be worse; `None`: nothing.
    pub change: Option<Subject>,
    /// The question to Explain; `None`: there is nothing to explain.
    pub question: Option<Question>,
    /// Answers of which the first row of Explain is one. Each is one condition or a pair of conditions. Empty: no row.
    pub rows: &'static [&'static [Condition]],
    /// The service in which the operation of the first row of own time is; `None`: any.
    pub own_time: Option<&'static str>,
}

/// An attribute and its value. A value that begins with `>=` is the lower bound of a number, which may differ by 5 %.
pub type Condition = (&'static str, &'static str);

/// What an incident makes worse.
#[derive(Debug, Clone, Copy)]
pub struct Subject {
    /// `endpoint`, `ai_trace` or `service`.
    pub kind: &'static str,
    /// The name; the subject is one of these, the cause first, callers and callees after it.
    pub names: &'static [&'static str],
    /// Its service.
    pub service: &'static str,
}

/// The rows of an entity that an incident made worse.
#[derive(Debug, Clone, Copy)]
pub struct Question {
    /// `endpoint` or `ai_trace`.
    pub entity: &'static str,
    /// The entity's name.
    pub name: &'static str,
    /// What selects the rows, in the query language.
    pub query: &'static str,
}

const fn subject(names: &'static [&'static str], service: &'static str) -> Option<Subject> {
    Some(Subject { kind: "endpoint", names, service })
}

const fn question(name: &'static str, query: &'static str) -> Option<Question> {
    Some(Question { entity: "endpoint", name, query })
}

const ORDERS: Option<Subject> = subject(&["POST /orders", "POST /checkout"], "checkout");
const CHARGES: Option<Subject> = subject(&["POST /charges"], "payments");
const PRODUCTS: Option<Subject> = subject(&["GET /v1/products/{sku}", "GET /products/:sku"], "catalog");
const ASSISTANT: Option<Subject> =
    Some(Subject { kind: "ai_trace", names: &["support-assistant", "POST /assistant/messages"], service: "assistant" });
const SLOW_ORDERS: Option<Question> = question("POST /orders", "duration>300ms");
const FAILED_ORDERS: Option<Question> = question("POST /orders", "status:error");
const SLOW_CHARGES: Option<Question> = question("POST /charges", "duration>250ms");
const VERSION: Condition = ("service.version", "1.42.0");
const UPDATE: Condition = ("db.query.text", "UPDATE stock SET quantity = quantity - $2 WHERE sku = $1");
const FLAG: Condition = ("flag.new_price", "on");

impl Incident {
    /// What the product is expected to say about a big incident of this kind.
    pub fn expected(self) -> Expected {
        let (change, question, rows): (_, _, &'static [&'static [Condition]]) = match self {
            Incident::Release | Incident::ReleaseSlow => (ORDERS, SLOW_ORDERS, &[&[VERSION]]),
            Incident::ReleaseErrors => (ORDERS, FAILED_ORDERS, &[&[VERSION]]),
            Incident::Canary => (ORDERS, SLOW_ORDERS, &[&[VERSION]]),
            Incident::Tenant => (ORDERS, SLOW_ORDERS, &[&[("tenant.id", "acme")]]),
            Incident::User => (ORDERS, SLOW_ORDERS, &[&[("user.id", "u-1501")]]),
            Incident::Region => (CHARGES, SLOW_CHARGES, &[&[("cloud.region", "eu-2")]]),
            Incident::Zone => {
                (CHARGES, question("POST /charges", "status:error"), &[&[("cloud.availability_zone", "eu-1a")]])
            }
            Incident::Host => (CHARGES, SLOW_CHARGES, &[&[("host.name", "payments-eu-1a-1")]]),
            Incident::Cache => {
                (PRODUCTS, question("GET /v1/products/{sku}", "duration>20ms"), &[&[("cache.hit", "false")]])
            }
            Incident::Dependency => (CHARGES, SLOW_CHARGES, &[]),
            Incident::DbLock => (ORDERS, SLOW_ORDERS, &[&[UPDATE]]),
            Incident::RetryStorm => (ORDERS, SLOW_ORDERS, &[&[("retry.count", "2")]]),
            Incident::TimeOut => (ORDERS, SLOW_ORDERS, &[&[("db.shard", "3")]]),
            Incident::ClientVersion => (ORDERS, FAILED_ORDERS, &[&[("app.client.version", "5.1")]]),
            Incident::Flag => (ORDERS, SLOW_ORDERS, &[&[FLAG]]),
            Incident::Experiment => (ORDERS, SLOW_ORDERS, &[&[("experiment.layout", "c")]]),
            Incident::Payload => (ORDERS, SLOW_ORDERS, &[&[("http.request.body.size", ">=60000")]]),
            Incident::Prompt => {
                let question = Question { entity: "ai_trace", name: "support-assistant", query: "output_tokens>600" };
                (ASSISTANT, Some(question), &[&[("prompt.version", "7")]])
            }
            Incident::Model => {
                let question = Question { entity: "ai_trace", name: "support-assistant", query: "duration>3s" };
                (ASSISTANT, Some(question), &[&[("gen_ai.request.model", "claude-sonnet-4-5")]])
            }
            Incident::RegionVersion => (ORDERS, SLOW_ORDERS, &[&[("cloud.region", "eu-1"), VERSION]]),
            Incident::FlagOs => (ORDERS, FAILED_ORDERS, &[&[FLAG, ("client.os.name", "iOS")]]),
            Incident::TwoCauses => (ORDERS, SLOW_ORDERS, &[&[FLAG], &[("host.name", "checkout-eu-1a-1")]]),
            Incident::TrafficDrop => {
                (subject(&["GET /products/:sku", "GET /v1/products/{sku}"], "storefront"), None, &[])
            }
            Incident::Silence => {
                (Some(Subject { kind: "service", names: &["payments"], service: "payments" }), None, &[])
            }
            Incident::None | Incident::Wave | Incident::DeployHarmless | Incident::Burst => (None, None, &[]),
        };
        let own_time = match self {
            Incident::Release | Incident::ReleaseSlow | Incident::DbLock | Incident::Tenant => Some("checkout"),
            Incident::Dependency | Incident::Region | Incident::Host => Some("payments"),
            _ => None,
        };
        Expected { change, question, rows, own_time }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, line: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(subject) = self.change else { return line.write_str("nothing got worse") };
        line.write_str(subject.names[0])?;
        if self.question.is_none() {
            return Ok(());
        }
        let rows: Vec<String> = self.rows.iter().map(|row| conditions(row)).collect();
        match rows.is_empty() {
            true => write!(line, ", no row, own time of {} first", self.own_time.unwrap_or(subject.service)),
            false => write!(line, ", first row {}", rows.join(" or ")),
        }
    }
}

fn conditions(row: &[Condition]) -> String {
    let each = row.iter().map(|(attribute, value)| match value.strip_prefix(">=") {
        Some(least) => format!("{attribute} >= {least}"),
        None => format!("{attribute} = {value}"),
    });
    each.collect::<Vec<_>>().join(" and ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expectations_in_words() {
        for (incident, words) in [
            (Incident::ReleaseSlow, "POST /orders, first row service.version = 1.42.0"),
            (Incident::Payload, "POST /orders, first row http.request.body.size >= 60000"),
            (Incident::RegionVersion, "POST /orders, first row cloud.region = eu-1 and service.version = 1.42.0"),
            (Incident::TwoCauses, "POST /orders, first row flag.new_price = on or host.name = checkout-eu-1a-1"),
            (Incident::Dependency, "POST /charges, no row, own time of payments first"),
            (Incident::Silence, "payments"),
            (Incident::Burst, "nothing got worse"),
        ] {
            assert_eq!(incident.expected().to_string(), words);
        }
    }
}
