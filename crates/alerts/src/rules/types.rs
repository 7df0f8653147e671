//! Response of `GET /api/notification-rules/types`.

use tidewatch_limits as limits;

use super::config::{RuleConfig, words};
use super::views::cooldown;
use crate::channels::Severity;
use crate::fields::{ConfigField, ConfigType, ConfigTypes, FieldKind, options};

/// The types of rules with their fields.
pub fn types() -> ConfigTypes {
    let described = words().iter().map(|words| ConfigType {
        name: words.name,
        label: words.label,
        group: Some(words.group),
        about: words.about,
        settings: settings(),
        fields: RuleConfig::fields(words.name).unwrap_or_default(),
    });
    ConfigTypes { types: described.collect() }
}

/// The settings of a rule beside its configuration.
fn settings() -> Vec<ConfigField> {
    let name = ConfigField::new(FieldKind::String, "Name").at("name").required();
    let severities = options(&[
        ("", "By the value"),
        (Severity::Critical.name(), "Critical"),
        (Severity::Warning.name(), "Warning"),
        (Severity::Info.name(), "Info"),
    ]);
    let pause = ConfigField::new(FieldKind::Integer, "Minutes between notifications").at("cooldownMinutes");
    vec![
        name.max_length(limits::RULE_NAME_CHARS_MAX),
        ConfigField::choice("Severity", severities).at("severity").default(""),
        pause.within(0..=limits::RULE_MINUTES_MAX).default(cooldown()).hint("About one subject."),
    ]
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::fields::tests::{beyond, filled, set};
    use crate::rules::config::ImpactThreshold;
    use crate::rules::severity::{FAST_BURN, SLOW_BURN};

    #[test]
    fn defaults_are_right_and_values_beyond_the_bounds_are_refused() {
        let types = types().types;
        assert_eq!(types.iter().map(|one| one.name).collect::<Vec<_>>(), RuleConfig::TYPES);
        for rule in types {
            let mut suggested = filled(&rule.fields);
            let mut configs = vec![suggested.clone()];
            if rule.name == "query_threshold" {
                suggested["rows"] = Value::Null;
                suggested["metricName"] = json!("cpu");
                configs.push(suggested);
            } else if rule.name == "metric_threshold" {
                set(&mut configs[0], "metricName", json!("cpu"));
            }
            for config in configs {
                RuleConfig::parse(rule.name, &config).unwrap_or_else(|error| panic!("{} {config}: {error}", rule.name));
                for (wrong, key) in beyond(&rule.fields, &config) {
                    assert!(RuleConfig::parse(rule.name, &wrong).is_err(), "{}: {key} of {wrong}", rule.name);
                }
            }
        }
    }

    #[test]
    fn every_type_has_fields_but_those_without_keys() {
        let without: Vec<_> =
            types().types.into_iter().filter(|one| one.fields.is_empty()).map(|one| one.name).collect();
        assert_eq!(without, ["error_regression"]);
    }

    #[test]
    fn words_have_the_numbers_of_the_evaluation() {
        for (name, number) in [
            ("impact_score_critical", format!("{:.2} ", ImpactThreshold::Critical.score())),
            ("impact_score_high", format!("{:.2} ", ImpactThreshold::High.score())),
            ("impact_score_medium", format!("{:.2} ", ImpactThreshold::Medium.score())),
            ("slo_burn", format!("{FAST_BURN} times")),
            ("slo_burn", format!("{SLOW_BURN} times")),
        ] {
            let about = words().iter().find(|words| words.name == name).expect(name).about;
            assert!(about.contains(&number), "{name}: {number}");
        }
    }
}
