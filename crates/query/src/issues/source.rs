//! The commit that an occurrence ran, for links to the code host.

use tidewatch_accounts::Project;
use tidewatch_store::tables::Table;

use crate::error::QueryError;
use crate::executor::Executor;
use crate::occurrences::OccurrenceRecord;
use crate::plans::{self, Window};
use crate::time::Range;
use crate::{attributes, deploys, filters};

/// The semantic convention of a commit.
const REVISION: &str = "vcs.ref.head.revision";

/// The commit of an occurrence: its attribute, that of the resource of its span, or the commit of the latest reported
/// deploy of its version. Empty when unknown.
pub async fn commit(executor: &Executor, project: &Project, of: &OccurrenceRecord) -> Result<String, QueryError> {
    // The span of the occurrence.
    let executor = &executor.unfiltered();
    if let Some(commit) = of.view.attributes.0.get(REVISION).filter(|commit| !commit.is_empty()) {
        return Ok(commit.clone());
    }
    if !of.trace_id.is_none() {
        let filter = filters::trace(of.trace_id).and(filters::span(of.span_id));
        let range = Range::around(of.time);
        let plan =
            plans::rows(Table::Spans, &[project.number], range, filter, vec!["resource"], vec![], Window::first(1));
        let resource = executor.run(plan).await?.first().map(|row| attributes::map(row.bytes("resource")).0);
        if let Some(commit) = resource.and_then(|mut resource| resource.remove(REVISION)) {
            return Ok(commit);
        }
    }
    let (service, version) = (&of.view.server_name, &of.view.app_version);
    if version.is_empty() {
        return Ok(String::new());
    }
    let is_of = |deploy: &&deploys::WentLive| {
        let deploy = &deploy.deploy;
        (&deploy.service, &deploy.version) == (service, version) && !deploy.commit.is_empty()
    };
    let deploys = deploys::all(&executor.context, project.number).await?;
    Ok(deploys.iter().rfind(is_of).map(|one| one.deploy.commit.clone()).unwrap_or_default())
}
