//! Changes for the worse: minutes of the subjects that may have changed, read from roll-ups, and the rules of
//! [`tidewatch_domain::changes`]. Nothing is kept between requests: the same minutes give the same answer.

mod callers;
mod found;
mod issues;
mod judge;
mod read;
mod screen;
mod shared_cause;
mod stopped;
mod versions;

use tidewatch_domain::changes::{self, CallsMore, Card, Change, Kind, SlowerOperation, sentence};
use tidewatch_domain::units::{MINUTE_NS, SECOND_NS};

use self::found::{Found, minute, sentence_of, text_of};
use self::read::Subject;
use self::versions::{Known, Origin};
use crate::deploys;
use crate::error::QueryError;
use crate::executor::Executor;
use crate::time::Range;
use crate::views::changes::*;
use tidewatch_accounts::Project;

/// Exports of a minute may arrive this much after its end, nanoseconds.
const LATE: i64 = 90 * SECOND_NS;
/// `POST /api/overview/changes`.
pub async fn read(executor: &Executor, project: &Project, request: ChangesRequest) -> Result<Changes, QueryError> {
    let now = executor.context.clock.now_ns();
    let range = Range::of_list(request.from_date.as_deref(), request.to_date.as_deref(), now)?;
    let end = range.to.min(now.saturating_sub(LATE)).div_euclid(MINUTE_NS);
    let screened = screen::screen(executor, project.number, end).await?;
    let known = Known::new(&deploys::all(&executor.context, project.number).await?);
    let (judged, new) = tokio::try_join!(
        judge::judged(executor, project.number, &screened.subjects, end),
        issues::new(executor, project, screened.data_since, end),
    )?;
    let mut cards = Vec::new();
    for (subject, mut found) in screened.subjects.iter().zip(judged) {
        let ended_before =
            |change: &Change| change.recovered.is_some_and(|minute| minute.saturating_mul(MINUTE_NS) < range.from);
        found.retain(|change| !ended_before(change));
        let failing_since = found.iter().find(|change| change.kind == Kind::Failing).map(|change| change.since);
        // One that is over does not hide one that is not.
        if found.iter().any(|change| change.recovered.is_none()) {
            found.retain(|change| change.recovered.is_none());
        }
        found.sort_by(|one, other| other.harm.total_cmp(&one.harm));
        if !found.is_empty() {
            cards.push(Found { subject, changes: found, failing_since, origin: Origin::default() });
        }
    }
    read_origins(executor, project.number, &mut cards, &known, end).await?;
    let mut data = stopped_services(executor, project.number, &mut cards, end).await?;
    let worse: Vec<callers::Worse<'_>> = cards.iter().map(|card| (card.subject, &card.changes[0])).collect();
    let callers::Guilt { mut guilty, calls_more } = callers::guilty_of(executor, project.number, &worse).await?;
    let slower = shared_cause::join(executor, project.number, &worse, &mut guilty).await?;
    let mut taken = Vec::new();
    for (index, card) in cards.iter().enumerate().filter(|(index, _)| guilty[*index] == *index) {
        // Issues of the subjects that suffer belong to the cause.
        let of_cause = |other: &usize| guilty[*other] == index;
        let together: Vec<&Found<'_>> = (0..cards.len()).filter(of_cause).map(|other| &cards[other]).collect();
        let own = new.iter().filter(|issue| together.iter().any(|card| issue.is_of(card)));
        let own: Vec<&issues::NewIssue> = own.collect();
        taken.extend(own.iter().map(|issue| issue.hash));
        let titles = own.iter().map(|issue| issue.title.clone()).collect();
        let suffering = together.iter().map(|card| card.subject.name.clone());
        let refused_with = match card.changes.iter().find(|change| change.kind == Kind::Refusing) {
            Some(change) => versions::refused_with(executor, project.number, card.subject, change, end).await?,
            None => None,
        };
        let suffering = suffering.filter(|name| *name != card.subject.name).collect();
        data.push(view(card, titles, suffering, refused_with, calls_more[index].as_ref(), slower[index].as_ref()));
    }
    data.extend(
        new.iter().filter(|issue| issue.is_frequent() && !taken.contains(&issue.hash)).map(issues::NewIssue::view),
    );
    // Open ones first, then by harm, then the latest, then by name.
    data.sort_by(|one, other| {
        let state = one.recovered.is_some().cmp(&other.recovered.is_some());
        let harm = state.then(other.score.total_cmp(&one.score));
        harm.then_with(|| other.since.cmp(&one.since)).then_with(|| one.name.cmp(&other.name))
    });
    Ok(Changes { data, checked: screened.checked, quiet: screened.quiet })
}

