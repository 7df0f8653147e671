//! Which connections are open, and which one goes when there are too many.
//!
//! One address (IPv6: one /64) has a share of all places; what a trusted proxy carries has none. Who comes when the places
//! or the share are taken gets the place of the connection that has been idle longest. When none is idle, a few places are
//! left in which only probes ([`is_probe`]) are answered, so that a full server can still be looked after.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use tokio::time::Instant;

use super::timeouts::Activity;
use tidewatch_limits as limits;
use tidewatch_limits::admission::per_ip::mask;

/// What is counted for `/metrics`.
#[derive(Debug, Default)]
pub struct ConnectionCounts {
    pub open: AtomicU64,
    /// Idle connections closed for others.
    pub evicted: AtomicU64,
    /// Connections closed unread: no place, or no place of their address.
    pub refused: AtomicU64,
}

pub struct Connections {
    places: usize,
    /// Of one address.
    share: usize,
    open: Mutex<Open>,
    counts: Arc<ConnectionCounts>,
}

#[derive(Default)]
struct Open {
    next: u64,
    /// The oldest first.
    connections: BTreeMap<u64, Connection>,
    /// How many of them are for probes alone.
    reserved: usize,
}

struct Connection {
    /// `None`: a trusted proxy.
    address: Option<IpAddr>,
    activity: Arc<Activity>,
    is_reserved: bool,
}

/// An open connection's place; dropping it gives it back.
pub struct Place {
    connections: Arc<Connections>,
    number: u64,
    /// Only probes are answered on it.
    pub is_reserved: bool,
}

impl Connections {
    pub fn new(places: usize, counts: Arc<ConnectionCounts>) -> Arc<Connections> {
        let share = (places / limits::CONNECTION_SHARES).max(1);
        Arc::new(Connections { places, share, open: Mutex::default(), counts })
    }

    /// A place for a connection from `peer`; `None` for a trusted proxy, which brings many clients. No place: it is to be
    /// closed.
    pub fn admit(self: &Arc<Connections>, peer: Option<IpAddr>, activity: &Arc<Activity>) -> Option<Place> {
        let address = peer.map(subscriber);
        let mut open = self.open.lock();
        let of_address = |connection: &Connection| address.is_some() && connection.address == address;
        let own = open.connections.values().filter(|connection| of_address(connection)).count();
        if address.is_some() && own >= self.share && !self.evict(&mut open, of_address) {
            self.counts.refused.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        let is_full = open.connections.len() - open.reserved >= self.places;
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
        Some(Place { connections: self.clone(), number, is_reserved })
    }

    /// Closes the connection that has been idle longest, whoever's it is; false when none is.
    pub fn make_room(&self) -> bool {
        self.evict(&mut self.open.lock(), |_| true)
    }

    fn evict(&self, open: &mut Open, among: impl Fn(&Connection) -> bool) -> bool {
        loop {
            let idle = open.connections.iter().filter(|(_, connection)| among(connection));
            let idle = idle.filter_map(|(number, connection)| Some((connection.activity.idle_since()?, *number)));
            let Some((_, number)) = idle.min_by_key(|(since, _): &(Instant, u64)| *since) else { return false };
            let Some(connection) = open.connections.get(&number) else { return false };
            // A request may have come meanwhile.
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

impl Drop for Place {
    fn drop(&mut self) {
        self.connections.open.lock().remove(self.number);
        self.connections.counts.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whose address it is: of IPv6 one subscriber has a whole prefix.
fn subscriber(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6((u128::from(address) & mask(limits::IPV6_PREFIX_BITS)).into()),
    }
}

/// What is answered when no other place is left.
pub fn is_probe(path: &str) -> bool {
    matches!(path, "/health" | "/livez" | "/readyz")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    fn connect(connections: &Arc<Connections>, peer: &str) -> Option<(Place, Arc<Activity>)> {
        let activity = Activity::start();
        let peer = (!peer.is_empty()).then(|| ip(peer));
        connections.admit(peer, &activity).map(|place| (place, activity))
    }

    #[tokio::test(start_paused = true)]
    async fn the_longest_idle_connection_goes_first() {
        let connections = Connections::new(3, Arc::default());
        let busy = connect(&connections, "").expect("a place");
        let _request = busy.1.request();
        let mut idle = Vec::new();
        for _ in 0..2 {
            tokio::time::advance(std::time::Duration::from_secs(1)).await;
            idle.push(connect(&connections, "").expect("a place"));
        }
        // The first one is heard from again.
        tokio::time::advance(std::time::Duration::from_secs(1)).await;
        drop(idle[0].1.request());
        let next = connect(&connections, "").expect("the place of the second");
        assert!(!next.0.is_reserved);
        assert!(idle[1].1.idle_since().is_none() && idle[0].1.idle_since().is_some());
        idle[1].1.expired().await;
        assert_eq!(connections.counts.evicted.load(Ordering::Relaxed), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn probes_have_places_of_their_own() {
        let connections = Connections::new(1, Arc::default());
        let busy = connect(&connections, "").expect("a place");
        let _request = busy.1.request();
        let probe = connect(&connections, "").expect("a place for probes");
        assert!(probe.0.is_reserved);
        let many: Vec<_> = (0..3 * limits::CONNECTIONS_RESERVED).map(|_| connect(&connections, "")).collect();
        assert!(many.iter().all(|place| place.as_ref().is_some_and(|(place, _)| place.is_reserved)));
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
            let (place, activity) = connect(&connections, peer).expect("within the share");
            busy.push((activity.request(), place));
        }
        assert!(connect(&connections, "2001:db8::7").is_none(), "all of its places are in use");
        assert!(connect(&connections, "2001:db8:0:1::7").is_some(), "the next /64");
        assert_eq!(connections.counts.refused.load(Ordering::Relaxed), 1);
        busy.pop();
        let idle = connect(&connections, "2001:db8::7").expect("one has ended");
        assert!(connect(&connections, "2001:db8::8").is_some(), "the idle one goes");
        assert!(idle.1.idle_since().is_none());
        for _ in 0..8 {
            assert!(connect(&connections, "").is_some(), "a trusted proxy has no share");
        }
    }
}
