//! Evaluates the polled rules of all projects, under a lease: one node at a time.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use tidewatch_domain::units::{DAY_NS, MINUTE_NS, SECOND_NS};
use tidewatch_limits as limits;
use tidewatch_query::context::QueryContext;
use tidewatch_query::error::QueryError;
use tidewatch_query::executor::Executor;
use tidewatch_query::time_windows::Windows;

use super::measure::Source;
use super::{Measured, Parsed, SharedProject, absent, now_window, subject_key};
use crate::channels::{AlertStatus, SeriesPoint};
use crate::rules::config::{RuleConfig, Trigger};
use crate::rules::state::{Outcome, Seen, step};
use crate::rules::words::line;
use crate::rules::{RuleBatch, RuleChange, RuleChanges, RuleState, RuleStateKind, Rules};

/// The lease of the node that evaluates.
pub const LEASE: &str = "notification rules";
/// Wall clock and uptime that differ by more than this since the last evaluation: the clock was set.
const CLOCK_JUMP_MIN: i64 = 30 * SECOND_NS;
/// After a jump of the clock nothing is known to be missing for this long.
const CLOCK_JUMP_SETTLES: Duration = Duration::from_secs(2 * 3600);
/// The changes of the Overview are looked for this often.
const CHANGES_EVERY: Duration = Duration::from_secs(300);
/// Old state is deleted this often.
const CLEANED_EVERY: Duration = Duration::from_secs(3600);
/// Charts of the notifications of one evaluation.
const CHARTS_MAX: usize = 10;
/// Titles of Issues in the notifications of one evaluation.
const TITLES_MAX: usize = 50;
/// Points of a chart.
const CHART_POINTS: i64 = 24;

/// The state of a rule of impact for the project: its first evaluation is over.
const FIRST_EVALUATION_OVER: i64 = 1;

/// Evaluates the polled rules.
pub struct Poller {
    context: Arc<QueryContext>,
    stored: Rules,
    holder: String,
    /// Wall clock minus uptime at the last evaluation, nanoseconds.
    offset_ns: Option<i64>,
    /// Uptime since when the server runs, and since when its clock is right.
    started: Duration,
    jumped: Option<Duration>,
    /// By project, the uptime when its changes were looked for.
    changes_read: HashMap<u32, Duration>,
    cleaned: Option<Duration>,
}

impl Poller {
    /// `holder`: the name of this node in the lease.
    pub fn new(context: Arc<QueryContext>, holder: String) -> Poller {
        let started = context.clock.uptime();
        let stored = Rules::of(&context);
        Poller {
            context,
            stored,
            holder,
            offset_ns: None,
            started,
            jumped: None,
            changes_read: HashMap::new(),
            cleaned: None,
        }
    }

    /// Evaluates every enabled rule. `Ok(false)`: another node does it.
    pub async fn poll(&mut self) -> Result<bool, QueryError> {
        self.notice_jump();
        if !self.extend_lease().await? {
            return Ok(false);
        }
        let mut projects: BTreeMap<u32, Vec<Parsed>> = BTreeMap::new();
        for rule in self.stored.enabled_rules().await? {
            if let Some(parsed) = Parsed::of(rule).filter(|parsed| parsed.config.trigger() == Trigger::Poll) {
                projects.entry(parsed.rule.project).or_default().push(parsed);
            }
        }
        for (number, rules) in projects {
            let Some(project) = self.context.projects.project_by_number(number) else { continue };
            if !self.extend_lease().await? {
                return Ok(false);
            }
            let batch = self.evaluate(&project, &rules).await?;
            if !self.apply(batch).await? {
                return Ok(false);
            }
        }
        self.clean().await?;
        Ok(true)
    }

    /// Ends the lease, so that another node evaluates at once.
    pub async fn release(&self) {
        if let Err(error) = self.context.database.release_lease(LEASE, &self.holder).await {
            tracing::warn!(%error, "the lease of the notification rules ends by itself: {error}");
        }
    }

    async fn extend_lease(&self) -> Result<bool, QueryError> {
        let now = self.context.clock.now_ns();
        let until = now.saturating_add(limits::RULE_LEASE.as_nanos() as i64);
        Ok(self.context.database.take_lease(LEASE, &self.holder, now, until).await?)
    }

    fn notice_jump(&mut self) {
        let (now, uptime) = self.context.clock.both();
        let offset = now.saturating_sub(i64::try_from(uptime.as_nanos()).unwrap_or(i64::MAX));
        if self.offset_ns.is_some_and(|before| offset.saturating_sub(before).saturating_abs() > CLOCK_JUMP_MIN) {
            tracing::warn!("the clock was set: for two hours no notification rule fires for missing data");
            self.jumped = Some(uptime);
        }
        self.offset_ns = Some(offset);
    }

