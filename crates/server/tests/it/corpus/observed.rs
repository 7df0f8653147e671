//! The API's answers for a project: every row of every list, page by page.

use serde_json::{Value, json};

use crate::harness::{Harness, Project, text};

use super::scenario::Scenario;

/// The requests were captured on 20 and 21 November 2026.
pub const FROM: &str = "2026-11-10T00:00:00Z";
pub const TO: &str = "2026-12-01T00:00:00Z";

pub struct Observed {
    pub endpoints: Vec<Value>,
    pub tasks: Vec<Value>,
    pub ai_traces: Vec<Value>,
    /// Issues, each with all its occurrences.
    pub issues: Vec<Value>,
    pub occurrences: Vec<Value>,
    pub spans: Vec<Value>,
    pub logs: Vec<Value>,
    /// The Logs tab of each trace with an Endpoint or Task.
    pub linked_logs: Vec<(String, usize)>,
    pub metrics: Vec<Value>,
    /// Metric name, and per grouping the last value of every series, ascending.
    pub values: Vec<(String, Vec<Vec<f64>>)>,
    pub drops: Value,
}

impl Observed {
    pub async fn of(harness: &Harness, project: &Project, scenario: &Scenario) -> Observed {
        let api = Api { harness, project };
        let issues = api.pages("/api/exception-stack-traces", json!({})).await;
        let mut occurrences = Vec::new();
        for issue in &issues {
            let path = format!("/api/exception-stack-traces/{}", text(&issue["exceptionHash"]));
            occurrences.extend(api.pages_of(&path, json!({}), "occurrences").await);
        }
        let endpoints = api.pages("/api/endpoints", json!({})).await;
        let tasks = api.pages("/api/tasks", json!({})).await;
        let mut traces: Vec<String> = endpoints.iter().chain(&tasks).map(|row| text(&row["traceId"])).collect();
        traces.sort();
        traces.dedup();
        let logs = api.pages("/api/logs", json!({})).await;
        let mut linked_logs = Vec::new();
        if !logs.is_empty() {
            for trace in traces {
                let linked = api.pages("/api/logs", json!({ "traceId": trace, "linkedOnly": true })).await;
                linked_logs.push((trace, linked.len()));
            }
        }
        Observed {
            ai_traces: api.pages("/api/ai-traces", json!({})).await,
            spans: api.pages("/api/spans", json!({})).await,
            metrics: api.metrics().await,
            values: api.values(scenario).await,
            // Counts are stored by the time of receipt, not by the time of the records.
            drops: api.post("/api/drops", json!({ "fromDate": "2020-01-01T00:00:00Z" })).await,
            endpoints,
            tasks,
            issues,
            occurrences,
            logs,
            linked_logs,
        }
    }
}

struct Api<'a> {
    harness: &'a Harness,
    project: &'a Project,
}

impl Api<'_> {
    async fn post(&self, path: &str, body: Value) -> Value {
        let path = format!("{path}?projectId={}", self.project.id);
        self.harness.api("POST", &path, &body).await.expect(200).json()
    }

    /// All pages of a list over the range of the captures.
    async fn pages(&self, path: &str, body: Value) -> Vec<Value> {
        self.pages_of(path, body, "data").await
    }

    async fn pages_of(&self, path: &str, mut body: Value, field: &str) -> Vec<Value> {
        let mut rows: Vec<Value> = Vec::new();
        for page in 1.. {
            body["fromDate"] = FROM.into();
            body["toDate"] = TO.into();
            body["pagination"] = json!({ "page": page, "pageSize": 100 });
            let answer = self.post(path, body.clone()).await;
            rows.extend(answer[field].as_array().expect("a list").iter().cloned());
            let total = answer["pagination"]["total"].as_u64().expect("a total");
            if page >= answer["pagination"]["totalPages"].as_u64().expect("pages") {
                assert_eq!(rows.len() as u64, total, "{path}: rows and total");
                return rows;
            }
        }
        unreachable!("a list ends")
    }

    async fn metrics(&self) -> Vec<Value> {
        let path = format!("/api/metrics/discover?from={FROM}&to={TO}&projectId={}", self.project.id);
        let answer = self.harness.api("GET", &path, &Value::Null).await.expect(200).json();
        answer["metrics"].as_array().expect("a list").clone()
    }

    /// The values of the scenario's metrics: ungrouped, and grouped by each of its tags.
    async fn values(&self, scenario: &Scenario) -> Vec<(String, Vec<Vec<f64>>)> {
        let mut values = Vec::new();
        for entry in scenario.expected["metrics"].as_array().into_iter().flatten() {
            if !entry["values"].is_array() {
                continue;
            }
            let name = text(&entry["name"]);
            let mut groupings = vec![Value::Null];
            groupings.extend(entry["tags"].as_array().into_iter().flatten().cloned());
            let mut seen = Vec::new();
            for group_by in groupings {
                let query = json!({ "name": name, "aggregation": "last", "groupBy": group_by });
                let body = json!({ "queries": [query], "from": FROM, "to": TO, "intervalMinutes": 60 });
                let answer = self.post("/api/metrics/query", body).await;
                let series = answer["results"][0]["series"].as_object().expect("series").clone();
                let last = |points: &Value| points.as_array()?.last()?["value"].as_f64();
                let mut numbers: Vec<f64> = series.values().filter_map(last).collect();
                numbers.sort_by(f64::total_cmp);
                seen.push(numbers);
            }
            values.push((name, seen));
        }
        values
    }
}
