//! The fictional shop: actions of its visitors, workers, cron jobs and assistant, as spans, logs and points.

use serde_json::{Value, json};
use tidewatch_domain::model::{SpanId, SpanKind, TraceId};

use super::otlp::{Exception, ExportBuffer, Service, Span};
use super::random::Random;

const fn service(name: &'static str, language: &'static str, before: &'static str, after: &'static str) -> Service {
    Service { name, language, versions: [before, after] }
}

const STOREFRONT: Service = service("storefront", "nodejs", "5.12.0", "5.12.0");
const CATALOG: Service = service("catalog", "go", "2.8.1", "2.8.1");
/// The service whose new version is slow and throws.
const CHECKOUT: Service = service("checkout", "python", "1.41.0", "1.42.0");
const PAYMENTS: Service = service("payments", "java", "3.3.7", "3.3.7");
const WORKER: Service = service("mail-worker", "php", "0.9.4", "0.9.4");
const SCHEDULER: Service = service("scheduler", "php", "0.9.4", "0.9.4");
const ASSISTANT: Service = service("assistant", "python", "0.3.0", "0.3.0");
const SERVICES: [Service; 7] = [STOREFRONT, CATALOG, CHECKOUT, PAYMENTS, WORKER, SCHEDULER, ASSISTANT];

const MS: f64 = 1e6;
/// One-way network latency.
const NETWORK_NS: u64 = 500_000;

/// The client and server spans of a request between two services.
struct Call {
    client: Span,
    server: Span,
}

impl Call {
    /// Delays the request to begin at `start_ns`.
    fn starting_at(mut self, start_ns: u64) -> Call {
        let delay = start_ns.saturating_sub(self.client.start_ns);
        for span in [&mut self.client, &mut self.server] {
            span.start_ns += delay;
            span.end_ns += delay;
        }
        self
    }
}

/// The state of the shop.
pub struct Shop {
    /// Source of all randomness.
    pub random: Random,
    /// Records that are not exported yet.
    pub exports: ExportBuffer,
    /// When checkout's slow version went live, nanoseconds since the epoch.
    pub deploy_ns: u64,
    /// When the shop started, nanoseconds since the epoch.
    pub started_ns: u64,
    requests: u64,
    durations_ms: Vec<f64>,
}

impl Shop {
    /// A shop with nothing to export.
    pub fn new(seed: u64, started_ns: u64, deploy_ns: u64) -> Self {
        Shop {
            random: Random::new(seed),
            exports: ExportBuffer::default(),
            deploy_ns,
            started_ns,
            requests: 0,
            durations_ms: Vec::new(),
        }
    }

    /// One random action, starting at `now_ns`.
    pub fn act(&mut self, now_ns: u64) {
        match self.random.below(100) {
            0..=37 => self.product_page(now_ns),
            38..=55 => self.search(now_ns),
            56..=69 => self.cart(now_ns),
            70..=82 => self.checkout(now_ns),
            83..=87 => self.stray_request(now_ns),
            88..=90 => self.live_feed(now_ns),
            91..=93 => self.console_command(now_ns),
            94..=98 => self.assistant(now_ns),
            _ => self.housekeeping(now_ns),
        }
    }

    /// Runtime metrics of every service, as SDKs export them each `interval_ns`.
    pub fn measure(&mut self, now_ns: u64, interval_ns: u64) {
        for service in SERVICES {
            let deployed = now_ns >= self.deploy_ns;
            let busy = if deployed && service == CHECKOUT { 0.8 } else { 0.35 };
            let cpu = (busy + self.random.unit() * 0.15).min(1.0);
            self.exports.gauge(service, deployed, now_ns, "process.cpu.utilization", "1", cpu);
            let memory = 180e6 + self.random.unit() * 60e6;
            self.exports.gauge(service, deployed, now_ns, "process.memory.usage", "By", memory);
            if service.language == "nodejs" {
                let delay = 0.001 + self.random.unit() * 0.004;
                self.exports.gauge(service, deployed, now_ns, "nodejs.eventloop.delay.p50", "s", delay);
            }
        }
        let depth = self.random.below(if now_ns >= self.deploy_ns { 240 } else { 40 }) as f64;
        self.exports.gauge(WORKER, false, now_ns, "queue.depth", "{message}", depth);
        let times = [self.started_ns, now_ns];
        self.exports.counter(STOREFRONT, false, times, "shop.requests", ("shop.region", "eu"), self.requests);
        let durations = std::mem::take(&mut self.durations_ms);
        let times = [now_ns.saturating_sub(interval_ns), now_ns];
        self.exports.histogram(STOREFRONT, false, times, "http.server.request.duration", &durations);
    }

