//! Loads demo data in the server itself: the shop's traffic of the last hour, through admission, quota, pipeline and
//! journal like any other export.
//!
//! The control database records that a project is a demo and whether all of it is loaded; this process tracks the
//! progress of its own loads. A project that is neither loaded nor being loaded was interrupted. A load ends early when
//! its project is deleted or the server stops.

use std::sync::Arc;

use axum::body::Bytes;
use tidewatch_domain::decode::Encoding;
use tidewatch_domain::model::Signal;
use tidewatch_domain::units::MINUTE_NS;

use crate::contexts::{Accounts, Ingest, Process};
use crate::error::ApiError;
use crate::state::demos::{End, Load};
use tidewatch_accounts::{Actor, Demo, NewProject, Project};
use tidewatch_bench::demo::incident::{Effect, Incident};
use tidewatch_bench::demo::traffic::{History, Traffic};
use tidewatch_ingest::accept;
use tidewatch_ingest::accept::Export;
use tidewatch_ingest::coding::Coding;
use tidewatch_ingest::outcome::{Refused, RejectReason};
use tidewatch_ingest::request_attributes::RequestAttributes;
use tidewatch_limits as limits;
use tidewatch_limits::admission::FULL;
use tidewatch_limits::admission::body_permit::BodyPermit;
use tidewatch_limits::admission::slots::Full;
use tidewatch_query::context::QueryContext;

/// Name of the project; names are not unique.
const NAME: &str = "Demo";
const FRAMEWORK: &str = "opentelemetry";
/// Actions in the shop per second.
const RATE: f64 = 3.0;
/// Length of the traffic that is generated and then stored in one step.
const PIECE_NS: u64 = MINUTE_NS as u64;

/// Reasons for which a load ends early.
enum Early {
    Stopped,
    Failed(String),
}

/// Creates the organization's demo project and starts to load it. Returns false if demo data is loaded or being loaded.
pub async fn begin(
    accounts: &Arc<Accounts>,
    query: &Arc<QueryContext>,
    ingest: &Arc<Ingest>,
    process: &Arc<Process>,
    by: &Actor,
    organization: i64,
    minutes: u64,
) -> Result<bool, ApiError> {
    let _one = ingest.demos.one_at_a_time().await;
    let is_running = |project: &Project| ingest.demos.of(project.number).is_some_and(|load| load.is_running());
    let known = accounts.control.projects.demo_project(organization);
    if known.as_ref().is_some_and(|project| project.demo == Some(Demo::Loaded) || is_running(project)) {
        return Ok(false);
    }
    let new = NewProject { organization_id: organization, name: NAME.to_owned(), framework: FRAMEWORK.to_owned() };
    let (project, is_new) = accounts.control.projects.begin_demo(by, &new, known.as_deref()).await?;
    if !is_new {
        // Another node has started it.
        return Ok(false);
    }
    let (number, load) = (project.number, Arc::new(Load::default()));
    let task = tokio::spawn(run(
        accounts.clone(),
        query.clone(),
        ingest.clone(),
        process.clone(),
        project,
        load.clone(),
        minutes,
    ));
    ingest.demos.add(number, load, task, |number| accounts.control.projects.project_by_number(number).is_some());
    Ok(true)
}

async fn run(
    accounts: Arc<Accounts>,
    query: Arc<QueryContext>,
    ingest: Arc<Ingest>,
    process: Arc<Process>,
    project: Arc<Project>,
    load: Arc<Load>,
    minutes: u64,
) {
    let number = project.number;
    let (end, error) = match fill(&accounts, &query, &ingest, &process, number, &load, minutes).await {
        Ok(()) => {
            tracing::info!(project = number, "demo data loaded: {} spans", load.spans());
            (End::Loaded, None)
        }
        Err(Early::Stopped) => (End::Stopped, None),
        Err(Early::Failed(message)) => {
            tracing::warn!(project = number, "demo data could not be loaded: {message}");
            (End::Failed, Some(message))
        }
    };
    ingest.demos.end(&load, end, error);
}

