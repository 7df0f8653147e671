//! The conversation of an AI Trace, read from the attributes and events of its span, else from its log records.

use std::collections::{BTreeSet, HashMap};

use bumpalo::Bump;
use tidewatch_accounts::Project;
use tidewatch_domain::model::{Attributes, SpanId, TraceId};
use tidewatch_domain::rules::ai_trace;
use tidewatch_domain::wire;
use tidewatch_limits as limits;
use tidewatch_store::plan::{AttributeScope, Filter, Op, Plan};
use tidewatch_store::tables::Table;

use super::answer::Row;
use super::entities::detail;
use super::executor::Executor;
use super::filters;
use super::plans::{self, Window};
use super::time::Range;
use super::views::ai::{Conversation, Message, StoredConversation, ToolCall};
use super::views::rows;
use crate::error::QueryError;

/// Queries the conversation of a span (`None` without content) and the names of the tools it called.
pub async fn of_span(
    executor: &Executor,
    project: u32,
    (trace_id, span_id): (TraceId, SpanId),
    window: Range,
) -> Result<(Option<Conversation>, Vec<String>), QueryError> {
    let answer = executor.run(of_one(project, (trace_id, span_id), window)).await?;
    let Some(found) = answer.first().map(content) else { return Ok(Default::default()) };
    Ok(read(with_logged(executor, project, (trace_id, span_id), window, found).await?))
}

/// The conversation of a span with the messages of its log records, where the span has none.
async fn with_logged(
    executor: &Executor,
    project: u32,
    span: SpanKey,
    window: Range,
    mut found: ai_trace::Conversation,
) -> Result<ai_trace::Conversation, QueryError> {
    if found.lacks_messages() {
        let logged = Logged::read(executor, project, [span], window).await?;
        logged.add_to(span, &mut found);
    }
    Ok(found)
}

type SpanKey = (TraceId, SpanId);

/// Log records with messages of model calls. DECISIONS 32.
pub struct Logged(HashMap<SpanKey, Vec<LoggedRecord>>);

struct LoggedRecord {
    event: String,
    body: String,
    attributes: Vec<u8>,
}

impl Logged {
    /// Queries the records of spans, at most [`limits::AI_LOGGED_MESSAGES_MAX`], the earliest.
    pub async fn read(
        executor: &Executor,
        project: u32,
        spans: impl IntoIterator<Item = SpanKey>,
        window: Range,
    ) -> Result<Logged, QueryError> {
        let spans: BTreeSet<([u8; 16], [u8; 8])> =
            spans.into_iter().map(|(trace_id, span_id)| (trace_id.0, span_id.0)).collect();
        if spans.is_empty() {
            return Ok(Logged(HashMap::new()));
        }
        // Older SDKs have no field for the name of an event.
        let in_attribute = |name: &&str| Filter::Attribute {
            scope: AttributeScope::Record,
            key: EVENT_NAME.to_owned(),
            op: Op::Eq,
            value: (*name).to_owned(),
        };
        let names = ai_trace::LOGGED_EVENTS.iter().map(in_attribute);
        let named = names.chain([filters::strings("event_name", &ai_trace::LOGGED_EVENTS)]).collect();
        let filter = filters::ids("trace_id", spans.iter().map(|(trace_id, _)| *trace_id))
            .and(filters::ids("span_id", spans.iter().map(|(_, span_id)| *span_id)))
            .and(Filter::Any(named));
        let columns = vec!["trace_id", "span_id", "event_name", "body", "attributes"];
        let order = vec![plans::ascending("time")];
        let most = Window::first(limits::AI_LOGGED_MESSAGES_MAX);
        let plan = plans::rows(Table::Logs, &[project], window, filter, columns, order, most);
        let mut found: HashMap<SpanKey, Vec<LoggedRecord>> = HashMap::new();
        for row in executor.run(plan).await?.rows() {
            let record = LoggedRecord {
                event: row.text("event_name").to_owned(),
                body: row.text("body").to_owned(),
                attributes: row.bytes("attributes").to_vec(),
            };
            found.entry((row.trace_id("trace_id"), row.span_id("span_id"))).or_default().push(record);
        }
        Ok(Logged(found))
    }

    /// Adds the messages of a span's records to the side of its conversation that has none.
    pub fn add_to(&self, span: SpanKey, conversation: &mut ai_trace::Conversation) {
        let Some(records) = self.0.get(&span) else { return };
        let arena = Bump::new();
        let decoded: Vec<_> = records
            .iter()
            .map(|record| (record, Attributes(wire::decode_attributes(&record.attributes, &arena))))
            .collect();
        conversation.add_logged(decoded.iter().map(|(record, attributes)| {
            let event = match record.event.as_str() {
                "" => attributes.text(EVENT_NAME).unwrap_or(""),
                event => event,
            };
            ai_trace::LoggedMessage { event, body: &record.body, attributes: *attributes }
        }));
    }
}

