//! Answers with missing rows.
//!
//! Rows that an operator set aside, or that could not be written, are missing from answers over their range (see
//! [`TelemetryStore::is_incomplete`](tidewatch_store::TelemetryStore::is_incomplete)). Queries of a request record that
//! here.

use std::cell::Cell;

tokio::task_local! {
    static IS_INCOMPLETE: Cell<bool>;
}

/// Records that the answer of the current request lacks rows. No effect outside of [`track`].
pub fn mark() {
    let _ = IS_INCOMPLETE.try_with(|is_incomplete| is_incomplete.set(true));
}

/// Runs `future`. Returns its output, and whether it called [`mark`].
pub async fn track<T>(future: impl Future<Output = T>) -> (T, bool) {
    let tracked = async {
        let answer = future.await;
        (answer, IS_INCOMPLETE.get().get())
    };
    IS_INCOMPLETE.scope(Cell::new(false), tracked).await
}
