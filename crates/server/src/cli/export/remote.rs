//! Exports from a running server.

use std::io::Read as _;
use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::Value;
use ureq::http::Response;
use ureq::{Agent, Body};
use url::Url;

use super::output::Output;
use super::request::Request;
use crate::cli::symbols::send::error_message;
use crate::cli::terminal::remark;
use crate::http::incomplete;
use tidewatch_limits as limits;
use tidewatch_query::time;
use tidewatch_runtime::outbound;

/// Timeout of a call, longer than any export takes.
const CALL_MAX: Duration = limits::EXPORT_MAX.saturating_add(Duration::from_secs(3600));
/// Not a flag, because other users of the machine can read those.
const TOKEN: &str = "TIDEWATCH_ACCESS_TOKEN";
const BUFFER_BYTES: usize = 64 * 1024;

/// Writes the export of the server at `base`. An error if the server refuses it or closes the connection.
pub fn export(request: &Request<'_>, base: &str, output: &mut Output) -> anyhow::Result<()> {
    let token = std::env::var(TOKEN).with_context(|| format!("set {TOKEN} to a personal access token"))?;
    let server = Server { base: base.trim_end_matches('/'), token: token.trim(), agent: outbound::agent(CALL_MAX) };
    let (project, is_all) = match request.project {
        Some(project) => (project.to_owned(), "false"),
        None => (server.any_project()?, "true"),
    };
    let (from, to) = (time::to_rfc3339(request.range.from), time::to_rfc3339(request.range.to));
    let query = [
        ("projectId", project.as_str()),
        ("allProjects", is_all),
        ("table", request.table.name()),
        ("from", &from),
        ("to", &to),
        ("format", request.format.name()),
    ];
    let mut response = server.get("/api/export", &query)?;
    if response.headers().contains_key(incomplete::HEADER.as_str()) {
        remark("rows of this range were damaged and set aside; the export lacks them");
    }
    let mut body = response.body_mut().as_reader();
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        match body.read(&mut buffer).context("the server broke the export off")? {
            0 => return Ok(()),
            read => output.write(&buffer[..read])?,
        }
    }
}

struct Server<'a> {
    base: &'a str,
    token: &'a str,
    agent: Agent,
}

impl Server<'_> {
    /// Sends a request. An error for any status but 200.
    fn get(&self, path: &str, query: &[(&str, &str)]) -> anyhow::Result<Response<Body>> {
        let url = Url::parse_with_params(&format!("{}{path}", self.base), query)
            .with_context(|| format!("{} is no address", self.base))?;
        let call = self.agent.get(url.as_str()).header("Authorization", format!("Bearer {}", self.token)).call();
        let mut response = call.with_context(|| format!("{} cannot be reached", self.base))?;
        match response.status().as_u16() {
            200 => Ok(response),
            status => {
                let body = response.body_mut().read_to_string().unwrap_or_default();
                bail!("{} answered {status}: {}", self.base, error_message(&body))
            }
        }
    }

    /// The id of a project that the token may read.
    fn any_project(&self) -> anyhow::Result<String> {
        let mut response = self.get("/api/projects", &[])?;
        let answer: Value = response.body_mut().read_json().context("the server's list of projects is not JSON")?;
        let projects = answer.as_array().or_else(|| answer["data"].as_array());
        let id = projects.and_then(|projects| projects.first()?["id"].as_str().map(str::to_owned));
        id.context("the token may read no project")
    }
}
