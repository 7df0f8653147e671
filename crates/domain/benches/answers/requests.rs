//! Requests of one entry point with 54 attributes, in which one thing goes wrong from minute 80 of 120.

use std::f64::consts::TAU;

use fastrand::Rng;
use tidewatch_domain::explain::{Column, Condition, Predicate, SampleRates, Set, Table, Values};

/// Minutes of the view, and the first one of the incident.
pub const MINUTES: u32 = 120;
pub const START: u32 = 80;
const REQUESTS: u32 = 20_000;
/// Typical duration, milliseconds.
const TYPICAL_MS: f64 = 170.0;
/// Failed share of quiet minutes.
const FAILING: f64 = 0.002;
const TENANTS: [u32; 12] = [14, 10, 24, 10, 8, 7, 6, 5, 5, 4, 4, 3];
const NOISE: [(&str, u32); 12] = [
    ("noise.a", 2),
    ("noise.b", 2),
    ("noise.c", 3),
    ("noise.d", 4),
    ("noise.e", 5),
    ("noise.f", 8),
    ("noise.g", 10),
    ("noise.h", 16),
    ("noise.i", 25),
    ("noise.j", 50),
    ("noise.k", 100),
    ("noise.l", 200),
];

/// Cause of an incident.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    ReleaseSlow,
    ReleaseErrors,
    Canary,
    Tenant,
    User,
    Region,
    Zone,
    Host,
    Cache,
    DbLock,
    RetryStorm,
    TimeOut,
    ClientVersion,
    Flag,
    Experiment,
    Payload,
    Prompt,
    Model,
    Country,
    RegionVersion,
    FlagOs,
    TwoCauses,
    Nothing,
}

/// Causes that one condition names.
pub const SINGLE: [Cause; 19] = [
    Cause::ReleaseSlow,
    Cause::ReleaseErrors,
    Cause::Canary,
    Cause::Tenant,
    Cause::User,
    Cause::Region,
    Cause::Zone,
    Cause::Host,
    Cause::Cache,
    Cause::DbLock,
    Cause::RetryStorm,
    Cause::TimeOut,
    Cause::ClientVersion,
    Cause::Flag,
    Cause::Experiment,
    Cause::Payload,
    Cause::Prompt,
    Cause::Model,
    Cause::Country,
];

/// An attribute and the code of its value; [`LARGE`]: a number from which on requests are slow.
pub type Named = (&'static str, u32);
pub const LARGE: Named = ("http.request.body.size", 60_000);

impl Cause {
    /// Rows of which one is the answer: one condition, or two that hold together.
    pub fn answers(self) -> &'static [&'static [Named]] {
        match self {
            Cause::ReleaseSlow | Cause::ReleaseErrors | Cause::Canary => &[&[("service.version", 1)]],
            Cause::Tenant => &[&[("tenant.id", 2)]],
            Cause::User => &[&[("user.id", 0)]],
            Cause::Region => &[&[("cloud.region", 1)]],
            Cause::Zone => &[&[("cloud.availability_zone", 0)]],
            Cause::Host => &[&[("host.name", 3)]],
            Cause::Cache => &[&[("cache.hit", 0)]],
            Cause::DbLock => &[&[("db.query.text", 1)]],
            Cause::RetryStorm => &[&[("retry.count", 1)]],
            Cause::TimeOut => &[&[("db.shard", 3)]],
            Cause::ClientVersion => &[&[("app.client.version", 1)]],
            Cause::Flag => &[&[("flag.new_price", 1)]],
            Cause::Experiment => &[&[("experiment.layout", 2)]],
            Cause::Payload => &[&[LARGE]],
            Cause::Prompt => &[&[("prompt.version", 7)]],
            Cause::Model => &[&[("gen_ai.request.model", 1)]],
            Cause::Country => &[&[("geo.country.iso_code", 4)]],
            Cause::RegionVersion => &[&[("cloud.region", 0), ("service.version", 1)]],
            Cause::FlagOs => &[&[("flag.new_price", 1), ("client.os.name", 0)]],
            Cause::TwoCauses => &[&[("flag.new_price", 1)], &[("host.name", 3)]],
            Cause::Nothing => &[],
        }
    }

    /// Whether requests fail, instead of being slow.
    pub fn is_failing(self) -> bool {
        matches!(self, Cause::ReleaseErrors | Cause::Zone | Cause::ClientVersion | Cause::Country | Cause::FlagOs)
    }

    fn is_release(self) -> bool {
        matches!(self, Cause::ReleaseSlow | Cause::ReleaseErrors)
    }
}

