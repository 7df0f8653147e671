//! Prices of AI models by name and date, and the cost of a call. DECISIONS 12, 32.
//!
//! Unknown models have no cost, as opposed to a cost of zero. The built-in table contains list prices in US dollars per
//! million tokens; callers may pass another table. [`names`] compares the spellings of a model's name.

use crate::units::DAY_NS;

mod built_in;
mod names;

pub use built_in::{BUILT_IN, BUILT_IN_DAY};

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
    /// Prices that most models do not have.
    pub special: Special,
}

/// Prices that most models do not have, in US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Special {
    /// Input tokens written to the cache for five minutes; `None`: as other input.
    pub cache_write: Option<f64>,
    /// Input tokens written to the cache for an hour; `None`: as [`Special::cache_write`].
    pub cache_write_hour: Option<f64>,
    /// Input tokens of audio; `None`: unknown.
    pub audio_input: Option<f64>,
    /// Output tokens of audio; `None`: unknown.
    pub audio_output: Option<f64>,
    /// Input tokens of images; `None`: as other input.
    pub image_input: Option<f64>,
    /// Output tokens of images; `None`: as other output.
    pub image_output: Option<f64>,
    /// Factor of all prices of a batch; `None`: unknown.
    pub batch: Option<f64>,
    /// Prices of calls with many input tokens; `None`: as others.
    pub long: Option<LongContext>,
}

/// Factors for all tokens of a call with many input tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LongContext {
    /// Number of input tokens above which the factors apply.
    pub above: u32,
    /// Factor of the prices of input.
    pub input: f64,
    /// Factor of the prices of output.
    pub output: f64,
}

/// Token counts of a call; `None` when absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tokens {
    /// All input tokens, cached ones included.
    pub input: Option<i64>,
    /// Input tokens read from the provider's cache.
    pub cached: Option<i64>,
    /// Input tokens written to the provider's cache.
    pub cache_write: Option<i64>,
    /// The part of [`Tokens::cache_write`] that is kept for an hour.
    pub cache_write_hour: Option<i64>,
    /// All output tokens, reasoning included.
    pub output: Option<i64>,
    /// Output tokens spent on reasoning.
    pub reasoning: Option<i64>,
    /// Input tokens of audio.
    pub audio_input: Option<i64>,
    /// Output tokens of audio.
    pub audio_output: Option<i64>,
    /// Input tokens of images.
    pub image_input: Option<i64>,
    /// Output tokens of images.
    pub image_output: Option<i64>,
}

impl Tokens {
    /// Adds the tokens of the cache to the input where the sender left them out: if there are more of them than of the
    /// input, or if only with them the parts give the stated total.
    pub fn include_cached(&mut self, total: Option<i64>) {
        let Some(input) = self.input else { return };
        let cache = self.cached.unwrap_or(0).saturating_add(self.cache_write.unwrap_or(0));
        let with_cache = input.saturating_add(cache);
        let is_stated = total.is_some_and(|total| total == with_cache.saturating_add(self.output.unwrap_or(0)));
        if cache > input || (cache > 0 && is_stated) {
            self.input = Some(with_cache);
        }
    }
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
    let name = names::normal(model);
    let longest = table
        .iter()
        .map(|price| price.model)
        .filter(|known| names::is_version_of(&name, known))
        .max_by_key(|known| known.len())?;
    let day = day_number(time_ns);
    let of_model = || table.iter().filter(|price| price.model == longest);
    let latest = of_model().filter(|price| price.from_day <= day).max_by_key(|price| price.from_day);
    latest.or_else(|| of_model().min_by_key(|price| price.from_day)).copied()
}

/// Takes counts of special tokens from all tokens of one side.
struct Side {
    /// Tokens without a price of their own, so far.
    left: i64,
    /// US dollars per million tokens times tokens; `None` once a price is unknown.
    sum: Option<f64>,
}

