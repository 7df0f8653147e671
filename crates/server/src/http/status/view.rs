//! Conversions of what is stored to views.

use tidewatch_alerts::incidents::Incident;
use tidewatch_alerts::incidents::views::{IncidentView, MarkdownNode};
use tidewatch_alerts::markdown::Node;
use tidewatch_alerts::status_pages::views::*;
use tidewatch_alerts::status_pages::{MaintenanceWindow, PublicPage, StatusPage, rfc3339};

use crate::contexts::Accounts;

pub fn incident(accounts: &Accounts, incident: &Incident) -> IncidentView {
    let project = incident.project.and_then(|number| accounts.control.projects.project_by_number(number));
    IncidentView {
        id: incident.id,
        title: incident.title.clone(),
        severity: incident.severity.name().to_owned(),
        status: incident.status.name().to_owned(),
        automatic: incident.is_automatic,
        project_id: project.as_ref().map(|project| project.id.to_string()),
        project_name: project.map(|project| project.name.clone()),
        started_at: rfc3339(incident.started_ns),
        resolved_at: incident.resolved_ns.map(rfc3339),
        updated_at: rfc3339(incident.updated_ns),
    }
}

pub fn markdown(nodes: Vec<Node>) -> Vec<MarkdownNode> {
    let node = |node: Node| MarkdownNode {
        kind: serde_json::to_value(node.kind)
            .ok()
            .and_then(|kind| kind.as_str().map(str::to_owned))
            .unwrap_or_default(),
        text: node.text,
        level: node.level,
        href: node.href,
        children: markdown(node.children),
    };
    nodes.into_iter().map(node).collect()
}

pub fn maintenance(window: &MaintenanceWindow) -> MaintenanceView {
    MaintenanceView {
        id: window.id,
        title: window.title.clone(),
        description: window.description.clone(),
        starts_at: rfc3339(window.starts_ns),
        ends_at: rfc3339(window.ends_ns),
    }
}

pub fn page(page: StatusPage, windows: &[MaintenanceWindow]) -> StatusPageView {
    let settings = page.settings;
    let mut groups: Vec<StatusGroup> = Vec::new();
    for component in settings.components.iter().filter(|component| !component.group.is_empty()) {
        match groups.iter_mut().find(|group| group.name == component.group) {
            Some(group) => group.check_ids.push(component.check_id),
            None => groups.push(StatusGroup { name: component.group.clone(), check_ids: vec![component.check_id] }),
        }
    }
    StatusPageView {
        id: page.id,
        name: settings.name,
        slug: settings.slug,
        is_public: settings.is_public,
        check_ids: settings.components.iter().map(|component| component.check_id).collect(),
        description: settings.description,
        custom_domain: settings.custom_domain,
        groups,
        has_logo: page.logo.is_some(),
        subscribers: page.subscribers,
        maintenance: windows.iter().map(maintenance).collect(),
        created_at: rfc3339(page.created_ns),
        updated_at: rfc3339(page.updated_ns),
    }
}

pub fn public(page: &PublicPage) -> PublicStatus {
    let checks = page.groups.iter().flat_map(|group| group.checks.iter().map(|check| (&group.name, check)));
    let checks = checks.map(|(group, check)| PublicCheck {
        name: check.monitor.name.clone(),
        check_type: check.monitor.check_type.clone(),
        status: check.monitor.state.name().to_owned(),
        group: group.clone(),
        uptime_pct: check.uptime_percent(),
        days: check
            .days
            .iter()
            .map(|day| PublicDay {
                bucket: rfc3339(day.day_ns),
                total: day.total,
                up: day.up,
                missed: day.missed,
                avg_latency_ms: 0,
                max_latency_ms: 0,
            })
            .collect(),
        incidents: check
            .outages
            .iter()
            .map(|outage| PublicOutage {
                started_at: rfc3339(outage.started_ns),
                resolved_at: outage.resolved_ns.map(rfc3339),
            })
            .collect(),
    });
    let past_incidents = page.incidents.iter().map(|one| PublicPastIncident {
        title: one.incident.title.clone(),
        started_at: rfc3339(one.incident.started_ns),
        resolved_at: one.incident.resolved_ns.map(rfc3339),
        updates: one
            .updates
            .iter()
            .rev()
            .map(|update| PublicUpdate {
                status: update.status.name().to_owned(),
                message: update.message.clone(),
                created_at: rfc3339(update.at_ns),
            })
            .collect(),
    });
    PublicStatus {
        name: page.name.clone(),
        description: page.description.clone(),
        has_logo: page.logo_ns.is_some(),
        checks: checks.collect(),
        past_incidents: past_incidents.collect(),
        maintenance: page.maintenance.iter().map(maintenance).collect(),
        generated_at: rfc3339(page.generated_ns),
    }
}
