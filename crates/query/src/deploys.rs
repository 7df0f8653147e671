//! Deploys: reported ones, and first sights of versions.
//!
//! The first record of each version of a service counts as a deploy.

use tidewatch_accounts::{Actor, Deploy, FirstVersion, Project};
use tidewatch_limits as limits;

use crate::context::QueryContext;
use crate::error::QueryError;
use crate::global_filter::GlobalFilter;
use crate::time::{self, Range};
use crate::views::deploy::*;

/// A version that went live.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WentLive {
    /// As reported, or with empty details.
    pub deploy: Deploy,
    /// Time of the first record, nanoseconds since the epoch.
    pub first_ns: Option<i64>,
    /// Whether a build pipeline has reported it.
    pub is_reported: bool,
    /// The version before it in the service and environment.
    pub previous: Option<String>,
}

impl WentLive {
    /// Time of the deploy, nanoseconds since the epoch.
    pub fn deployed_ns(&self) -> i64 {
        self.deploy.deployed_ns
    }
}

/// `POST /api/deploys/list`.
pub async fn list(
    context: &QueryContext,
    project: &Project,
    selected: &GlobalFilter,
    request: DeploysRequest,
) -> Result<Deploys, QueryError> {
    let now = context.clock.now_ns();
    let range = Range::of_list(request.from_date.as_deref(), request.to_date.as_deref(), now)?;
    let service = request.service.filter(|service| !service.is_empty());
    let is_listed = |one: &WentLive| {
        let is_inside = range.from <= one.deploy.deployed_ns && one.deploy.deployed_ns < range.to;
        let environment = Some(one.deploy.environment.as_str()).filter(|name| !one.is_reported || !name.is_empty());
        is_inside
            && service.as_ref().is_none_or(|service| *service == one.deploy.service)
            && selected.selects_deploy(&one.deploy.service, environment)
    };
    let mut listed: Vec<WentLive> = all(context, project.number).await?.into_iter().filter(is_listed).collect();
    listed.reverse();
    let truncated = listed.len() > limits::DEPLOYS_LISTED_MAX;
    listed.truncate(limits::DEPLOYS_LISTED_MAX);
    Ok(Deploys { data: listed.into_iter().map(view).collect(), truncated })
}

/// All deploys of a project, ascending by time.
pub async fn all(context: &QueryContext, project: u32) -> Result<Vec<WentLive>, QueryError> {
    let (first, reported) =
        tokio::try_join!(context.projects.first_versions(project), context.projects.deploys(project))?;
    Ok(merged(first, reported))
}

/// `POST /api/deploys`.
pub async fn report(
    context: &QueryContext,
    actor: &Actor,
    project: &Project,
    report: DeployReport,
) -> Result<DeployView, QueryError> {
    let now = context.clock.now_ns();
    let deployed_ns = time::parse_optional(report.time.as_deref(), "time")?;
    let mut deploy = checked(report, deployed_ns.unwrap_or(now), now)?;
    if deployed_ns.is_none() {
        let is_repeated = |known: &Deploy| {
            let key = |of: &Deploy| (of.service.clone(), of.environment.clone(), of.version.clone());
            key(known) == key(&deploy) && within(known.deployed_ns, now, limits::DEPLOY_REPEAT)
        };
        let known = context.projects.deploys(project.number).await?.into_iter().rfind(is_repeated);
        deploy.deployed_ns = known.map_or(deploy.deployed_ns, |known| known.deployed_ns);
    }
    context.projects.report_deploy(actor, project, &deploy).await?;
    let stored = all(context, project.number).await?.into_iter().find(|one| one.is_reported && one.deploy == deploy);
    Ok(view(stored.unwrap_or(WentLive { deploy, first_ns: None, is_reported: true, previous: None })))
}

fn checked(report: DeployReport, deployed_ns: i64, now: i64) -> Result<Deploy, QueryError> {
    let DeployReport { service, version, environment, commit, author, url, .. } = report;
    let fields = [
        ("service", &service, true),
        ("version", &version, true),
        ("environment", &environment, false),
        ("commit", &commit, false),
        ("author", &author, false),
    ];
    for (name, value, is_needed) in fields {
        if is_needed && value.trim().is_empty() {
            return Err(QueryError::malformed(format!("{name} is missing")));
        }
        if value.chars().count() > limits::DEPLOY_CHARS_MAX {
            let most = limits::DEPLOY_CHARS_MAX;
            return Err(QueryError::unprocessable(format!("{name} has more than {most} characters")));
        }
        if value.chars().any(char::is_control) {
            return Err(QueryError::unprocessable(format!("{name} has control characters")));
        }
    }
    let is_page = url.starts_with("https://") || url.starts_with("http://");
    if !url.is_empty() && (!is_page || url.len() > limits::DEPLOY_URL_BYTES_MAX || url.contains(char::is_whitespace)) {
        return Err(QueryError::unprocessable("url is no address that begins with http:// or https://"));
    }
    if deployed_ns > now && !within(deployed_ns, now, limits::DEPLOY_AHEAD_MAX) {
        return Err(QueryError::unprocessable("time is in the future"));
    }
    Ok(Deploy { service, environment, version, deployed_ns, commit, author, url })
}

