//! Evaluates the rules of data that has just arrived.
//!
//! What was evaluated is in the database: known Issues, decisions about Issues that fired, rows. So the same arrival may
//! be evaluated again, after a crash or on another node, and fires once. [`Arrivals::catch_up`] evaluates after a start
//! what was stored but not evaluated before.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use tidewatch_domain::rules::issue_state::Decision;
use tidewatch_domain::units::{HOUR_NS, MINUTE_NS};
use tidewatch_limits as limits;
use tidewatch_query::context::QueryContext;
use tidewatch_query::error::QueryError;
use tidewatch_query::executor::Executor;
use tidewatch_query::ids;
use tidewatch_query::issues::Families;
use tidewatch_query::time::Range;
use tidewatch_query::time_windows::{self, AiRow};

use super::{Measured, Parsed, SharedProject, subject_key};
use crate::channels::AlertStatus;
use crate::rules::config::{RuleConfig, matches};
use crate::rules::state::{Outcome, Seen, may_fire, step};
use crate::rules::words::{escaped, number, with_unit};
use crate::rules::{RuleBatch, RuleChange, RuleChanges, RuleClaim, RuleState, RuleStateKind, Rules};

/// After a start, rows of AI Traces of this time are evaluated again, nanoseconds.
const CATCH_UP: i64 = HOUR_NS;
/// Issues and rows of one transaction.
const CHUNK: usize = 50;
/// Evaluations of one arrival whose states other nodes change meanwhile.
const ATTEMPTS: usize = 3;

/// Arrivals of a project.
#[derive(Debug, Clone, Default)]
pub struct Arrived {
    /// Hashes of the Issues that occurred.
    pub issues: Vec<u64>,
    /// Ids of rows of AI Traces.
    pub ai_rows: Vec<[u8; 16]>,
    /// Time of the earliest and the latest of these rows, nanoseconds since the epoch; `None` without rows.
    pub ai_times: Option<(i64, i64)>,
}

/// Evaluates arrivals.
pub struct Arrivals {
    context: Arc<QueryContext>,
    stored: Rules,
    /// Issues that are known not to be new, by project.
    known: HashMap<u32, HashSet<u64>>,
}

/// The rules of a project, and their states.
struct Evaluation<'a> {
    project: SharedProject,
    rules: &'a [Parsed],
    states: HashMap<(i64, String), RuleState>,
    executor: Executor,
    now: i64,
}

impl Arrivals {
    /// An evaluator that has evaluated nothing yet.
    pub fn new(context: Arc<QueryContext>) -> Arrivals {
        let stored = Rules::of(&context);
        Arrivals { context, stored, known: HashMap::new() }
    }

    /// Evaluates what was stored before the process started: all Issues, and the AI Traces of the last hour.
    pub async fn catch_up(&mut self) -> Result<(), QueryError> {
        for (number, rules) in self.rules().await? {
            let executor = Executor::within(self.context.clone(), limits::RULE_DEADLINE);
            let issues = time_windows::known_issues(&executor, number).await?;
            let now = self.context.clock.now_ns();
            let range = Range { from: now.saturating_sub(CATCH_UP), to: i64::MAX };
            let costs = rules.iter().filter_map(|parsed| match &parsed.config {
                RuleConfig::AiTraceCost(rule) => Some(rule.threshold_cost),
                RuleConfig::AiConversationCost(_) => Some(0.0),
                _ => None,
            });
            let least_cost = costs.min_by(f64::total_cmp);
            let flagged = rules.iter().any(|parsed| matches!(parsed.config, RuleConfig::AiFlaggedContent(_)));
            let rows = match (least_cost, flagged) {
                (None, false) => Vec::new(),
                _ => {
                    time_windows::ai_rows_since(
                        &executor,
                        number,
                        range,
                        least_cost,
                        flagged,
                        limits::RULE_ARRIVALS_MAX,
                    )
                    .await?
                }
            };
            self.evaluate_issues(number, &rules, &issues).await?;
            self.evaluate_rows(number, &rules, &rows).await?;
        }
        Ok(())
    }

