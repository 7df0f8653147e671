//! The distributed trace.

use serde::Serialize;
use utoipa::ToSchema;

use super::ai::AiTraceRow;
use super::endpoint::EndpointRow;
use super::issue::{ExceptionBrief, Occurrence};
use super::rows;
use super::span::{ProjectName, SpanGraphStatus, SpanView, TraceType};
use super::task::TaskRow;

/// One Endpoint, Task or AI Trace of a distributed trace.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TraceNode {
    /// Project of the entity.
    #[schema(format = "uuid")]
    pub project_id: String,
    /// Name of the project.
    pub project_name: String,
    /// Kind of the entity.
    pub trace_type: TraceType,
    /// Trace id.
    pub trace_id: String,
    /// Id of the entity's span.
    pub span_id: String,
    /// The request, if `traceType` is `endpoint`; else absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(serialize_with = "rows::cut_one")]
    pub endpoint: Option<EndpointRow>,
    /// The run, if `traceType` is `task`; else absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(serialize_with = "rows::cut_one")]
    pub task: Option<TaskRow>,
    /// The AI Trace, if `traceType` is `ai_trace`; else absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(serialize_with = "rows::cut_one")]
    pub ai_trace: Option<AiTraceRow>,
    /// Spans at and below this entity that belong to no nearer one; empty when the entity is of a linked trace.
    #[serde(serialize_with = "rows::cut")]
    pub spans: Vec<SpanView>,
    /// Completeness of the spans; `unavailable` when the entity is of a linked trace.
    pub span_graph_status: SpanGraphStatus,
    /// The first exception of its spans, or of the entity's own span in a linked trace; absent when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(serialize_with = "rows::cut_one")]
    pub exception: Option<ExceptionBrief>,
    /// Span id of the nearest entity above, in any project; empty when there is none.
    pub parent_entity_span_id: String,
}

/// `POST /api/distributed-traces/{traceId}`: everything with the trace id in the projects that the user can open.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DistributedTrace {
    /// Trace id.
    pub trace_id: String,
    /// Traces that are shown with this one: that of the web page that sent a request, or those of its requests.
    pub linked_trace_ids: Vec<String>,
    /// Endpoints, Tasks and AI Traces of the trace and of the linked ones, by start.
    pub nodes: Vec<TraceNode>,
    /// Spans of the trace in waterfall order.
    #[serde(serialize_with = "rows::cut")]
    pub spans: Vec<SpanView>,
    /// Projects with rows of these traces.
    pub projects: Vec<ProjectName>,
    /// Exceptions of these traces.
    #[serde(serialize_with = "rows::cut")]
    pub exceptions: Vec<Occurrence>,
    /// Whether `spans` is complete.
    pub span_graph_status: SpanGraphStatus,
}
