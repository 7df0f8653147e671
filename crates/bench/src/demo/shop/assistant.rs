//! The shop's assistant: an Endpoint and AI Traces in one trace.

use serde_json::json;
use tidewatch_domain::model::SpanKind;

use super::super::incident::Incident;
use super::super::instance::ASSISTANT;
use super::super::visitor::Visitor;
use super::Shop;
use super::spans::Target;

const MODELS: [(&str, &str); 4] =
    [("gpt-4o", "openai"), ("gpt-4o-mini", "openai"), (SLOW_MODEL, "anthropic"), ("claude-haiku-4-5", "anthropic")];
const SLOW_MODEL: &str = "claude-sonnet-4-5";
/// Share of the requests with the new version of the prompt; the others have pinned the old one.
const PROMPT_SHARE: f64 = 0.8;

impl Shop {
    /// A message to the assistant.
    pub fn assistant(&mut self, now_ns: u64) {
        let visitor = Visitor::draw(&mut self.random, now_ns);
        let (question, answer) = self.random.pick(&CONVERSATIONS);
        let (model, provider) = self.random.pick(&MODELS);
        let is_new_prompt = self.random.chance(PROMPT_SHARE) && self.plan.is(Incident::Prompt, now_ns);
        let tokens = if is_new_prompt { self.plan.factor(2.8) } else { 1.0 };
        let conversation = format!("conv-{}", self.random.below(60));
        let input = ((400 + self.random.below(3000)) as f64 * tokens) as u64;
        let output = ((60 + self.random.below(500)) as f64 * tokens) as u64;
        let slower = match self.plan.is(Incident::Model, now_ns) && model == SLOW_MODEL {
            true => self.plan.factor(3.0),
            false => 1.0,
        };

        let target = Target::of("POST", "/assistant/messages");
        let mut root = self.request(ASSISTANT, Some(&visitor), target, now_ns);
        let typical_ms = (300.0 + 3.6 * output as f64) * slower;
        let name = format!("chat {model}");
        let mut chat = self.child(&root, SpanKind::Client, &name, now_ns + 2_000_000, typical_ms);
        let messages = json!([
            {"role": "system", "parts": [{"type": "text", "content": "You help customers of a furniture shop."}]},
            {"role": "user", "parts": [{"type": "text", "content": question}]},
        ]);
        let reply =
            json!([{"role": "assistant", "parts": [{"type": "text", "content": answer}], "finish_reason": "stop"}]);
        chat.attributes = vec![
            ("gen_ai.operation.name", json!("chat")),
            ("gen_ai.provider.name", json!(provider)),
            ("gen_ai.request.model", json!(model)),
            ("gen_ai.response.model", json!(model)),
            ("gen_ai.conversation.id", json!(conversation)),
            ("gen_ai.usage.input_tokens", json!(input)),
            ("gen_ai.usage.output_tokens", json!(output)),
            ("gen_ai.response.finish_reasons", json!(["stop"])),
            ("gen_ai.input.messages", json!(messages.to_string())),
            ("gen_ai.output.messages", json!(reply.to_string())),
            ("gen_ai.prompt.name", json!("support")),
            ("prompt.version", json!(if is_new_prompt { "7" } else { "6" })),
            ("trace.name", json!("support-assistant")),
        ];
        visitor.describe(&mut chat.attributes);
        let mut tool = self.child(&root, SpanKind::Internal, "execute_tool find_order", chat.end_ns + 2_000_000, 90.0);
        tool.attributes =
            vec![("gen_ai.operation.name", json!("execute_tool")), ("gen_ai.tool.name", json!("find_order"))];
        root.end_ns = tool.end_ns + 6_000_000;
        self.respond(&mut root, 200);
        self.log(&chat, 9, &format!("answered with {output} tokens from {model}"));
        self.finish(chat);
        self.finish(tool);
        self.finish_request(root);
    }
}

const CONVERSATIONS: [(&str, &str); 4] = [
    ("Where is my order 4711?", "Your order left our warehouse yesterday and should reach you on Thursday."),
    (
        "Does the oak desk come in a darker colour?",
        "Yes, the oak desk is also made in smoked oak; both ship in five days.",
    ),
    (
        "How do I return a lamp?",
        "Print the label from your account page and hand the parcel in at any pick-up point within 30 days.",
    ),
    (
        "Which rug fits a 3 x 4 m room?",
        "A rug of 200 x 290 cm leaves about 50 cm of floor on each side, which suits that room well.",
    ),
];
