//! List prices of well-known models in US dollars per million tokens.

use super::Price;

/// Model, first day, input, cached input, output. Reasoning tokens cost as much as output tokens.
const fn chat(model: &'static str, from_day: u32, input: f64, cached_input: f64, output: f64) -> Price<'static> {
    Price { model, from_day, input, cached_input, output, reasoning: output }
}

/// Embeddings have no output.
const fn embedding(model: &'static str, from_day: u32, input: f64) -> Price<'static> {
    chat(model, from_day, input, input, 0.0)
}

/// The built-in price table.
pub const BUILT_IN: &[Price<'static>] = &[
    // OpenAI
    chat("gpt-5.1", 20251113, 1.25, 0.125, 10.0),
    chat("gpt-5", 20250807, 1.25, 0.125, 10.0),
    chat("gpt-5-chat", 20250807, 1.25, 0.125, 10.0),
    chat("gpt-5-codex", 20250923, 1.25, 0.125, 10.0),
    chat("gpt-5-mini", 20250807, 0.25, 0.025, 2.0),
    chat("gpt-5-nano", 20250807, 0.05, 0.005, 0.4),
    chat("gpt-5-pro", 20251006, 15.0, 15.0, 120.0),
    chat("gpt-4.1", 20250414, 2.0, 0.5, 8.0),
    chat("gpt-4.1-mini", 20250414, 0.4, 0.1, 1.6),
    chat("gpt-4.1-nano", 20250414, 0.1, 0.025, 0.4),
    chat("gpt-4o", 20240513, 5.0, 5.0, 15.0),
    chat("gpt-4o", 20241002, 2.5, 1.25, 10.0),
    chat("gpt-4o-mini", 20240718, 0.15, 0.075, 0.6),
    chat("chatgpt-4o", 20240814, 5.0, 5.0, 15.0),
    chat("o1", 20241217, 15.0, 7.5, 60.0),
    chat("o1-preview", 20240912, 15.0, 7.5, 60.0),
    chat("o1-mini", 20240912, 3.0, 1.5, 12.0),
    chat("o1-mini", 20250131, 1.1, 0.55, 4.4),
    chat("o1-pro", 20250319, 150.0, 150.0, 600.0),
    chat("o3", 20250416, 10.0, 2.5, 40.0),
    chat("o3", 20250610, 2.0, 0.5, 8.0),
    chat("o3-mini", 20250131, 1.1, 0.55, 4.4),
    chat("o3-pro", 20250610, 20.0, 20.0, 80.0),
    chat("o4-mini", 20250416, 1.1, 0.275, 4.4),
    chat("gpt-4-turbo", 20240409, 10.0, 10.0, 30.0),
    chat("gpt-4", 20230314, 30.0, 30.0, 60.0),
    chat("gpt-4-32k", 20230314, 60.0, 60.0, 120.0),
    chat("gpt-3.5-turbo", 20230301, 2.0, 2.0, 2.0),
    chat("gpt-3.5-turbo", 20240125, 0.5, 0.5, 1.5),
    embedding("text-embedding-3-small", 20240125, 0.02),
    embedding("text-embedding-3-large", 20240125, 0.13),
    embedding("text-embedding-ada-002", 20230613, 0.1),
    // Anthropic
    chat("claude-opus-4-5", 20251124, 5.0, 0.5, 25.0),
    chat("claude-opus-4-1", 20250805, 15.0, 1.5, 75.0),
    chat("claude-opus-4", 20250522, 15.0, 1.5, 75.0),
    chat("claude-sonnet-4-5", 20250929, 3.0, 0.3, 15.0),
    chat("claude-sonnet-4", 20250522, 3.0, 0.3, 15.0),
    chat("claude-haiku-4-5", 20251015, 1.0, 0.1, 5.0),
    chat("claude-3-7-sonnet", 20250224, 3.0, 0.3, 15.0),
    chat("claude-3-5-sonnet", 20240620, 3.0, 0.3, 15.0),
    chat("claude-3-5-haiku", 20241104, 0.8, 0.08, 4.0),
    chat("claude-3-opus", 20240229, 15.0, 1.5, 75.0),
    chat("claude-3-sonnet", 20240229, 3.0, 0.3, 15.0),
    chat("claude-3-haiku", 20240307, 0.25, 0.03, 1.25),
    // Google
    chat("gemini-3-pro", 20251118, 2.0, 0.2, 12.0),
    chat("gemini-2.5-pro", 20250617, 1.25, 0.125, 10.0),
    chat("gemini-2.5-flash", 20250617, 0.3, 0.03, 2.5),
    chat("gemini-2.5-flash-lite", 20250722, 0.1, 0.01, 0.4),
    chat("gemini-2.0-flash", 20250205, 0.1, 0.025, 0.4),
    chat("gemini-2.0-flash-lite", 20250225, 0.075, 0.075, 0.3),
    chat("gemini-1.5-pro", 20241001, 1.25, 0.3125, 5.0),
    chat("gemini-1.5-flash", 20240812, 0.075, 0.01875, 0.3),
    chat("gemini-1.5-flash-8b", 20241003, 0.0375, 0.01, 0.15),
    embedding("gemini-embedding-001", 20250714, 0.15),
    // Mistral
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
];
