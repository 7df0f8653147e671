//! Users, organizations, roles, projects and tokens in memory, so that requests are authorized without the database.
//!
//! The directory is loaded at start and after each change by this node. Changes by other nodes and by the command line
//! increment a version, which is polled every [`limits::DIRECTORY_PAUSE`] ([`Control::follow`]).

mod load;

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Weak};

use tidewatch_domain::model::RequestKind;
use tidewatch_domain::project::IngestSettings;
use tidewatch_domain::rules::content_terms::{ContentTerms, Language, Languages};
use tidewatch_domain::rules::framework::Framework;
use tidewatch_domain::rules::healthcheck::Healthchecks;
use tokio::runtime::Handle;
use uuid::Uuid;

use super::quota::Quota;
use super::tokens::fingerprint;
use super::{Control, ControlError, Role};
use tidewatch_limits as limits;

/// A user, without the password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Row id.
    pub id: i64,
    /// Lower case; unique.
    pub email: String,
    /// Display name.
    pub name: String,
    /// Nanoseconds since the epoch.
    pub created_ns: i64,
    /// Sessions of an older epoch have ended.
    pub session_epoch: i64,
    /// Disabled users cannot sign in.
    pub is_disabled: bool,
    /// IANA name; `None`: not chosen.
    pub timezone: Option<String>,
    /// `system`, `light` or `dark`; `None`: not chosen.
    pub theme: Option<String>,
    /// A mail to the address, or a provider, has confirmed it.
    pub is_email_verified: bool,
    /// Has a confirmed authenticator or a passkey.
    pub has_two_factor: bool,
    /// Has no password and signs in with a provider.
    pub has_no_password: bool,
    /// At the last sign-in with a provider, the provider reported several factors.
    pub is_provider_multi_factor: bool,
}

impl User {
    /// Returns whether the user satisfies an organization that requires two factors: with a second factor, or without a
    /// password and with a provider that reported several factors.
    pub fn meets_two_factor(&self) -> bool {
        self.has_two_factor || (self.has_no_password && self.is_provider_multi_factor)
    }
}

/// An organization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Organization {
    /// Row id, ascending in time of creation.
    pub id: i64,
    /// Display name.
    pub name: String,
    /// IANA name.
    pub timezone: String,
    /// Members without a second factor have no access to its projects.
    pub requires_two_factor: bool,
}

/// A user's membership in an organization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    /// The organization.
    pub organization: Arc<Organization>,
    /// The user's role in it.
    pub role: Role,
}

/// A project. All telemetry belongs to one.
#[derive(Debug, Clone, PartialEq)]
pub struct Project {
    /// Id in the API.
    pub id: Uuid,
    /// Value of the column `project` of every telemetry table. Never 0, never reused.
    pub number: u32,
    /// Display name.
    pub name: String,
    /// Token of exporters: 32 hex digits.
    pub token: String,
    /// Token of symbol uploads: 32 hex digits.
    pub upload_token: String,
    /// Framework that the user chose for the project.
    pub framework: String,
    /// The organization that owns the project.
    pub organization_id: i64,
    /// Nanoseconds since the epoch.
    pub created_ns: i64,
    /// State of the demo data; `None`: the project is no demo project.
    pub demo: Option<Demo>,
    /// Settings that users change.
    pub settings: ProjectSettings,
}

/// State of the demo data of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Demo {
    /// The data is being loaded, or its loading was interrupted.
    Loading,
    /// The data is complete.
    Loaded,
}

/// A deleted project whose telemetry and uploads are purged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeletedProject {
    /// See [`Project::number`].
    pub number: u32,
    /// `None` for projects deleted before ids were recorded.
    pub id: Option<Uuid>,
    /// Nanoseconds since the epoch.
    pub deleted_ns: i64,
}

