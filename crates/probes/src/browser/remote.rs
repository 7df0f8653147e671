//! A browser runner as its servers see it: where it is, and what it last said.

use std::time::Duration;

use bytes::Bytes;
use hyper::Method;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use parking_lot::Mutex;
use serde::Deserialize;
use tidewatch_limits as limits;
use url::Url;

use super::job::{CHECKS, Greeting, Job, Report};
use crate::http_client::{self, Hop};

/// Address of a server's browser runner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunnerAddress {
    /// The address; its path ends with a slash.
    pub url: Url,
    /// The shared token.
    pub token: String,
}

/// A browser runner.
pub struct Runner {
    address: RunnerAddress,
    /// Reason for which its latest answer was none; `None`: it works.
    problem: Mutex<Option<String>>,
}

/// The body of an answer that is no success.
#[derive(Deserialize)]
struct Refusal {
    error: String,
}

impl Runner {
    /// A runner at this address.
    pub fn new(address: RunnerAddress) -> Runner {
        Runner { address, problem: Mutex::default() }
    }

    /// Reason for which it makes no checks, as of the latest one.
    pub fn problem(&self) -> Option<String> {
        self.problem.lock().clone()
    }

    /// Asks whether it is there, and logs the answer.
    pub async fn greet(&self) {
        let greeting = self.call(Method::GET, Bytes::new(), limits::BROWSER_GRACE).await;
        let greeting = greeting.and_then(|body| parsed::<Greeting>(&body));
        match &greeting {
            Ok(Greeting { version }) if version == env!("CARGO_PKG_VERSION") => {
                tracing::info!("checks by a browser: {}", self.address.url);
            }
            Ok(Greeting { version }) => {
                tracing::warn!("the browser runner has version {version}, this server {}", env!("CARGO_PKG_VERSION"));
            }
            Err(problem) => tracing::warn!("checks by a browser cannot run: {problem}"),
        }
        *self.problem.lock() = greeting.err();
    }

    /// Has a check made. An error: it was not made, and why. When this is dropped, the check ends.
    pub async fn run(&self, job: &Job) -> Result<Report, String> {
        let body = serde_json::to_vec(job).map_err(|error| error.to_string())?;
        let time_max = Duration::from_secs(job.timeout_seconds) + 2 * limits::BROWSER_GRACE;
        let report = self.call(Method::POST, body.into(), time_max).await;
        let report = report.and_then(|body| parsed::<Report>(&body)).and_then(|report| {
            // A worker says once that there was more.
            let is_bounded = report.output.len() <= 2 * limits::BROWSER_OUTPUT_BYTES_MAX;
            if is_bounded { Ok(report) } else { Err("the output of the browser runner is too large".to_owned()) }
        });
        *self.problem.lock() = report.as_ref().err().cloned();
        report
    }

    /// The body of a successful response, or why there is none.
    async fn call(&self, method: Method, body: Bytes, time_max: Duration) -> Result<Vec<u8>, String> {
        let exchange = async {
            let answer = http_client::send(&self.request(method, body)?).await?;
            let status = answer.status();
            Ok((status, answer.read(limits::MONITOR_RESPONSE_BYTES_MAX).await?.0))
        };
        let answer: Result<_, String> = tokio::time::timeout(time_max, exchange)
            .await
            .unwrap_or_else(|_| Err(format!("no answer within {} s", time_max.as_secs())));
        let (status, body) = answer.map_err(|error| format!("the browser runner cannot be reached: {error}"))?;
        match status.as_u16() {
            200 => Ok(body),
            401 => Err("the browser runner has another token (SYNTHETICS_BROWSER_TOKEN)".to_owned()),
            _ => Err(match serde_json::from_slice(&body) {
                Ok(Refusal { error }) => format!("the browser runner made no check: {error}"),
                Err(_) => format!("the browser runner answered with {status}"),
            }),
        }
    }

    fn request(&self, method: Method, body: Bytes) -> Result<Hop, String> {
        let url = self.address.url.join(CHECKS).map_err(|error| error.to_string())?;
        let mut token = HeaderValue::from_str(&format!("Bearer {}", self.address.token))
            .map_err(|_| "the token is no header".to_owned())?;
        token.set_sensitive(true);
        let json = HeaderValue::from_static("application/json");
        let headers = HeaderMap::from_iter([(AUTHORIZATION, token), (CONTENT_TYPE, json)]);
        Ok(Hop { url, method, headers, body })
    }
}

fn parsed<T: serde::de::DeserializeOwned>(body: &[u8]) -> Result<T, String> {
    serde_json::from_slice(body).map_err(|_| "what answers there is no browser runner".to_owned())
}
