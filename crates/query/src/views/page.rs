//! Lists: requests, pages and orders.

use std::marker::PhantomData;

use serde::{Deserialize, Serialize};
use serde_json::Number;
use utoipa::{IntoParams, ToSchema};

use super::rows;

/// Time range; the last 24 hours by default.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub struct RangeQuery {
    /// Start of the time range, inclusive; 24 hours before `to` when absent.
    #[param(format = DateTime)]
    pub from: Option<String>,
    /// End of the time range, exclusive; now when absent.
    #[param(format = DateTime)]
    pub to: Option<String>,
}

/// Selects a page of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PageRequest {
    /// Number of the page, from 1.
    #[schema(minimum = 1, default = 1)]
    pub page: i64,
    /// Rows per page.
    #[schema(minimum = 1, maximum = 100, default = 20)]
    pub page_size: i64,
}

impl Default for PageRequest {
    fn default() -> Self {
        PageRequest { page: 1, page_size: 20 }
    }
}

/// The position of a page in its list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PageInfo {
    /// Number of the page, from 1.
    pub page: u64,
    /// Maximum number of rows per page.
    pub page_size: u64,
    /// Number of rows in the list.
    pub total: u64,
    /// Number of pages.
    pub total_pages: u64,
}

/// One page of a list. Long strings of its rows are cut.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(bound = "T: Serialize")]
pub struct Page<T> {
    /// Rows of the page.
    #[serde(serialize_with = "rows::cut")]
    pub data: Vec<T>,
    /// Position of this page in the list.
    pub pagination: PageInfo,
}

/// Sort directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SortDirection {
    /// Ascending.
    Asc,
    /// Descending.
    #[default]
    Desc,
}

/// `orderBy` of a list: the name of one of the orders `O`, which is checked when the list is read. An empty name means
/// the default.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(transparent)]
pub struct OrderBy<O> {
    name: Option<String>,
    #[serde(skip)]
    orders: PhantomData<O>,
}

impl<O> Default for OrderBy<O> {
    fn default() -> Self {
        OrderBy { name: None, orders: PhantomData }
    }
}

impl<O> OrderBy<O> {
    /// The name as requested, unchecked; `None` when null or empty.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref().filter(|name| !name.is_empty())
    }
}

/// Body of the lists of Endpoints, Tasks and AI Traces.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", bound = "")]
pub struct ListRequest<O> {
    /// Start of the time range, inclusive; 24 hours before `toDate` when null.
    #[schema(format = DateTime, default = json!(null))]
    pub from_date: Option<String>,
    /// End of the time range, exclusive; now when null. Must not be before `fromDate` (422).
    #[schema(format = DateTime, default = json!(null))]
    pub to_date: Option<String>,
    /// One of the orders of the list; any other value is 400. The list's default when null.
    #[serde(default)]
    #[schema(value_type = Option<O>, default = json!(null))]
    pub order_by: OrderBy<O>,
    /// `desc` when null.
    #[schema(default = json!(null))]
    pub sort_direction: Option<SortDirection>,
    /// Substring, ASCII case ignored: of the name, or of attribute values on the page of one name.
    #[schema(default = json!(null))]
    pub search: Option<String>,
    /// Query in the query language, combined with the other conditions; a text that is no query is 400 with its
    /// `position`. At most 4,096 bytes.
    #[schema(default = json!(null))]
    pub query: Option<String>,
    /// `root`: only rows without a parent; `non_root`: only rows with a parent; empty or null: both.
    #[schema(default = json!(null))]
    pub root_filter: Option<String>,
    /// The page; the first 20 rows when null.
    #[schema(default = json!(null))]
    pub pagination: Option<PageRequest>,
}

/// Body of the page of one Endpoint, Task or AI Trace.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct DetailRequest {
    /// Time of the row, within 24 hours of which the row is searched first; null: all time is searched.
    #[schema(format = DateTime)]
    pub recorded_at: Option<String>,
}

/// One point of a small trend line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct TrendPoint {
    /// Start of the bucket.
    #[schema(format = DateTime)]
    pub timestamp: String,
    /// Number of occurrences in the bucket.
    pub count: u64,
}

/// One point of a chart line.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ValuePoint {
    /// Start of the bucket.
    #[schema(format = DateTime)]
    pub timestamp: String,
    /// The value. Integers beyond 2^53 are exact for functions that return a point's value: `min`, `max`, `last`.
    #[schema(value_type = f64)]
    pub value: Number,
}
