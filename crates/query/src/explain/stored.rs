//! A span as it is stored, and the operation that it is.

use std::collections::HashSet;

use tidewatch_domain::wire;
use tidewatch_limits as limits;

use crate::answer::Row;

/// OTLP kind of spans that call.
const CLIENT: u8 = 3;
/// OTLP status of spans that failed.
const STATUS_ERROR: i64 = 2;

/// Service and operation of spans.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Operation {
    /// Name of the service.
    pub service: String,
    /// Name of the spans; of clients the operation and its target.
    pub name: String,
}

/// A stored span.
pub(super) struct Stored {
    pub(super) trace: [u8; 16],
    pub(super) span: [u8; 8],
    pub(super) parent: [u8; 8],
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) kind: u8,
    pub(super) is_failed: bool,
    pub(super) name: String,
    pub(super) service: String,
    pub(super) attributes: Vec<u8>,
    /// Resource, name and version of the scope; of own spans of rows only.
    pub(super) own: Option<(Vec<u8>, [String; 2])>,
}

impl Stored {
    pub(super) fn read(row: Row<'_>, own: &HashSet<([u8; 16], [u8; 8])>) -> Stored {
        let (trace, span) = (row.id16("trace_id"), row.span_id("span_id").0);
        let start = row.int("time");
        let of_row = || {
            let scope = ["scope", "scope_version"].map(|column| row.text(column).to_owned());
            (row.bytes("resource").to_vec(), scope)
        };
        Stored {
            trace,
            span,
            parent: row.span_id("parent_span_id").0,
            start,
            end: start.saturating_add(row.int("duration").max(0)),
            kind: row.int("kind") as u8,
            is_failed: row.flag("is_error") || row.int("status") == STATUS_ERROR,
            name: row.text("name").to_owned(),
            service: row.text("server_name").to_owned(),
            attributes: row.bytes("attributes").to_vec(),
            own: own.contains(&(trace, span)).then(of_row),
        }
    }

    /// The operation, and the attributes that its name has. Clients of databases and of HTTP are named by what they call.
    pub(super) fn operation(&self) -> (Operation, Vec<(&'static str, String)>) {
        let pair = |keys: &[&'static str]| {
            keys.iter().find_map(|key| wire::attribute_text(&self.attributes, key).map(|value| (*key, value)))
        };
        let of_client = || {
            if let Some(system) = pair(&["db.system.name", "db.system"]) {
                if let Some(summary) = pair(&["db.query.summary"]) {
                    return Some(vec![summary]);
                }
                let target = pair(&["db.collection.name", "db.sql.table", "db.mongodb.collection"]).unwrap_or(system);
                return Some(vec![pair(&["db.operation.name", "db.operation"])?, target]);
            }
            let target = pair(&["server.address", "net.peer.name"])?;
            Some(vec![pair(&["http.request.method", "http.method"])?, target])
        };
        let service = self.service.clone();
        match (self.kind == CLIENT).then(of_client).flatten() {
            Some(pairs) => {
                let words: Vec<&str> = pairs.iter().map(|(_, value)| value.as_ref()).collect();
                let name = words.join(" ");
                (Operation { service, name }, pairs.into_iter().map(|(key, value)| (key, value.into_owned())).collect())
            }
            None => (Operation { service, name: self.name.clone() }, vec![("name", self.name.clone())]),
        }
    }

    /// Facts about the call when it failed: attributes and values. The statement stands for several of equal shape.
    pub(super) fn failed_call(&self) -> Vec<(&'static str, String)> {
        const KEYS: &[&[&str]] = &[
            &["error.type", "exception.type"],
            &["server.address", "net.peer.name"],
            &["db.query.summary", "db.query.text", "db.statement"],
            &["http.response.status_code", "http.status_code", "rpc.grpc.status_code", "db.response.status_code"],
        ];
        let value = |keys: &&'static [&'static str]| {
            keys.iter().find_map(|key| {
                let value = wire::attribute_text(&self.attributes, key)?;
                (value.len() <= limits::EXPLAIN_VALUE_BYTES_MAX).then(|| (*key, value.into_owned()))
            })
        };
        KEYS.iter().filter_map(value).collect()
    }
}
