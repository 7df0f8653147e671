//! All kinds of callers: an organization with a member of each role, the owner of another one, and tokens of all kinds.

use tidewatch_accounts::{Actor, NewUser, Poll, Role, Scope, ScopeLevel, User};
use tidewatch_limits as limits;
use uuid::Uuid;

use crate::engines::On;
use crate::harness::{Harness, Project};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// Without any credential.
    Nobody,
    Readonly,
    User,
    Admin,
    Owner,
    /// An admin's session as a cookie, in a request from a page of this server.
    AdminsPage,
    /// An admin's session as a cookie, in a request from a page of another host of the same site.
    ForeignPage,
    /// An admin's login whose last proof is older than step-up allows.
    StaleAdmin,
    /// The owner of another organization.
    Stranger,
    RuntimeToken,
    UploadToken,
    /// An expired login of the owner.
    Expired,
    /// A login from before a change of its user's password.
    Revoked,
    /// A personal access token of the owner, created without a scope.
    PersonalToken,
    ReadToken,
    AdminToken,
    /// An admin token for the project of the calls only.
    TokenOfThisProject,
    /// An admin token for another project of the owner.
    TokenOfAnotherProject,
    /// An expired personal access token.
    ExpiredToken,
    /// The access token of a client that the owner approved and that requested no scope.
    Client,
    ReadClient,
    /// The access token of a client for the MCP endpoint only.
    ClientOfMcp,
    /// The access token of a client that the owner signed out.
    EndedClient,
}

/// The level and the projects of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenScope {
    pub level: ScopeLevel,
    pub projects: Projects,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Projects {
    All,
    This,
    Other,
}

impl Caller {
    pub const ALL: [Caller; 23] = [
        Caller::Nobody,
        // Clients come before the owner, whose call ends all sessions.
        Caller::Client,
        Caller::ReadClient,
        Caller::ClientOfMcp,
        Caller::EndedClient,
        Caller::PersonalToken,
        Caller::ReadToken,
        Caller::AdminToken,
        Caller::TokenOfThisProject,
        Caller::TokenOfAnotherProject,
        Caller::ExpiredToken,
        Caller::Readonly,
        Caller::User,
        Caller::Admin,
        Caller::AdminsPage,
        Caller::ForeignPage,
        Caller::StaleAdmin,
        Caller::Owner,
        Caller::Stranger,
        Caller::RuntimeToken,
        Caller::UploadToken,
        Caller::Expired,
        Caller::Revoked,
    ];

    /// None for callers without a token of a person.
    pub fn scope(self) -> Option<TokenScope> {
        let (level, projects) = match self {
            Caller::ReadToken | Caller::ReadClient => (ScopeLevel::Read, Projects::All),
            Caller::PersonalToken | Caller::Client => (ScopeLevel::Write, Projects::All),
            Caller::AdminToken => (ScopeLevel::Admin, Projects::All),
            Caller::TokenOfThisProject => (ScopeLevel::Admin, Projects::This),
            Caller::TokenOfAnotherProject => (ScopeLevel::Admin, Projects::Other),
            _ => return None,
        };
        Some(TokenScope { level, projects })
    }
}

pub struct Callers {
    pub harness: Harness,
    project: Project,
    organization: i64,
    credentials: [String; Caller::ALL.len()],
    /// Callers with a session, with the ids of their users.
    people: Vec<(Caller, i64)>,
}

fn uuid(text: &str) -> Uuid {
    Uuid::parse_str(text).expect("a UUID")
}

/// Creates a session as old as the life of a login: it has expired.
async fn ended_session(harness: &Harness, user: &User) -> i64 {
    let app = harness.app();
    let at_ns = app.process.clock.now_ns() - limits::LOGIN_LIFE.as_nanos() as i64;
    let by = Actor { name: "a test".into(), at_ns, ..app.accounts.by_server() };
    app.accounts.control.sign_in.begin_session(&by, user, at_ns).await.expect("a session").id
}

