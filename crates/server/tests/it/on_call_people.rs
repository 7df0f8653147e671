//! On-call: overrides, timelines, contact methods and chains, bulk actions, feeds. Issue 22, item 6; WIRE 5.7.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use tidewatch_accounts::Role;
use tidewatch_domain::units::MINUTE_NS;

use crate::engines::On;
use crate::harness::text;
use crate::on_call::{Desk, member, policy, schedule};
use crate::requests::at;

on_both! {
    async fn overrides_replace_who_is_on_call(database) {
        let desk = Desk::open(&database).await;
        let (hopper, login) = member(&desk.harness, desk.organization, "hopper", Role::User).await;
        let overrides = desk.path(&format!("/schedules/{}/overrides", desk.schedule));
        let body = |start: &str, end: &str| json!({ "userId": hopper.id, "startAt": start, "endAt": end });
        for (body, status) in [
            (body("2026-06-01T10:00:00Z", "2026-06-01T10:00:00Z"), 422),
            (body("2026-06-01T10:00:00Z", "2026-07-01T10:00:01Z"), 422),
            (body("soon", "2026-06-01T10:00:00Z"), 400),
            (json!({ "userId": 0, "startAt": "2026-06-01T10:00:00Z", "endAt": "2026-06-01T11:00:00Z" }), 422),
        ] {
            desk.as_grace("POST", &overrides, &body).await.expect(status);
        }
        let made = body("2026-06-01T09:00:00Z", "2026-06-01T11:00:00Z");
        let made = desk.as_grace("POST", &overrides, &made).await.expect(201).json();
        let now = desk.call("GET", "/oncall/now", &Value::Null).await.expect(200).json();
        let schedule = &now["teams"][0]["schedules"][0];
        assert_eq!(json!([schedule["oncall"][0]["name"], schedule["until"], schedule["nextUp"]["name"]]),
            json!(["hopper", "2026-06-01T11:00:00Z", "grace"]));
        let id = desk.open_page().await;
        assert_eq!(desk.deliveries(id, 1).await[0][1], hopper.id);
        let range = "timeline?from=2026-06-01T00:00:00Z&to=2026-06-02T00:00:00Z";
        let timeline = desk.call("GET", &format!("/schedules/{}/{range}", desk.schedule), &Value::Null).await.expect(200).json();
        let shifts: Vec<Value> = timeline["final"].as_array().unwrap().iter().map(|one| json!([one["userId"], one["isOverride"]])).collect();
        let grace = desk.grace.0.id;
        assert_eq!(json!(shifts), json!([[grace, false], [hopper.id, true], [grace, false]]));
        assert_eq!(timeline["layers"][0]["shifts"].as_array().unwrap().len(), 1);
        for (range, status) in [
            ("from=2026-06-01T00:00:00Z&to=2026-08-02T00:00:00Z", 200),
            ("from=2026-06-01T00:00:00Z&to=2026-08-02T00:00:01Z", 400),
            ("from=2026-06-01T00:00:00Z&to=2026-06-01T00:00:00Z", 400),
            ("from=2026-06-01T00:00:00Z", 400),
        ] {
            desk.call("GET", &format!("/schedules/{}/timeline?{range}", desk.schedule), &Value::Null).await.expect(status);
        }
        // Deleted by its creator, who is on call by it, or an admin.
        let one = format!("{overrides}/{}", made["id"]);
        let (_, other) = member(&desk.harness, desk.organization, "other", Role::User).await;
        desk.harness.api_as(&other, "DELETE", &one, &Value::Null).await.expect(403);
        desk.harness.api_as(&login, "DELETE", &one, &Value::Null).await.expect(200);
        desk.harness.api_as(&login, "DELETE", &one, &Value::Null).await.expect(404);
    }

    async fn chains_use_contact_methods_in_order(database) {
        let desk = Desk::open(&database).await;
        let me = async |method: &str, path: &str, body: &Value| desk.as_grace(method, path, body).await;
        let telegram = json!({ "methodType": "telegram", "config": { "botToken": "1:secret", "chatId": "4242" } });
        let made = me("POST", "/api/contact-methods", &telegram).await.expect(201).json();
        assert_eq!(json!([made["verified"], made["config"]["botToken"], made["summary"]]),
            json!([false, "********", "Telegram, chat \u{2026}42"]));
        let own = json!({ "methodType": "email", "config": {} });
        let mail = me("POST", "/api/contact-methods", &own).await.expect(201).json();
        assert_eq!(json!([mail["verified"], mail["summary"]]), json!([true, "grace@example.com"]));
        me("POST", "/api/contact-methods", &own).await.expect(422);

        // The code is sent to the method, and nowhere stored readable.
        let code = desk.waiting().await.pop().expect("a message");
        assert_eq!((&code["channelType"], &code["config"]["botToken"]), (&json!("telegram"), &json!("1:secret")));
        let code = text(&code["config"]["private"]).chars().filter(char::is_ascii_digit).collect::<String>();
        let path = format!("/api/contact-methods/{}", made["id"]);
        me("POST", &format!("{path}/test"), &Value::Null).await.expect(422);
        let wrong = if code == "000000" { "000001" } else { "000000" };
        me("POST", &format!("{path}/verify"), &json!({ "code": wrong })).await.expect(422);
        desk.clock.fetch_add(11 * MINUTE_NS, Ordering::SeqCst);
        me("POST", &format!("{path}/verify"), &json!({ "code": code })).await.expect(422);
        me("POST", &format!("{path}/resend-code"), &Value::Null).await.expect(200);
        let code = text(&desk.waiting().await.pop().expect("a message")["config"]["private"]);
        let code = code.chars().filter(char::is_ascii_digit).collect::<String>();
        for _ in 0..5 {
            me("POST", &format!("{path}/verify"), &json!({ "code": wrong })).await.expect(422);
        }
        let late = me("POST", &format!("{path}/verify"), &json!({ "code": code })).await.expect(422).json();
        assert!(text(&late["error"]).contains("too many attempts"));
        me("POST", &format!("{path}/resend-code"), &Value::Null).await.expect(200);
        let code = text(&desk.waiting().await.pop().expect("a message")["config"]["private"]);
        let code = code.chars().filter(char::is_ascii_digit).collect::<String>();
        me("POST", &format!("{path}/verify"), &json!({ "code": code })).await.expect(200);
        for _ in 0..7 {
            me("POST", &format!("{path}/test"), &Value::Null).await.expect(200);
        }
        me("POST", &format!("{path}/test"), &Value::Null).await.expect(429);

        // A masked secret keeps the stored one; another target must be verified again.
        let same = json!({ "config": { "botToken": "********", "chatId": "4242" } });
        assert_eq!(me("PUT", &path, &same).await.expect(200).json()["verified"], true);
        desk.harness.api("PUT", &path, &same).await.expect(404);

        let rules = json!({ "high": [
            { "contactMethodId": mail["id"], "delayMinutes": 0 },
            { "contactMethodId": made["id"], "delayMinutes": 3 },
        ], "low": [] });
        me("PUT", "/api/user-notification-rules", &rules).await.expect(200);
        assert_eq!(me("GET", "/api/user-notification-rules", &Value::Null).await.expect(200).json(), rules);
        let unknown = json!({ "high": [{ "contactMethodId": 0, "delayMinutes": 0 }] });
        me("PUT", "/api/user-notification-rules", &unknown).await.expect(422);
        let late = json!({ "low": [{ "contactMethodId": mail["id"], "delayMinutes": 121 }] });
        me("PUT", "/api/user-notification-rules", &late).await.expect(422);
        let id = desk.open_page().await;
        assert_eq!(desk.deliveries(id, 1).await[0][2], "grace@example.com");
        desk.advance(2).await;
        assert_eq!(desk.deliveries(id, 1).await.len(), 1);
        desk.advance(1).await;
        assert_eq!(desk.deliveries(id, 2).await[1][2], "Telegram, chat \u{2026}42");
    }

    async fn bulk_actions_and_the_handover(database) {
        let desk = Desk::open(&database).await;
        let ids = [desk.open_page().await, desk.open_page().await, desk.open_page().await];
        let count = async |path: &str, body: &Value| desk.pages("POST", path, body).await;
        assert_eq!(desk.pages("GET", "/open-count", &Value::Null).await.expect(200).json()["count"], 3);
        count("/bulk-acknowledge", &json!({ "ids": [] })).await.expect(400);
        let two = json!({ "ids": [ids[0], ids[1], 999_999] });
        assert_eq!(count("/bulk-acknowledge", &two).await.expect(200).json()["acknowledged"], 2);
        assert_eq!(count("/bulk-acknowledge", &two).await.expect(200).json()["acknowledged"], 0);
        let done = count("/bulk-resolve", &json!({ "ids": [ids[1]] })).await.expect(200).json();
        assert_eq!(done, json!({ "resolved": 1, "archivedIssues": 0 }));
        let active = count("", &json!({ "status": "active", "pagination": { "page": 1, "pageSize": 1 } })).await;
        let active = active.expect(200).json();
        assert_eq!((&active["data"][0]["id"], &active["pagination"]["total"]), (&json!(ids[2]), &json!(2)));
        count("", &json!({ "status": "closed" })).await.expect(400);

        // The schedule has one person: an override makes an end of a shift.
        desk.clock.fetch_add(60 * MINUTE_NS, Ordering::SeqCst);
        let body = json!({ "userId": desk.owner, "startAt": "2026-06-01T10:30:00Z", "endAt": "2026-06-01T12:00:00Z" });
        desk.call("POST", &format!("/schedules/{}/overrides", desk.schedule), &body).await.expect(201);
        let path = format!("/oncall/handover?scheduleId={}", desk.schedule);
        let handover = desk.call("GET", &path, &Value::Null).await.expect(200).json();
        let fields = ["open", "acknowledged", "resolved"].map(|field| handover[field].clone());
        assert_eq!((&handover["person"]["name"], json!(fields)), (&json!("grace"), json!([1, 1, 1])));
        assert_eq!(handover["pages"][0]["acknowledgedByName"], "Owner");
        desk.call("GET", "/oncall/handover?scheduleId=0", &Value::Null).await.expect(404);
    }

    async fn what_is_in_use_cannot_be_deleted(database) {
        let desk = Desk::open(&database).await;
        let team = desk.call("GET", "/teams", &Value::Null).await.expect(200).json()["teams"][0]["id"].clone();
        desk.call("DELETE", &format!("/teams/{team}"), &Value::Null).await.expect(422);
        desk.call("DELETE", &format!("/schedules/{}", desk.schedule), &Value::Null).await.expect(422);
        let channel = desk.channel("escalation", &json!({ "policyId": desk.policy })).await;
        let policy_path = format!("/escalation-policies/{}", desk.policy);
        desk.call("DELETE", &policy_path, &Value::Null).await.expect(422);
        // A page cannot reach the channel that opens it.
        desk.call("PUT", &policy_path, &policy(&[("channel", channel, 5)], 0)).await.expect(422);
        let chat = desk.channel("slack", &json!({ "webhookUrl": "https://example.com" })).await;
        desk.call("PUT", &policy_path, &policy(&[("channel", chat, 5)], 0)).await.expect(200);
        let id = desk.open_page().await;
        assert_eq!(json!(desk.deliveries(id, 1).await), json!([[0, null, "a channel", "pending"]]));
        let chat_path = at(&format!("/api/notification-channels/{chat}"), &desk.project);
        desk.harness.api("DELETE", &chat_path, &Value::Null).await.expect(422);
        desk.call("PUT", &policy_path, &policy(&[("user", desk.owner, 5)], 0)).await.expect(200);
        desk.harness.api("DELETE", &chat_path, &Value::Null).await.expect(200);
        desk.call("DELETE", &format!("/schedules/{}", desk.schedule), &Value::Null).await.expect(200);
        desk.call("DELETE", &format!("/teams/{team}"), &Value::Null).await.expect(200);
    }

    async fn the_feed_of_shifts_has_a_secret_address(database) {
        let desk = Desk::open(&database).await;
        let made = desk.as_grace("POST", "/api/on-call-calendar", &Value::Null).await.expect(200).json();
        let url = text(&made["url"]);
        let path = url.strip_prefix("https://tide.example.com").expect("the public address").to_owned();
        for path in [path.clone(), format!("{path}.ics")] {
            let feed = desk.harness.api_as("", "GET", &path, &Value::Null).await.expect(200);
            let feed = String::from_utf8(feed.body).expect("UTF-8");
            assert!(feed.contains("SUMMARY:On call: primary\r\n"), "{feed}");
        }
        let again = desk.as_grace("POST", "/api/on-call-calendar", &Value::Null).await.expect(200).json();
        desk.harness.api_as("", "GET", &path, &Value::Null).await.expect(404);
        let path = text(&again["url"]).replace("https://tide.example.com", "");
        desk.harness.api_as("", "GET", &path, &Value::Null).await.expect(200);
        desk.as_grace("DELETE", "/api/on-call-calendar", &Value::Null).await.expect(200);
        desk.harness.api_as("", "GET", &path, &Value::Null).await.expect(404);
        assert_eq!(desk.as_grace("GET", "/api/on-call-calendar", &Value::Null).await.expect(200).json()["createdAt"], Value::Null);
    }
}

