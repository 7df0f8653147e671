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

/// The last place of [`ORDER`] with values that no failure brings about.
const LAST_CAUSE: usize = 15;
/// Of the places up to it, what other changes bring about.
const CONSEQUENCE: &str = "cache.hit";

/// Words of keys that count repeats.
const REPEATS: &[&str] = &["retry", "retries", "resend_count", "attempt", "attempts", "redelivered", "redeliveries"];
/// Words of keys that can be a cause although no place in [`ORDER`] names them.
const SETTINGS: &[&str] = &[
    "version",
    "config",
    "configuration",
    "deployment",
    "release",
    "build",
    "container",
    "flag",
    "commit",
    "revision",
];

/// Whether an attribute counts repeats: a consequence of a failure.
pub fn is_repeat(key: &str) -> bool {
    key.split('.').any(|word| REPEATS.contains(&word))
}

/// Whether a change can begin with a value of this column: versions, flags, settings, attributes of the resource and
/// the rows' own circumstances. Consequences began at the same time too, and are no causes.
pub fn can_begin(name: &str) -> bool {
    let key = key_of(name);
    let is_of_resource = name.starts_with("resource.") || name.starts_with("scope.");
    let is_setting = || key.split(['.', '_']).any(|word| SETTINGS.contains(&word));
    !is_repeat(key) && key != CONSEQUENCE && (is_of_resource || rank(name) <= LAST_CAUSE || is_setting())
}

/// Rank of a column: a lower one is the likelier cause. The name may begin with a scope (`resource.`) or with
/// `child:<service> `.
pub fn rank(name: &str) -> usize {
    let key = key_of(name);
    let is = |wanted: &&str| if wanted.ends_with('.') { key.starts_with(wanted) } else { key == *wanted };
    ORDER.iter().position(|keys| keys.iter().any(is)).unwrap_or(ORDER.len())
}

/// The key of a column without its scope.
fn key_of(name: &str) -> &str {
    let key = name.rsplit_once(' ').map_or(name, |(_, key)| key);
    ["record.", "resource.", "scope."].into_iter().find_map(|scope| key.strip_prefix(scope)).unwrap_or(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    // ANSWERS 6 E: consequences are no causes.
    #[test]
    fn versions_flags_and_resources_can_begin_a_change_and_consequences_cannot() {
        for name in [
            "resource.service.version",
            "record.feature_flag.checkout",
            "record.prompt.version",
            "child:billing db.query.text",
            "resource.anything",
            "record.app.config_hash",
            "record.tenant.id",
        ] {
            assert!(can_begin(name), "{name}");
        }
        for name in [
            "record.retry.count",
            "record.http.request.resend_count",
            "child:billing messaging.attempts",
            "record.cache.hit",
            "record.queue.depth",
            "resource.retry",
        ] {
            assert!(!can_begin(name), "{name}");
        }
    }
}
