//! Public status pages: what visitors see, from what is stored.
//!
//! - this module: the model of a page.
//! - [`settings`]: what an owner may choose. [`logo`]: which files are logos.
//! - [`html`], [`feed`], [`badge`]: the model as a page, an Atom feed and a picture, each a `document`.
//! - [`rendered`]: pages in memory, in each of their forms.
//! - `tables`: pages, maintenance windows and subscribers. [`views`]: the bodies of the API.
//!
//! Invariants: nothing of a private page is public; nobody is notified without a confirmation of the address.

pub mod badge;
mod document;
pub mod feed;
pub mod html;
pub mod logo;
mod mails;
pub mod rendered;
pub mod settings;
mod stored_monitors;
mod tables;
mod times;
pub mod views;

pub use stored_monitors::StoredMonitors;
pub use tables::{
    MaintenanceWindow, NewStatusPage, Outage as MonitorOutage, PageAddress, PublicIncident, StatusComponent,
    StatusPage, StatusPages, SubscriberKind, Subscription,
};
pub use times::rfc3339;

use std::future::Future;
use std::pin::Pin;

use tidewatch_accounts::{ControlError, Database};
use tidewatch_domain::units::DAY_NS;
use tidewatch_limits as limits;

/// Whether a monitor is up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckState {
    /// The checked thing works.
    Up,
    /// It does not.
    Down,
    /// It was not checked yet.
    Unknown,
}

impl CheckState {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            CheckState::Up => "up",
            CheckState::Down => "down",
            CheckState::Unknown => "unknown",
        }
    }
}

/// A monitor, as far as status pages show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MonitorState {
    /// Row id.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// `http`, `tcp`, …
    pub check_type: String,
    /// Whether it is up.
    pub state: CheckState,
}

/// The results of a monitor on one UTC day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MonitorDay {
    /// Row id of the monitor.
    pub monitor: i64,
    /// Begin of the day, nanoseconds since the epoch.
    pub day_ns: i64,
    /// Results.
    pub total: i64,
    /// Results that were up.
    pub up: i64,
    /// Checks that did not happen.
    pub missed: i64,
}

/// A read that may fail.
pub type Reading<'a, T> = Pin<Box<dyn Future<Output = Result<T, ControlError>> + Send + 'a>>;

/// Where status pages read monitors.
pub trait MonitorSource: Send + Sync {
    /// The monitors of an organization, by name.
    fn monitors<'a>(&'a self, database: &'a Database, organization: i64) -> Reading<'a, Vec<MonitorState>>;

    /// The results of monitors by UTC day, from `from_ns` to `to_ns`.
    fn days<'a>(
        &'a self,
        database: &'a Database,
        ids: &'a [i64],
        from_ns: i64,
        to_ns: i64,
    ) -> Reading<'a, Vec<MonitorDay>>;
}

/// Status page for visitors.
#[derive(Debug, Clone, PartialEq)]
pub struct PublicPage {
    /// The last part of its path.
    pub slug: String,
    /// Its name.
    pub name: String,
    /// Description of the page's subject; may be empty.
    pub description: String,
    /// When its logo was set; `None`: it has none.
    pub logo_ns: Option<i64>,
    /// Its components, in groups.
    pub groups: Vec<Group>,
    /// Incidents, latest first.
    pub incidents: Vec<PublicIncident>,
    /// Maintenance windows, latest first.
    pub maintenance: Vec<MaintenanceWindow>,
    /// Whether a mailbox can subscribe.
    pub has_mail: bool,
    /// Nanoseconds since the epoch.
    pub generated_ns: i64,
}

/// Components under one name.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Its name; empty: without one.
    pub name: String,
    /// In the order of the owner.
    pub checks: Vec<Check>,
}

/// A component.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// The monitor.
    pub monitor: MonitorState,
    /// [`limits::STATUS_DAYS`] days, earliest first; the last is today.
    pub days: Vec<MonitorDay>,
    /// Its outages, latest first.
    pub outages: Vec<MonitorOutage>,
}

