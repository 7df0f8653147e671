//! The processes of the shop: services, their pods, where these run and with which version.

use tidewatch_domain::encode::{Message, RESOURCE_ATTRIBUTES};
use tidewatch_domain::model::AnyValue;

use super::visitor::REGIONS;

/// A service of the shop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Service {
    /// `service.name`.
    pub name: &'static str,
    /// `telemetry.sdk.language`.
    pub language: &'static str,
    /// `service.version` before and after its release.
    pub versions: [&'static str; 2],
    /// Number of regions in which it runs.
    pub regions: u8,
}

const fn service(
    name: &'static str,
    language: &'static str,
    before: &'static str,
    after: &'static str,
    regions: u8,
) -> Service {
    Service { name, language, versions: [before, after], regions }
}

/// The web server of the shop. A version without harm is rolled out before each incident.
pub const STOREFRONT: Service = service("storefront", "nodejs", "5.12.0", "5.13.0", 3);
/// Products and search.
pub const CATALOG: Service = service("catalog", "go", "2.8.1", "2.8.1", 3);
/// The service whose new version is slow and throws.
pub const CHECKOUT: Service = service("checkout", "python", "1.41.0", "1.42.0", 3);
/// Charges cards through a gateway of another company.
pub const PAYMENTS: Service = service("payments", "java", "3.3.7", "3.3.7", 3);
/// Sends mails.
pub const WORKER: Service = service("mail-worker", "php", "0.9.4", "0.9.4", 1);
/// Runs console commands.
pub const SCHEDULER: Service = service("scheduler", "php", "0.9.4", "0.9.4", 1);
/// Answers questions with language models.
pub const ASSISTANT: Service = service("assistant", "python", "0.3.0", "0.3.0", 1);
/// All services.
pub const SERVICES: [Service; 7] = [STOREFRONT, CATALOG, CHECKOUT, PAYMENTS, WORKER, SCHEDULER, ASSISTANT];

/// Pods of a service in one zone, each on a host of its own.
const PODS_PER_ZONE: u8 = 2;
const ZONES: [&str; 2] = ["a", "b"];
/// Pods of a service in one region.
pub const PODS_PER_REGION: u8 = PODS_PER_ZONE * ZONES.len() as u8;

/// A pod of a service with one version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instance {
    /// Its service.
    pub service: Service,
    /// Index in [`REGIONS`].
    pub region: u8,
    /// Number in the region, below [`PODS_PER_REGION`].
    pub pod: u8,
    /// Whether it is the pod of a canary, beside the pod of that number.
    pub is_canary: bool,
    /// Whether it has the new version.
    pub is_new: bool,
}

impl Instance {
    /// Name of its region.
    pub fn region_name(&self) -> &'static str {
        REGIONS[usize::from(self.region)].0
    }

    /// Name of its availability zone.
    pub fn zone(&self) -> String {
        format!("{}{}", self.region_name(), ZONES[usize::from(self.pod / PODS_PER_ZONE) % ZONES.len()])
    }

    /// Name of its host.
    pub fn host(&self) -> String {
        format!("{}-{}-{}", self.service.name, self.zone(), self.pod % PODS_PER_ZONE + 1)
    }

    fn version(&self) -> &'static str {
        self.service.versions[usize::from(self.is_new)]
    }

    /// Appends its resource attributes.
    pub fn describe(&self, resource: &mut Message<'_>) {
        let (version, host) = (self.version(), self.host());
        let commit = commit(self.service.name, version);
        let role = if self.is_canary { "canary" } else { "main" };
        for (key, value) in [
            ("service.name", self.service.name),
            ("service.version", version),
            ("telemetry.sdk.language", self.service.language),
            ("telemetry.sdk.name", "opentelemetry"),
            ("deployment.environment.name", "production"),
            ("cloud.region", self.region_name()),
            ("cloud.availability_zone", &self.zone()),
            ("cloud.account.id", REGIONS[usize::from(self.region)].1),
            ("host.name", &host),
            ("k8s.node.name", &format!("node-{host}")),
            ("k8s.pod.name", &format!("{host}-{role}-{}", &commit[..6])),
            ("container.image.tag", &format!("{version}-{}", &commit[..7])),
            ("vcs.ref.head.revision", &commit),
        ] {
            resource.attribute(RESOURCE_ATTRIBUTES, key, AnyValue::Str(value));
        }
    }
}

/// The commit of a version: 40 hexadecimal digits.
fn commit(service: &str, version: &str) -> String {
    let hash = |salt: u64| {
        // FNV-1a.
        service
            .bytes()
            .chain(version.bytes())
            .fold(0xCBF2_9CE4_8422_2325 ^ salt, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
    };
    format!("{:016x}{:016x}{:08x}", hash(1), hash(2), hash(3) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_two_zones() {
        let at = |pod| Instance { service: PAYMENTS, region: 1, pod, is_canary: false, is_new: false };
        let names: Vec<(String, String)> = (0..PODS_PER_REGION).map(|pod| (at(pod).zone(), at(pod).host())).collect();
        let expected = [
            ("eu-2a", "payments-eu-2a-1"),
            ("eu-2a", "payments-eu-2a-2"),
            ("eu-2b", "payments-eu-2b-1"),
            ("eu-2b", "payments-eu-2b-2"),
        ];
        assert!(names.iter().map(|(zone, host)| (zone.as_str(), host.as_str())).eq(expected), "{names:?}");
    }
}
