//! Progress of the demo data of an organization, and whether it has any other telemetry.

use crate::error::ApiError;
use crate::jobs::demo::bodies::{DemoState, DemoView};
use crate::state::demos::Demos;
use tidewatch_accounts::Demo;
use tidewatch_query::demo::is_empty;
use tidewatch_query::executor::Executor;

/// The view of `GET /api/organizations/{id}/demo`.
pub async fn read(executor: &Executor, demos: &Demos, organization: i64) -> Result<DemoView, ApiError> {
    let Some(project) = executor.context.projects.demo_project(organization) else {
        let is_empty = is_empty(executor, organization).await?;
        return Ok(DemoView {
            state: DemoState::None,
            project_id: None,
            percent: 0,
            spans: 0,
            message: None,
            is_empty,
        });
    };
    let load = demos.of(project.number);
    let state = match (project.demo, &load) {
        (Some(Demo::Loaded), _) => DemoState::Loaded,
        (_, Some(load)) if load.is_running() => DemoState::Loading,
        (_, Some(load)) if load.error().is_some() => DemoState::Failed,
        _ => DemoState::Interrupted,
    };
    let percent = match state {
        DemoState::Loaded => 100,
        _ => load.as_ref().map_or(0, |load| load.percent()),
    };
    Ok(DemoView {
        state,
        project_id: Some(project.id.to_string()),
        percent,
        spans: load.as_ref().map_or(0, |load| load.spans()),
        message: load.filter(|_| state == DemoState::Failed).and_then(|load| load.error()),
        is_empty: false,
    })
}
