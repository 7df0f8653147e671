//! The audit log: who changed what, when and from where. Every change writes its entry in its own transaction.
//!
//! ```text
//! write.audit(actor.did("member.remove").on("user", 7).within(organization).with(json!({"role": "user"}))).await?;
//! ```
//!
//! - `entry`: entries to be written, and their author.
//! - `write`: the entry within a transaction.
//! - `notices`: mails to users about some of the entries.
//! - `log`: what was written.

mod entry;
mod log;
mod notices;
mod write;

pub use entry::{Actor, Entry};
pub use log::{AuditEntry, AuditFilter, AuditLog};
