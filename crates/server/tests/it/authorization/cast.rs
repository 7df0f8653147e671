//! Everybody there is: one organisation with a member of each role, a stranger with another, and tokens of all kinds.

use tidewatch_accounts::{By, NewUser, Poll, Role, Scope, ScopeLevel, User};
use tidewatch_limits as limits;
use uuid::Uuid;

use crate::engines::On;
use crate::harness::{Harness, Project};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// Without any credential.
    Nobody,
    Readonly,
    User,
    Admin,
    Owner,
    /// An admin's session as a cookie, in a request of a page of this server.
    AdminsPage,
    /// The same in a request of a page of another host of the same site.
    ForeignPage,
    /// An admin's login that was proved longer ago than step-up allows.
    StaleAdmin,
    /// Owner of another organisation.
    Stranger,
    RuntimeToken,
    UploadToken,
    /// A login of the owner's that is over.
    Expired,
    /// A login from before its user's password was changed.
    Revoked,
    /// A personal access token of the owner's that was made without a scope.
    PersonalToken,
    ReadToken,
    AdminToken,
    /// For the project that the calls are about, and no other; admin.
    TokenOfThisProject,
    /// For another project of the owner's; admin.
    TokenOfAnotherProject,
    /// One that has expired.
    ExpiredToken,
    /// The access token of a client that the owner let in and that asked for no scope.
    Client,
    ReadClient,
    /// The access token of a client for the MCP endpoint alone.
    ClientOfMcp,
    /// The access token of a client that the owner has signed out.
    EndedClient,
}

/// What a token may do, and where.
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

impl Who {
    pub const ALL: [Who; 23] = [
        Who::Nobody,
        // Clients before the owner, whose call ends all sessions.
        Who::Client,
        Who::ReadClient,
        Who::ClientOfMcp,
        Who::EndedClient,
        Who::PersonalToken,
        Who::ReadToken,
        Who::AdminToken,
        Who::TokenOfThisProject,
        Who::TokenOfAnotherProject,
        Who::ExpiredToken,
        Who::Readonly,
        Who::User,
        Who::Admin,
        Who::AdminsPage,
        Who::ForeignPage,
        Who::StaleAdmin,
        Who::Owner,
        Who::Stranger,
        Who::RuntimeToken,
        Who::UploadToken,
        Who::Expired,
        Who::Revoked,
    ];

    /// None: no token that stands for a person.
    pub fn scope(self) -> Option<TokenScope> {
        let (level, projects) = match self {
            Who::ReadToken | Who::ReadClient => (ScopeLevel::Read, Projects::All),
            Who::PersonalToken | Who::Client => (ScopeLevel::Write, Projects::All),
            Who::AdminToken => (ScopeLevel::Admin, Projects::All),
            Who::TokenOfThisProject => (ScopeLevel::Admin, Projects::This),
            Who::TokenOfAnotherProject => (ScopeLevel::Admin, Projects::Other),
            _ => return None,
        };
        Some(TokenScope { level, projects })
    }
}

pub struct Cast {
    pub harness: Harness,
    project: Project,
    organization: i64,
    credentials: [String; Who::ALL.len()],
    /// Those who have a session.
    people: Vec<(Who, i64)>,
}

fn uuid(text: &str) -> Uuid {
    Uuid::parse_str(text).expect("a UUID")
}

/// A session that has expired: a week old.
async fn ended_session(harness: &Harness, user: &User) -> i64 {
    let app = harness.app();
    let at_ns = app.clock.now_ns() - limits::LOGIN_LIFE.as_nanos() as i64;
    let by = By { name: "a test".into(), at_ns, ..app.by_server() };
    app.control.begin_session(&by, user, at_ns).await.expect("a session").id
}

