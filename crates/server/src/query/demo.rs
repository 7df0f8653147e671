//! How far the demo data of an organization is, and whether anything else is there.

use tidewatch_store::tables::Table;

use super::ask::{self, Ask, Window};
use super::filters;
use super::time::Range;
use super::views::demo::{DemoState, DemoView};
use crate::control::Demo;
use crate::error::ApiError;

/// `GET /api/organizations/{id}/demo`.
pub async fn read(ask: &Ask, organization: i64) -> Result<DemoView, ApiError> {
    let app = &ask.app;
    let Some(project) = app.control.demo_project(organization) else {
        let is_empty = is_empty(ask, organization).await?;
        return Ok(DemoView {
            state: DemoState::None,
            project_id: None,
            percent: 0,
            spans: 0,
            message: None,
            is_empty,
        });
    };
    let load = app.demos.of(project.number);
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

/// Whether no project of the organization has stored records. Reads the counts per minute, no telemetry row.
async fn is_empty(ask: &Ask, organization: i64) -> Result<bool, ApiError> {
    let projects = ask.app.control.project_numbers(organization);
    let (filter, columns) = (filters::text("outcome", "kept"), vec!["time"]);
    let plan = ask::rows(Table::IngestCounts, &projects, Range::ALL, filter, columns, vec![], Window::first(1));
    Ok(ask.ask(plan).await?.is_empty())
}
