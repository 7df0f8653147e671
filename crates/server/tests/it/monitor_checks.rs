//! The types of monitors: what each check sees, and what is refused. WIRE 6; item "Monitors".

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use simple_dns::rdata::{A, RData, TXT};
use simple_dns::{CLASS, Packet, PacketFlag, QTYPE, RCODE, ResourceRecord, TYPE};
use tidewatch_domain::units::DAY_NS;
use tidewatch_server::listen::tls::Tls;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UdpSocket};

use crate::engines::On;
use crate::harness::{Harness, text};
use crate::mailbox::{Mailbox, member};
use crate::monitor_target::{Target, World};
use crate::requests::at;

impl World {
    /// Creates a paused monitor, checks it once, and returns the result.
    async fn check(&self, check_type: &str, config: &Value) -> Value {
        let body =
            json!({ "name": "a", "checkType": check_type, "enabled": false, "timeoutSeconds": 20, "config": config });
        let id = self.create(&body).await;
        let result = self.call("POST", &format!("/{id}/run"), &Value::Null).await.expect(200).json();
        assert!(self.results(id).await.is_empty(), "a paused monitor has no results");
        result
    }

    /// The reason of one check; empty if it is up.
    async fn reason(&self, check_type: &str, config: &Value) -> String {
        let result = self.check(check_type, config).await;
        let reason = text(&result["reason"]);
        assert_eq!(result["outcome"], if reason.is_empty() { "up" } else { "down" }, "{result}");
        reason
    }
}

async fn world() -> World {
    World::on(&On::sqlite()).await
}

#[tokio::test]
async fn http_responses_are_asserted() {
    let (world, target) = (world().await, Target::open().await);
    let url = target.url();
    for (status, assertions, expected) in [
        (200, json!({}), ""),
        (399, json!({}), ""),
        (404, json!({}), "status 404"),
        (404, json!({ "statusCodes": [404] }), ""),
        (200, json!({ "statusCodes": [204] }), "status 200 instead of 204"),
        (200, json!({ "bodyContains": "healthy" }), ""),
        (200, json!({ "bodyContains": "sick" }), "the body does not contain \"sick\""),
        (200, json!({ "bodyRegex": "^all \\w+$" }), ""),
        (200, json!({ "bodyRegex": "^healthy" }), "the body does not match \"^healthy\""),
        (200, json!({ "maxResponseTimeMs": 20000 }), ""),
        (200, json!({ "tlsMinDaysRemaining": 1 }), "there is no certificate: the address is no https"),
    ] {
        target.respond(status, "all healthy");
        let config = json!({ "url": url, "assertions": assertions });
        assert_eq!(world.reason("http", &config).await, expected, "{assertions}");
    }
    let closed = { TcpListener::bind("127.0.0.1:0").await.expect("a port").local_addr().expect("an address") };
    let refused = world.reason("http", &json!({ "url": format!("http://{closed}") })).await;
    assert!(refused.starts_with(&format!("cannot connect to {closed}: ")), "{refused}");
    let unknown = world.reason("http", &json!({ "url": "http://no-such-name.invalid" })).await;
    assert_eq!(unknown, "no-such-name.invalid cannot be resolved");
}

/// The request has what the user has chosen, and a trace that the result names.
#[tokio::test]
async fn requests_carry_a_trace_and_secrets_that_no_answer_shows() {
    let (world, target) = (world().await, Target::open().await);
    let config = json!({
        "url": target.url(), "method": "put", "headers": { "X-Api-Key": "k3y", "Accept": "a/b" }, "body": "hello",
        "bodyContentType": "a/c", "auth": { "type": "basic", "username": "ada", "password": "p4ss" },
    });
    let id = world.create(&json!({ "name": "a", "checkType": "http", "enabled": false, "config": config })).await;
    let shown = world.get(id).await["config"].clone();
    assert_eq!((&shown["auth"]["username"], &shown["auth"]["password"]), (&json!("ada"), &json!("********")));
    assert_eq!(shown["headers"], json!({ "X-Api-Key": "********", "Accept": "a/b" }));
    assert!(world.harness.control_files_contain("owner@example.com"), "names are stored in the clear");
    for secret in ["p4ss", "k3y", "ada"] {
        assert!(!world.harness.control_files_contain(&format!("\"{secret}\"")), "{secret} is sealed");
    }

    // What is masked is kept when it is sent back.
    let path = format!("/{id}");
    world.call("PUT", &path, &json!({ "config": shown })).await.expect(200);
    let result = world.call("POST", &format!("{path}/run"), &Value::Null).await.expect(200).json();
    let request = target.requests().pop().expect("a request").to_lowercase();
    assert!(request.starts_with("put /health http/1.1\r\n"), "{request}");
    let trace = text(&result["traceId"]);
    for line in [
        format!("host: {}", target.address),
        "x-api-key: k3y".into(),
        "accept: a/b".into(),
        "authorization: basic ywrhona0c3m=".into(),
        "content-type: a/c".into(),
        "content-length: 5".into(),
        format!("traceparent: 00-{trace}-"),
    ] {
        assert!(request.contains(&line), "{line} is not in {request}");
    }
    // Another host would be sent the stored secrets.
    let mut other = shown.clone();
    other["url"] = "http://other.example/".into();
    let refused = world.call("PUT", &path, &json!({ "config": other })).await.expect(422).json();
    assert_eq!(refused["error"], "another host needs the secrets again");
}

