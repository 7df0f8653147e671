//! Prices of AI models by name and date, and the cost of a call. DECISIONS 12.
//!
//! Unknown models have no cost, as opposed to a cost of zero. The built-in table contains list prices in US dollars per
//! million tokens; callers may pass another table.

use crate::units::DAY_NS;

mod built_in;

use std::borrow::Cow;

pub use built_in::BUILT_IN;

/// The price of a model from a day on, in US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price<'t> {
    /// Model name without date or version suffix, lower case: `gpt-4o-mini`.
    pub model: &'t str,
    /// First valid day as a number: 20241001. A model's first price is also valid before its day.
    pub from_day: u32,
    /// Price of input tokens.
    pub input: f64,
    /// Price of input tokens read from the provider's cache.
    pub cached_input: f64,
    /// Price of output tokens.
    pub output: f64,
    /// Price of output tokens spent on reasoning.
    pub reasoning: f64,
}

/// Token counts of a call; `None` when absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tokens {
    /// All input tokens, cached ones included.
    pub input: Option<i64>,
    /// Input tokens read from the provider's cache.
    pub cached: Option<i64>,
    /// All output tokens, reasoning included.
    pub output: Option<i64>,
    /// Output tokens spent on reasoning.
    pub reasoning: Option<i64>,
}

/// The cost of a call in US dollars; `None` when unknown.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cost {
    /// Cost of the input.
    pub input: Option<f64>,
    /// Cost of the output.
    pub output: Option<f64>,
    /// Cost of both.
    pub total: Option<f64>,
}

/// The price of `model` at a time in nanoseconds since the epoch; `None` for an unknown model.
pub fn price_of<'t>(table: &[Price<'t>], model: &str, time_ns: i64) -> Option<Price<'t>> {
    let mut name = Cow::Borrowed(base_name(model));
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        name.to_mut().make_ascii_lowercase();
    }
    let longest = table
        .iter()
        .map(|price| price.model)
        .filter(|known| is_version_of(&name, known))
        .max_by_key(|known| known.len())?;
    let day = day_number(time_ns);
    let of_model = || table.iter().filter(|price| price.model == longest);
    let latest = of_model().filter(|price| price.from_day <= day).max_by_key(|price| price.from_day);
    latest.or_else(|| of_model().min_by_key(|price| price.from_day)).copied()
}

/// The cost of the known token counts. Cached and reasoning tokens have their own prices.
pub fn cost(price: &Price<'_>, tokens: Tokens) -> Cost {
    let dollars = |count: i64, per_million: f64| count.max(0) as f64 * per_million / 1.0e6;
    let part = |all: Option<i64>, special: Option<i64>, rate: f64, special_rate: f64| {
        let all = all?.max(0);
        let special = special.unwrap_or(0).clamp(0, all);
        Some(dollars(all - special, rate) + dollars(special, special_rate))
    };
    let input = part(tokens.input, tokens.cached, price.input, price.cached_input);
    let output = part(tokens.output, tokens.reasoning, price.output, price.reasoning);
    let total = (input.is_some() || output.is_some()).then(|| input.unwrap_or(0.0) + output.unwrap_or(0.0));
    Cost { input, output, total }
}

/// Removes the vendor prefix of gateways: `openai/gpt-4o`, `models/gemini-2.0-flash`, `us.anthropic.claude-…`.
fn base_name(model: &str) -> &str {
    let name = model.trim().rsplit('/').next().unwrap_or("");
    ["anthropic.", "mistral.", "openai."]
        .iter()
        .find_map(|vendor| name.split_once(vendor))
        .map_or(name, |(_, rest)| rest)
}

/// Whether `name` is the known model or a dated or numbered version of it (`-2024-08-06`, `@20241022`, `-001`, `-v2:0`,
/// `-latest`, `-preview-09-2025`). Another word or a single digit after it (`-5`) is another model.
fn is_version_of(name: &str, known: &str) -> bool {
    let Some(rest) = name.strip_prefix(known) else { return false };
    if rest.is_empty() {
        return true;
    }
    let Some(version) = rest.strip_prefix(['-', '@', ':']) else { return false };
    let mut parts = version.split(['-', '@', ':', '.']);
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_word =
        |part: &str| matches!(part, "latest" | "preview" | "exp") || part.strip_prefix('v').is_some_and(is_number);
    parts.next().is_some_and(|first| is_word(first) || (first.len() >= 3 && is_number(first)))
        && parts.all(|part| is_word(part) || is_number(part))
}

