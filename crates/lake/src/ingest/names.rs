//! The limit on the names of Endpoints, Tasks and AI Traces that a service has on one UTC day. DECISIONS 27.
//!
//! A name beyond the limit becomes [`OTHER_NAME`]. Which names are stored follows from the rows stored before, in
//! journal order, and from the limit of each request. After a start, the names of a day are read from the stored rows
//! when the first row of the day is applied, so that a replay stores the same rows as the run before the crash.

use std::collections::{HashMap, HashSet};

use xxhash_rust::xxh3::{Xxh3Builder, xxh3_64};

use tidewatch_store::columns::{Rows, TableBuffer};
use tidewatch_store::days::day_of;
use tidewatch_store::tables::Table;

/// Stands for the names beyond the limit.
pub const OTHER_NAME: &str = "(other)";

/// Tables whose names are limited.
const LIMITED_TABLES: [Table; 3] = [Table::Endpoints, Table::Tasks, Table::AiTraces];

/// Maximum number of names of all services of a project on one day, in multiples of the limit of one service.
const PROJECT_LIMIT_FACTOR: usize = 100;

/// Maximum number of names in memory. Beyond it, the least recently used days are evicted, and read again when they are
/// needed.
const KNOWN_NAMES_MAX: usize = 4_000_000;

/// A table, a project number, and a day (days since 1970-01-01, UTC).
pub type NamedDay = (Table, u32, i32);

/// Hashes of the stored names.
pub struct Names {
    /// The limit of requests without a limit of their own. 0: no limit.
    names_max: usize,
    days: HashMap<NamedDay, Day, Xxh3Builder>,
    /// Number of names of all days in memory.
    known_names: usize,
    /// Number of requests so far.
    request: u64,
}

#[derive(Debug, Default)]
pub struct Day {
    /// Hashes of the names, by hash of the service's name.
    services: HashMap<u64, HashSet<u64, Xxh3Builder>, Xxh3Builder>,
    names: usize,
    /// The last request that used the day.
    last_request: u64,
}

impl Day {
    /// Adds a stored name.
    pub fn add(&mut self, service: &[u8], name: &[u8]) {
        if name != OTHER_NAME.as_bytes() && self.services.entry(xxh3_64(service)).or_default().insert(xxh3_64(name)) {
            self.names += 1;
        }
    }

    /// Whether the name is within the limit. A new name within the limit is added.
    fn admits(&mut self, service: &[u8], name: &[u8], names_max: usize) -> bool {
        if name == OTHER_NAME.as_bytes() {
            return true;
        }
        let names = self.services.entry(xxh3_64(service)).or_default();
        let hash = xxh3_64(name);
        if names.contains(&hash) {
            return true;
        }
        if names.len() >= names_max || self.names >= names_max.saturating_mul(PROJECT_LIMIT_FACTOR) {
            return false;
        }
        names.insert(hash);
        self.names += 1;
        true
    }
}

impl Names {
    pub fn new(names_max: usize) -> Names {
        Names { names_max, days: HashMap::default(), known_names: 0, request: 0 }
    }

