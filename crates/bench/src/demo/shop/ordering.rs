//! Orders: storefront, checkout, payments with a gateway of another company, and a mail later.

use serde_json::json;
use tidewatch_domain::model::SpanKind;

use super::super::incident::Incident;
use super::super::instance::{CHECKOUT, PAYMENTS, STOREFRONT, WORKER};
use super::super::otlp::Span;
use super::super::visitor::{FAILING_CLIENT, LARGE_BODY, SLOW_LAYOUT, SLOW_SHARD, SLOW_TENANT, SLOW_USER, Visitor};
use super::spans::{Query, Target};
use super::stacks::{CART_STACK, GATEWAY_STACK, JAVA_STACK, PHP_STACK, PYTHON_STACK};
use super::{COLD_NS, Fault, MINUTE_NS, MS, Shop};

/// Typical duration of an order.
const ORDER_MS: f64 = 170.0;
const READ_STOCK: &str = "SELECT sku, quantity FROM stock WHERE sku = ANY($1) FOR UPDATE";
const READ_STOCK_SLOWLY: &str =
    "SELECT * FROM stock s JOIN stock_history h ON h.sku = s.sku WHERE s.sku = ANY($1) FOR UPDATE";
const UPDATE_STOCK: &str = "UPDATE stock SET quantity = quantity - $2 WHERE sku = $1";
/// Share of orders that update the stock at once.
const UPDATES: f64 = 0.35;

/// The outcome of an order or a charge.
struct Outcome {
    status: u16,
    end_ns: u64,
}

impl Shop {
    /// An order of a visitor.
    pub fn checkout(&mut self, now_ns: u64) {
        let visitor = Visitor::draw(&mut self.random, now_ns);
        let mut root = self.request(STOREFRONT, Some(&visitor), Target::of("POST", "/checkout"), now_ns);
        let start_ns = now_ns + self.latency(3.0);
        let mut ordering = self.call(&root, CHECKOUT, &visitor, Target::of("POST", "/orders"), start_ns);
        for span in [&mut root, &mut ordering.server] {
            span.attributes.push(("http.request.body.size", json!(visitor.body_bytes)));
        }
        let Outcome { status, end_ns } = self.place_order(&mut ordering.server, &visitor);
        ordering.server.end_ns = end_ns;
        let answered_ns = self.finish_call(ordering, status);
        root.end_ns = answered_ns + self.latency(5.0);
        self.respond(&mut root, status);
        self.finish_request(root);
    }

    /// The work of checkout for an order.
    fn place_order(&mut self, order: &mut Span, visitor: &Visitor) -> Outcome {
        let now_ns = order.start_ns;
        let mut at_ns = now_ns + self.latency(2.0);
        let is_slow_version = order.instance.is_new && self.plan.is(Incident::ReleaseSlow, now_ns);
        let statement = if is_slow_version { READ_STOCK_SLOWLY } else { READ_STOCK };
        let database = visitor.database();
        let query = Query { system: "postgresql", statement, server: &database };
        let typical_ms = 18.0 + self.added_to_query_ms(order, visitor, is_slow_version);
        at_ns = self.query(order, query, at_ns, typical_ms);
        if self.random.chance(UPDATES) {
            let typical_ms = match self.plan.is(Incident::DbLock, now_ns) {
                true => 6.0 + self.plan.added_ms(1500.0, ORDER_MS),
                false => 6.0,
            };
            at_ns = self.query(order, Query { statement: UPDATE_STOCK, ..query }, at_ns, typical_ms);
        }
        let own_ms = (8.0 + self.added_to_order_ms(order, visitor)) * self.slow_host_factor(order);
        at_ns += self.latency(own_ms);

        let invalid = self.probability_of_invalid_cart(visitor, now_ns);
        if self.happens(Fault::CartInvalid, invalid) {
            let message = format!("cart {} has no price", 1000 + self.random.below(9000));
            order.end_ns = at_ns;
            self.throw(order, "shop.orders.CartInvalid", &message, CART_STACK);
            self.log(order, 17, &format!("cannot place the order: {message}"));
            order.attributes.push(("retry.count", json!(0)));
            return Outcome { status: 500, end_ns: at_ns };
        }

        let charged = self.charge_with_retries(order, visitor, at_ns);
        order.end_ns = charged.end_ns + self.latency(4.0);
        let is_broken = order.instance.is_new && self.plan.is(Incident::ReleaseErrors, now_ns) && {
            let probability = self.plan.chance(0.12, 1.0);
            self.random.chance(probability)
        };
        let status = if is_broken { 500 } else { charged.status };
        if is_broken {
            let message = format!("order total {}.00 does not match the cart", 20 + self.random.below(400));
            self.throw(order, "shop.orders.TotalMismatch", &message, PYTHON_STACK);
            self.log(order, 17, &format!("cannot place the order: {message}"));
        } else if status < 400 {
            self.log(order, 9, "order placed");
            self.mail(order);
        }
        Outcome { status, end_ns: order.end_ns }
    }

