//! The stored values that rules of one project share.

use std::collections::HashMap;

use jiff::tz::TimeZone;
use tidewatch_limits as limits;
use tidewatch_query::changes;
use tidewatch_query::error::QueryError;
use tidewatch_query::executor::Executor;
use tidewatch_query::time_windows::{self, Served, ServedKind, Windows};
use tidewatch_query::views::changes::{ChangeCard, ChangesRequest};

use crate::rules::config::matches;
use crate::rules::evaluation::SharedProject;

/// Reads the values of the rules of one project. Rules that measure the same share one query.
pub struct Source {
    pub executor: Executor,
    pub project: SharedProject,
    served: HashMap<(ServedKind, Windows, Option<String>), Vec<Served>>,
    changes: Option<Vec<ChangeCard>>,
}

impl Source {
    pub fn new(executor: Executor, project: SharedProject) -> Source {
        Source { executor, project, served: HashMap::new(), changes: None }
    }

    /// The time zone of the project's organization; UTC when it is unknown.
    pub(super) fn zone(&self) -> TimeZone {
        let organizations = self.executor.context.people.organizations();
        let own = organizations.iter().find(|one| one.id == self.project.organization_id);
        own.and_then(|one| TimeZone::get(&one.timezone).ok()).unwrap_or(TimeZone::UTC)
    }

    /// `pattern`: of names; without a wildcard only that name is read.
    pub(super) async fn served(
        &mut self,
        kind: ServedKind,
        windows: Windows,
        pattern: &str,
    ) -> Result<Vec<Served>, QueryError> {
        let only = (!pattern.contains('*')).then(|| pattern.to_owned());
        // All names may be in memory already, and they serve every rule.
        let all = (kind, windows, None);
        let key = if self.served.contains_key(&all) { all } else { (kind, windows, only) };
        if !self.served.contains_key(&key) {
            let only = key.2.as_deref();
            let found =
                time_windows::served(&self.executor, &self.project, kind, windows, only, limits::RULE_SUBJECTS_MAX)
                    .await?;
            self.served.insert(key.clone(), found);
        }
        let found = self.served.get(&key).map(Vec::as_slice).unwrap_or_default();
        Ok(found.iter().filter(|served| matches(pattern, &served.name)).cloned().collect())
    }

    pub(super) async fn changes(&mut self) -> Result<Vec<ChangeCard>, QueryError> {
        if self.changes.is_none() {
            let found = changes::read(&self.executor, &self.project, ChangesRequest::default()).await?;
            self.changes = Some(found.data);
        }
        Ok(self.changes.clone().unwrap_or_default())
    }
}
