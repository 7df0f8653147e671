//! `POST /api/ai-conversations/grouped`, `POST /api/ai-users/grouped`: lists of conversations and users.
//!
//! The store sorts by the aggregate of the order and cuts the page; a second plan reads all aggregates of the page.

use serde::de::DeserializeOwned;
use tidewatch_store::plan::{Aggregate, Filter, Function, GroupOrder, Key};
use tidewatch_store::tables::Table;

use super::ai_flags;
use super::ai_metrics::counted_with;
use super::ai_totals;
use super::answer::{Answer, Row};
use super::entities::ListBody;
use super::executor::Executor;
use super::filters;
use super::language::{self, RowKind};
use super::page::{self, Paging};
use super::plans::{self, Window};
use super::time::Range;
use super::views::ai::AiListRequest;
use super::views::ai_conversation::*;
use super::views::page::Page;
use crate::error::QueryError;
use tidewatch_accounts::Project;

/// Output columns.
const ORDER: &str = "order";
const TOTAL: &str = "total";
const FIRST_NAME: &str = "first_name";
const LATEST_USER: &str = "latest_user";
const CONVERSATIONS: &str = "conversations";

fn aggregate(function: Function) -> Aggregate {
    function.named(ORDER)
}

fn present(column: &'static str) -> Filter {
    filters::not(Filter::IsNull { column })
}

/// `POST /api/ai-conversations/grouped`. `search`: part of the id, the name, the model or the user.
pub async fn conversations(
    executor: &Executor,
    project: &Project,
    request: AiListRequest<ConversationOrder>,
) -> Result<Page<AiConversation>, QueryError> {
    const SEARCHED: [&str; 4] = ["conversation_id", "name", "model", "user_id"];
    let list = List::read(executor, project, request, "conversation_id", &SEARCHED, Filter::True)?;
    let by = match list.order {
        ConversationOrder::LastSeen => aggregate(Function::Max("time")),
        ConversationOrder::FirstSeen => aggregate(Function::Min("time")),
        ConversationOrder::Count => aggregate(Function::Weight),
        ConversationOrder::TotalTokens => aggregate(Function::Sum("total_tokens")).only(counted_with("total_tokens")),
        ConversationOrder::TotalCost => aggregate(Function::Sum("total_cost")).only(counted_with("total_cost")),
        ConversationOrder::ErrorCount => aggregate(Function::Weight).only(filters::is("is_error")),
        ConversationOrder::FlaggedCount => Aggregate { name: ORDER, ..ai_flags::flagged() },
    };
    let (ids, total) = list.page(executor, by).await?;
    let filter = list.filter.clone().and(filters::strings("conversation_id", &ids));
    let (answer, models) = tokio::try_join!(
        rows(executor, project, list.range, filter.clone()),
        ai_totals::models(executor, project.number, list.range, filter, "conversation_id"),
    )?;
    let view = |row: Row<'_>| {
        let id = row.text("conversation_id");
        conversation(row, models.get(id).cloned().unwrap_or_default())
    };
    let found = sorted(&ids, &answer, "conversation_id");
    Ok(list.paging.page(found.into_iter().map(view).collect(), total))
}

/// Queries a conversation with its sums; `None` when it has no row in the range.
pub async fn totals(
    executor: &Executor,
    project: &Project,
    range: Range,
    id: &str,
) -> Result<Option<AiConversation>, QueryError> {
    let filter = filters::text("conversation_id", id);
    let (answer, mut models) = tokio::try_join!(
        rows(executor, project, range, filter.clone()),
        ai_totals::models(executor, project.number, range, filter, "conversation_id"),
    )?;
    Ok(answer.first().map(|row| conversation(row, models.remove(id).unwrap_or_default())))
}

async fn rows(executor: &Executor, project: &Project, range: Range, filter: Filter) -> Result<Answer, QueryError> {
    let mut aggregates = ai_totals::aggregates();
    aggregates.push(Function::Earliest { column: "name" }.named(FIRST_NAME));
    aggregates.push(Function::Latest { column: "user_id" }.named(LATEST_USER).only(present("user_id")));
    let keys = vec![Key::column("conversation_id")];
    executor.run(plans::groups(Table::AiTraces, &[project.number], range, filter, keys, aggregates)).await
}

fn conversation(row: Row<'_>, models: Vec<String>) -> AiConversation {
    AiConversation {
        conversation_id: row.text("conversation_id").to_owned(),
        trace_name: row.text(FIRST_NAME).to_owned(),
        user_id: row.text(LATEST_USER).to_owned(),
        totals: ai_totals::read(row, models),
    }
}

