//! Stored rows as the API shows them.

use serde_json::Value;

use super::people::People;
use crate::contexts::Accounts;
use tidewatch_alerts::oncall::page_views::PageView;
use tidewatch_alerts::oncall::schedule::Shift;
use tidewatch_alerts::oncall::views::*;
use tidewatch_alerts::oncall::{OncallOverride, OncallPage, OncallPolicy, OncallSchedule, OncallTeam};
use tidewatch_query::time::to_rfc3339;

fn json(stored: &str) -> Value {
    serde_json::from_str(stored).unwrap_or_default()
}

pub fn team(accounts: &Accounts, organization: i64, people: &People, team: OncallTeam) -> TeamView {
    let members: Vec<OncallPerson> = team.members.iter().filter_map(|user| people.person(*user)).collect();
    let projects = team.projects.iter().filter_map(|number| accounts.control.projects.project_by_number(*number));
    let projects: Vec<TeamProject> =
        projects.map(|one| TeamProject { project_id: one.id.to_string(), name: one.name.clone() }).collect();
    TeamView {
        id: team.id,
        organization_id: organization,
        name: team.name,
        description: team.description,
        member_count: members.len(),
        project_count: projects.len(),
        members,
        projects,
        schedule_count: team.schedules,
        created_at: to_rfc3339(team.created_ns),
        updated_at: to_rfc3339(team.updated_ns),
    }
}

pub fn schedule(organization: i64, schedule: &OncallSchedule) -> ScheduleView {
    ScheduleView {
        id: schedule.id,
        organization_id: organization,
        team_id: schedule.team,
        name: schedule.name.clone(),
        description: schedule.description.clone(),
        timezone: schedule.timezone.clone(),
        definition: json(&schedule.definition),
        created_at: to_rfc3339(schedule.created_ns),
        updated_at: to_rfc3339(schedule.updated_ns),
    }
}

pub fn oncall_override(one: &OncallOverride) -> OverrideView {
    OverrideView {
        id: one.id,
        schedule_id: one.schedule,
        user_id: one.user,
        start_at: to_rfc3339(one.start_ns),
        end_at: to_rfc3339(one.end_ns),
        created_by: one.created_by,
        created_at: to_rfc3339(one.created_ns),
    }
}

pub fn shift(shift: Shift) -> ShiftView {
    ShiftView {
        user_id: shift.user,
        start: to_rfc3339(shift.start_ns),
        end: to_rfc3339(shift.end_ns),
        is_override: shift.is_override,
    }
}

pub fn policy(organization: i64, policy: OncallPolicy) -> PolicyView {
    PolicyView {
        id: policy.id,
        organization_id: organization,
        name: policy.name,
        definition: json(&policy.definition),
        created_at: to_rfc3339(policy.created_ns),
        updated_at: to_rfc3339(policy.updated_ns),
    }
}

pub fn page(accounts: &Accounts, people: &People, page: &OncallPage) -> PageView {
    let project = accounts.control.projects.project_by_number(page.project).map(|project| project.id.to_string());
    PageView {
        id: page.id,
        organization_id: page.organization,
        project_id: project.unwrap_or_default(),
        policy_id: page.policy,
        policy_name: page.policy_name.clone(),
        policy_snapshot: json(&page.policy_definition),
        rule_name: page.rule_name.clone(),
        rule_type: page.rule_type.clone(),
        subject: page.subject.clone(),
        body: page.body.clone(),
        url: page.path.clone(),
        severity: page.severity.name().to_owned(),
        urgency: if page.is_urgent { "high" } else { "low" }.to_owned(),
        status: page.status.clone(),
        event_count: page.event_count,
        last_event_at: to_rfc3339(page.last_event_ns),
        escalation_level: page.progress.step,
        repeat_iteration: page.progress.round,
        next_escalation_at: page.progress.next_ns.map(to_rfc3339),
        acknowledged_by: page.acknowledged_by,
        acknowledged_by_name: page.acknowledged_by.and_then(|user| people.name(user)),
        acknowledged_via: page.acknowledged_via.clone(),
        acknowledged_at: page.acknowledged_ns.map(to_rfc3339),
        resolved_by: page.resolved_by,
        resolved_by_name: page.resolved_by.and_then(|user| people.name(user)),
        resolved_at: page.resolved_ns.map(to_rfc3339),
        created_at: to_rfc3339(page.opened_ns),
        issue_hash: page.issue_hash().unwrap_or_default().to_owned(),
    }
}
