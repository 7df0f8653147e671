//! The price table of AI models: built-in prices, overridden by the operator's. DECISIONS 12, 32; docs/use/ai-traces.md.
//!
//! `ai-prices.json` in the data directory is a list of
//! `{"model": "my-model", "from": "2026-01-01", "input": 2.5, "cachedInput": 1.25, "output": 10, "reasoning": 10}`:
//! US dollars per million tokens from that day on. A model named there replaces all its built-in prices. The file is read
//! at start and again when it changes ([`LivePrices::reload`]).
//!
//! Costs are computed when an export is accepted, and again when the journal is replayed. For equal results each
//! journal record names its table ([`PriceTable::id`]), and every table that was in use is stored under its id in
//! `ai-prices/` of the data directory.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use parking_lot::{Mutex, RwLock};
use serde::{Deserialize, Serialize};
use tidewatch_domain::rules::prices::{BUILT_IN, BUILT_IN_DAY, LongContext, Price, Special};
use tidewatch_journal::disk::{Disk, RealDisk};
use xxhash_rust::xxh3::Xxh3Default;

/// The prices of all models. They are read at start and after changes of the file, and never freed.
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
#[serde(deny_unknown_fields)]
struct StoredPrice {
    model: String,
    /// The first day of the price, as the number 20260101.
    from_day: u32,
    input: f64,
    cached_input: f64,
    output: f64,
    reasoning: f64,
    #[serde(default, skip_serializing_if = "is_plain")]
    special: StoredSpecial,
}

/// Prices that most models do not have. Tables of earlier versions have none.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct StoredSpecial {
    cache_write: Option<f64>,
    cache_write_hour: Option<f64>,
    audio_input: Option<f64>,
    audio_output: Option<f64>,
    image_input: Option<f64>,
    image_output: Option<f64>,
    batch: Option<f64>,
    /// Number of tokens, factor of input, factor of output.
    long: Option<(u32, f64, f64)>,
}

fn is_plain(special: &StoredSpecial) -> bool {
    *special == StoredSpecial::default()
}

impl StoredPrice {
    fn of(price: &Price<'_>) -> StoredPrice {
        let special = price.special;
        StoredPrice {
            model: price.model.to_owned(),
            from_day: price.from_day,
            input: price.input,
            cached_input: price.cached_input,
            output: price.output,
            reasoning: price.reasoning,
            special: StoredSpecial {
                cache_write: special.cache_write,
                cache_write_hour: special.cache_write_hour,
                audio_input: special.audio_input,
                audio_output: special.audio_output,
                image_input: special.image_input,
                image_output: special.image_output,
                batch: special.batch,
                long: special.long.map(|long| (long.above, long.input, long.output)),
            },
        }
    }

    fn price(self) -> Price<'static> {
        let special = self.special;
        Price {
            model: String::leak(self.model),
            from_day: self.from_day,
            input: self.input,
            cached_input: self.cached_input,
            output: self.output,
            reasoning: self.reasoning,
            special: Special {
                cache_write: special.cache_write,
                cache_write_hour: special.cache_write_hour,
                audio_input: special.audio_input,
                audio_output: special.audio_output,
                image_input: special.image_input,
                image_output: special.image_output,
                batch: special.batch,
                long: special.long.map(|(above, input, output)| LongContext { above, input, output }),
            },
        }
    }
}

/// The current price table and the file that it was read from.
pub struct LivePrices {
    data_dir: PathBuf,
    current: RwLock<(PriceTable, u32)>,
    /// The file when it was read last, `None` without a file.
    read: Mutex<Option<Stamp>>,
}

impl LivePrices {
    /// The table that was read at start. `table`: of [`open`].
    pub fn new(data_dir: &Path, table: PriceTable) -> LivePrices {
        let read = stamp(data_dir);
        let current = RwLock::new((table, day_of(table.prices, read)));
        LivePrices { data_dir: data_dir.to_owned(), current, read: Mutex::new(read) }
    }

    /// The table that costs are computed with.
    pub fn table(&self) -> PriceTable {
        self.current.read().0
    }

