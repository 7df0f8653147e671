//! Lists: how one is asked for and how it is answered.

use serde::{Deserialize, Serialize};
use serde_json::Number;
use utoipa::ToSchema;

/// Which page of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PageRequest {
    /// From 1.
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

/// Where the answered page is in the whole list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PageInfo {
    pub page: u64,
    pub page_size: u64,
    /// Rows in the whole list.
    pub total: u64,
    pub total_pages: u64,
}

/// One page of a list.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Page<T> {
    /// Never null.
    pub data: Vec<T>,
    pub pagination: PageInfo,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SortDirection {
    Asc,
    #[default]
    Desc,
}

/// Every list body. Both times default to the last 24 hours.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ListRequest {
    #[schema(format = DateTime)]
    pub from_date: Option<String>,
    /// Must not be before `fromDate` (422).
    #[schema(format = DateTime)]
    pub to_date: Option<String>,
    /// One of the orders the operation names; anything else is 400.
    pub order_by: Option<String>,
    pub sort_direction: Option<SortDirection>,
    /// Part of a name, in any case.
    pub search: Option<String>,
    /// `root`: only entry points without a parent; `non_root`: only those another trace started; empty: both.
    pub root_filter: Option<String>,
    pub pagination: Option<PageRequest>,
}

/// The body of an entity's page: when it was recorded, so that only 24 hours either side are read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct DetailRequest {
    /// Without it the row is looked for in all time.
    #[schema(format = DateTime)]
    pub recorded_at: Option<String>,
}

/// One point of a small trend line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct TrendPoint {
    /// Start of the bucket.
    #[schema(format = DateTime)]
    pub timestamp: String,
    pub count: u64,
}

/// One point of a chart, of one of its lines.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ValuePoint {
    /// Start of the bucket.
    #[schema(format = DateTime)]
    pub timestamp: String,
    /// Integers beyond 2^53 are exact where the function takes one point's value: `min`, `max`, `last`.
    #[schema(value_type = f64)]
    pub value: Number,
}