/// The settings of a project.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProjectSettings {
    /// Settings that apply to exports, health checks included.
    pub ingest: IngestSettings,
    /// Drops spans of successful health checks. WIRE 8.6.
    pub drop_healthy_healthchecks: bool,
    /// Paths that count as health checks.
    pub healthcheck_paths: Vec<String>,
    /// Labels of profiles that are stored.
    pub profile_label_allowlist: Vec<String>,
    /// Retention of telemetry, days; `None`: the default of the server.
    pub retention_days: Option<u32>,
    /// Quota of the project, in addition to the default quota of the server.
    pub quota: Quota,
    /// Canonical origins of pages that may send telemetry; empty: all origins.
    pub allowed_origins: Vec<String>,
    /// Template of links to the code host with `{path}`, and `{commit}` and `{line}`; empty: no links.
    pub source_url: String,
    /// Folder that is cut from the start of the paths of frames; may be empty.
    pub source_root: String,
}

impl Project {
    /// Returns the settings for a request of this kind. Only kinds with spans include the health check filter and
    /// the content flags. The caller sets the time before which records are too old.
    pub fn ingest_settings(&self, kind: RequestKind) -> IngestSettings {
        let settings = &self.settings.ingest;
        let healthchecks = settings.healthchecks.as_ref().filter(|_| kind.has_spans()).cloned();
        let content_terms = settings.content_terms.as_ref().filter(|_| kind.has_spans()).cloned();
        let framework = Framework::of_project(&self.framework);
        IngestSettings { content_terms, healthchecks, framework, ..*settings }
    }
}

impl ProjectSettings {
    /// Returns the filter for these two settings; `None` if it drops nothing. Paths beyond
    /// [`limits::HEALTHCHECK_PATHS_BYTES_MAX`], stored before that limit existed, are ignored.
    pub fn healthchecks(drop_healthy: bool, paths: &[String]) -> Option<Arc<Healthchecks>> {
        let mut left = limits::HEALTHCHECK_PATHS_BYTES_MAX;
        let fitting = paths.iter().take_while(|path| {
            let fits = path.len() < left;
            left = left.saturating_sub(path.len() + 1);
            fits
        });
        let lines: Vec<&str> = fitting.map(String::as_str).collect();
        drop_healthy.then(|| Arc::new(Healthchecks::new(&lines.join("\n"))))
    }
}

/// The content flags of these codes of languages and terms; `None` without any. Unknown codes are ignored.
pub fn content_terms(languages: &[String], terms: &[String]) -> Option<Arc<ContentTerms>> {
    let languages = Languages::of(languages.iter().filter_map(|code| Language::parse(code)));
    let is_off = languages == Languages::default() && terms.is_empty();
    (!is_off).then(|| Arc::new(ContentTerms::new(languages, &terms.join("\n"))))
}

/// The codes of languages and the terms of content flags: the inverse of [`content_terms`].
pub fn content_lists(terms: Option<&ContentTerms>) -> (Vec<String>, Vec<String>) {
    let Some(terms) = terms else { return Default::default() };
    let codes = terms.languages().iter().map(|language| language.code().to_owned()).collect();
    (codes, terms.terms().lines().map(str::to_owned).collect())
}

/// The data that authorizes requests, as of one version.
#[derive(Default)]
pub struct Directory {
    version: i64,
    users: HashMap<i64, Arc<User>>,
    organizations: HashMap<i64, Arc<Organization>>,
    /// user -> organization -> role
    roles: HashMap<i64, HashMap<i64, Role>>,
    /// user -> project -> role in it
    overrides: HashMap<i64, HashMap<u32, Role>>,
    /// Ascending by number.
    projects: Vec<Arc<Project>>,
    deleted: Arc<[DeletedProject]>,
    by_token: HashMap<[u8; 32], TokenOwner>,
    by_upload_token: HashMap<[u8; 32], TokenOwner>,
    /// project -> end of the grace period of its replaced tokens: runtime, upload
    replaced: HashMap<u32, [i64; 2]>,
    /// sealed token -> token: opening the tokens of all projects would dominate the cost of a reload.
    opened: HashMap<String, String>,
}

/// The project of a token, and the end of the token's validity.
struct TokenOwner {
    project: Arc<Project>,
    /// Nanoseconds since the epoch; `i64::MAX`: the token is the current one.
    expires_ns: i64,
}

