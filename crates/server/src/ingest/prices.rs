//! The price table of AI models: built in, and the operator's own on top. DECISIONS 12.
//!
//! `ai-prices.json` in the data directory, read at start, is a list of
//! `{"model": "my-model", "from": "2026-01-01", "input": 2.5, "cachedInput": 1.25, "output": 10, "reasoning": 10}`:
//! US dollars per million tokens from that day on. A model named there replaces all its built-in prices.

use std::path::Path;

use anyhow::{Context, ensure};
use serde::Deserialize;
use tidewatch_domain::rules::prices::{BUILT_IN, Price};

/// Lives as long as the process: read once, at start.
pub type Prices = &'static [Price<'static>];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Entry {
    model: String,
    from: jiff::civil::Date,
    input: f64,
    /// As `input` when absent.
    cached_input: Option<f64>,
    output: f64,
    /// As `output` when absent.
    reasoning: Option<f64>,
}

/// The built-in table, with the operator's file on top when there is one.
pub fn read(data_dir: &Path) -> anyhow::Result<Prices> {
    let path = data_dir.join("ai-prices.json");
    match std::fs::read_to_string(&path) {
        Ok(text) => with_own(&text).with_context(|| format!("{} is not a price table", path.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(BUILT_IN),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

fn with_own(text: &str) -> anyhow::Result<Prices> {
    let entries: Vec<Entry> = serde_json::from_str(text)?;
    let own: Vec<Price<'static>> = entries.into_iter().map(price).collect::<anyhow::Result<_>>()?;
    let built_in = BUILT_IN.iter().filter(|price| !own.iter().any(|mine| mine.model == price.model));
    let table: Vec<Price<'static>> = built_in.copied().chain(own.iter().copied()).collect();
    Ok(Vec::leak(table))
}

fn price(entry: Entry) -> anyhow::Result<Price<'static>> {
    let rates = [Some(entry.input), entry.cached_input, Some(entry.output), entry.reasoning];
    let fit = rates.into_iter().flatten().all(|rate| rate.is_finite() && rate >= 0.0);
    ensure!(fit, "a price of {} is negative", entry.model);
    let (year, month, day) = (entry.from.year(), entry.from.month(), entry.from.day());
    Ok(Price {
        model: String::leak(entry.model.trim().to_ascii_lowercase()),
        from_day: u32::try_from(year).unwrap_or(0) * 10_000 + month as u32 * 100 + day as u32,
        input: entry.input,
        cached_input: entry.cached_input.unwrap_or(entry.input),
        output: entry.output,
        reasoning: entry.reasoning.unwrap_or(entry.output),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidewatch_domain::rules::prices::price_of;

    #[test]
    fn an_own_price_replaces_the_built_in_one() {
        let own = r#"[{"model": "GPT-4o", "from": "2020-01-01", "input": 1, "output": 2, "reasoning": 3}]"#;
        let table = with_own(own).expect("a price table");
        let now_ns = 1_795_000_000_000_000_000;
        let price = price_of(table, "gpt-4o", now_ns).expect("a known model");
        assert_eq!((price.input, price.cached_input, price.output, price.reasoning), (1.0, 1.0, 2.0, 3.0));
        assert_eq!(price_of(table, "gpt-4o-mini", now_ns), price_of(BUILT_IN, "gpt-4o-mini", now_ns), "others stay");
    }

    #[test]
    fn what_is_no_price_table_is_said() {
        for (text, expected) in [
            ("{}", "expected a sequence"),
            (r#"[{"model": "m", "from": "2026-01-01", "input": -1, "output": 2}]"#, "a price of m is negative"),
            (r#"[{"model": "m", "from": "soon", "input": 1, "output": 2}]"#, "year"),
            (r#"[{"model": "m", "from": "2026-01-01", "input": 1, "output": 2, "outputs": 2}]"#, "unknown field"),
        ] {
            let error = format!("{:#}", with_own(text).expect_err(text));
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
