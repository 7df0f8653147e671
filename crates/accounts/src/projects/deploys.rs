//! Deploys of a project: the first sight of each version of a service in an environment, and deploys that a build
//! pipeline has reported.

use serde_json::json;

use super::Projects;
use crate::{Actor, ControlError, Project};
use tidewatch_limits as limits;

/// The first sight of a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstVersion {
    /// See [`Project::number`].
    pub project: u32,
    /// `service.name`; empty when absent.
    pub service: String,
    /// `deployment.environment.name`; empty when absent.
    pub environment: String,
    /// `service.version`; never empty.
    pub version: String,
    /// Earliest time of its records, nanoseconds since the epoch.
    pub first_ns: i64,
}

/// A deploy that a build pipeline has reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deploy {
    /// Name of the service.
    pub service: String,
    /// Name of the environment; may be empty.
    pub environment: String,
    /// The version; never empty.
    pub version: String,
    /// Time of the deploy, nanoseconds since the epoch.
    pub deployed_ns: i64,
    /// Id of the commit; may be empty.
    pub commit: String,
    /// Author of the deploy; may be empty.
    pub author: String,
    /// Page of the deploy; may be empty.
    pub url: String,
}

/// Columns of `first_versions`.
type FirstColumns = (i64, String, String, String, i64);

impl Projects {
    /// Returns the first sights of all projects.
    pub async fn all_first_versions(&self) -> Result<Vec<FirstVersion>, ControlError> {
        let rows: Vec<FirstColumns> =
            sqlx::query_as("SELECT project, service, environment, version, first_ns FROM first_versions")
                .fetch_all(self.database.pool())
                .await?;
        Ok(rows.into_iter().filter_map(first_version).collect())
    }

    /// Returns the first sights of a project, ascending by time.
    pub async fn first_versions(&self, project: u32) -> Result<Vec<FirstVersion>, ControlError> {
        let rows: Vec<FirstColumns> = sqlx::query_as(
            "SELECT project, service, environment, version, first_ns FROM first_versions WHERE project = $1 \
             ORDER BY first_ns, service, environment, version",
        )
        .bind(i64::from(project))
        .fetch_all(self.database.pool())
        .await?;
        Ok(rows.into_iter().filter_map(first_version).collect())
    }

    /// Stores first sights. Of two of one version the earlier remains. Those of deleted projects are left out.
    pub async fn add_first_versions(&self, seen: &[FirstVersion]) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        for FirstVersion { project, service, environment, version, first_ns } in seen {
            sqlx::query(
                "INSERT INTO first_versions (project, service, environment, version, first_ns) \
                 SELECT number, CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS TEXT), CAST($5 AS BIGINT) \
                 FROM projects WHERE number = $1 \
                 ON CONFLICT (project, service, environment, version) DO UPDATE SET first_ns = excluded.first_ns \
                 WHERE excluded.first_ns < first_versions.first_ns",
            )
            .bind(i64::from(*project))
            .bind(service)
            .bind(environment)
            .bind(version)
            .bind(*first_ns)
            .execute(write.on())
            .await?;
        }
        write.commit().await
    }

    /// Returns the reported deploys of a project, ascending by time.
    pub async fn deploys(&self, project: u32) -> Result<Vec<Deploy>, ControlError> {
        type Columns = (String, String, String, i64, String, String, String);
        let rows: Vec<Columns> = sqlx::query_as(
            "SELECT service, environment, version, deployed_ns, commit_id, author, url FROM deploys \
             WHERE project = $1 ORDER BY deployed_ns, service, environment, version",
        )
        .bind(i64::from(project))
        .fetch_all(self.database.pool())
        .await?;
        let deploy = |(service, environment, version, deployed_ns, commit, author, url)| Deploy {
            service,
            environment,
            version,
            deployed_ns,
            commit,
            author,
            url,
        };
        Ok(rows.into_iter().map(deploy).collect())
    }

    /// Stores a reported deploy; one of equal service, environment, version and time is replaced. Beyond
    /// [`limits::DEPLOYS_MAX`] the earliest are deleted.
    pub async fn report_deploy(&self, actor: &Actor, project: &Project, deploy: &Deploy) -> Result<(), ControlError> {
        let Deploy { service, environment, version, deployed_ns, commit, author, url } = deploy;
        let number = i64::from(project.number);
        let mut write = self.database.write().await?;
        sqlx::query(
            "INSERT INTO deploys (project, service, environment, version, deployed_ns, commit_id, author, url) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
             ON CONFLICT (project, service, environment, version, deployed_ns) DO UPDATE \
             SET commit_id = excluded.commit_id, author = excluded.author, url = excluded.url",
        )
        .bind(number)
        .bind(service)
        .bind(environment)
        .bind(version)
        .bind(*deployed_ns)
        .bind(commit)
        .bind(author)
        .bind(url)
        .execute(write.on())
        .await?;
        sqlx::query(
            "DELETE FROM deploys WHERE project = $1 AND deployed_ns < (SELECT MIN(deployed_ns) FROM \
             (SELECT deployed_ns FROM deploys WHERE project = $1 ORDER BY deployed_ns DESC LIMIT $2) AS newest)",
        )
        .bind(number)
        .bind(limits::DEPLOYS_MAX as i64)
        .execute(write.on())
        .await?;
        let details = json!({ "service": service, "environment": environment, "version": version });
        let entry = actor.did("deploy.report").on_project(project);
        write.audit(entry.with(details)).await?;
        write.commit().await
    }
}

fn first_version((project, service, environment, version, first_ns): FirstColumns) -> Option<FirstVersion> {
    Some(FirstVersion { project: u32::try_from(project).ok()?, service, environment, version, first_ns })
}
