//! The sender of a request: tenant, user, client, flags. They correlate as in real traffic: a user has one tenant,
//! device and region; a tenant has one plan and shard.

use serde_json::{Value, json};

use tidewatch_domain::units::DAY_NS;

use super::random::Random;

/// A customer of the shop.
#[derive(Debug)]
pub struct Tenant {
    id: &'static str,
    plan: &'static str,
    shard: u8,
    /// Parts of 100.
    weight: u64,
}

const fn tenant(id: &'static str, plan: &'static str, shard: u8, weight: u64) -> Tenant {
    Tenant { id, plan, shard, weight }
}

/// The tenant whose orders are slow in an incident.
pub const SLOW_TENANT: &str = "acme";
/// The user whose orders are slow in an incident; 6 % of all requests.
pub const SLOW_USER: u64 = 1501;
/// The shard whose queries time out in an incident.
pub const SLOW_SHARD: u8 = 3;
/// The client version whose orders fail in an incident.
pub const FAILING_CLIENT: &str = "5.1";
/// The experiment variant whose orders are slow in an incident.
pub const SLOW_LAYOUT: &str = "c";
/// Request bodies of this size and larger are slow in an incident. Bytes.
pub const LARGE_BODY: u64 = 60_000;
const HEAVY_USER_SHARE: f64 = 0.06;
const USERS_PER_TENANT: u64 = 200;
const FIRST_USER: u64 = 1000;

const TENANTS: [Tenant; 12] = [
    tenant("globex", "enterprise", 1, 14),
    tenant("initech", "business", 3, 10),
    tenant("acme", "enterprise", 1, 24),
    tenant("hooli", "enterprise", 2, 10),
    tenant("umbrella", "business", 3, 8),
    tenant("soylent", "business", 2, 7),
    tenant("stark", "business", 3, 6),
    tenant("wayne", "free", 4, 5),
    tenant("tyrell", "free", 4, 5),
    tenant("cyberdyne", "free", 4, 4),
    tenant("wonka", "free", 2, 4),
    tenant("aperture", "free", 1, 3),
];
/// `cloud.region`, `cloud.account.id` and the countries that it serves.
pub const REGIONS: [(&str, &str, [&str; 3]); 3] = [
    ("eu-1", "210394857601", ["DE", "FR", "NL"]),
    ("eu-2", "210394857602", ["SE", "PL", "FI"]),
    ("us-1", "210394857603", ["US", "CA", "MX"]),
];
const CLIENT_VERSIONS: [(&str, u64); 4] = [("5.0", 35), (FAILING_CLIENT, 25), ("4.9", 25), ("4.8", 15)];
const SYSTEMS: [(&str, &str, u64); 4] =
    [("iOS", "phone", 30), ("Android", "phone", 25), ("Windows", "desktop", 25), ("macOS", "desktop", 20)];

/// Sender of a request, and its body.
#[derive(Debug, Clone)]
pub struct Visitor {
    /// The tenant.
    pub tenant: &'static Tenant,
    /// Number in `user.id`.
    pub user: u64,
    /// Index in [`REGIONS`].
    pub region: usize,
    /// `app.client.version`.
    pub client: &'static str,
    /// `client.os.name`.
    pub system: &'static str,
    device: &'static str,
    country: &'static str,
    /// Whether `flag.new_price` is on.
    pub new_price: bool,
    dark_mode: bool,
    /// `experiment.layout`.
    pub layout: &'static str,
    /// `http.request.body.size` of an order, bytes.
    pub body_bytes: u64,
    session: u64,
}

