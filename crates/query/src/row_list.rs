//! What a list body means for single rows of Endpoints, Tasks or AI Traces.

use tidewatch_store::plan::{AttributeScope, Filter, Order, Plan};
use tidewatch_store::tables::Table;

use super::ask::{self, Ask};
use super::filters;
use super::page::{self, Paging};
use super::time::Range;
use super::views::page::ListRequest;
use crate::error::QueryError;

/// A checked list body.
pub struct RowList {
    pub range: Range,
    pub paging: Paging,
    order: Vec<Order>,
    /// `rootFilter`.
    pub filter: Filter,
}

impl RowList {
    /// `orders` pairs the API's names with columns; the first is the default.
    pub fn read(ask: &Ask, request: &ListRequest, orders: &[(&str, &'static str)]) -> Result<RowList, QueryError> {
        let now = ask.context.clock.now_ns();
        let column = page::order(request.order_by.as_deref(), orders)?;
        Ok(RowList {
            range: Range::of_list(request.from_date.as_deref(), request.to_date.as_deref(), now)?,
            paging: Paging::read(request.pagination)?,
            order: vec![Order { column, descending: page::is_descending(request.sort_direction) }],
            filter: filters::root(request.root_filter.as_deref())?,
        })
    }

    /// The rows on the page, with every column.
    pub fn plan(&self, table: Table, project: u32, filter: Filter) -> Plan {
        let (columns, order) = (ask::all_columns(table), self.order.clone());
        ask::rows(table, &[project], self.range, filter, columns, order, self.paging.window())
    }

    /// The rows of one name, `search` being part of an attribute's value.
    pub fn of_name(&self, name: &str, request: &ListRequest) -> Filter {
        let named = self.filter.clone().and(filters::text("name", name));
        match request.search.as_deref().map(str::trim) {
            Some(needle) if !needle.is_empty() => {
                let needle = needle.to_owned();
                named.and(Filter::AnyAttributeContains { scope: AttributeScope::Record, needle })
            }
            _ => named,
        }
    }
}
