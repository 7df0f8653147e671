use bumpalo::Bump;

use super::builder::{RECEIVED_NS, context, slice, with_settings};
use crate::model::{AnyValue, LogBatch, LogRecord, Resource, SpanId, TraceId};
use crate::project::{IngestSettings, Owner, logs};

fn batch(records: Vec<LogRecord<'static>>) -> LogBatch<'static> {
    let mut batch = LogBatch { records, ..LogBatch::default() };
    let attributes = slice(&mut batch.attributes, &[("service.name", "log-svc"), ("service.version", "2")]);
    batch.resources.push(Resource { attributes, ..Resource::default() });
    batch
}

// Spec: logs mapping; DECISIONS 17.
#[test]
fn every_record_is_kept() {
    const LIST: &[AnyValue<'static>] = &[AnyValue::Int(1), AnyValue::Str("x")];
    let batch = batch(vec![
        LogRecord { time_ns: 5, severity_text: "warn", body: AnyValue::Str("text"), ..LogRecord::default() },
        LogRecord { observed_time_ns: 6, severity_number: 17, body: AnyValue::Array(LIST), ..LogRecord::default() },
        LogRecord::default(),
        LogRecord { resource: 99, ..LogRecord::default() },
    ]);
    let arena = Bump::new();
    let projection = logs(&batch, &context(), &arena);
    let rows: Vec<_> = projection
        .logs
        .iter()
        .map(|log| (log.record, log.time_ns, log.severity_text, log.body, log.server_name))
        .collect();
    assert_eq!(
        rows,
        [
            (0, 5, "WARN", "text", "log-svc"),
            (1, 6, "ERROR", r#"[1,"x"]"#, "log-svc"),
            (2, RECEIVED_NS, "", "", "log-svc"),
            (3, RECEIVED_NS, "", "", ""),
        ]
    );
    assert!(projection.exceptions.is_empty() && projection.dropped.is_empty());
}

// DECISIONS 9: off by default.
#[test]
fn issues_from_logs_are_a_setting() {
    let mut batch = batch(vec![]);
    let attributes = slice(&mut batch.attributes, &[("exception.type", "E"), ("exception.message", "m")]);
    batch.records = vec![
        LogRecord { attributes, trace_id: TraceId([1; 16]), span_id: SpanId([2; 8]), ..LogRecord::default() },
        LogRecord { attributes, ..LogRecord::default() },
        LogRecord::default(),
    ];
    let arena = Bump::new();
    assert!(logs(&batch, &context(), &arena).exceptions.is_empty());
    let on = with_settings(IngestSettings { issues_from_logs: true, ..IngestSettings::default() });
    let exceptions = logs(&batch, &on, &arena).exceptions;
    let rows: Vec<_> = exceptions.iter().map(|e| (e.span, e.stack_trace, e.owner, e.app_version)).collect();
    assert_eq!(rows, [(0, "E: m", Owner::Above(SpanId([2; 8])), "2"), (1, "E: m", Owner::None, "2")]);
    assert_ne!(exceptions[0].row_id, exceptions[1].row_id);
    assert_eq!(exceptions, logs(&batch, &on, &arena).exceptions);
}
