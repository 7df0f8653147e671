//! The types of rules, channels and monitors as the API describes them, and requests that follow the descriptions.

use serde_json::{Map, Value, json};

use crate::harness::text;
use crate::requests::at;
use crate::rules::{RULES, Setup};

async fn types(setup: &Setup, path: &str) -> Vec<Value> {
    let answer = setup.harness.api("GET", &at(path, &setup.project), &Value::Null).await.expect(200).json();
    answer["types"].as_array().expect("a list").clone()
}

fn field<'a>(fields: &'a Value, key: &str) -> &'a Value {
    fields.as_array().expect("a list").iter().find(|field| field["key"] == key).expect(key)
}

#[tokio::test]
async fn types_have_words_and_fields_with_their_bounds() {
    let setup = Setup::at(0).await;
    for (path, count, first) in [
        ("/api/notification-rules/types", 25, "new_error"),
        ("/api/notification-channels/types", 11, "email"),
        ("/api/synthetics/types", 6, "http"),
    ] {
        let types = types(&setup, path).await;
        assert_eq!((types.len(), &types[0]["type"]), (count, &json!(first)), "{path}");
        for one in &types {
            assert!(!text(&one["label"]).is_empty() && !text(&one["about"]).is_empty(), "{one}");
            assert_eq!(field(&one["settings"], "name")["required"], true, "{one}");
        }
    }
    let monitors = types(&setup, "/api/synthetics/types").await;
    let days = field(&monitors[2]["fields"], "tlsMinDaysRemaining");
    assert_eq!((&days["minimum"], &days["maximum"], &days["default"]), (&json!(0), &json!(3650), &json!(14)));
}

#[tokio::test]
async fn rules_with_the_described_defaults_are_created_and_those_beyond_a_bound_are_refused() {
    let setup = Setup::at(0).await;
    for one in types(&setup, &format!("{RULES}/types")).await {
        let name = text(&one["type"]);
        let fields = one["fields"].as_array().expect("a list");
        let mut config = Map::new();
        for field in fields {
            let value = field.get("suggested").or_else(|| field.get("default")).cloned();
            config.insert(text(&field["key"]), value.unwrap_or_else(|| json!("cpu")));
        }
        setup.call("POST", "", &setup.body(&name, &config.clone().into())).await.expect(201);
        if let Some(bounded) = fields.iter().find(|field| field.get("maximum").is_some()) {
            let most = bounded["maximum"].as_f64().expect("a number");
            config.insert(text(&bounded["key"]), json!(most as i64 + 1));
            setup.call("POST", "", &setup.body(&name, &config.into())).await.expect(422);
        }
    }
}
