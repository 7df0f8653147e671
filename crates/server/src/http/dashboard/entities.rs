//! Endpoints, Tasks and AI Traces: `/api/endpoints…`, `/api/tasks…`, `/api/ai-traces…`.

use crate::http::api::{Api, Descriptions};

pub fn routes<D: Descriptions>() -> Api<D> {
    Api::new().merge(endpoints::routes()).merge(tasks::routes()).merge(ai_traces::routes())
}

/// The five operations of an [`EntityKind`](tidewatch_query::entities::EntityKind): their paths, operation ids and
/// OpenAPI descriptions.
macro_rules! entity_routes {
    (
        $kind:path, $tag:literal, $views:ident, $name:ident in $query:ident, list of $list:ident by $order:ident or $group_list:ty,
        $(#[$list_doc:meta])+ list: $list_path:literal $list_id:literal -> $row:ident,
        $(#[$groups_doc:meta])+ groups: $groups_path:literal $groups_id:literal -> $group:ident,
        $(#[$one_doc:meta])+ one: $one_path:literal $one_id:literal -> $page:ident,
        $(#[$chart_doc:meta])+ chart: $chart_path:literal $chart_id:literal, $chart_request:ident -> $chart:ident,
        $(#[$detail_doc:meta])+ detail: $detail_path:literal $detail_id:literal -> $detail:ident,
    ) => {
        use std::sync::Arc;

        use axum::Json;
        use axum::extract::rejection::QueryRejection;
        use axum::extract::{Path, Query, State};

        use crate::error::ApiError;
        use crate::http::api::{Api, Descriptions, routes};
        use crate::http::gate::auth::ProjectAccess;
        use crate::http::gate::body::JsonBody;
        use crate::http::gate::global_filter::{GlobalFilterQuery, SelectedRecords};
        use crate::http::openapi::{Failures, NotFound, ProjectQuery};
        use tidewatch_limits as limits;
        use tidewatch_query::context::QueryContext;
        use tidewatch_query::executor::Executor;
        use tidewatch_query::views::$views::*;
        use tidewatch_query::views::page::*;
        use tidewatch_query::{entities, ids, time};

        pub fn routes<D: Descriptions>() -> Api<D> {
            Api::new()
                .routes(routes!(list))
                .routes(routes!(groups))
                .routes(routes!(one))
                .routes(routes!(chart))
                .routes(routes!(detail))
        }

        $(#[$list_doc])+
        #[utoipa::path(
            post,
            path = $list_path,
            operation_id = $list_id,
            tag = $tag,
            params(ProjectQuery, GlobalFilterQuery),
            request_body = $list<$order>,
            responses((status = 200, description = "Success", body = Page<$row>), Failures)
        )]
        async fn list(
            State(query): State<Arc<QueryContext>>,
            access: ProjectAccess,
            SelectedRecords(selected): SelectedRecords,
            JsonBody(request): JsonBody<$list<$order>>,
        ) -> Result<Json<Page<$row>>, ApiError> {
            let executor = Executor::within(query.clone(), limits::LIST_DEADLINE).filtered(selected);
            Ok(Json(entities::list::<$kind>(&executor, &access.project, request).await?))
        }

        $(#[$groups_doc])+
        #[utoipa::path(
            post,
            path = $groups_path,
            operation_id = $groups_id,
            tag = $tag,
            params(ProjectQuery, GlobalFilterQuery),
            request_body = $group_list,
            responses((status = 200, description = "Success", body = Page<$group>), Failures)
        )]
        async fn groups(
            State(query): State<Arc<QueryContext>>,
            access: ProjectAccess,
            SelectedRecords(selected): SelectedRecords,
            JsonBody(request): JsonBody<$group_list>,
        ) -> Result<Json<Page<$group>>, ApiError> {
            let executor = Executor::within(query.clone(), limits::LIST_DEADLINE).filtered(selected);
            Ok(Json(entities::groups::<$kind>(&executor, &access.project, request).await?))
        }

        $(#[$one_doc])+
        #[utoipa::path(
            post,
            path = $one_path,
            operation_id = $one_id,
            tag = $tag,
            params(ProjectQuery, GlobalFilterQuery, $query),
            request_body = $list<$order>,
            responses((status = 200, description = "Success", body = $page), Failures, NotFound)
        )]
        async fn one(
            State(context): State<Arc<QueryContext>>,
            access: ProjectAccess,
            SelectedRecords(selected): SelectedRecords,
            query: Result<Query<$query>, QueryRejection>,
            JsonBody(request): JsonBody<$list<$order>>,
        ) -> Result<Json<$page>, ApiError> {
            let Query(query) = query.map_err(|error| ApiError::malformed(error.body_text()))?;
            let executor = Executor::within(context.clone(), limits::LIST_DEADLINE).filtered(selected);
            Ok(Json(entities::one::<$kind>(&executor, &access.project, &query.$name, request).await?))
        }

        $(#[$chart_doc])+
        #[utoipa::path(
            post,
            path = $chart_path,
            operation_id = $chart_id,
            tag = $tag,
            params(ProjectQuery, GlobalFilterQuery),
            request_body = $chart_request,
            responses((status = 200, description = "Success", body = $chart), Failures)
        )]
        async fn chart(
            State(query): State<Arc<QueryContext>>,
            access: ProjectAccess,
            SelectedRecords(selected): SelectedRecords,
            JsonBody(request): JsonBody<$chart_request>,
        ) -> Result<Json<$chart>, ApiError> {
            let executor = Executor::within(query.clone(), limits::LIST_DEADLINE).filtered(selected);
            Ok(Json(entities::chart::<$kind>(&executor, &access.project, request).await?))
        }

        $(#[$detail_doc])+
        #[utoipa::path(
            post,
            path = $detail_path,
            operation_id = $detail_id,
            tag = $tag,
            params(ProjectQuery, ("id" = String, Path, description = "Row id", format = "uuid")),
            request_body = DetailRequest,
            responses((status = 200, description = "Success", body = $detail), Failures, NotFound)
        )]
        async fn detail(
            State(query): State<Arc<QueryContext>>,
            access: ProjectAccess,
            Path(id): Path<String>,
            JsonBody(request): JsonBody<DetailRequest>,
        ) -> Result<Json<$detail>, ApiError> {
            let id = ids::parse_row(&id)?;
            let recorded_at = time::parse_optional(request.recorded_at.as_deref(), "recordedAt")?;
            let executor = Executor::within(query.clone(), limits::LIST_DEADLINE);
            Ok(Json(entities::detail::<$kind>(&executor, &access.project, id, recorded_at).await?))
        }
    };
}