    fn product_page(&mut self, now_ns: u64) {
        let sku = format!("SKU-{:04}", self.random.below(400));
        let missing = self.random.chance(0.04);
        let status = if missing { 404 } else { 200 };
        let mut root =
            self.request(STOREFRONT, None, "GET", "/products/:sku", &format!("/products/{sku}"), now_ns, status);
        let call = self.call(&root, CATALOG, "GET", "/v1/products/{sku}", status, 14.0);
        let select = "SELECT sku, title, price FROM products WHERE sku = $1";
        let database = self.query(&call.server, select, "postgresql", 3.0);
        self.finish(database);
        let served_at = call.server.end_ns;
        self.finish_call(call);
        if missing {
            self.log(&root, 13, &format!("product {sku} is not in the catalogue"));
        }
        root.end_ns = served_at + self.random.latency_ms(6.0 * MS) as u64;
        self.finish_request(root);
    }

    fn search(&mut self, now_ns: u64) {
        let term = self.random.pick(&["lamp", "desk", "oak chair", "shelf", "rug", "blue mug"]);
        let mut root = self.request(STOREFRONT, None, "GET", "/search", "/search", now_ns, 200);
        root.attributes.push(("url.query".into(), json!(format!("q={term}"))));
        let call = self.call(&root, CATALOG, "GET", "/v1/search", 200, 60.0);
        let index = self.query(&call.server, "search products", "opensearch", 42.0);
        self.finish(index);
        root.end_ns = call.server.end_ns + self.random.latency_ms(4.0 * MS) as u64;
        self.finish_call(call);
        self.finish_request(root);
    }

    fn cart(&mut self, now_ns: u64) {
        let method = self.random.pick(&["GET", "POST", "DELETE"]);
        let status = if self.random.chance(0.03) { 409 } else { 200 };
        let mut root = self.request(STOREFRONT, None, method, "/cart", "/cart", now_ns, status);
        let session = self.query(&root, "HGETALL cart", "redis", 1.2);
        root.end_ns = session.end_ns + self.random.latency_ms(5.0 * MS) as u64;
        self.finish(session);
        self.finish_request(root);
    }

    /// The flow that the deploy makes slow: storefront, checkout, payments, and a mail later.
    fn checkout(&mut self, now_ns: u64) {
        let deployed = now_ns >= self.deploy_ns;
        let declined = self.random.chance(0.05);
        let broken = deployed && self.random.chance(0.12);
        let status = if broken {
            500
        } else if declined {
            402
        } else {
            201
        };
        let mut root = self.request(STOREFRONT, None, "POST", "/checkout", "/checkout", now_ns, status);
        let mut ordering = self.call(&root, CHECKOUT, "POST", "/orders", status, 30.0);
        let order = &mut ordering.server;
        let statement = if deployed {
            "SELECT * FROM stock s JOIN stock_history h ON h.sku = s.sku WHERE s.sku = ANY($1) FOR UPDATE"
        } else {
            "SELECT sku, quantity FROM stock WHERE sku = ANY($1) FOR UPDATE"
        };
        let stock = self.query(order, statement, "postgresql", if deployed { 900.0 } else { 18.0 });
        let after_stock = stock.end_ns;
        self.finish(stock);
        let paying = self.call(order, PAYMENTS, "POST", "/charges", if declined { 402 } else { 200 }, 120.0);
        let mut paying = paying.starting_at(after_stock + 1_000_000);
        let payment = &mut paying.server;
        if declined {
            self.throw(payment, "com.shop.CardDeclined", "card was declined: insufficient funds", JAVA_STACK);
            self.log(payment, 13, "charge declined by the issuer");
        }
        order.end_ns = payment.end_ns + self.random.latency_ms(8.0 * MS) as u64;
        if broken {
            let message = format!("order total {}.00 does not match the cart", 20 + self.random.below(400));
            self.throw(order, "shop.orders.TotalMismatch", &message, PYTHON_STACK);
            self.log(order, 17, &format!("cannot place the order: {message}"));
        } else {
            self.log(order, 9, "order placed");
            self.mail(order);
        }
        root.end_ns = order.end_ns + self.random.latency_ms(5.0 * MS) as u64;
        self.finish_call(paying);
        self.finish_call(ordering);
        self.finish_request(root);
    }

