//! Grouping rules of projects: what a rule would do to the exceptions of the last seven days.

use std::collections::{HashMap, HashSet};

use tidewatch_accounts::Project;
use tidewatch_domain::query_language::ParseError;
use tidewatch_domain::rules::group_versions::GroupVersions;
use tidewatch_domain::rules::grouping_rules::{GroupingRule, GroupingRuleError, GroupingRules};
use tidewatch_domain::units::DAY_NS;
use tidewatch_limits as limits;
use tidewatch_store::tables::Table;

use crate::error::QueryError;
use crate::executor::Executor;
use crate::filters;
use crate::issues::Families;
use crate::language::LIMITS;
use crate::plans::{self, Window};
use crate::row_groups::group_of_row;
use crate::time::Range;
use crate::views::grouping_rules::*;

/// Time of a preview, days.
const PREVIEW_DAYS: i64 = 7;
/// The columns that rules read, and the group.
pub const COLUMNS: [&str; 9] = [
    "group",
    "exception_type",
    "message",
    "stack_trace",
    "server_name",
    "app_version",
    "attributes",
    "event_attributes",
    "resource",
];

/// `GET /api/grouping-rules`.
pub fn list(project: &Project) -> GroupingRuleList {
    let view = |rule: &GroupingRule| {
        let GroupingRule { id, query, template } = rule.clone();
        GroupingRuleView { id, query, template }
    };
    GroupingRuleList { data: project.grouping_rules.rules().map(view).collect(), max: limits::GROUPING_RULES_MAX }
}

/// The rules of a project with the rule of a request, and the number of that rule; 0 for a new one.
fn with_rule(project: &Project, request: &GroupingRuleRequest) -> Result<(GroupingRules, i64), QueryError> {
    let (query, template) = (request.query.trim().to_owned(), request.template.trim().to_owned());
    if template.chars().count() > limits::GROUPING_TEMPLATE_CHARS_MAX {
        let most = limits::GROUPING_TEMPLATE_CHARS_MAX;
        return Err(QueryError::unprocessable(format!("a template has at most {most} characters")));
    }
    let rule = GroupingRule { id: request.id.unwrap_or(0), query, template };
    let mut rules: Vec<GroupingRule> = project.grouping_rules.rules().cloned().collect();
    match request.id {
        Some(id) => {
            let known = rules.iter_mut().find(|rule| rule.id == id);
            *known.ok_or_else(|| QueryError::not_found("no such grouping rule"))? = rule.clone();
        }
        None => rules.push(rule.clone()),
    }
    let refused = |error: GroupingRuleError| match error.field {
        "query" => QueryError::from(ParseError { message: error.message, position: error.position }),
        field => QueryError::unprocessable(format!("{field}: {}", error.message)),
    };
    // The error is about the rule of the request.
    GroupingRules::parse(std::slice::from_ref(&rule), LIMITS).map_err(refused)?;
    Ok((GroupingRules::parse(&rules, LIMITS).map_err(refused)?, rule.id))
}

/// Number of exceptions by their Issue, and by the group and the number of the rule that makes it; `None` without one.
type Counts = HashMap<(u64, Option<(u64, i64)>), u64>;

/// The exceptions of the time of a preview.
struct Read {
    rules: GroupingRules,
    versions: GroupVersions,
    families: Families,
    counts: Counts,
    events: u64,
    is_partial: bool,
}