mod endpoints {
    entity_routes! {
        tidewatch_query::endpoints::Endpoint, "endpoints", endpoint, endpoint in EndpointQuery,
        list of ListRequest by EndpointOrder or ListRequest<EndpointGroupOrder>,
        /// Requests of all Endpoints. Orders: `recorded_at` (default), `duration`, `status_code`.
        list: "/api/endpoints" "listEndpoints" -> EndpointRow,
        /// One row per Endpoint. Orders: `impact` (default), `count`, `p50_duration`, `p95_duration`, `p99_duration`, `avg_duration`, `last_seen`, `endpoint`, `error_rate`, `server_error_rate`.
        groups: "/api/endpoints/grouped" "groupEndpoints" -> EndpointGroup,
        /// The requests of one Endpoint, with its statistics. Orders as in `listEndpoints`.
        one: "/api/endpoints/endpoint" "getEndpoint" -> EndpointPage,
        /// A metric over time: one line for each of the five Endpoints with the greatest total, one for all others.
        chart: "/api/endpoints/chart" "chartEndpoints", EndpointChartRequest -> EndpointChart,
        /// One request with its trace.
        detail: "/api/endpoints/{id}" "getEndpointRequest" -> EndpointDetail,
    }
}

mod tasks {
    entity_routes! {
        tidewatch_query::tasks::Task, "tasks", task, task in TaskQuery,
        list of ListRequest by TaskOrder or ListRequest<TaskGroupOrder>,
        /// Runs of all Tasks. Orders: `recorded_at` (default), `duration`.
        list: "/api/tasks" "listTasks" -> TaskRow,
        /// One row per Task. Orders: `impact` (default), `count`, `p50_duration`, `p95_duration`, `p99_duration`, `avg_duration`, `last_seen`, `task` or `task_name`, `error_rate`.
        groups: "/api/tasks/grouped" "groupTasks" -> TaskGroup,
        /// The runs of one Task, with its statistics. Orders as in `listTasks`.
        one: "/api/tasks/task" "getTask" -> TaskPage,
        /// A metric over time: one line for each of the five Tasks with the greatest total, one for all others.
        chart: "/api/tasks/chart" "chartTasks", TaskChartRequest -> TaskChart,
        /// One run with its trace.
        detail: "/api/tasks/{id}" "getTaskRun" -> TaskDetail,
    }
}

mod ai_traces {
    entity_routes! {
        tidewatch_query::ai_traces::AiTrace, "ai-traces", ai, trace in TraceNameQuery,
        list of AiListRequest by AiTraceOrder or AiGroupRequest<AiTraceGroupOrder>,
        /// Calls of all AI Traces. Orders: `recorded_at` (default), `duration`, `total_cost`, `total_tokens`.
        list: "/api/ai-traces" "listAiTraces" -> AiTraceRow,
        /// One row per AI Trace name, or per model, provider, user, prompt, service or conversation. Orders: `total_cost` (default), `count`, `total_tokens`, `p50_duration`, `p95_duration`, `avg_duration`, `last_seen`, `trace_name`, `error_rate`.
        groups: "/api/ai-traces/grouped" "groupAiTraces" -> AiTraceGroup,
        /// The calls of one name, with its statistics. Orders as in `listAiTraces`.
        one: "/api/ai-traces/trace" "getAiTraceGroup" -> AiTracePage,
        /// A metric over time: one line for each of the five names, models or other groups with the greatest total, one for all others.
        chart: "/api/ai-traces/chart" "chartAiTraces", AiChartRequest -> AiChart,
        /// One call with its conversation and its trace.
        detail: "/api/ai-traces/{id}" "getAiTrace" -> AiTraceDetail,
    }
}
