//! `tidewatch admin`: account recovery. Opens the control database itself, with or without a running server.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use clap::Subcommand;
use tidewatch_lake::LakeOptions;
use tidewatch_store::StoreError;
use tidewatch_store::days::day_of;

use crate::config::Config;
use tidewatch_accounts::secrets;
use tidewatch_accounts::secrets::password;
use tidewatch_accounts::secrets::seal::Sealer;
use tidewatch_accounts::{Actor, Control, NewUser, People, Role};
use tidewatch_limits as limits;
use tidewatch_limits::clock::Clock;

/// The subcommands of `tidewatch admin`.
#[derive(Debug, Clone, Subcommand)]
pub enum AdminCommand {
    /// Lists people: id, address, name, roles.
    List(AdminArgs),
    /// Makes a person, with a password from the standard input or one that is made up and shown.
    CreateUser(AdminArgs),
    /// Gives a person another password, from the standard input or made up and shown. Ends every session.
    ResetPassword(AdminArgs),
    /// Gives a person a role: owner, admin, user or readonly.
    Promote(AdminArgs),
    /// Takes a part that cannot be read out of the store and moves it to `lost/`. The server must be stopped.
    SetPartAside(AdminArgs),
    /// Removes a person's second factors.
    #[command(name = "reset-2fa")]
    ResetTwoFactor(AdminArgs),
}

/// Arguments of all subcommands.
#[derive(Debug, Clone, clap::Args)]
pub struct AdminArgs {
    /// The part's file.
    #[arg(long)]
    pub part: Option<PathBuf>,
    /// Email address of the account.
    #[arg(long)]
    pub email: Option<String>,
    /// The new person's name; the address when not given.
    #[arg(long)]
    pub name: Option<String>,
    /// owner, admin, user or readonly.
    #[arg(long)]
    pub role: Option<String>,
    /// In which organization, by id; the first when not given.
    #[arg(long)]
    pub organization: Option<i64>,
    /// Read the password from the standard input.
    #[arg(long)]
    pub password_stdin: bool,
    /// Settings, for the location of the control database.
    #[command(flatten)]
    pub config: Config,
}

impl AdminCommand {
    /// Name and arguments of the subcommand.
    pub fn arguments(&self) -> (&'static str, &AdminArgs) {
        match self {
            AdminCommand::List(arguments) => ("list", arguments),
            AdminCommand::CreateUser(arguments) => ("create-user", arguments),
            AdminCommand::ResetPassword(arguments) => ("reset-password", arguments),
            AdminCommand::Promote(arguments) => ("promote", arguments),
            AdminCommand::ResetTwoFactor(arguments) => ("reset-2fa", arguments),
            AdminCommand::SetPartAside(arguments) => ("set-part-aside", arguments),
        }
    }
}

/// Runs a subcommand. `config`: the effective settings. `print_line` is called with each line of output.
pub async fn run(command: &AdminCommand, config: &Config, print_line: fn(&str)) -> anyhow::Result<()> {
    let data = &config.data_dir;
    if let AdminCommand::SetPartAside(arguments) = command {
        let part = arguments.part.as_deref().context("--part is needed")?;
        return set_part_aside(data, part, print_line);
    }
    let location = config.control_database()?;
    if config.has_local_control() {
        let file = data.join("control.sqlite");
        ensure!(file.exists(), "there is no {}; is --data-dir right?", file.display());
        // SQLite keeps this file while a process has the database open.
        if data.join("control.sqlite-wal").exists() {
            print_line(
                "note: the database is in use, or its server did not stop in order; a running server takes this up within a second",
            );
        }
    }
    let key = match config.sealing_key()? {
        Some(key) => key,
        None => secrets::sealing_key(data).context("cannot read the key for secrets")?,
    };
    let control = Control::open(&location, Sealer::new(&key)).await.context("cannot open the control database")?;
    let done = act(command, &control, print_line).await;
    control.database().close().await;
    done
}