    /// Evaluates what arrived, by project.
    pub async fn evaluate(&mut self, arrived: &BTreeMap<u32, Arrived>) -> Result<(), QueryError> {
        let mut rules = self.rules().await?;
        for (number, arrived) in arrived {
            let Some(rules) = rules.remove(number) else { continue };
            self.evaluate_issues(*number, &rules, &arrived.issues).await?;
            if let Some((from, last)) = arrived.ai_times
                && rules.iter().any(|parsed| is_of_ai(&parsed.config))
            {
                let executor = Executor::within(self.context.clone(), limits::RULE_DEADLINE);
                let to = last.saturating_add(1);
                for some in arrived.ai_rows.chunks(limits::RULE_SUBJECTS_MAX) {
                    let rows =
                        time_windows::ai_rows(&executor, *number, some, Range { from, to }, limits::RULE_ARRIVALS_MAX)
                            .await?;
                    self.evaluate_rows(*number, &rules, &rows).await?;
                }
            }
        }
        Ok(())
    }

    /// The enabled rules on arrival, by project.
    async fn rules(&self) -> Result<BTreeMap<u32, Vec<Parsed>>, QueryError> {
        let mut by_project: BTreeMap<u32, Vec<Parsed>> = BTreeMap::new();
        for rule in self.stored.enabled_rules_of_types(&RuleConfig::ARRIVAL_TYPES).await? {
            if let Some(parsed) = Parsed::of(rule) {
                by_project.entry(parsed.rule.project).or_default().push(parsed);
            }
        }
        Ok(by_project)
    }

    async fn begin<'a>(&self, number: u32, rules: &'a [Parsed]) -> Result<Option<Evaluation<'a>>, QueryError> {
        let Some(project) = self.context.projects.project_by_number(number) else { return Ok(None) };
        Ok(Some(Evaluation {
            states: self.stored.rule_states(number).await?,
            executor: Executor::within(self.context.clone(), limits::RULE_DEADLINE),
            now: self.context.clock.now_ns(),
            project,
            rules,
        }))
    }

    async fn evaluate_issues(&mut self, number: u32, rules: &[Parsed], issues: &[u64]) -> Result<(), QueryError> {
        let is_new = |parsed: &&Parsed| matches!(parsed.config, RuleConfig::NewError(_));
        let is_again = |parsed: &&Parsed| is_new(parsed) || matches!(parsed.config, RuleConfig::ErrorRegression(_));
        if issues.is_empty() || !rules.iter().any(|parsed| is_again(&parsed)) {
            return Ok(());
        }
        let Some(evaluation) = self.begin(number, rules).await? else { return Ok(()) };
        if rules.iter().any(|parsed| is_new(&parsed)) {
            if !self.known.contains_key(&number) {
                self.known.insert(number, self.stored.known_issues(number).await?);
            }
            let known = self.known.entry(number).or_default();
            let unknown: Vec<u64> = issues.iter().copied().filter(|hash| !known.contains(hash)).collect();
            for some in unknown.chunks(CHUNK) {
                let batch = evaluation.new_issues(some).await?;
                self.stored.apply_rule_changes(None, &batch, evaluation.now).await?;
                known.extend(some);
            }
        }
        for attempt in 1..=ATTEMPTS {
            let Some(evaluation) = self.begin(number, rules).await? else { return Ok(()) };
            let batch = evaluation.again(issues).await?;
            if batch.changes.is_empty() {
                break;
            }
            let applied = self.stored.apply_rule_changes(None, &batch, evaluation.now).await?;
            if applied == (RuleChanges::Applied { conflicts: 0 }) {
                break;
            }
            tracing::debug!(attempt, "the states of notification rules changed meanwhile");
        }
        Ok(())
    }

    async fn evaluate_rows(&mut self, number: u32, rules: &[Parsed], rows: &[AiRow]) -> Result<(), QueryError> {
        for some in rows.chunks(CHUNK) {
            let Some(mut evaluation) = self.begin(number, rules).await? else { return Ok(()) };
            let batch = RuleBatch { changes: evaluation.of_rows(some), known: Vec::new() };
            if batch.changes.is_empty() {
                continue;
            }
            let applied = self.stored.apply_rule_changes(None, &batch, evaluation.now).await?;
            if applied != (RuleChanges::Applied { conflicts: 0 }) {
                // Some were evaluated before. One by one, each sees the state that the one before it left.
                for row in some {
                    let Some(mut evaluation) = self.begin(number, rules).await? else { return Ok(()) };
                    let batch = RuleBatch { changes: evaluation.of_rows(std::slice::from_ref(row)), known: Vec::new() };
                    self.stored.apply_rule_changes(None, &batch, evaluation.now).await?;
                }
            }
        }
        if rules.iter().any(|parsed| matches!(parsed.config, RuleConfig::AiConversationCost(_))) {
            let priced = rows.iter().filter(|row| row.cost > 0.0).map(|row| row.conversation.clone());
            let conversations: Vec<String> = priced.collect::<HashSet<_>>().into_iter().collect();
            for some in conversations.chunks(CHUNK) {
                let Some(evaluation) = self.begin(number, rules).await? else { return Ok(()) };
                let batch = evaluation.conversations(some).await?;
                if batch.changes.is_empty() {
                    continue;
                }
                self.stored.apply_rule_changes(None, &batch, evaluation.now).await?;
            }
        }
        Ok(())
    }
}