    /// A queued message and the worker that consumes it. The worker's span has a parent in another process, so the Task
    /// is not a root.
    fn mail(&mut self, order: &Span) {
        let mut publish = self.child(order, CHECKOUT, SpanKind::Producer, "mail.order-confirmation publish", 2.0);
        publish.attributes =
            pairs([("messaging.system", json!("rabbitmq")), ("messaging.destination.name", json!("mail"))]);
        let waited = self.random.latency_ms(400.0 * MS) as u64;
        let mut run = self.child(&publish, WORKER, SpanKind::Consumer, "mail.order-confirmation process", 180.0);
        run.parent_is_remote = true;
        run.start_ns += waited;
        run.end_ns += waited;
        run.attributes = pairs([
            ("messaging.system", json!("rabbitmq")),
            ("messaging.destination.name", json!("mail")),
            ("messaging.operation.type", json!("process")),
        ]);
        if self.random.chance(0.04) {
            self.throw(
                &mut run,
                "Symfony\\Mailer\\TransportException",
                "Connection to smtp.example:587 timed out",
                PHP_STACK,
            );
            self.log(&run, 17, "mail not sent, will retry");
        }
        self.finish(publish);
        self.finish(run);
    }

    /// Requests of scanners and old links: they have no route and are stored under UNMATCHED.
    fn stray_request(&mut self, now_ns: u64) {
        let path = self.random.pick(&["/wp-login.php", "/.env", "/old/catalogue.html", "/favicon.png"]);
        let mut root = self.request(STOREFRONT, None, "GET", "", path, now_ns, 404);
        root.end_ns = now_ns + self.random.latency_ms(1.5 * MS) as u64;
        self.finish_request(root);
    }

    fn live_feed(&mut self, now_ns: u64) {
        let mut root = self.request(STOREFRONT, None, "GET", "/events/stock", "/events/stock", now_ns, 200);
        root.attributes.push(("http.response.header.content-type".into(), json!(["text/event-stream"])));
        root.end_ns = now_ns + (20_000.0 * MS) as u64 + self.random.latency_ms(9_000.0 * MS) as u64;
        self.finish(root);
    }

    fn console_command(&mut self, now_ns: u64) {
        let (command, typical) =
            self.random.pick(&[("catalog:import", 5200.0), ("cache:warm", 640.0), ("report:sales", 2100.0)]);
        let mut run = self.root(SCHEDULER, SpanKind::Internal, command, now_ns, typical);
        run.attributes = pairs([("console.command", json!(command))]);
        let import = self.query(&run, "INSERT INTO products SELECT * FROM staging", "postgresql", typical * 0.6);
        self.finish(import);
        if self.random.chance(0.08) {
            let line = self.random.below(90_000);
            let message = format!("row {line} is malformed: price is not a number");
            self.throw(&mut run, "App\\Import\\BadRow", &message, PHP_STACK);
            self.log(&run, 17, &message);
        }
        self.finish(run);
    }