/// The UTC day of a time as a number: 20240229. Uses the civil-from-days algorithm.
fn day_number(time_ns: i64) -> u32 {
    let days = time_ns.div_euclid(DAY_NS) + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    u32::try_from(year * 10_000 + month * 100 + day).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON_2026: i64 = 1_795_219_200_000_000_000;

    // DECISIONS 12: unknown models have no price, as opposed to a price of zero.
    #[test]
    fn model_names_table() {
        for (model, expected) in [
            ("gpt-4o", Some("gpt-4o")),
            ("GPT-4o", Some("gpt-4o")),
            ("gpt-4o-2024-08-06", Some("gpt-4o")),
            ("gpt-4o-mini", Some("gpt-4o-mini")),
            ("gpt-4o-mini-2024-07-18", Some("gpt-4o-mini")),
            ("openai/gpt-4o", Some("gpt-4o")),
            ("claude-3-5-sonnet-20241022", Some("claude-3-5-sonnet")),
            ("claude-3-5-sonnet@20241022", Some("claude-3-5-sonnet")),
            ("us.anthropic.claude-3-5-sonnet-20241022-v2:0", Some("claude-3-5-sonnet")),
            ("models/gemini-2.5-flash", Some("gemini-2.5-flash")),
            ("mistral-large-latest", Some("mistral-large")),
            ("mistral.mistral-large-2407-v1:0", Some("mistral-large")),
            ("gemini-2.5-flash-preview-09-2025", Some("gemini-2.5-flash")),
            ("claude-sonnet-4-20250514", Some("claude-sonnet-4")),
            ("claude-sonnet-4-5-20250929", Some("claude-sonnet-4-5")),
            ("claude-sonnet-4-9", None),
            ("gpt-5.9", None),
            ("gpt-4o-", None),
            ("gpt-4o-audio", None),
            ("gpt-4", Some("gpt-4")),
            ("gpt-4-0613", Some("gpt-4")),
            ("gpt-400", None),
            ("my-own-model", None),
            ("", None),
        ] {
            assert_eq!(price_of(BUILT_IN, model, NOON_2026).map(|price| price.model), expected, "{model}");
        }
    }

    #[test]
    fn the_price_of_the_day() {
        let price =
            |from_day, input| Price { model: "m", from_day, input, cached_input: 0.0, output: 0.0, reasoning: 0.0 };
        let table = [price(20_240_513, 5.0), price(20_241_002, 2.5)];
        let at = |time_ns| price_of(&table, "m", time_ns).map(|price| price.input);
        assert_eq!(at(1_727_827_199_000_000_000), Some(5.0)); // 2024-10-01T23:59:59Z
        assert_eq!(at(1_727_827_200_000_000_000), Some(2.5)); // 2024-10-02T00:00:00Z
        assert_eq!(at(0), Some(5.0));
        assert_eq!(at(i64::MIN), Some(5.0));
        assert_eq!(at(i64::MAX), Some(2.5));
    }

    #[test]
    fn days() {
        for (seconds, expected) in
            [(0, 19_700_101), (951_782_400, 20_000_229), (1_709_164_800, 20_240_229), (1_735_689_599, 20_241_231)]
        {
            assert_eq!(day_number(seconds * 1_000_000_000), expected);
        }
    }

    #[test]
    fn cost_table() {
        let price = Price { model: "m", from_day: 0, input: 10.0, cached_input: 1.0, output: 20.0, reasoning: 40.0 };
        let million = Some(1_000_000);
        let half = Some(500_000);
        for (input, cached, output, reasoning, expected) in [
            (million, None, million, None, (Some(10.0), Some(20.0), Some(30.0))),
            (million, half, million, half, (Some(5.5), Some(30.0), Some(35.5))),
            (million, Some(9_000_000), None, None, (Some(1.0), None, Some(1.0))),
            (None, None, million, None, (None, Some(20.0), Some(20.0))),
            (Some(-5), None, None, None, (Some(0.0), None, Some(0.0))),
            (None, half, None, half, (None, None, None)),
        ] {
            let actual = cost(&price, Tokens { input, cached, output, reasoning });
            assert_eq!((actual.input, actual.output, actual.total), expected);
        }
    }

    #[test]
    fn the_table_is_sane() {
        for price in BUILT_IN {
            assert_eq!(price.model, price.model.to_ascii_lowercase());
            assert!(price.input > 0.0 && price.cached_input <= price.input, "{}", price.model);
            assert!((20_220_101..=20_991_231).contains(&price.from_day), "{}", price.model);
        }
    }
}
