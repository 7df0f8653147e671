//! Who exists and who may see what, in memory: no request asks the database for it, ingest least of all.
//!
//! Loaded at start and after each change of this node's own; changes of other nodes and of the command line are seen
//! within [`limits::DIRECTORY_PAUSE`] by the version they leave behind ([`Control::follow`]).

mod load;

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Weak};

use tidewatch_domain::model::Signal;
use tidewatch_domain::project::IngestSettings;
use tidewatch_domain::rules::healthcheck::Healthchecks;
use tokio::runtime::Handle;
use uuid::Uuid;

use super::quota::Quota;
use super::tokens::fingerprint;
use super::{Control, ControlError, Role};
use tidewatch_limits as limits;

/// One person, without the password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    pub id: i64,
    pub email: String,
    pub name: String,
    /// Nanoseconds since the epoch.
    pub created_ns: i64,
    /// Sessions of an older epoch are over.
    pub session_epoch: i64,
    pub is_disabled: bool,
    /// IANA name, once chosen.
    pub timezone: Option<String>,
    /// `system`, `light` or `dark`, once chosen.
    pub theme: Option<String>,
    pub is_email_verified: bool,
    /// A confirmed authenticator or a passkey.
    pub has_two_factor: bool,
    /// Has no password: another provider signs this user in.
    pub signs_in_elsewhere: bool,
    /// A provider said, at the last sign-in through it, that it had asked for several factors.
    pub is_vouched_for: bool,
}

impl User {
    /// Enough for an organization that asks for two factors: one's own second factor, or a provider, as the only way in,
    /// that asked for several.
    pub fn meets_two_factor(&self) -> bool {
        self.has_two_factor || (self.signs_in_elsewhere && self.is_vouched_for)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Organization {
    pub id: i64,
    pub name: String,
    pub timezone: String,
    /// Members without a second factor open nothing in it.
    pub requires_two_factor: bool,
}

/// A user's place in an organisation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    pub organization: Arc<Organization>,
    pub role: Role,
}

/// One project: what telemetry belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct Project {
    pub id: Uuid,
    /// The `project` column of every telemetry table. Never 0, never used again.
    pub number: u32,
    pub name: String,
    /// 32 hex digits: what exporters send.
    pub token: String,
    /// 32 hex digits: what symbol uploads send.
    pub upload_token: String,
    pub framework: String,
    pub organization_id: i64,
    /// Nanoseconds since the epoch.
    pub created_ns: i64,
    /// None: the project holds no demo data.
    pub demo: Option<Demo>,
    pub settings: ProjectSettings,
}

/// How far the demo data of a project is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Demo {
    /// It is being loaded, or its loading was interrupted.
    Loading,
    /// All of it is there.
    Loaded,
}

/// A project that is no more. Its telemetry and its uploads go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeletedProject {
    pub number: u32,
    /// None: deleted before this was written down.
    pub id: Option<Uuid>,
    /// Nanoseconds since the epoch.
    pub deleted_ns: i64,
}

/// What people set about a project.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProjectSettings {
    pub ingest: IngestSettings,
    /// WIRE 8.6.
    pub drop_healthy_healthchecks: bool,
    pub healthcheck_paths: Vec<String>,
    pub profile_label_allowlist: Vec<String>,
    /// None: as the server has it.
    pub retention_days: Option<u32>,
    /// Beside the server's own.
    pub quota: Quota,
    /// Canonical origins of pages that may send; none: all may.
    pub allowed_origins: Vec<String>,
}

impl ProjectSettings {
    /// What decides about a request of `signal`. Health checks are spans: no other request carries their paths. The time
    /// that decides what is too old is the caller's to set.
    pub fn ingest_of(&self, signal: Signal) -> IngestSettings {
        let healthchecks = self.ingest.healthchecks.as_ref().filter(|_| signal == Signal::Traces).cloned();
        IngestSettings { healthchecks, ..self.ingest }
    }

