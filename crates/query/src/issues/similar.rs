//! Issues that are similar to one. The rule is `domain::rules::issue_similarity`.

use std::collections::HashMap;

use tidewatch_accounts::Project;
use tidewatch_domain::rules::issue_group::issue_title;
use tidewatch_domain::rules::issue_similarity::{Compared, SIMILAR, issue_similarity};
use tidewatch_limits as limits;
use tidewatch_store::plan::{Filter, Function, Key};
use tidewatch_store::tables::Table;

use super::columns::GROUP;
use super::family::Families;
use crate::answer::{Answer, Row};
use crate::error::QueryError;
use crate::executor::Executor;
use crate::plans::{self, Window};
use crate::time::{self, Range};
use crate::views::triage::{SimilarIssue, SimilarIssues};
use crate::{filters, ids};

/// Similar Issues in one answer.
const LISTED_MAX: usize = 10;
/// Output columns.
const LAST: &str = "last";
const LATEST: &str = "latest";

/// `GET /api/exception-stack-traces/{hash}/similar`: of the Issues with the same exception type that occurred last, those
/// that are similar, the most similar first.
pub async fn list(executor: &Executor, project: &Project, hash: u64) -> Result<SimilarIssues, QueryError> {
    let families = Families::load(executor, project.number).await?;
    let primary = families.primary(hash);
    let own = latest(executor, project, families.filter([primary]), 1).await?;
    let own = own.first().ok_or_else(|| QueryError::not_found("there is no such issue in this project"))?;
    let exception_type = own.text("exception_type");
    let same_type = filters::text("exception_type", exception_type);
    let others = filters::not(families.filter([primary])).and(same_type);
    let found = latest(executor, project, others, limits::SIMILAR_ISSUES_COMPARED_MAX).await?;
    let one = Compared { exception_type, message: own.text("message"), stack_trace: own.text("stack_trace") };
    let of_row = |row: Row<'_>| {
        let (message, stack_trace) = (row.text("message"), row.text("stack_trace"));
        SimilarIssue {
            exception_hash: ids::format_hash(families.primary(row.u64(GROUP))),
            title: issue_title(exception_type, message, stack_trace),
            exception_type: exception_type.to_owned(),
            message: message.to_owned(),
            last_seen: time::to_rfc3339(row.int("time")),
            similarity: issue_similarity(one, Compared { exception_type, message, stack_trace }),
        }
    };
    let mut best: HashMap<String, SimilarIssue> = HashMap::new();
    for one in found.rows().map(of_row).filter(|one| one.similarity >= SIMILAR) {
        let known = best.get(&one.exception_hash).map_or(0.0, |known| known.similarity);
        if one.similarity > known {
            best.insert(one.exception_hash.clone(), one);
        }
    }
    let mut data: Vec<SimilarIssue> = best.into_values().collect();
    data.sort_by(|one, other| {
        other.similarity.total_cmp(&one.similarity).then_with(|| one.exception_hash.cmp(&other.exception_hash))
    });
    data.truncate(LISTED_MAX);
    Ok(SimilarIssues { data })
}

/// The latest occurrence of each of the hashes that occurred last.
async fn latest(executor: &Executor, project: &Project, filter: Filter, most: usize) -> Result<Answer, QueryError> {
    let plan = plans::ordered_groups(
        Table::Exceptions,
        &[project.number],
        Range::ALL,
        filter.clone(),
        vec![Key::column(GROUP)],
        vec![Function::Max("time").named(LAST), Function::Latest { column: "row_id" }.named(LATEST)],
        vec![plans::greatest(LAST)],
        Window::first(most),
    );
    let groups = executor.run(plan).await?;
    let rows = filters::ids("row_id", groups.rows().map(|row| row.id16(LATEST)));
    let columns = vec![GROUP, "time", "exception_type", "message", "stack_trace"];
    let order = vec![plans::descending("time")];
    let from = groups.rows().map(|row| row.int(LAST)).min().unwrap_or(0);
    let range = Range { from, to: i64::MAX };
    let window = Window::first(most);
    executor
        .run(plans::rows(Table::Exceptions, &[project.number], range, filter.and(rows), columns, order, window))
        .await
}