/// A number x with 0 <= x < 100 for a property of a user, always the same.
fn of_user(user: u64, property: u64) -> u64 {
    let mixed = (user ^ (property << 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (mixed >> 33) % 100
}

fn by_weight<T>(list: &'static [T], mut at: u64, weight: impl Fn(&T) -> u64) -> &'static T {
    for one in list {
        match at.checked_sub(weight(one)) {
            Some(rest) => at = rest,
            None => return one,
        }
    }
    &list[list.len() - 1]
}

impl Visitor {
    /// A random visitor at `now_ns`.
    pub fn draw(random: &mut Random, now_ns: u64) -> Visitor {
        let (tenant, user) = if random.chance(HEAVY_USER_SHARE) {
            (&TENANTS[((SLOW_USER - FIRST_USER) / USERS_PER_TENANT) as usize], SLOW_USER)
        } else {
            let tenant = by_weight(&TENANTS, random.below(100), |tenant| tenant.weight);
            let index = TENANTS.iter().position(|one| one.id == tenant.id).unwrap_or(0) as u64;
            (tenant, FIRST_USER + index * USERS_PER_TENANT + random.below(USERS_PER_TENANT))
        };
        let region = match of_user(user, 1) {
            0..50 => 0,
            50..80 => 1,
            _ => 2,
        };
        let &(system, device, _) = by_weight(&SYSTEMS, of_user(user, 2), |one| one.2);
        Visitor {
            tenant,
            user,
            region,
            client: by_weight(&CLIENT_VERSIONS, of_user(user, 3), |one| one.1).0,
            system,
            device,
            country: REGIONS[region].2[(of_user(user, 4) % 3) as usize],
            new_price: of_user(user, 5) < 30,
            dark_mode: of_user(user, 6) < 50,
            layout: ["a", "b", SLOW_LAYOUT][(of_user(user, 7) % 3) as usize],
            body_bytes: (22_000.0 * (random.normal() * 0.85).exp()) as u64 + 300,
            // A session a day.
            session: user * 100_000 + now_ns / DAY_NS as u64,
        }
    }

    /// Whether it is of this tenant.
    pub fn is_of(&self, tenant: &str) -> bool {
        self.tenant.id == tenant
    }

    /// `db.shard`.
    pub fn shard(&self) -> u8 {
        self.tenant.shard
    }

    /// Address of its database shard.
    pub fn database(&self) -> String {
        format!("db-{}.internal", self.tenant.shard)
    }

    /// Appends its attributes to a span.
    pub fn describe(&self, attributes: &mut Vec<(&'static str, Value)>) {
        attributes.extend([
            ("tenant.id", json!(self.tenant.id)),
            ("tenant.plan", json!(self.tenant.plan)),
            ("db.shard", json!(self.tenant.shard)),
            ("db.host", json!(self.database())),
            ("user.id", json!(format!("u-{}", self.user))),
            ("session.id", json!(format!("s-{:x}", self.session))),
            ("app.client.version", json!(self.client)),
            ("client.os.name", json!(self.system)),
            ("device.type", json!(self.device)),
            ("geo.country.iso_code", json!(self.country)),
            ("flag.new_price", json!(on_off(self.new_price))),
            ("flag.dark_mode", json!(on_off(self.dark_mode))),
            ("experiment.layout", json!(self.layout)),
        ]);
    }
}

fn on_off(is_on: bool) -> &'static str {
    if is_on { "on" } else { "off" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_visitors() {
        let mut random = Random::new(3);
        let visitors: Vec<Visitor> = (0..20_000).map(|_| Visitor::draw(&mut random, 0)).collect();
        let share = |is: &dyn Fn(&Visitor) -> bool| {
            (visitors.iter().filter(|visitor| is(visitor)).count() * 100 + 10_000) / visitors.len()
        };
        assert!((25..33).contains(&share(&|visitor| visitor.is_of(SLOW_TENANT))));
        assert!((5..8).contains(&share(&|visitor| visitor.user == SLOW_USER)));
        assert!((22..36).contains(&share(&|visitor| visitor.region == 1)));
        assert!((20..40).contains(&share(&|visitor| visitor.new_price)));
        assert!((20..35).contains(&share(&|visitor| visitor.client == FAILING_CLIENT)));
        assert!((9..16).contains(&share(&|visitor| visitor.body_bytes >= LARGE_BODY)));
    }
}
