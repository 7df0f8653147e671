//! The live tail of logs: `GET /api/logs/tail`, server-sent events.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRef, Query, State};
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde::Deserialize;
use tokio::time::{Instant, sleep_until, timeout_at};
use utoipa::IntoParams;

use crate::app::AppState;
use crate::contexts::{Accounts, Ingest, Process};
use crate::error::ApiError;
use crate::http::api::{Api, Descriptions, routes};
use crate::http::connection::streamed_body::{self, BodySender, SendError, StreamedRequest};
use crate::http::gate::auth::StreamAccess;
use crate::http::gate::global_filter::{GlobalFilterQuery, SelectedRecords};
use crate::http::openapi::{Failures, ProjectQuery};
use crate::state::live_tails::LiveTailPermit;
use tidewatch_ingest::live_logs::{Arrived, Tail};
use tidewatch_limits as limits;
use tidewatch_query::context::QueryContext;
use tidewatch_query::executor::Executor;
use tidewatch_query::logs::live::LiveQuery;
use tidewatch_query::projects::Projects;
use tidewatch_query::views::log::LiveLogs;

/// The media type of server-sent events.
const EVENTS: &str = "text/event-stream";

pub fn routes<D: Descriptions>() -> Api<D> {
    Api::new().routes(routes!(tail))
}

/// The parameters of a live tail.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct TailQuery {
    /// Query in the query language; every record passes when it is absent. A text that is no query is 400 with its
    /// `position`.
    query: Option<String>,
}

/// Log records as they are stored, as server-sent events. An event `logs` holds the records since the previous one, the
/// latest 50 at most, and the number of those left out; there are at most four events per second. The stream ends with
/// an event `end`, whose data is `{"reason": "signed_out" | "stopping" | "time"}`. A user may have four tails at once;
/// more are 503. Needs the header `Accept: text/event-stream`.
#[utoipa::path(
    get,
    path = "/api/logs/tail",
    operation_id = "tailLogs",
    tag = "logs",
    params(ProjectQuery, GlobalFilterQuery, TailQuery),
    responses(
        (status = 200, description = "Events; the data of an event `logs`", body = LiveLogs,
            content_type = "text/event-stream"),
        Failures
    )
)]
async fn tail(
    State(contexts): State<TailContexts>,
    access: StreamAccess,
    SelectedRecords(selected): SelectedRecords,
    query: Result<Query<TailQuery>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    // A client that expects a whole answer would wait for its end.
    let accepts = |kind: &HeaderValue| kind.to_str().is_ok_and(|kind| kind.contains(EVENTS) || kind.contains("*/*"));
    if !headers.get_all(ACCEPT).iter().any(accepts) {
        return Err(ApiError::malformed(format!("a live tail needs the header `Accept: {EVENTS}`")));
    }
    let Query(query) = query.map_err(|error| ApiError::malformed(error.body_text()))?;
    let project = access.access.project.clone();
    let live_query = LiveQuery::new(Projects::one(&project), query.query.as_deref(), &selected)?;
    let permit = contexts.process.live_tails.enter(access.access.user.id);
    let permit = permit.ok_or(ApiError::Overloaded("too many live tails at once; close another one first"))?;
    let (sender, body) = streamed_body::channel();
    let answered = StreamedRequest::default();
    let tail = contexts.ingest.durable_store.live_logs().tail(project.number);
    let transfer = Transfer { contexts, access, query: live_query, answered: answered.clone(), _permit: permit };
    tokio::spawn(transfer.run(tail, sender));
    let headers = [(CONTENT_TYPE, EVENTS), (CACHE_CONTROL, "no-store")];
    // nginx buffers responses without it.
    let mut response = (headers, [("x-accel-buffering", "no")], Body::new(body)).into_response();
    response.extensions_mut().insert(answered);
    Ok(response)
}