fn within(one_ns: i64, other_ns: i64, time: std::time::Duration) -> bool {
    u128::from(one_ns.abs_diff(other_ns)) <= time.as_nanos()
}

/// Merges first sights into the reported deploys they belong to: the nearest within [`limits::DEPLOY_SEEN_WITHIN`], of
/// the same environment or of none. Ascending by time.
fn merged(first: Vec<FirstVersion>, reported: Vec<Deploy>) -> Vec<WentLive> {
    let live = |deploy| WentLive { deploy, first_ns: None, is_reported: true, previous: None };
    let mut all: Vec<WentLive> = reported.into_iter().map(live).collect();
    for FirstVersion { service, environment, version, first_ns, .. } in first {
        let is_of = |one: &&mut WentLive| {
            let deploy = &one.deploy;
            one.is_reported
                && (&deploy.service, &deploy.version) == (&service, &version)
                && (deploy.environment.is_empty() || deploy.environment == environment)
                && within(deploy.deployed_ns, first_ns, limits::DEPLOY_SEEN_WITHIN)
        };
        let distance = |one: &&mut WentLive| one.deploy.deployed_ns.abs_diff(first_ns);
        match all.iter_mut().filter(is_of).min_by_key(distance) {
            Some(one) => one.first_ns = Some(one.first_ns.map_or(first_ns, |known| known.min(first_ns))),
            None => {
                let [commit, author, url] = Default::default();
                let deploy = Deploy { service, environment, version, deployed_ns: first_ns, commit, author, url };
                all.push(WentLive { deploy, first_ns: Some(first_ns), is_reported: false, previous: None });
            }
        }
    }
    let key = |one: &WentLive| (one.deploy.deployed_ns, one.deploy.service.clone(), one.deploy.version.clone());
    all.sort_by_key(key);
    let mut latest: std::collections::HashMap<(String, String), String> = std::collections::HashMap::new();
    for one in &mut all {
        let place = (one.deploy.service.clone(), one.deploy.environment.clone());
        let before = latest.insert(place, one.deploy.version.clone());
        one.previous = before.filter(|version| *version != one.deploy.version);
    }
    all
}

/// The view of a deploy.
pub fn view(one: WentLive) -> DeployView {
    let Deploy { service, environment, version, deployed_ns, commit, author, url } = one.deploy;
    DeployView {
        service,
        environment,
        version,
        time: time::to_rfc3339(deployed_ns),
        first_seen: one.first_ns.map(time::to_rfc3339),
        reported: one.is_reported,
        previous: one.previous,
        commit,
        author,
        url,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidewatch_domain::units::{HOUR_NS, MINUTE_NS};

    fn first(environment: &str, version: &str, minute: i64) -> FirstVersion {
        let (environment, version) = (environment.to_owned(), version.to_owned());
        FirstVersion { project: 1, service: "cart".to_owned(), environment, version, first_ns: minute * MINUTE_NS }
    }

    fn reported(environment: &str, version: &str, minute: i64) -> Deploy {
        let report = DeployReport {
            service: "cart".to_owned(),
            version: version.to_owned(),
            environment: environment.to_owned(),
            ..DeployReport::default()
        };
        checked(report, minute * MINUTE_NS, 24 * HOUR_NS).expect("a deploy")
    }

    #[test]
    fn first_sights_belong_to_reported_deploys_or_stand_alone() {
        let sights =
            vec![first("prod", "1", 0), first("prod", "2", 60), first("stage", "2", 50), first("prod", "3", 300)];
        let merged =
            merged(sights, vec![reported("prod", "2", 55), reported("", "3", 100), reported("prod", "1", 400)]);
        type Found<'a> = (&'a str, &'a str, i64, Option<i64>, Option<&'a str>);
        let found: Vec<Found<'_>> = merged
            .iter()
            .map(|one| {
                let first = one.first_ns.map(|ns| ns / MINUTE_NS);
                let WentLive { deploy, previous, .. } = one;
                let minute = deploy.deployed_ns / MINUTE_NS;
                (deploy.environment.as_str(), deploy.version.as_str(), minute, first, previous.as_deref())
            })
            .collect();
        let expected = [
            ("prod", "1", 0, Some(0), None),
            ("stage", "2", 50, Some(50), None),
            ("prod", "2", 55, Some(60), Some("1")),
            ("", "3", 100, None, None),
            ("prod", "3", 300, Some(300), Some("2")),
            ("prod", "1", 400, None, Some("3")),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_report_is_checked() {
        let good = || DeployReport { service: "a".into(), version: "1".into(), ..DeployReport::default() };
        let check = |report, at| checked(report, at, 0).is_ok();
        assert!(check(good(), 0) && check(DeployReport { url: "https://ci/1".into(), ..good() }, HOUR_NS));
        assert!(!check(good(), HOUR_NS + 1));
        for wrong in [
            DeployReport { service: " ".into(), ..good() },
            DeployReport { version: String::new(), ..good() },
            DeployReport { author: "x".repeat(limits::DEPLOY_CHARS_MAX + 1), ..good() },
            DeployReport { commit: "a\nb".into(), ..good() },
            DeployReport { url: "javascript:alert(1)".into(), ..good() },
        ] {
            assert!(!check(wrong.clone(), 0), "{wrong:?}");
        }
    }
}