impl Callers {
    pub async fn new(database: &On) -> Callers {
        let (harness, project) = Harness::registered(database).await;
        let app = harness.app().clone();
        let by = Actor { name: "a test".into(), ..app.accounts.by_server() };
        let stored =
            app.accounts.control.credentials.project_by_token(&project.token, by.at_ns).expect("the first project");
        let organization = stored.organization_id;
        let add = async |name: &str, role: Option<Role>| {
            let email = format!("{name}@example.com");
            let new = NewUser { email, name: name.into(), password_hash: None, is_email_verified: true };
            let user = app.accounts.control.people.create_user(&by, &new).await.expect("a user");
            match role {
                Some(role) => {
                    app.accounts.control.people.add_member(&by, organization, user.id, role).await.expect("a member")
                }
                None => {
                    app.accounts
                        .control
                        .people
                        .create_organization(&by, "Other", "UTC", user.id)
                        .await
                        .expect("another");
                }
            }
            user
        };
        let revoked = add("revoked", Some(Role::Admin)).await;
        let before = harness.login_of(&revoked).await;
        app.accounts.control.sign_in.set_password(&by, revoked.id, "another").await.expect("another password");
        let owner = app
            .accounts
            .control
            .sign_in
            .stored_user("owner@example.com")
            .await
            .expect("a database")
            .expect("the owner")
            .id;
        let owner = app.accounts.control.people.user(owner).expect("the owner");
        let other = uuid(&harness.project("other").await.id);
        let token = async |level, projects, expires_ns| {
            let scope = Scope { level, projects };
            let made =
                app.accounts.control.credentials.create_personal_token(&by, owner.id, "one", &scope, expires_ns).await;
            made.expect("a token").1
        };
        let client = async |requested: Option<&str>, resource: &str| {
            let level = ScopeLevel::requested(requested);
            let code = app
                .accounts
                .control
                .credentials
                .begin_device_login(&by, "tidewatch-cli", level)
                .await
                .expect("a device code");
            let scope = Scope::of(level);
            app.accounts
                .control
                .credentials
                .answer_device(&by, &owner, &code.user_code, Some(&scope))
                .await
                .expect("an answer");
            let polled =
                app.accounts.control.credentials.poll_device(&by, &code.device_code, None).await.expect("a poll");
            let Poll::Issued(issued) = polled else { panic!("{polled:?}") };
            let access =
                app.accounts.logins.issue_access(&owner, issued.family, resource, by.at_ns).expect("an access token");
            (access, issued.family)
        };
        let (ended, family) = client(None, "").await;
        app.accounts.control.credentials.delete_grant(&by, owner.id, family).await.expect("an end");
        let mcp = format!("{}/mcp", app.process.config.base_url());
        let credentials = [
            String::new(),
            client(None, "").await.0,
            client(Some("read"), "").await.0,
            client(None, &mcp).await.0,
            ended,
            token(ScopeLevel::requested(None), None, None).await,
            token(ScopeLevel::Read, None, None).await,
            token(ScopeLevel::Admin, None, None).await,
            token(ScopeLevel::Admin, Some(vec![uuid(&project.id)]), None).await,
            token(ScopeLevel::Admin, Some(vec![other]), None).await,
            token(ScopeLevel::Admin, None, Some(by.at_ns - 1)).await,
            String::new(),
            String::new(),
            String::new(),
            String::new(),
            String::new(),
            String::new(),
            String::new(),
            String::new(),
            project.token.clone(),
            stored.upload_token.clone(),
            app.accounts.logins.issue(&owner, ended_session(&harness, &owner).await, by.at_ns).expect("a login"),
            before,
        ];
        let mut people = vec![(Caller::Owner, owner.id), (Caller::Stranger, add("stranger", None).await.id)];
        for (caller, name, role) in [
            (Caller::Readonly, "readonly", Role::Readonly),
            (Caller::User, "user", Role::User),
            (Caller::Admin, "admin", Role::Admin),
            (Caller::AdminsPage, "page", Role::Admin),
            (Caller::ForeignPage, "foreign", Role::Admin),
            (Caller::StaleAdmin, "stale", Role::Admin),
        ] {
            people.push((caller, add(name, Some(role)).await.id));
        }
        let mut callers = Callers { harness, project, organization, credentials, people };
        callers.sign_in().await;
        callers
    }

    /// Begins a new session for every caller with a session.
    pub async fn sign_in(&mut self) {
        let app = self.harness.app().clone();
        for (caller, id) in &self.people {
            let user = app.accounts.control.people.user(*id).expect("a user");
            let age_ns = if *caller == Caller::StaleAdmin { limits::STEP_UP_LIFE.as_nanos() as i64 } else { 0 };
            let by =
                Actor { name: "a test".into(), at_ns: app.process.clock.now_ns() - age_ns, ..app.accounts.by_server() };
            let begun = app.accounts.control.sign_in.begin_session(&by, &user, by.at_ns).await.expect("a session");
            let at = Caller::ALL.iter().position(|known| known == caller).expect("everybody is known");
            self.credentials[at] = match caller {
                Caller::AdminsPage | Caller::ForeignPage => begun.cookie,
                _ => app.accounts.logins.issue(&user, begun.id, by.at_ns).expect("a login"),
            };
        }
    }

    /// The headers that carry the caller's credential.
    pub fn headers(&self, caller: Caller) -> Vec<(&'static str, String)> {
        let credential = self.credential(caller);
        let page = |site: &str| {
            vec![("Cookie", format!("tidewatch_session={credential}")), ("Sec-Fetch-Site", site.to_owned())]
        };
        match caller {
            Caller::Nobody => Vec::new(),
            Caller::AdminsPage => page("same-origin"),
            Caller::ForeignPage => page("same-site"),
            _ => vec![("Authorization", format!("Bearer {credential}"))],
        }
    }

    fn credential(&self, caller: Caller) -> &str {
        let at = Caller::ALL.iter().position(|known| *known == caller).expect("everybody is known");
        &self.credentials[at]
    }

    /// Replaces the parameters of a documented path. Their values identify nothing that exists.
    pub fn fill(&self, path: &str, is_about_a_project: bool) -> String {
        let is_organization = path.starts_with("/api/organizations/");
        let mut filled = String::new();
        for part in path.split('/').skip(1) {
            filled.push('/');
            filled.push_str(match part {
                "{id}" if is_organization => "{organization}",
                "{id}" => "5f4dcc3b-5aa7-45d6-8d83-27deb882cf99",
                "{hash}" | "{spanId}" => "00000000000000ff",
                "{traceId}" => "000000000000000000000000000000ff",
                "{userId}" | "{number}" | "{invitationId}" | "{incidentId}" | "{pageId}" | "{windowId}"
                | "{teamId}" | "{scheduleId}" | "{overrideId}" | "{policyId}" => "999999",
                "{slug}" => "no-such-page",
                "{token}" => "no-such-token",
                "{provider}" => "oidc",
                "{outcome}" => "fail",
                part => {
                    assert!(!part.starts_with('{'), "say in authorization/callers.rs what {part} stands for");
                    part
                }
            });
        }
        let filled = filled.replace("{organization}", &self.organization.to_string());
        if is_about_a_project { format!("{filled}?projectId={}", self.project.id) } else { filled }
    }
}
