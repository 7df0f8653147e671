//! What people decided about a project's Issues and Endpoints.

use std::collections::HashMap;

use rusqlite::{OptionalExtension, params};

use super::{Control, ControlError};

/// An Endpoint that is known to be slow: this much is forgiven in its ranking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlowEndpoint {
    pub offset_ms: i64,
    pub reason: String,
}

impl Control {
    /// Archives Issues as of `now_ns`; archiving again moves the time. Returns how many were given.
    pub fn archive(&self, project: u32, hashes: &[u64], now_ns: i64) -> Result<usize, ControlError> {
        let mut database = self.database.lock();
        let transaction = database.transaction()?;
        for hash in hashes {
            transaction.execute(
                "INSERT INTO archived_exceptions (project, hash, archived_ns) VALUES (?1, ?2, ?3) \
                 ON CONFLICT DO UPDATE SET archived_ns = excluded.archived_ns",
                params![project, format!("{hash:016x}"), now_ns],
            )?;
        }
        transaction.commit()?;
        Ok(hashes.len())
    }

    /// Returns how many were archived before.
    pub fn unarchive(&self, project: u32, hashes: &[u64]) -> Result<usize, ControlError> {
        let mut database = self.database.lock();
        let transaction = database.transaction()?;
        let mut count = 0;
        for hash in hashes {
            count += transaction.execute(
                "DELETE FROM archived_exceptions WHERE project = ?1 AND hash = ?2",
                params![project, format!("{hash:016x}")],
            )?;
        }
        transaction.commit()?;
        Ok(count)
    }

    /// Issue group -> when it was archived, nanoseconds since the epoch.
    pub fn archived(&self, project: u32) -> Result<HashMap<u64, i64>, ControlError> {
        let database = self.database.lock();
        let mut statement =
            database.prepare_cached("SELECT hash, archived_ns FROM archived_exceptions WHERE project = ?1")?;
        let rows = statement.query_map([project], |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)))?;
        let mut archived = HashMap::new();
        for row in rows {
            let (hash, at_ns) = row?;
            if let Ok(hash) = u64::from_str_radix(&hash, 16) {
                archived.insert(hash, at_ns);
            }
        }
        Ok(archived)
    }

    pub fn slow_endpoint(&self, project: u32, endpoint: &str) -> Result<Option<SlowEndpoint>, ControlError> {
        let database = self.database.lock();
        let mut statement = database
            .prepare_cached("SELECT offset_ms, reason FROM slow_endpoints WHERE project = ?1 AND endpoint = ?2")?;
        let found = statement
            .query_row(params![project, endpoint], |row| {
                Ok(SlowEndpoint { offset_ms: row.get(0)?, reason: row.get(1)? })
            })
            .optional()?;
        Ok(found)
    }

    /// Endpoint name -> what is forgiven.
    pub fn slow_endpoints(&self, project: u32) -> Result<HashMap<String, SlowEndpoint>, ControlError> {
        let database = self.database.lock();
        let mut statement =
            database.prepare_cached("SELECT endpoint, offset_ms, reason FROM slow_endpoints WHERE project = ?1")?;
        let rows = statement.query_map([project], |row| {
            Ok((row.get(0)?, SlowEndpoint { offset_ms: row.get(1)?, reason: row.get(2)? }))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// An offset of 0 without a reason forgets the Endpoint.
    pub fn set_slow_endpoint(&self, project: u32, endpoint: &str, slow: &SlowEndpoint) -> Result<(), ControlError> {
        let database = self.database.lock();
        if slow.offset_ms == 0 && slow.reason.is_empty() {
            database.execute(
                "DELETE FROM slow_endpoints WHERE project = ?1 AND endpoint = ?2",
                params![project, endpoint],
            )?;
        } else {
            database.execute(
                "INSERT INTO slow_endpoints (project, endpoint, offset_ms, reason) VALUES (?1, ?2, ?3, ?4) \
                 ON CONFLICT DO UPDATE SET offset_ms = excluded.offset_ms, reason = excluded.reason",
                params![project, endpoint, slow.offset_ms, slow.reason],
            )?;
        }
        Ok(())
    }
}