    /// Whether the server has run, with a right clock, long enough to know that something is missing.
    fn knows_absence(&self, config: &RuleConfig) -> bool {
        let uptime = self.context.clock.uptime();
        let minutes = u64::try_from(config.lookback_minutes()).unwrap_or(0);
        let has_run = uptime.saturating_sub(self.started) >= Duration::from_secs(60 * minutes);
        has_run && self.jumped.is_none_or(|jumped| uptime.saturating_sub(jumped) >= CLOCK_JUMP_SETTLES)
    }

    /// The changes of the rules of a project. A rule whose query fails changes nothing.
    async fn evaluate(&mut self, project: &SharedProject, rules: &[Parsed]) -> Result<Vec<RuleChange>, QueryError> {
        let states = self.stored.rule_states(project.number).await?;
        let executor = Executor::within(self.context.clone(), limits::RULE_DEADLINE);
        let mut source = Source::new(executor, project.clone());
        let (now, uptime) = self.context.clock.both();
        let reads_changes =
            self.changes_read.get(&project.number).is_none_or(|read| uptime.saturating_sub(*read) >= CHANGES_EVERY);
        let (mut changes, mut charts, mut titles) = (Vec::new(), 0, 0);
        for parsed in rules {
            if matches!(parsed.config, RuleConfig::Change(_)) {
                if !reads_changes {
                    continue;
                }
                self.changes_read.insert(project.number, uptime);
            }
            let windows = now_window(&parsed.config, now);
            let found = match source.measure(&parsed.config, windows).await {
                Ok(found) => found,
                Err(error) => {
                    tracing::warn!(rule = parsed.rule.id, %error, "a notification rule was not evaluated: {error}");
                    continue;
                }
            };
            let own: HashMap<&str, &RuleState> = states
                .iter()
                .filter(|((rule, _), _)| *rule == parsed.rule.id)
                .map(|((_, subject), state)| (subject.as_str(), state))
                .collect();
            let knows_absence = !parsed.config.is_of_absence() || self.knows_absence(&parsed.config);
            let mut of_rule = of_rule(parsed, project, &own, found, knows_absence, now);
            for change in &mut of_rule {
                let Some(notification) = &mut change.change.notification else { continue };
                if matches!(parsed.config, RuleConfig::IssueSpike(_)) && titles < TITLES_MAX {
                    titles += 1;
                    notification.subject = line(&source.titled(&change.subject, &notification.subject).await);
                }
                if notification.status == AlertStatus::Firing && charts < CHARTS_MAX {
                    charts += 1;
                    notification.series = chart(&mut source, &parsed.config, windows, &change.subject).await;
                }
            }
            changes.extend(of_rule.into_iter().map(|change| change.change));
        }
        Ok(changes)
    }

    /// Applies changes. `false`: another node has the lease.
    async fn apply(&self, mut changes: Vec<RuleChange>) -> Result<bool, QueryError> {
        while !changes.is_empty() {
            let rest = changes.split_off(changes.len().min(limits::RULE_CHANGES_MAX));
            let batch = RuleBatch { changes, known: Vec::new() };
            let lease = Some((LEASE, self.holder.as_str()));
            let now = self.context.clock.now_ns();
            // A change whose state is another one was made by a user meanwhile; the next evaluation sees it.
            if self.stored.apply_rule_changes(lease, &batch, now).await? == RuleChanges::NoLease {
                return Ok(false);
            }
            changes = rest;
        }
        Ok(true)
    }

    async fn clean(&mut self) -> Result<(), QueryError> {
        let (now, uptime) = self.context.clock.both();
        if self.cleaned.is_some_and(|cleaned| uptime.saturating_sub(cleaned) < CLEANED_EVERY) {
            return Ok(());
        }
        self.cleaned = Some(uptime);
        let kept_from = now.saturating_sub(limits::NOTIFICATION_DAYS * DAY_NS);
        // Longer than every cooldown, and than rows are looked for again after a start.
        let before = now.saturating_sub(limits::RULE_MINUTES_MAX * MINUTE_NS);
        Ok(self.stored.delete_old_alerts(before, kept_from).await?)
    }
}

/// A change, and the subject that it is of.
struct OfSubject {
    change: RuleChange,
    subject: String,
}