    /// Renames names beyond the limit in the rows of records that are no duplicates. Returns the number of records
    /// renamed.
    ///
    /// `stored` reads the names of a day from all rows stored before.
    pub fn limit(
        &mut self,
        rows: &mut Rows,
        is_duplicate: impl Fn(usize) -> bool,
        stored: impl Fn(NamedDay) -> Day,
    ) -> u64 {
        let names_max = rows.names_max.unwrap_or(self.names_max);
        if names_max == 0 {
            self.forget_days_of(rows);
            return 0;
        }
        self.request += 1;
        let project = rows.project;
        let mut renamed: Vec<u32> = Vec::new();
        // Spans of Endpoints and of Tasks that were renamed, for the exceptions they own.
        let mut owners: [HashSet<[u8; 8]>; 2] = Default::default();
        for table in &mut rows.tables {
            let Some(kind) = LIMITED_TABLES.iter().position(|named| *named == table.buffer.table()) else { continue };
            let named = table.buffer.table();
            let is_duplicate = |row: usize| is_duplicate(table.records[row] as usize);
            let excess = self.excess((named, project, names_max), &table.buffer, is_duplicate, &stored);
            if excess.is_empty() {
                continue;
            }
            table.buffer.set_string("name", OTHER_NAME, &excess);
            if let Some(owners) = owners.get_mut(kind) {
                owners.extend(excess.iter().map(|row| table.buffer.id8("span_id", *row)));
            }
            renamed.extend(excess.iter().map(|row| table.records[*row]));
        }
        if renamed.is_empty() {
            return 0;
        }
        for table in rows.tables.iter_mut().filter(|table| table.buffer.table() == Table::Exceptions) {
            let buffer = &table.buffer;
            let is_of_renamed = |row: &usize| match buffer.u8("owner_kind", *row) {
                ENDPOINT_OWNS => owners[0].contains(&buffer.id8("owner_span_id", *row)),
                TASK_OWNS => owners[1].contains(&buffer.id8("owner_span_id", *row)),
                _ => false,
            };
            let of_renamed: Vec<usize> = (0..buffer.rows()).filter(is_of_renamed).collect();
            table.buffer.set_string("owner_name", OTHER_NAME, &of_renamed);
        }
        renamed.sort_unstable();
        renamed.dedup();
        renamed.len() as u64
    }

    /// Rows whose name is beyond the limit.
    fn excess(
        &mut self,
        (table, project, names_max): (Table, u32, usize),
        buffer: &TableBuffer,
        is_duplicate: impl Fn(usize) -> bool,
        stored: &impl Fn(NamedDay) -> Day,
    ) -> Vec<usize> {
        let (Some(times), Some(names), Some(services)) =
            (buffer.i64("time"), buffer.dictionary("name"), buffer.dictionary("server_name"))
        else {
            return Vec::new();
        };
        let mut excess = Vec::new();
        let mut last: Option<((i32, i32, i32), bool)> = None;
        for (row, time) in times.iter().enumerate() {
            if is_duplicate(row) {
                continue;
            }
            let cell = (day_of(*time), services.number(row), names.number(row));
            let is_admitted = match last {
                Some((known, is_admitted)) if known == cell => is_admitted,
                _ => {
                    let day = self.day((table, project, cell.0), stored);
                    let before = day.names;
                    let is_admitted = day.admits(services.value(row), names.value(row), names_max);
                    let added = day.names - before;
                    self.known_names += added;
                    is_admitted
                }
            };
            last = Some((cell, is_admitted));
            if !is_admitted {
                excess.push(row);
            }
        }
        excess
    }

    /// Unlimited names are not added, so their days are evicted and read again when they are needed.
    fn forget_days_of(&mut self, rows: &Rows) {
        for table in rows.tables.iter().filter(|table| LIMITED_TABLES.contains(&table.buffer.table())) {
            for time in table.buffer.i64("time").unwrap_or_default() {
                if self.days.is_empty() {
                    return;
                }
                let removed = self.days.remove(&(table.buffer.table(), rows.project, day_of(*time)));
                self.known_names -= removed.map_or(0, |day| day.names);
            }
        }
    }

    fn day(&mut self, of: NamedDay, stored: &impl Fn(NamedDay) -> Day) -> &mut Day {
        if !self.days.contains_key(&of) {
            let day = stored(of);
            self.known_names += day.names;
            self.days.insert(of, day);
            self.forget();
        }
        let day = self.days.get_mut(&of).expect("the day was just put there");
        day.last_request = self.request;
        day
    }

    /// Evicts the least recently used days of earlier requests while too many names are in memory.
    fn forget(&mut self) {
        while self.known_names > KNOWN_NAMES_MAX {
            let unused = self.days.iter().filter(|(_, day)| day.last_request > 0 && day.last_request < self.request);
            let Some(of) = unused.min_by_key(|(_, day)| day.last_request).map(|(of, _)| *of) else { return };
            self.known_names -= self.days.remove(&of).map_or(0, |day| day.names);
        }
    }
}

/// Values of the column `owner_kind`.
const ENDPOINT_OWNS: u8 = 1;
const TASK_OWNS: u8 = 2;