/// Lookups in memory.
impl Control {
    /// Returns the ends of the grace periods of the project's replaced tokens, nanoseconds since the epoch: runtime,
    /// upload. `None` if no replaced token is accepted at `now_ns`.
    pub fn replaced_tokens(&self, project: u32, now_ns: i64) -> [Option<i64>; 2] {
        let until = self.directory().read().replaced.get(&project).copied().unwrap_or_default();
        until.map(|until| (until > now_ns).then_some(until))
    }

    /// Returns whether any organization exists.
    pub fn has_organizations(&self) -> bool {
        !self.directory().read().organizations.is_empty()
    }

    /// Returns the oldest organization: its owner operates this server.
    pub fn first_organization(&self) -> Option<i64> {
        self.directory().read().organizations.keys().min().copied()
    }

    /// Returns a user by id; `None` if unknown or disabled.
    pub fn user(&self, id: i64) -> Option<Arc<User>> {
        self.database.user(id)
    }

    /// Returns the user's memberships, ascending by organization id.
    pub fn memberships(&self, user: i64) -> Vec<Membership> {
        self.database.memberships(user)
    }

    /// Returns the user's membership in an organization.
    pub fn membership(&self, user: i64, organization: i64) -> Option<Membership> {
        let directory = self.directory().read();
        let role = *directory.roles.get(&user)?.get(&organization)?;
        Some(Membership { organization: directory.organizations.get(&organization)?.clone(), role })
    }

    /// Returns the user's effective role in a project. `None` without access, also for lack of the second factor that
    /// the organization requires.
    pub fn role_in(&self, user: i64, project: &Project) -> Option<Role> {
        self.directory().read().role_in(user, project)
    }

    /// Returns the project of an exporter's token that is valid at `now_ns`.
    pub fn project_by_token(&self, token: &str, now_ns: i64) -> Option<Arc<Project>> {
        project_of_token(&self.directory().read().by_token, token, now_ns)
    }

    /// Returns the project of an upload token that is valid at `now_ns`.
    pub fn project_by_upload_token(&self, token: &str, now_ns: i64) -> Option<Arc<Project>> {
        project_of_token(&self.directory().read().by_upload_token, token, now_ns)
    }

    /// Returns a project by its id.
    pub fn project_by_id(&self, id: Uuid) -> Option<Arc<Project>> {
        self.directory().read().projects.iter().find(|project| project.id == id).cloned()
    }

    /// Returns a project by its number.
    pub fn project_by_number(&self, number: u32) -> Option<Arc<Project>> {
        self.database.project_by_number(number)
    }

    /// Returns the organization's demo project.
    pub fn demo_project(&self, organization: i64) -> Option<Arc<Project>> {
        let directory = self.directory().read();
        let is_it = |project: &&Arc<Project>| project.demo.is_some() && project.organization_id == organization;
        directory.projects.iter().find(is_it).cloned()
    }

    /// Returns the numbers of the organization's projects, ascending.
    pub fn project_numbers(&self, organization: i64) -> Vec<u32> {
        let directory = self.directory().read();
        let owned = directory.projects.iter().filter(|project| project.organization_id == organization);
        owned.map(|project| project.number).collect()
    }

    /// Returns the retention in days by project number, of the projects that set one.
    pub fn retention_days(&self) -> BTreeMap<u32, u32> {
        let directory = self.directory().read();
        let own = |project: &Arc<Project>| Some((project.number, project.settings.retention_days?));
        directory.projects.iter().filter_map(own).collect()
    }

    /// Returns all projects, ascending by number.
    pub fn all_projects(&self) -> Vec<Arc<Project>> {
        self.directory().read().projects.clone()
    }

    /// Returns the deleted projects, ascending by number.
    pub fn deleted_projects(&self) -> Arc<[DeletedProject]> {
        self.directory().read().deleted.clone()
    }

    /// Returns the projects that the user has access to, with the user's role, ascending by number.
    pub fn projects_of(&self, user: i64) -> Vec<(Arc<Project>, Role)> {
        let directory = self.directory().read();
        let role = |project: &Arc<Project>| Some((project.clone(), directory.role_in(user, project)?));
        directory.projects.iter().filter_map(role).collect()
    }

