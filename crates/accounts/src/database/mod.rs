//! The control database: everything that a room with tables of its own needs from this crate.
//!
//! A room is a struct over a [`Database`]. It reads from [`Database::pool`], changes with
//! [`Database::write`], seals its secrets with [`Database::sealer`] and divides work between nodes with
//! leases. Its audit entries and mails are written in the transaction of the change ([`Write::audit`],
//! [`Write::insert_mail`]).
//!
//! The schemas of all rooms are in `migrations/`: migrations are one ordered sequence, because a table of a room refers
//! to projects, users and organizations.
//!
//! - `seam`: [`Database`] and [`Write`]. `leases`: one node at a time.
//! - `connections`: SQLite or PostgreSQL, and the single writer.
//! - `open`, `migrations`, `follow`: opening, the versions of the schema, changes by other nodes.
//! - `outage`: temporary failures. `copies`: copies for backups. `notice`: mails as data.

mod connections;
mod copies;
mod follow;
mod leases;
mod migrations;
mod notice;
mod open;
mod outage;
mod seam;

pub use connections::{Engine, Location};
pub use copies::{copy_database, has_had_accounts, integrity, projects_in};
pub use notice::{Mail, Notice, NoticeTemplate};
pub use outage::Outage;
pub use seam::{Database, Write};
