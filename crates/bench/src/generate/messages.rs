//! Parts that the messages of all signals have.

use tidewatch_domain::encode::{Message, RESOURCE_ATTRIBUTES};
use tidewatch_domain::model::{AnyValue, Scope};

pub(super) fn text(message: &mut Message<'_>, field: u8, key: &str, value: &str) {
    message.attribute(field, key, AnyValue::Str(value));
}

pub(super) fn int(message: &mut Message<'_>, field: u8, key: &str, value: u64) {
    message.attribute(field, key, AnyValue::Int(value.cast_signed()));
}

/// An instrumentation scope without a version.
pub(super) fn scope(name: &str) -> Scope<'_> {
    Scope { name, ..Scope::default() }
}

/// Appends the ten resource attributes of a service's process.
pub(super) fn resource(resource: &mut Message<'_>, name: &str, number: usize) {
    let build = number % 7;
    for (key, value) in [
        ("service.name", name),
        ("service.version", &format!("2.{build}.{number}")),
        ("service.instance.id", &format!("{name}-{number:08x}")),
        ("deployment.environment.name", "production"),
        ("host.name", &format!("ip-10-0-{number}-17.eu-west-1.compute.internal")),
        ("os.type", "linux"),
        ("telemetry.sdk.language", "python"),
        ("telemetry.sdk.name", "opentelemetry"),
        ("telemetry.sdk.version", "1.38.0"),
        ("k8s.pod.name", &format!("{name}-7d9f8b6c5d-x2x{number}")),
    ] {
        text(resource, RESOURCE_ATTRIBUTES, key, value);
    }
}