#[tokio::test]
async fn redirects_are_followed_one_by_one() {
    let (world, first, second) = (world().await, Target::open().await, Target::open().await);
    second.respond(200, "there");
    let config = |follows: bool| {
        json!({
            "url": first.url(), "followRedirects": follows, "assertions": { "bodyContains": "there" },
            "auth": { "type": "bearer", "token": "s3cret" }, "headers": { "X-Api-Key": "k3y" },
        })
    };
    first.respond_with(302, &format!("Location: {}\r\n", second.url()), "");
    assert_eq!(world.reason("http", &config(true)).await, "");
    let (to_first, to_second) = (first.requests()[0].to_lowercase(), second.requests()[0].to_lowercase());
    assert!(to_first.contains("s3cret") && to_first.contains("k3y"));
    assert!(!to_second.contains("s3cret") && !to_second.contains("k3y"), "secrets stay at their host: {to_second}");
    assert_eq!(world.reason("http", &config(false)).await, "the body does not contain \"there\"");
    first.respond_with(302, "Location: file:///etc/passwd\r\n", "");
    assert_eq!(world.reason("http", &config(true)).await, "the redirect leads to file:");
    first.respond_with(307, "Location: /health\r\n", "");
    let before = first.requests().len();
    assert_eq!(world.reason("http", &config(true)).await, "more than 10 redirects");
    assert_eq!(first.requests().len(), before + 11);
}

/// Item "SSRF": private addresses in every form are refused unless the operator permits them.
#[tokio::test]
async fn private_targets_are_refused_by_default() {
    let (harness, project) = Harness::with_project().await;
    let world = World::of(harness, project, Arc::default());
    let target = Target::open().await;
    let port = target.address.port();
    for host in ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "0177.0.0.1", "[::1]", "[::ffff:127.0.0.1]"] {
        let reason = world.reason("http", &json!({ "url": format!("http://{host}:{port}/") })).await;
        assert!(reason.contains("private network"), "{host}: {reason}");
    }
    for (check_type, config) in [
        ("tcp", json!({ "host": "127.0.0.1", "port": port })),
        ("tls", json!({ "host": "localhost", "port": port })),
        ("dns", json!({ "name": "example.com", "server": "127.0.0.1" })),
        ("http", json!({ "url": "http://169.254.169.254/latest/meta-data" })),
    ] {
        let reason = world.reason(check_type, &config).await;
        assert!(reason.contains("private network"), "{config}: {reason}");
    }
    assert!(target.requests().is_empty());
}

/// A TLS server with a certificate that is valid until October 28, 2126, and answers requests.
async fn tls_server() -> u16 {
    let fixture = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/tls").join(name);
    let tls = Tls::load(&fixture("one.crt"), &fixture("one.key")).expect("a certificate");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = tls.acceptor().accept(stream).await else { continue };
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let Ok(byte) = stream.read_u8().await else { break };
                head.push(byte);
            }
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
            let _ = stream.shutdown().await;
        }
    });
    port
}

