//! The grouping rules of a project: a query and the template of a fingerprint. The first rule whose query an exception
//! meets gives it its fingerprint, and exceptions with equal fingerprints are one Issue. Issues: steering.
//!
//! Rules are evaluated when an exception is stored, so a query reads what is known then: `type`, `message`, `stack`,
//! `service`, `version`, `env` and attributes.

use std::borrow::Cow;

use sha2::{Digest, Sha256};

use super::exception::Origin;
use crate::frames::{Event, Stack, cleaned};
use crate::grouping::Occurrence;
use crate::model::Attributes;
use crate::query_language::{Cell, Expr, Field, ParseLimits, Row, Scope, evaluate, parse};
use crate::wire;

/// The version of groups that are fingerprints: no version of the rule made them.
pub const FINGERPRINT_VERSION: u8 = u8::MAX;

/// A rule as a user wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupingRule {
    /// Its number in the project.
    pub id: i64,
    /// A query of the query language.
    pub query: String,
    /// A text with `{{names}}`.
    pub template: String,
}

/// A rule that is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupingRuleError {
    /// `query` or `template`.
    pub field: &'static str,
    /// One sentence.
    pub message: String,
    /// Offset in bytes.
    pub position: usize,
}

/// The rules of a project, in order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GroupingRules {
    rules: Vec<Parsed>,
}

/// No rules.
pub static NO_RULES: GroupingRules = GroupingRules { rules: Vec::new() };

#[derive(Debug, Clone, PartialEq)]
struct Parsed {
    rule: GroupingRule,
    query: Expr,
    template: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Default,
    Type,
    Message,
    Function,
    Module,
    Attribute(String),
}

/// An exception as rules read it.
#[derive(Debug, Clone, Copy, Default)]
pub struct RuledException<'b, 'a> {
    /// Type, message and stack trace.
    pub input: Occurrence<'b>,
    /// `service.name`; empty when absent.
    pub service: &'b str,
    /// Version of the application; empty when unknown.
    pub version: &'b str,
    /// Attributes of the exception event.
    pub event: Attributes<'b, 'a>,
    /// Attributes of its span or log record, scope and resource.
    pub origin: Origin<'b, 'a>,
}

/// The fingerprint that a rule gives an exception.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint {
    /// The number of the rule.
    pub rule: i64,
    /// The text.
    pub text: String,
}

impl Fingerprint {
    /// The group of the exceptions with this fingerprint.
    pub fn hash(&self) -> u64 {
        let mut hash = Sha256::new();
        hash.update(b"fingerprint\x1f");
        hash.update(self.text.as_bytes());
        let digest = hash.finalize();
        u64::from_be_bytes(*digest.first_chunk().expect("a SHA-256 digest has 32 bytes"))
    }
}

impl GroupingRules {
    /// Parses rules in order.
    pub fn parse(rules: &[GroupingRule], limits: ParseLimits) -> Result<GroupingRules, GroupingRuleError> {
        let rules = rules.iter().map(|rule| Parsed::of(rule, limits)).collect::<Result<_, _>>()?;
        Ok(GroupingRules { rules })
    }

    /// Whether there is no rule.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The rules as users wrote them, in order.
    pub fn rules(&self) -> impl Iterator<Item = &GroupingRule> {
        self.rules.iter().map(|parsed| &parsed.rule)
    }

    /// The fingerprint of the first rule whose query the exception meets. `default`: the group without rules.
    pub fn fingerprint(
        &self,
        exception: &RuledException<'_, '_>,
        default: impl FnOnce() -> u64,
    ) -> Option<Fingerprint> {
        let found = self.rules.iter().find(|parsed| evaluate(&parsed.query, exception))?;
        Some(Fingerprint { rule: found.rule.id, text: found.fill(exception, default) })
    }
}

impl Parsed {
    fn of(rule: &GroupingRule, limits: ParseLimits) -> Result<Parsed, GroupingRuleError> {
        let query = parse(&rule.query, limits).map_err(|error| GroupingRuleError {
            field: "query",
            message: error.message,
            position: error.position,
        })?;
        check(&query)?;
        Ok(Parsed { rule: rule.clone(), query, template: template(&rule.template)? })
    }