/// The contexts of a live tail.
#[derive(Clone)]
struct TailContexts {
    accounts: Arc<Accounts>,
    ingest: Arc<Ingest>,
    process: Arc<Process>,
    queries: Arc<QueryContext>,
}

impl FromRef<AppState> for TailContexts {
    fn from_ref(state: &AppState) -> TailContexts {
        TailContexts {
            accounts: FromRef::from_ref(state),
            ingest: FromRef::from_ref(state),
            process: FromRef::from_ref(state),
            queries: FromRef::from_ref(state),
        }
    }
}

/// Reasons for which a live tail ends.
enum End {
    SignedOut,
    Stopping,
    Time,
    /// The client has disconnected, or reads too slowly.
    Disconnected,
}

impl From<SendError> for End {
    fn from(_: SendError) -> End {
        End::Disconnected
    }
}

/// Sends the events of one live tail.
struct Transfer {
    contexts: TailContexts,
    access: StreamAccess,
    query: LiveQuery,
    answered: StreamedRequest,
    _permit: LiveTailPermit,
}

impl Transfer {
    async fn run(self, tail: Tail, body: BodySender) {
        let mut closing = self.contexts.process.live_tails.closing();
        let end = tokio::select! {
            end = self.send(tail, &body) => end,
            () = body.disconnected() => End::Disconnected,
            _ = closing.wait_for(|closing| *closing) => End::Stopping,
        };
        let reason = match end {
            End::SignedOut => "signed_out",
            End::Stopping => "stopping",
            End::Time => "time",
            End::Disconnected => return self.answered.give_up(),
        };
        let event = format!("event: end\ndata: {{\"reason\":\"{reason}\"}}\n\n");
        if send(&body, event).await.is_ok() {
            body.end().await;
        }
        self.answered.give_up();
    }

    async fn send(&self, mut tail: Tail, body: &BodySender) -> End {
        let end = Instant::now() + limits::LIVE_TAIL_MAX;
        let mut check = Instant::now() + limits::LIVE_TAIL_CHECK;
        // The head of the response is sent with the first bytes.
        if let Err(why) = send(body, ": open\n\n".to_owned()).await {
            return why.into();
        }
        loop {
            let arrived = timeout_at(check, tail.next()).await.ok();
            let now = Instant::now();
            if now >= end {
                return End::Time;
            }
            if now >= check {
                if !self.access.is_valid(&self.contexts.accounts, &self.contexts.process).await.unwrap_or(false) {
                    return End::SignedOut;
                }
                check = now + limits::LIVE_TAIL_CHECK;
            }
            let sent = match arrived {
                Some(arrived) => match self.event(arrived).await {
                    Some(event) => send(body, event).await,
                    None => Ok(()),
                },
                // Proxies close a connection without bytes.
                None => send(body, ":\n\n".to_owned()).await,
            };
            if let Err(why) = sent {
                return why.into();
            }
            sleep_until(now + limits::LIVE_TAIL_PAUSE).await;
        }
    }

    /// The event of records that arrived; `None` when none passes the query.
    async fn event(&self, arrived: Arrived) -> Option<String> {
        let Arrived { rows, missed } = arrived;
        let records: usize = rows.iter().map(|batch| batch.num_rows()).sum();
        let executor = Executor::within(self.contexts.queries.clone(), limits::LIST_DEADLINE);
        let logs = match self.query.event(&executor, rows).await {
            Ok(logs) => LiveLogs { missed, ..logs },
            // Too many queries run, for instance.
            Err(_) => LiveLogs { data: Vec::new(), skipped: 0, missed: missed + records as u64 },
        };
        if logs.data.is_empty() && logs.skipped == 0 && logs.missed == 0 {
            return None;
        }
        let data = serde_json::to_string(&logs).ok()?;
        Some(format!("event: logs\ndata: {data}\n\n"))
    }
}

async fn send(body: &BodySender, event: String) -> Result<(), SendError> {
    body.send_within(Bytes::from(event), limits::EXPORT_CHUNK_MAX).await
}
