//! The token of a mailed link in the header `Link-Token`: the same routes as those of WIRE with the token in the path.

use serde_json::{Value, json};

use crate::client::{self, Answer};
use crate::harness::{Harness, text};
use crate::mailbox::{Mailbox, invite};

async fn with_token(harness: &Harness, token: &str, login: &str, method: &str, path: &str, body: &Value) -> Answer {
    let authorization = format!("Bearer {login}");
    let mut headers = vec![("Content-Type", "application/json"), ("Link-Token", token)];
    if !login.is_empty() {
        headers.push(("Authorization", &authorization));
    }
    let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    client::send(harness.address(), method, path, &headers, &body).await
}

on_both! {
    async fn the_token_of_a_mailed_link_is_accepted_in_a_header(database) {
        let mut mailbox = Mailbox::open().await;
        let (harness, _) = mailbox.harness(&database).await;
        let nobody = "";

        let token = invite(&harness, &mut mailbox, "ada@example.com", "user").await;
        let seen = with_token(&harness, &token, nobody, "GET", "/api/invitation", &Value::Null).await.expect(200).json();
        assert_eq!(seen["email"], "ada@example.com");
        let body = json!({"name": "Ada", "password": "correct horse"});
        let joined = with_token(&harness, &token, nobody, "POST", "/api/invitation/accept", &body).await.expect(201).json();
        let ada = text(&joined["token"]);
        with_token(&harness, &token, &ada, "POST", "/api/invitation/accept-existing", &Value::Null).await.expect(410);
        with_token(&harness, &token, nobody, "POST", "/api/invitation/accept-existing", &Value::Null).await.expect(401);

        harness.api_as("", "POST", "/api/forgot-password", &json!({"email": "ada@example.com"})).await.expect(200);
        let token = mailbox.next().await.token("reset-password");
        let seen = with_token(&harness, &token, nobody, "GET", "/api/password-reset", &Value::Null).await.expect(200).json();
        assert_eq!(seen, json!({"valid": true, "email": "ada@example.com"}));
        let body = json!({"password": "a new horse"});
        with_token(&harness, &token, nobody, "POST", "/api/password-reset", &body).await.expect(200);
        with_token(&harness, &token, nobody, "POST", "/api/password-reset", &body).await.expect(400);
        let login = json!({"email": "ada@example.com", "password": "a new horse"});
        harness.api_as("", "POST", "/api/login", &login).await.expect(200);

        with_token(&harness, "twk_guess", nobody, "GET", "/api/ack", &Value::Null).await.expect(404);
        for path in ["/api/ack", "/api/invitation", "/api/password-reset"] {
            let missing = harness.api_as("", "GET", path, &Value::Null).await.expect(400).json();
            assert_eq!(missing["error"], "the header Link-Token is missing", "{path}");
        }
    }
}
