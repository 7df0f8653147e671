//! A model of the store after all requests of a scenario.

use std::collections::{BTreeMap, BTreeSet};

use bumpalo::Bump;
use tidewatch_domain::decode;
use tidewatch_domain::model::{ProjectId, RowId, Signal, SpanId, TraceBatch, TraceId};
use tidewatch_domain::project::{self, EntityKind, IngestSettings, Owner, ProjectContext};
use tidewatch_domain::waterfall::{StoredOwners, StoredSpan};

use crate::scenario::{Request, Scenario};

#[derive(Debug, Default, PartialEq)]
pub struct Stored {
    pub spans: BTreeMap<(TraceId, SpanId), Span>,
    /// Roots that were accepted but not stored.
    pub dropped_roots: BTreeSet<(TraceId, SpanId)>,
    pub entities: BTreeMap<RowId, Entity>,
    pub ai_traces: BTreeMap<RowId, AiTrace>,
    pub exceptions: BTreeMap<RowId, Exception>,
    pub logs: Vec<Log>,
    pub values: Vec<Value>,
}

#[derive(Debug, PartialEq)]
pub struct Span {
    pub parent: SpanId,
    pub is_plain: bool,
}

#[derive(Debug, PartialEq)]
pub struct Entity {
    pub kind: EntityKind,
    pub trace_id: TraceId,
    pub span_id: SpanId,
    pub name: String,
    pub server_name: String,
    pub app_version: String,
    pub is_root: bool,
    pub is_stream: bool,
    pub status: i16,
}

#[derive(Debug, PartialEq)]
pub struct AiTrace {
    pub name: String,
    pub is_root: bool,
    pub model: Option<String>,
    pub provider: Option<String>,
    pub finish_reason: Option<String>,
    /// Input, output, cached, reasoning.
    pub tokens: [Option<i64>; 4],
}

#[derive(Debug, PartialEq)]
pub struct Exception {
    pub exception_type: String,
    pub message: String,
    pub group: u64,
    pub trace_id: TraceId,
    /// The name of the owner, or the span id from which to resolve it.
    pub owner: Result<Option<String>, SpanId>,
}

#[derive(Debug, PartialEq)]
pub struct Log {
    pub trace_id: TraceId,
    pub span_id: SpanId,
    pub server_name: String,
}

#[derive(Debug, PartialEq)]
pub struct Value {
    pub name: String,
    pub value: f64,
    pub tags: BTreeSet<String>,
}

impl Stored {
    /// Stores every distinct body once: a repeated body is acknowledged and not stored. DECISIONS 11.
    pub fn after(scenario: &Scenario) -> Self {
        let mut stored = Stored::default();
        let mut seen = BTreeSet::new();
        for request in &scenario.requests {
            if seen.insert(&request.body) {
                stored.take(request);
            }
        }
        stored
    }

    fn take(&mut self, request: &Request) {
        let arena = Bump::new();
        let context = ProjectContext {
            project: ProjectId([3; 16]),
            received_ns: 1_795_219_200_000_000_000,
            settings: IngestSettings::default(),
        };
        match request.signal {
            Signal::Traces => {
                let batch = decode::traces(request.encoding, &request.body, &arena).expect("a readable body");
                self.take_traces(&batch, &project::traces(&batch, &context, &arena));
            }
            Signal::Metrics => {
                let batch = decode::metrics(request.encoding, &request.body, &arena).expect("a readable body");
                for row in project::metrics(&batch, &context, &arena).values {
                    let attributes = batch.attributes(batch.points[row.point as usize].attributes);
                    let tags = attributes.0.iter().map(|attribute| attribute.key.to_owned()).collect();
                    self.values.push(Value { name: row.name.to_owned(), value: row.value, tags });
                }
            }
            Signal::Logs => {
                let batch = decode::logs(request.encoding, &request.body, &arena).expect("a readable body");
                for row in project::logs(&batch, &context, &arena).logs {
                    let record = &batch.records[row.record as usize];
                    let server_name = row.server_name.to_owned();
                    self.logs.push(Log { trace_id: record.trace_id, span_id: record.span_id, server_name });
                }
            }
        }
    }

    fn take_traces(&mut self, batch: &TraceBatch<'_>, rows: &project::TraceProjection<'_>) {
        let span = |position: u32| &batch.spans[position as usize];
        let owned = |text: Option<&str>| text.map(str::to_owned);
        for row in &rows.spans {
            let id = (span(row.span).trace_id, span(row.span).span_id);
            let is_plain = row.promoted == project::Promoted::default();
            self.spans.entry(id).or_insert(Span { parent: span(row.span).parent_span_id, is_plain });
        }
        for row in rows.dropped.iter().filter(|row| row.reason == project::DropReason::UnmatchedRoot) {
            self.dropped_roots.insert((span(row.record).trace_id, span(row.record).span_id));
        }
        for row in &rows.entities {
            let kept = &rows.spans[row.kept as usize];
            self.entities.entry(row.row_id).or_insert(Entity {
                kind: row.kind,
                trace_id: span(row.span).trace_id,
                span_id: span(row.span).span_id,
                name: row.name.to_owned(),
                server_name: kept.server_name.to_owned(),
                app_version: kept.app_version.to_owned(),
                is_root: row.is_root,
                is_stream: row.is_stream,
                status: row.status_code,
            });
        }
        for row in &rows.ai_traces {
            self.ai_traces.entry(row.row_id).or_insert(AiTrace {
                name: row.name.to_owned(),
                is_root: row.is_root,
                model: owned(row.model),
                provider: owned(row.provider),
                finish_reason: owned(row.finish_reason),
                tokens: [row.input_tokens, row.output_tokens, row.cached_tokens, row.reasoning_tokens],
            });
        }
        for row in &rows.exceptions {
            self.exceptions.entry(row.row_id).or_insert(Exception {
                exception_type: row.exception_type.to_owned(),
                message: row.message.to_owned(),
                group: row.group,
                trace_id: span(row.span).trace_id,
                owner: match row.owner {
                    Owner::Known { name, .. } => Ok(Some(name.to_owned())),
                    Owner::None => Ok(None),
                    Owner::Above(span_id) => Err(span_id),
                },
            });
        }
    }

    /// The owner of an exception, resolved as at query time. DECISIONS 8.
    pub fn owner(&self, exception: &Exception) -> Option<String> {
        let start = match &exception.owner {
            Ok(owner) => return owner.clone(),
            Err(start) => *start,
        };
        let entity =
            |id: (TraceId, SpanId)| self.entities.values().find(|entity| (entity.trace_id, entity.span_id) == id);
        let in_trace = self.spans.iter().filter(|((trace_id, _), _)| *trace_id == exception.trace_id);
        let spans = in_trace.map(|(id, span)| StoredSpan {
            span_id: id.1,
            parent_span_id: span.parent,
            entity: entity(*id).map(|entity| entity.kind),
            name: entity(*id).map_or("", |entity| &entity.name),
        });
        StoredOwners::new(spans.collect()).owner(start).map(|owner| owner.name.to_owned())
    }
}
