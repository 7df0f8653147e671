//! The promotion table: which entities a span is promoted to. SPEC classification, DECISIONS 2, 4, 6.

use super::drop_reason::DropReason;
use super::span_facts::SpanFacts;
use crate::model::SpanKind;

/// The entities that a span is promoted to, in addition to its row as a Span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Promoted {
    /// An inbound HTTP request.
    pub endpoint: bool,
    /// A run of background work.
    pub task: bool,
    /// A model call.
    pub ai_trace: bool,
}

/// The class of a valid span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Stored as a Span and promoted to these entities, possibly none.
    Kept(Promoted),
    /// Not stored.
    Dropped(DropReason),
}

/// Classifies a span. `is_root`: the span has no parent id. `is_entry_point` is called only if the result depends on it.
pub fn classify(kind: SpanKind, facts: &SpanFacts, is_root: bool, is_entry_point: impl FnOnce() -> bool) -> Class {
    let endpoint = facts.http && matches!(kind, SpanKind::Server | SpanKind::Internal) && is_entry_point();
    // A span is at most one of Endpoint and Task; the first row of the table wins.
    let task =
        !endpoint && (kind == SpanKind::Consumer || (is_root && kind == SpanKind::Internal && facts.console_command));
    let promoted = Promoted { endpoint, task, ai_trace: facts.gen_ai };
    // A root with HTTP attributes is never dropped: the last row of the table requires "no HTTP attributes".
    let matches_nothing = promoted == Promoted::default() && !facts.http;
    if is_root && matches_nothing { Class::Dropped(DropReason::UnmatchedRoot) } else { Class::Kept(promoted) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AnyValue, KeyValue};

    #[derive(Clone, Copy)]
    enum Parent {
        None,
        SameProcess,
        OtherProcess,
    }

    #[track_caller]
    fn check(kind: SpanKind, parent: Parent, keys: &[&'static str], expected: &str) {
        let attributes: Vec<_> = keys.iter().map(|key| KeyValue { key, value: AnyValue::Str("x") }).collect();
        let is_root = matches!(parent, Parent::None);
        let entry_point = !matches!(parent, Parent::SameProcess);
        let text = match classify(kind, &SpanFacts::read(&attributes), is_root, || entry_point) {
            Class::Dropped(reason) => format!("dropped: {}", reason.as_str()),
            Class::Kept(Promoted { endpoint, task, ai_trace }) => {
                let names: Vec<_> = [(endpoint, "endpoint"), (task, "task"), (ai_trace, "ai_trace")]
                    .iter()
                    .filter_map(|(is, name)| is.then_some(*name))
                    .collect();
                if names.is_empty() { "span".to_owned() } else { names.join(" + ") }
            }
        };
        assert_eq!(text, expected, "{kind:?} {keys:?}");
    }

    // Spec: classification, the table.
    #[test]
    fn promotion_table() {
        use Parent::{None, OtherProcess, SameProcess};
        use SpanKind::{Client, Consumer, Internal, Producer, Server, Unspecified};
        let method = "http.request.method";
        // Row 1: SERVER or INTERNAL with HTTP attributes at an entry point.
        check(Server, None, &[method], "endpoint");
        check(Server, OtherProcess, &[method], "endpoint");
        check(Internal, None, &[method], "endpoint");
        check(Internal, OtherProcess, &["http.route"], "endpoint");
        check(Server, SameProcess, &[method], "span");
        check(Internal, SameProcess, &["http.route"], "span");
        check(Client, SameProcess, &[method], "span");
        // Row 2: CONSUMER, root or child, with any attributes.
        check(Consumer, None, &[], "task");
        check(Consumer, SameProcess, &[], "task");
        check(Consumer, OtherProcess, &[method], "task");
        // Row 3: root INTERNAL with console.command.
        check(Internal, None, &["console.command"], "task");
        check(Internal, SameProcess, &["console.command"], "span");
        check(Internal, OtherProcess, &["console.command"], "span");
        check(Server, None, &["console.command"], "dropped: unmatched_root");
        check(Internal, None, &["console.command", method], "endpoint");
        // Row 4: gen_ai.*, root or child, in addition to the other rows.
        check(Client, SameProcess, &["gen_ai.request.model"], "ai_trace");
        check(Client, None, &["gen_ai.request.model"], "ai_trace");
        check(Server, None, &[method, "gen_ai.system"], "endpoint + ai_trace");
        check(Consumer, None, &["gen_ai.system"], "task + ai_trace");
        // Row 6: any other non-root.
        check(Internal, SameProcess, &[], "span");
        check(Server, OtherProcess, &["rpc.system"], "span");
        check(Unspecified, SameProcess, &[], "span");
        // Row 7: any other root.
        check(Internal, None, &[], "dropped: unmatched_root");
        check(Producer, None, &[], "dropped: unmatched_root");
        check(Client, None, &[], "dropped: unmatched_root");
        check(Server, None, &["rpc.system"], "dropped: unmatched_root");
        check(Server, None, &["http.response.status_code"], "dropped: unmatched_root");
        check(Unspecified, None, &[], "dropped: unmatched_root");
        // DECISIONS 4: a root with HTTP attributes of any other kind is a plain Span.
        check(Client, None, &[method], "span");
        check(Producer, None, &["url.full"], "span");
    }

    // Spec: classification, rule 3: an Issue does not affect the class of its span.
    #[test]
    fn exception_attributes_do_not_promote_or_demote() {
        check(SpanKind::Internal, Parent::None, &["exception.type"], "dropped: unmatched_root");
        check(SpanKind::Internal, Parent::None, &["exception.type", "http.route"], "endpoint");
    }
}
