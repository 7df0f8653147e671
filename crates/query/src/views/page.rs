//! Lists: how one is asked for and how it is answered.

use std::marker::PhantomData;

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

/// `orderBy` of a list whose orders are `O`: the name of one of them, checked when the list is read. An empty name is
/// none.
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
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref().filter(|name| !name.is_empty())
    }
}

/// Every list body. Both times default to the last 24 hours.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", bound = "")]
pub struct ListRequest<O> {
    #[schema(format = DateTime, default = json!(null))]
    pub from_date: Option<String>,
    /// Must not be before `fromDate` (422).
    #[schema(format = DateTime, default = json!(null))]
    pub to_date: Option<String>,
    /// One of the orders the operation names; anything else is 400.
    #[serde(default)]
    #[schema(value_type = Option<O>, default = json!(null))]
    pub order_by: OrderBy<O>,
    #[schema(default = json!(null))]
    pub sort_direction: Option<SortDirection>,
    /// Part of a name, in any case.
    #[schema(default = json!(null))]
    pub search: Option<String>,
    /// `root`: only entry points without a parent; `non_root`: only those another trace started; empty: both.
    #[schema(default = json!(null))]
    pub root_filter: Option<String>,
    #[schema(default = json!(null))]
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
