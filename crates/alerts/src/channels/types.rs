//! Response of `GET /api/notification-channels/types`.

use tidewatch_limits as limits;

use super::delivery::config::{CHANNEL_TYPES, Config};
use crate::fields::{ConfigField, ConfigType, ConfigTypes, FieldKind};

/// The types of channels with their fields.
pub fn types() -> ConfigTypes {
    let name = ConfigField::new(FieldKind::String, "Name").at("name").required();
    let settings = vec![name.max_length(limits::CHANNEL_NAME_CHARS_MAX)];
    let described = CHANNEL_TYPES.iter().map(|words| ConfigType {
        name: words.name,
        label: words.label,
        group: None,
        about: words.about,
        settings: settings.clone(),
        fields: Config::fields(words.name),
    });
    ConfigTypes { types: described.collect() }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::channels::delivery::config::checked;
    use crate::fields::tests::beyond;

    /// A right configuration of each type.
    fn right(channel_type: &str) -> Value {
        let hook = "https://hooks.example.com/a";
        match channel_type {
            "email" => json!({ "recipients": ["a@b.c"] }),
            "webhook" => json!({ "url": hook }),
            "slack" | "teams" | "discord" => json!({ "webhookUrl": hook }),
            "telegram" => json!({ "botToken": "1:a", "chatId": "1" }),
            "github" => json!({ "token": "t", "owner": "o", "repo": "r" }),
            "pushover" => json!({ "userKey": "u", "appToken": "a", "priority": 2, "retry": 60, "expire": 600 }),
            "pagerduty" => json!({ "routingKey": "k" }),
            "opsgenie" => json!({ "apiKey": "k" }),
            "escalation" => json!({ "policyId": 1 }),
            other => panic!("no configuration of {other}"),
        }
    }

    #[test]
    fn defaults_are_right_and_values_beyond_the_bounds_are_refused() {
        for channel in types().types {
            let name = channel.name;
            let mut config = right(name);
            for field in &channel.fields {
                if let Some(default) = field.default.as_ref().filter(|_| config[&field.key].is_null()) {
                    config[&field.key] = default.clone();
                }
            }
            checked(name, &config).unwrap_or_else(|error| panic!("{name} {config}: {error}"));
            for (wrong, key) in beyond(&channel.fields, &config) {
                assert!(checked(name, &wrong).is_err(), "{name}: {key} of {wrong}");
            }
        }
    }

    /// Unknown keys are left out of a checked configuration.
    #[test]
    fn fields_are_the_keys_of_configurations() {
        for channel in types().types {
            let known = checked(channel.name, &right(channel.name)).expect(channel.name);
            for key in known.as_object().expect("an object").keys() {
                assert!(channel.fields.iter().any(|field| field.key == *key), "{}: {key}", channel.name);
            }
            for field in channel.fields {
                let mut config = right(channel.name);
                if config[&field.key].is_null() {
                    config[&field.key] = match field.kind {
                        FieldKind::Url => json!("https://a.example"),
                        FieldKind::Boolean => json!(true),
                        FieldKind::Integer => json!(60),
                        FieldKind::Strings => json!(["a"]),
                        FieldKind::Map => json!({ "X-A": "b" }),
                        FieldKind::Choice => field.options[0].value.clone(),
                        _ => json!("a"),
                    };
                }
                let stored = checked(channel.name, &config).expect(channel.name);
                assert_eq!(stored[&field.key], config[&field.key], "{}: {}", channel.name, field.key);
            }
        }
    }

    #[test]
    fn labels_of_a_type_are_distinct() {
        for channel in types().types {
            let mut labels: Vec<_> = channel.fields.iter().map(|field| field.label).collect();
            labels.sort_unstable();
            labels.dedup();
            assert_eq!(labels.len(), channel.fields.len(), "{}", channel.name);
        }
    }
}
