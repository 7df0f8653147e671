//! The embedded engine.

pub mod disk;
pub mod part;
pub mod source;

pub use part::{Part, PartFacts, PartFile};
pub use source::Source;
