//! Lists of rows.

use tidewatch_store::plan::{AttributeScope, Filter, Order, Plan};
use uuid::Uuid;

use super::{EntityKind, ListBody};
use crate::answer::{Answer, Row};
use crate::error::QueryError;
use crate::executor::Executor;
use crate::filters;
use crate::ids;
use crate::language;
use crate::page::{self, Paging};
use crate::plans;
use crate::time::Range;
use crate::views::page::{ListRequest, Page};
use tidewatch_accounts::Project;

/// `POST /api/...`: a page of rows, regardless of name.
pub async fn list<K: EntityKind>(
    executor: &Executor,
    project: &Project,
    body: impl ListBody<K::RowOrder>,
) -> Result<Page<K::Row>, QueryError> {
    let (request, body_filter) = body.split();
    let list = RowList::read::<K>(executor, &request)?;
    let filter = list.filter.clone().and(K::search(request.search.as_deref())).and(body_filter);
    let (answer, total) = executor.page(list.plan::<K>(project.number, filter)).await?;
    Ok(list.paging.page(views::<K>(&answer, project), total))
}

/// A validated list request.
pub(super) struct RowList {
    /// Time range of the rows.
    pub range: Range,
    /// The requested page.
    pub paging: Paging,
    order: Vec<Order>,
    /// The filter of `rootFilter` and `query`.
    filter: Filter,
}

impl RowList {
    /// Validates a request.
    pub fn read<K: EntityKind>(executor: &Executor, request: &ListRequest<K::RowOrder>) -> Result<RowList, QueryError> {
        let now = executor.context.clock.now_ns();
        let column = K::column(page::order(&request.order_by)?);
        Ok(RowList {
            range: Range::of_list(request.from_date.as_deref(), request.to_date.as_deref(), now)?,
            paging: Paging::read(request.pagination)?,
            order: vec![Order { column, descending: page::is_descending(request.sort_direction) }],
            filter: filters::root(request.root_filter.as_deref())?
                .and(language::filter(K::ROWS, request.query.as_deref())?),
        })
    }

    /// The plan of the rows on the page, with all columns.
    fn plan<K: EntityKind>(&self, project: u32, filter: Filter) -> Plan {
        let (columns, order) = (plans::all_columns(K::TABLE), self.order.clone());
        plans::rows(K::TABLE, &[project], self.range, filter, columns, order, self.paging.window())
    }

    /// Queries the rows on the page, without the number of all rows.
    pub async fn rows<K: EntityKind>(
        &self,
        executor: &Executor,
        project: &Project,
        filter: Filter,
    ) -> Result<Vec<K::Row>, QueryError> {
        let answer = executor.run(self.plan::<K>(project.number, filter)).await?;
        Ok(views::<K>(&answer, project))
    }

    /// The filter on rows of one name with an attribute value that contains `search`.
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

/// The id of the span of a row in the API's form. `project`: its id.
pub fn span_id(row: Row<'_>, project: Uuid) -> String {
    ids::format_entity_span(project, row.id16("row_id"), row.trace_id("trace_id"), row.span_id("span_id"))
}

fn views<K: EntityKind>(answer: &Answer, project: &Project) -> Vec<K::Row> {
    answer.rows().map(|row| K::row(row, project.id)).collect()
}