#[tokio::test]
async fn wrong_definitions_are_refused() {
    let desk = Desk::open(&On::sqlite()).await;
    let team = desk.call("GET", "/teams", &Value::Null).await.expect(200).json()["teams"][0]["id"].as_i64().unwrap();
    let with = |pointer: &str, value: Value| {
        let mut body = schedule(team, "another", &[desk.owner]);
        *body.pointer_mut(pointer).expect("a field") = value;
        body
    };
    for (body, status) in [
        (with("/name", json!("primary")), 422),
        (with("/name", json!(" ")), 422),
        (with("/timezone", json!("Mars/Olympus")), 422),
        (with("/teamId", json!(0)), 422),
        (with("/definition", json!({ "layers": [{}] })), 422),
        (with("/definition/layers/0/userIds", json!([0])), 422),
        (with("/definition/layers/0/handoffTime", json!("9")), 422),
        (json!({}), 400),
    ] {
        desk.call("POST", "/schedules", &body).await.expect(status);
    }
    for (body, status) in [
        (policy(&[("user", desk.owner, 5)], 6), 422),
        (policy(&[("user", desk.owner, 0)], 0), 422),
        (policy(&[("user", 0, 5)], 0), 422),
        (policy(&[("team", 0, 5)], 0), 422),
        (policy(&[("pager", 1, 5)], 0), 422),
        (policy(&[], 0), 422),
    ] {
        desk.call("POST", "/escalation-policies", &body).await.expect(status);
    }
    let preview = json!({ "timezone": "UTC", "definition": schedule(team, "", &[desk.owner])["definition"],
        "from": "2026-06-01T00:00:00Z", "to": "2026-06-08T00:00:00Z" });
    let preview = desk.call("POST", "/schedules/preview", &preview).await.expect(200).json();
    assert_eq!(preview["final"][0]["userId"], desk.owner);
    assert_eq!(preview["users"][desk.owner.to_string()]["name"], "Owner");
}
