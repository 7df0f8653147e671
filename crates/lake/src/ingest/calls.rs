//! Pairs the two sides of calls between services, so that the row of one side has the service of the other.
//! docs/use/services.md.
//!
//! The caller's CLIENT span and the callee's SERVER span arrive in different requests, in any order. The first is kept
//! here, and the row of the second gets the service of the first. Rows are paired in journal order, after duplicates
//! are known: a retry pairs nothing twice, and a replay pairs what the run before the crash did, unless the first side
//! was flushed before. Sides may be lost by a restart or by eviction: they say which service is behind an address, and
//! counts do not depend on them.
//!
//! A callee names its caller as its parent. With Zipkin and B3, the SERVER span has the id of the caller's CLIENT span
//! instead, and its parent; both ids are looked up.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tidewatch_domain::model::SpanKind;
use tidewatch_domain::rules::peer::{PEER_BYTES_MAX, PeerKind};
use tidewatch_store::columns::{Rows, TableBuffer};
use tidewatch_store::tables::Table;
use xxhash_rust::xxh3::Xxh3Builder;

/// A project number, a trace id and the id of the caller's span. A SERVER span is kept under its own id too.
type CallKey = (u32, u128, u64);
type Name = Arc<[u8]>;

/// Sides of calls whose other side may still arrive.
pub struct Calls {
    callers: Generations<Caller>,
    callees: Generations<Name>,
    /// Every name that a side refers to, once.
    names: HashSet<Name, Xxh3Builder>,
}

#[derive(Clone)]
struct Caller {
    service: Name,
    /// The address that the caller's span names; empty when it names none.
    peer: Name,
}

/// A map of bounded size: when the newer half is full, the older half is discarded.
struct Generations<T> {
    newer: HashMap<CallKey, T, Xxh3Builder>,
    older: HashMap<CallKey, T, Xxh3Builder>,
    half: usize,
}

impl<T> Generations<T> {
    fn new(most: usize) -> Generations<T> {
        Generations { newer: HashMap::default(), older: HashMap::default(), half: most / 2 }
    }

    fn get(&self, key: &CallKey) -> Option<&T> {
        self.newer.get(key).or_else(|| self.older.get(key))
    }

    /// Inserts a side. Returns whether the older half was discarded.
    fn insert(&mut self, key: CallKey, side: T) -> bool {
        if self.half == 0 {
            return false;
        }
        let is_full = self.newer.len() >= self.half;
        if is_full {
            std::mem::swap(&mut self.newer, &mut self.older);
            self.newer.clear();
        }
        self.newer.insert(key, side);
        is_full
    }
}

/// What a row gets from the other side of its call.
struct Paired {
    row: usize,
    service: Name,
    /// Of a callee: the address that the caller's span names.
    address: Option<Name>,
}

/// The side of a call that a span is.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Caller,
    /// With the ids that the caller's span may have, the most specific first; 0: none.
    Callee([u64; 2]),
}

impl Calls {
    /// Keeps at most `most` callers, and callees under as many ids; 0: pairs nothing.
    pub fn new(most: usize) -> Calls {
        Calls { callers: Generations::new(most), callees: Generations::new(most), names: HashSet::default() }
    }

    /// Sets the columns `peer_service`, and `peer` and `peer_kind` of callees, in the rows of records that are no
    /// duplicates.
    pub fn pair(&mut self, rows: &mut Rows, is_duplicate: impl Fn(usize) -> bool) {
        let project = rows.project;
        for table in rows.tables.iter_mut().filter(|table| table.buffer.table() == Table::Spans) {
            let paired = self.paired(project, &table.buffer, |row| is_duplicate(table.records[row] as usize));
            if paired.is_empty() {
                continue;
            }
            let services: Vec<_> = paired.iter().map(|paired| (paired.row, &paired.service[..])).collect();
            table.buffer.set_strings("peer_service", &services);
            let addresses: Vec<_> =
                paired.iter().filter_map(|paired| Some((paired.row, paired.address.as_deref()?))).collect();
            table.buffer.set_strings("peer", &addresses);
            for paired in &paired {
                let kind = if paired.address.is_some() { PeerKind::Caller } else { PeerKind::Host };
                table.buffer.set_optional_u8("peer_kind", paired.row, kind as u8);
            }
        }
    }

    /// The rows, ascending, whose other side is known and belongs to another service. Keeps the sides of all rows.
    fn paired(&mut self, project: u32, spans: &TableBuffer, is_duplicate: impl Fn(usize) -> bool) -> Vec<Paired> {
        let (Some(kinds), Some(peer_kinds)) = (spans.u8s("kind"), spans.u8s("peer_kind")) else { return Vec::new() };
        let (Some(traces), Some(ids)) = (spans.id16s("trace_id"), spans.id8s("span_id")) else { return Vec::new() };
        let (Some(parents), Some(services)) = (spans.id8s("parent_span_id"), spans.dictionary("server_name")) else {
            return Vec::new();
        };
        let Some(peers) = spans.dictionary("peer") else { return Vec::new() };
        let is_messaging =
            |row: usize| [PeerKind::SentTo, PeerKind::ReceivedFrom].iter().any(|kind| *kind as u8 == peer_kinds[row]);
        let mut paired = Vec::new();
        let mut last_service: Option<(i32, Name)> = None;
        for (row, kind) in kinds.iter().enumerate() {
            let side = match SpanKind::from_number(i64::from(*kind)) {
                _ if is_messaging(row) => continue,
                SpanKind::Client | SpanKind::Producer if peer_kinds[row] != PeerKind::Database as u8 => Side::Caller,
                SpanKind::Server => Side::Callee([ids[row], parents[row]]),
                SpanKind::Consumer => Side::Callee([0, parents[row]]),
                _ => continue,
            };
            if side == Side::Callee([0; 2]) {
                continue;
            }
            let service = services.value(row);
            if traces[row] == 0 || service.is_empty() || service.len() > PEER_BYTES_MAX || is_duplicate(row) {
                continue;
            }
            let number = services.number(row);
            let service = match &last_service {
                Some((known, name)) if *known == number => Arc::clone(name),
                _ => self.name(service),
            };
            last_service = Some((number, Arc::clone(&service)));
            let key = |id: u64| (project, traces[row], id);
            match side {
                Side::Caller => {
                    let key = key(ids[row]);
                    if let Some(callee) = self.callees.get(&key).filter(|callee| **callee != service) {
                        paired.push(Paired { row, service: Arc::clone(callee), address: None });
                    }
                    let peer = self.name(peers.value(row));
                    if self.callers.insert(key, Caller { service, peer }) {
                        self.forget_names();
                    }
                }
                Side::Callee(callers) => {
                    let keys = callers.into_iter().filter(|id| *id != 0).map(key);
                    let is_other = |caller: &&Caller| caller.service != service;
                    let caller = keys.clone().filter_map(|key| self.callers.get(&key)).find(is_other).cloned();
                    if let Some(Caller { service, peer }) = caller {
                        paired.push(Paired { row, service, address: Some(peer) });
                    }
                    for key in keys {
                        if self.callees.insert(key, Arc::clone(&service)) {
                            self.forget_names();
                        }
                    }
                }
            }
        }
        paired
    }

    /// The shared copy of a name.
    fn name(&mut self, name: &[u8]) -> Name {
        if let Some(known) = self.names.get(name) {
            return Arc::clone(known);
        }
        let new = Name::from(name);
        self.names.insert(Arc::clone(&new));
        new
    }

    /// Removes names that no side refers to.
    fn forget_names(&mut self) {
        self.names.retain(|name| Arc::strong_count(name) > 1);
    }
}