impl Cast {
    pub async fn new(database: &On) -> Cast {
        let (harness, project) = Harness::registered(database).await;
        let app = harness.app().clone();
        let by = By { name: "a test".into(), ..app.by_server() };
        let stored = app.control.project_by_token(&project.token, by.at_ns).expect("the first project");
        let organization = stored.organization_id;
        let add = async |name: &str, role: Option<Role>| {
            let email = format!("{name}@example.com");
            let new = NewUser { email, name: name.into(), password_hash: None, is_email_verified: true };
            let user = app.control.create_user(&by, &new).await.expect("a user");
            match role {
                Some(role) => app.control.add_member(&by, organization, user.id, role).await.expect("a member"),
                None => drop(app.control.create_organization(&by, "Other", "UTC", user.id).await.expect("another")),
            }
            user
        };
        let revoked = add("revoked", Some(Role::Admin)).await;
        let before = harness.login_of(&revoked).await;
        app.control.set_password(&by, revoked.id, "another").await.expect("another password");
        let owner = app.control.stored_user("owner@example.com").await.expect("a database").expect("the owner").id;
        let owner = app.control.user(owner).expect("the owner");
        let other = uuid(&harness.project("other").await.id);
        let token = async |level, projects, expires_ns| {
            let scope = Scope { level, projects };
            let made = app.control.create_personal_token(&by, owner.id, "one", &scope, expires_ns).await;
            made.expect("a token").1
        };
        let client = async |asked: Option<&str>, resource: &str| {
            let level = ScopeLevel::asked(asked);
            let code = app.control.begin_device_login(&by, "tidewatch-cli", level).await.expect("a device code");
            let scope = Scope::of(level);
            app.control.answer_device(&by, &owner, &code.user_code, Some(&scope)).await.expect("an answer");
            let polled = app.control.poll_device(&by, &code.device_code, None).await.expect("a poll");
            let Poll::Issued(issued) = polled else { panic!("{polled:?}") };
            let access = app.logins.issue_access(&owner, issued.family, resource, by.at_ns).expect("an access token");
            (access, issued.family)
        };
        let (ended, family) = client(None, "").await;
        app.control.delete_grant(&by, owner.id, family).await.expect("an end");
        let mcp = format!("{}/mcp", app.config.base_url());
        let credentials = [
            String::new(),
            client(None, "").await.0,
            client(Some("read"), "").await.0,
            client(None, &mcp).await.0,
            ended,
            token(ScopeLevel::asked(None), None, None).await,
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
            app.logins.issue(&owner, ended_session(&harness, &owner).await, by.at_ns).expect("a login"),
            before,
        ];
        let mut people = vec![(Who::Owner, owner.id), (Who::Stranger, add("stranger", None).await.id)];
        for (who, name, role) in [
            (Who::Readonly, "readonly", Role::Readonly),
            (Who::User, "user", Role::User),
            (Who::Admin, "admin", Role::Admin),
            (Who::AdminsPage, "page", Role::Admin),
            (Who::ForeignPage, "foreign", Role::Admin),
            (Who::StaleAdmin, "stale", Role::Admin),
        ] {
            people.push((who, add(name, Some(role)).await.id));
        }
        let mut cast = Cast { harness, project, organization, credentials, people };
        cast.sign_in().await;
        cast
    }

    /// Gives everybody another session.
    pub async fn sign_in(&mut self) {
        let app = self.harness.app().clone();
        for (who, id) in &self.people {
            let user = app.control.user(*id).expect("a user");
            let age_ns = if *who == Who::StaleAdmin { limits::STEP_UP_LIFE.as_nanos() as i64 } else { 0 };
            let by = By { name: "a test".into(), at_ns: app.clock.now_ns() - age_ns, ..app.by_server() };
            let begun = app.control.begin_session(&by, &user, by.at_ns).await.expect("a session");
            let at = Who::ALL.iter().position(|known| known == who).expect("everybody is known");
            self.credentials[at] = match who {
                Who::AdminsPage | Who::ForeignPage => begun.cookie,
                _ => app.logins.issue(&user, begun.id, by.at_ns).expect("a login"),
            };
        }
    }

    /// The headers that carry a credential.
    pub fn headers(&self, who: Who) -> Vec<(&'static str, String)> {
        let credential = self.credential(who);
        let page = |site: &str| {
            vec![("Cookie", format!("tidewatch_session={credential}")), ("Sec-Fetch-Site", site.to_owned())]
        };
        match who {
            Who::Nobody => Vec::new(),
            Who::AdminsPage => page("same-origin"),
            Who::ForeignPage => page("same-site"),
            _ => vec![("Authorization", format!("Bearer {credential}"))],
        }
    }

    fn credential(&self, who: Who) -> &str {
        let at = Who::ALL.iter().position(|known| *known == who).expect("everybody is known");
        &self.credentials[at]
    }

    /// A path of the document with things in its braces. What is looked up by them is not there.
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
                "{userId}" | "{number}" | "{invitationId}" => "999999",
                "{token}" => "no-such-token",
                "{provider}" => "oidc",
                part => {
                    assert!(!part.starts_with('{'), "say in authorization/cast.rs what {part} stands for");
                    part
                }
            });
        }
        let filled = filled.replace("{organization}", &self.organization.to_string());
        if is_about_a_project { format!("{filled}?projectId={}", self.project.id) } else { filled }
    }
}
