//! Debug files and stack frames. (map comes)

mod artifact;
mod covers;
mod demangle;
mod detect;
mod error;
mod id;
mod js;
pub mod limits;
mod native;
mod r8;
mod safe;
mod trace;

pub use artifact::{Artifact, FORMAT_VERSION, Kind, Stale, source_hash};
pub use demangle::demangle;
pub use detect::{Upload, detect};
pub use error::SymbolError;
pub use id::{Arch, DebugId};
pub use js::{Place, Script, convert as convert_source_map};
pub use native::{Chain, Frame, Native, Slice, convert as convert_native, slices_of};
pub use r8::{JavaFrame, Mapping, convert as convert_mapping};
pub use trace::{Hints, Need, Resolved, Shelf, Trace};
