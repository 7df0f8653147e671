//! Descriptions of configurations: their types with the words, bounds and defaults of each field. Requests are checked
//! by the descriptions, and forms are drawn from them.

use std::ops::RangeInclusive;

use serde::{Serialize, Serializer};
use serde_json::Value;
use utoipa::ToSchema;

/// Types of rules, channels or monitors, in the order of forms.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ConfigTypes {
    /// The types.
    pub types: Vec<ConfigType>,
}

/// A type of rules, channels or monitors.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ConfigType {
    /// Name in requests.
    #[serde(rename = "type")]
    pub name: &'static str,
    /// Name for people.
    pub label: &'static str,
    /// Heading under which forms list the type; absent for types without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<&'static str>,
    /// Purpose of the type.
    pub about: &'static str,
    /// Fields of the request beside the configuration.
    pub settings: Vec<ConfigField>,
    /// Fields of the configuration.
    pub fields: Vec<ConfigField>,
}

/// Kinds of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum FieldKind {
    /// A string of one line.
    String,
    /// A string of several lines.
    Lines,
    /// A string of one line, masked in answers.
    Secret,
    /// An address, `https://` or `http://`.
    Url,
    /// Source code.
    Script,
    /// A number.
    Number,
    /// A whole number.
    Integer,
    /// A duration in whole seconds.
    Seconds,
    /// A boolean.
    Boolean,
    /// The value of one of the options.
    Choice,
    /// Values of some of the options.
    Choices,
    /// A list of strings.
    Strings,
    /// A list of whole numbers.
    Integers,
    /// Strings by name.
    Map,
    /// Strings by name, masked in answers.
    Variables,
    /// Id of an escalation policy.
    Policy,
    /// Ids of monitors.
    Monitors,
}

/// An option of a choice.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct FieldOption {
    /// The value.
    pub value: Value,
    /// Its name for people.
    pub label: &'static str,
}

/// A condition on another field of the same configuration.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct FieldCondition {
    /// Key of the other field.
    pub key: &'static str,
    /// Values of the other field for which the condition is true. An absent value is null.
    pub values: Vec<Value>,
}

/// A field of a configuration. Absent bounds do not exist.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConfigField {
    /// Key of the value. Points separate the keys of nested objects.
    pub key: String,
    /// Name for people.
    pub label: &'static str,
    /// Kind of the value.
    pub kind: FieldKind,
    /// Unit of the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<&'static str>,
    /// Explanation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Example that an empty input shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<&'static str>,
    /// Whether an empty value is refused, and an absent one if there is no default.
    pub required: bool,
    /// Minimum of a number, and of each number of a list.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "shortest")]
    pub minimum: Option<f64>,
    /// Exclusive minimum of a number.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "shortest")]
    pub exclusive_minimum: Option<f64>,
    /// Maximum of a number, and of each number of a list.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "shortest")]
    pub maximum: Option<f64>,
    /// Maximum number of characters of a string, and of each string of a list, which has at least one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_length: Option<usize>,
    /// Maximum number of entries of a list or of a map.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_items: Option<usize>,
    /// The options of a choice.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<FieldOption>,
    /// Usual durations, which forms offer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub usual: Vec<i64>,
    /// The field exists only while this is true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<FieldCondition>,
    /// Title of the part of the form that has the field; absent for the first part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<&'static str>,
    /// Whether the part of the form is folded at first.
    pub folded: bool,
    /// Whether forms leave the field out.
    pub hidden: bool,
    /// The value if the key is absent; absent if the key is required.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// The value of a new form, where it is not the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggested: Option<Value>,
}

/// Serializes whole numbers without a fraction.
fn shortest<S: Serializer>(bound: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    match bound {
        Some(bound) if bound.fract() == 0.0 => serializer.serialize_i64(*bound as i64),
        bound => bound.serialize(serializer),
    }
}

