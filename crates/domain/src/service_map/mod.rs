//! The map of services: who calls whom, how often, how slowly, and with how many errors. docs/use/services.md.
//!
//! [`map`] joins three views of the calls of a time range, each a sum over spans:
//!
//! - [`Outgoing`]: what callers say, by service and address. These calls are counted.
//! - [`Pair`]: calls of which both sides were seen. They say which service is behind an address.
//! - [`Served`]: what services say about the calls that they serve.

use std::collections::{BTreeMap, BTreeSet};

use crate::rules::peer::PeerKind;

#[cfg(test)]
mod tests;

/// Sums over calls.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Calls {
    /// Number of calls, weighted by sampling.
    pub calls: f64,
    /// Those that failed.
    pub errors: f64,
    /// Median of the durations, nanoseconds; `None` without calls.
    pub p50: Option<f64>,
    /// 95th percentile of the durations, nanoseconds; `None` without calls.
    pub p95: Option<f64>,
}

/// The calls of one service to one address, destination or database, or its receipts from a destination.
#[derive(Debug, Clone, PartialEq)]
pub struct Outgoing {
    /// `service.name` of the caller; empty when absent.
    pub service: String,
    /// Name of the peer.
    pub peer: String,
    /// Not [`PeerKind::Caller`].
    pub kind: PeerKind,
    /// What the caller measured.
    pub calls: Calls,
}

/// Calls whose caller and callee are both known.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// `service.name` of the caller.
    pub caller: String,
    /// The address that the caller used; empty when its spans name none.
    pub address: String,
    /// `service.name` of the callee.
    pub callee: String,
    /// What the side that arrived second measured.
    pub calls: Calls,
}

/// The calls that a service serves.
#[derive(Debug, Clone, PartialEq)]
pub struct Served {
    /// `service.name`; empty when absent.
    pub service: String,
    /// What the service measured.
    pub calls: Calls,
}

/// What a node of the map is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NodeKind {
    /// It sends spans to the project.
    Service,
    /// A database.
    Database,
    /// A queue or topic.
    Messaging,
    /// A host without spans in the project.
    Host,
}

/// Identifies a node.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId {
    /// What it is.
    pub kind: NodeKind,
    /// Name of the service or peer.
    pub name: String,
}

/// A node of the map.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Its identity.
    pub id: NodeId,
    /// Of a service: the calls that it serves. Of another node: the calls to it, or the receipts from it when nothing
    /// calls it.
    pub calls: Calls,
}

/// Calls from one node to another.
#[derive(Debug, Clone, PartialEq)]
pub struct Edge {
    /// The caller, or the destination that messages are received from.
    pub from: NodeId,
    /// The callee.
    pub to: NodeId,
    /// The percentiles of several addresses are those of the address with most calls.
    pub calls: Calls,
}

/// Nodes and edges.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ServiceMap {
    /// Services first, then by calls, the most frequent first.
    pub nodes: Vec<Node>,
    /// By calls, the most frequent first.
    pub edges: Vec<Edge>,
    /// Nodes left out because of a limit.
    pub nodes_left_out: usize,
    /// Edges left out because of a limit, or because one of their nodes is.
    pub edges_left_out: usize,
}

impl Calls {
    /// Adds other calls. The percentiles are those of the more frequent ones.
    fn add(&mut self, other: Calls) {
        if other.calls > self.calls || self.p50.is_none() {
            (self.p50, self.p95) = (other.p50, other.p95);
        }
        self.calls += other.calls;
        self.errors += other.errors;
    }

    /// The part of the calls that belongs to one of several callees.
    fn share(self, share: f64) -> Calls {
        Calls { calls: self.calls * share, errors: self.errors * share, ..self }
    }
}

impl NodeId {
    /// A service.
    pub fn service(name: &str) -> NodeId {
        NodeId { kind: NodeKind::Service, name: name.to_owned() }
    }

    fn of(kind: NodeKind, name: &str) -> NodeId {
        NodeId { kind, name: name.to_owned() }
    }
}

/// Edges by their ends, and the largest number of calls that was added to each at once.
#[derive(Default)]
struct Edges(BTreeMap<(NodeId, NodeId), (Calls, f64)>);

impl Edges {
    fn add(&mut self, from: NodeId, to: NodeId, calls: Calls) {
        if from == to || calls.calls <= 0.0 {
            return;
        }
        let (sum, most) = self.0.entry((from, to)).or_default();
        let percentiles = if calls.calls > *most { (calls.p50, calls.p95) } else { (sum.p50, sum.p95) };
        *most = most.max(calls.calls);
        sum.calls += calls.calls;
        sum.errors += calls.errors;
        (sum.p50, sum.p95) = percentiles;
    }
}

