//! Forgotten passwords. WIRE 5.2. Each test runs on both control databases, with a real mail server.

use serde_json::{Value, json};

use crate::mailbox::{Mailbox, member};

on_both! {
    async fn a_forgotten_password_is_replaced_once(database) {
        let mut mailbox = Mailbox::open().await;
        let (harness, _) = mailbox.harness(&database).await;
        let request = async |email: &str| harness.api_as("", "POST", "/api/forgot-password", &json!({"email": email})).await.expect(200);
        // No enumeration: the response is byte for byte the same for every address.
        let known = request("Owner@example.com").await;
        let mail = mailbox.next().await;
        assert_eq!(mail.to, ["owner@example.com"]);
        for email in ["nobody@example.com", "owner@example.com\r\nBcc: x@y.de", "no address"] {
            let unknown = request(email).await;
            assert_eq!(unknown.body, known.body, "{email}");
            let names = |answer: &crate::client::Answer| answer.headers.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
            assert_eq!(names(&unknown), names(&known), "{email}");
        }
        let token = mail.token("reset-password");
        let path = format!("/api/password-reset/{token}");
        let seen = harness.api_as("", "GET", &path, &Value::Null).await.expect(200).json();
        assert_eq!(seen, json!({"valid": true, "email": "owner@example.com"}));
        let wrong = harness.api_as("", "GET", "/api/password-reset/twr_guess", &Value::Null).await.expect(200).json();
        assert_eq!(wrong, json!({"valid": false}));
        harness.api_as("", "POST", &path, &json!({"password": "short"})).await.expect(400);
        harness.api_as("", "POST", "/api/password-reset/twr_guess", &json!({"password": "a new horse"})).await.expect(400);
        harness.api("GET", "/api/me/login-bundle", &Value::Null).await.expect(200);

        let new = json!({"password": "a new horse", "email": "eve@example.com", "userId": 2});
        harness.api_as("", "POST", &path, &new).await.expect(200);
        // Every session has ended, and the link has been used.
        harness.api("GET", "/api/me/login-bundle", &Value::Null).await.expect(401);
        harness.api_as("", "POST", &path, &json!({"password": "another horse"})).await.expect(400);
        assert_eq!(harness.api_as("", "GET", &path, &Value::Null).await.expect(200).json(), json!({"valid": false}));
        for (password, status) in [("correct horse", 401), ("another horse", 401), ("a new horse", 200)] {
            let login = json!({"email": "owner@example.com", "password": password});
            assert_eq!(harness.api_as("", "POST", "/api/login", &login).await.status, status, "{password}");
        }
        assert!(mailbox.is_empty(), "one mail");
    }
}

on_both! {
    // WIRE 5.2: one request per user per hour. A request in between sends no mail and gets the same response.
    async fn one_reset_mail_per_user_and_hour(database) {
        let mut mailbox = Mailbox::open().await;
        let (harness, _) = mailbox.harness(&database).await;
        let (_, _) = member(&harness, &mut mailbox, "ada", "user").await;
        let app = harness.app().clone();
        let now = app.process.clock.now_ns();
        let minute = 60_000_000_000;
        let request = async |email: &str, at_ns: i64| {
            let by = tidewatch_accounts::Actor { at_ns, ..app.accounts.by_server() };
            let mut mailed = None;
            let mail = |token: &str| {
                mailed = Some(token.to_owned());
                tidewatch_accounts::mail::templates::password_reset("https://tide.example.com", email, token)
            };
            app.accounts.control.sign_in.begin_reset(&by, email, mail).await.expect("a database");
            mailed
        };
        let first = request("owner@example.com", now - 59 * minute).await.expect("a mail");
        assert_eq!(request("owner@example.com", now).await, None);
        assert!(request("ada@example.com", now).await.is_some(), "another user");
        assert_eq!(request("nobody@example.com", now).await, None);
        // The token is valid for one hour.
        assert!(app.accounts.control.sign_in.reset_email(&first, now).await.expect("a database").is_some());
        assert!(app.accounts.control.sign_in.reset_email(&first, now + minute).await.expect("a database").is_none());
        assert!(!app.accounts.control.sign_in.finish_reset(&tidewatch_accounts::Actor { at_ns: now + minute, ..app.accounts.by_server() }, &first, "x", false).await.expect("a database"));
        assert!(request("owner@example.com", now + 2 * minute).await.is_some());
        assert!(app.accounts.control.sign_in.reset_email(&first, now).await.expect("a database").is_none(), "the older link is over");
    }
}

on_both! {
    // One of several concurrent requests succeeds.
    async fn a_token_is_used_once_by_concurrent_requests(database) {
        let mut mailbox = Mailbox::open().await;
        let (harness, _) = mailbox.harness(&database).await;
        harness.api_as("", "POST", "/api/forgot-password", &json!({"email": "owner@example.com"})).await.expect(200);
        let token = mailbox.next().await.token("reset-password");
        let app = harness.app().clone();
        let tasks: Vec<_> = (0..20)
            .map(|number| {
                let (app, token) = (app.clone(), token.clone());
                tokio::spawn(async move {
                    app.accounts.control.sign_in.finish_reset(&app.accounts.by_server(), &token, &format!("hash {number}"), false).await.expect("a database")
                })
            })
            .collect();
        let mut used = 0;
        for task in tasks {
            used += usize::from(task.await.expect("no panic"));
        }
        assert_eq!(used, 1);
    }
}
