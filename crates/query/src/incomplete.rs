//! Answers that lack rows.
//!
//! Rows that an operator set aside, or that could not be written, are missing from answers over their range
//! ([`tidewatch_lake::Lake::is_incomplete`]). Whatever asks the store while a request is answered notes it here.

use std::cell::Cell;

tokio::task_local! {
    static IS_INCOMPLETE: Cell<bool>;
}

/// The request that is being answered has an answer that lacks rows. Outside of [`noticing`] nobody hears of it.
pub fn note() {
    let _ = IS_INCOMPLETE.try_with(|is_incomplete| is_incomplete.set(true));
}

/// What `answering` gives, and whether it noted that rows are missing.
pub async fn noticing<T>(answering: impl Future<Output = T>) -> (T, bool) {
    let noticed = async {
        let answer = answering.await;
        (answer, IS_INCOMPLETE.get().get())
    };
    IS_INCOMPLETE.scope(Cell::new(false), noticed).await
}
