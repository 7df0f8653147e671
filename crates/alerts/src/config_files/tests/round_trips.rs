//! Random servers: an export is applied to an empty server, and exported again.

use proptest::prelude::*;
use serde_json::json;

use super::*;

const ORGANIZATION: &str = "/api/organizations/{organization}";

/// Fills a server. `picks`: what each object is, and what it names.
fn fill(api: &FakeApi, first: i64, picks: &[u8]) {
    let pick = |index: usize, of: usize| usize::from(picks.get(index).copied().unwrap_or_default()) % of;
    let odd = [
        "ops",
        "a: b",
        "no",
        "5",
        " x ",
        "\u{65e5}\u{672c}",
        "\u{672c}",
        "${env:A",
        "multi\nline",
        "\"q\"",
        "- d",
        "#",
    ];
    // Unique names, as several share their variable.
    let name = |index: usize| match pick(index, odd.len()) {
        word if index < odd.len() && picks.len() > 6 => format!("{}{}", odd[word], "'".repeat(index)),
        word => format!("{} {index}", odd[word]),
    };
    let person = |index: usize| first + 7 + pick(index, 3) as i64;
    let mut teams = Vec::new();
    for index in 0..pick(0, 3) {
        let body = json!({
            "name": name(index),
            "description": odd[pick(index + 1, odd.len())],
            "memberIds": [person(index), person(index + 1)],
            "projectIds": if index == 0 { json!([format!("5f0c-{first}")]) } else { json!([]) },
        });
        teams.push(create(api, &format!("{ORGANIZATION}/teams"), body));
    }
    let mut schedules = Vec::new();
    for (index, team) in teams.iter().enumerate() {
        let layers = (0..1 + pick(index + 2, 2)).map(|layer| {
            json!({
                "name": format!("layer {layer}"), "rotationType": "weekly", "handoffTime": "09:30",
                "rotationStart": "2026-01-31", "userIds": [person(index + layer)],
                "restrictions": if layer == 0 { json!([{ "type": "daily", "startTime": "08:00", "endTime": "20:00" }]) } else { json!([]) },
            })
        });
        let definition = json!({ "schemaVersion": 1, "layers": layers.collect::<Vec<_>>() });
        let body = json!({ "name": name(index), "description": "", "timezone": "Europe/Berlin", "definition": definition, "teamId": team });
        schedules.push(create(api, &format!("{ORGANIZATION}/schedules"), body));
    }
    let mut channels = Vec::new();
    for index in 0..pick(1, 4) {
        let (channel_type, config) = match pick(index + 3, 3) {
            0 => ("email", json!({ "recipients": ["a@example.com", "b@example.com"] })),
            1 => ("slack", json!({ "webhookUrl": "https://hooks.example/s3cret", "channel": null })),
            _ => (
                "webhook",
                json!({ "url": "https://a.example/x?y=1", "method": "PUT", "secret": "s3cret", "headers": { "X-Api.Key": "s3cret" } }),
            ),
        };
        let body = json!({ "name": name(index), "channelType": channel_type, "config": config });
        channels.push(create(api, "/api/notification-channels", body));
    }
    let mut targets = vec![json!({ "type": "user", "id": person(4) })];
    targets.extend(schedules.iter().map(|id| json!({ "type": "schedule", "id": id })));
    targets.extend(teams.first().map(|id| json!({ "type": "team", "id": id })));
    targets.extend(channels.first().map(|id| json!({ "type": "channel", "id": id })));
    let definition = json!({ "schemaVersion": 1, "repeat": 2, "urgency": "auto", "steps": [{ "targets": targets, "delayMinutes": 5 }] });
    let policy = create(
        api,
        &format!("{ORGANIZATION}/escalation-policies"),
        json!({ "name": name(5), "definition": definition }),
    );
    let escalation = json!({ "name": "page", "channelType": "escalation", "config": { "policyId": policy } });
    channels.push(create(api, "/api/notification-channels", escalation));
    let mut monitors = Vec::new();
    for index in 0..pick(2, 4) {
        let config = json!({
            "url": "https://a.example/", "method": "GET", "headers": { "Accept": "a/b", "X-Key": "s3cret" },
            "auth": { "type": "basic", "username": "ada", "password": "s3cret", "token": "" },
            "body": odd[pick(index + 1, odd.len())], "assertions": { "statusCodes": [200, 204], "maxResponseTimeMs": null },
        });
        let body = json!({ "name": name(index), "checkType": "http", "enabled": pick(index, 2) == 0, "timeoutSeconds": 10, "config": config });
        monitors.push(create(api, "/api/synthetics/checks", body));
    }
    for (index, monitor) in monitors.iter().enumerate() {
        let body = json!({ "name": name(index), "slug": format!("slug-{index}"), "isPublic": true, "description": "", "customDomain": null, "checkIds": [monitor, monitors[0]], "groups": [{ "name": "all", "checkIds": [monitor] }] });
        create(api, &format!("{ORGANIZATION}/status-pages"), body);
    }
    for (index, channel) in channels.iter().enumerate() {
        let body = json!({ "name": name(index), "ruleType": "no_data", "config": { "dataType": "any", "silenceMinutes": 10.5 }, "channelId": channel });
        let id = create(api, "/api/notification-rules", body);
        if pick(index, 2) == 0 {
            api.send(Method::Post, &format!("/api/notification-rules/{id}/toggle"), None).expect("a rule");
        }
    }
    for index in 0..pick(3, 4) {
        let page = ["logs", "traces"][pick(index, 2)];
        let body =
            json!({ "name": name(index), "page": page, "search": "q=level%3Aerror&from=now-1h", "shared": index != 0 });
        create(api, "/api/saved-views", body);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn an_export_makes_an_equal_server(picks in proptest::collection::vec(any::<u8>(), 0..14)) {
        let (from, to) = (FakeApi::new(100), FakeApi::new(5000));
        fill(&from, 100, &picks);
        let first = exported(&from);
        prop_assert_eq!(first.files.len(), KINDS.len());
        prop_assert_eq!(&first.remarks, &Vec::<String>::new());
        let written: String = first.files.iter().map(|file| file.content.as_str()).collect();
        prop_assert!(!written.contains("s3cret") && !written.contains("********"), "{}", written);
        prop_assert_eq!(&exported(&from).files, &first.files, "a second export is the same");

        // To its own server, an export changes nothing.
        let own = planned(&from, &first.files, PRUNE).map_err(|faults| TestCaseError::fail(faults.to_string()))?;
        prop_assert!(own.is_empty(), "{:?}\n{}", own.lines(), written);

        // The files may be in any order.
        let mut files = first.files.clone();
        files.rotate_left(picks.len() % KINDS.len());
        applied(&to, &files, PRUNE).map_err(|faults| TestCaseError::fail(format!("{faults}\n{written}")))?;
        prop_assert_eq!(&exported(&to).files, &first.files);
        let after = planned(&to, &files, PRUNE).map_err(|faults| TestCaseError::fail(faults.to_string()))?;
        prop_assert!(after.is_empty(), "{:?}", after.lines());
        for (_, path, body) in to.sent.borrow().iter() {
            prop_assert!(!body.to_string().contains("${env:TIDEWATCH"), "{} {}", path, body);
        }

        // Without objects in the files, everything described is deleted, in an order that the server accepts.
        let empty: Vec<Source> = KINDS.iter().map(|kind| source(&format!("{}: []\n", kind.listing.name))).collect();
        applied(&to, &empty, PRUNE).map_err(|faults| TestCaseError::fail(faults.to_string()))?;
        let nothing = exported(&FakeApi::new(0)).files;
        prop_assert_eq!(exported(&to).files, nothing);
    }
}
