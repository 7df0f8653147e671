use serde_json::json;

use super::*;

/// WIRE 6: configurations and their limits. `None`: accepted; otherwise a part of the message.
#[test]
fn configurations_are_checked() {
    let url = "https://example.com/health";
    let http = |more: Value| {
        let mut config = json!({ "url": url });
        config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        config
    };
    let table: &[(&str, Value, Option<&str>)] = &[
        ("http", http(json!({})), None),
        ("http", json!({}), Some("missing field `url`")),
        ("http", json!({ "url": "example.com" }), Some("url is no address")),
        ("http", json!({ "url": "ftp://example.com" }), Some("begins with http")),
        ("http", json!({ "url": "file:///etc/passwd" }), Some("begins with http")),
        ("http", json!({ "url": "https://ada:secret@example.com" }), Some("use auth")),
        ("http", http(json!({ "method": "post" })), None),
        ("http", http(json!({ "method": "TRACE" })), Some("method is GET, HEAD")),
        ("http", http(json!({ "headers": { "X-A": "b" } })), None),
        ("http", http(json!({ "headers": { "X A": "b" } })), Some("no name of a header")),
        ("http", http(json!({ "headers": { "X-A": "b\r\nX-B: c" } })), Some("cannot have")),
        ("http", http(json!({ "headers": { "Traceparent": "b" } })), Some("sets the header")),
        ("http", http(json!({ "auth": { "type": "none" } })), None),
        ("http", http(json!({ "auth": { "type": "basic", "username": "ada", "password": "x" } })), None),
        ("http", http(json!({ "auth": { "type": "basic" } })), Some("username")),
        ("http", http(json!({ "auth": { "type": "bearer" } })), Some("token")),
        ("http", http(json!({ "auth": { "type": "bearer", "token": "a\nb" } })), Some("cannot have")),
        ("http", http(json!({ "auth": { "type": "header", "headerName": "X-Key", "headerValue": "k" } })), None),
        ("http", http(json!({ "auth": { "type": "header" } })), Some("no name of a header")),
        ("http", http(json!({ "auth": { "type": "digest" } })), Some("unknown variant")),
        ("http", http(json!({ "assertions": { "statusCodes": [200, 204] } })), None),
        ("http", http(json!({ "assertions": { "statusCodes": [99] } })), Some("statusCodes")),
        ("http", http(json!({ "assertions": { "bodyRegex": "^ok$" } })), None),
        ("http", http(json!({ "assertions": { "bodyRegex": "(" } })), Some("no regular expression")),
        ("http", http(json!({ "assertions": { "bodyRegex": "(a{1000}){1000}" } })), Some("too large")),
        ("http", http(json!({ "assertions": { "maxResponseTimeMs": 0 } })), Some("1 to 120000")),
        ("http", http(json!({ "assertions": { "tlsMinDaysRemaining": -1 } })), Some("0 to 3650")),
        ("http", http(json!({ "body": "x".repeat(200_000) })), Some("131072 bytes")),
        ("tcp", json!({ "host": "db.example.com", "port": 5432 }), None),
        ("tcp", json!({ "host": "::1", "port": 5432 }), None),
        ("tcp", json!({ "host": "db.example.com", "port": 0 }), Some("port is 1 to 65535")),
        ("tcp", json!({ "host": "db.example.com", "port": 65_536 }), Some("config:")),
        ("tcp", json!({ "host": "http://db", "port": 1 }), Some("no host name")),
        ("tcp", json!({ "host": "", "port": 1 }), Some("no host name")),
        ("tcp", json!({ "host": "db", "port": 1, "tlsMinDaysRemaining": 3 }), Some("needs useTls")),
        ("tcp", json!({ "host": "db", "port": 1, "useTls": true, "tlsMinDaysRemaining": 3 }), None),
        ("tls", json!({ "host": "example.com" }), None),
        ("tls", json!({ "host": "example.com", "tlsMinDaysRemaining": 4000 }), Some("0 to 3650")),
        ("dns", json!({ "name": "example.com" }), None),
        ("dns", json!({ "name": "example.com", "recordType": "AAAA", "server": "8.8.8.8" }), None),
        ("dns", json!({ "name": "example.com", "server": "[2001:4860::8888]:53" }), None),
        ("dns", json!({ "name": "example.com", "recordType": "SRV" }), Some("unknown variant")),
        ("dns", json!({ "name": "example.com", "server": "dns.example" }), Some("IP address")),
        ("heartbeat", json!({ "periodSeconds": 3600, "graceSeconds": 300 }), None),
        ("heartbeat", json!({ "periodSeconds": 3600 }), None),
        ("heartbeat", json!({ "periodSeconds": 1 }), Some("periodSeconds is 30")),
        ("heartbeat", json!({ "periodSeconds": 60, "graceSeconds": -1 }), Some("graceSeconds is 0")),
        ("browser", json!({ "script": "x" }), None),
        ("browser", json!({ "script": "x".repeat(102_400), "env": { "_A1": "b" } }), None),
        ("browser", json!({ "script": "\n".repeat(102_401) + "x" }), Some("102400 bytes")),
        ("browser", json!({ "script": " \n" }), Some("is empty")),
        ("browser", json!({}), Some("missing field `script`")),
        ("browser", json!({ "script": "x", "env": { "1A": "b" } }), Some("no name of a variable")),
        ("browser", json!({ "script": "x", "env": { "A B": "b" } }), Some("no name of a variable")),
        ("browser", json!({ "script": "x", "env": { "": "b" } }), Some("no name of a variable")),
        ("browser", json!({ "script": "x", "env": { "A": "b".repeat(5000) } }), Some("value of A has more than 4096")),
        ("browser", json!({ "script": "x", "env": { "A": 1 } }), Some("config:")),
        ("ping", json!({}), Some("checkType is")),
    ];
    for (check_type, config, expected) in table {
        let read = CheckConfig::read(check_type, config);
        match (&read, expected) {
            (Ok(read), None) => {
                let again = CheckConfig::read(check_type, &read.to_value());
                assert_eq!(again.as_ref(), Ok(read), "what is stored is read back");
            }
            (Err(error), Some(expected)) => assert!(error.to_string().contains(expected), "{config}: {error}"),
            _ => panic!("{check_type} {config}: {read:?}"),
        }
    }
}

#[test]
fn stored_monitors_outlast_a_change_of_bounds() {
    let auth = json!({ "type": "bearer", "token": " " });
    let config = json!({ "url": "https://example.com/", "auth": auth });
    assert!(CheckConfig::read("http", &config).is_err());
    assert!(CheckConfig::stored("http", &config).is_ok());
}