/// A request.
pub struct Request {
    pub minute: u32,
    pub duration_ms: f64,
    pub is_failed: bool,
    attributes: [Named; 49],
    numbers: [(&'static str, f64); 5],
}

/// Draws requests. The same seed gives the same ones.
struct Shop {
    random: Rng,
    cause: Cause,
    is_big: bool,
    /// The first minute of the release that harms nobody.
    rollout: u32,
}

/// Requests of the whole view, in which `cause` begins at [`START`].
pub fn requests(cause: Cause, is_big: bool, seed: u64) -> Vec<Request> {
    let mut random = Rng::with_seed(seed.wrapping_mul(1_000_003) + cause as u64);
    // Half of the incidents begin with a rollout.
    let rollout = if random.bool() { START } else { random.u32(5..70) };
    let mut shop = Shop { random, cause, is_big, rollout };
    (0..REQUESTS).map(|number| shop.request(number)).collect()
}

fn by_weight(random: &mut Rng, weights: &[u32]) -> u32 {
    let mut at = random.u32(0..weights.iter().sum());
    let chosen = weights.iter().position(|weight| match at.checked_sub(*weight) {
        Some(rest) => {
            at = rest;
            false
        }
        None => true,
    });
    chosen.map_or(0, |place| place as u32)
}

/// A number below 100 for a property of a user, always the same.
fn of_user(user: u32, property: u32) -> u32 {
    let mixed = (u64::from(user) ^ (u64::from(property) << 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    ((mixed >> 33) % 100) as u32
}

pub fn normal(random: &mut Rng) -> f64 {
    (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (TAU * random.f64()).cos()
}

impl Shop {
    fn request(&mut self, number: u32) -> Request {
        let (cause, is_big) = (self.cause, self.is_big);
        let random = &mut self.random;
        let minute = random.u32(0..MINUTES);
        let is_on = minute >= START;
        let region = by_weight(random, &[50, 30, 20]);
        let zone = region * 2 + random.u32(0..2);
        let host = zone * 2 + random.u32(0..2);
        let tenant = by_weight(random, &TENANTS);
        let (tenant, user) = if random.f64() < 0.06 { (2, 0) } else { (tenant, 1 + tenant * 400 + random.u32(0..400)) };
        let (plan, shard) = (
            [0, 1, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2][tenant as usize],
            [1, 3, 1, 2, 3, 2, 3, 4, 4, 4, 2, 1][tenant as usize],
        );
        let os = [0, 0, 0, 1, 1, 2, 2, 2, 3, 3][(of_user(user, 2) / 10) as usize];
        let client = [0, 0, 0, 1, 1, 1, 2, 2, 3, 3][(of_user(user, 3) / 10) as usize];
        let country = region * 3 + of_user(user, 4) % 3;
        let locale = if random.f64() < 0.1 { 9 } else { country };
        let (new_price, dark, beta) = (of_user(user, 5) < 30, of_user(user, 6) < 50, of_user(user, 8) < 5);
        let layout = of_user(user, 7) % 3;
        let is_canary = cause == Cause::Canary && is_on && random.f64() < 0.1;
        let version = match cause {
            Cause::Canary => is_canary,
            Cause::ReleaseSlow | Cause::ReleaseErrors => is_on,
            Cause::RegionVersion => is_on && host.is_multiple_of(2),
            _ => minute >= self.rollout + host * 10 / 12,
        };
        let version = u32::from(version);
        let pod = host * 3 + if is_canary { 2 } else { version };
        let hits = if cause == Cause::Cache && is_on { if is_big { 0.4 } else { 0.8 } } else { 0.85 };
        let is_hit = random.f64() < hits;
        let retries = if cause == Cause::RetryStorm && is_on { if is_big { 0.3 } else { 0.06 } } else { 0.01 };
        let retry = u32::from(random.f64() < retries);
        let query = by_weight(random, &[40, 35, 15, 10]);
        let model = by_weight(random, &[50, 30, 20]);
        let prompt = if cause == Cause::Prompt && is_on { 7 } else { 6 };
        let body = 22_000.0 * (0.85 * normal(random)).exp();
        let session = user * 8 + random.u32(0..8);
        let mut attributes = [("", 0); 49];
        attributes[..37].copy_from_slice(&[
            ("service.version", version),
            ("vcs.ref.head.revision", version),
            ("container.image.tag", version),
            ("k8s.pod.name", pod),
            ("cloud.region", region),
            ("cloud.availability_zone", zone),
            ("host.name", host),
            ("k8s.node.name", host),
            ("cloud.account.id", region),
            ("tenant.id", tenant),
            ("tenant.plan", plan),
            ("db.shard", shard),
            ("db.host", shard),
            ("user.id", user),
            ("client.os.name", os),
            ("app.client.version", client),
            ("device.type", u32::from(os > 1)),
            ("device.model", os * 3 + of_user(user, 9) % 3),
            ("user_agent.name", os * 4 + client),
            ("geo.country.iso_code", country),
            ("client.locale", locale),
            ("app.currency", u32::from(region == 2)),
            ("flag.new_price", u32::from(new_price)),
            ("flag.dark_mode", u32::from(dark)),
            ("flag.beta", u32::from(beta)),
            ("experiment.layout", layout),
            ("cache.hit", u32::from(is_hit)),
            ("retry.count", retry),
            ("db.query.text", query),
            ("http.request.method", random.u32(0..2)),
            ("gen_ai.request.model", model),
            ("prompt.version", prompt),
            ("request.id", number),
            ("session.id", session),
            ("order.id", number ^ 0x5555),
            ("message.id", number.reverse_bits() >> 12),
            ("client.address", random.u32(0..60_000)),
        ]);
        for (place, (name, values)) in NOISE.iter().enumerate() {
            attributes[37 + place] = (name, random.u32(0..*values));
        }
        let numbers = [
            (LARGE.0, body),
            ("http.response.body.size", 4000.0 * normal(random).exp()),
            ("queue.depth", 40.0 * random.f64()),
            ("cart.items", (1.0 + 30.0 * random.f64() * random.f64()).floor()),
            ("account.age", 900.0 * random.f64()),
        ];
        // What is always a little slower: misses, retries, a distant region.
        let mut ms = TYPICAL_MS * (0.35 * normal(random)).exp() * if region == 2 { 1.05 } else { 1.0 };
        if random.f64() < 0.01 {
            ms *= (1.0 - random.f64()).powf(-1.0 / 1.5);
        }
        let (of_miss, of_retry) = match cause {
            Cause::Cache => (100.0, 30.0),
            Cause::RetryStorm => (10.0, 250.0),
            _ => (10.0, 30.0),
        };
        ms += if is_hit { 0.0 } else { of_miss } + f64::from(retry) * of_retry;
        let mut request = Request { minute, duration_ms: ms, is_failed: false, attributes, numbers };
        let failing = if is_on { self.harm(&mut request) } else { 0.0 };
        request.is_failed = self.random.f64() < FAILING + failing;
        request
    }

    /// Makes a request of the incident slower. Returns the probability that it fails.
    fn harm(&mut self, request: &mut Request) -> f64 {
        // Milliseconds, factor, and probability and share of failures of the requests that are affected.
        let (added, factor, failing, share) = match self.cause {
            Cause::ReleaseSlow => (880.0, 1.0, 0.0, 1.0),
            Cause::ReleaseErrors => (0.0, 1.0, 0.12, 1.0),
            Cause::Canary => (600.0, 1.0, 0.0, 1.0),
            Cause::Tenant | Cause::User | Cause::Payload | Cause::RegionVersion => (500.0, 1.0, 0.0, 1.0),
            Cause::Region => (0.0, 4.0, 0.0, 1.0),
            Cause::Zone => (0.0, 1.0, 0.3, 0.25),
            Cause::Host => (0.0, 5.0, 0.0, 1.0),
            Cause::DbLock => (1500.0, 1.0, 0.0, 1.0),
            Cause::TimeOut if self.random.f64() < 0.6 => (5000.0, 1.0, 0.0, 1.0),
            Cause::ClientVersion => (0.0, 1.0, 0.2, 0.3),
            Cause::Flag | Cause::Experiment => (300.0, 1.0, 0.0, 1.0),
            Cause::TwoCauses => (400.0, 1.0, 0.0, 1.0),
            Cause::Prompt => (0.0, 2.8, 0.0, 1.0),
            Cause::Model => (0.0, 3.0, 0.0, 1.0),
            Cause::Country => (0.0, 1.0, 0.3, 0.1),
            Cause::FlagOs => (0.0, 1.0, 0.6, 0.09),
            Cause::TimeOut | Cause::Cache | Cause::RetryStorm | Cause::Nothing => return 0.0,
        };
        let is_hit = self.cause.is_release()
            || self.cause.answers().iter().any(|named| named.iter().all(|one| request.is(*one)));
        if !is_hit {
            return 0.0;
        }
        match self.is_big {
            true => request.duration_ms = request.duration_ms * factor + added,
            false if !self.cause.is_failing() => request.duration_ms += 0.2 * TYPICAL_MS,
            false => {}
        }
        match (self.cause.is_failing(), self.is_big) {
            (false, _) => 0.0,
            (true, true) => failing,
            // Half a point of all requests.
            (true, false) => 0.005 / share,
        }
    }
}

impl Request {
    fn is(&self, (name, code): Named) -> bool {
        match self.numbers.iter().find(|(key, _)| *key == name) {
            Some((_, number)) => *number >= f64::from(code),
            None => self.attributes.contains(&(name, code)),
        }
    }
}

/// The duration that a twentieth of the requests before the incident exceeds, milliseconds.
pub fn slow_ms(requests: &[Request]) -> f64 {
    let before = requests.iter().filter(|request| request.minute < START);
    let mut durations: Vec<f64> = before.map(|request| request.duration_ms).collect();
    durations.sort_by(f64::total_cmp);
    durations[durations.len() * 95 / 100]
}

/// The table of the engine; `start`: the first selected minute.
/// `is_band`: which requests are in the band of the selection.
pub fn table(requests: &[Request], start: u32, is_band: &[bool]) -> Table {
    let set = |(request, is_band): (&Request, &bool)| match (request.minute >= start, *is_band) {
        (true, true) => Set::Selected,
        (true, false) => Set::Rest,
        (false, true) => Set::SelectedBefore,
        (false, false) if request.minute + 5 >= start => Set::RestJustBefore,
        (false, false) => Set::RestBefore,
    };
    let strings = |place: usize| {
        let name = requests[0].attributes[place].0;
        let codes: Vec<u32> = requests.iter().map(|request| request.attributes[place].1 + 1).collect();
        let values = codes.iter().copied().max().unwrap_or(0);
        let dictionary = (0..values).map(|code| code.to_string()).collect();
        Column { name: name.to_owned(), values: Values::Strings { codes, dictionary } }
    };
    let numbers = |place: usize| {
        let values = requests.iter().map(|request| request.numbers[place].1);
        Column::numbers(requests[0].numbers[place].0, values.collect())
    };
    let columns = (0..requests[0].attributes.len()).map(strings).chain((0..5).map(numbers)).collect();
    Table { sets: requests.iter().zip(is_band).map(set).collect(), rates: SampleRates::ALL, columns }
}

/// Whether a condition is the named one; a cut may differ by 5 %.
pub fn is_named(table: &Table, condition: Condition, (name, code): Named) -> bool {
    table.columns[condition.column].name == name
        && match condition.predicate {
            Predicate::Is(found) => found == code,
            Predicate::AtLeast(cut) => (cut / f64::from(code) - 1.0).abs() <= 0.05,
            Predicate::Absent | Predicate::LessThan(_) => false,
        }
}