/// Overall state of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overall {
    /// Every component is up.
    Up,
    /// Work is being done, and no component is down.
    Maintenance,
    /// An incident is open, and no component is down.
    Incident,
    /// Some components are down.
    Partial,
    /// All are down.
    Down,
    /// Nothing was checked yet.
    Unknown,
}

impl Overall {
    /// As a sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            Overall::Up => "All systems are operational",
            Overall::Maintenance => "Maintenance is in progress",
            Overall::Incident => "An incident is being worked on",
            Overall::Partial => "Some systems are down",
            Overall::Down => "All systems are down",
            Overall::Unknown => "Nothing was checked yet",
        }
    }

    /// As one or two words.
    pub fn word(self) -> &'static str {
        match self {
            Overall::Up => "operational",
            Overall::Maintenance => "maintenance",
            Overall::Incident => "incident",
            Overall::Partial => "partial outage",
            Overall::Down => "outage",
            Overall::Unknown => "unknown",
        }
    }

    /// The name of its colour: `ok`, `warn`, `bad` or `none`.
    pub fn tone(self) -> &'static str {
        match self {
            Overall::Up => "ok",
            Overall::Maintenance | Overall::Incident | Overall::Partial => "warn",
            Overall::Down => "bad",
            Overall::Unknown => "none",
        }
    }
}

/// Stored contents of a page.
#[derive(Debug, Clone, Default)]
pub struct PageContents<'a> {
    /// The monitors of its organization.
    pub monitors: &'a [MonitorState],
    /// Their results by day.
    pub days: &'a [MonitorDay],
    /// Their outages.
    pub outages: &'a [MonitorOutage],
    /// Its incidents.
    pub incidents: Vec<PublicIncident>,
    /// Its maintenance windows.
    pub maintenance: Vec<MaintenanceWindow>,
}

impl PublicPage {
    /// Combines a page with its contents.
    pub fn new(page: &StatusPage, contents: PageContents<'_>, has_mail: bool, now_ns: i64) -> PublicPage {
        let PageContents { monitors, days, outages, incidents, maintenance } = contents;
        let settings = &page.settings;
        let mut groups: Vec<Group> = Vec::new();
        for component in &settings.components {
            // A monitor that was deleted is not shown.
            let Some(monitor) = monitors.iter().find(|monitor| monitor.id == component.check_id) else { continue };
            let check = Check {
                monitor: monitor.clone(),
                days: all_days(monitor.id, days, now_ns),
                outages: outages.iter().filter(|outage| outage.check_id == monitor.id).copied().collect(),
            };
            match groups.iter_mut().find(|group| group.name == component.group) {
                Some(group) => group.checks.push(check),
                None => groups.push(Group { name: component.group.clone(), checks: vec![check] }),
            }
        }
        // Components without a group are first.
        groups.sort_by_key(|group| !group.name.is_empty());
        PublicPage {
            slug: settings.slug.clone(),
            name: settings.name.clone(),
            description: settings.description.clone(),
            logo_ns: page.logo.as_ref().map(|(_, at_ns)| *at_ns),
            groups,
            incidents,
            maintenance,
            has_mail,
            generated_ns: now_ns,
        }
    }

    /// All components.
    pub fn checks(&self) -> impl Iterator<Item = &Check> {
        self.groups.iter().flat_map(|group| &group.checks)
    }

    /// Maintenance in progress.
    pub fn current_maintenance(&self) -> impl Iterator<Item = &MaintenanceWindow> {
        let now_ns = self.generated_ns;
        self.maintenance.iter().filter(move |window| window.starts_ns <= now_ns && now_ns < window.ends_ns)
    }

    /// Overall state of the page.
    pub fn overall(&self) -> Overall {
        let count = |state| self.checks().filter(|check| check.monitor.state == state).count();
        let (up, down) = (count(CheckState::Up), count(CheckState::Down));
        if down > 0 {
            return if up == 0 { Overall::Down } else { Overall::Partial };
        }
        if self.current_maintenance().next().is_some() {
            return Overall::Maintenance;
        }
        if self.incidents.iter().any(|shown| shown.incident.resolved_ns.is_none()) {
            return Overall::Incident;
        }
        if up > 0 { Overall::Up } else { Overall::Unknown }
    }
}

