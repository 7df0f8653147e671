//! Alerts that fire together become one incident. A pure function over notifications: the same notifications give the
//! same incidents, in however many steps they are grouped.

use std::time::Duration;

use tidewatch_limits as limits;

use super::{AlertFact, GroupedAlert, GroupedIncident};
use crate::channels::{AlertStatus, Severity};
use crate::rules::config::RuleConfig;

/// Groups `facts` in their order, then resolves the incidents whose last alert ended `grace` before `now_ns`. New
/// incidents are appended.
///
/// - An alert that fires joins the open incident that it belonged to; else the latest open one of its project whose
///   latest alert is at most [`limits::INCIDENT_GROUP_WINDOW`] away; else it opens one. An alert of severity info opens
///   none.
/// - An alert that ends does so in the incident where it fires, open or not. One of data that arrived, such as a new
///   Issue, has no end: it is over when it has fired.
/// - Incidents that a person has opened are resolved by a person.
pub fn group(incidents: &mut Vec<GroupedIncident>, facts: &[AlertFact], now_ns: i64, grace: Duration) {
    let grace_ns = i64::try_from(grace.as_nanos()).unwrap_or(i64::MAX);
    for fact in facts {
        // What was over before this notification does not take it.
        resolve_quiet(incidents, fact.at_ns.min(now_ns), grace_ns);
        match fact.status {
            AlertStatus::Firing => fire(incidents, fact),
            AlertStatus::Resolved => end(incidents, fact),
        }
    }
    resolve_quiet(incidents, now_ns, grace_ns);
}

/// Whether alerts of this type of rule are over when they have fired.
pub fn is_momentary(rule_type: &str) -> bool {
    RuleConfig::ARRIVAL_TYPES.contains(&rule_type)
}

fn fire(incidents: &mut Vec<GroupedIncident>, fact: &AlertFact) {
    let is_open =
        |incident: &&mut GroupedIncident| incident.resolved_ns.is_none() && incident.organization == fact.organization;
    let has_alert = |incident: &&mut GroupedIncident| incident.alerts.iter().any(|alert| alert.key == fact.key);
    let window_ns = limits::INCIDENT_GROUP_WINDOW.as_nanos() as i64;
    let is_near = |incident: &&mut GroupedIncident| {
        incident.project == fact.project && fact.at_ns.saturating_sub(incident.last_alert_ns).abs() <= window_ns
    };
    let open_count =
        incidents.iter().filter(|open| open.resolved_ns.is_none() && open.organization == fact.organization).count();
    let has_incident = incidents.iter_mut().rev().filter(is_open).find(has_alert).is_some();
    let joined = match has_incident {
        true => incidents.iter_mut().rev().filter(is_open).find(has_alert),
        false if open_count >= limits::INCIDENTS_OPEN_MAX => incidents.iter_mut().rev().find(is_open),
        false => incidents.iter_mut().rev().filter(is_open).find(is_near),
    };
    match joined {
        Some(incident) => join(incident, fact),
        None if fact.severity == Severity::Info => {}
        None => incidents.push(GroupedIncident {
            id: None,
            organization: fact.organization,
            project: fact.project,
            title: fact.subject.chars().take(limits::INCIDENT_TITLE_CHARS_MAX).collect(),
            severity: fact.severity,
            is_automatic: true,
            started_ns: fact.at_ns,
            last_alert_ns: fact.at_ns,
            quiet_ns: is_momentary(&fact.rule_type).then_some(fact.at_ns),
            resolved_ns: None,
            alerts: vec![alert(fact)],
        }),
    }
}

fn join(incident: &mut GroupedIncident, fact: &AlertFact) {
    incident.severity = incident.severity.max(fact.severity);
    if let Some(known) = incident.alerts.iter_mut().find(|alert| alert.key == fact.key && alert.resolved_ns.is_none()) {
        known.severity = known.severity.max(fact.severity);
        return;
    }
    if incident.alerts.len() >= limits::INCIDENT_ALERTS_MAX {
        return;
    }
    incident.alerts.push(alert(fact));
    incident.last_alert_ns = incident.last_alert_ns.max(fact.at_ns);
    incident.quiet_ns = quiet_ns(incident);
}

/// Since when none of the alerts fires.
fn quiet_ns(incident: &GroupedIncident) -> Option<i64> {
    incident.alerts.iter().all(|alert| alert.resolved_ns.is_some()).then_some(incident.last_alert_ns)
}

fn alert(fact: &AlertFact) -> GroupedAlert {
    GroupedAlert {
        key: fact.key.clone(),
        rule_type: fact.rule_type.clone(),
        severity: fact.severity,
        subject: fact.subject.clone(),
        path: fact.path.clone(),
        fired_ns: fact.at_ns,
        resolved_ns: is_momentary(&fact.rule_type).then_some(fact.at_ns),
    }
}

