//! Conversations and users of AI Traces: `/api/ai-conversations…`, `/api/ai-users/grouped`, and `/api/ai-prices`. WIRE
//! 8.3.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};

use crate::contexts::Ingest;
use crate::error::ApiError;
use crate::http::api::{Api, Descriptions, routes};
use crate::http::gate::auth::ProjectAccess;
use crate::http::gate::body::JsonBody;
use crate::http::gate::global_filter::{GlobalFilterQuery, SelectedRecords};
use crate::http::openapi::{Failures, NotFound, ProjectQuery};
use tidewatch_limits as limits;
use tidewatch_query::context::QueryContext;
use tidewatch_query::executor::Executor;
use tidewatch_query::views::ai::{AiListRequest, StoredConversation};
use tidewatch_query::views::ai_conversation::*;
use tidewatch_query::views::page::Page;
use tidewatch_query::{ai_conversations, conversation, conversation_turns, ids, time};

pub fn routes<D: Descriptions>() -> Api<D> {
    Api::new()
        .routes(routes!(conversations))
        .routes(routes!(turns))
        .routes(routes!(stored))
        .routes(routes!(users))
        .routes(routes!(prices))
}

fn executor(query: &Arc<QueryContext>) -> Executor {
    Executor::within(query.clone(), limits::LIST_DEADLINE)
}

/// One row per conversation: the AI Traces with its id in the range. `search`: part of the id, a name, a model or a
/// user. Orders: `last_seen` (default), `first_seen`, `count`, `total_tokens`, `total_cost`, `error_count`,
/// `flagged_count`.
#[utoipa::path(
    post,
    path = "/api/ai-conversations/grouped",
    operation_id = "groupAiConversations",
    tag = "ai-traces",
    params(ProjectQuery, GlobalFilterQuery),
    request_body = AiListRequest<ConversationOrder>,
    responses((status = 200, description = "Success", body = Page<AiConversation>), Failures)
)]
async fn conversations(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess,
    SelectedRecords(selected): SelectedRecords,
    JsonBody(request): JsonBody<AiListRequest<ConversationOrder>>,
) -> Result<Json<Page<AiConversation>>, ApiError> {
    Ok(Json(ai_conversations::conversations(&executor(&query).filtered(selected), &access.project, request).await?))
}

/// The turns of one conversation in chronological order: messages, tokens, cost and runs of tools of each.
#[utoipa::path(
    post,
    path = "/api/ai-conversations/conversation",
    operation_id = "getAiConversation",
    tag = "ai-traces",
    params(ProjectQuery),
    request_body = ConversationRequest,
    responses((status = 200, description = "Success", body = ConversationPage), Failures, NotFound)
)]
async fn turns(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess,
    JsonBody(request): JsonBody<ConversationRequest>,
) -> Result<Json<ConversationPage>, ApiError> {
    Ok(Json(conversation_turns::read(&executor(&query), &access.project, request).await?))
}

/// The time of a row, which makes it faster to find.
#[derive(Debug, Clone, Default, serde::Deserialize, utoipa::IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
struct RecordedAt {
    /// `recordedAt` of the row; null: any time.
    #[param(format = DateTime)]
    recorded_at: Option<String>,
}

/// The conversation of one AI Trace: the document that the row's `storageKey` points to.
#[utoipa::path(
    get,
    path = "/api/ai-traces/{id}/conversation",
    operation_id = "getStoredConversation",
    tag = "ai-traces",
    params(ProjectQuery, RecordedAt, ("id" = String, Path, description = "Row id", format = "uuid")),
    responses((status = 200, description = "Success", body = StoredConversation), Failures, NotFound)
)]
async fn stored(
    State(context): State<Arc<QueryContext>>,
    access: ProjectAccess,
    Path(id): Path<String>,
    query: Result<Query<RecordedAt>, QueryRejection>,
) -> Result<Json<StoredConversation>, ApiError> {
    let Query(query) = query.map_err(|error| ApiError::malformed(error.body_text()))?;
    let (id, recorded_at) = (ids::parse_row(&id)?, time::parse_optional(query.recorded_at.as_deref(), "recordedAt")?);
    Ok(Json(conversation::stored(&executor(&context), &access.project, id, recorded_at).await?))
}

/// One row per user of AI Traces. `search`: part of the user's id. AI Traces without a user are not listed. Orders:
/// `total_cost` (default), `last_seen`, `count`, `conversation_count`, `total_tokens`, `error_count`, `flagged_count`.
#[utoipa::path(
    post,
    path = "/api/ai-users/grouped",
    operation_id = "groupAiUsers",
    tag = "ai-traces",
    params(ProjectQuery, GlobalFilterQuery),
    request_body = AiListRequest<AiUserOrder>,
    responses((status = 200, description = "Success", body = Page<AiUser>), Failures)
)]
async fn users(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess,
    SelectedRecords(selected): SelectedRecords,
    JsonBody(request): JsonBody<AiListRequest<AiUserOrder>>,
) -> Result<Json<Page<AiUser>>, ApiError> {
    Ok(Json(ai_conversations::users(&executor(&query).filtered(selected), &access.project, request).await?))
}

/// The price table that costs are estimated with: its day and its size.
#[utoipa::path(
    get,
    path = "/api/ai-prices",
    operation_id = "getAiPrices",
    tag = "ai-traces",
    params(ProjectQuery),
    responses((status = 200, description = "Success", body = AiPrices), Failures)
)]
async fn prices(State(ingest): State<Arc<Ingest>>, _access: ProjectAccess) -> Result<Json<AiPrices>, ApiError> {
    let prices = ingest.durable_store.prices();
    Ok(Json(AiPrices::new(prices.day(), prices.table().prices.len())))
}
