//! The HTTP API of a server, for one project.

use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::Value;
use tidewatch_alerts::config_files::{Api, Method};
use tidewatch_runtime::outbound;
use ureq::Agent;
use ureq::http::Request;
use url::Url;

use crate::cli::symbols::send::error_message;

/// Timeout of one call.
const CALL_MAX: Duration = Duration::from_secs(60);
/// Attempts while the server is overloaded or limits the rate. It has done nothing then.
const ATTEMPTS_MAX: u32 = 5;
/// The longest wait between two attempts.
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// A project of a server.
pub struct Remote {
    base: String,
    token: String,
    agent: Agent,
    project: String,
    organization: String,
}

impl Remote {
    /// Looks up the project by id or name; `None`: the only one.
    pub fn connect(base: String, token: &str, project: Option<&str>) -> anyhow::Result<Remote> {
        let agent = outbound::agent(CALL_MAX);
        let (token, none) = (token.to_owned(), String::new());
        let mut remote = Remote { base, token, agent, project: none.clone(), organization: none };
        let answer = remote.send(Method::Get, "/api/projects", None).map_err(anyhow::Error::msg)?;
        let projects = answer.as_array().map(Vec::as_slice).unwrap_or_default();
        let is_meant = |one: &&Value| project.is_none_or(|project| one["id"] == project || one["name"] == project);
        let meant: Vec<&Value> = projects.iter().filter(is_meant).collect();
        let shown = |one: &&Value| {
            format!("{} ({})", one["name"].as_str().unwrap_or_default(), one["id"].as_str().unwrap_or_default())
        };
        let found = match (meant.as_slice(), project) {
            ([one], _) => *one,
            ([], Some(project)) => bail!("the token may not read a project {project}"),
            ([], None) => bail!("the token may read no project"),
            (several, _) => {
                let shown: Vec<_> = several.iter().map(shown).collect();
                bail!("which project? give --project with the id of one: {}", shown.join(", "))
            }
        };
        let id = found["id"].as_str().context("the server's list of projects has no ids")?;
        (remote.project, remote.organization) = (id.to_owned(), found["organizationId"].to_string());
        Ok(remote)
    }

    /// The id of the project.
    pub fn project(&self) -> &str {
        &self.project
    }

    /// Sends a request once. Returns the status, `Retry-After` and the body.
    fn once(&self, method: &str, url: &str, body: &str) -> Result<(u16, Option<Duration>, String), String> {
        let request = Request::builder()
            .method(method)
            .uri(url)
            .header("Authorization", format!("Bearer {}", self.token))
            .header("User-Agent", concat!("tidewatch/", env!("CARGO_PKG_VERSION")))
            .header("Content-Type", "application/json");
        let unreachable = |error: &dyn std::fmt::Display| format!("{} cannot be reached: {error}", self.base);
        // Requests that read or delete have no body, which ureq decides by the type.
        let response = match body {
            "" => self.agent.run(request.body(()).map_err(|error| error.to_string())?),
            body => self.agent.run(request.body(body).map_err(|error| error.to_string())?),
        };
        let mut response = response.map_err(|error| unreachable(&error))?;
        let pause = response.headers().get("Retry-After").and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let body = response.body_mut().read_to_string().map_err(|error| unreachable(&error))?;
        Ok((response.status().as_u16(), pause.map(Duration::from_secs), body))
    }
}

impl Api for Remote {
    fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, String> {
        const ORGANIZATION: &str = "{organization}";
        let url = format!("{}{}", self.base, path.replace(ORGANIZATION, &self.organization));
        let mut url = Url::parse(&url).map_err(|_| format!("{} is no address", self.base))?;
        if !path.contains(ORGANIZATION) && !self.project.is_empty() {
            url.query_pairs_mut().append_pair("projectId", &self.project);
        }
        let method = match method {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Delete => "DELETE",
        };
        let body = body.map(Value::to_string).unwrap_or_default();
        for attempt in 1.. {
            let (status, pause, body) = self.once(method, url.as_str(), &body)?;
            match status {
                200..300 if body.is_empty() => return Ok(Value::Null),
                200..300 => return serde_json::from_str(&body).map_err(|_| "the answer is not JSON".to_owned()),
                429 | 503 if attempt < ATTEMPTS_MAX => {
                    std::thread::park_timeout(pause.unwrap_or(Duration::from_secs(1)).min(PAUSE_MAX));
                }
                401 => return Err(format!("{} does not know the access token", self.base)),
                status => return Err(format!("{} answered {status}: {}", self.base, error_message(&body))),
            }
        }
        unreachable!("the last attempt returns")
    }
}
