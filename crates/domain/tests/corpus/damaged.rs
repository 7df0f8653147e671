//! Projecting damaged exports that still decode never panics and accounts for every record.

use bumpalo::Bump;
use tidewatch_domain::decode;
use tidewatch_domain::model::{ProjectId, Signal};
use tidewatch_domain::project::{self, IngestSettings, ProjectContext};

use crate::scenario::{Request, scenarios};

/// A deterministic generator.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

#[test]
fn damaged_exports_are_accounted_for() {
    let mut numbers = Numbers(7);
    let mut readable = 0;
    for request in scenarios().iter().flat_map(|scenario| &scenario.requests).filter(|request| !request.body.is_empty())
    {
        for _ in 0..40 {
            let mut damaged = request.clone();
            for _ in 0..1 + numbers.below(3) {
                let place = numbers.below(damaged.body.len());
                // A byte of the same body, so that more results are readable.
                damaged.body[place] = request.body[numbers.below(request.body.len())];
            }
            readable += usize::from(is_accounted_for(&damaged));
        }
    }
    assert!(readable > 1_000, "only {readable} damaged bodies could be read");
}

/// Asserts that every record is kept or dropped. `false` when the body cannot be read.
fn is_accounted_for(request: &Request) -> bool {
    let arena = Bump::new();
    let settings = IngestSettings { issues_from_logs: true, ..IngestSettings::default() };
    let context = ProjectContext { project: ProjectId([3; 16]), received_ns: 1, settings };
    let (mut records, all) = match request.signal {
        Signal::Traces => {
            let Ok(batch) = decode::traces(request.encoding, &request.body, &arena) else { return false };
            let rows = project::traces(&batch, &context, &arena);
            let kept = rows.spans.iter().map(|row| row.span);
            (kept.chain(rows.dropped.iter().map(|row| row.record)).collect::<Vec<_>>(), batch.spans.len())
        }
        Signal::Metrics => {
            let Ok(batch) = decode::metrics(request.encoding, &request.body, &arena) else { return false };
            let rows = project::metrics(&batch, &context, &arena);
            assert!(rows.values.iter().all(|row| row.value.is_finite()));
            let mut kept: Vec<u32> = rows.values.iter().map(|row| row.point).collect();
            kept.dedup();
            kept.extend(rows.dropped.iter().map(|row| row.record));
            (kept, batch.points.len())
        }
        Signal::Logs => {
            let Ok(batch) = decode::logs(request.encoding, &request.body, &arena) else { return false };
            let rows = project::logs(&batch, &context, &arena);
            (rows.logs.iter().map(|row| row.record).collect(), batch.records.len())
        }
    };
    records.sort_unstable();
    assert_eq!(records, (0..all as u32).collect::<Vec<_>>());
    true
}
