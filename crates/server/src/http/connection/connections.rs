//! The limit of open connections, and which connection is closed for another.
//!
//! Each address (IPv6: each /64) may use a share of the slots; a trusted proxy may use all. When the slots or the share
//! are used up, a new connection evicts the one that has been idle longest. If none is idle, the connection gets one of
//! a few reserved slots, in which only probes ([`is_probe`]) are served, so that a full server can still be monitored.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use tokio::time::Instant;

use super::timeouts::Activity;
use tidewatch_limits as limits;
use tidewatch_limits::admission::per_ip::mask;

/// Counters of connections, for `/metrics`.
#[derive(Debug, Default)]
pub struct ConnectionCounts {
    /// Connections that are open now.
    pub open: AtomicU64,
    /// Idle connections closed for new ones, since the start.
    pub evicted: AtomicU64,
    /// Connections closed without a slot, or without one in their address's share, since the start.
    pub refused: AtomicU64,
}

/// The open connections of a group of sockets, and their limits.
pub struct Connections {
    slots: usize,
    /// The slots that one address may use.
    share: usize,
    open: Mutex<Open>,
    counts: Arc<ConnectionCounts>,
}

#[derive(Default)]
struct Open {
    next: u64,
    /// By number, the oldest first.
    connections: BTreeMap<u64, Connection>,
    /// The number of connections in reserved slots.
    reserved: usize,
}

struct Connection {
    /// `None` for a trusted proxy.
    address: Option<IpAddr>,
    activity: Arc<Activity>,
    is_reserved: bool,
}

/// The slot of an open connection. Dropping it releases the slot.
pub struct ConnectionSlot {
    connections: Arc<Connections>,
    number: u64,
    /// Whether only probes are served.
    pub is_reserved: bool,
}

impl Connections {
    /// A limit of `slots` open connections, besides the reserved ones. One address may use one in
    /// [`limits::CONNECTION_SHARES`] of them, and at least one.
    pub fn new(slots: usize, counts: Arc<ConnectionCounts>) -> Arc<Connections> {
        let share = (slots / limits::CONNECTION_SHARES).max(1);
        Arc::new(Connections { slots, share, open: Mutex::default(), counts })
    }

