//! Status pages for visitors: `/api/status/{slug}`, `/status/{slug}`. WIRE 6, issue 22 item 5.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use serde_json::{Value, json};
use tidewatch_accounts::Database;
use tidewatch_alerts::status_pages::{CheckState, MonitorDay, MonitorSource, MonitorState, Reading};
use tidewatch_domain::units::{DAY_NS, SECOND_NS};

use crate::client::{self, Answer};
use crate::engines::On;
use crate::harness::Harness;
use crate::mailbox::{Mailbox, organization, send_to};

/// 2026-11-23T09:44:00Z.
const NOW: i64 = 1_795_427_040_000_000_000;
/// Input of an attacker.
const HOSTILE: &str = "<script>alert(1)</script>\"'<img src=x onerror=alert(2)>";

/// Two monitors, and the number of reads.
#[derive(Default)]
struct Monitors {
    reads: AtomicUsize,
    name: String,
}

impl MonitorSource for Monitors {
    fn monitors<'a>(&'a self, _: &'a Database, _: i64) -> Reading<'a, Vec<MonitorState>> {
        let monitor = |id, name: &str, state| MonitorState {
            id,
            name: format!("{name}{}", self.name),
            check_type: "http".to_owned(),
            state,
        };
        Box::pin(async move { Ok(vec![monitor(1, "Shop", CheckState::Up), monitor(2, "Search", CheckState::Down)]) })
    }

    fn days<'a>(&'a self, _: &'a Database, ids: &'a [i64], from_ns: i64, to_ns: i64) -> Reading<'a, Vec<MonitorDay>> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        let day = |monitor, age: i64| MonitorDay {
            monitor,
            day_ns: to_ns.div_euclid(DAY_NS) * DAY_NS - age * DAY_NS,
            total: 10,
            up: 9 - age,
            missed: 1,
        };
        let days = ids.iter().flat_map(|id| [day(*id, 0), day(*id, 1)]).filter(|day| day.day_ns >= from_ns).collect();
        Box::pin(async move { Ok(days) })
    }
}

/// A server with the monitors, its clock, and the path of the organization's status pages.
pub struct Site {
    pub harness: Harness,
    monitors: Arc<Monitors>,
    clock: Arc<AtomicI64>,
    pub admin: String,
}

impl Site {
    pub async fn open(database: &On) -> Site {
        Site::with(database, "", None).await
    }

    pub async fn with(database: &On, name: &str, mailbox: Option<&Mailbox>) -> Site {
        let clock = Arc::new(AtomicI64::new(NOW));
        let address = mailbox.map(|mailbox| mailbox.address);
        let change = move |config: &mut tidewatch_server::config::Config| {
            config.base_url = Some("https://tide.example.com/".to_owned());
            address.into_iter().for_each(|address| send_to(config, address));
        };
        let (harness, _) = Harness::registered_at(database, &clock, change).await;
        let monitors = Arc::new(Monitors { name: name.to_owned(), ..Monitors::default() });
        harness.app().alerting.status_pages.set_source(monitors.clone());
        let admin = format!("/api/organizations/{}/status-pages", organization(&harness).await);
        Site { harness, monitors, clock, admin }
    }

    pub async fn create(&self, body: Value) -> Answer {
        self.harness.api("POST", &self.admin, &body).await
    }

    /// A visitor with an address of their own.
    pub async fn visit(&self, path: &str, visitor: u32) -> Answer {
        let address = format!("10.{}.{}.{}", visitor >> 16, visitor >> 8 & 255, visitor & 255);
        client::send(self.harness.address(), "GET", path, &[("X-Forwarded-For", &address)], b"").await
    }

    pub async fn html(&self, path: &str, visitor: u32) -> String {
        String::from_utf8(self.visit(path, visitor).await.expect(200).body).expect("UTF-8")
    }

    async fn form(&self, path: &str, body: &str) -> Answer {
        let headers = [("Content-Type", "application/x-www-form-urlencoded")];
        client::send(self.harness.address(), "POST", path, &headers, body.as_bytes()).await
    }

