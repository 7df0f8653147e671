//! Product pages, search and cart; requests without a route; streams; console commands.

use serde_json::json;
use tidewatch_domain::model::SpanKind;

use super::super::incident::Incident;
use super::super::instance::{CATALOG, SCHEDULER, STOREFRONT};
use super::super::visitor::Visitor;
use super::spans::{Query, Target};
use super::stacks::PHP_STACK;
use super::{Fault, Shop};

/// Share of product lookups that the cache answers.
const CACHE_HITS: f64 = 0.85;

impl Shop {
    /// A product page.
    pub fn product_page(&mut self, now_ns: u64) {
        if self.plan.is(Incident::TrafficDrop, now_ns) {
            let left = self.plan.share(0.2, 1.0);
            if !self.random.chance(left) {
                return;
            }
        }
        let visitor = Visitor::draw(&mut self.random, now_ns);
        let path = format!("/products/SKU-{:04}", self.random.below(400));
        let status = if self.random.chance(0.04) { 404 } else { 200 };
        let target = Target { method: "GET", route: "/products/:sku", path: &path };
        let mut root = self.request(STOREFRONT, Some(&visitor), target, now_ns);
        let start_ns = now_ns + self.latency(2.0);
        let target = Target { method: "GET", route: "/v1/products/{sku}", path: &path };
        let mut call = self.call(&root, CATALOG, &visitor, target, start_ns);
        let hits = match self.plan.is(Incident::Cache, now_ns) {
            true => self.plan.share(0.4, CACHE_HITS),
            false => CACHE_HITS,
        };
        let is_hit = self.random.chance(hits);
        call.server.attributes.push(("cache.hit", json!(is_hit)));
        let lookup = Query { system: "redis", statement: "GET product", server: "cache-1.internal" };
        let mut at_ns = self.query(&call.server, lookup, call.server.start_ns + 200_000, 1.0);
        if !is_hit {
            let statement = "SELECT sku, title, price FROM products WHERE sku = $1";
            let select = Query { system: "postgresql", statement, server: "db-catalog.internal" };
            at_ns = self.query(&call.server, select, at_ns, 34.0);
        }
        call.server.end_ns = at_ns + self.latency(3.0);
        let answered_ns = self.finish_call(call, status);
        root.end_ns = answered_ns + self.latency(6.0);
        self.respond(&mut root, status);
        if status == 404 {
            self.log(&root, 13, "product is not in the catalogue");
        }
        self.finish_request(root);
    }

    /// A search.
    pub fn search(&mut self, now_ns: u64) {
        let visitor = Visitor::draw(&mut self.random, now_ns);
        let term = self.random.pick(&["lamp", "desk", "oak chair", "shelf", "rug", "blue mug"]);
        let mut root = self.request(STOREFRONT, Some(&visitor), Target::of("GET", "/search"), now_ns);
        root.attributes.push(("url.query", json!(format!("q={term}"))));
        let start_ns = now_ns + self.latency(2.0);
        let mut call = self.call(&root, CATALOG, &visitor, Target::of("GET", "/v1/search"), start_ns);
        let index = Query { system: "opensearch", statement: "search products", server: "search-1.internal" };
        let found_ns = self.query(&call.server, index, call.server.start_ns + 500_000, 42.0);
        call.server.end_ns = found_ns + self.latency(15.0);
        let answered_ns = self.finish_call(call, 200);
        root.end_ns = answered_ns + self.latency(4.0);
        self.respond(&mut root, 200);
        self.finish_request(root);
    }

    /// A look into the cart, or a change of it.
    pub fn cart(&mut self, now_ns: u64) {
        let visitor = Visitor::draw(&mut self.random, now_ns);
        let method = self.random.pick(&["GET", "POST", "DELETE"]);
        let status = if self.random.chance(0.03) { 409 } else { 200 };
        let mut root = self.request(STOREFRONT, Some(&visitor), Target::of(method, "/cart"), now_ns);
        let session = Query { system: "redis", statement: "HGETALL cart", server: "cache-1.internal" };
        let read_ns = self.query(&root, session, now_ns + 300_000, 1.2);
        root.end_ns = read_ns + self.latency(5.0);
        self.respond(&mut root, status);
        self.finish_request(root);
    }

    /// A request of a scanner or an old link: it has no route and is stored under UNMATCHED.
    pub fn stray_request(&mut self, now_ns: u64) {
        let path = self.random.pick(&["/wp-login.php", "/.env", "/old/catalogue.html", "/favicon.png"]);
        let target = Target { method: "GET", route: "", path };
        let mut root = self.request(STOREFRONT, None, target, now_ns);
        root.end_ns = now_ns + self.latency(1.5);
        self.respond(&mut root, 404);
        self.finish_request(root);
    }

    /// A stream of stock events.
    pub fn live_feed(&mut self, now_ns: u64) {
        let visitor = Visitor::draw(&mut self.random, now_ns);
        let mut root = self.request(STOREFRONT, Some(&visitor), Target::of("GET", "/events/stock"), now_ns);
        root.attributes.push(("http.response.header.content-type", json!(["text/event-stream"])));
        root.end_ns = now_ns + 20_000_000_000 + self.latency(9_000.0);
        self.respond(&mut root, 200);
        self.finish(root);
    }

    /// A console command of the scheduler.
    pub fn console_command(&mut self, now_ns: u64) {
        let (command, typical_ms) =
            self.random.pick(&[("catalog:import", 5200.0), ("cache:warm", 640.0), ("report:sales", 2100.0)]);
        let instance = self.instance(SCHEDULER, 0, now_ns);
        let mut run = self.root(instance, SpanKind::Internal, command, now_ns, typical_ms);
        run.attributes = vec![("console.command", json!(command))];
        let statement = "INSERT INTO products SELECT * FROM staging";
        let import = Query { system: "postgresql", statement, server: "db-catalog.internal" };
        let share = (run.end_ns - run.start_ns) as f64 * 0.5 / 1e6;
        let stored_ns = self.query(&run, import, now_ns + 1_000_000, share);
        run.end_ns = run.end_ns.max(stored_ns + 1_000_000);
        if self.happens(Fault::BadRow, 0.08) {
            let line = self.random.below(90_000);
            let message = format!("row {line} is malformed: price is not a number");
            self.throw(&mut run, "App\\Import\\BadRow", &message, PHP_STACK);
            self.log(&run, 17, &message);
        }
        self.finish(run);
    }

    /// An INTERNAL root that matches no rule: dropped by the specification and counted as dropped.
    pub fn housekeeping(&mut self, now_ns: u64) {
        let instance = self.instance(SCHEDULER, 0, now_ns);
        let sweep = self.root(instance, SpanKind::Internal, "sweep expired sessions", now_ns, 30.0);
        self.finish(sweep);
    }
}
