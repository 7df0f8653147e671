//! The database in which the tables are.

use tidewatch_accounts::Database;

/// The status pages of organizations, their maintenance windows and subscribers.
#[derive(Clone)]
pub struct StatusPages {
    pub(in crate::status_pages) database: Database,
}

impl StatusPages {
    /// The tables in this database.
    pub fn new(database: &Database) -> StatusPages {
        StatusPages { database: database.clone() }
    }
}