    fn fill(&self, exception: &RuledException<'_, '_>, default: impl FnOnce() -> u64) -> String {
        let mut default = Some(default);
        let mut known = None;
        let mut text = String::new();
        for part in &self.template {
            let input = &exception.input;
            match part {
                Part::Text(constant) => text.push_str(constant),
                Part::Default => {
                    if let Some(default) = default.take() {
                        known = Some(default());
                    }
                    text.push_str(&format!("{:016x}", known.unwrap_or_default()));
                }
                Part::Type => text.push_str(input.exception_type),
                Part::Message => text.push_str(input.message),
                Part::Function => text.push_str(&top_frame(input).0),
                Part::Module => text.push_str(&top_frame(input).1),
                Part::Attribute(key) => text.push_str(&exception.value(None, key).unwrap_or_default()),
            }
        }
        text
    }
}

/// Refuses fields that are not known when an exception is stored.
fn check(expr: &Expr) -> Result<(), GroupingRuleError> {
    const LATER: [(&str, &str); 14] = [
        ("owner", ""),
        ("hash", ""),
        ("issue", ""),
        ("trace", ""),
        ("span", ""),
        ("time", ""),
        ("parent", ""),
        ("method", "http.request.method"),
        ("path", "url.path"),
        ("route", "http.route"),
        ("host", "host.name"),
        ("server", "server.address"),
        ("user", "user.id"),
        ("name", ""),
    ];
    match expr {
        Expr::All(operands) | Expr::Any(operands) => operands.iter().try_for_each(check),
        Expr::Not(operand) => check(operand),
        Expr::Text(_) => Ok(()),
        Expr::Has(field) | Expr::Compare { field, .. } => {
            let refused = |message: String| {
                Err(GroupingRuleError { field: "query", message, position: field.position.0 as usize })
            };
            if field.scope == Some(Scope::Child) {
                return refused("a grouping rule reads an exception, not the spans below it".to_owned());
            }
            match LATER.iter().find(|(name, _)| field.scope.is_none() && *name == field.key) {
                Some((name, "")) => refused(format!("a grouping rule cannot read `{name}`")),
                Some((name, attribute)) => {
                    refused(format!("a grouping rule reads attributes: `{attribute}` instead of `{name}`"))
                }
                None => Ok(()),
            }
        }
    }
}

/// Parses a template. It has a constant other than white space, or a name.
fn template(text: &str) -> Result<Vec<Part>, GroupingRuleError> {
    let refused = |message: &str, position: usize| {
        Err(GroupingRuleError { field: "template", message: message.to_owned(), position })
    };
    if text.trim().is_empty() {
        return refused("the template is empty", 0);
    }
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some(start) = rest.find("{{") {
        let at = text.len() - rest.len() + start;
        let Some(length) = rest[start..].find("}}") else { return refused("`{{` without `}}`", at) };
        if start > 0 {
            parts.push(Part::Text(rest[..start].to_owned()));
        }
        parts.push(match rest[start + 2..start + length].trim() {
            "" => return refused("a name is missing between `{{` and `}}`", at),
            "default" => Part::Default,
            "type" => Part::Type,
            "message" => Part::Message,
            "function" => Part::Function,
            "module" => Part::Module,
            key if key.contains(['{', '}']) => return refused("a name has no brackets", at),
            key => Part::Attribute(key.to_owned()),
        });
        rest = &rest[start + length + 2..];
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest.to_owned()));
    }
    Ok(parts)
}

/// Function, and module or file, of the innermost frame of the recorded exception; empty when unknown.
fn top_frame(input: &Occurrence<'_>) -> (String, String) {
    let text = cleaned(input.stack_trace);
    let event = Event { language: input.language, exception_type: input.exception_type, message: input.message };
    let stack = Stack::parse(&text, &event);
    let frame = stack.exceptions.get(stack.outermost).and_then(|outermost| stack.frames.get(outermost.frames.0));
    frame.map_or_else(Default::default, |frame| {
        let place = if frame.module.is_empty() { frame.file } else { frame.module };
        (frame.function.to_owned(), place.to_owned())
    })
}

fn not_empty(text: &str) -> Option<Cow<'_, str>> {
    (!text.is_empty()).then_some(Cow::Borrowed(text))
}