/// Reads where the changes come from: of fallen traffic in one query, of others in two at once.
async fn read_origins(
    executor: &Executor,
    project: u32,
    cards: &mut [Found<'_>],
    known: &Known,
    end: i64,
) -> Result<(), QueryError> {
    let (mut fewer, mut others): (Vec<&mut Found<'_>>, Vec<&mut Found<'_>>) =
        cards.iter_mut().partition(|card| card.changes[0].kind == Kind::Fewer);
    let subjects: Vec<&Subject> = fewer.iter().map(|card| card.subject).collect();
    let services = versions::services(executor, project, &subjects, end).await?;
    fewer.iter_mut().zip(services).for_each(|(card, origin)| card.origin = origin);
    for pair in others.chunks_mut(2) {
        match pair {
            [one, other] => {
                (one.origin, other.origin) = tokio::try_join!(
                    versions::origin(executor, project, one.subject, &one.changes[0], known, end),
                    versions::origin(executor, project, other.subject, &other.changes[0], known, end),
                )?;
            }
            rest => {
                for card in rest {
                    card.origin =
                        versions::origin(executor, project, card.subject, &card.changes[0], known, end).await?;
                }
            }
        }
    }
    Ok(())
}

/// Cards of the services that stopped; the cards of their subjects are removed.
async fn stopped_services(
    executor: &Executor,
    project: u32,
    cards: &mut Vec<Found<'_>>,
    end: i64,
) -> Result<Vec<ChangeCard>, QueryError> {
    let silent = |card: &Found<'_>| card.changes.iter().position(stopped::is_silent);
    let of_cards: Vec<stopped::Silent<'_>> = cards
        .iter()
        .filter_map(|card| {
            Some(stopped::Silent { service: &card.origin.service, change: &card.changes[silent(card)?] })
        })
        .collect();
    let stopped = stopped::cards(executor, project, &of_cards, end).await?;
    let is_whole = |card: &ChangeCard| card.service.is_empty();
    cards.retain(|card| {
        let has_stopped = stopped.iter().any(|of| is_whole(of) || of.service == card.origin.service);
        silent(card).is_none() || !has_stopped
    });
    Ok(stopped)
}

fn view(
    found: &Found<'_>,
    new_issues: Vec<String>,
    suffering: Vec<String>,
    refused_with: Option<i64>,
    calls_more: Option<&CallsMore>,
    slower_operation: Option<&SlowerOperation>,
) -> ChangeCard {
    let Found { subject, changes: found, origin, .. } = found;
    let scaled: Vec<Change> = found.iter().map(|change| subject.scaled(change)).collect();
    let version = origin.version.as_ref().map(|(version, relation)| (version.as_str(), *relation));
    let card = Card {
        name: &subject.name,
        changes: &scaled,
        service: &origin.service,
        version,
        issues: &new_issues,
        sufferers: &suffering,
        refused_with,
        calls_more,
        slower_operation,
    };
    let since = scaled.iter().map(|change| change.since).min().unwrap_or(0);
    let recovered = scaled.iter().map(|change| change.recovered).collect::<Option<Vec<i64>>>();
    // The band of the change that the sentence says first.
    let slow_ns = scaled.iter().map(|change| change.slow_ns).find(|ns| *ns > 0.0).unwrap_or(0.0);
    let sentence_parts = sentence_of(|clock| sentence(&card, clock));
    ChangeCard {
        kind: subject.kind(),
        name: subject.name.clone(),
        exception_hash: None,
        service: origin.service.clone(),
        since: minute(since),
        since_exact: scaled.iter().all(|change| change.is_exact),
        version: version.map(|(version, _)| version.to_owned()),
        version_relation: version.map(|(_, relation)| match relation {
            changes::Relation::Carries => VersionRelation::Carries,
            changes::Relation::BeganWith | changes::Relation::Refuted => VersionRelation::BeganWith,
        }),
        sentence: text_of(&sentence_parts),
        sentence_parts,
        score: scaled.iter().map(|change| change.harm).sum(),
        effects: scaled.iter().map(effect).collect(),
        slow_ms: (slow_ns > 0.0).then_some(slow_ns / 1e6),
        new_issues,
        suffering,
        recovered: recovered.and_then(|ends| ends.into_iter().max()).map(minute),
    }
}

fn effect(change: &Change) -> Effect {
    let (metric, scale) = match change.kind {
        Kind::Slower => (EffectMetric::P50, 1e-6),
        Kind::SlowerTail => (EffectMetric::P90, 1e-6),
        Kind::SlowShare => (EffectMetric::SlowShare, 1.0),
        Kind::Failing => (EffectMetric::ErrorRate, 1.0),
        Kind::Refusing => (EffectMetric::RefusedShare, 1.0),
        Kind::Fewer => (EffectMetric::Calls, 1.0),
        Kind::Dearer => (EffectMetric::Cost, 1.0),
    };
    let (before, after) = (change.before * scale, change.after * scale);
    Effect { metric, before, after, since: minute(change.since) }
}