/// The options of a choice: values with their names for people.
pub fn options<T: Serialize>(named: &[(T, &'static str)]) -> Vec<FieldOption> {
    named.iter().map(|(value, label)| FieldOption { value: json(value), label }).collect()
}

/// The options of a choice whose values are their names.
pub fn options_of(names: &[&'static str]) -> Vec<FieldOption> {
    names.iter().map(|name| FieldOption { value: (*name).into(), label: name }).collect()
}

/// A value as JSON.
pub fn json(value: impl Serialize) -> Value {
    serde_json::to_value(value).expect("keys are strings, and numbers are finite")
}

impl ConfigField {
    /// A field without bounds. Its key is given by [`ConfigField::at`].
    pub fn new(kind: FieldKind, label: &'static str) -> ConfigField {
        ConfigField {
            key: String::new(),
            label,
            kind,
            unit: None,
            hint: None,
            placeholder: None,
            required: false,
            minimum: None,
            exclusive_minimum: None,
            maximum: None,
            max_length: None,
            max_items: None,
            options: Vec::new(),
            usual: Vec::new(),
            when: None,
            section: None,
            folded: false,
            hidden: false,
            default: None,
            suggested: None,
        }
    }

    /// The field at this key.
    pub fn at(self, key: impl Into<String>) -> ConfigField {
        ConfigField { key: key.into(), ..self }
    }

    /// The field at the key of a field of a struct whose keys are in camel case.
    pub fn at_field(self, name: &str) -> ConfigField {
        let mut key = String::with_capacity(name.len());
        for part in name.split('_') {
            let mut letters = part.chars();
            match letters.next() {
                Some(first) if !key.is_empty() => key.push(first.to_ascii_uppercase()),
                Some(first) => key.push(first),
                None => {}
            }
            key.push_str(letters.as_str());
        }
        self.at(key)
    }

    /// A choice of one of these.
    pub fn choice(label: &'static str, options: Vec<FieldOption>) -> ConfigField {
        ConfigField { options, ..ConfigField::new(FieldKind::Choice, label) }
    }

    /// With a unit.
    pub fn unit(self, unit: &'static str) -> ConfigField {
        ConfigField { unit: Some(unit), ..self }
    }

    /// With an explanation.
    pub fn hint(self, hint: impl Into<String>) -> ConfigField {
        ConfigField { hint: Some(hint.into()), ..self }
    }

    /// With an example.
    pub fn placeholder(self, placeholder: &'static str) -> ConfigField {
        ConfigField { placeholder: Some(placeholder), ..self }
    }

    /// Absent and empty values are refused.
    pub fn required(self) -> ConfigField {
        ConfigField { required: true, ..self }
    }

    /// Whole numbers outside of this range are refused.
    pub fn within(self, range: RangeInclusive<i64>) -> ConfigField {
        ConfigField { minimum: Some(*range.start() as f64), maximum: Some(*range.end() as f64), ..self }
    }

    /// Smaller numbers are refused.
    pub fn at_least(self, minimum: f64) -> ConfigField {
        ConfigField { minimum: Some(minimum), ..self }
    }

    /// This number and smaller ones are refused.
    pub fn above(self, minimum: f64) -> ConfigField {
        ConfigField { exclusive_minimum: Some(minimum), ..self }
    }

    /// Greater numbers are refused.
    pub fn at_most(self, maximum: f64) -> ConfigField {
        ConfigField { maximum: Some(maximum), ..self }
    }

    /// Strings with more characters are refused.
    pub fn max_length(self, characters: usize) -> ConfigField {
        ConfigField { max_length: Some(characters), ..self }
    }

    /// Lists and maps with more entries are refused.
    pub fn max_items(self, entries: usize) -> ConfigField {
        ConfigField { max_items: Some(entries), ..self }
    }

    /// Forms offer these durations.
    pub fn usual(self, seconds: &[i64]) -> ConfigField {
        ConfigField { usual: seconds.to_vec(), ..self }
    }

    /// The field exists only while another one has one of these values.
    pub fn when<T: Serialize>(self, key: &'static str, values: &[T]) -> ConfigField {
        ConfigField { when: Some(FieldCondition { key, values: values.iter().map(json).collect() }), ..self }
    }

    /// The field is in a part of the form with this title.
    pub fn section(self, title: &'static str) -> ConfigField {
        ConfigField { section: Some(title), ..self }
    }

    /// The field is in a part of the form that is folded at first.
    pub fn folded(self, title: &'static str) -> ConfigField {
        ConfigField { folded: true, ..self.section(title) }
    }

    /// Forms leave the field out.
    pub fn hidden(self) -> ConfigField {
        ConfigField { hidden: true, ..self }
    }

    /// New forms have this value.
    pub fn suggested(self, value: impl Serialize) -> ConfigField {
        ConfigField { suggested: Some(json(value)), ..self }
    }

    /// Absent keys have this value.
    pub fn default(self, value: impl Serialize) -> ConfigField {
        ConfigField { default: Some(json(value)), ..self }
    }

    /// The value in a configuration; null if it is absent.
    fn value_in<'a>(&self, config: &'a Value) -> &'a Value {
        value_at(config, &self.key)
    }

    /// Whether the field exists in a configuration.
    fn is_in(&self, config: &Value) -> bool {
        self.when.as_ref().is_none_or(|when| when.values.contains(value_at(config, when.key)))
    }

    /// Name in sentences: the last part of the key.
    fn name(&self) -> &str {
        self.key.rsplit('.').next().unwrap_or_default()
    }

    /// Checks a value. The error is a sentence for the user.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        let name = self.name();
        match (self.kind, value) {
            (_, Value::Null) if self.required => Err(self.missing()),
            (FieldKind::Choice, Value::Null) => Ok(()),
            (FieldKind::Choice, Value::String(value)) if value.is_empty() && !self.required => Ok(()),
            (FieldKind::Choice, value) => self.check_option(name, value),
            (_, Value::String(value)) => self.check_string(value),
            (_, Value::Number(value)) => self.check_number(name, value.as_f64().unwrap_or(f64::NAN)),
            (_, Value::Array(values)) => {
                self.check_count(values.len())?;
                let entry = format!("an entry of {name}");
                values.iter().try_for_each(|value| match value {
                    _ if self.kind == FieldKind::Choices => self.check_option(&entry, value),
                    Value::Number(value) => self.check_number(&entry, value.as_f64().unwrap_or(f64::NAN)),
                    Value::String(value) => self.check_entry(&entry, value),
                    _ => Ok(()),
                })
            }
            (_, Value::Object(values)) => self.check_count(values.len()),
            _ => Ok(()),
        }
    }

    fn missing(&self) -> String {
        match self.max_length {
            Some(most) => format!("{} has 1 to {most} characters", self.name()),
            None => format!("{} is missing", self.name()),
        }
    }

    fn check_option(&self, name: &str, value: &Value) -> Result<(), String> {
        if self.options.is_empty() || self.options.iter().any(|option| option.value == *value) {
            return Ok(());
        }
        let named = |option: &FieldOption| match &option.value {
            Value::String(name) => name.clone(),
            other => other.to_string(),
        };
        let names: Vec<String> = self.options.iter().map(named).collect();
        Err(format!("{name} is {}", one_of(&names)))
    }

    fn check_string(&self, value: &str) -> Result<(), String> {
        let is_long = self.max_length.is_some_and(|most| value.chars().count() > most);
        if is_long || (self.required && value.trim().is_empty()) { Err(self.missing()) } else { Ok(()) }
    }

    fn check_entry(&self, name: &str, value: &str) -> Result<(), String> {
        match self.max_length {
            Some(most) if !(1..=most).contains(&value.chars().count()) => {
                Err(format!("{name} has 1 to {most} characters"))
            }
            _ => Ok(()),
        }
    }

    fn check_count(&self, count: usize) -> Result<(), String> {
        let name = self.name();
        match self.max_items {
            Some(most) if self.required && !(1..=most).contains(&count) => {
                Err(format!("{name} has 1 to {most} entries"))
            }
            Some(most) if count > most => Err(format!("{name} has at most {most} entries")),
            _ => Ok(()),
        }
    }

    fn check_number(&self, name: &str, value: f64) -> Result<(), String> {
        let is_right = value.is_finite()
            && self.minimum.is_none_or(|least| value >= least)
            && self.exclusive_minimum.is_none_or(|least| value > least)
            && self.maximum.is_none_or(|most| value <= most);
        if is_right {
            return Ok(());
        }
        Err(match (self.minimum, self.exclusive_minimum, self.maximum) {
            (Some(least), _, Some(most)) => format!("{name} is {least} to {most}"),
            (Some(least), _, None) => format!("{name} is at least {least}"),
            (None, Some(least), Some(most)) => format!("{name} is above {least} and at most {most}"),
            (None, Some(least), None) => format!("{name} is above {least}"),
            (None, None, Some(most)) => format!("{name} is at most {most}"),
            (None, None, None) => format!("{name} is no number"),
        })
    }
}