#[tokio::test]
async fn the_end_of_a_certificate_is_read() {
    const EXPIRES: &str = "2126-10-28T06:24:58Z";
    const EXPIRES_NS: i64 = 4_948_842_298_000_000_000;
    let (world, port) = (world().await, tls_server().await);
    let untrusted = world.reason("tls", &json!({ "host": "127.0.0.1", "port": port })).await;
    assert!(untrusted.starts_with("the TLS handshake failed: "), "{untrusted}");
    let tls =
        |days: i64| json!({ "host": "127.0.0.1", "port": port, "skipTlsVerify": true, "tlsMinDaysRemaining": days });
    let seen = world.check("tls", &tls(14)).await;
    assert_eq!((&seen["outcome"], &seen["tlsExpiresAt"]), (&json!("up"), &json!(EXPIRES)));
    assert!(seen["tlsMs"].as_f64().is_some(), "{seen}");
    let http = |days: i64| {
        json!({
            "url": format!("https://127.0.0.1:{port}/"), "skipTlsVerify": true,
            "assertions": { "tlsMinDaysRemaining": days },
        })
    };
    // The login of this world is of 2026: later results are those of the schedule, of monitors that exist already.
    let mut ids = Vec::new();
    for (check_type, config) in [("tls", tls(9)), ("tls", tls(10)), ("http", http(10)), ("http", http(9))] {
        let body = json!({ "name": "a", "checkType": check_type, "failureThreshold": 1, "config": config });
        ids.push(world.create(&body).await);
    }
    for id in &ids {
        world.results_at_least(*id, 1).await;
    }
    let monitors = world.harness.app().alerting.rooms.monitors.clone();
    let latest = async |id: i64| monitors.latest_monitor_results(id, 1).await.expect("results").remove(0);
    let moved = async |to_ns: i64| {
        world.clock.store(to_ns, Ordering::SeqCst);
        let mut reasons = Vec::new();
        for id in &ids {
            loop {
                let latest = latest(*id).await;
                if latest.at_ns == to_ns {
                    reasons.push(latest.reason);
                    break;
                }
                tokio::task::yield_now().await;
            }
        }
        reasons
    };
    let soon = format!("the certificate expires in 9 days, at {EXPIRES}; 10 are required");
    assert_eq!(moved(EXPIRES_NS - 9 * DAY_NS - 1).await, [String::new(), soon.clone(), soon, String::new()]);
    let expired = format!("the certificate has expired at {EXPIRES}");
    assert_eq!(moved(EXPIRES_NS + 60_000_000_000).await, vec![expired; 4]);
}

#[tokio::test]
async fn tcp_answers_are_compared() {
    let world = world().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut read = [0; 4];
            if stream.read_exact(&mut read).await.is_ok() && &read == b"PING" {
                let _ = stream.write_all(b"+PO").await;
                let _ = stream.flush().await;
                let _ = stream.write_all(b"NG\r\n").await;
            }
        }
    });
    let tcp = |more: Value| {
        let mut config = json!({ "host": "127.0.0.1", "port": port });
        config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        config
    };
    for (more, expected) in [
        (json!({}), ""),
        (json!({ "sendPayload": "PING", "expectContains": "PONG" }), ""),
        (json!({ "sendPayload": "PING", "expectContains": "OK" }), "the answer does not contain \"OK\""),
        (
            json!({ "sendPayload": "QUIT", "expectContains": "PONG" }),
            "the server closed the connection without \"PONG\"",
        ),
    ] {
        assert_eq!(world.reason("tcp", &tcp(more.clone())).await, expected, "{more}");
    }
    let tls = world.reason("tcp", &tcp(json!({ "useTls": true, "sendPayload": "PING" }))).await;
    assert!(tls.starts_with("the TLS handshake failed: "), "{tls}");
    let silent = json!({ "name": "a", "checkType": "tcp", "enabled": false, "timeoutSeconds": 1, "config": tcp(json!({ "expectContains": "x" })) });
    let id = world.create(&silent).await;
    let result = world.call("POST", &format!("/{id}/run"), &Value::Null).await.expect(200).json();
    assert_eq!((&result["outcome"], &result["reason"]), (&json!("down"), &json!("no answer within 1 s")));
}

/// A DNS server that knows `a.example` and `t.example`.
async fn dns_server() -> String {
    let socket = UdpSocket::bind("127.0.0.1:0").await.expect("a free port");
    let address = socket.local_addr().expect("an address").to_string();
    tokio::spawn(async move {
        let mut buffer = [0; 512];
        while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
            let query = Packet::parse(&buffer[..length]).expect("a query");
            let question = query.questions[0].clone();
            let mut reply = query.into_reply();
            reply.set_flags(PacketFlag::RESPONSE);
            let data = match (question.qname.to_string().as_str(), question.qtype) {
                ("a.example", QTYPE::TYPE(TYPE::A)) => {
                    Some(RData::A(A { address: u32::from_be_bytes([192, 0, 2, 1]) }))
                }
                ("t.example", QTYPE::TYPE(TYPE::TXT)) => {
                    Some(RData::TXT(TXT::new().with_string("v=1 -all").expect("a string")))
                }
                ("a.example" | "t.example", _) => None,
                _ => {
                    *reply.rcode_mut() = RCODE::NameError;
                    None
                }
            };
            reply.questions = vec![question.clone()];
            reply.answers.extend(data.map(|data| ResourceRecord::new(question.qname.clone(), CLASS::IN, 60, data)));
            let bytes = reply.build_bytes_vec().expect("a reply");
            let _ = socket.send_to(&bytes, from).await;
        }
    });
    address
}

