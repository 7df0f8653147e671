//! The price table of AI models: built-in prices, overridden by the operator's. DECISIONS 12.
//!
//! `ai-prices.json` in the data directory, read at start, is a list of
//! `{"model": "my-model", "from": "2026-01-01", "input": 2.5, "cachedInput": 1.25, "output": 10, "reasoning": 10}`:
//! US dollars per million tokens from that day on. A model named there replaces all its built-in prices.
//!
//! Costs are computed when an export is accepted, and again when the journal is replayed. For equal results each
//! journal record names its table ([`PriceTable::id`]), and every table that was in use is stored under its id in
//! `ai-prices/` of the data directory.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};
use tidewatch_domain::rules::prices::{BUILT_IN, Price};
use tidewatch_journal::disk::{Disk, RealDisk};
use xxhash_rust::xxh3::Xxh3Default;

/// The prices of all models. They are read once, at start, and never freed.
pub type Prices = &'static [Price<'static>];

/// A price table and its id.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PriceTable {
    /// The prices.
    pub prices: Prices,
    /// A hash of the prices. [`NO_TABLE`]: the table could not be stored, and a replay uses the table that is current
    /// then.
    pub id: u64,
}

/// The id of a table that is not stored.
pub const NO_TABLE: u64 = 0;

/// One price of a stored table.
#[derive(Debug, Serialize, Deserialize)]
struct StoredPrice {
    model: String,
    /// The first day of the price, as the number 20260101.
    from_day: u32,
    input: f64,
    cached_input: f64,
    output: f64,
    reasoning: f64,
}

/// Reads the current table and stores it durably. Also returns the earlier tables by id. When the current table cannot
/// be stored, its id is [`NO_TABLE`]; the start does not fail for that.
pub fn open(data_dir: &Path) -> anyhow::Result<(PriceTable, HashMap<u64, Prices>)> {
    let prices = read(data_dir)?;
    let (folder, id) = (data_dir.join(FOLDER), id_of(prices));
    let mut before = HashMap::new();
    for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
        match read_stored(&entry.path()) {
            Some((id, prices)) => drop(before.insert(id, prices)),
            None => tracing::warn!(path = %entry.path().display(), "not a price table that was kept; it is left alone"),
        }
    }
    if before.contains_key(&id) {
        return Ok((PriceTable { prices, id }, before));
    }
    match store(&folder, id, prices) {
        Ok(()) => Ok((PriceTable { prices, id }, before)),
        Err(error) => {
            tracing::warn!(%error, "cannot keep the price table in {}: after a crash and a change of prices, costs may be computed anew", folder.display());
            Ok((PriceTable { prices, id: NO_TABLE }, before))
        }
    }
}

const FOLDER: &str = "ai-prices";

/// The hash of the prices; never [`NO_TABLE`].
fn id_of(prices: &[Price<'_>]) -> u64 {
    let mut hash = Xxh3Default::new();
    for price in prices {
        hash.update(&(price.model.len() as u64).to_le_bytes());
        hash.update(price.model.as_bytes());
        hash.update(&price.from_day.to_le_bytes());
        for rate in [price.input, price.cached_input, price.output, price.reasoning] {
            hash.update(&rate.to_le_bytes());
        }
    }
    hash.digest().max(NO_TABLE + 1)
}

/// Writes the table atomically: into a temporary file that is renamed.
fn store(folder: &Path, id: u64, prices: &[Price<'_>]) -> std::io::Result<()> {
    let kept = |price: &Price<'_>| StoredPrice {
        model: price.model.to_owned(),
        from_day: price.from_day,
        input: price.input,
        cached_input: price.cached_input,
        output: price.output,
        reasoning: price.reasoning,
    };
    let text = serde_json::to_vec(&prices.iter().map(kept).collect::<Vec<_>>())?;
    RealDisk.create_dir_all(folder)?;
    let (unnamed, named) = (folder.join("new.tmp"), folder.join(format!("{id:016x}.json")));
    let file = RealDisk.create(&unnamed)?;
    file.write_at(&text, 0)?;
    file.sync_data()?;
    RealDisk.rename(&unnamed, &named)?;
    RealDisk.sync_dir(folder)
}

/// Stored price tables whose content does not match the id in their name.
pub fn damaged(data_dir: &Path) -> std::io::Result<Vec<PathBuf>> {
    let files = match std::fs::read_dir(data_dir.join(FOLDER)) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        files => files?,
    };
    let paths = files.map(|file| Ok(file?.path())).collect::<std::io::Result<Vec<_>>>()?;
    let is_table = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "json");
    Ok(paths.into_iter().filter(|path| is_table(path) && read_stored(path).is_none()).collect())
}

/// `None`: it is no price table, or its content does not match the id in its name.
fn read_stored(path: &Path) -> Option<(u64, Prices)> {
    let id = u64::from_str_radix(path.file_name()?.to_str()?.strip_suffix(".json")?, 16).ok()?;
    let kept: Vec<StoredPrice> = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
    let price = |kept: StoredPrice| Price {
        model: String::leak(kept.model),
        from_day: kept.from_day,
        input: kept.input,
        cached_input: kept.cached_input,
        output: kept.output,
        reasoning: kept.reasoning,
    };
    let prices: Vec<Price<'static>> = kept.into_iter().map(price).collect();
    (id_of(&prices) == id).then(|| (id, &*Vec::leak(prices)))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Entry {
    model: String,
    from: jiff::civil::Date,
    input: f64,
    /// `None`: the same as `input`.
    cached_input: Option<f64>,
    output: f64,
    /// `None`: the same as `output`.
    reasoning: Option<f64>,
}

/// The built-in table, overridden by the operator's file where there is one. An error when that file is no price table.
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
    fn tables_are_stored_under_their_ids() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (built_in, before) = open(folder.path()).expect("a price table");
        assert_eq!((built_in.prices, before.len()), (BUILT_IN, 0));
        let own = r#"[{"model": "m", "from": "2026-01-01", "input": 0.1, "output": 1e-7, "cachedInput": 123456.789}]"#;
        std::fs::write(folder.path().join("ai-prices.json"), own).expect("it can be written");
        std::fs::write(folder.path().join("ai-prices/0000000000000007.json"), "[]").expect("it can be written");
        let (changed, before) = open(folder.path()).expect("a price table");
        assert_ne!(changed.id, built_in.id);
        assert_eq!(before.keys().collect::<Vec<_>>(), [&built_in.id], "a file that is not what its name says is none");
        assert_eq!(before[&built_in.id], BUILT_IN, "to the last bit");
        let (again, before) = open(folder.path()).expect("a price table");
        assert_eq!((again, before[&changed.id]), (changed, changed.prices));
    }

    #[test]
    fn a_table_that_cannot_be_stored_has_no_id() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("ai-prices"), "a file where the folder should be")
            .expect("it can be written");
        let (table, _) = open(folder.path()).expect("it starts all the same");
        assert_eq!((table.prices, table.id), (BUILT_IN, NO_TABLE));
    }

    #[test]
    fn malformed_price_tables_are_errors() {
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