    /// A request to the shop's assistant: an Endpoint and AI Traces in one trace.
    fn assistant(&mut self, now_ns: u64) {
        let (question, answer) = self.random.pick(&CONVERSATIONS);
        let model = self.random.pick(&["gpt-4o", "gpt-4o-mini", "claude-sonnet-4-5"]);
        let provider = if model.starts_with("gpt") { "openai" } else { "anthropic" };
        let conversation = format!("conv-{}", self.random.below(60));
        let mut root = self.request(ASSISTANT, None, "POST", "/assistant/messages", "/assistant/messages", now_ns, 200);
        let input = 400 + self.random.below(3000);
        let output = 60 + self.random.below(500);
        let mut chat = self.child(&root, ASSISTANT, SpanKind::Client, &format!("chat {model}"), 1400.0);
        let messages = json!([
            {"role": "system", "parts": [{"type": "text", "content": "You help customers of a furniture shop."}]},
            {"role": "user", "parts": [{"type": "text", "content": question}]},
        ]);
        let reply =
            json!([{"role": "assistant", "parts": [{"type": "text", "content": answer}], "finish_reason": "stop"}]);
        chat.attributes = pairs([
            ("gen_ai.operation.name", json!("chat")),
            ("gen_ai.provider.name", json!(provider)),
            ("gen_ai.request.model", json!(model)),
            ("gen_ai.response.model", json!(model)),
            ("gen_ai.conversation.id", json!(conversation)),
            ("gen_ai.usage.input_tokens", json!(input)),
            ("gen_ai.usage.output_tokens", json!(output)),
            ("gen_ai.response.finish_reasons", json!(["stop"])),
            ("gen_ai.input.messages", json!(messages.to_string())),
            ("gen_ai.output.messages", json!(reply.to_string())),
            ("trace.name", json!("support-assistant")),
        ]);
        let mut tool = self.child(&root, ASSISTANT, SpanKind::Internal, "execute_tool find_order", 90.0);
        tool.attributes =
            pairs([("gen_ai.operation.name", json!("execute_tool")), ("gen_ai.tool.name", json!("find_order"))]);
        let length = tool.end_ns - tool.start_ns;
        tool.start_ns = chat.end_ns + 2_000_000;
        tool.end_ns = tool.start_ns + length;
        root.end_ns = tool.end_ns + 6_000_000;
        self.log(&chat, 9, &format!("answered with {output} tokens from {model}"));
        self.finish(chat);
        self.finish(tool);
        self.finish_request(root);
    }

    /// An INTERNAL root that matches no rule: dropped by the specification and counted as dropped.
    fn housekeeping(&mut self, now_ns: u64) {
        let sweep = self.root(SCHEDULER, SpanKind::Internal, "sweep expired sessions", now_ns, 30.0);
        self.finish(sweep);
    }

    fn root(&mut self, service: Service, kind: SpanKind, name: &str, start_ns: u64, typical_ms: f64) -> Span {
        Span {
            service,
            trace_id: TraceId(self.random.id()),
            span_id: SpanId(self.random.id()),
            parent_id: SpanId::default(),
            kind,
            name: name.to_owned(),
            start_ns,
            end_ns: start_ns + self.random.latency_ms(typical_ms * MS) as u64,
            deployed: start_ns >= self.deploy_ns,
            parent_is_remote: false,
            error: false,
            attributes: Vec::new(),
            exceptions: Vec::new(),
        }
    }

    fn child(&mut self, parent: &Span, service: Service, kind: SpanKind, name: &str, typical_ms: f64) -> Span {
        let start_ns = parent.start_ns + 400_000 + self.random.below(600_000);
        let mut span = self.root(service, kind, name, start_ns, typical_ms);
        span.trace_id = parent.trace_id;
        span.parent_id = parent.span_id;
        span
    }

    /// A SERVER span. `route`: empty if no route matched. The caller sets its end.
    #[expect(clippy::too_many_arguments, reason = "an HTTP request simply has this many parts")]
    fn request(
        &mut self,
        service: Service,
        parent: Option<&Span>,
        method: &str,
        route: &str,
        path: &str,
        start_ns: u64,
        status: u16,
    ) -> Span {
        let name = if route.is_empty() { method.to_owned() } else { format!("{method} {route}") };
        let mut span = match parent {
            Some(parent) => self.child(parent, service, SpanKind::Server, &name, 1.0),
            None => self.root(service, SpanKind::Server, &name, start_ns, 1.0),
        };
        span.attributes = pairs([
            ("http.request.method", json!(method)),
            ("url.path", json!(path)),
            ("url.scheme", json!("https")),
            ("http.response.status_code", json!(status)),
            ("server.address", json!("shop.example")),
            ("client.address", json!(format!("203.0.113.{}", self.random.below(250)))),
            ("user_agent.original", json!("Mozilla/5.0 (demo)")),
        ]);
        if !route.is_empty() {
            span.attributes.push(("http.route".into(), json!(route)));
        }
        span.error = status >= 500;
        span
    }