#[tokio::test]
async fn dns_records_are_compared() {
    let (world, server) = (world().await, dns_server().await);
    for (name, record_type, expected_value, expected) in [
        ("a.example", "A", "", ""),
        ("a.example", "A", "192.0.2.1", ""),
        ("a.example", "A", "192.0.2.9", "no record is 192.0.2.9: there are 192.0.2.1"),
        ("a.example", "AAAA", "", "there is no such record"),
        ("t.example", "TXT", "v=1 -all", ""),
        ("b.example", "A", "", "there is no name b.example"),
    ] {
        let config =
            json!({ "name": name, "recordType": record_type, "expectedValue": expected_value, "server": server });
        assert_eq!(world.reason("dns", &config).await, expected, "{config}");
    }
}

#[tokio::test]
async fn wrong_monitors_are_refused() {
    let world = world().await;
    let config = json!({ "url": "https://example.com" });
    for (body, status) in [
        (json!({ "name": "a", "checkType": "http" }), 400),
        (json!({ "name": "a", "checkType": "ping", "config": {} }), 400),
        (json!({ "name": "a", "checkType": "http", "config": {} }), 400),
        (json!({ "name": "", "checkType": "http", "config": config }), 422),
        (json!({ "name": "x".repeat(201), "checkType": "http", "config": config }), 422),
        (json!({ "name": "a", "checkType": "http", "config": config, "intervalSeconds": 29 }), 422),
        (json!({ "name": "a", "checkType": "http", "config": config, "timeoutSeconds": 121 }), 422),
        (json!({ "name": "a", "checkType": "http", "config": config, "failureThreshold": 11 }), 422),
        (json!({ "name": "a", "checkType": "http", "config": { "url": "ftp://example.com" } }), 422),
    ] {
        world.call("POST", "", &body).await.expect(status);
    }
    let browser = json!({ "name": "a", "checkType": "browser", "config": { "script": "await page.goto('/')" } });
    let refused = world.call("POST", "", &browser).await.expect(422).json();
    assert!(text(&refused["error"]).contains("SYNTHETICS_BROWSER_MODE"), "{refused}");
    let id = world.create(&json!({ "name": "a", "checkType": "http", "enabled": false, "config": config })).await;
    let path = format!("/{id}");
    for (body, status) in [
        (json!({ "checkType": "tcp" }), 422),
        (json!({ "intervalSeconds": 86_401 }), 422),
        (json!({ "config": { "url": 1 } }), 400),
        (json!({ "name": "b", "checkType": "http" }), 200),
    ] {
        world.call("PUT", &path, &body).await.expect(status);
    }
    let listed = world.call("GET", "", &Value::Null).await.expect(200).json();
    assert_eq!(listed["checks"].as_array().map(Vec::len), Some(1));
    assert_eq!((&listed["checks"][0]["name"], &listed["checks"][0]["failureThreshold"]), (&json!("b"), &json!(3)));
    world.call("GET", "/no-number", &Value::Null).await.expect(404);
    world.call("POST", "/999999/run", &Value::Null).await.expect(404);
    // Another project does not see it.
    let other = world.harness.project("other").await;
    world.harness.api("GET", &at(&format!("/api/synthetics/checks{path}"), &other), &Value::Null).await.expect(404);
    world.harness.api("DELETE", &at(&format!("/api/synthetics/checks{path}"), &other), &Value::Null).await.expect(404);
}

/// A member with read access sees monitors, and changes none.
#[tokio::test]
async fn readers_change_nothing() {
    let mut mailbox = Mailbox::open().await;
    let (harness, project) = mailbox.harness(&On::sqlite()).await;
    let (reader, _) = member(&harness, &mut mailbox, "reader", "readonly").await;
    let world = World::of(harness, project, Arc::default());
    let id = world
        .create(&json!({ "name": "a", "checkType": "tls", "enabled": false, "config": { "host": "a.example" } }))
        .await;
    for (method, path, status) in [
        ("GET", "", 200),
        ("PUT", format!("/{id}").as_str(), 403),
        ("DELETE", &format!("/{id}"), 403),
        ("POST", &format!("/{id}/run"), 403),
    ] {
        let path = at(&format!("/api/synthetics/checks{path}"), &world.project);
        let body = if method == "PUT" { json!({}) } else { Value::Null };
        world.harness.api_as(&reader, method, &path, &body).await.expect(status);
    }
}
