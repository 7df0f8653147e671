//! The table of the fields of a model call: the spellings of each. DECISIONS 26, 32; docs/use/ai-traces.md.
//!
//! Every field has a list of attribute names, the preferred one first. [`DOCUMENTS`] are the attributes with a document of
//! counts, [`IN_DOCUMENTS`] the paths below it. `gen_ai.aggregated_usage.*` is in no list: it repeats the usage of other
//! spans. [`super::fields`] reads them.

/// The operation of a run of a tool.
pub const EXECUTE_TOOL: &str = "execute_tool";

/// A field of a model call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(usize)]
pub enum Field {
    /// Name of the AI Trace.
    Name,
    /// Requested model.
    Model,
    /// Model that answered.
    ResponseModel,
    /// Provider.
    Provider,
    /// Operation.
    Operation,
    /// Id of the response.
    ResponseId,
    /// Id of the tool call that a run of a tool executes.
    ToolCallId,
    /// Reasons for which the model stopped.
    FinishReason,
    /// End user of the application.
    User,
    /// Conversation.
    Conversation,
    /// Conversation, by a name that other spans use too. Comes after [`Field::Conversation`].
    Session,
    /// Tier at which the provider bills the call.
    ServiceTier,
    /// Input tokens.
    Input,
    /// Output tokens.
    Output,
    /// Input and output tokens.
    Total,
    /// Input tokens that were read from a cache.
    Cached,
    /// Input tokens that were written to a cache.
    CacheWrite,
    /// The part of [`Field::CacheWrite`] that is kept for an hour.
    CacheWriteHour,
    /// Output tokens of reasoning.
    Reasoning,
    /// Input tokens of audio.
    AudioInput,
    /// Output tokens of audio.
    AudioOutput,
    /// Input tokens of images.
    ImageInput,
    /// Output tokens of images.
    ImageOutput,
    /// Cost of the input, US dollars.
    InputCost,
    /// Cost of the output, US dollars.
    OutputCost,
    /// Cost of both, US dollars.
    TotalCost,
}

/// Number of fields.
pub(super) const FIELDS: usize = Field::TotalCost as usize + 1;