    /// Milliseconds that incidents add to the query of an order.
    fn added_to_query_ms(&mut self, order: &Span, visitor: &Visitor, is_slow_version: bool) -> f64 {
        let (plan, now_ns) = (self.plan, order.start_ns);
        let times_out = plan.is(Incident::TimeOut, now_ns) && visitor.shard() == SLOW_SHARD && self.random.chance(0.6);
        let is_slow_region =
            order.instance.is_new && order.instance.region == 0 && plan.is(Incident::RegionVersion, now_ns);
        let mut added = 0.0;
        for (is, big_ms) in [
            (is_slow_version, 882.0),
            (visitor.is_of(SLOW_TENANT) && plan.is(Incident::Tenant, now_ns), 500.0),
            (visitor.user == SLOW_USER && plan.is(Incident::User, now_ns), 500.0),
            (times_out, 5000.0),
            (is_slow_region, 500.0),
        ] {
            added += if is { plan.added_ms(big_ms, ORDER_MS) } else { 0.0 };
        }
        added
    }

    /// Milliseconds that incidents add to the own time of an order.
    fn added_to_order_ms(&self, order: &Span, visitor: &Visitor) -> f64 {
        let (plan, now_ns) = (self.plan, order.start_ns);
        let mut added = 0.0;
        for (is, big_ms) in [
            (order.instance.is_canary && plan.is(Incident::Canary, now_ns), 600.0),
            (visitor.new_price && plan.is(Incident::Flag, now_ns), 300.0),
            (visitor.new_price && plan.is(Incident::TwoCauses, now_ns), 400.0),
            (visitor.layout == SLOW_LAYOUT && plan.is(Incident::Experiment, now_ns), 300.0),
            (visitor.body_bytes >= LARGE_BODY && plan.is(Incident::Payload, now_ns), 500.0),
        ] {
            added += if is { plan.added_ms(big_ms, ORDER_MS) } else { 0.0 };
        }
        let is_cold = plan.is(Incident::DeployHarmless, now_ns) && now_ns < plan.at_ns + COLD_NS;
        added + if is_cold { 120.0 } else { 0.0 }
    }

    /// The slow host of two causes: one of four hosts in the largest region.
    fn slow_host_factor(&self, order: &Span) -> f64 {
        let is_there = order.instance.region == 0 && order.instance.pod == 0;
        match is_there && self.plan.is(Incident::TwoCauses, order.start_ns) {
            // Five times slower in all: the host's time is a small part of an order's.
            true => 1.0 + self.plan.added_ms(5.0 * ORDER_MS, ORDER_MS) / 8.0,
            false => 1.0,
        }
    }

    fn probability_of_invalid_cart(&self, visitor: &Visitor, now_ns: u64) -> f64 {
        let plan = self.plan;
        if visitor.client == FAILING_CLIENT && plan.is(Incident::ClientVersion, now_ns) {
            plan.chance(0.2, 0.25)
        } else if visitor.new_price && visitor.system == "iOS" && plan.is(Incident::FlagOs, now_ns) {
            plan.chance(0.6, 0.09)
        } else {
            0.003
        }
    }

    /// Charges once; in a retry storm, answers are lost and charges repeated.
    fn charge_with_retries(&mut self, order: &mut Span, visitor: &Visitor, start_ns: u64) -> Outcome {
        let (share, retries) = match self.plan.is(Incident::RetryStorm, start_ns) {
            true => (self.plan.share(0.3, 0.01), 2),
            false => (0.01, 1),
        };
        let retries = if self.random.chance(share) { retries } else { 0 };
        order.attributes.push(("retry.count", json!(retries)));
        let mut at_ns = start_ns;
        for attempt in 0..retries {
            let lost = self.charge(order, visitor, at_ns, Some(attempt));
            at_ns = lost.end_ns + self.latency(200.0);
        }
        self.charge(order, visitor, at_ns, None)
    }

