//! Limits on the number of projects, organizations and invitations: each costs memory on every node, or sends a mail.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::{Value, json};

use tidewatch_domain::units::{DAY_NS, SECOND_NS};

use crate::harness::Harness;

on_both! {
    async fn an_organization_has_at_most_500_projects(database) {
        let (harness, _) = Harness::registered(&database).await;
        let batch = |count: usize| {
            let projects: Vec<Value> = (0..count).map(|n| json!({"name": format!("project {n}")})).collect();
            json!({ "projects": projects })
        };
        for _ in 0..9 {
            harness.api("POST", "/api/projects/batch", &batch(50)).await.expect(201);
        }
        // The first project exists already.
        harness.api("POST", "/api/projects/batch", &batch(50)).await.expect(422);
        harness.api("POST", "/api/projects/batch", &batch(49)).await.expect(201);
        let refused = harness.api("POST", "/api/projects", &json!({"name": "one more"})).await.expect(422).json();
        assert_eq!(refused["error"], "there are too many projects in this organization; delete some first");
        let all = harness.api("GET", "/api/projects", &Value::Null).await.expect(200).json();
        assert_eq!(all.as_array().map(Vec::len), Some(500));
        // Every token is still known after the reloads of the directory.
        let last = &all[499];
        let token = last["token"].as_str().expect("a token");
        harness.post_json("traces", token, &json!({})).await.expect(200);
    }

    async fn invitations_per_address_and_per_person_are_limited(database) {
        let clock = Arc::new(AtomicI64::new(1_780_315_200 * SECOND_NS));
        let (harness, _) = Harness::registered_at(&database, &clock, |_| {}).await;
        let projects = harness.api("GET", "/api/projects", &Value::Null).await.expect(200).json();
        let organization = projects[0]["organizationId"].as_i64().expect("an organization");
        let path = format!("/api/organizations/{organization}/invitations");
        let invite = async |email: String| {
            harness.api("POST", &path, &json!({"email": email, "role": "readonly"})).await
        };
        // One address is invited and revoked repeatedly.
        for round in 1..=6 {
            let answer = invite("victim@example.com".to_owned()).await;
            if round == 6 {
                let answer = answer.expect(429);
                assert_eq!(answer.header("Retry-After"), Some("86401"));
                break;
            }
            answer.expect(201);
            let open = harness.api("GET", &path, &Value::Null).await.expect(200).json();
            let id = open[0]["id"].as_i64().expect("an invitation");
            harness.api("DELETE", &format!("{path}/{id}"), &Value::Null).await.expect(200);
        }
        // All invitations of one person count together.
        for number in 5..50 {
            invite(format!("person{number}@example.com")).await.expect(201);
        }
        invite("one-more@example.com".to_owned()).await.expect(429);
        clock.fetch_add(DAY_NS + 2 * SECOND_NS, Ordering::Relaxed);
        let proof = json!({"password": "correct horse"});
        harness.api("POST", "/api/me/step-up", &proof).await.expect(200);
        invite("victim@example.com".to_owned()).await.expect(201);
    }

    async fn a_person_owns_at_most_ten_organizations(database) {
        let (harness, _) = Harness::registered(&database).await;
        let create = async |number: u32| {
            harness.api("POST", "/api/organizations", &json!({"name": format!("org {number}"), "timezone": "UTC"})).await
        };
        // The first organization exists already.
        for number in 1..10 {
            create(number).await.expect(201);
        }
        create(10).await.expect(422);
    }
}
