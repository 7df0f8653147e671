//! Files beside a server: what is planned, in words, and what is refused.

use serde_json::json;

use super::*;

/// A channel, a monitor and a rule.
fn small() -> FakeApi {
    let api = FakeApi::new(1);
    let config = json!({ "url": "https://a.example/x", "secret": "old", "headers": { "X-Key": "k3y" } });
    let channel = create(
        &api,
        "/api/notification-channels",
        json!({ "name": "ops", "channelType": "webhook", "config": config }),
    );
    let config = json!({ "url": "https://b.example", "headers": { "Accept": "a", "X-Key": "k3y" } });
    create(&api, "/api/synthetics/checks", json!({ "name": "shop", "checkType": "http", "config": config }));
    let config = json!({ "thresholdPercent": 2, "lookbackMinutes": 5 });
    let rule = json!({ "name": "checkout errors", "ruleType": "error_rate_threshold", "config": config, "channelId": channel });
    create(&api, "/api/notification-rules", rule);
    api.sent.borrow_mut().clear();
    api
}

#[track_caller]
fn lines(api: &FakeApi, content: &str, options: Options) -> Vec<String> {
    planned(api, &[source(content)], options).expect("a plan").lines()
}

#[test]
fn plans_say_what_differs() {
    let prune = PRUNE;
    let none = Options::default();
    for (content, options, expected) in [
        (
            "rules:\n- name: checkout errors\n  config: {thresholdPercent: 5}",
            none,
            vec!["~ rule \"checkout errors\": thresholdPercent 2 -> 5"],
        ),
        ("rules:\n- name: checkout errors\n  config: {thresholdPercent: 2.0}\n  channel: ops", none, vec![]),
        (
            "rules:\n- name: checkout errors\n  severity: critical\n  cooldownMinutes: 30",
            none,
            vec!["~ rule \"checkout errors\":", "    cooldownMinutes 15 -> 30", "    severity (none) -> \"critical\""],
        ),
        (
            "rules:\n- name: other\n  channel: ops",
            none,
            vec!["+ rule \"other\"", "  rule \"checkout errors\" is in no file; --prune deletes it"],
        ),
        ("rules: []", prune, vec!["- rule \"checkout errors\""]),
        ("rules: []\nchannels: []", prune, vec!["- rule \"checkout errors\"", "- channel \"ops\""]),
        ("saved-views: []", prune, vec![]),
        // Keys that are not in the file stay; of headers, whose names users choose, they go.
        ("monitors:\n- name: shop", none, vec![]),
        (
            "monitors:\n- name: shop\n  config: {headers: {Accept: b}}",
            none,
            vec!["~ monitor \"shop\":", "    headers.Accept \"a\" -> \"b\"", "    headers.X-Key (secret) -> (none)"],
        ),
        (
            "monitors:\n- name: shop\n  config: {body: null, url: null}",
            none,
            vec!["~ monitor \"shop\": url \"https://b.example\" -> (none)"],
        ),
        // Secrets are equal unless the caller wants them to be sent.
        ("channels:\n- name: ops\n  config: {secret: '${env:HOOK}'}", none, vec![]),
        (
            "channels:\n- name: ops\n  config: {secret: '${env:HOOK}'}",
            Options { with_secrets: true, ..none },
            vec!["~ channel \"ops\": secret (secret) -> ${env:HOOK}"],
        ),
        (
            "channels:\n- name: ops\n  config: {secret: null}",
            none,
            vec!["~ channel \"ops\": secret (secret) -> (none)"],
        ),
        // A reference stands for any value.
        (
            "channels:\n- name: ops\n  config: {url: '${env:HOOK}'}",
            none,
            vec!["~ channel \"ops\": url \"https://a.example/x\" -> ${env:HOOK}"],
        ),
        (
            "project: 0f0e0d0c-0000-4000-8000-000000000001\nmonitors:\n- {id: 2, name: new name}",
            none,
            vec!["~ monitor \"new name\": name \"shop\" -> \"new name\""],
        ),
    ] {
        let mut planned = lines(&small(), content, options);
        planned.pop();
        assert_eq!(planned, expected, "{content}");
    }
    let counted = lines(&small(), "rules:\n- {name: a, channel: ops}\n- name: checkout errors", Options::default());
    assert_eq!(counted.last().map(String::as_str), Some("1 to create, 0 to change, 0 to delete, 1 unchanged"));
}

