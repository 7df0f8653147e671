//! Storage of blobs: named sequences of bytes, written as a whole.
//!
//! [`BlobStore`] is the only interface. Below it is an [`object_store::ObjectStore`]: a folder, or memory in tests. All
//! calls block and may be made from any thread. A call that writes returns when the blob is durable; readers see the old
//! content or the new one, never a part.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod error;
mod folder;
mod store;

pub use folder::is_pending;
pub use store::{Blob, BlobStore};