    async fn at_host(&self, host: &str, path: &str) -> Answer {
        let head = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nAccept: text/html\r\nConnection: close\r\n\r\n");
        client::raw(self.harness.address(), head.as_bytes()).await
    }
}

pub fn page(slug: &str) -> Value {
    json!({ "name": "Acme", "slug": slug, "isPublic": true, "checkIds": [2, 1], "description": "All of Acme" })
}

pub fn with(slug: &str, field: &str, value: Value) -> Value {
    let mut body = page(slug);
    body[field] = value;
    body
}

on_both! {
    // WIRE 6: `GET /api/status/:slug`; private and unknown are 404.
    async fn visitors_read_the_state_of_public_pages(database) {
        let site = Site::open(&database).await;
        site.create(page("acme")).await.expect(201);
        site.create(with("hidden", "isPublic", json!(false))).await.expect(201);
        let answer = site.visit("/api/status/acme", 1).await.expect(200);
        assert_eq!(answer.header("Cache-Control"), Some("public, max-age=30"));
        let status = answer.json();
        assert_eq!(status["generatedAt"], "2026-11-23T09:44:00Z");
        assert_eq!((&status["name"], &status["description"], &status["hasLogo"]), (&json!("Acme"), &json!("All of Acme"), &json!(false)));
        assert_eq!(status["pastIncidents"], json!([]));
        let checks = status["checks"].as_array().expect("a list");
        let shown: Vec<Value> = checks.iter().map(|one| json!([one["name"], one["checkType"], one["status"]])).collect();
        assert_eq!(json!(shown), json!([["Search", "http", "down"], ["Shop", "http", "up"]]));
        assert_eq!(checks[0]["uptimePct"], json!(100.0 * 17.0 / 18.0), "up / (total - missed)");
        let days = checks[0]["days"].as_array().expect("a list");
        let today = json!({
            "bucket": "2026-11-23T00:00:00Z", "total": 10, "up": 9, "missed": 1, "avgLatencyMs": 0, "maxLatencyMs": 0,
        });
        assert_eq!((days.len(), &days[89]), (90, &today));
        assert_eq!(days[0]["bucket"], "2026-08-26T00:00:00Z");
        for path in ["/api/status/hidden", "/api/status/unknown", "/status/hidden", "/status/unknown",
            "/status/hidden/feed.atom", "/status/hidden/badge.svg", "/api/status/hidden/logo", "/api/status/acme/logo"] {
            assert_eq!(site.visit(path, 2).await.status, 404, "{path}");
        }
    }

    // WIRE 6: private and unknown pages are 404. The status is the same for every client, the body is what it accepts.
    async fn errors_are_pages_for_browsers(database) {
        let site = Site::open(&database).await;
        site.create(page("acme")).await.expect(201);
        site.create(with("hidden", "isPublic", json!(false))).await.expect(201);
        let unknown = "No such status page.";
        for (method, path, status, sentence, link) in [
            ("GET", "/status/hidden", 404, unknown, None),
            ("GET", "/status/unknown", 404, unknown, None),
            ("GET", "/status/hidden/feed.atom", 404, unknown, Some("/status/hidden")),
            ("GET", "/status/acme/subscriptions/tws_x", 404, "This subscription has ended,", Some("/status/acme")),
            ("POST", "/status/acme/subscribe", 400, "Email or webhook is missing.", Some("/status/acme")),
        ] {
            let form = ("Content-Type", "application/x-www-form-urlencoded");
            let browser = [form, ("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")];
            let seen = client::send(site.harness.address(), method, path, &browser, b"").await.expect(status);
            assert_eq!(seen.header("Content-Type"), Some("text/html; charset=utf-8"), "{path}");
            assert_eq!((seen.header("Vary"), seen.header("Cache-Control")), (Some("Accept"), Some("no-store")), "{path}");
            let html = String::from_utf8(seen.body).expect("UTF-8");
            assert!(html.contains(sentence), "{path}: {html}");
            let back = html.split("<a href=\"").nth(1).and_then(|rest| rest.split('"').next());
            assert_eq!(back, link, "{path}: {html}");
            let other = client::send(site.harness.address(), method, path, &[form, ("Accept", "*/*")], b"").await;
            let error = other.expect(status).json()["error"].as_str().map(str::to_owned).expect("a sentence");
            assert!(html.to_lowercase().contains(&error.to_lowercase()), "{path}: {error}");
        }
    }

    // Issue 22, item 5: rendered by the server, without JavaScript; `?embed=1`, Atom feed, badge.
    async fn a_page_needs_no_javascript(database) {
        let site = Site::open(&database).await;
        let created = site.create(page("acme")).await.expect(201).json();
        let maintenance = format!("{}/{}/maintenance", site.admin, created["id"]);
        let window = |from: &str, to: &str| json!({ "title": "New disks", "startsAt": from, "endsAt": to });
        let planned = window("2026-11-24T09:00:00Z", "2026-11-24T10:00:00Z");
        let stored = site.harness.api("POST", &maintenance, &planned).await.expect(201).json();
        for (body, status) in [
            (window("2026-11-24T10:00:00Z", "2026-11-24T10:00:00Z"), 422),
            (window("2026-11-24T10:00:00Z", "2027-01-24T10:00:00Z"), 422),
            (window("soon", "2026-11-24T10:00:00Z"), 400),
            (json!({ "title": "", "startsAt": "2026-11-24T09:00:00Z", "endsAt": "2026-11-24T10:00:00Z" }), 422),
        ] {
            assert_eq!(site.harness.api("POST", &maintenance, &body).await.status, status, "{body}");
        }
        let answer = site.visit("/status/acme", 1).await.expect(200);
        assert_eq!(answer.header("Content-Type"), Some("text/html; charset=utf-8"));
        let html = String::from_utf8(answer.body).expect("UTF-8");
        let headers = [("Accept-Encoding", "br, gzip")];
        let packed = client::send(site.harness.address(), "GET", "/status/acme", &headers, b"").await.expect(200);
        assert_eq!((packed.header("Content-Encoding"), packed.header("Vary")), (Some("gzip"), Some("Accept-Encoding")));
        let mut unpacked = String::new();
        flate2::read::GzDecoder::new(&packed.body[..]).read_to_string(&mut unpacked).expect("gzip");
        assert_eq!(unpacked, html);
        for part in ["<h1>Acme</h1>", "All of Acme", "Some systems are down", "Planned: 24 November 2026, 09:00 UTC", "New disks"] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("<script"), "{html}");
        assert!(!html.contains("type=\"email\""), "no mail server is configured: {html}");
        assert!(!site.html("/status/acme?embed=1", 1).await.contains("<h1>"));
        let moved = window("2026-11-23T09:00:00Z", "2026-11-23T10:00:00Z");
        let path = format!("{maintenance}/{}", stored["id"]);
        site.harness.api("PUT", &path, &moved).await.expect(200);
        assert!(site.html("/status/acme", 1).await.contains("In progress: 23 November 2026, 09:00 UTC"));
        site.harness.api("DELETE", &path, &Value::Null).await.expect(200);
        site.harness.api("DELETE", &path, &Value::Null).await.expect(404);
        assert!(!site.html("/status/acme", 1).await.contains("New disks"));
        let feed = site.visit("/status/acme/feed.atom", 1).await.expect(200);
        assert_eq!(feed.header("Content-Type"), Some("application/atom+xml; charset=utf-8"));
        assert!(String::from_utf8_lossy(&feed.body).contains("<id>https://tide.example.com/status/acme</id>"));
        let badge = site.visit("/status/acme/badge.svg", 1).await.expect(200);
        assert_eq!(badge.header("Content-Type"), Some("image/svg+xml"));
        assert!(String::from_utf8_lossy(&badge.body).contains("Acme: partial outage"));
        let style = site.visit("/status-page.css", 1).await.expect(200);
        assert_eq!(style.header("Content-Type"), Some("text/css; charset=utf-8"));
        assert!(String::from_utf8_lossy(&style.body).contains("prefers-color-scheme: dark"));
    }

    // SPEC, limits: 30 a minute per IP with Retry-After; logo and domain 60.
    async fn visitors_are_limited_per_address(database) {
        let site = Site::open(&database).await;
        site.create(with("acme", "customDomain", json!("status.acme.example"))).await.expect(201);
        let forms = ["/status/acme", "/api/status/acme", "/status/acme/feed.atom", "/status/acme/badge.svg", "/status/none"];
        for number in 0..30 {
            let answer = site.visit(forms[number % forms.len()], 7).await;
            assert_ne!(answer.status, 429, "request {number}");
        }
        for path in forms {
            let answer = site.visit(path, 7).await.expect(429);
            // The window of NOW ends in 60 s.
            assert_eq!(answer.header("Retry-After"), Some("60"), "{path}");
        }
        site.visit("/status/acme", 8).await.expect(200);
        site.visit("/status-page.css", 7).await.expect(200);
        for (path, status) in [("/api/status/acme/logo", 404), ("/api/status-domains/resolve", 404)] {
            for number in 0..60 {
                assert_eq!(site.visit(path, 7).await.status, status, "request {number} of {path}");
            }
            let answer = site.visit(path, 7).await.expect(429);
            assert_eq!(answer.header("Retry-After"), Some("60"), "{path}");
        }
        site.clock.fetch_add(60 * SECOND_NS, Ordering::SeqCst);
        site.visit("/status/acme", 7).await.expect(200);
        // The page at the root of a domain counts as well, and the UI does not.
        let mut statuses = Vec::new();
        for _ in 0..32 {
            statuses.push(site.at_host("status.acme.example", "/").await.status);
        }
        assert_eq!((statuses[29], statuses[30]), (200, 429));
        assert_eq!(site.at_host("tide.example.com", "/").await.status, 200);
    }

    // SPEC, limits, row "Frames": only `/status/<slug>`; not the page at the root of a custom domain.
    async fn only_the_page_is_framed_by_other_sites(database) {
        let site = Site::open(&database).await;
        site.create(with("acme", "customDomain", json!("status.acme.example"))).await.expect(201);
        for (host, path, is_framed, is_shared) in [
            ("test", "/status/acme", true, true),
            ("test", "/status/acme?embed=1", true, true),
            ("test", "/status/unknown", true, true),
            ("status.acme.example", "/status/acme", true, true),
            ("status.acme.example", "/", false, false),
            ("status.acme.example:8443", "/", false, false),
            ("test", "/", false, false),
            ("test", "/status", false, false),
            ("test", "/api/status/acme", false, false),
            ("test", "/api/status/acme/logo", false, false),
            ("test", "/status/acme/feed.atom", false, true),
            ("test", "/status/acme/badge.svg", false, true),
            ("test", "/status/acme/subscriptions/tws_x", false, false),
            ("test", "/status-page.css", false, false),
        ] {
            let answer = site.at_host(host, path).await;
            let policy = answer.header("Content-Security-Policy").expect("a policy");
            assert_eq!(policy.contains("frame-ancestors 'none'"), !is_framed, "{host}{path}: {policy}");
            assert!(policy.contains("script-src 'self'") && !policy.contains("unsafe-inline"), "{policy}");
            assert_eq!(answer.header("X-Frame-Options"), (!is_framed).then_some("DENY"), "{host}{path}");
            let shared = if is_shared { "cross-origin" } else { "same-origin" };
            assert_eq!(answer.header("Cross-Origin-Resource-Policy"), Some(shared), "{host}{path}");
        }
    }

    // WIRE 6: custom domains.
    async fn a_custom_domain_shows_the_page_at_its_root(database) {
        let site = Site::open(&database).await;
        let created = site.create(with("acme", "customDomain", json!("status.acme.example"))).await.expect(201).json();
        for (host, expected) in [
            ("status.acme.example", true),
            ("STATUS.acme.example:8443", true),
            ("status.acme.example.", true),
            ("acme.example", false),
            ("x.status.acme.example", false),
            ("test", false),
        ] {
            let resolved = site.at_host(host, "/api/status-domains/resolve").await;
            assert_eq!(resolved.status, if expected { 200 } else { 404 }, "{host}");
            if expected {
                assert_eq!(resolved.json(), json!({ "slug": "acme" }));
            }
            let root = site.at_host(host, "/").await;
            assert_eq!(String::from_utf8_lossy(&root.body).contains("<h1>Acme</h1>"), expected, "{host}");
        }
        let mut hidden = with("acme", "customDomain", json!("status.acme.example"));
        hidden["isPublic"] = json!(false);
        site.harness.api("PUT", &format!("{}/{}", site.admin, created["id"]), &hidden).await.expect(200);
        site.at_host("status.acme.example", "/api/status-domains/resolve").await.expect(404);
        let root = site.at_host("status.acme.example", "/").await;
        assert!(!String::from_utf8_lossy(&root.body).contains("<h1>Acme</h1>"));
    }

    // Issue 22: any number of requests touches the store at most twice a minute.
    async fn pages_are_read_twice_a_minute(database) {
        let site = Arc::new(Site::open(&database).await);
        site.create(page("acme")).await.expect(201);
        site.monitors.reads.store(0, Ordering::SeqCst);
        for second in 0..60_u32 {
            let forms = ["/status/acme", "/api/status/acme", "/status/acme?embed=1", "/status/acme/badge.svg"];
            let visits = (0..8_u32).map(|number| {
                let (site, form) = (site.clone(), forms[number as usize % forms.len()]);
                tokio::spawn(async move { site.visit(form, second * 8 + number).await.status })
            });
            for visit in visits.collect::<Vec<_>>() {
                assert_eq!(visit.await.expect("no panic"), 200);
            }
            site.clock.fetch_add(SECOND_NS, Ordering::SeqCst);
        }
        assert_eq!(site.monitors.reads.load(Ordering::SeqCst), 2);
        site.visit("/status/acme", 9999).await.expect(200);
        assert_eq!(site.monitors.reads.load(Ordering::SeqCst), 3, "the next minute");
    }

    // Issue 22, item 5: double opt-in, one-click unsubscribe.
    async fn mailboxes_confirm_before_they_are_notified(database) {
        let mut mailbox = Mailbox::open().await;
        let site = Site::with(&database, "", Some(&mailbox)).await;
        let created = site.create(page("acme")).await.expect(201).json();
        let incidents = site.admin.replace("status-pages", "incidents");
        let open = |title: &str| json!({ "title": title, "message": "We look.", "statusPageIds": [created["id"]] });
        for (body, status) in [("email=nobody", 400), ("", 400), ("email=a@b.example&webhook=https%3A%2F%2Fx.example", 400)] {
            assert_eq!(site.form("/status/acme/subscribe", body).await.status, status, "{body}");
        }
        let answer = site.form("/status/acme/subscribe", "email=Ada%40example.com").await.expect(202);
        let again = site.form("/status/acme/subscribe", "email=ada%40example.com").await.expect(202);
        assert_eq!(answer.body, again.body, "the answer does not tell who has subscribed");
        let mail = mailbox.next().await;
        assert_eq!(mail.to, ["ada@example.com"]);
        let link = link_in(&mail.raw);
        site.harness.api("POST", &incidents, &open("before")).await.expect(201);

        // Opening the link changes nothing.
        let shown = site.html(&link, 1).await;
        assert!(shown.contains("Confirm the subscription") && shown.contains("ada@example.com"), "{shown}");
        assert_eq!(subscribers(&site).await, 0);
        site.form(&format!("{}x/confirm", link), "").await.expect(404);
        site.form(&format!("{link}/confirm"), "").await.expect(200);
        assert_eq!(subscribers(&site).await, 1);
        site.harness.api("POST", &incidents, &open("after")).await.expect(201);
        let mail = mailbox.next().await;
        assert!(mail.raw.contains("Acme: after (investigating)"), "nothing was sent before: {}", mail.raw);
        let one_click = format!("List-Unsubscribe: <https://tide.example.com{link}/unsubscribe>");
        let unfolded = mail.raw.replace("\r\n ", " ");
        assert!(unfolded.contains(&one_click), "{unfolded}");
        assert!(unfolded.contains("List-Unsubscribe-Post: List-Unsubscribe=One-Click"), "{unfolded}");

        site.form(&format!("{link}/unsubscribe"), "List-Unsubscribe=One-Click").await.expect(200);
        assert_eq!(subscribers(&site).await, 0);
        site.visit(&link, 1).await.expect(404);
        site.harness.api("POST", &incidents, &open("later")).await.expect(201);
        // A subscription that nobody confirms ends after a day.
        site.clock.fetch_add(60 * SECOND_NS, Ordering::SeqCst);
        site.form("/status/acme/subscribe", "email=bob%40example.com").await.expect(202);
        let mail = mailbox.next().await;
        assert_eq!(mail.to, ["bob@example.com"], "nothing was sent after the end");
        site.clock.fetch_add(25 * 3600 * SECOND_NS, Ordering::SeqCst);
        site.form(&format!("{}/confirm", link_in(&mail.raw)), "").await.expect(404);
    }

    // Names, messages and post-mortems run nothing, wherever a visitor sees them.
    async fn what_members_write_is_shown_as_written(database) {
        let site = Site::with(&database, HOSTILE, None).await;
        let mut body = with("acme", "name", json!(HOSTILE));
        body["description"] = json!(HOSTILE);
        body["groups"] = json!([{ "name": HOSTILE, "checkIds": [1] }]);
        let created = site.create(body).await.expect(201).json();
        let incidents = site.admin.replace("status-pages", "incidents");
        let open = json!({ "title": HOSTILE, "message": format!("{HOSTILE}\n{HOSTILE}"), "statusPageIds": [created["id"]] });
        let id = site.harness.api("POST", &incidents, &open).await.expect(201).json()["id"].clone();
        let post_mortem = json!({ "body": format!("# {HOSTILE}\n[x](javascript:alert(1)) ![y](https://evil.example/p.png)\n\n{HOSTILE}"), "published": true });
        site.harness.api("PUT", &format!("{incidents}/{id}/post-mortem"), &post_mortem).await.expect(200);
        let window = json!({ "title": HOSTILE, "description": HOSTILE, "startsAt": "2026-11-24T09:00:00Z", "endsAt": "2026-11-24T10:00:00Z" });
        site.harness.api("POST", &format!("{}/{}/maintenance", site.admin, created["id"]), &window).await.expect(201);
        for path in ["/status/acme", "/status/acme?embed=1", "/status/acme/feed.atom", "/status/acme/badge.svg"] {
            let shown = site.html(path, 1).await;
            for banned in ["<script", "<img src=x", "\"javascript:", "evil.example/p.png\" alt"] {
                assert!(!shown.contains(banned), "{path}: {banned}: {shown}");
            }
            assert!(shown.contains("&lt;script&gt;alert(1)"), "{path}");
        }
        assert!(site.html("/status/acme", 1).await.contains("<summary>Post-mortem</summary>"));
    }
}

async fn subscribers(site: &Site) -> i64 {
    let list = site.harness.api("GET", &site.admin, &Value::Null).await.expect(200).json();
    list["statusPages"][0]["subscribers"].as_i64().expect("a number")
}

/// The path of the subscription in a mail.
fn link_in(mail: &str) -> String {
    let whole = mail.replace("=\r\n", "");
    let start = whole.find("/status/acme/subscriptions/").unwrap_or_else(|| panic!("no link: {mail}"));
    whole[start..].split(|c: char| c.is_whitespace() || c == '"').next().unwrap_or_default().to_owned()
}