impl Check {
    /// Share of the checks that were up, in percent; those that did not happen do not count. `None`: there were none.
    /// WIRE 6.
    pub fn uptime_percent(&self) -> Option<f64> {
        let sum = |of: fn(&MonitorDay) -> i64| self.days.iter().map(of).sum();
        uptime_percent(sum(|day| day.total), sum(|day| day.up), sum(|day| day.missed))
    }
}

/// See [`Check::uptime_percent`].
pub fn uptime_percent(total: i64, up: i64, missed: i64) -> Option<f64> {
    let checked = total - missed;
    (checked > 0).then(|| 100.0 * up as f64 / checked as f64)
}

/// The begin of the first day of a page.
pub fn first_day_ns(now_ns: i64) -> i64 {
    (now_ns.div_euclid(DAY_NS) - (limits::STATUS_DAYS as i64 - 1)) * DAY_NS
}

/// Each day of a page, with the results of a monitor; days without results have none.
fn all_days(monitor: i64, days: &[MonitorDay], now_ns: i64) -> Vec<MonitorDay> {
    let first_ns = first_day_ns(now_ns);
    let empty =
        |index: usize| MonitorDay { monitor, day_ns: first_ns + index as i64 * DAY_NS, total: 0, up: 0, missed: 0 };
    let mut all: Vec<MonitorDay> = (0..limits::STATUS_DAYS).map(empty).collect();
    for day in days.iter().filter(|day| day.monitor == monitor) {
        let index = (day.day_ns - first_ns).div_euclid(DAY_NS);
        let slot = usize::try_from(index).ok().and_then(|index| all.get_mut(index));
        if let Some(slot) = slot {
            slot.total += day.total;
            slot.up += day.up;
            slot.missed += day.missed;
        }
    }
    all
}

#[cfg(test)]
pub(crate) mod tests {
    use crate::channels::Severity;
    use crate::incidents::{Incident, IncidentStatus, IncidentUpdate};
    use crate::status_pages::{NewStatusPage, StatusComponent};

    use super::*;

    pub const NOW: i64 = 1_795_427_040_000_000_000;
    /// Input of an attacker.
    pub const HOSTILE: &str = "<script>alert(1)</script>\"'&]]><img src=x onerror=alert(1)>";

    pub fn monitor(id: i64, name: &str, state: CheckState) -> MonitorState {
        MonitorState { id, name: name.to_owned(), check_type: "http".to_owned(), state }
    }

    /// A page with components `(id, group)`, whose every string is `name`.
    pub fn page(name: &str, components: &[(i64, &str)], states: &[(i64, CheckState)]) -> PublicPage {
        let stored = StatusPage {
            id: 1,
            organization: 1,
            settings: NewStatusPage {
                name: name.to_owned(),
                slug: "acme".to_owned(),
                is_public: true,
                description: name.to_owned(),
                custom_domain: None,
                components: components
                    .iter()
                    .map(|(check_id, group)| StatusComponent { check_id: *check_id, group: (*group).to_owned() })
                    .collect(),
            },
            logo: None,
            subscribers: 0,
            created_ns: 0,
            updated_ns: 0,
        };
        let monitors: Vec<MonitorState> = states.iter().map(|(id, state)| monitor(*id, name, *state)).collect();
        let day = |age: i64, total, up, missed| MonitorDay {
            monitor: 1,
            day_ns: NOW.div_euclid(DAY_NS) * DAY_NS - age * DAY_NS,
            total,
            up,
            missed,
        };
        let days = [day(0, 10, 8, 1), day(1, 100, 100, 0), day(89, 1, 1, 0), day(90, 50, 0, 0)];
        let outages = [MonitorOutage { check_id: 1, started_ns: NOW - DAY_NS, resolved_ns: None }];
        let contents = PageContents { monitors: &monitors, days: &days, outages: &outages, ..PageContents::default() };
        PublicPage::new(&stored, contents, true, NOW)
    }