fn is_of_ai(config: &RuleConfig) -> bool {
    matches!(config, RuleConfig::AiTraceCost(_) | RuleConfig::AiConversationCost(_) | RuleConfig::AiFlaggedContent(_))
}

impl Evaluation<'_> {
    fn change(&self, parsed: &Parsed, subject: &str) -> RuleChange {
        let subject = subject_key(subject);
        let before = self.states.get(&(parsed.rule.id, subject.clone())).copied();
        RuleChange {
            rule: parsed.rule.id,
            rule_updated_ns: parsed.rule.updated_ns,
            before,
            after: before,
            notification: None,
            claim: None,
            subject,
        }
    }

    /// The state after a firing.
    fn fired(&self, parsed: &Parsed, value: f64, marker: i64) -> RuleState {
        RuleState {
            kind: RuleStateKind::Quiet,
            since_ns: self.now,
            fired_ns: Some(self.now),
            data_ns: self.now,
            severity: parsed.severity(value),
            marker,
        }
    }

    fn is_snoozed(&self, parsed: &Parsed) -> bool {
        parsed.terms(self.now).is_snoozed
    }

    /// Issues that are not known: rules for new ones fire, once.
    async fn new_issues(&self, hashes: &[u64]) -> Result<RuleBatch, QueryError> {
        let mut batch = RuleBatch::default();
        // A hash that belongs to a known Issue, by a merge or by a version of the grouping rule, is no new Issue.
        let families = Families::load(&self.executor, self.project.number).await?;
        for hash in hashes {
            if families.primary(*hash) != *hash || families.pointer(*hash).is_some() {
                batch.known.push((self.project.number, *hash));
                continue;
            }
            let title = time_windows::issue_title(&self.executor, self.project.number, *hash).await?;
            for parsed in self.rules {
                let RuleConfig::NewError(rule) = &parsed.config else { continue };
                if rule.ignores(&title) || self.is_snoozed(parsed) {
                    continue;
                }
                let found = of_issue(*hash, format!("New Issue: {title}"), "It occurred for the first time.");
                let mut change = self.change(parsed, &found.subject);
                let severity = parsed.severity(1.0);
                change.notification = Some(parsed.notification(
                    &self.project,
                    &found,
                    AlertStatus::Firing,
                    severity,
                    Vec::new(),
                    self.now,
                ));
                change.claim = Some(RuleClaim::Issue(self.project.number, *hash));
                batch.changes.push(change);
            }
            batch.known.push((self.project.number, *hash));
        }
        Ok(batch)
    }

    /// Issues that occurred again after a user resolved or archived them: rules fire once for each decision.
    async fn again(&self, hashes: &[u64]) -> Result<RuleBatch, QueryError> {
        let mut batch = RuleBatch::default();
        let again = time_windows::regressed(&self.executor, self.project.number, Some(hashes)).await?;
        let mut seen = HashSet::new();
        for (hash, decision, decided_ns) in again.into_iter().filter(|(hash, ..)| seen.insert(*hash)) {
            let title = time_windows::issue_title(&self.executor, self.project.number, hash).await?;
            let was = if decision == Decision::Archived { "archived" } else { "resolved" };
            for parsed in self.rules {
                let is_ignored = match &parsed.config {
                    RuleConfig::ErrorRegression(_) => false,
                    RuleConfig::NewError(rule) => decision != Decision::Archived || rule.ignores(&title),
                    _ => continue,
                };
                let body = format!("It was {was}, and has occurred again.");
                let found = of_issue(hash, format!("Issue is back: {title}"), &body);
                let mut change = self.change(parsed, &found.subject);
                if is_ignored || change.before.is_some_and(|state| state.marker == decided_ns) {
                    continue;
                }
                change.after = Some(self.fired(parsed, 1.0, decided_ns));
                if !self.is_snoozed(parsed) {
                    let severity = parsed.severity(1.0);
                    let status = AlertStatus::Firing;
                    change.notification =
                        Some(parsed.notification(&self.project, &found, status, severity, Vec::new(), self.now));
                }
                batch.changes.push(change);
            }
        }
        Ok(batch)
    }

    /// Rows that cost much, or whose content is flagged. A row is evaluated once by each rule; within the cooldown of
    /// its subject it fires nothing.
    fn of_rows(&mut self, rows: &[AiRow]) -> Vec<RuleChange> {
        let mut changes = Vec::new();
        for row in rows {
            for parsed in self.rules {
                let found = match &parsed.config {
                    RuleConfig::AiTraceCost(rule) => {
                        let is_dear = row.cost >= rule.threshold_cost && matches(&rule.trace_name, &row.name);
                        is_dear.then(|| Measured {
                            window: 0,
                            subject: row.name.clone(),
                            value: Some(row.cost),
                            breaches: true,
                            title: format!("{}: a call cost {}", row.name, with_unit(row.cost, "USD")),
                            body: format!("The threshold is {}.", with_unit(rule.threshold_cost, "USD")),
                            page: format!("/ai/t/{}", row.id),
                        })
                    }
                    RuleConfig::AiFlaggedContent(rule) => {
                        let has_term = |term: &String| row.terms.iter().any(|own| own.eq_ignore_ascii_case(term));
                        let is_flagged = row.is_flagged && (rule.terms.is_empty() || rule.terms.iter().any(has_term));
                        is_flagged.then(|| Measured {
                            window: 0,
                            subject: row.conversation.clone(),
                            value: Some(1.0),
                            breaches: true,
                            title: format!("{}: flagged content", row.name),
                            body: format!("Terms: {}.", row.terms.join(", ")),
                            page: format!("/ai/t/{}", row.id),
                        })
                    }
                    _ => None,
                };
                let Some(found) = found else { continue };
                let value = found.value.unwrap_or(0.0);
                let mut change = self.change(parsed, &found.subject);
                change.claim = Some(RuleClaim::Row(row.id.clone()));
                let fired = self.fired(parsed, value, 0);
                let terms = parsed.terms(self.now);
                let fires = match &change.before {
                    Some(state) => may_fire(state, terms, self.now),
                    None => !terms.is_snoozed,
                };
                if fires {
                    change.after = Some(fired);
                    let (status, severity) = (AlertStatus::Firing, parsed.severity(value));
                    change.notification =
                        Some(parsed.notification(&self.project, &found, status, severity, Vec::new(), self.now));
                    self.states.insert((parsed.rule.id, change.subject.clone()), fired);
                }
                changes.push(change);
            }
        }
        changes
    }

    /// The costs of conversations in the last day.
    async fn conversations(&self, conversations: &[String]) -> Result<RuleBatch, QueryError> {
        let to = self.now.saturating_add(MINUTE_NS);
        let number_of = self.project.number;
        let costs = time_windows::conversation_costs(&self.executor, number_of, to, Some(conversations)).await?;
        let mut batch = RuleBatch::default();
        for (conversation, cost) in &costs {
            for parsed in self.rules {
                let RuleConfig::AiConversationCost(rule) = &parsed.config else { continue };
                let severity = parsed.severity(*cost);
                let seen = if *cost >= rule.threshold_cost { Seen::Breach(severity) } else { Seen::Fine };
                let mut change = self.change(parsed, conversation);
                let (after, outcome) = step(change.before.as_ref(), seen, parsed.terms(self.now), self.now);
                let found = Measured {
                    window: 0,
                    subject: conversation.clone(),
                    value: Some(*cost),
                    breaches: true,
                    title: format!("A conversation cost {}", with_unit(*cost, "USD")),
                    body: format!(
                        "Conversation {conversation}, in 24 hours. The threshold is ${}.",
                        number(rule.threshold_cost)
                    ),
                    page: format!("/ai?tab=conversations&q={}", escaped(conversation)),
                };
                change.after = after;
                let status = match outcome {
                    Outcome::Fire(_) => Some(AlertStatus::Firing),
                    Outcome::Resolve => Some(AlertStatus::Resolved),
                    Outcome::Nothing | Outcome::Stay => None,
                };
                change.notification = status
                    .map(|status| parsed.notification(&self.project, &found, status, severity, Vec::new(), self.now));
                if change.before != change.after {
                    batch.changes.push(change);
                }
            }
        }
        Ok(batch)
    }
}

fn of_issue(hash: u64, title: String, body: &str) -> Measured {
    let hash = ids::format_hash(hash);
    Measured {
        window: 0,
        value: Some(1.0),
        breaches: true,
        title,
        body: body.to_owned(),
        page: format!("/issues/{hash}"),
        subject: hash,
    }
}