#[test]
fn faults_have_a_file_and_a_line() {
    for (content, expected) in [
        ("rulez: []", "a.yaml:1: there is no kind rulez; the kinds are channels, rules,"),
        ("rules:\n- name: a\n  severety: x", "a.yaml:3: a rule has no key severety; its keys are id, name, ruleType,"),
        ("rules:\n- severity: x", "a.yaml:2: the rule needs a name: a string"),
        ("rules:\n- name: 5", "a.yaml:2: the rule needs a name: a string"),
        ("rules:\n- name: ${env:A}", "a.yaml:2: the rule needs a name: a string"),
        ("rules:\n  name: a", "a.yaml:2: rules is a list"),
        ("- rules", "a.yaml:1: a file is a map of kinds"),
        ("rules:\n- a", "a.yaml:2: a rule is a map"),
        ("rules: [", "a.yaml:"),
        ("rules:\n- name: a\n- name: a", "a.yaml:3: rule \"a\" is described twice, first in a.yaml:2"),
        (
            "channels:\n- name: ops\n  config:\n    secret: s3cret",
            "a.yaml:4: a secret is written as a reference such as ${env:NAME}",
        ),
        ("channels:\n- name: ops\n  config:\n    headers: {X-Key: 5}", "a.yaml:4: a secret is written as a reference"),
        (
            "monitors:\n- name: shop\n  config:\n    headers:\n      X-Key: \"********\"",
            "a.yaml:5: this is a masked secret",
        ),
        (
            "monitors:\n- name: shop\n  config:\n    headers:\n      X-Key: literal",
            "a.yaml:5: the server keeps this secret",
        ),
        ("rules:\n- name: a\n  channel: other", "a.yaml:3: there is no channel \"other\""),
        (
            "channels: []\nrules:\n- name: a\n  channel: ops",
            "a.yaml:4: the channel \"ops\" is in no file, and would be deleted",
        ),
        ("rules:\n- name: a\n  id: 3", "a.yaml:3: an id needs the key \"project\""),
        ("project: other\nrules:\n- name: a\n  id: 3", "a.yaml:1: the ids of this file are of another project"),
        ("rules:\n- name: a\n  id: []", "a.yaml:3: an id is a number or a string"),
        (
            "teams:\n- name: t\n  members:\n  - p7@example.com\n  - nobody@example.com",
            "a.yaml:5: there is no member \"nobody@example.com\"",
        ),
        (
            "channels:\n- {name: a, channelType: escalation, config: {policy: p}}\nescalation-policies:\n- name: p\n  definition: {steps: [{targets: [{type: channel, name: a}]}]}",
            "names itself, through what it names",
        ),
    ] {
        let faults = planned(&small(), &[source(content)], PRUNE).expect_err(content);
        assert!(faults.0[0].contains(expected), "{content}:\n{faults}");
    }
}

// What is masked in an answer is in no request that changes it, and what a file refers to is sent with its value.
#[test]
fn secrets_are_kept_or_replaced() {
    let api = small();
    let channel = |url: &str, rest: &str| format!("channels:\n- name: ops\n  config: {{url: '{url}'{rest}}}");
    let done = applied(&api, &[source(&channel("https://a.example/y", ""))], Options::default()).expect("applied");
    assert_eq!(done, ["channel \"ops\": changed"]);
    let stored = api.stored("channels", "ops");
    assert_eq!((&stored["config"]["secret"], &stored["config"]["headers"]["X-Key"]), (&json!("old"), &json!("k3y")));

    // An object that is sent has its secrets, so that they go with a new address.
    let changed = channel("https://c.example/z", ", secret: '${env:HOOK}', headers: {X-Key: '${env:KEY}'}");
    applied(&api, &[source(&changed)], Options::default()).expect("applied");
    let stored = api.stored("channels", "ops");
    let expected =
        json!({ "url": "https://c.example/z", "secret": "value of HOOK", "headers": { "X-Key": "value of KEY" } });
    assert_eq!(stored["config"], expected);

    // Without the variable nothing at all is sent.
    api.sent.borrow_mut().clear();
    let files = read(&[source(&changed.replace("/z", "/w"))], PROJECT).expect("files");
    let world = World::fetch(&api, &files.kinds).expect("lists");
    let plan = plan(&world, &files, Options::default(), &|_| None).expect("a plan");
    let faults = apply(&api, &plan, &|_| None, |_| {}).expect_err("there is no variable");
    assert_eq!(faults.0, ["the variable HOOK is not set", "the variable KEY is not set"]);
    assert_eq!(api.sent.borrow().len(), 0);
}

// A member who can write a name or a body on the server gets no variable of the machine that applies files.
#[test]
fn values_of_the_server_are_no_references() {
    let api = small();
    let config = json!({ "url": "https://b.example", "body": "${env:PATH}" });
    create(&api, "/api/synthetics/checks", json!({ "name": "trap", "checkType": "http", "config": config }));
    applied(&api, &[source("monitors:\n- name: trap\n  timeoutSeconds: 5")], Options::default()).expect("applied");
    let stored = api.stored("monitors", "trap");
    assert_eq!((&stored["config"]["body"], &stored["timeoutSeconds"]), (&json!("${env:PATH}"), &json!(5)));
    let world = World::fetch(&api, &all()).expect("lists");
    let faults = export(&world, &all(), None, &Files::default()).expect_err("a file cannot have it");
    assert!(faults.0[0].contains("monitor \"trap\" has the value ${env:PATH}"), "{faults}");
}

