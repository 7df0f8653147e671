//! Everybody there is: one organisation with a member of each role, a stranger with another, and tokens of all kinds.

use tidewatch_server::control::{By, NewUser, Poll, Role, Scope, ScopeLevel, User};
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
    pub const ALL: [Who; 20] = [
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
}

fn uuid(text: &str) -> Uuid {
    Uuid::parse_str(text).expect("a UUID")
}

const WEEK_NS: i64 = 7 * 24 * 60 * 60 * 1_000_000_000;

impl Cast {
    pub async fn new(database: &On) -> Cast {
        let (harness, project) = Harness::registered(database).await;
        let app = harness.app().clone();
        let by = By { name: "a test".into(), ..app.by_server() };
        let stored = app.control.project_by_token(&project.token, by.at_ns).expect("the first project");
        let organization = stored.organization_id;
        let login = |user: &User| app.logins.issue(user, app.clock.now_ns()).expect("a login");
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
        let before = login(&revoked);
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
            login(&*add("readonly", Some(Role::Readonly)).await),
            login(&*add("user", Some(Role::User)).await),
            login(&*add("admin", Some(Role::Admin)).await),
            login(&owner),
            login(&*add("stranger", None).await),
            project.token.clone(),
            stored.upload_token.clone(),
            app.logins.issue(&owner, app.clock.now_ns() - WEEK_NS).expect("a login"),
            before,
        ];
        Cast { harness, project, organization, credentials }
    }

    pub fn credential(&self, who: Who) -> &str {
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