    /// Reloads the directory. An older version never replaces a newer one.
    pub async fn refresh(&self) -> Result<(), ControlError> {
        self.database.refresh().await
    }

    async fn refresh_if_changed(&self) -> Result<(), ControlError> {
        let version = load::version(self.pool()).await?;
        let known = self.directory().read().version;
        if version == known { Ok(()) } else { self.refresh().await }
    }

    /// Follows changes by other nodes and the command line, until `shutdown` is closed or `control` is dropped.
    ///
    /// A thread measures the time and each poll runs as blocking work, because tests pause the timers of the runtime.
    pub fn follow(control: Weak<Control>, shutdown: Receiver<()>) -> std::io::Result<()> {
        let runtime = Handle::current();
        std::thread::Builder::new().name("directory".to_owned()).spawn(move || {
            let is_readable = Arc::new(AtomicBool::new(true));
            while let (Err(RecvTimeoutError::Timeout), Some(control)) =
                (shutdown.recv_timeout(limits::DIRECTORY_PAUSE), control.upgrade())
            {
                let (runtime_inside, is_readable) = (runtime.clone(), is_readable.clone());
                runtime.spawn_blocking(move || runtime_inside.block_on(poll(&control, &is_readable)));
            }
        })?;
        Ok(())
    }
}

/// Reloads the directory if it has changed. Logs the first of consecutive failures.
async fn poll(control: &Control, is_readable: &AtomicBool) {
    let polled = control.refresh_if_changed().await;
    let was_readable = is_readable.swap(polled.is_ok(), Ordering::Relaxed);
    if let (Err(error), true, false) = (polled, was_readable, control.pool().is_closed()) {
        tracing::error!("the control database cannot be read; what is in memory stays in force: {error}");
    }
}

impl Directory {
    pub(super) fn user(&self, id: i64) -> Option<Arc<User>> {
        self.users.get(&id).filter(|user| !user.is_disabled).cloned()
    }

    pub(super) fn memberships(&self, user: i64) -> Vec<Membership> {
        let Some(roles) = self.roles.get(&user) else { return Vec::new() };
        let mut memberships: Vec<Membership> = roles
            .iter()
            .filter_map(|(organization, &role)| {
                Some(Membership { organization: self.organizations.get(organization)?.clone(), role })
            })
            .collect();
        memberships.sort_by_key(|membership| membership.organization.id);
        memberships
    }

    pub(super) fn project_by_number(&self, number: u32) -> Option<Arc<Project>> {
        let at = self.projects.binary_search_by_key(&number, |project| project.number).ok()?;
        Some(self.projects[at].clone())
    }

    /// The project tokens that are opened already.
    pub(super) fn opened_tokens(&self) -> HashMap<String, String> {
        self.opened.clone()
    }

    /// Becomes `fresh`, unless that is of an older version.
    pub(super) fn replace_by(&mut self, fresh: Directory) {
        if fresh.version >= self.version {
            *self = fresh;
        }
    }

    pub(super) fn all_users(&self) -> impl Iterator<Item = &Arc<User>> {
        self.users.values()
    }

    pub(super) fn all_organizations(&self) -> impl Iterator<Item = &Arc<Organization>> {
        self.organizations.values()
    }

    fn role_in(&self, user: i64, project: &Project) -> Option<Role> {
        let role = *self.roles.get(&user)?.get(&project.organization_id)?;
        let requires_two_factor = self.organizations.get(&project.organization_id)?.requires_two_factor;
        if requires_two_factor && !self.users.get(&user)?.meets_two_factor() {
            return None;
        }
        let project_role = self.overrides.get(&user).and_then(|projects| projects.get(&project.number));
        Some(role.overridden(project_role.copied()))
    }
}

fn project_of_token(tokens: &HashMap<[u8; 32], TokenOwner>, token: &str, now_ns: i64) -> Option<Arc<Project>> {
    tokens.get(&fingerprint(token)).filter(|owner| now_ns < owner.expires_ns).map(|owner| owner.project.clone())
}
