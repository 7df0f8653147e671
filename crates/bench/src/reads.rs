//! Interactive reads over the data of `bench fill`. Goals G8 and G15 are measured with them.

use serde_json::{Value, json};

use super::generate::{ENDPOINTS_PER_SERVICE, RARE_KEY, RARE_WORD, SERVICES, endpoint_name};
use super::protobuf::fields;
use super::query::Read;
use tidewatch_domain::units::{DAY_NS, HOUR_NS};
use tidewatch_query::time::to_rfc3339;

/// Reads of data that ends at `end_ns`. Names start with their name in the goals. `sample`: a trace for reads of one
/// trace.
pub fn reads(end_ns: u64, sample: Option<Sample>) -> Vec<Read> {
    let end = end_ns as i64;
    let list = |path: &str, days: i64, more: Value| {
        let mut body = json!({"fromDate": to_rfc3339(end - days * DAY_NS), "toDate": to_rfc3339(end)});
        if let (Some(body), Value::Object(more)) = (body.as_object_mut(), more) {
            body.extend(more);
        }
        (format!("{path}?projectId={{project}}"), Some(body))
    };
    let mut reads: Vec<(String, (String, Option<Value>))> = Vec::new();
    let mut add = |name: &str, read| reads.push((name.to_owned(), read));
    for days in [1, 7, 30] {
        add(&format!("ranking: endpoints, {days} d"), list("/api/endpoints/grouped", days, json!({})));
    }
    add("ranking: tasks, 30 d", list("/api/tasks/grouped", 30, json!({})));
    add("ranking: AI traces, 30 d", list("/api/ai-traces/grouped", 30, json!({})));
    for days in [1, 30] {
        let chart = |metric: &str| list("/api/endpoints/chart", days, json!({"metricType": metric}));
        add(&format!("chart: total time, {days} d"), chart("total_time"));
        add(&format!("chart: p95, {days} d"), chart("p95"));
    }
    for days in [1, 30] {
        add(&format!("services: map, {days} d"), list("/api/services/map", days, json!({})));
    }
    if let Some(sample) = sample {
        let name = endpoint_name(sample.service, sample.endpoint);
        let page = |days: i64, order: &str| {
            let paging = json!({"orderBy": order, "sortDirection": "desc", "pagination": {"page": 1, "pageSize": 50}});
            let (path, body) = list("/api/endpoints/endpoint", days, paging);
            (format!("{path}&endpoint={}", encoded(&name)), body)
        };
        for days in [1, 30] {
            add(&format!("one endpoint: latest, {days} d"), page(days, "recorded_at"));
            add(&format!("one endpoint: slowest, {days} d"), page(days, "duration"));
        }
        let name = json!(name);
        add("heatmap: one endpoint, 1 d", list("/api/heatmap", 1, json!({"entity": "endpoint", "name": name})));
        for (what, query) in [("slow", "duration>100ms"), ("errors", "status:error")] {
            let selection = json!({"entity": "endpoint", "name": name, "selection": {"query": query}});
            add(&format!("explain: {what} of one endpoint, 1 d"), list("/api/explain", 1, selection));
        }
        let hex: String = sample.trace_id.iter().map(|byte| format!("{byte:02x}")).collect();
        let path = format!("/api/distributed-traces/{hex}?projectId={{project}}");
        let near = to_rfc3339(sample.start_ns as i64 + HOUR_NS);
        add("trace: within 24 h", (path.clone(), Some(json!({"recordedAt": near}))));
        add("trace: any time", (path, Some(json!({}))));
    }
    let spans = |key: &str, value: &str| {
        list(
            "/api/spans",
            1,
            json!({"attributeFilters": [{"key": key, "value": value}], "pagination": {"pageSize": 50}}),
        )
    };
    add("attribute: promoted, 1 d", spans("user.id", "user-77"));
    add("attribute: rare, 1 d", spans(RARE_KEY, "coupon-7"));
    add("overview: what changed, 1 d", list("/api/overview/changes", 1, json!({})));
    add("overview: always bad, new, costs, 1 d", list("/api/overview/answers", 1, json!({})));
    let search = |query: &str| list("/api/traces/search", 1, json!({"query": query}));
    add("trace search: any span, 1 d", search("user.id:user-77"));
    add("trace search: two spans, 1 d", search("{user.id:user-77} >> {db.system.name:postgresql}"));
    let complete = |field: &str, prefix: &str| {
        list("/api/query/complete", 1, json!({"rows": "span", "field": field, "prefix": prefix}))
    };
    add("completion: values of a promoted attribute, 1 d", complete("user.id", "user-7"));
    add("completion: values of a column, 1 d", complete("service", ""));
    for days in [1, 30] {
        add(&format!("issues: list, {days} d"), list("/api/exception-stack-traces", days, json!({})));
    }
    let logs = |word: &str, days| {
        list("/api/logs", days, json!({"search": word, "minSeverity": 1, "pagination": {"pageSize": 50}}))
    };
    add("logs: rare word, 30 d", logs(RARE_WORD, 30));
    add("logs: latest 50 of a frequent word, 1 d", logs("timeout", 1));
    let series = json!({
        "from": to_rfc3339(end - DAY_NS), "to": to_rfc3339(end), "intervalMinutes": 24,
        "queries": [{"name": "shop.worker.load", "aggregation": "avg", "groupBy": "worker"}],
    });
    add("metric: 200 groups x 60 buckets", ("/api/metrics/query?projectId={project}".to_owned(), Some(series)));
    reads.into_iter().map(|(name, (path, body))| Read { name, method: None, path, body }).collect()
}

/// Percent-encodes a value for a query string.
fn encoded(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~');
    let encode = |byte: u8| if is_plain(byte) { (byte as char).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(encode).collect()
}

/// A trace in the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// The trace's id.
    pub trace_id: [u8; 16],
    /// Start of its first span. Nanoseconds since the epoch.
    pub start_ns: u64,
    /// Index of an endpoint for reads of one endpoint, in the middle of its service's list.
    pub endpoint: usize,
    /// Index of that endpoint's service.
    pub service: usize,
}

impl Sample {
    /// The trace of the first span in an export request. `None`: the request is not valid.
    pub fn of(body: &[u8]) -> Option<Sample> {
        let mut at = (0, body.len());
        for number in [1, 2, 2] {
            let field =
                fields(body, at.0, at.1)?.into_iter().find(|field| field.number == number && field.wire_type == 2);
            at = field.map(|field| (field.start, field.end))?;
        }
        let span = fields(body, at.0, at.1)?;
        let content =
            |number| span.iter().find(|field| field.number == number).map(|field| &body[field.start..field.end]);
        let trace_id = content(1)?.try_into().ok()?;
        let start_ns = u64::from_le_bytes(content(7)?.try_into().ok()?);
        Some(Sample { trace_id, start_ns, endpoint: ENDPOINTS_PER_SERVICE / 2, service: SERVICES / 2 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_encoded() {
        assert_eq!(encoded("GET /a/{id}"), "GET%20%2Fa%2F%7Bid%7D");
    }

    #[test]
    fn every_read_names_the_project() {
        let sample = Sample { trace_id: [1; 16], start_ns: 1_800_000_000_000_000_000, endpoint: 1, service: 1 };
        let reads = reads(1_800_000_000_000_000_000, Some(sample));
        assert!(reads.iter().all(|read| read.path.contains("projectId={project}")), "{reads:?}");
    }
}
