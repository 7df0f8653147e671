//! Which of several attributes with the same meaning is shown.

/// Keys, or beginnings of keys that end with a dot, from the likeliest cause to the least.
const ORDER: &[&[&str]] = &[
    // Rows of several services: a version that all rows of a service have tells no more than the service.
    &["service.name"],
    &["service.version", "app.version"],
    &["feature_flag.", "flag."],
    &["app.client.version", "client.version", "telemetry.client.version"],
    &["gen_ai.request.model", "gen_ai.response.model", "model"],
    &["prompt.version", "gen_ai.prompt.version"],
    &["cloud.region", "region"],
    &["cloud.availability_zone", "cloud.zone", "zone"],
    &["host.name", "host.id", "server_name"],
    &["k8s.node.name", "node"],
    &["k8s.pod.name", "pod"],
    &["tenant.id", "tenant"],
    &["tenant.plan", "plan"],
    &["cache.hit"],
    &["db.query.text", "db.statement"],
    &["db.shard", "shard"],
    &["retry.count", "http.request.resend_count"],
    &["user.id", "enduser.id"],
];

/// Rank of a column: a lower one is the likelier cause. The name may begin with a scope (`resource.`) or with
/// `child:<service> `.
pub fn rank(name: &str) -> usize {
    let key = name.rsplit_once(' ').map_or(name, |(_, key)| key);
    let key = ["record.", "resource.", "scope."].into_iter().find_map(|scope| key.strip_prefix(scope)).unwrap_or(key);
    let is = |wanted: &&str| if wanted.ends_with('.') { key.starts_with(wanted) } else { key == *wanted };
    ORDER.iter().position(|keys| keys.iter().any(is)).unwrap_or(ORDER.len())
}
