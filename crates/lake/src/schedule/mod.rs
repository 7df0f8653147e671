//! Which thread has a processor: [`thread_priority`] says who goes first, [`yielding`] lets others in between two pieces
//! of long work, [`background_throttle`] says how much flushes and merges rest beside queries. See decision 0009.

pub(crate) mod background_throttle;
pub(crate) mod thread_priority;
pub(crate) mod yielding;