async fn act(command: &AdminCommand, control: &Control, print_line: fn(&str)) -> anyhow::Result<()> {
    let (name, arguments) = command.arguments();
    let at_ns = Clock::system().now_ns();
    let (address, user_agent) = (String::new(), String::new());
    let by = Actor { user_id: None, name: format!("tidewatch admin {name}"), address, user_agent, at_ns };
    if let AdminCommand::List(_) = command {
        for user in control.people.users() {
            let roles = control.people.memberships(user.id);
            let roles: Vec<String> = roles
                .iter()
                .map(|member| format!("{} of {}", member.role.as_str(), member.organization.name))
                .collect();
            print_line(&format!("{}\t{}\t{}\t{}", user.id, user.email, user.name, roles.join(", ")));
        }
        return Ok(());
    }
    let email = arguments.email.as_deref().context("--email is needed")?.trim().to_lowercase();
    let role = match arguments.role.as_deref() {
        Some(role) => Some(Role::parse(role).with_context(|| format!("{role} is not owner, admin, user or readonly"))?),
        None => None,
    };
    if let AdminCommand::CreateUser(_) = command {
        ensure!(email.contains('@'), "{email} is not an email address");
        let (password, is_made) = password(arguments)?;
        let name = arguments.name.clone().unwrap_or_else(|| email.clone());
        let hash = Some(password::hash(&password)?);
        let organization = organization(&control.people, arguments)?;
        let new = NewUser { email: email.clone(), name, password_hash: hash, is_email_verified: false };
        let user = control.people.create_user(&by, &new).await?;
        control.people.add_member(&by, organization, user.id, role.unwrap_or(Role::Readonly)).await?;
        print_line(&format!("{email} can sign in{}", shown(&password, is_made)));
        return Ok(());
    }
    let user = control.sign_in.stored_user(&email).await?.with_context(|| format!("there is no {email}"))?;
    match command {
        AdminCommand::ResetPassword(_) => {
            let (password, is_made) = password(arguments)?;
            control.sign_in.set_password(&by, user.id, &password::hash(&password)?).await?;
            print_line(&format!("{email} has another password; every session has ended{}", shown(&password, is_made)));
        }
        AdminCommand::Promote(_) => {
            let role = role.context("--role is needed")?;
            let organization = organization(&control.people, arguments)?;
            control.people.promote(&by, organization, user.id, role).await?;
            print_line(&format!("{email} is {} now", role.as_str()));
        }
        AdminCommand::ResetTwoFactor(_) => {
            control.sign_in.remove_second_factors(&by, user.id).await?;
            print_line(&format!("{email} signs in without a second factor"));
        }
        AdminCommand::List(_) | AdminCommand::CreateUser(_) | AdminCommand::SetPartAside(_) => {}
    }
    Ok(())
}

/// `part`: path as in the log, or relative to the data directory.
fn set_part_aside(data: &Path, part: &Path, print_line: fn(&str)) -> anyhow::Result<()> {
    ensure!(data.join("catalog.sqlite").exists(), "there is no store in {}; is --data-dir right?", data.display());
    let today = day_of(Clock::system().now_ns());
    let below = part.strip_prefix(data).unwrap_or(part);
    let kept = match tidewatch_lake::set_part_aside(&LakeOptions::new(data), &data.join(below), today) {
        Err(StoreError::Io { what: "lock", .. }) => bail!("the store is in use: stop the server first"),
        kept => kept.with_context(|| format!("cannot set {} aside", part.display()))?,
    };
    print_line(&match kept {
        Some(path) => format!("the part lies in {} now; answers without its rows say so", path.display()),
        None => "the part's file was missing; answers without its rows say so now".to_owned(),
    });
    Ok(())
}

fn shown(password: &str, is_made: bool) -> String {
    if is_made { format!(" with the password {password}") } else { String::new() }
}

/// The password, and whether it was generated.
fn password(arguments: &AdminArgs) -> anyhow::Result<(String, bool)> {
    if !arguments.password_stdin {
        let token = tidewatch_accounts::tokens::prefixed_token("")?;
        return Ok((token[..20].to_owned(), true));
    }
    let mut text = String::new();
    std::io::stdin().take(4096).read_to_string(&mut text).context("cannot read the password")?;
    let text = text.trim_end_matches(['\r', '\n']).to_owned();
    let chars = text.chars().count();
    if chars < limits::PASSWORD_CHARS_MIN || text.len() > limits::PASSWORD_BYTES_MAX {
        bail!("the password must have at least {} characters", limits::PASSWORD_CHARS_MIN);
    }
    Ok((text, false))
}

fn organization(people: &People, arguments: &AdminArgs) -> anyhow::Result<i64> {
    let known = people.organizations();
    match arguments.organization {
        Some(id) if known.iter().any(|organization| organization.id == id) => Ok(id),
        Some(id) => bail!("there is no organization {id}"),
        None => {
            Ok(known.first().context("there is no organization yet; register the first account in the browser")?.id)
        }
    }
}
