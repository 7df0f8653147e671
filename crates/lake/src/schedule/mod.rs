//! Processor scheduling: [`thread_priority`] sets which threads run first, [`yielding`] lets other threads run during
//! long work, [`background_throttle`] pauses flushes and merges while queries run. See decision 0009.

pub(crate) mod background_throttle;
pub(crate) mod thread_priority;
pub(crate) mod yielding;