    /// The day of the table as the number 20260101: the day of its latest price, at least that of the built-in table.
    pub fn day(&self) -> u32 {
        self.current.read().1
    }

    /// Reads the file again if it has changed. A file that is no price table is refused with one log line, and the table
    /// stays. Returns whether the table changed. Blocks.
    pub fn reload(&self) -> bool {
        let mut read = self.read.lock();
        let now = stamp(&self.data_dir);
        if *read == now {
            return false;
        }
        *read = now;
        let prices = match self::read(&self.data_dir) {
            Ok(prices) => prices,
            Err(error) => {
                tracing::warn!(error = format!("{error:#}"), "the prices of AI models stay as they are: {error:#}");
                return false;
            }
        };
        let table = stored(&self.data_dir, prices);
        let day = day_of(prices, now);
        let before = std::mem::replace(&mut *self.current.write(), (table, day));
        if before.0.prices != prices {
            tracing::info!(models = prices.len(), "the prices of AI models were replaced");
        }
        before.0.prices != prices
    }
}

/// Number, change time in seconds and nanoseconds, and size of a file.
type Stamp = (u64, i64, i64, u64);

/// The stamp of the operator's file; `None` without one.
fn stamp(data_dir: &Path) -> Option<Stamp> {
    let facts = std::fs::metadata(data_dir.join(FILE)).ok()?;
    Some((facts.ino(), facts.mtime(), facts.mtime_nsec(), facts.size()))
}

/// The day of a table: of its latest price, at least that of the built-in table. Prices of the future are no news.
fn day_of(prices: Prices, read: Option<Stamp>) -> u32 {
    if read.is_none() {
        return BUILT_IN_DAY;
    }
    prices.iter().map(|price| price.from_day).max().unwrap_or(BUILT_IN_DAY).max(BUILT_IN_DAY)
}

/// Stores a table durably under its id, unless it is stored. Without success its id is [`NO_TABLE`].
fn stored(data_dir: &Path, prices: Prices) -> PriceTable {
    let (folder, id) = (data_dir.join(FOLDER), id_of(prices));
    let is_stored = read_stored(&folder.join(format!("{id:016x}.json"))).is_some();
    match if is_stored { Ok(()) } else { store(&folder, id, prices) } {
        Ok(()) => PriceTable { prices, id },
        Err(error) => {
            tracing::warn!(%error, "cannot keep the price table in {}: after a crash and a change of prices, costs may be computed anew", folder.display());
            PriceTable { prices, id: NO_TABLE }
        }
    }
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
    let table = if before.contains_key(&id) { PriceTable { prices, id } } else { stored(data_dir, prices) };
    Ok((table, before))
}

const FOLDER: &str = "ai-prices";
const FILE: &str = "ai-prices.json";

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
        hash_special(&mut hash, &price.special);
    }
    hash.digest().max(NO_TABLE + 1)
}

/// Adds nothing for a price that has none: tables of earlier versions keep their ids.
fn hash_special(hash: &mut Xxh3Default, special: &Special) {
    let Special { cache_write, cache_write_hour, audio_input, audio_output, image_input, image_output, batch, long } =
        special;
    let rates = [cache_write, cache_write_hour, audio_input, audio_output, image_input, image_output, batch];
    for (place, rate) in rates.into_iter().enumerate() {
        if let Some(rate) = rate {
            hash.update(&[place as u8]);
            hash.update(&rate.to_le_bytes());
        }
    }
    if let Some(long) = long {
        hash.update(b"long");
        hash.update(&long.above.to_le_bytes());
        hash.update(&long.input.to_le_bytes());
        hash.update(&long.output.to_le_bytes());
    }
}