    /// One charge. `lost`: the attempt whose answer the caller cannot read.
    fn charge(&mut self, order: &Span, visitor: &Visitor, start_ns: u64, lost: Option<u32>) -> Outcome {
        let mut call = self.call(order, PAYMENTS, visitor, Target::of("POST", "/charges"), start_ns);
        let payment = &mut call.server;
        let (plan, instance) = (self.plan, payment.instance);
        let is_slow_region = instance.region == 1 && plan.is(Incident::Region, start_ns);
        let is_slow_host = instance.region == 0 && instance.pod == 0 && plan.is(Incident::Host, start_ns);
        let factor = match (is_slow_region, is_slow_host) {
            (true, _) => plan.factor(4.0),
            (_, true) => plan.factor(5.0),
            _ => 1.0,
        };
        let gateway_factor = if plan.is(Incident::Dependency, start_ns) { plan.factor(5.0) } else { 1.0 };

        let authorize_ns = payment.start_ns + self.latency(15.0 * factor);
        let mut gateway = self.child(payment, SpanKind::Client, "POST", authorize_ns, 90.0 * factor * gateway_factor);
        gateway.attributes = vec![
            ("http.request.method", json!("POST")),
            ("server.address", json!("api.cardgate.example")),
            ("url.full", json!("https://api.cardgate.example/v1/authorize")),
        ];
        payment.end_ns = gateway.end_ns + self.latency(10.0 * factor);

        let in_failing_zone = instance.region == 0 && instance.pod < 2 && plan.is(Incident::Zone, start_ns);
        let in_burst = plan.is(Incident::Burst, start_ns) && start_ns < plan.at_ns + 4 * MINUTE_NS;
        let unavailable = match (in_failing_zone, in_burst) {
            (true, _) => plan.chance(0.3, 0.25),
            (_, true) => plan.chance(0.3, 1.0),
            _ => 0.002,
        };
        let status = if self.happens(Fault::GatewayUnavailable, unavailable) {
            self.throw(payment, "com.shop.GatewayUnavailable", "the card gateway is not available", GATEWAY_STACK);
            self.log(payment, 17, "charge failed: the card gateway is not available");
            503
        } else if self.happens(Fault::CardDeclined, 0.05) {
            self.throw(payment, "com.shop.CardDeclined", "card was declined: insufficient funds", JAVA_STACK);
            self.log(payment, 13, "charge declined by the issuer");
            payment.error = false;
            402
        } else {
            200
        };
        self.respond(&mut gateway, if status == 503 { 503 } else { 200 });
        self.finish(gateway);
        if let Some(attempt) = lost {
            call.client.error = true;
            call.client.attributes.push(("error.type", json!("response_unreadable")));
            call.client.attributes.push(("http.request.resend_count", json!(attempt)));
        }
        let end_ns = self.finish_call(call, status);
        let status = match status {
            503 => 502,
            402 => 402,
            _ => 201,
        };
        Outcome { status, end_ns }
    }

    /// A queued message and the worker that consumes it. The worker's span has a parent in another process, so the Task
    /// is not a root.
    fn mail(&mut self, order: &Span) {
        let start_ns = order.end_ns.saturating_sub(2 * MS as u64);
        let mut publish = self.child(order, SpanKind::Producer, "mail.order-confirmation publish", start_ns, 1.0);
        publish.attributes =
            vec![("messaging.system", json!("rabbitmq")), ("messaging.destination.name", json!("mail"))];
        let consumed_ns = publish.end_ns + self.latency(400.0);
        let mut run = self.child(&publish, SpanKind::Consumer, "mail.order-confirmation process", consumed_ns, 180.0);
        run.instance = self.instance(WORKER, 0, consumed_ns);
        run.parent_is_remote = true;
        run.attributes = vec![
            ("messaging.system", json!("rabbitmq")),
            ("messaging.destination.name", json!("mail")),
            ("messaging.operation.type", json!("process")),
        ];
        if self.happens(Fault::MailTimeout, 0.04) {
            let message = "Connection to smtp.example:587 timed out";
            self.throw(&mut run, "Symfony\\Mailer\\TransportException", message, PHP_STACK);
            self.log(&run, 17, "mail not sent, will retry");
        }
        self.finish(publish);
        self.finish(run);
    }
}