    pub fn incident(title: &str, resolved_ns: Option<i64>) -> PublicIncident {
        let status = if resolved_ns.is_some() { IncidentStatus::Resolved } else { IncidentStatus::Investigating };
        PublicIncident {
            incident: Incident {
                id: 7,
                organization: 1,
                project: None,
                title: title.to_owned(),
                severity: Severity::Critical,
                status,
                is_automatic: false,
                started_ns: NOW - DAY_NS,
                resolved_ns,
                updated_ns: NOW,
            },
            updates: vec![IncidentUpdate {
                status,
                message: format!("{title}\nsecond line"),
                author: "ada@example.com".to_owned(),
                at_ns: NOW - DAY_NS,
            }],
            post_mortem: Some(format!("# Why\n\n{title} [x](javascript:alert(1))")),
        }
    }

    #[test]
    fn ninety_days_and_their_uptime() {
        let page = page("Acme", &[(1, ""), (2, "")], &[(1, CheckState::Up), (2, CheckState::Up)]);
        let checks: Vec<&Check> = page.checks().collect();
        assert_eq!(checks[0].days.len(), 90);
        assert_eq!((checks[0].days[0].total, checks[0].days[88].total, checks[0].days[89].up), (1, 100, 8));
        // 109 of 110 checks that happened; the day before the 90 does not count.
        assert_eq!(checks[0].uptime_percent(), Some(100.0 * 109.0 / 110.0));
        assert_eq!(checks[1].uptime_percent(), None);
        assert_eq!((checks[0].outages.len(), checks[1].outages.len()), (1, 0));
        for (total, up, missed, expected) in
            [(0, 0, 0, None), (5, 0, 5, None), (4, 1, 0, Some(25.0)), (10, 9, 1, Some(100.0)), (10, 0, 0, Some(0.0))]
        {
            assert_eq!(uptime_percent(total, up, missed), expected, "{total} {up} {missed}");
        }
    }

    #[test]
    fn components_are_in_groups_and_deleted_monitors_are_left_out() {
        let page = page(
            "Acme",
            &[(3, "b"), (1, ""), (2, "b"), (9, "c")],
            &[(1, CheckState::Up), (2, CheckState::Up), (3, CheckState::Up)],
        );
        let shown: Vec<(&str, Vec<i64>)> = page
            .groups
            .iter()
            .map(|group| (group.name.as_str(), group.checks.iter().map(|check| check.monitor.id).collect()))
            .collect();
        assert_eq!(shown, [("", vec![1]), ("b", vec![3, 2])]);
    }

    #[test]
    fn a_page_is_as_its_components_and_incidents_are() {
        use CheckState::{Down, Unknown, Up};
        let window = |from: i64, to: i64| MaintenanceWindow {
            id: 1,
            title: "work".to_owned(),
            description: String::new(),
            starts_ns: NOW + from,
            ends_ns: NOW + to,
        };
        for (states, incidents, maintenance, expected) in [
            (vec![Up, Up], vec![], vec![], Overall::Up),
            (vec![Up, Unknown], vec![], vec![], Overall::Up),
            (vec![Unknown], vec![], vec![], Overall::Unknown),
            (vec![], vec![], vec![], Overall::Unknown),
            (vec![Up, Down], vec![], vec![window(-1, 1)], Overall::Partial),
            (vec![Down, Unknown], vec![], vec![], Overall::Down),
            (vec![Up], vec![incident("x", None)], vec![], Overall::Incident),
            (vec![Up], vec![incident("x", Some(NOW))], vec![], Overall::Up),
            (vec![Up], vec![incident("x", None)], vec![window(0, 1)], Overall::Maintenance),
            (vec![Up], vec![], vec![window(1, 2), window(-2, 0)], Overall::Up),
        ] {
            let ids: Vec<(i64, CheckState)> = (1..).zip(states).collect();
            let components: Vec<(i64, &str)> = ids.iter().map(|(id, _)| (*id, "")).collect();
            let page = PublicPage { incidents, maintenance, ..page("Acme", &components, &ids) };
            assert_eq!(page.overall(), expected, "{ids:?}");
        }
    }
}
