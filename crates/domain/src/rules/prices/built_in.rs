//! List prices of well-known models in US dollars per million tokens.

use super::{LongContext, Price, Special};

/// The day of the built-in table, as a number: prices that changed later are not in it.
pub const BUILT_IN_DAY: u32 = 20260217;

const NONE: Special = Special {
    cache_write: None,
    cache_write_hour: None,
    audio_input: None,
    audio_output: None,
    image_input: None,
    image_output: None,
    batch: None,
    long: None,
};

/// Model, first day, input, cached input, output. Reasoning tokens cost as much as output tokens.
const fn chat(model: &'static str, from_day: u32, input: f64, cached_input: f64, output: f64) -> Price<'static> {
    Price { model, from_day, input, cached_input, output, reasoning: output, special: NONE }
}

/// A model of Anthropic: like [`chat`], with its factors for writes to the cache and for batches.
const fn claude(model: &'static str, from_day: u32, input: f64, cached_input: f64, output: f64) -> Price<'static> {
    let mut price = chat(model, from_day, input, cached_input, output);
    price.special.cache_write = Some(input * 1.25);
    price.special.cache_write_hour = Some(input * 2.0);
    price.batch(0.5)
}

/// Embeddings have no output.
const fn embedding(model: &'static str, from_day: u32, input: f64) -> Price<'static> {
    chat(model, from_day, input, input, 0.0)
}

impl Price<'static> {
    /// With the factor of batches.
    const fn batch(mut self, factor: f64) -> Self {
        self.special.batch = Some(factor);
        self
    }

    /// With the prices of audio; `output` is `None` for models that make none.
    const fn audio(mut self, input: f64, output: Option<f64>) -> Self {
        self.special.audio_input = Some(input);
        self.special.audio_output = output;
        self
    }

    /// With the prices of images.
    const fn image(mut self, input: Option<f64>, output: Option<f64>) -> Self {
        self.special.image_input = input;
        self.special.image_output = output;
        self
    }

    /// With factors for calls of more input tokens.
    const fn long(mut self, above: u32, input: f64, output: f64) -> Self {
        self.special.long = Some(LongContext { above, input, output });
        self
    }
}

/// The built-in price table.
pub const BUILT_IN: &[Price<'static>] = &[
    // OpenAI. Batches and the flex tier cost half.
    chat("gpt-5.2", 20251211, 1.75, 0.175, 14.0).batch(0.5),
    chat("gpt-5.2-chat", 20251211, 1.75, 0.175, 14.0),
    chat("gpt-5.2-pro", 20251211, 21.0, 21.0, 168.0).batch(0.5),
    chat("gpt-5.1-chat", 20251113, 1.25, 0.125, 10.0),
    chat("gpt-5.1-codex", 20251113, 1.25, 0.125, 10.0).batch(0.5),
    chat("gpt-5.1-codex-mini", 20251113, 0.25, 0.025, 2.0).batch(0.5),
    chat("gpt-5.1", 20251113, 1.25, 0.125, 10.0).batch(0.5),
    chat("gpt-5", 20250807, 1.25, 0.125, 10.0).batch(0.5),
    chat("gpt-5-chat", 20250807, 1.25, 0.125, 10.0),
    chat("gpt-5-codex", 20250923, 1.25, 0.125, 10.0).batch(0.5),
    chat("gpt-5-mini", 20250807, 0.25, 0.025, 2.0).batch(0.5),
    chat("gpt-5-nano", 20250807, 0.05, 0.005, 0.4).batch(0.5),
    chat("gpt-5-pro", 20251006, 15.0, 15.0, 120.0).batch(0.5),
    chat("gpt-4.1", 20250414, 2.0, 0.5, 8.0).batch(0.5),
    chat("gpt-4.1-mini", 20250414, 0.4, 0.1, 1.6).batch(0.5),
    chat("gpt-4.1-nano", 20250414, 0.1, 0.025, 0.4).batch(0.5),
    chat("gpt-4o", 20240513, 5.0, 5.0, 15.0).batch(0.5),
    chat("gpt-4o", 20241002, 2.5, 1.25, 10.0).batch(0.5),
    chat("gpt-4o-mini", 20240718, 0.15, 0.075, 0.6).batch(0.5),
    chat("chatgpt-4o", 20240814, 5.0, 5.0, 15.0),
    chat("o1", 20241217, 15.0, 7.5, 60.0).batch(0.5),
    chat("o1-preview", 20240912, 15.0, 7.5, 60.0).batch(0.5),
    chat("o1-mini", 20240912, 3.0, 1.5, 12.0).batch(0.5),
    chat("o1-mini", 20250131, 1.1, 0.55, 4.4).batch(0.5),
    chat("o1-pro", 20250319, 150.0, 150.0, 600.0).batch(0.5),
    chat("o3", 20250416, 10.0, 2.5, 40.0).batch(0.5),
    chat("o3", 20250610, 2.0, 0.5, 8.0).batch(0.5),
    chat("o3-mini", 20250131, 1.1, 0.55, 4.4).batch(0.5),
    chat("o3-pro", 20250610, 20.0, 20.0, 80.0).batch(0.5),
    chat("o4-mini", 20250416, 1.1, 0.275, 4.4).batch(0.5),
    chat("gpt-4-turbo", 20240409, 10.0, 10.0, 30.0).batch(0.5),
    chat("gpt-4", 20230314, 30.0, 30.0, 60.0).batch(0.5),
    chat("gpt-4-32k", 20230314, 60.0, 60.0, 120.0).batch(0.5),
    chat("gpt-3.5-turbo", 20230301, 2.0, 2.0, 2.0).batch(0.5),
    chat("gpt-3.5-turbo", 20240125, 0.5, 0.5, 1.5).batch(0.5),
    embedding("text-embedding-3-small", 20240125, 0.02).batch(0.5),
    embedding("text-embedding-3-large", 20240125, 0.13).batch(0.5),
    embedding("text-embedding-ada-002", 20230613, 0.1).batch(0.5),
    chat("gpt-4.5-preview", 20250227, 75.0, 37.5, 150.0).batch(0.5),
    chat("codex-mini", 20250516, 1.5, 0.375, 6.0),
    chat("computer-use-preview", 20250311, 3.0, 3.0, 12.0).batch(0.5),
    chat("o3-deep-research", 20250626, 10.0, 2.5, 40.0).batch(0.5),
    chat("o4-mini-deep-research", 20250626, 2.0, 0.5, 8.0).batch(0.5),
    chat("gpt-4o-audio-preview", 20241217, 2.5, 2.5, 10.0).audio(40.0, Some(80.0)),
    chat("gpt-4o-mini-audio-preview", 20241217, 0.15, 0.15, 0.6).audio(10.0, Some(20.0)),
    chat("gpt-4o-realtime-preview", 20241217, 5.0, 2.5, 20.0).audio(40.0, Some(80.0)),
    chat("gpt-audio", 20250828, 2.5, 2.5, 10.0).audio(32.0, Some(64.0)),
    chat("gpt-realtime", 20250828, 4.0, 0.4, 16.0).audio(32.0, Some(64.0)).image(Some(5.0), None),
    chat("gpt-realtime-mini", 20251006, 0.6, 0.06, 2.4).audio(10.0, Some(20.0)),
    chat("gpt-image-1", 20250423, 5.0, 1.25, 40.0).image(Some(10.0), Some(40.0)),
    chat("gpt-image-1-mini", 20251006, 2.0, 0.2, 8.0).image(Some(2.5), Some(8.0)),
    chat("gpt-oss-120b", 20250805, 0.15, 0.15, 0.6),
    chat("ft:gpt-4.1", 20250414, 3.0, 0.75, 12.0).batch(0.5),
    chat("ft:gpt-4.1-mini", 20250414, 0.8, 0.2, 3.2).batch(0.5),
    chat("ft:gpt-4.1-nano", 20250414, 0.2, 0.05, 0.8).batch(0.5),
    chat("ft:gpt-4o", 20241002, 3.75, 1.875, 15.0).batch(0.5),
    chat("ft:gpt-4o-mini", 20240723, 0.3, 0.15, 1.2).batch(0.5),
    chat("ft:gpt-3.5-turbo", 20231106, 3.0, 3.0, 6.0).batch(0.5),
    // Anthropic. Writes to the cache cost 1.25 times the input for five minutes, twice for an hour; batches half.
    claude("claude-opus-4-6", 20260205, 5.0, 0.5, 25.0).long(200_000, 2.0, 1.5),
    claude("claude-sonnet-4-6", 20260217, 3.0, 0.3, 15.0).long(200_000, 2.0, 1.5),
    claude("claude-opus-4-5", 20251124, 5.0, 0.5, 25.0),
    claude("claude-opus-4-1", 20250805, 15.0, 1.5, 75.0),
    claude("claude-opus-4", 20250522, 15.0, 1.5, 75.0),
    claude("claude-sonnet-4-5", 20250929, 3.0, 0.3, 15.0).long(200_000, 2.0, 1.5),
    claude("claude-sonnet-4", 20250522, 3.0, 0.3, 15.0).long(200_000, 2.0, 1.5),
    claude("claude-haiku-4-5", 20251015, 1.0, 0.1, 5.0),
    claude("claude-3-7-sonnet", 20250224, 3.0, 0.3, 15.0),
    claude("claude-3-5-sonnet", 20240620, 3.0, 0.3, 15.0),
    claude("claude-3-5-haiku", 20241104, 0.8, 0.08, 4.0),
    claude("claude-3-opus", 20240229, 15.0, 1.5, 75.0),
    claude("claude-3-sonnet", 20240229, 3.0, 0.3, 15.0),
    claude("claude-3-haiku", 20240307, 0.25, 0.03, 1.25),
    // Google. Prompts above 200,000 tokens (1.5: 128,000) cost more; audio has its own price.
    chat("gemini-3-flash", 20251217, 0.5, 0.05, 3.0).audio(1.0, None).batch(0.5),
    chat("gemini-3-pro", 20251118, 2.0, 0.2, 12.0).batch(0.5).long(200_000, 2.0, 1.5),
    chat("gemini-2.5-pro", 20250617, 1.25, 0.125, 10.0).batch(0.5).long(200_000, 2.0, 1.5),
    chat("gemini-2.5-flash", 20250617, 0.3, 0.03, 2.5).audio(1.0, None).batch(0.5),
    chat("gemini-2.5-flash-lite", 20250722, 0.1, 0.01, 0.4).audio(0.3, None).batch(0.5),
    chat("gemini-2.0-flash", 20250205, 0.1, 0.025, 0.4).audio(0.7, None).batch(0.5),
    chat("gemini-2.0-flash-lite", 20250225, 0.075, 0.075, 0.3).audio(0.075, None).batch(0.5),
    chat("gemini-1.5-pro", 20241001, 1.25, 0.3125, 5.0).long(128_000, 2.0, 2.0),
    chat("gemini-1.5-flash", 20240812, 0.075, 0.01875, 0.3).long(128_000, 2.0, 2.0),
    chat("gemini-1.5-flash-8b", 20241003, 0.0375, 0.01, 0.15).long(128_000, 2.0, 2.0),
    embedding("gemini-embedding-001", 20250714, 0.15),
    chat("gemini-2.5-flash-image", 20251002, 0.3, 0.3, 2.5).image(None, Some(30.0)).batch(0.5),
    // Mistral
    chat("mistral-large-2407", 20240724, 2.0, 2.0, 6.0),
    chat("mistral-large-2411", 20241118, 2.0, 2.0, 6.0),
    chat("mistral-large", 20251202, 0.5, 0.5, 1.5),
    chat("mistral-large", 20240724, 3.0, 3.0, 9.0),
    chat("mistral-large", 20241118, 2.0, 2.0, 6.0),
    chat("mistral-medium", 20250507, 0.4, 0.4, 2.0),
    chat("mistral-small", 20240918, 0.2, 0.2, 0.6),
    chat("mistral-small", 20250130, 0.1, 0.1, 0.3),
    chat("codestral", 20250113, 0.3, 0.3, 0.9),
    chat("ministral-8b", 20241016, 0.1, 0.1, 0.1),
    chat("ministral-3b", 20241016, 0.04, 0.04, 0.04),
    chat("open-mistral-nemo", 20240718, 0.15, 0.15, 0.15),
    chat("pixtral-large", 20241118, 2.0, 2.0, 6.0),
    chat("magistral-medium", 20250610, 2.0, 2.0, 5.0),
    chat("magistral-small", 20250610, 0.5, 0.5, 1.5),
    embedding("mistral-embed", 20231211, 0.1),
    chat("mistral-saba", 20250217, 0.2, 0.2, 0.6),
    chat("devstral-medium", 20250710, 0.4, 0.4, 2.0),
    chat("devstral-small", 20250710, 0.1, 0.1, 0.3),
    // xAI. Prompts above 128,000 tokens cost twice as much.
    chat("grok-4", 20250709, 3.0, 0.75, 15.0).long(128_000, 2.0, 2.0),
    chat("grok-4-fast", 20250919, 0.2, 0.05, 0.5).long(128_000, 2.0, 2.0),
    chat("grok-4-fast-reasoning", 20250919, 0.2, 0.05, 0.5).long(128_000, 2.0, 2.0),
    chat("grok-4-fast-non-reasoning", 20250919, 0.2, 0.05, 0.5).long(128_000, 2.0, 2.0),
    chat("grok-4-1-fast", 20251119, 0.2, 0.05, 0.5).long(128_000, 2.0, 2.0),
    chat("grok-4-1-fast-reasoning", 20251119, 0.2, 0.05, 0.5).long(128_000, 2.0, 2.0),
    chat("grok-4-1-fast-non-reasoning", 20251119, 0.2, 0.05, 0.5).long(128_000, 2.0, 2.0),
    chat("grok-code-fast-1", 20250828, 0.2, 0.02, 1.5),
    chat("grok-3", 20250409, 3.0, 0.75, 15.0),
    chat("grok-3-mini", 20250409, 0.3, 0.075, 0.5),
    chat("grok-2", 20241212, 2.0, 2.0, 10.0),
    chat("grok-2-vision", 20241212, 2.0, 2.0, 10.0),
    // DeepSeek
    chat("deepseek-chat", 20250208, 0.27, 0.07, 1.1),
    chat("deepseek-chat", 20250905, 0.56, 0.07, 1.68),
    chat("deepseek-chat", 20250929, 0.28, 0.028, 0.42),
    chat("deepseek-reasoner", 20250120, 0.55, 0.14, 2.19),
    chat("deepseek-reasoner", 20250905, 0.56, 0.07, 1.68),
    chat("deepseek-reasoner", 20250929, 0.28, 0.028, 0.42),
    // Cohere
    chat("command-a", 20250313, 2.5, 2.5, 10.0),
    chat("command-r-plus", 20240404, 3.0, 3.0, 15.0),
    chat("command-r-plus", 20240830, 2.5, 2.5, 10.0),
    chat("command-r", 20240311, 0.5, 0.5, 1.5),
    chat("command-r", 20240830, 0.15, 0.15, 0.6),
    chat("command-r7b", 20241213, 0.0375, 0.0375, 0.15),
    embedding("embed-v4.0", 20250415, 0.12),
    embedding("embed-english-v3.0", 20231102, 0.1),
    embedding("embed-multilingual-v3.0", 20231102, 0.1),
    // Amazon
    chat("nova-micro", 20241203, 0.035, 0.00875, 0.14).batch(0.5),
    chat("nova-lite", 20241203, 0.06, 0.015, 0.24).batch(0.5),
    chat("nova-pro", 20241203, 0.8, 0.2, 3.2).batch(0.5),
    chat("nova-premier", 20250430, 2.5, 0.625, 12.5).batch(0.5),
    embedding("titan-embed-text-v2", 20240430, 0.02),
    // Qwen
    chat("qwen-max", 20250125, 1.6, 1.6, 6.4),
    chat("qwen-plus", 20250125, 0.4, 0.4, 1.2),
    chat("qwen-turbo", 20250125, 0.05, 0.05, 0.2),
    chat("qwen-flash", 20250728, 0.05, 0.05, 0.4),
    chat("qwen3-max", 20250923, 1.2, 1.2, 6.0),
    chat("qwen3-coder-plus", 20250722, 1.0, 1.0, 5.0),
    chat("qwq-plus", 20250305, 0.8, 0.8, 2.4),
    // Llama by host, which its name shows: Groq, Together, Fireworks, Bedrock.
    chat("llama-3.3-70b-versatile", 20241206, 0.59, 0.59, 0.79),
    chat("llama-3.1-8b-instant", 20240723, 0.05, 0.05, 0.08),
    chat("llama-3.3-70b-instruct-turbo", 20241206, 0.88, 0.88, 0.88),
    chat("meta-llama-3.1-8b-instruct-turbo", 20240723, 0.18, 0.18, 0.18),
    chat("meta-llama-3.1-70b-instruct-turbo", 20240723, 0.88, 0.88, 0.88),
    chat("meta-llama-3.1-405b-instruct-turbo", 20240723, 3.5, 3.5, 3.5),
    chat("llama-4-maverick-17b-128e-instruct-fp8", 20250405, 0.27, 0.27, 0.85),
    chat("llama-v3p3-70b-instruct", 20241206, 0.9, 0.9, 0.9),
    chat("llama-v3p1-8b-instruct", 20240723, 0.2, 0.2, 0.2),
    chat("llama-v3p1-405b-instruct", 20240723, 3.0, 3.0, 3.0),
    chat("llama3-1-8b-instruct", 20240723, 0.22, 0.22, 0.22),
    chat("llama3-1-70b-instruct", 20240723, 0.72, 0.72, 0.72),
    chat("llama3-1-405b-instruct", 20240723, 2.4, 2.4, 2.4),
    chat("llama3-2-1b-instruct", 20240925, 0.1, 0.1, 0.1),
    chat("llama3-2-3b-instruct", 20240925, 0.15, 0.15, 0.15),
    chat("llama3-2-11b-instruct", 20240925, 0.16, 0.16, 0.16),
    chat("llama3-2-90b-instruct", 20240925, 0.72, 0.72, 0.72),
    chat("llama3-3-70b-instruct", 20241219, 0.72, 0.72, 0.72),
    chat("llama4-scout-17b-instruct", 20250428, 0.17, 0.17, 0.66),
    chat("llama4-maverick-17b-instruct", 20250428, 0.24, 0.24, 0.97),
];