/// Names in a sentence: `a, b or c`.
pub fn one_of(names: &[impl AsRef<str>]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => names.concat(),
    }
}

/// The value at a key, whose parts are separated by points; null if there is none.
fn value_at<'a>(config: &'a Value, key: &str) -> &'a Value {
    key.split('.').fold(config, |inner, part| &inner[part])
}

/// Checks the values of a configuration with every key. The error is a sentence for the user.
pub fn check(fields: &[ConfigField], config: &Value) -> Result<(), String> {
    let mut known = fields.iter().filter(|field| field.is_in(config));
    known.try_for_each(|field| field.check(field.value_in(config)))
}

/// The fields with the values of a configuration as their defaults, where these are right. A configuration may omit
/// empty strings.
pub fn with_defaults(fields: Vec<ConfigField>, defaults: &Value) -> Vec<ConfigField> {
    let with_default = |field: ConfigField| {
        let is_string = matches!(field.kind, FieldKind::String | FieldKind::Lines | FieldKind::Secret | FieldKind::Url);
        let default = match field.value_in(defaults) {
            Value::Null if is_string => "".into(),
            default => default.clone(),
        };
        if field.check(&default).is_ok() { field.default(default) } else { field }
    };
    fields.into_iter().map(with_default).collect()
}

#[cfg(test)]
pub(crate) mod tests;