/// `POST /api/grouping-rules/preview`.
pub async fn preview(
    executor: &Executor,
    project: &Project,
    request: &GroupingRuleRequest,
) -> Result<GroupingRulePreview, QueryError> {
    let (rules, id) = with_rule(project, request)?;
    let executor = &executor.unfiltered();
    let now = executor.context.clock.now_ns();
    let range = Range { from: now.saturating_sub(PREVIEW_DAYS * DAY_NS), to: i64::MAX };
    let families = Families::load(executor, project.number).await?;
    let filter = filters::not(filters::is("is_message"));
    let plan = plans::rows(
        Table::Exceptions,
        &[project.number],
        range,
        filter,
        COLUMNS.to_vec(),
        vec![],
        Window::first(usize::MAX),
    );
    let versions = executor.context.grouping;
    let read = Read { rules, versions, families, counts: HashMap::new(), events: 0, is_partial: false };
    let read = executor
        .read(plan, read, |read, answer| {
            for row in answer.rows() {
                if read.events >= limits::GROUPING_PREVIEW_EVENTS_MAX {
                    read.is_partial = true;
                    return false;
                }
                let before = read.families.primary(row.u64("group"));
                let (group, rule) = group_of_row(&read.rules, read.versions, row);
                *read.counts.entry((before, rule.map(|rule| (group, rule)))).or_default() += 1;
                read.events += 1;
            }
            true
        })
        .await?;
    Ok(effect(&read.counts, id, read.events, read.is_partial))
}

fn effect(counts: &Counts, id: i64, read_events: u64, partial: bool) -> GroupingRulePreview {
    let mut sources: HashMap<u64, HashSet<u64>> = HashMap::new();
    let mut sizes: HashMap<u64, u64> = HashMap::new();
    let mut parts: HashMap<u64, HashSet<Option<u64>>> = HashMap::new();
    for ((before, after), count) in counts {
        parts.entry(*before).or_default().insert(after.map(|(group, _)| group));
        if let Some((group, rule)) = after
            && *rule == id
        {
            sources.entry(*group).or_default().insert(*before);
            *sizes.entry(*group).or_default() += count;
        }
    }
    let touched: HashSet<u64> = sources.values().flatten().copied().collect();
    let joins = || sources.iter().filter(|(_, from)| from.len() > 1);
    let greatest = sizes.values().copied().max().unwrap_or(0);
    let warning = match greatest * 2 > read_events {
        true => format!("one Issue would have {greatest} of {read_events} exceptions"),
        false => String::new(),
    };
    GroupingRulePreview {
        events: sizes.values().sum(),
        joined_issues: joins().map(|(_, from)| from.len() as u64).sum(),
        joined_events: joins().map(|(group, _)| sizes[group]).sum(),
        split_issues: touched.iter().filter(|before| parts[before].len() > 1).count() as u64,
        new_hashes: sources.len() as u64,
        read_events,
        partial,
        warning,
    }
}

/// Checks a rule of a request: its syntax, and that it makes few enough Issues.
pub async fn check(executor: &Executor, project: &Project, request: &GroupingRuleRequest) -> Result<(), QueryError> {
    let found = preview(executor, project, request).await?;
    if found.new_hashes > limits::GROUPING_PREVIEW_HASHES_MAX {
        return Err(QueryError::unprocessable(format!(
            "the rule would make {} Issues of the last seven days; at most {} are allowed: its template has a value that is unique",
            found.new_hashes,
            limits::GROUPING_PREVIEW_HASHES_MAX
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    // Issues: "would join 4 Issues (1,204 events), split 0".
    #[test]
    fn effects_of_a_rule() {
        let rule = |group: u64| Some((group, 7));
        let of = |counts: Counts| {
            let events = counts.values().sum();
            effect(&counts, 7, events, false)
        };
        let joins = of([((1, rule(9)), 10), ((2, rule(9)), 5), ((3, None), 40), ((4, Some((8, 1))), 2)].into());
        assert_eq!((joins.events, joins.joined_issues, joins.joined_events), (15, 2, 15));
        assert_eq!((joins.split_issues, joins.new_hashes, joins.warning.as_str()), (0, 1, ""));
        let splits = of([((1, rule(9)), 10), ((1, rule(8)), 5), ((2, None), 40)].into());
        assert_eq!((splits.joined_issues, splits.split_issues, splits.new_hashes), (0, 1, 2));
        let part = of([((1, rule(9)), 10), ((1, None), 5)].into());
        assert_eq!((part.split_issues, part.warning.as_str()), (1, "one Issue would have 10 of 15 exceptions"));
    }
}
