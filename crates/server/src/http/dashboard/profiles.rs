//! Profiles: `/api/profiles/...`. WIRE 2.2.

use std::collections::{BTreeSet, HashMap};
use std::io::Write;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use uuid::Uuid;

use crate::contexts::Ingest;
use crate::error::ApiError;
use crate::http::api::{Api, Descriptions, routes};
use crate::http::gate::auth::ProjectAccess;
use crate::http::gate::body::JsonBody;
use crate::http::gate::global_filter::{GlobalFilterQuery, SelectedRecords};
use crate::http::openapi::{Failures, ProjectQuery};
use tidewatch_accounts::Project;
use tidewatch_ingest::symbols::Symbols;
use tidewatch_limits as limits;
use tidewatch_query::context::QueryContext;
use tidewatch_query::error::QueryError;
use tidewatch_query::executor::Executor;
use tidewatch_query::profiles::{self, NativeNames};
use tidewatch_query::views::page::Page;
use tidewatch_query::views::profile::*;

pub fn routes<D: Descriptions>() -> Api<D> {
    Api::new()
        .routes(routes!(grouped))
        .routes(routes!(types))
        .routes(routes!(series))
        .routes(routes!(breakdown))
        .routes(routes!(dimensions))
        .routes(routes!(labels))
        .routes(routes!(flame_graph))
        .routes(routes!(top))
        .routes(routes!(links))
        .routes(routes!(pprof))
}

fn executor(query: &Arc<QueryContext>) -> Executor {
    Executor::within(query.clone(), limits::LIST_DEADLINE)
}

/// A handler that runs one query of profiles. `ingest`: the query shows functions, whose native names come from uploads.
macro_rules! handler {
    ($(#[$doc:meta])* $name:ident, $path:literal, $operation:literal, $request:ty, $response:ty, $query:path $(, $ingest:ident)?) => {
        $(#[$doc])*
        #[utoipa::path(
            post,
            path = $path,
            operation_id = $operation,
            tag = "profiles",
            params(ProjectQuery, GlobalFilterQuery),
            request_body = $request,
            responses((status = 200, description = "Success", body = $response), Failures)
        )]
        async fn $name(
            State(query): State<Arc<QueryContext>>,
            $(State($ingest): State<Arc<Ingest>>,)?
            access: ProjectAccess,
            SelectedRecords(selected): SelectedRecords,
            JsonBody(request): JsonBody<$request>,
        ) -> Result<Json<$response>, ApiError> {
            Ok(Json($query(&executor(&query).filtered(selected), &access.project, $(names_of(&$ingest, &access.project),)? request).await?))
        }
    };
}

/// Functions of native files by the project's uploads.
struct UploadedNames {
    symbols: Arc<Symbols>,
    project: Uuid,
    now_ns: i64,
}

impl NativeNames for UploadedNames {
    fn functions(&self, build_id: &str, addresses: &BTreeSet<u64>) -> HashMap<u64, Vec<(String, String)>> {
        self.symbols.native_functions(self.project, build_id, addresses, self.now_ns)
    }
}

fn names_of(ingest: &Ingest, project: &Project) -> Arc<dyn NativeNames> {
    Arc::new(UploadedNames {
        symbols: ingest.symbols.clone(),
        project: project.id,
        now_ns: ingest.pipeline.clock.now_ns(),
    })
}

handler!(
    /// Services and their types of profiles.
    grouped, "/api/profiles/grouped", "groupedProfiles", GroupedProfilesRequest, Page<ProfileGroup>, profiles::grouped
);
handler!(
    /// Types of profiles, of at least the last 30 days.
    types, "/api/profiles/types", "profileTypes", ProfileTypesRequest, ProfileTypes, profiles::types
);
handler!(
    /// Values over time.
    series, "/api/profiles/series", "profileSeries", ProfileSeriesRequest, ProfileSeries, profiles::series
);
handler!(
    /// Values over time by version, server or label.
    breakdown, "/api/profiles/series/breakdown", "profileBreakdown", ProfileBreakdownRequest, ProfileBreakdown,
    profiles::breakdown
);
handler!(
    /// Versions and servers of the profiles.
    dimensions, "/api/profiles/dimensions", "profileDimensions", ProfileSelection, ProfileDimensions,
    profiles::dimensions
);
handler!(
    /// Labels of the samples.
    labels, "/api/profiles/labels", "profileLabels", ProfileSelection, ProfileLabels, profiles::labels
);
handler!(
    /// A flame graph: the stacks of the samples as a tree, optionally beside those of a baseline.
    flame_graph, "/api/profiles/flamegraph", "profileFlameGraph", FlameGraphRequest, FlameGraph, profiles::flame_graph,
    ingest
);
handler!(
    /// Functions or packages by value.
    top, "/api/profiles/top", "profileTop", TopFunctionsRequest, TopFunctions, profiles::top, ingest
);
handler!(
    /// Profiles of a span's service that were taken while it ran.
    links, "/api/profiles/links", "profileLinks", ProfileLinksRequest, ProfileLinks, profiles::links
);

/// The samples as a file in the format of pprof.
#[utoipa::path(
    post,
    path = "/api/profiles/pprof",
    operation_id = "downloadProfile",
    tag = "profiles",
    params(ProjectQuery, GlobalFilterQuery),
    request_body = ProfileSelection,
    responses((status = 200, description = "profile.proto, compressed with gzip", body = Vec<u8>, content_type = "application/octet-stream"),
        (status = 404, description = "No sample is selected", body = crate::error::ErrorBody), Failures)
)]
async fn pprof(
    State(query): State<Arc<QueryContext>>,
    State(ingest): State<Arc<Ingest>>,
    access: ProjectAccess,
    SelectedRecords(selected): SelectedRecords,
    JsonBody(request): JsonBody<ProfileSelection>,
) -> Result<Response, ApiError> {
    let file = profiles::pprof(
        &executor(&query).filtered(selected),
        &access.project,
        names_of(&ingest, &access.project),
        request,
    )
    .await?;
    let compress = move || {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&file.body).and_then(|()| encoder.finish()).map(|body| (file.name, body))
    };
    let done = tokio::task::spawn_blocking(compress).await.map_err(QueryError::internal)?;
    let (name, body) = done.map_err(QueryError::internal)?;
    let headers = [
        (CONTENT_TYPE, "application/octet-stream".to_owned()),
        (CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
    ];
    Ok((headers, body).into_response())
}