/// The changes of a rule, from what it found.
fn of_rule(
    parsed: &Parsed,
    project: &SharedProject,
    states: &HashMap<&str, &RuleState>,
    found: Vec<Measured>,
    knows_absence: bool,
    now: i64,
) -> Vec<OfSubject> {
    let is_impact = matches!(parsed.config, RuleConfig::Impact(..));
    let begins = is_impact && !states.contains_key("");
    let mut changes = Vec::new();
    let change = |subject: &str, before: Option<&RuleState>, after: Option<RuleState>| RuleChange {
        rule: parsed.rule.id,
        rule_updated_ns: parsed.rule.updated_ns,
        subject: subject_key(subject),
        before: before.copied(),
        after,
        notification: None,
        claim: None,
    };
    let mut seen_subjects: HashSet<String> = HashSet::new();
    for measurement in &found {
        let key = subject_key(&measurement.subject);
        let before = states.get(key.as_str()).copied();
        seen_subjects.insert(key);
        let is_firing = before.is_some_and(|state| state.kind == RuleStateKind::Firing);
        let severity = parsed.severity(measurement.value.unwrap_or(0.0));
        let seen = match (measurement.value, measurement.breaches) {
            (None, _) => Seen::NoData,
            (Some(_), true) if !knows_absence && !is_firing => Seen::NoData,
            (Some(_), true) => Seen::Breach(severity),
            (Some(_), false) => Seen::Fine,
        };
        if begins {
            // An Endpoint that is above from the beginning makes no transition: it counts as one that has fired.
            if let Seen::Breach(severity) = seen {
                let kind = RuleStateKind::Firing;
                let state = RuleState { kind, since_ns: now, fired_ns: None, data_ns: now, severity, marker: 0 };
                changes.push(OfSubject {
                    change: change(&measurement.subject, before, Some(state)),
                    subject: measurement.subject.clone(),
                });
            }
            continue;
        }
        let (after, outcome) = step(before, seen, parsed.terms(now), now);
        let was_notified = before.is_some_and(|state| state.fired_ns.is_some());
        let mut change = change(&measurement.subject, before, after);
        change.notification = match outcome {
            Outcome::Fire(severity) => {
                Some(parsed.notification(project, measurement, AlertStatus::Firing, severity, Vec::new(), now))
            }
            Outcome::Resolve if was_notified => Some(resolved(parsed, project, measurement, before, now)),
            _ => None,
        };
        if change.before != change.after {
            changes.push(OfSubject { change, subject: measurement.subject.clone() });
        }
    }
    if begins {
        let state = RuleState {
            kind: RuleStateKind::Quiet,
            since_ns: now,
            fired_ns: None,
            data_ns: now,
            severity: parsed.severity(0.0),
            marker: FIRST_EVALUATION_OVER,
        };
        changes.push(OfSubject { change: change("", None, Some(state)), subject: String::new() });
    }
    // Subjects of which nothing was measured.
    let others = states.iter().filter(|(key, _)| !(seen_subjects.contains(**key) || is_impact && key.is_empty()));
    for (key, state) in others {
        let (key, state) = (*key, *state);
        let (after, outcome) = step(Some(state), absent::seen(&parsed.config), parsed.terms(now), now);
        let mut change = change(key, Some(state), after);
        if outcome == Outcome::Resolve && state.fired_ns.is_some() {
            let measurement = absent::measured(parsed, key);
            change.notification = Some(resolved(parsed, project, &measurement, Some(state), now));
        }
        if change.before != change.after {
            changes.push(OfSubject { change, subject: key.to_owned() });
        }
    }
    changes
}

fn resolved(
    parsed: &Parsed,
    project: &SharedProject,
    measurement: &Measured,
    before: Option<&RuleState>,
    now: i64,
) -> crate::channels::Notification {
    let severity = before.map_or(parsed.severity(0.0), |state| state.severity);
    let lasted = before.map_or(0, |state| now.saturating_sub(state.since_ns) / MINUTE_NS).max(0);
    let ended = Measured {
        title: format!("Resolved: {}", measurement.title),
        body: format!("{} It lasted {lasted} minutes.", measurement.body),
        ..measurement.clone()
    };
    parsed.notification(project, &ended, AlertStatus::Resolved, severity, Vec::new(), now)
}

/// The values of a subject before a firing; empty when they cannot be read or say nothing.
async fn chart(source: &mut Source, config: &RuleConfig, windows: Windows, subject: &str) -> Vec<SeriesPoint> {
    if matches!(config, RuleConfig::Change(_) | RuleConfig::Impact(..) | RuleConfig::NoData(_)) {
        return Vec::new();
    }
    let windows = windows.and_before(CHART_POINTS - 1);
    match source.measure(config, windows).await {
        Ok(found) => {
            let of_subject = found.iter().filter(|measurement| measurement.subject == subject);
            let mut points: Vec<SeriesPoint> = of_subject
                .filter_map(|measurement| {
                    Some(SeriesPoint { at_ns: windows.start(measurement.window), value: measurement.value? })
                })
                .collect();
            points.sort_by_key(|point| point.at_ns);
            points
        }
        Err(error) => {
            tracing::warn!(%error, "a notification has no chart: {error}");
            Vec::new()
        }
    }
}
