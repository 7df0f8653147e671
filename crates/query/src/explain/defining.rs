//! Attributes that define the selection: they distinguish it without explaining it.

use tidewatch_domain::explain::is_repeat;
use tidewatch_domain::query_language::Expr;

/// Attributes that are no candidates.
#[derive(Debug, Clone, Default)]
pub struct Defining {
    /// Keys that the query of the selection names.
    keys: Vec<String>,
    /// The query selects by values of attributes, which have synonyms: the version `1.42.0` has a commit.
    pub by_attribute: bool,
    /// The query selects by tokens or cost.
    by_usage: bool,
}

/// Fields of outcomes: what is explained, never what explains.
const OUTCOMES: &[&str] = &["duration", "status", "error", "http.status", "level", "severity", "severity_text", "time"];
/// Attributes of outcomes.
const OUTCOME_KEYS: &[&str] = &[
    "error",
    "error.type",
    "error.message",
    "http.status_code",
    "http.response.status_code",
    "rpc.grpc.status_code",
    "otel.status_code",
    "otel.status_description",
    "status",
    "status_code",
    "severity_text",
    "gen_ai.response.finish_reasons",
];
/// Attributes that a model call produced: the amount follows from the request, like the duration.
const PRODUCED: &[&str] = &[
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "gen_ai.usage.total_tokens",
    "gen_ai.usage.output_tokens.reasoning",
    "gen_ai.usage.input_cost",
    "gen_ai.usage.output_cost",
    "gen_ai.usage.total_cost",
];
/// Attributes that tell how a row failed.
const FAILURES: &[&str] = &[
    "error.type",
    "exception.type",
    "exception.message",
    "http.response.status_code",
    "http.status_code",
    "rpc.grpc.status_code",
];

/// Whether the attribute is an outcome of the work, like the duration: how old a message was, how long it waited, how
/// much was answered.
fn is_amount(key: &str) -> bool {
    const SIZES: &[&str] = &["response.body.size", "response_content_length", "response.size", "returned_rows"];
    const WAITS: &[&str] = &["lag", "latency", "elapsed", "wait", "delay"];
    let is_queued = key.starts_with("messaging.") || key.contains("queue") || key.contains("message");
    SIZES.iter().any(|size| key.ends_with(size))
        || key.split(['.', '_']).any(|word| WAITS.contains(&word) || (is_queued && word == "age"))
}

fn is_usage(key: &str) -> bool {
    key.contains("token") || key.contains("cost")
}

/// Whether the attribute tells how a row failed. Codes of success do not. A repeat tells that something failed before.
pub fn is_failure(key: &str, value: &str) -> bool {
    if is_repeat(key) {
        return value != "0";
    }
    FAILURES.contains(&key)
        && match key {
            "http.response.status_code" | "http.status_code" => value.starts_with(['4', '5']),
            "rpc.grpc.status_code" => value != "0",
            _ => true,
        }
}

impl Defining {
    /// Collects the attributes that the query of a selection names.
    pub fn of(query: &Expr) -> Defining {
        let mut defining = Defining::default();
        defining.add(query);
        defining
    }

    fn add(&mut self, expr: &Expr) {
        match expr {
            Expr::All(operands) | Expr::Any(operands) => operands.iter().for_each(|operand| self.add(operand)),
            Expr::Not(operand) => self.add(operand),
            Expr::Text(_) => {}
            Expr::Has(field) | Expr::Compare { field, .. } => {
                let key = field.key.as_str();
                self.by_usage |= is_usage(key);
                self.by_attribute |= !OUTCOMES.contains(&key) && !is_usage(key);
                self.keys.push(match key {
                    "service" | "server_name" => "service.name".to_owned(),
                    "version" => "service.version".to_owned(),
                    "model" => "gen_ai.request.model".to_owned(),
                    "host" => "host.name".to_owned(),
                    _ => key.to_owned(),
                });
            }
        }
    }

    /// Whether the attribute is no candidate.
    pub fn has(&self, key: &str) -> bool {
        OUTCOME_KEYS.contains(&key)
            || PRODUCED.contains(&key)
            || is_amount(key)
            || key.starts_with("exception.")
            || key
                .rsplit('.')
                .next()
                .is_some_and(|last| last.contains("duration") || last == "trace_id" || last == "span_id")
            || (self.by_usage && is_usage(key))
            || self.keys.iter().any(|named| named == key)
    }
}
