//! The distributed trace.

use serde::Serialize;
use utoipa::ToSchema;

use super::ai::AiTraceRow;
use super::endpoint::EndpointRow;
use super::issue::{ExceptionBrief, Occurrence};
use super::span::{ProjectName, SpanGraphStatus, SpanView, TraceType};
use super::task::TaskRow;

/// One Endpoint, Task or AI Trace of a distributed trace.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TraceNode {
    #[schema(format = "uuid")]
    pub project_id: String,
    pub project_name: String,
    pub trace_type: TraceType,
    pub trace_id: String,
    pub span_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<EndpointRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ai_trace: Option<AiTraceRow>,
    /// The spans below this entity that belong to no nearer one.
    pub spans: Vec<SpanView>,
    pub span_graph_status: SpanGraphStatus,
    /// The first exception among its spans.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exception: Option<ExceptionBrief>,
    /// Span id of the nearest entity above this one, in any project; empty when there is none.
    pub parent_entity_span_id: String,
}

/// `POST /api/distributed-traces/{traceId}`: everything with that trace id in the projects the user may open.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DistributedTrace {
    pub trace_id: String,
    /// By start.
    pub nodes: Vec<TraceNode>,
    /// The whole trace in waterfall order.
    pub spans: Vec<SpanView>,
    /// The projects that have a part in it.
    pub projects: Vec<ProjectName>,
    pub exceptions: Vec<Occurrence>,
    pub span_graph_status: SpanGraphStatus,
}
