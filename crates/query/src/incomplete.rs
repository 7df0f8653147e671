//! Answers with missing rows.
//!
//! Rows that an operator set aside, or that could not be written, are missing from answers over their range (see
//! [`TelemetryStore::is_incomplete`](tidewatch_store::TelemetryStore::is_incomplete)). A condition on spans below rows
//! looks at a limited number of spans (`child.` in docs/use/query-language.md). Queries of a request record both here.

use std::cell::Cell;

/// What the answer of a request lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lacks {
    /// Rows that were set aside.
    pub damaged: bool,
    /// Spans that no condition looked at.
    pub spans: bool,
}

tokio::task_local! {
    static LACKS: Cell<Lacks>;
}

/// Records that the answer of the current request lacks rows. No effect outside of [`track`].
pub fn mark() {
    let _ = LACKS.try_with(|lacks| lacks.set(Lacks { damaged: true, ..lacks.get() }));
}

/// Records that a condition of the current request did not look at all spans. No effect outside of [`track`].
pub fn mark_spans() {
    let _ = LACKS.try_with(|lacks| lacks.set(Lacks { spans: true, ..lacks.get() }));
}

/// Runs `future`. Returns its output, and what the answer lacks.
pub async fn track<T>(future: impl Future<Output = T>) -> (T, Lacks) {
    let tracked = async {
        let answer = future.await;
        (answer, LACKS.get().get())
    };
    LACKS.scope(Cell::new(Lacks::default()), tracked).await
}