    /// The filter that these two settings mean. Paths stored before their size had a limit are taken while they fit.
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

/// Everything a request needs to know about people and projects.
#[derive(Default)]
pub struct Directory {
    version: i64,
    users: HashMap<i64, Arc<User>>,
    organizations: HashMap<i64, Arc<Organization>>,
    /// user -> organisation -> role
    roles: HashMap<i64, HashMap<i64, Role>>,
    /// user -> project -> role there
    overrides: HashMap<i64, HashMap<u32, Role>>,
    /// Ascending by number.
    projects: Vec<Arc<Project>>,
    deleted: Arc<[DeletedProject]>,
    by_token: HashMap<[u8; 32], Holder>,
    by_upload_token: HashMap<[u8; 32], Holder>,
    /// project -> until when the last of its replaced tokens is taken: runtime, upload
    replaced: HashMap<u32, [i64; 2]>,
    /// Tokens by what they are sealed as: opening those of all projects is most of what reading them again would cost.
    opened: HashMap<String, String>,
}

/// Whose token it is, and until when.
struct Holder {
    project: Arc<Project>,
    /// Nanoseconds since the epoch; `i64::MAX`: the token is the current one.
    expires_ns: i64,
}

/// Look-ups; none of them touches the disk.
impl Control {
    /// Until when a replaced token of the project is still taken, where one is at `now_ns`: runtime, upload.
    pub fn replaced_tokens(&self, project: u32, now_ns: i64) -> [Option<i64>; 2] {
        let until = self.directory.read().replaced.get(&project).copied().unwrap_or_default();
        until.map(|until| (until > now_ns).then_some(until))
    }

    pub fn has_organizations(&self) -> bool {
        !self.directory.read().organizations.is_empty()
    }

    /// The organization that was made first: its owner runs this server.
    pub fn first_organization(&self) -> Option<i64> {
        self.directory.read().organizations.keys().min().copied()
    }

    /// Nobody who is disabled.
    pub fn user(&self, id: i64) -> Option<Arc<User>> {
        self.directory.read().users.get(&id).filter(|user| !user.is_disabled).cloned()
    }

    /// Ascending by organisation id.
    pub fn memberships(&self, user: i64) -> Vec<Membership> {
        let directory = self.directory.read();
        let Some(roles) = directory.roles.get(&user) else { return Vec::new() };
        let mut memberships: Vec<Membership> = roles
            .iter()
            .filter_map(|(organization, &role)| {
                Some(Membership { organization: directory.organizations.get(organization)?.clone(), role })
            })
            .collect();
        memberships.sort_by_key(|membership| membership.organization.id);
        memberships
    }

    /// The user's place in an organisation.
    pub fn membership(&self, user: i64, organization: i64) -> Option<Membership> {
        let directory = self.directory.read();
        let role = *directory.roles.get(&user)?.get(&organization)?;
        Some(Membership { organization: directory.organizations.get(&organization)?.clone(), role })
    }

    /// The user's effective role in a project. None too without the second factor that its organisation asks for.
    pub fn role_in(&self, user: i64, project: &Project) -> Option<Role> {
        self.directory.read().role_in(user, project)
    }

    /// The project an exporter's token belongs to at `now_ns`.
    pub fn project_by_token(&self, token: &str, now_ns: i64) -> Option<Arc<Project>> {
        held(&self.directory.read().by_token, token, now_ns)
    }

    /// The project a symbol upload's token belongs to at `now_ns`.
    pub fn project_by_upload_token(&self, token: &str, now_ns: i64) -> Option<Arc<Project>> {
        held(&self.directory.read().by_upload_token, token, now_ns)
    }

    pub fn project_by_id(&self, id: Uuid) -> Option<Arc<Project>> {
        self.directory.read().projects.iter().find(|project| project.id == id).cloned()
    }

    pub fn project_by_number(&self, number: u32) -> Option<Arc<Project>> {
        let directory = self.directory.read();
        let at = directory.projects.binary_search_by_key(&number, |project| project.number).ok()?;
        Some(directory.projects[at].clone())
    }

    /// The organization's project of demo data.
    pub fn demo_project(&self, organization: i64) -> Option<Arc<Project>> {
        let directory = self.directory.read();
        let is_it = |project: &&Arc<Project>| project.demo.is_some() && project.organization_id == organization;
        directory.projects.iter().find(is_it).cloned()
    }