/// `POST /api/ai-users/grouped`. `search`: part of the user's id. Rows without a user are not listed.
pub async fn users(
    executor: &Executor,
    project: &Project,
    request: AiListRequest<AiUserOrder>,
) -> Result<Page<AiUser>, QueryError> {
    let list = List::read(executor, project, request, "user_id", &["user_id"], present("user_id"))?;
    let by = match list.order {
        AiUserOrder::TotalCost => aggregate(Function::Sum("total_cost")).only(counted_with("total_cost")),
        AiUserOrder::LastSeen => aggregate(Function::Max("time")),
        AiUserOrder::Count => aggregate(Function::Weight),
        AiUserOrder::ConversationCount => aggregate(Function::Distinct("conversation_id")),
        AiUserOrder::TotalTokens => aggregate(Function::Sum("total_tokens")).only(counted_with("total_tokens")),
        AiUserOrder::ErrorCount => aggregate(Function::Weight).only(filters::is("is_error")),
        AiUserOrder::FlaggedCount => Aggregate { name: ORDER, ..ai_flags::flagged() },
    };
    let (ids, total) = list.page(executor, by).await?;
    let filter = list.filter.clone().and(filters::strings("user_id", &ids));
    let mut aggregates = ai_totals::aggregates();
    aggregates.push(Function::Distinct("conversation_id").named(CONVERSATIONS));
    let keys = vec![Key::column("user_id")];
    let plan = plans::groups(Table::AiTraces, &[project.number], list.range, filter.clone(), keys, aggregates);
    let (answer, models) = tokio::try_join!(
        executor.run(plan),
        ai_totals::models(executor, project.number, list.range, filter, "user_id"),
    )?;
    let view = |row: Row<'_>| AiUser {
        user_id: row.text("user_id").to_owned(),
        conversation_count: row.count(CONVERSATIONS),
        totals: ai_totals::read(row, models.get(row.text("user_id")).cloned().unwrap_or_default()),
    };
    let found = sorted(&ids, &answer, "user_id");
    Ok(list.paging.page(found.into_iter().map(view).collect(), total))
}

/// The rows of an answer in the order of `ids`.
fn sorted<'a>(ids: &[String], answer: &'a Answer, column: &'static str) -> Vec<Row<'a>> {
    let mut found: Vec<Row<'a>> = answer.rows().collect();
    found.sort_by_key(|row| ids.iter().position(|id| id == row.text(column)));
    found
}

/// A validated request for groups by one column.
struct List<O> {
    project: u32,
    column: &'static str,
    range: Range,
    paging: Paging,
    order: O,
    is_descending: bool,
    filter: Filter,
}

impl<O: DeserializeOwned + Default> List<O> {
    fn read(
        executor: &Executor,
        project: &Project,
        request: AiListRequest<O>,
        column: &'static str,
        searched: &[&'static str],
        also: Filter,
    ) -> Result<List<O>, QueryError> {
        let (list, of_body) = request.split();
        let now = executor.context.clock.now_ns();
        let contains = |column: &&'static str| filters::contains(column, list.search.as_deref());
        let search = match list.search.as_deref().map(str::trim).unwrap_or("") {
            "" => Filter::True,
            _ => Filter::Any(searched.iter().map(contains).collect()),
        };
        let filter = filters::root(list.root_filter.as_deref())?
            .and(language::filter(RowKind::AiTrace, list.query.as_deref())?)
            .and(of_body)
            .and(search)
            .and(also);
        Ok(List {
            project: project.number,
            column,
            range: Range::of_list(list.from_date.as_deref(), list.to_date.as_deref(), now)?,
            paging: Paging::read(list.pagination)?,
            order: page::order(&list.order_by)?,
            is_descending: page::is_descending(list.sort_direction),
            filter,
        })
    }

    /// The values of the column on the page, in order, and the number of all values.
    async fn page(&self, executor: &Executor, by: Aggregate) -> Result<(Vec<String>, u64), QueryError> {
        let plan = |keys, aggregates, order, window: Window| {
            let filter = self.filter.clone();
            plans::ordered_groups(Table::AiTraces, &[self.project], self.range, filter, keys, aggregates, order, window)
        };
        let order = vec![GroupOrder { by: ORDER, descending: self.is_descending }];
        let page = plan(vec![Key::column(self.column)], vec![by], order, self.paging.window());
        let total = plan(vec![], vec![Function::Distinct(self.column).named(TOTAL)], vec![], Window::first(1));
        let (page, total) = tokio::try_join!(executor.run(page), executor.run(total))?;
        let ids = page.rows().map(|row| row.text(self.column).to_owned()).collect();
        Ok((ids, total.first().map_or(0, |row| row.count(TOTAL))))
    }
}