impl Side {
    fn new(all: i64) -> Side {
        Side { left: all.max(0), sum: Some(0.0) }
    }

    /// Prices a part of the tokens. Parts never exceed the whole.
    fn part(&mut self, count: Option<i64>, price: Option<f64>) {
        let count = count.unwrap_or(0).clamp(0, self.left);
        if count > 0 {
            self.left -= count;
            self.sum = self.sum.zip(price).map(|(sum, price)| sum + count as f64 * price);
        }
    }

    /// Dollars of all parts and the rest.
    fn dollars(mut self, price: f64, factor: f64) -> Option<f64> {
        self.part(Some(self.left), Some(price));
        self.sum.map(|sum| sum * factor / 1.0e6)
    }
}

/// The cost of the known token counts. Tokens of the cache, of reasoning, audio and images have their own prices; a side
/// with tokens of an unknown price has no cost, and neither has the total then. A batch without a known price has none.
pub fn cost(price: &Price<'_>, tokens: Tokens, is_batch: bool) -> Cost {
    let Special { cache_write, cache_write_hour, audio_input, audio_output, image_input, image_output, batch, long } =
        price.special;
    let Some(batch) = (if is_batch { batch } else { Some(1.0) }) else { return Cost::default() };
    let long = long.filter(|long| tokens.input.is_some_and(|input| input > i64::from(long.above)));
    let (long_input, long_output) = long.map_or((1.0, 1.0), |long| (long.input, long.output));
    let input = tokens.input.map(|all| {
        let mut side = Side::new(all);
        let write = cache_write.unwrap_or(price.input);
        let hour = tokens.cache_write_hour.map(|hour| hour.clamp(0, tokens.cache_write.unwrap_or(0).max(0)));
        side.part(tokens.cached, Some(price.cached_input));
        side.part(hour, Some(cache_write_hour.unwrap_or(write)));
        side.part(tokens.cache_write.map(|all| all.saturating_sub(hour.unwrap_or(0))), Some(write));
        side.part(tokens.audio_input, audio_input);
        side.part(tokens.image_input, Some(image_input.unwrap_or(price.input)));
        side.dollars(price.input, batch * long_input)
    });
    let output = tokens.output.map(|all| {
        let mut side = Side::new(all);
        side.part(tokens.reasoning, Some(price.reasoning));
        side.part(tokens.audio_output, audio_output);
        side.part(tokens.image_output, Some(image_output.unwrap_or(price.output)));
        side.dollars(price.output, batch * long_output)
    });
    let is_known = input != Some(None) && output != Some(None);
    let (input, output) = (input.flatten(), output.flatten());
    let parts = input.is_some() || output.is_some();
    let total = (is_known && parts).then(|| input.unwrap_or(0.0) + output.unwrap_or(0.0));
    Cost { input, output, total }
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

    // DECISIONS 12, 32: unknown models have no price, as opposed to a price of zero.
    #[test]
    fn model_names_table() {
        for (model, expected) in [
            ("gpt-4o", Some("gpt-4o")),
            ("GPT-4o", Some("gpt-4o")),
            ("gpt-4o-2024-08-06", Some("gpt-4o")),
            ("gpt-4o-mini", Some("gpt-4o-mini")),
            ("gpt-4o-mini-2024-07-18", Some("gpt-4o-mini")),
            ("openai/gpt-4o", Some("gpt-4o")),
            ("openai:gpt-4o", Some("gpt-4o")),
            ("azure/gpt-4o", Some("gpt-4o")),
            ("openrouter/openai/gpt-4o-mini", Some("gpt-4o-mini")),
            ("gateway/openai:gpt-5", Some("gpt-5")),
            ("gpt-5-1", Some("gpt-5.1")),
            ("claude-3-5-sonnet-20241022", Some("claude-3-5-sonnet")),
            ("claude-3-5-sonnet@20241022", Some("claude-3-5-sonnet")),
            ("claude-3.5-sonnet", Some("claude-3-5-sonnet")),
            ("claude-sonnet-4.5", Some("claude-sonnet-4-5")),
            ("claude-4.5-sonnet", Some("claude-sonnet-4-5")),
            ("claude-sonnet-4-5", Some("claude-sonnet-4-5")),
            ("anthropic/claude-sonnet-4.5", Some("claude-sonnet-4-5")),
            ("us.anthropic.claude-3-5-sonnet-20241022-v2:0", Some("claude-3-5-sonnet")),
            ("global.anthropic.claude-sonnet-4-5-20250929-v1:0", Some("claude-sonnet-4-5")),
            ("bedrock/us.anthropic.claude-sonnet-4-20250514-v1:0", Some("claude-sonnet-4")),
            (
                "arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-sonnet-4-20250514-v1:0",
                Some("claude-sonnet-4"),
            ),
            ("bedrock:anthropic.claude-sonnet-4-20250514-v1:0", Some("claude-sonnet-4")),
            ("models/gemini-2.5-flash", Some("gemini-2.5-flash")),
            ("google-gla:gemini-2.5-pro", Some("gemini-2.5-pro")),
            ("publishers/google/models/gemini-2.5-pro", Some("gemini-2.5-pro")),
            ("mistral-large-latest", Some("mistral-large")),
            ("mistral.mistral-large-2407-v1:0", Some("mistral-large-2407")),
            ("gemini-2.5-flash-preview-09-2025", Some("gemini-2.5-flash")),
            ("claude-sonnet-4-20250514", Some("claude-sonnet-4")),
            ("claude-sonnet-4-5-20250929", Some("claude-sonnet-4-5")),
            ("us.amazon.nova-pro-v1:0", Some("nova-pro")),
            ("xai/grok-4-0709", Some("grok-4")),
            ("deepseek-chat", Some("deepseek-chat")),
            ("command-r-plus-08-2024", Some("command-r-plus")),
            ("us.meta.llama3-3-70b-instruct-v1:0", Some("llama3-3-70b-instruct")),
            ("groq/llama-3.3-70b-versatile", Some("llama-3.3-70b-versatile")),
            ("qwen-max-latest", Some("qwen-max")),
            ("ft:gpt-4o-mini-2024-07-18:acme::abc", Some("ft:gpt-4o-mini")),
            ("ft:my-model:acme::abc", None),
            ("anthropic/claude-sonnet-4.5:free", None),
            ("claude-sonnet-4-9", None),
            ("gpt-5.9", None),
            ("gpt-4o-", None),
            ("gpt-4o-audio", None),
            ("gpt-4", Some("gpt-4")),
            ("gpt-4-0613", Some("gpt-4")),
            ("gpt-400", None),
            ("my-own-model", None),
            ("my-fine-tuned-thing", None),
            ("/", None),
            (":", None),
            (".", None),
            ("ft:", None),
            ("", None),
        ] {
            assert_eq!(price_of(BUILT_IN, model, NOON_2026).map(|price| price.model), expected, "{model}");
        }
    }

    #[test]
    fn the_price_of_the_day() {
        let price = |from_day, input| Price {
            model: "m",
            from_day,
            input,
            cached_input: 0.0,
            output: 0.0,
            reasoning: 0.0,
            special: Special::default(),
        };
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

    const PRICE: Price<'static> = Price {
        model: "m",
        from_day: 0,
        input: 10.0,
        cached_input: 1.0,
        output: 20.0,
        reasoning: 40.0,
        special: Special {
            cache_write: None,
            cache_write_hour: None,
            audio_input: None,
            audio_output: None,
            image_input: None,
            image_output: None,
            batch: None,
            long: None,
        },
    };

    #[test]
    fn cost_table() {
        let price = PRICE;
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
            let actual = cost(&price, Tokens { input, cached, output, reasoning, ..Tokens::default() }, false);
            assert_eq!((actual.input, actual.output, actual.total), expected);
        }
    }

    // DECISIONS 32: every kind has its own price, a side with an unknown price has none.
    #[test]
    fn special_tokens_table() {
        let special = Special {
            cache_write: Some(12.5),
            cache_write_hour: Some(20.0),
            audio_input: Some(30.0),
            audio_output: Some(60.0),
            image_input: Some(5.0),
            image_output: Some(80.0),
            batch: Some(0.5),
            long: Some(LongContext { above: 2_000_000, input: 2.0, output: 1.5 }),
        };
        let (rich, none) = (Price { special, ..PRICE }, Tokens::default());
        let [million, half] = [Some(1_000_000), Some(500_000)];
        let input = Tokens { input: million, ..none };
        let output = Tokens { output: million, ..none };
        for (price, tokens, is_batch, expected) in [
            (rich, Tokens { cache_write: million, ..input }, false, Some(12.5)),
            (rich, Tokens { cache_write: million, cache_write_hour: half, ..input }, false, Some(6.25 + 10.0)),
            (rich, Tokens { cached: half, cache_write: half, ..input }, false, Some(0.5 + 6.25)),
            (rich, Tokens { audio_input: half, ..input }, false, Some(15.0 + 5.0)),
            (rich, Tokens { image_input: half, ..input }, false, Some(2.5 + 5.0)),
            (rich, Tokens { audio_output: half, ..output }, false, Some(30.0 + 10.0)),
            (rich, Tokens { image_output: half, reasoning: half, ..output }, false, Some(40.0 + 20.0)),
            (rich, input, true, Some(5.0)),
            (rich, Tokens { input: Some(4_000_000), output: million, ..none }, false, Some(80.0 + 30.0)),
            (PRICE, Tokens { cache_write: million, ..input }, false, Some(10.0)),
            (PRICE, Tokens { image_input: million, ..input }, false, Some(10.0)),
            (PRICE, Tokens { audio_input: Some(1), ..input }, false, None),
            (PRICE, Tokens { audio_input: Some(0), ..input }, false, Some(10.0)),
            (PRICE, Tokens { audio_output: Some(1), input: million, ..output }, false, None),
            (PRICE, input, true, None),
        ] {
            assert_eq!(cost(&price, tokens, is_batch).total, expected, "{tokens:?} {is_batch}");
        }
    }

    // DECISIONS 32: cached tokens greater than input tokens prove that the input excludes them.
    #[test]
    fn input_includes_the_cache_table() {
        for (input, cached, cache_write, total, expected) in [
            (Some(1000), Some(400), None, None, Some(1000)),
            (Some(100), Some(400), None, None, Some(500)),
            (Some(100), Some(60), Some(60), None, Some(220)),
            (Some(1000), Some(400), None, Some(1050), Some(1000)),
            (Some(1000), Some(400), None, Some(1450), Some(1400)),
            (Some(1000), None, None, Some(1050), Some(1000)),
            (None, Some(400), None, None, None),
            (Some(i64::MAX), Some(i64::MAX), Some(1), None, Some(i64::MAX)),
        ] {
            let mut tokens = Tokens { input, cached, cache_write, output: Some(50), ..Tokens::default() };
            tokens.include_cached(total);
            assert_eq!(tokens.input, expected, "{input:?} {cached:?} {cache_write:?} {total:?}");
        }
    }

    #[test]
    fn the_table_is_sane() {
        for price in BUILT_IN {
            assert_eq!(price.model, price.model.to_ascii_lowercase());
            assert_eq!(price_of(BUILT_IN, price.model, NOON_2026).map(|found| found.model), Some(price.model));
            assert!(price.input > 0.0 && price.cached_input <= price.input, "{}", price.model);
            assert!((20_220_101..=BUILT_IN_DAY).contains(&price.from_day), "{}", price.model);
        }
    }
}