async fn fill(
    accounts: &Accounts,
    query: &Arc<QueryContext>,
    ingest: &Ingest,
    process: &Process,
    number: u32,
    load: &Load,
    minutes: u64,
) -> Result<(), Early> {
    let now_ns = u64::try_from(accounts.clock.now_ns()).unwrap_or(0);
    let (incident, effect) = (Incident::Release, Effect::Big);
    let mut traffic = Traffic::new(History { now_ns, minutes, rate: RATE, seed: 1, incident, effect });
    let (started_ns, mut made_ns) = (traffic.clock_ns(), traffic.clock_ns());
    while made_ns < now_ns {
        let until_ns = (made_ns + PIECE_NS).min(now_ns);
        // Generating traffic uses CPU time.
        let piece = tokio::task::spawn_blocking(move || {
            while traffic.clock_ns() < until_ns {
                traffic.step();
            }
            let spans = traffic.shop.exports.span_count as u64;
            let bodies = traffic.shop.exports.take_bodies();
            (traffic, bodies, spans)
        });
        let (next, bodies, spans) =
            piece.await.map_err(|panic| Early::Failed(ApiError::internal(panic).to_string()))?;
        traffic = next;
        for (signal, body) in bodies {
            store(accounts, query, ingest, process, number, signal, Bytes::from(body)).await?;
        }
        made_ns = until_ns;
        load.add_spans(spans);
        let percent = (made_ns - started_ns) * 100 / (now_ns - started_ns).max(1);
        load.set_percent(percent as u8);
    }
    match accounts.control.projects.finish_demo(number).await {
        Ok(true) => Ok(()),
        Ok(false) => Err(Early::Stopped),
        Err(error) => Err(Early::Failed(ApiError::from(error).to_string())),
    }
}

/// Stores one export, with retries while the server is overloaded. Refusals are counted as for any client.
async fn store(
    accounts: &Accounts,
    query: &Arc<QueryContext>,
    ingest: &Ingest,
    process: &Process,
    number: u32,
    signal: Signal,
    body: Bytes,
) -> Result<(), Early> {
    let mut closing = ingest.demos.closing();
    for attempt in 1.. {
        if ingest.demos.is_closing() {
            return Err(Early::Stopped);
        }
        let Some(project) = accounts.control.projects.project_by_number(number) else { return Err(Early::Stopped) };
        let Err(refused) = export(query, ingest, process, &project, signal, body.clone()).await else { return Ok(()) };
        ingest.refused(number, signal, &refused);
        if refused.reason != RejectReason::Overloaded || attempt >= limits::DEMO_ATTEMPTS {
            return Err(Early::Failed(refused.error.to_string()));
        }
        tokio::select! {
            () = tokio::time::sleep(limits::DEMO_PAUSE) => {}
            _ = closing.wait_for(|closing| *closing) => return Err(Early::Stopped),
        }
    }
    Ok(())
}

async fn export(
    query: &Arc<QueryContext>,
    ingest: &Ingest,
    process: &Process,
    project: &Project,
    signal: Signal,
    body: Bytes,
) -> Result<(), Refused> {
    let full = || Refused::overloaded(FULL);
    ingest.quotas.admit(query, project, process.config.project_quota(), query.clock.now_ns()).await?;
    let mut body_permit =
        BodyPermit::enter(&ingest.admission, &ingest.bodies, project.number).await.map_err(|Full| full())?;
    if !body_permit.grow_to(body.len()) {
        return Err(full());
    }
    let export = Export {
        project,
        kind: signal.into(),
        encoding: Encoding::Protobuf,
        coding: Coding::Identity,
        attributes: RequestAttributes::default(),
        body,
        body_permit,
    };
    let accepted = accept::accept(&ingest.pipeline, export).await?;
    ingest.quotas.charge(project.number, accepted.bytes, accepted.records);
    Ok(())
}