/// The spellings of each field as an attribute, the preferred one first.
pub const SPELLINGS: &[(Field, &[&str])] = &[
    (Field::Name, &["trace.name", "langfuse.trace.name"]),
    (
        Field::Model,
        &[
            "gen_ai.request.model",
            "llm.request.model_name",
            "llm.model_name",
            "embedding.model_name",
            "ai.model.id",
            "langfuse.observation.model.name",
            "llm.request.model",
        ],
    ),
    (
        Field::ResponseModel,
        &["gen_ai.response.model", "ai.response.model", "llm.response.model_name", "llm.response.model"],
    ),
    (
        Field::Provider,
        &["gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system", "ai.model.provider", "llm.vendor"],
    ),
    (Field::Operation, &["gen_ai.operation.name", "llm.request.type"]),
    (Field::ResponseId, &["gen_ai.response.id", "ai.response.id", "llm.response.id"]),
    (Field::ToolCallId, &["gen_ai.tool.call.id", "ai.toolCall.id", "tool_call.id", "tool.call_id"]),
    (
        Field::FinishReason,
        &[
            "gen_ai.response.finish_reasons",
            "gen_ai.response.finish_reason",
            "llm.finish_reason",
            "ai.response.finishReason",
            "gen_ai.completion.0.finish_reason",
            "llm.response.finish_reason",
            "llm.response.stop_reason",
            "anthropic.message.stop_reason",
        ],
    ),
    (
        Field::User,
        &[
            "user.id",
            "enduser.id",
            "langfuse.user.id",
            "ai.telemetry.metadata.userId",
            "traceloop.association.properties.user_id",
            "gen_ai.user.id",
            "llm.user",
            "gen_ai.request.user",
            "ai.telemetry.metadata.user_id",
            "metadata.user_api_key_end_user_id",
        ],
    ),
    (Field::Conversation, &["gen_ai.conversation.id"]),
    (
        Field::Session,
        &[
            "session.id",
            "langfuse.session.id",
            "ai.telemetry.metadata.sessionId",
            "ai.telemetry.metadata.conversationId",
            "ai.telemetry.metadata.chatId",
            "ai.telemetry.metadata.threadId",
            "traceloop.association.properties.session_id",
            "traceloop.association.properties.conversation_id",
            "traceloop.association.properties.thread_id",
            "langsmith.trace.session_id",
            "gcp.vertex.agent.session_id",
        ],
    ),
    (
        Field::ServiceTier,
        &[
            "openai.response.service_tier",
            "gen_ai.openai.response.service_tier",
            "gen_ai.response.service_tier",
            "anthropic.response.service_tier",
            "gen_ai.usage.service_tier",
            "openai.request.service_tier",
            "gen_ai.openai.request.service_tier",
            "gen_ai.request.service_tier",
        ],
    ),
    (
        Field::Input,
        &[
            "gen_ai.usage.input_tokens",
            "gen_ai.usage.prompt_tokens",
            "llm.token_count.prompt",
            "ai.usage.inputTokens",
            "ai.usage.promptTokens",
            "ai.usage.tokens",
            "llm.usage.prompt_tokens",
            "gen_ai.usage.details.input_tokens",
        ],
    ),
    (
        Field::Output,
        &[
            "gen_ai.usage.output_tokens",
            "gen_ai.usage.completion_tokens",
            "llm.token_count.completion",
            "ai.usage.outputTokens",
            "ai.usage.completionTokens",
            "llm.usage.completion_tokens",
            "gen_ai.usage.details.output_tokens",
        ],
    ),
    (
        Field::Total,
        &["gen_ai.usage.total_tokens", "llm.token_count.total", "ai.usage.totalTokens", "llm.usage.total_tokens"],
    ),
    (
        Field::Cached,
        &[
            "gen_ai.usage.cache_read.input_tokens",
            "gen_ai.usage.input_tokens.cached",
            "gen_ai.usage.cache_read_input_tokens",
            "gen_ai.usage.cache_read_tokens",
            "gen_ai.usage.cached_tokens",
            "gen_ai.usage.cached_input_tokens",
            "gen_ai.usage.prompt_tokens_details.cached_tokens",
            "gen_ai.usage.input_tokens_details.cached_tokens",
            "gen_ai.usage.details.cache_read_tokens",
            "gen_ai.usage.details.cached_tokens",
            "gen_ai.usage.details.cache_read_input_tokens",
            "gen_ai.usage.details.cached_content_tokens",
            "gen_ai.usage.experimental.cached_tokens",
            "gen_ai.usage.cached_content_token_count",
            "llm.token_count.prompt_details.cache_read",
            "llm.token_count.prompt_details.cache_input",
            "ai.usage.inputTokenDetails.cacheReadTokens",
            "ai.usage.cachedInputTokens",
            "llm.usage.cache_read_input_tokens",
        ],
    ),
    (
        Field::CacheWrite,
        &[
            "gen_ai.usage.cache_creation.input_tokens",
            "gen_ai.usage.cache_write.input_tokens",
            "gen_ai.usage.cache_creation_input_tokens",
            "gen_ai.usage.cache_write_input_tokens",
            "gen_ai.usage.cache_write_tokens",
            "gen_ai.usage.cache_creation_tokens",
            "gen_ai.usage.input_tokens.cache_write",
            "gen_ai.usage.details.cache_write_tokens",
            "gen_ai.usage.details.cache_creation_input_tokens",
            "llm.token_count.prompt_details.cache_write",
            "ai.usage.inputTokenDetails.cacheWriteTokens",
            "llm.usage.cache_creation_input_tokens",
        ],
    ),
    (
        Field::CacheWriteHour,
        &[
            "gen_ai.usage.cache_creation.ephemeral_1h_input_tokens",
            "anthropic.usage.cache_creation.ephemeral_1h_input_tokens",
            "gen_ai.usage.cache_creation_1h_input_tokens",
            "gen_ai.usage.details.ephemeral_1h_input_tokens",
            "gen_ai.usage.details.cache_write_1h_tokens",
        ],
    ),
    (
        Field::Reasoning,
        &[
            "gen_ai.usage.reasoning.output_tokens",
            "gen_ai.usage.output_tokens.reasoning",
            "gen_ai.usage.reasoning_tokens",
            "gen_ai.usage.reasoning_output_tokens",
            "gen_ai.usage.completion_tokens_details.reasoning_tokens",
            "gen_ai.usage.output_tokens_details.reasoning_tokens",
            "gen_ai.usage.details.reasoning_tokens",
            "gen_ai.usage.details.thoughts_tokens",
            "gen_ai.usage.experimental.reasoning_tokens",
            "gen_ai.usage.thoughts_token_count",
            "llm.token_count.completion_details.reasoning",
            "ai.usage.outputTokenDetails.reasoningTokens",
            "ai.usage.reasoningTokens",
            "llm.usage.reasoning_tokens",
        ],
    ),
    (
        Field::AudioInput,
        &[
            "gen_ai.usage.audio.input_tokens",
            "gen_ai.usage.input_audio_tokens",
            "gen_ai.usage.details.input_audio_tokens",
            "gen_ai.usage.prompt_tokens_details.audio_tokens",
            "llm.token_count.prompt_details.audio",
        ],
    ),
    (
        Field::AudioOutput,
        &[
            "gen_ai.usage.audio.output_tokens",
            "gen_ai.usage.output_audio_tokens",
            "gen_ai.usage.details.output_audio_tokens",
            "gen_ai.usage.completion_tokens_details.audio_tokens",
            "llm.token_count.completion_details.audio",
        ],
    ),
    (
        Field::ImageInput,
        &[
            "gen_ai.usage.image.input_tokens",
            "gen_ai.usage.input_image_tokens",
            "gen_ai.usage.details.image_prompt_tokens",
            "llm.token_count.prompt_details.image",
        ],
    ),
    (
        Field::ImageOutput,
        &[
            "gen_ai.usage.image.output_tokens",
            "gen_ai.usage.output_image_tokens",
            "gen_ai.usage.details.image_candidates_tokens",
            "llm.token_count.completion_details.image",
        ],
    ),
    (
        Field::InputCost,
        &["gen_ai.usage.input_cost", "gen_ai.cost.input_cost", "gen_ai.cost.input_tokens", "llm.cost.prompt"],
    ),
    (
        Field::OutputCost,
        &["gen_ai.usage.output_cost", "gen_ai.cost.output_cost", "gen_ai.cost.output_tokens", "llm.cost.completion"],
    ),
    (
        Field::TotalCost,
        &[
            "gen_ai.usage.total_cost",
            "gen_ai.usage.cost",
            "gen_ai.cost.total_cost",
            "gen_ai.cost.total_tokens",
            "operation.cost",
            "llm.cost.total",
        ],
    ),
];