/// Writes the table atomically: into a temporary file that is renamed.
fn store(folder: &Path, id: u64, prices: &[Price<'_>]) -> std::io::Result<()> {
    let text = serde_json::to_vec(&prices.iter().map(StoredPrice::of).collect::<Vec<_>>())?;
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
    let prices: Vec<Price<'static>> = kept.into_iter().map(StoredPrice::price).collect();
    (id_of(&prices) == id).then(|| (id, &*Vec::leak(prices)))
}

/// A price of the operator's file. Names in documents are those in camel case.
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
    cache_write: Option<f64>,
    cache_write_hour: Option<f64>,
    audio_input: Option<f64>,
    audio_output: Option<f64>,
    image_input: Option<f64>,
    image_output: Option<f64>,
    batch: Option<f64>,
    long_context: Option<Long>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Long {
    above: u32,
    input: f64,
    output: f64,
}

/// The built-in table, overridden by the operator's file where there is one. An error when that file is no price table.
pub fn read(data_dir: &Path) -> anyhow::Result<Prices> {
    let path = data_dir.join(FILE);
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
    let long = entry.long_context.map(|Long { above, input, output }| LongContext { above, input, output });
    let rates = [
        Some(entry.input),
        entry.cached_input,
        Some(entry.output),
        entry.reasoning,
        entry.cache_write,
        entry.cache_write_hour,
        entry.audio_input,
        entry.audio_output,
        entry.image_input,
        entry.image_output,
        entry.batch,
        long.map(|long| long.input),
        long.map(|long| long.output),
    ];
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
        special: Special {
            cache_write: entry.cache_write,
            cache_write_hour: entry.cache_write_hour,
            audio_input: entry.audio_input,
            audio_output: entry.audio_output,
            image_input: entry.image_input,
            image_output: entry.image_output,
            batch: entry.batch,
            long,
        },
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

    // DECISIONS 32: a bad file is refused, and the table stays.
    #[test]
    fn a_changed_file_replaces_the_table() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (table, _) = open(folder.path()).expect("a price table");
        let live = LivePrices::new(folder.path(), table);
        let write = |text: &str| std::fs::write(folder.path().join(FILE), text).expect("it can be written");
        assert_eq!((live.table(), live.day(), live.reload()), (table, BUILT_IN_DAY, false));
        write("[{]");
        assert_eq!((live.reload(), live.table()), (false, table), "no price table");
        let own = r#"[{"model": "m", "from": "2026-09-01", "input": 1, "output": 2, "cacheWrite": 1.5,
            "cacheWriteHour": 2, "audioInput": 3, "audioOutput": 4, "imageInput": 5, "imageOutput": 6, "batch": 0.5,
            "longContext": {"above": 1000, "input": 2, "output": 1.5}}]"#;
        write(own);
        assert!(live.reload() && !live.reload());
        let changed = live.table();
        let price = price_of(changed.prices, "m", 0).expect("a known model");
        let long = LongContext { above: 1000, input: 2.0, output: 1.5 };
        let special = Special {
            cache_write: Some(1.5),
            cache_write_hour: Some(2.0),
            audio_input: Some(3.0),
            audio_output: Some(4.0),
            image_input: Some(5.0),
            image_output: Some(6.0),
            batch: Some(0.5),
            long: Some(long),
        };
        assert_eq!((price.special, live.day()), (special, 20_260_901));
        let (_, before) = open(folder.path()).expect("a price table");
        assert_eq!((before[&changed.id], before[&table.id]), (changed.prices, table.prices), "a replay finds both");
        std::fs::remove_file(folder.path().join(FILE)).expect("it was there");
        assert!(live.reload());
        assert_eq!((live.table(), live.day()), (table, BUILT_IN_DAY));
    }

    // Journal records name the tables of earlier versions.
    #[test]
    fn plain_tables_keep_their_ids() {
        let plain = |model| Price {
            model,
            from_day: 20_260_101,
            input: 1.0,
            cached_input: 0.5,
            output: 2.0,
            reasoning: 2.0,
            special: Special::default(),
        };
        let mut hash = Xxh3Default::new();
        hash.update(&1_u64.to_le_bytes());
        hash.update(b"m");
        hash.update(&20_260_101_u32.to_le_bytes());
        [1.0_f64, 0.5, 2.0, 2.0].iter().for_each(|rate| hash.update(&rate.to_le_bytes()));
        assert_eq!(id_of(&[plain("m")]), hash.digest());
        let special = Special { batch: Some(0.5), ..Special::default() };
        assert_ne!(id_of(&[Price { special, ..plain("m") }]), id_of(&[plain("m")]));
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
