//! The project that holds demo data: at most one in each organization.

use std::sync::Arc;

use super::Projects;
use super::changes::{NewProject, delete_project, insert_project};
use crate::{Actor, ControlError, Project};

impl Projects {
    /// Returns the organization's demo project, and whether this call created it. `interrupted` is a demo project with
    /// incomplete data; it is deleted in the same transaction, unless another call did so first.
    pub async fn begin_demo(
        &self,
        actor: &Actor,
        new: &NewProject,
        interrupted: Option<&Project>,
    ) -> Result<(Arc<Project>, bool), ControlError> {
        let mut write = self.database.write().await?;
        if let Some(project) = interrupted {
            delete_project(&mut write, actor, project).await?;
        }
        let known: Option<i64> =
            sqlx::query_scalar("SELECT number FROM projects WHERE organization_id = $1 AND demo > 0")
                .bind(new.organization_id)
                .fetch_optional(write.on())
                .await?;
        let known = known.and_then(|number| u32::try_from(number).ok());
        let number = match known {
            Some(number) => number,
            None => {
                let number = insert_project(&mut write, actor, new).await?;
                sqlx::query("UPDATE projects SET demo = 1 WHERE number = $1")
                    .bind(i64::from(number))
                    .execute(write.on())
                    .await?;
                number
            }
        };
        write.changes_directory();
        write.commit().await?;
        let project = self.database.project_by_number(number).ok_or(ControlError::UnknownProject)?;
        Ok((project, known.is_none()))
    }

    /// Marks the demo data of a project as complete. Returns false if the project was deleted meanwhile.
    pub async fn finish_demo(&self, project: u32) -> Result<bool, ControlError> {
        let mut write = self.database.write().await?;
        let finished = sqlx::query("UPDATE projects SET demo = 2 WHERE number = $1 AND demo = 1")
            .bind(i64::from(project))
            .execute(write.on())
            .await?;
        write.changes_directory();
        write.commit().await?;
        Ok(finished.rows_affected() > 0)
    }
}