/// The map of all calls. The result does not depend on the order of the inputs.
pub fn map(outgoing: &[Outgoing], pairs: &[Pair], served: &[Served]) -> ServiceMap {
    let mut outgoing: Vec<&Outgoing> = outgoing.iter().collect();
    outgoing.sort_by(|one, other| (&one.service, &one.peer, one.kind).cmp(&(&other.service, &other.peer, other.kind)));
    let mut pairs: Vec<&Pair> = pairs.iter().collect();
    pairs.sort_by(|one, other| {
        let names = (&one.caller, &one.address, &one.callee).cmp(&(&other.caller, &other.address, &other.callee));
        names.then(one.calls.calls.total_cmp(&other.calls.calls))
    });
    // By caller and address, the paired calls to each service.
    let mut behind: BTreeMap<(&str, &str), BTreeMap<&str, f64>> = BTreeMap::new();
    for pair in pairs.iter().filter(|pair| !pair.address.is_empty() && pair.calls.calls > 0.0) {
        let callees = behind.entry((&pair.caller, &pair.address)).or_default();
        *callees.entry(&pair.callee).or_default() += pair.calls.calls;
    }
    let mut edges = Edges::default();
    let mut counted: BTreeSet<(&str, &str)> = BTreeSet::new();
    for Outgoing { service, peer, kind, calls } in outgoing.iter().copied() {
        let own = NodeId::service(service);
        match kind {
            PeerKind::Database => edges.add(own, NodeId::of(NodeKind::Database, peer), *calls),
            PeerKind::SentTo => edges.add(own, NodeId::of(NodeKind::Messaging, peer), *calls),
            PeerKind::ReceivedFrom => edges.add(NodeId::of(NodeKind::Messaging, peer), own, *calls),
            // A call without an address is known by its pair only.
            PeerKind::Host if peer.is_empty() => {}
            PeerKind::Host => match behind.get(&(service.as_str(), peer.as_str())) {
                None => edges.add(own, NodeId::of(NodeKind::Host, peer), *calls),
                Some(callees) => {
                    counted.insert((service, peer));
                    let all: f64 = callees.values().sum();
                    for (callee, paired) in callees {
                        edges.add(own.clone(), NodeId::service(callee), calls.share(paired / all));
                    }
                }
            },
            PeerKind::Caller => {}
        }
    }
    // Calls without an address, and those whose caller's span is outside of the range.
    for Pair { caller, address, callee, calls } in pairs.iter().copied() {
        if !counted.contains(&(caller.as_str(), address.as_str())) {
            edges.add(NodeId::service(caller), NodeId::service(callee), *calls);
        }
    }
    let edges: Vec<Edge> = edges.0.into_iter().map(|((from, to), (calls, _))| Edge { from, to, calls }).collect();
    let nodes = nodes(&edges, served);
    let mut map = ServiceMap { nodes, edges, ..ServiceMap::default() };
    map.sort();
    map
}

fn nodes(edges: &[Edge], served: &[Served]) -> Vec<Node> {
    let mut nodes: BTreeMap<NodeId, Calls> = BTreeMap::new();
    for Served { service, calls } in served {
        nodes.entry(NodeId::service(service)).or_default().add(*calls);
    }
    for edge in edges {
        nodes.entry(edge.from.clone()).or_default();
        let to = nodes.entry(edge.to.clone()).or_default();
        if edge.to.kind != NodeKind::Service {
            to.add(edge.calls);
        }
    }
    for edge in edges.iter().filter(|edge| edge.from.kind == NodeKind::Messaging) {
        let is_sent_to = edges.iter().any(|other| other.to == edge.from);
        if let Some(from) = nodes.get_mut(&edge.from).filter(|_| !is_sent_to) {
            from.add(edge.calls);
        }
    }
    nodes.into_iter().map(|(id, calls)| Node { id, calls }).collect()
}

impl ServiceMap {
    fn sort(&mut self) {
        let by_kind = |node: &Node| node.id.kind != NodeKind::Service;
        self.nodes.sort_by(|one, other| {
            let by_calls = other.calls.calls.total_cmp(&one.calls.calls);
            by_kind(one).cmp(&by_kind(other)).then(by_calls).then_with(|| one.id.cmp(&other.id))
        });
        self.edges.sort_by(|one, other| {
            let by_calls = other.calls.calls.total_cmp(&one.calls.calls);
            by_calls.then_with(|| (&one.from, &one.to).cmp(&(&other.from, &other.to)))
        });
    }

    /// Keeps the edges of some services, and the nodes at their ends.
    pub fn around(mut self, services: &[String]) -> ServiceMap {
        let own: BTreeSet<NodeId> = services.iter().map(|service| NodeId::service(service)).collect();
        self.edges.retain(|edge| own.contains(&edge.from) || own.contains(&edge.to));
        let ends: BTreeSet<&NodeId> = self.edges.iter().flat_map(|edge| [&edge.from, &edge.to]).collect();
        self.nodes.retain(|node| own.contains(&node.id) || ends.contains(&node.id));
        self
    }

    /// Keeps the first nodes and edges.
    pub fn at_most(mut self, nodes_max: usize, edges_max: usize) -> ServiceMap {
        let edges = self.edges.len();
        self.nodes_left_out += self.nodes.len().saturating_sub(nodes_max);
        self.nodes.truncate(nodes_max);
        let kept: BTreeSet<&NodeId> = self.nodes.iter().map(|node| &node.id).collect();
        self.edges.retain(|edge| kept.contains(&edge.from) && kept.contains(&edge.to));
        self.edges.truncate(edges_max);
        self.edges_left_out += edges - self.edges.len();
        self
    }
}