impl<'b> RuledException<'b, '_> {
    /// The text of a field or an attribute, the nearest level first.
    fn value(&self, scope: Option<Scope>, key: &str) -> Option<Cow<'b, str>> {
        if scope.is_none() {
            match key {
                "type" | "exception.type" => return not_empty(self.input.exception_type),
                "message" | "exception.message" => return not_empty(self.input.message),
                "stack" | "exception.stacktrace" => return not_empty(self.input.stack_trace),
                "service" | "service.name" => return not_empty(self.service),
                "version" | "service.version" => return not_empty(self.version),
                "env" | "environment" => {
                    let of = |key| self.value(Some(Scope::Resource), key).filter(|text| !text.is_empty());
                    return of("deployment.environment.name").or_else(|| of("deployment.environment"));
                }
                _ => {}
            }
        }
        let Origin { resource, scope: scope_attributes, record, .. } = self.origin;
        let levels: &[Attributes<'_, '_>] = match scope {
            None => &[self.event, record, scope_attributes, resource],
            Some(Scope::Record) => &[self.event, record],
            Some(Scope::Scope) => &[scope_attributes],
            Some(Scope::Resource) => &[resource],
            Some(Scope::Child) => &[],
        };
        let value = levels.iter().find_map(|level| level.get(key))?;
        let text = wire::value_text(value).into_owned();
        Some(Cow::Owned(text))
    }
}

impl Row for RuledException<'_, '_> {
    fn cell(&self, field: &Field) -> Option<Cell<'_>> {
        self.value(field.scope, &field.key).map(Cell::Text)
    }

    fn strings(&self) -> Vec<Cow<'_, str>> {
        [self.input.exception_type, self.input.message, self.input.stack_trace].map(Cow::Borrowed).to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AnyValue, KeyValue};

    const LIMITS: ParseLimits = ParseLimits { bytes: 4096, terms: 64, depth: 16 };

    fn rules(all: &[(&str, &str)]) -> Result<GroupingRules, GroupingRuleError> {
        let rule = |(index, (query, template)): (usize, &(&str, &str))| GroupingRule {
            id: index as i64 + 1,
            query: (*query).to_owned(),
            template: (*template).to_owned(),
        };
        GroupingRules::parse(&all.iter().enumerate().map(rule).collect::<Vec<_>>(), LIMITS)
    }

    fn fingerprint(all: &[(&str, &str)]) -> Option<(i64, String)> {
        let attributes = [
            KeyValue { key: "db.name", value: AnyValue::Str("orders") },
            KeyValue { key: "attempt", value: AnyValue::Int(3) },
        ];
        let exception = RuledException {
            input: Occurrence::new(
                "TimeoutError",
                "no answer after 5 s",
                "TimeoutError: no answer\n    at Pool.take (/app/pool.js:10:5)",
            ),
            service: "shop",
            event: Attributes(&attributes),
            ..RuledException::default()
        };
        let found = rules(all).expect("rules").fingerprint(&exception, || 0xab)?;
        Some((found.rule, found.text))
    }

    // Issues: the first rule that matches gives the fingerprint.
    #[test]
    fn the_first_match_wins() {
        let one = |query, template| fingerprint(&[(query, template)]).map(|(_, text)| text);
        assert_eq!(one("type:TimeoutError", "timeouts").as_deref(), Some("timeouts"));
        assert_eq!(one("type:Other", "timeouts"), None);
        assert_eq!(one("answer", "{{type}} {{service.name}}").as_deref(), Some("TimeoutError shop"));
        assert_eq!(one("db.name:ord*", "{{db.name}}/{{ attempt }}/{{missing}}").as_deref(), Some("orders/3/"));
        assert_eq!(one("attempt>2 -service:other", "{{default}}-x").as_deref(), Some("00000000000000ab-x"));
        assert_eq!(one("", "{{function}} in {{module}}").as_deref(), Some("Pool.take in /app/pool.js"));
        let second = fingerprint(&[("type:Other", "a"), ("service:shop", "b"), ("", "c")]);
        assert_eq!(second, Some((2, "b".to_owned())));
    }

    #[test]
    fn what_a_rule_cannot_do_is_refused() {
        for (query, template, field, position) in [
            ("(a", "x", "query", 0),
            ("a route:/pay", "x", "query", 2),
            ("child.a:b", "x", "query", 0),
            ("a", " ", "template", 0),
            ("a", "x {{type", "template", 2),
            ("a", "{{}}", "template", 0),
        ] {
            let error = rules(&[(query, template)]).expect_err(query);
            assert_eq!((error.field, error.position), (field, position), "{query} {template}: {error:?}");
        }
    }

    #[test]
    fn fingerprints_have_their_own_hashes() {
        let hash = |text: &str| Fingerprint { rule: 1, text: text.to_owned() }.hash();
        assert_eq!(hash("a"), hash("a"));
        assert_ne!(hash("a"), hash("b"));
        assert_eq!(Fingerprint { rule: 1, text: "a".into() }.hash(), Fingerprint { rule: 2, text: "a".into() }.hash());
    }
}
