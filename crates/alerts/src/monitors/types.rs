//! Response of `GET /api/synthetics/types`.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::config::{
    BrowserConfig, DnsConfig, HeartbeatConfig, HttpConfig, TYPES, TcpConfig, TlsConfig, fields, settings,
};
use crate::fields::{self as described, ConfigType, ConfigTypes};

/// The types of monitors with their fields.
pub fn types() -> ConfigTypes {
    let described = TYPES.iter().map(|words| ConfigType {
        name: words.name,
        label: words.label,
        group: None,
        about: words.about,
        settings: settings(words.name),
        fields: described::with_defaults(fields(words.name), &defaults(words.name)),
    });
    ConfigTypes { types: described.collect() }
}

/// The configuration of a type with nothing but empty values of the required keys.
fn defaults(check_type: &str) -> Value {
    fn of<T: DeserializeOwned + Serialize>(required: Value) -> Value {
        serde_json::from_value::<T>(required).map_or(Value::Null, described::json)
    }
    match check_type {
        "http" => of::<HttpConfig>(json!({ "url": "" })),
        "tcp" => of::<TcpConfig>(json!({ "host": "", "port": 0 })),
        "tls" => of::<TlsConfig>(json!({ "host": "" })),
        "dns" => of::<DnsConfig>(json!({ "name": "" })),
        "heartbeat" => of::<HeartbeatConfig>(json!({ "periodSeconds": 0 })),
        "browser" => of::<BrowserConfig>(json!({ "script": "" })),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use utoipa::PartialSchema;

    use super::*;
    use crate::fields::tests::{beyond, filled, set};
    use crate::fields::{ConfigField, FieldKind};
    use crate::monitors::config::{CheckConfig, check_settings};
    use crate::monitors::secrets::{MASK, masked};
    use crate::monitors::views::{CheckChange, CheckRequest, CheckType};

    /// A right configuration of each type: what a new form suggests, and what it leaves empty.
    fn right(check_type: &str, fields: &[ConfigField]) -> Value {
        let mut config = filled(fields);
        for (key, value) in [("url", "https://example.com"), ("host", "example.com"), ("name", "example.com")] {
            if fields.iter().any(|field| field.key == key) {
                set(&mut config, key, json!(value));
            }
        }
        assert!(CheckConfig::read(check_type, &config).is_ok(), "{check_type} {config}");
        config
    }

    #[test]
    fn defaults_are_right_and_values_beyond_the_bounds_are_refused() {
        for monitor in types().types {
            let mut config = right(monitor.name, &monitor.fields);
            let mut configs = vec![config.clone()];
            if monitor.name == "tcp" {
                config["useTls"] = json!(true);
                configs.push(config);
            } else if monitor.name == "http" {
                for auth in [
                    json!({ "type": "basic", "username": "ada", "password": "p" }),
                    json!({ "type": "bearer", "token": "t" }),
                    json!({ "type": "header", "headerName": "X-Key", "headerValue": "k" }),
                ] {
                    config["auth"] = auth;
                    configs.push(config.clone());
                }
            }
            for config in configs {
                assert!(CheckConfig::read(monitor.name, &config).is_ok(), "{config}");
                for (wrong, key) in beyond(&monitor.fields, &config) {
                    assert!(CheckConfig::read(monitor.name, &wrong).is_err(), "{}: {key} of {wrong}", monitor.name);
                }
            }
        }
    }

    #[test]
    fn settings_beyond_their_bounds_are_refused() {
        for monitor in types().types {
            let mut chosen = filled(&monitor.settings);
            set(&mut chosen, "name", json!("Shop"));
            assert_eq!(check_settings(monitor.name, &chosen), Ok(()));
            for (wrong, key) in beyond(&monitor.settings, &chosen) {
                assert!(check_settings(monitor.name, &wrong).is_err(), "{}: {key} of {wrong}", monitor.name);
            }
        }
    }

    /// The attributes of the schemas are literals.
    #[test]
    fn schemas_of_requests_have_the_bounds_of_the_settings() {
        let schemas = [json!(CheckRequest::schema()), json!(CheckChange::schema())];
        for field in settings("http").iter().filter(|field| field.kind != FieldKind::String) {
            for schema in &schemas {
                let property = &schema["properties"][&field.key];
                assert_eq!(property["minimum"].as_f64(), field.minimum, "{} {property}", field.key);
                assert_eq!(property["maximum"].as_f64(), field.maximum, "{} {property}", field.key);
            }
        }
    }

    /// Every value of a configuration has a field.
    #[test]
    fn fields_are_the_keys_of_configurations() {
        fn keys(value: &Value, path: &str, found: &mut Vec<String>) {
            match value.as_object().filter(|inner| !inner.is_empty()) {
                Some(inner) => inner.iter().for_each(|(key, value)| {
                    keys(value, &if path.is_empty() { key.clone() } else { format!("{path}.{key}") }, found);
                }),
                None => found.push(path.to_owned()),
            }
        }
        for monitor in types().types {
            let read = CheckConfig::read(monitor.name, &right(monitor.name, &monitor.fields)).expect(monitor.name);
            let (mut found, mut described) = (Vec::new(), Vec::new());
            keys(&read.to_value(), "", &mut found);
            described.extend(monitor.fields.iter().map(|field| field.key.clone()));
            found.sort();
            described.sort();
            assert_eq!(found, described, "{}", monitor.name);
        }
    }

    #[test]
    fn secrets_are_masked_in_answers() {
        for monitor in types().types {
            for field in monitor.fields.iter().filter(|field| field.kind == FieldKind::Secret) {
                let mut config = json!({});
                set(&mut config, &field.key, json!("s3cret"));
                let shown = masked(config).to_string();
                assert!(shown.contains(MASK) && !shown.contains("s3cret"), "{}", field.key);
            }
        }
    }

    #[test]
    fn types_are_those_of_requests() {
        for monitor in types().types {
            let check_type: CheckType = serde_json::from_value(json!(monitor.name)).expect(monitor.name);
            assert_eq!(check_type.name(), monitor.name);
        }
    }
}