    /// A slot for a connection from `peer`; `peer` is `None` for a trusted proxy, which carries many clients. Evicts an
    /// idle connection if necessary. Returns `None` if the connection must be closed.
    pub fn admit(self: &Arc<Connections>, peer: Option<IpAddr>, activity: &Arc<Activity>) -> Option<ConnectionSlot> {
        let address = peer.map(subscriber);
        let mut open = self.open.lock();
        let of_address = |connection: &Connection| address.is_some() && connection.address == address;
        let own = open.connections.values().filter(|connection| of_address(connection)).count();
        if address.is_some() && own >= self.share && !self.evict(&mut open, of_address) {
            self.counts.refused.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        let is_full = open.connections.len() - open.reserved >= self.slots;
        let is_reserved = is_full && !self.evict(&mut open, |connection| !connection.is_reserved);
        if is_reserved
            && open.reserved >= limits::CONNECTIONS_RESERVED
            && !self.evict(&mut open, |connection| connection.is_reserved)
        {
            self.counts.refused.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        let number = open.next;
        open.next += 1;
        open.reserved += usize::from(is_reserved);
        open.connections.insert(number, Connection { address, activity: activity.clone(), is_reserved });
        self.counts.open.fetch_add(1, Ordering::Relaxed);
        Some(ConnectionSlot { connections: self.clone(), number, is_reserved })
    }

    /// Closes the connection that has been idle longest, of any address. Returns false if none is idle.
    pub fn make_room(&self) -> bool {
        self.evict(&mut self.open.lock(), |_| true)
    }

    fn evict(&self, open: &mut Open, among: impl Fn(&Connection) -> bool) -> bool {
        loop {
            let idle = open.connections.iter().filter(|(_, connection)| among(connection));
            let idle = idle.filter_map(|(number, connection)| Some((connection.activity.idle_since()?, *number)));
            let Some((_, number)) = idle.min_by_key(|(since, _): &(Instant, u64)| *since) else { return false };
            let Some(connection) = open.connections.get(&number) else { return false };
            // A request may have arrived meanwhile.
            if connection.activity.evict() {
                open.remove(number);
                self.counts.evicted.fetch_add(1, Ordering::Relaxed);
                return true;
            }
        }
    }
}

impl Open {
    fn remove(&mut self, number: u64) {
        if let Some(connection) = self.connections.remove(&number) {
            self.reserved -= usize::from(connection.is_reserved);
        }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.connections.open.lock().remove(self.number);
        self.connections.counts.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The address that identifies a subscriber: for IPv6, which assigns whole prefixes, the prefix.
fn subscriber(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6((u128::from(address) & mask(limits::IPV6_PREFIX_BITS)).into()),
    }
}

/// Whether a path is served in reserved slots.
pub fn is_probe(path: &str) -> bool {
    matches!(path, "/health" | "/livez" | "/readyz")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    fn connect(connections: &Arc<Connections>, peer: &str) -> Option<(ConnectionSlot, Arc<Activity>)> {
        let activity = Activity::start();
        let peer = (!peer.is_empty()).then(|| ip(peer));
        connections.admit(peer, &activity).map(|slot| (slot, activity))
    }

    #[tokio::test(start_paused = true)]
    async fn the_longest_idle_connection_is_evicted_first() {
        let connections = Connections::new(3, Arc::default());
        let busy = connect(&connections, "").expect("a slot");
        let _request = busy.1.request();
        let mut idle = Vec::new();
        for _ in 0..2 {
            tokio::time::advance(std::time::Duration::from_secs(1)).await;
            idle.push(connect(&connections, "").expect("a slot"));
        }
        // The first one serves another request.
        tokio::time::advance(std::time::Duration::from_secs(1)).await;
        drop(idle[0].1.request());
        let next = connect(&connections, "").expect("the slot of the second");
        assert!(!next.0.is_reserved);
        assert!(idle[1].1.idle_since().is_none() && idle[0].1.idle_since().is_some());
        idle[1].1.expired().await;
        assert_eq!(connections.counts.evicted.load(Ordering::Relaxed), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn probes_have_reserved_slots() {
        let connections = Connections::new(1, Arc::default());
        let busy = connect(&connections, "").expect("a slot");
        let _request = busy.1.request();
        let probe = connect(&connections, "").expect("a slot for probes");
        assert!(probe.0.is_reserved);
        let many: Vec<_> = (0..3 * limits::CONNECTIONS_RESERVED).map(|_| connect(&connections, "")).collect();
        assert!(many.iter().all(|slot| slot.as_ref().is_some_and(|(slot, _)| slot.is_reserved)));
        assert!(connections.open.lock().reserved <= limits::CONNECTIONS_RESERVED);
        drop((busy, probe, many));
        assert_eq!(connections.open.lock().connections.len(), 0);
        assert_eq!(connections.counts.open.load(Ordering::Relaxed), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn one_address_has_its_share() {
        let connections = Connections::new(4 * limits::CONNECTION_SHARES, Arc::default());
        let mut busy = Vec::new();
        for peer in ["2001:db8::1", "2001:db8::2", "2001:db8:0:0:9::", "2001:db8::ffff:1"] {
            let (slot, activity) = connect(&connections, peer).expect("within the share");
            busy.push((activity.request(), slot));
        }
        assert!(connect(&connections, "2001:db8::7").is_none(), "all slots of its share are in use");
        assert!(connect(&connections, "2001:db8:0:1::7").is_some(), "the next /64");
        assert_eq!(connections.counts.refused.load(Ordering::Relaxed), 1);
        busy.pop();
        let idle = connect(&connections, "2001:db8::7").expect("one has ended");
        assert!(connect(&connections, "2001:db8::8").is_some(), "the idle connection is evicted");
        assert!(idle.1.idle_since().is_none());
        for _ in 0..8 {
            assert!(connect(&connections, "").is_some(), "a trusted proxy has no share");
        }
    }
}
