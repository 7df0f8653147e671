//! Single rows: the list of a project, and what a list body means for them.

use tidewatch_store::plan::{AttributeScope, Filter, Order, Plan};

use super::{EntityKind, ListBody};
use crate::answer::Answer;
use crate::ask::{self, Ask};
use crate::error::QueryError;
use crate::filters;
use crate::page::{self, Paging};
use crate::time::Range;
use crate::views::page::{ListRequest, Page};
use tidewatch_accounts::Project;

/// `POST /api/...`: a page of single rows, whatever their name.
pub async fn list<K: EntityKind>(
    ask: &Ask,
    project: &Project,
    body: impl ListBody<K::RowOrder>,
) -> Result<Page<K::Row>, QueryError> {
    let (request, narrowed) = body.split();
    let list = RowList::read::<K>(ask, &request)?;
    let filter = list.filter.clone().and(K::search(request.search.as_deref())).and(narrowed);
    let (answer, total) = ask.page(list.plan::<K>(project.number, filter)).await?;
    Ok(list.paging.page(views::<K>(&answer, project), total))
}

/// A checked list body.
pub(super) struct RowList {
    pub range: Range,
    pub paging: Paging,
    order: Vec<Order>,
    /// `rootFilter`.
    filter: Filter,
}

impl RowList {
    pub fn read<K: EntityKind>(ask: &Ask, request: &ListRequest<K::RowOrder>) -> Result<RowList, QueryError> {
        let now = ask.context.clock.now_ns();
        let column = K::column(page::order(&request.order_by)?);
        Ok(RowList {
            range: Range::of_list(request.from_date.as_deref(), request.to_date.as_deref(), now)?,
            paging: Paging::read(request.pagination)?,
            order: vec![Order { column, descending: page::is_descending(request.sort_direction) }],
            filter: filters::root(request.root_filter.as_deref())?,
        })
    }

    /// The rows on the page, with every column.
    fn plan<K: EntityKind>(&self, project: u32, filter: Filter) -> Plan {
        let (columns, order) = (ask::all_columns(K::TABLE), self.order.clone());
        ask::rows(K::TABLE, &[project], self.range, filter, columns, order, self.paging.window())
    }

    /// The page, without a count of all rows.
    pub async fn rows<K: EntityKind>(
        &self,
        ask: &Ask,
        project: &Project,
        filter: Filter,
    ) -> Result<Vec<K::Row>, QueryError> {
        let answer = ask.ask(self.plan::<K>(project.number, filter)).await?;
        Ok(views::<K>(&answer, project))
    }

    /// The rows of one name; `search` is part of an attribute's value.
    pub fn of_name<O>(&self, name: &str, request: &ListRequest<O>) -> Filter {
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

fn views<K: EntityKind>(answer: &Answer, project: &Project) -> Vec<K::Row> {
    answer.rows().map(|row| K::row(row, project.id)).collect()
}