/// Attributes with a document of counts or amounts, the preferred one first.
pub const DOCUMENTS: &[&str] = &[
    "langfuse.observation.usage_details",
    "langfuse.observation.cost_details",
    "gen_ai.usage",
    "llm.usage",
    "ai.response.providerMetadata",
    "hidden_params",
    "metadata.usage_object",
];

/// Name of the only document whose amounts have the names of counts.
pub(super) const COSTS: &str = "langfuse.observation.cost_details";

/// The paths of fields below [`DOCUMENTS`], the preferred one first.
pub const IN_DOCUMENTS: &[(Field, &[&str])] = &[
    (Field::Input, &["input", "input_tokens", "prompt_tokens", "inputTokens", "promptTokens"]),
    (Field::Output, &["output", "output_tokens", "completion_tokens", "outputTokens", "completionTokens"]),
    (Field::Total, &["total", "total_tokens", "totalTokens"]),
    (
        Field::Cached,
        &[
            "input_cached_tokens",
            "cache_read_input_tokens",
            "input_cache_read",
            "input_tokens_details.cached_tokens",
            "prompt_tokens_details.cached_tokens",
            "promptTokensDetails.cachedTokens",
            "cacheReadInputTokens",
            "cachedPromptTokens",
            "cached_tokens",
        ],
    ),
    (
        Field::CacheWrite,
        &[
            "cache_creation_input_tokens",
            "input_cache_creation",
            "input_cache_write",
            "cacheCreationInputTokens",
            "cacheWriteInputTokens",
        ],
    ),
    (
        Field::CacheWriteHour,
        &["cache_creation.ephemeral_1h_input_tokens", "input_cache_creation_1h", "ephemeral_1h_input_tokens"],
    ),
    (
        Field::Reasoning,
        &[
            "output_reasoning_tokens",
            "output_reasoning",
            "output_tokens_details.reasoning_tokens",
            "completion_tokens_details.reasoning_tokens",
            "completionTokensDetails.reasoningTokens",
            "reasoningTokens",
            "reasoning_tokens",
        ],
    ),
    (Field::AudioInput, &["input_audio_tokens", "prompt_tokens_details.audio_tokens"]),
    (Field::AudioOutput, &["output_audio_tokens", "completion_tokens_details.audio_tokens"]),
    (Field::TotalCost, &["openrouter.usage.cost", "response_cost"]),
];

/// The paths of amounts below [`COSTS`].
pub(super) const IN_COSTS: &[(Field, &[&str])] =
    &[(Field::InputCost, &["input"]), (Field::OutputCost, &["output"]), (Field::TotalCost, &["total"])];