/// The attribute with the name of an event of older SDKs.
const EVENT_NAME: &str = "event.name";

/// The plan of a span with the columns of its conversation.
fn of_one(project: u32, (trace_id, span_id): (TraceId, SpanId), window: Range) -> Plan {
    let filter = filters::trace(trace_id).and(filters::span(span_id));
    let columns = vec!["attributes", "events"];
    plans::rows(Table::Spans, &[project], window, filter, columns, vec![], Window::first(1))
}

/// Attributes of a span that describe its conversation.
pub struct InAttributes {
    /// The names of the tools that the span called.
    pub tool_names: Vec<String>,
    /// Whether they have a part of the conversation.
    pub has_content: bool,
}

/// Reads the attributes of a span.
pub fn of_attributes(attributes: &[u8]) -> InAttributes {
    let arena = Bump::new();
    let decoded = Attributes(wire::decode_attributes(attributes, &arena));
    let found = ai_trace::conversation(decoded, []);
    InAttributes { has_content: !found.is_empty(), tool_names: found.tool_names }
}

/// The pointer to the conversation of an AI Trace, by the ids of its project and its row. WIRE 8.3.
pub fn pointer(project: &str, id: &str) -> String {
    format!("ai-traces/{project}/{id}.json")
}

/// `GET /api/ai-traces/{id}/conversation`. [`QueryError::NotFound`] when there is no such row, or no conversation.
pub async fn stored(
    executor: &Executor,
    project: &Project,
    id: [u8; 16],
    recorded_at: Option<i64>,
) -> Result<StoredConversation, QueryError> {
    let answer = detail::find(executor, Table::AiTraces, project.number, id, recorded_at).await?;
    let missing = || QueryError::not_found("this AI trace has no conversation");
    let row = answer.first().ok_or_else(missing)?;
    let span = (row.trace_id("trace_id"), row.span_id("span_id"));
    let answer = executor.run(of_one(project.number, span, Range::around(row.int("time")))).await?;
    let found = answer.first().map(content).ok_or_else(missing)?;
    let around = Range::around(row.int("time"));
    let found = with_logged(executor, project.number, span, around, found).await?;
    let found = Some(found).filter(|found| !found.is_empty()).ok_or_else(missing)?;
    let (inputs, outputs) = found.messages.split_at(found.input_count.min(found.messages.len()));
    Ok(StoredConversation {
        input: found.input.clone().or_else(|| as_json(inputs)),
        output: found.output.clone().or_else(|| as_json(outputs)),
    })
}

/// Messages that no attribute has as a whole, as the JSON of `gen_ai.input.messages`.
fn as_json(messages: &[ai_trace::Message]) -> Option<String> {
    let views: Vec<Message> = messages.iter().map(message).collect();
    (!views.is_empty()).then(|| serde_json::to_string(&views).ok()).flatten()
}

/// Decodes the conversation of a span with the columns `attributes` and `events`.
pub fn content(span: Row<'_>) -> ai_trace::Conversation {
    let arena = Bump::new();
    let attributes = Attributes(wire::decode_attributes(span.bytes("attributes"), &arena));
    let events = wire::decode_events(span.bytes("events"), &arena);
    ai_trace::conversation(attributes, events.iter().map(|event| (event.name, Attributes(event.attributes))))
}

/// The view of a message.
pub fn message(message: &ai_trace::Message) -> Message {
    let call = |call: &ai_trace::ToolCall| ToolCall { name: call.name.clone(), arguments: call.arguments.clone() };
    Message {
        role: message.role.clone(),
        content: message.content.clone(),
        tool_calls: message.tool_calls.iter().map(call).collect(),
    }
}

/// Cuts the recorded input and output like strings of lists if the messages have the same content.
fn say_once(conversation: &mut Conversation) {
    if conversation.messages.is_empty() {
        return;
    }
    for (name, text) in [("input", &mut conversation.input), ("output", &mut conversation.output)] {
        if text.as_mut().is_some_and(|text| rows::cut_text(text, limits::LIST_TEXT_BYTES_MAX)) {
            conversation.truncated_fields.push(name);
        }
    }
}

fn read(found: ai_trace::Conversation) -> (Option<Conversation>, Vec<String>) {
    let messages: Vec<Message> = found.messages.iter().map(message).collect();
    let is_empty = found.is_empty();
    let mut conversation =
        Conversation { input: found.input, output: found.output, messages, truncated_fields: Vec::new() };
    say_once(&mut conversation);
    ((!is_empty).then_some(conversation), found.tool_names)
}