fn end(incidents: &mut [GroupedIncident], fact: &AlertFact) {
    for incident in incidents.iter_mut().filter(|incident| incident.organization == fact.organization) {
        let fires = incident.alerts.iter_mut().find(|alert| alert.key == fact.key && alert.resolved_ns.is_none());
        let Some(alert) = fires else { continue };
        // A clock that went back does not end an alert before it began.
        alert.resolved_ns = Some(fact.at_ns.max(alert.fired_ns));
        incident.last_alert_ns = incident.last_alert_ns.max(fact.at_ns);
        if incident.resolved_ns.is_none() {
            incident.quiet_ns = quiet_ns(incident);
        }
    }
}

fn resolve_quiet(incidents: &mut [GroupedIncident], now_ns: i64, grace_ns: i64) {
    for incident in incidents.iter_mut().filter(|incident| incident.is_automatic && incident.resolved_ns.is_none()) {
        if let Some(quiet_ns) = incident.quiet_ns
            && now_ns.saturating_sub(quiet_ns) >= grace_ns
        {
            incident.resolved_ns = Some(quiet_ns.saturating_add(grace_ns));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use tidewatch_domain::units::MINUTE_NS;

    use super::*;

    const GRACE: Duration = Duration::from_secs(300);

    /// `+a@3`: alert `a` fires in minute 3; `-a@4`: it ends; `!a@5`: fires as critical; `.a@5`: as info; `?a@6`: a new Issue. A digit before
    /// the name is the project.
    fn fact(written: &str) -> AlertFact {
        let (name, minute) = written[1..].split_once('@').expect("a minute");
        let (project, key) = match name.as_bytes()[0].is_ascii_digit() {
            true => (name[..1].parse().expect("a project"), &name[1..]),
            false => (1, name),
        };
        AlertFact {
            organization: 1,
            project: Some(project),
            key: key.to_owned(),
            status: if written.starts_with('-') { AlertStatus::Resolved } else { AlertStatus::Firing },
            severity: match written.as_bytes()[0] {
                b'!' => Severity::Critical,
                b'.' => Severity::Info,
                _ => Severity::Warning,
            },
            rule_type: if written.starts_with('?') { "new_error" } else { "metric_threshold" }.to_owned(),
            subject: key.to_owned(),
            path: "/".to_owned(),
            at_ns: (minute.parse::<f64>().expect("a number") * MINUTE_NS as f64) as i64,
        }
    }

    fn facts(written: &str) -> Vec<AlertFact> {
        written.split_whitespace().map(fact).collect()
    }

    /// `a,b open`, `a resolved@9 critical`: per incident.
    fn shown(incidents: &[GroupedIncident]) -> Vec<String> {
        let one = |incident: &GroupedIncident| {
            let alerts: Vec<&str> = incident.alerts.iter().map(|alert| alert.key.as_str()).collect();
            let state = match incident.resolved_ns {
                Some(at_ns) => format!("resolved@{}", at_ns / MINUTE_NS),
                None => "open".to_owned(),
            };
            let severity = if incident.severity == Severity::Critical { " critical" } else { "" };
            format!("{} {state}{severity}", alerts.join(","))
        };
        incidents.iter().map(one).collect()
    }

    #[test]
    fn alerts_that_fire_together_are_one_incident() {
        for (written, now, expected) in [
            ("+a@0", 0, vec!["a open"]),
            ("+a@0 +b@4", 4, vec!["a,b open"]),
            ("+a@0 +b@5", 5, vec!["a,b open"]),
            ("+a@0 +b@5.1", 6, vec!["a open", "b open"]),
            ("+a@0 +b@4 +c@8", 8, vec!["a,b,c open"]),
            ("+1a@0 +2b@1", 1, vec!["a open", "b open"]),
            ("+a@0 !b@1", 1, vec!["a,b open critical"]),
            ("+a@0 !a@1", 1, vec!["a open critical"]),
            ("+a@0 +a@60", 60, vec!["a open"]),
            // Info opens nothing, and joins.
            (".a@0", 0, vec![]),
            ("+a@0 .b@1", 1, vec!["a,b open"]),
            // Resolved after the grace, counted from the last end.
            ("+a@0 -a@2", 6, vec!["a open"]),
            ("+a@0 -a@2", 7, vec!["a resolved@7"]),
            ("+a@0 +b@1 -a@2 -b@4", 8, vec!["a,b open"]),
            ("+a@0 +b@1 -a@2 -b@4", 9, vec!["a,b resolved@9"]),
            ("+a@0 +b@1 -a@2", 99, vec!["a,b open"]),
            // It fires again within the grace, and after it.
            ("+a@0 -a@2 +a@4", 99, vec!["a,a open"]),
            ("+a@0 -a@2 +a@4 -a@5", 10, vec!["a,a resolved@10"]),
            ("+a@0 -a@2 +a@8", 8, vec!["a resolved@7", "a open"]),
            ("+a@0 -a@2 +b@6", 6, vec!["a,b open"]),
            ("+a@0 -a@2 +b@7", 7, vec!["a resolved@7", "b open"]),
            // An end without a beginning, and a second end.
            ("-a@0", 9, vec![]),
            ("+a@0 -a@1 -a@3", 6, vec!["a resolved@6"]),
            // A new Issue has no end.
            ("?a@0", 4, vec!["a open"]),
            ("?a@0", 5, vec!["a resolved@5"]),
            ("?a@0 +b@1 -b@3", 7, vec!["a,b open"]),
            ("?a@0 +b@1 -b@3", 8, vec!["a,b resolved@8"]),
            ("+a@0 -a@2 ?b@4", 8, vec!["a,b open"]),
            ("+a@0 -a@2 ?b@4", 9, vec!["a,b resolved@9"]),
            ("+a@0 ?b@1", 99, vec!["a,b open"]),
            ("?a@0 ?a@2", 9, vec!["a,a resolved@7"]),
            // The clock goes back.
            ("+a@9 -a@8", 14, vec!["a resolved@14"]),
        ] {
            let mut incidents = Vec::new();
            group(&mut incidents, &facts(written), now * MINUTE_NS, GRACE);
            assert_eq!(shown(&incidents), expected, "{written} at {now}");
        }
    }

    #[test]
    fn a_persons_incident_takes_alerts_and_is_ended_by_a_person() {
        let mut incidents = vec![GroupedIncident {
            id: Some(1),
            organization: 1,
            project: Some(1),
            title: "by hand".to_owned(),
            severity: Severity::Info,
            is_automatic: false,
            started_ns: 0,
            last_alert_ns: 0,
            quiet_ns: None,
            resolved_ns: None,
            alerts: Vec::new(),
        }];
        group(&mut incidents, &facts("+a@1 -a@2"), 99 * MINUTE_NS, GRACE);
        assert_eq!(shown(&incidents), ["a open"]);
        incidents[0].resolved_ns = Some(3 * MINUTE_NS);
        group(&mut incidents, &facts("+a@4"), 4 * MINUTE_NS, GRACE);
        assert_eq!(shown(&incidents), ["a resolved@3", "a open"], "a resolved incident takes no alert");
        let mut others = facts("+a@4");
        others[0].organization = 2;
        let mut incidents = vec![];
        group(&mut incidents, &[facts("+a@4"), others].concat(), 4 * MINUTE_NS, GRACE);
        assert_eq!(shown(&incidents), ["a open", "a open"], "organizations are apart");
    }

    #[test]
    fn open_incidents_and_their_alerts_are_bounded() {
        let mut incidents = Vec::new();
        let many: Vec<AlertFact> = (0..300).map(|n| fact(&format!("+a{n}@{}", n * 6))).collect();
        group(&mut incidents, &many, 0, GRACE);
        assert_eq!(incidents.len(), limits::INCIDENTS_OPEN_MAX);
        assert_eq!(incidents.last().map(|incident| incident.alerts.len()), Some(limits::INCIDENT_ALERTS_MAX));
    }

    proptest! {
        /// The steps in which notifications are grouped do not matter.
        #[test]
        fn steps_do_not_matter(
            events in prop::collection::vec((0..4u8, 0..4u8, 0..2u8, 0..4i64), 0..40),
            cut in 0..40usize,
        ) {
            let mut at = 0;
            let facts: Vec<AlertFact> = events.iter().map(|(key, kind, project, wait)| {
                at += wait;
                let sign = ["+", "-", "!", "?"][usize::from(*kind)];
                fact(&format!("{sign}{}{}@{at}", project + 1, ["a", "b", "c", "d"][usize::from(*key)]))
            }).collect();
            let cut = cut.min(facts.len());
            let (mut whole, mut parts) = (Vec::new(), Vec::new());
            group(&mut whole, &facts, at * MINUTE_NS, GRACE);
            let between = facts.get(..cut).and_then(|first| first.last()).map_or(0, |fact| fact.at_ns);
            group(&mut parts, &facts[..cut], between, GRACE);
            group(&mut parts, &facts[cut..], at * MINUTE_NS, GRACE);
            prop_assert_eq!(&whole, &parts);
            for incident in whole.iter().filter(|incident| incident.resolved_ns.is_some()) {
                prop_assert!(incident.alerts.iter().all(|alert| alert.resolved_ns.is_some()));
            }
        }
    }
}