    /// Numbers of the organization's projects, ascending.
    pub fn project_numbers(&self, organization: i64) -> Vec<u32> {
        let directory = self.directory.read();
        let its = directory.projects.iter().filter(|project| project.organization_id == organization);
        its.map(|project| project.number).collect()
    }

    /// Days by project number, of those that have their own.
    pub fn retention_days(&self) -> BTreeMap<u32, u32> {
        let directory = self.directory.read();
        let own = |project: &Arc<Project>| Some((project.number, project.settings.retention_days?));
        directory.projects.iter().filter_map(own).collect()
    }

    pub fn deleted_projects(&self) -> Arc<[DeletedProject]> {
        self.directory.read().deleted.clone()
    }

    /// Every project the user may open, with the user's role there; ascending by number.
    pub fn projects_of(&self, user: i64) -> Vec<(Arc<Project>, Role)> {
        let directory = self.directory.read();
        let role = |project: &Arc<Project>| Some((project.clone(), directory.role_in(user, project)?));
        directory.projects.iter().filter_map(role).collect()
    }

    /// Reads the directory again. An older state never replaces a newer one.
    pub async fn refresh(&self) -> Result<(), ControlError> {
        let opened = self.directory.read().opened.clone();
        let fresh = Directory::load(self.pool(), &self.sealer, &opened).await?;
        let mut directory = self.directory.write();
        if fresh.version >= directory.version {
            *directory = fresh;
        }
        Ok(())
    }

    async fn refresh_if_changed(&self) -> Result<(), ControlError> {
        let version = load::version(self.pool()).await?;
        let known = self.directory.read().version;
        if version == known { Ok(()) } else { self.refresh().await }
    }

    /// Follows what other nodes and the command line change, until nobody else holds the database.
    ///
    /// `gone`: closed when the process's parts are. A thread keeps the time, and each look counts as blocking work: it is then none of the runtime's timers, which
    /// tests hold still.
    pub fn follow(control: Weak<Control>, gone: Receiver<()>) -> std::io::Result<()> {
        let runtime = Handle::current();
        std::thread::Builder::new().name("directory".to_owned()).spawn(move || {
            let is_well = Arc::new(AtomicBool::new(true));
            while let (Err(RecvTimeoutError::Timeout), Some(control)) =
                (gone.recv_timeout(limits::DIRECTORY_PAUSE), control.upgrade())
            {
                let (runtime_inside, is_well) = (runtime.clone(), is_well.clone());
                runtime.spawn_blocking(move || runtime_inside.block_on(look(&control, &is_well)));
            }
        })?;
        Ok(())
    }
}

/// Reads the directory again if it has changed. Says once that it cannot.
async fn look(control: &Control, is_well: &AtomicBool) {
    let looked = control.refresh_if_changed().await;
    let was_well = is_well.swap(looked.is_ok(), Ordering::Relaxed);
    if let (Err(error), true, false) = (looked, was_well, control.database.pool.is_closed()) {
        tracing::error!("the control database cannot be read; what is in memory stays in force: {error}");
    }
}

impl Directory {
    pub(super) fn everybody(&self) -> impl Iterator<Item = &Arc<User>> {
        self.users.values()
    }

    pub(super) fn every_organization(&self) -> impl Iterator<Item = &Arc<Organization>> {
        self.organizations.values()
    }

    fn role_in(&self, user: i64, project: &Project) -> Option<Role> {
        let role = *self.roles.get(&user)?.get(&project.organization_id)?;
        let asks_for_more = self.organizations.get(&project.organization_id)?.requires_two_factor;
        if asks_for_more && !self.users.get(&user)?.meets_two_factor() {
            return None;
        }
        let there = self.overrides.get(&user).and_then(|projects| projects.get(&project.number));
        Some(role.overridden(there.copied()))
    }
}

fn held(tokens: &HashMap<[u8; 32], Holder>, token: &str, now_ns: i64) -> Option<Arc<Project>> {
    tokens.get(&fingerprint(token)).filter(|holder| now_ns < holder.expires_ns).map(|holder| holder.project.clone())
}
