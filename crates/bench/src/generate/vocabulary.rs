//! Names of services, endpoints, tasks and statements, generated once.

use crate::demo::random::Random;

/// Number of services.
pub const SERVICES: usize = 20;
/// Number of endpoints of each service.
pub const ENDPOINTS_PER_SERVICE: usize = 15;
/// An attribute of one span in ten thousand, with one of a hundred values `coupon-0`, `coupon-1`, and so on.
pub const RARE_KEY: &str = "shop.coupon.code";
/// A word in one of a hundred thousand log records.
pub const RARE_WORD: &str = "ConnectionResetByPeer";

const NOUNS: [&str; 15] = [
    "orders",
    "carts",
    "items",
    "users",
    "sessions",
    "invoices",
    "refunds",
    "shipments",
    "prices",
    "stock",
    "reviews",
    "coupons",
    "reports",
    "tenants",
    "devices",
];
const SERVICE_NAMES: [&str; SERVICES] = [
    "shop-api",
    "checkout",
    "payment",
    "stock",
    "search",
    "pricing",
    "accounts",
    "sessions",
    "mailer",
    "invoicing",
    "shipping",
    "reviews",
    "recommend",
    "catalogue",
    "gateway",
    "reports",
    "audit",
    "media",
    "coupons",
    "billing",
];
const WORDS: [&str; 64] = [
    "the",
    "of",
    "and",
    "to",
    "in",
    "is",
    "request",
    "order",
    "invoice",
    "customer",
    "payment",
    "checkout",
    "inventory",
    "warehouse",
    "shipment",
    "refund",
    "latency",
    "timeout",
    "retry",
    "cluster",
    "replica",
    "shard",
    "index",
    "query",
    "schema",
    "token",
    "model",
    "agent",
    "tool",
    "result",
    "answer",
    "summary",
    "context",
    "window",
    "prompt",
    "user",
    "system",
    "error",
    "exception",
    "stack",
    "trace",
    "handler",
    "router",
    "middleware",
    "session",
    "cookie",
    "cache",
    "miss",
    "hit",
    "started",
    "finished",
    "accepted",
    "for",
    "with",
    "after",
    "before",
    "from",
    "item",
    "page",
    "batch",
    "worker",
    "queue",
    "lock",
    "connection",
];

/// An endpoint of a service.
pub struct Endpoint {
    /// Its name: `GET /orders/{id}/items`.
    pub name: String,
    /// HTTP method.
    pub method: &'static str,
    /// HTTP route.
    pub route: String,
    /// Typical duration in milliseconds.
    pub latency: f64,
}

/// A service of the company.
pub struct Service {
    /// `service.name`.
    pub name: &'static str,
    /// Its endpoints.
    pub endpoints: Vec<Endpoint>,
    /// Name of its tasks.
    pub task: String,
    /// SQL statements of its database.
    pub statements: Vec<String>,
}

/// All names.
pub struct Vocabulary {
    /// Services, by index.
    pub services: Vec<Service>,
    /// Stack traces; each one is an Issue of its own.
    pub stacks: Vec<String>,
}

impl Vocabulary {
    /// Generates the names, always the same ones.
    pub fn new() -> Vocabulary {
        let mut random = Random::new(11);
        let services =
            SERVICE_NAMES.iter().enumerate().map(|(number, name)| service(&mut random, number, name)).collect();
        let stacks = (0..120).map(|number| stack(&mut random, number)).collect();
        Vocabulary { services, stacks }
    }
}

fn service(random: &mut Random, number: usize, name: &'static str) -> Service {
    let endpoint = |(index, noun): (usize, &&str)| {
        let (method, tail) = [("GET", ""), ("GET", "/items"), ("POST", "/items"), ("PUT", "")][index % 4];
        let route = format!("/{name}/{noun}/{{id}}{tail}");
        Endpoint {
            name: format!("{method} {route}"),
            method,
            route,
            latency: 4.0 + ((number + index) % 23) as f64 * 6.0,
        }
    };
    let statements = (0..12)
        .map(|index| {
            let columns = (0..6).map(|_| random.pick(&WORDS)).collect::<Vec<_>>().join(", ");
            let table = NOUNS[index % NOUNS.len()];
            format!(
                "select {columns} from {table} where {table}.id = $1 and tenant_id = $2 order by created_at limit 50"
            )
        })
        .collect();
    Service {
        name,
        endpoints: NOUNS.iter().enumerate().map(endpoint).collect(),
        task: format!("{}.tasks.{}", name.replace('-', "_"), NOUNS[number % NOUNS.len()]),
        statements,
    }
}

fn stack(random: &mut Random, number: usize) -> String {
    let mut text = String::from("Traceback (most recent call last):\n");
    for _ in 0..10 {
        let (module, file, line) = (random.pick(&["app", "flask", "werkzeug"]), random.pick(&WORDS), random.below(900));
        let (function, call) = (random.pick(&WORDS), random.pick(&WORDS));
        text.push_str(&format!(
            "  File \"/usr/lib/python3/site-packages/{module}/{file}.py\", line {line}, in {function}_{number}\n    return self.{call}(**kwargs)\n"
        ));
    }
    text
}

/// Appends words of about `bytes` bytes in all.
pub fn sentence(random: &mut Random, bytes: usize, out: &mut String) {
    let end = out.len() + bytes;
    while out.len() < end {
        out.push_str(random.pick(&WORDS));
        out.push(' ');
    }
    out.pop();
}