#[test]
fn what_is_named_is_created_first() {
    let api = FakeApi::new(1);
    let content = "
rules:
- {name: down, ruleType: check_down, channel: page, enabled: false}
channels:
- {name: page, channelType: escalation, config: {policy: all}}
- {name: mail, channelType: email, config: {recipients: [a@example.com]}}
escalation-policies:
- name: all
  definition: {steps: [{delayMinutes: 5, targets: [{type: schedule, name: week}, {type: channel, name: mail}]}]}
schedules:
- name: week
  team: shop
  timezone: UTC
  definition: {layers: [{people: [p8@example.com], rotationType: weekly}]}
teams:
- {name: shop, members: [p7@example.com, p8@example.com], projects: [shop]}
";
    let done = applied(&api, &[source(content)], Options::default()).expect("applied");
    let created = [
        "channel \"mail\"",
        "team \"shop\"",
        "schedule \"week\"",
        "escalation policy \"all\"",
        "channel \"page\"",
        "rule \"down\"",
    ];
    assert_eq!(done, created.map(|title| format!("{title}: created")));
    assert_eq!(api.stored("rules", "down")["enabled"], false);
    let id = |kind: &str, name: &str| api.stored(kind, name)["id"].clone();
    assert_eq!(api.stored("rules", "down")["channelId"], id("channels", "page"));
    assert_eq!(api.stored("channels", "page")["config"]["policyId"], id("escalation-policies", "all"));
    let targets = &api.stored("escalation-policies", "all")["definition"]["steps"][0]["targets"];
    assert_eq!(
        *targets,
        json!([{ "type": "schedule", "id": id("schedules", "week") }, { "type": "channel", "id": id("channels", "mail") }])
    );
    assert!(planned(&api, &[source(content)], PRUNE).expect("a plan").is_empty());
    applied(&api, &[source(&content.replace("enabled: false", "enabled: true"))], Options::default()).expect("applied");
    assert_eq!(api.stored("rules", "down")["enabled"], true);
}

// With an id, a new name is the same object, also for what names it.
#[test]
fn an_id_keeps_an_object_over_a_new_name() {
    let api = small();
    let world = World::fetch(&api, &all()).expect("lists");
    let files = export(&world, &all(), Some(PROJECT), &Files::default()).expect("an export").files;
    assert!(planned(&api, &files, PRUNE).expect("a plan").is_empty());
    let renamed: Vec<_> = files
        .into_iter()
        .map(|file| Source { content: file.content.replace(": ops\n", ": operations\n"), ..file })
        .collect();
    let done = applied(&api, &renamed, PRUNE).expect("applied");
    assert_eq!(done, ["channel \"operations\": changed"]);
    assert_eq!(api.stored("channels", "operations")["id"], 1);
    assert!(planned(&api, &renamed, PRUNE).expect("a plan").is_empty());
}

#[test]
fn objects_of_one_name_need_ids() {
    let api = small();
    let second = create(
        &api,
        "/api/synthetics/checks",
        json!({ "name": "shop", "checkType": "tcp", "config": { "host": "h" } }),
    );
    let world = World::fetch(&api, &all()).expect("lists");
    let faults = export(&world, &all(), None, &Files::default()).expect_err("one name");
    assert_eq!(
        faults.0,
        [format!("more than one monitor is named \"shop\" (ids 2 and {second}): rename one, or export with ids")]
    );
    let files = export(&world, &all(), Some(PROJECT), &Files::default()).expect("an export").files;
    assert!(planned(&api, &files, PRUNE).expect("a plan").is_empty());
    let fault = planned(&api, &[source("monitors:\n- name: shop")], PRUNE).expect_err("one name");
    assert!(fault.0[0].starts_with("a.yaml:2: the server has monitor \"shop\" more than once: give the id"), "{fault}");
}

// An export over an earlier one keeps the variables that its owner chose; secrets of similar names have their own.
#[test]
fn references_are_kept_and_distinct() {
    let api = small();
    for name in ["a b", "a-b"] {
        let config = json!({ "webhookUrl": "https://hooks.example/s3cret" });
        create(&api, "/api/notification-channels", json!({ "name": name, "channelType": "slack", "config": config }));
    }
    let known = read(&[source("channels:\n- name: ops\n  config: {secret: '${env:MINE}'}")], PROJECT).expect("files");
    let world = World::fetch(&api, &all()).expect("lists");
    let variables = export(&world, &all(), None, &known).expect("an export").variables;
    let names: Vec<_> = variables.iter().map(|name| name.split("WEBHOOKURL").next().unwrap_or_default()).collect();
    let expected = [
        "MINE",
        "TIDEWATCH_CHANNEL_A_B_",
        "TIDEWATCH_CHANNEL_A_B_",
        "TIDEWATCH_CHANNEL_OPS_HEADERS_X_KEY",
        "TIDEWATCH_MONITOR_SHOP_HEADERS_X_KEY",
    ];
    assert_eq!(names, expected);
}