    /// A CLIENT span and the SERVER span of the request in another service.
    fn call(&mut self, from: &Span, to: Service, method: &str, route: &str, status: u16, typical_ms: f64) -> Call {
        let mut client = self.child(from, from.service, SpanKind::Client, method, typical_ms);
        client.attributes = pairs([
            ("http.request.method", json!(method)),
            ("server.address", json!(to.name)),
            ("url.full", json!(format!("http://{}.internal{route}", to.name))),
            ("http.response.status_code", json!(status)),
        ]);
        let mut server = self.request(to, Some(&client), method, route, route, client.start_ns, status);
        server.parent_is_remote = true;
        server.end_ns = server.start_ns + (client.end_ns - client.start_ns);
        Call { client, server }
    }

    /// Ends the client span after the server span.
    fn finish_call(&mut self, call: Call) {
        let Call { mut client, server } = call;
        client.end_ns = server.end_ns + NETWORK_NS;
        self.finish(client);
        self.finish(server);
    }

    fn query(&mut self, parent: &Span, statement: &str, system: &str, typical_ms: f64) -> Span {
        let operation = statement.split(' ').next().unwrap_or(statement);
        let mut span =
            self.child(parent, parent.service, SpanKind::Client, &format!("{operation} {system}"), typical_ms);
        span.attributes = pairs([("db.system.name", json!(system)), ("db.query.text", json!(statement))]);
        span
    }

    fn throw(&mut self, span: &mut Span, exception_type: &str, message: &str, frames: &str) {
        let stack_trace = match span.service.language {
            "python" => format!("Traceback (most recent call last):\n{frames}\n{exception_type}: {message}"),
            _ => format!("{exception_type}: {message}\n{frames}"),
        };
        let (kind, message) = (exception_type.to_owned(), message.to_owned());
        span.exceptions.push(Exception { time_ns: span.end_ns, kind, message, stack_trace });
        span.error = true;
    }

    fn log(&mut self, span: &Span, severity: u8, body: &str) {
        self.exports.log(span.service, span.deployed, span.end_ns.saturating_sub(200_000), severity, body, Some(span));
    }

    fn finish(&mut self, span: Span) {
        self.exports.span(span);
    }

    fn finish_request(&mut self, span: Span) {
        self.requests += 1;
        self.durations_ms.push((span.end_ns - span.start_ns) as f64 / MS);
        self.finish(span);
    }
}

fn pairs<const N: usize>(list: [(&str, Value); N]) -> Vec<(String, Value)> {
    list.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

const CONVERSATIONS: [(&str, &str); 4] = [
    ("Where is my order 4711?", "Your order left our warehouse yesterday and should reach you on Thursday."),
    (
        "Does the oak desk come in a darker colour?",
        "Yes, the oak desk is also made in smoked oak; both ship in five days.",
    ),
    (
        "How do I return a lamp?",
        "Print the label from your account page and hand the parcel in at any pick-up point within 30 days.",
    ),
    (
        "Which rug fits a 3 x 4 m room?",
        "A rug of 200 x 290 cm leaves about 50 cm of floor on each side, which suits that room well.",
    ),
];

const PYTHON_STACK: &str = "  File \"/app/orders/views.py\", line 88, in place_order\n    total = verify_total(cart, prices)\n  File \"/app/orders/totals.py\", line 41, in verify_total\n    raise TotalMismatch(f\"order total {total} does not match the cart\")";
const JAVA_STACK: &str = "\tat com.shop.payments.Charges.charge(Charges.java:112)\n\tat com.shop.payments.ChargeResource.post(ChargeResource.java:57)\n\tat jakarta.servlet.http.HttpServlet.service(HttpServlet.java:590)";
const PHP_STACK: &str = "#0 /app/src/Worker/Handler.php(64): App\\Worker\\Handler->run(Object(App\\Message))\n#1 /app/vendor/symfony/messenger/Worker.php(189): App\\Worker\\Handler->__invoke()\n#2 {main}";
