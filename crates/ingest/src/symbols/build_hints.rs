//! The build that a stack trace is from, as named by attributes of the exception, its span, its scope or its resource.

use tidewatch_domain::model::{AnyValue, Attributes, KeyValue};
use tidewatch_domain::rules::exception::RawStack;
use tidewatch_symbols::{DebugId, Hints};

use super::release::Release;

/// Attributes that name a build of a Java or Kotlin program, of a script, and of native code.
const MAPPING_IDS: [&str; 2] = ["app.debug.proguard_uuid", "proguard_uuid"];
const SCRIPT_IDS: [&str; 1] = ["app.debug.source_map_uuid"];
const BUILD_IDS: [&str; 2] = ["app.debug.build_id", "app.debug.build_uuid"];

/// The version of the app, and attributes that name its distribution.
const VERSION: &str = "service.version";
const DISTS: [&str; 3] = ["app.debug.dist", "app.build_id", "dist"];

/// Debug ids of scripts by URL or file name: a map, or its JSON.
const IDS_BY_SCRIPT: &str = "app.debug.source_map_uuids";
/// The same as two parallel lists.
const STACK_URLS: &str = "exception.structured_stacktrace.urls";
const STACK_IDS: &str = "exception.structured_stacktrace.debug_ids";

/// The build named for one stack trace.
#[derive(Debug, Default)]
pub struct BuildHints<'a> {
    language: Option<&'a str>,
    debug_id: Option<DebugId>,
    /// The attribute that names the debug id, when it is on the scope or the resource.
    stored: Option<KeyValue<'a>>,
    script_ids: Vec<(String, DebugId)>,
    release: Release,
}

impl<'a> BuildHints<'a> {
    /// Reads the attributes. Those nearest to the exception take precedence.
    pub fn of(raw: &RawStack<'_, 'a>) -> BuildHints<'a> {
        let language = language(raw);
        let near = [raw.attributes, raw.origin.record];
        let far = [raw.origin.scope, raw.origin.resource];
        let names = names_for(language);
        let find = |places: [Attributes<'_, 'a>; 2]| places.into_iter().find_map(|place| build_id(place, &names));
        let (debug_id, stored) = match (find(near), find(far)) {
            (Some((id, _)), _) => (Some(id), None),
            (None, Some((id, attribute))) => (Some(id), Some(attribute)),
            (None, None) => (None, None),
        };
        let script_ids = near.into_iter().chain(far).map(script_ids).find(|ids| !ids.is_empty()).unwrap_or_default();
        // The resource is stored with an exception, its scope is not.
        let named = |keys: &[&str]| {
            let places = near.into_iter().chain([raw.origin.resource]);
            let text = |place: Attributes<'_, 'a>| keys.iter().find_map(|key| place.text(key));
            places.into_iter().find_map(text)
        };
        let release = Release::of(named(&[VERSION]), named(&DISTS));
        BuildHints { language, debug_id, stored, script_ids, release }
    }

    /// The same for a trace that names no version itself: `version` is that of its row.
    pub fn or_version(mut self, version: &str) -> BuildHints<'a> {
        if self.release.version.is_none() {
            self.release.version = Release::of(Some(version), None).version;
        }
        self
    }

    /// The release that the telemetry names.
    pub fn release(&self) -> &Release {
        &self.release
    }

    /// The attribute to store with the exception, because scope and resource are not stored with it.
    pub fn stored(&self) -> Option<KeyValue<'a>> {
        self.stored
    }

    /// Calls `then` with the hints for [`tidewatch_symbols::Trace`].
    pub fn with_hints<T>(&self, then: impl FnOnce(&Hints<'_>) -> T) -> T {
        let script_ids: Vec<(&str, DebugId)> = self.script_ids.iter().map(|(url, id)| (url.as_str(), *id)).collect();
        then(&Hints {
            language: self.language,
            debug_id: self.debug_id,
            script_ids: &script_ids,
            version: self.release.version.as_deref(),
            dist: self.release.dist.as_deref(),
        })
    }
}

/// The language of `telemetry.sdk.language`, else inferred from the scope's name. WIRE 4.3.
fn language<'a>(raw: &RawStack<'_, 'a>) -> Option<&'a str> {
    let scope = raw.origin.scope_name;
    let is_npm = scope == "next.js" || (scope.starts_with('@') && scope.contains('/'));
    raw.origin.resource.text("telemetry.sdk.language").or(is_npm.then_some("javascript"))
}

/// The attributes in order of precedence. One program may have ids of several kinds (Flutter on Android has a mapping
/// too): those of its language precede the others.
fn names_for(language: Option<&str>) -> Vec<&'static str> {
    let (mappings, scripts, builds) = (&MAPPING_IDS[..], &SCRIPT_IDS[..], &BUILD_IDS[..]);
    match language.unwrap_or_default().to_ascii_lowercase().as_str() {
        "dart" | "flutter" | "swift" | "ios" => [builds, mappings, scripts].concat(),
        "javascript" | "webjs" | "nodejs" | "typescript" => [scripts, builds, mappings].concat(),
        _ => [mappings, builds, scripts].concat(),
    }
}

fn build_id<'a>(place: Attributes<'_, 'a>, names: &[&'static str]) -> Option<(DebugId, KeyValue<'a>)> {
    names.iter().find_map(|name| {
        let text = place.text(name)?;
        Some((DebugId::parse(text)?, KeyValue { key: name, value: AnyValue::Str(text) }))
    })
}

fn script_ids(place: Attributes<'_, '_>) -> Vec<(String, DebugId)> {
    let pair = |url: &str, id: &str| Some((url.to_owned(), DebugId::parse(id).filter(|id| !id.is_zero())?));
    if let (Some(AnyValue::Array(urls)), Some(AnyValue::Array(ids))) = (place.get(STACK_URLS), place.get(STACK_IDS)) {
        let pairs = urls.iter().zip(ids).filter_map(|pairs| match pairs {
            (AnyValue::Str(url), AnyValue::Str(id)) => pair(url, id),
            _ => None,
        });
        return pairs.collect();
    }
    match place.get(IDS_BY_SCRIPT) {
        Some(AnyValue::Map(entries)) => entries
            .iter()
            .filter_map(|entry| match entry.value {
                AnyValue::Str(id) => pair(entry.key, id),
                _ => None,
            })
            .collect(),
        Some(AnyValue::Str(json)) => {
            let entries: serde_json::Map<String, serde_json::Value> = serde_json::from_str(json).unwrap_or_default();
            entries.iter().filter_map(|(url, id)| pair(url, id.as_str()?)).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use tidewatch_domain::rules::exception::Origin;

    use super::*;

    const PROGUARD: &str = "app.debug.proguard_uuid";

    fn text(key: &'static str, value: &'static str) -> KeyValue<'static> {
        KeyValue { key, value: AnyValue::Str(value) }
    }

    // DECISIONS 33: the release of the trace itself.
    #[test]
    fn releases_table() {
        let all = [text("service.version", "1.0"), text("dist", "a")];
        let names = |resource: &[KeyValue<'static>], exception: &[KeyValue<'static>]| {
            let origin = Origin { resource: Attributes(resource), ..Origin::default() };
            let raw = RawStack { text: "", exception_type: "", origin, attributes: Attributes(exception) };
            BuildHints::of(&raw).or_version("row").release().clone()
        };
        for (resource, exception, version, dist) in [
            (&all[..], &[][..], "1.0", Some("a")),
            (&all[..1], &[text("app.build_id", "b")], "1.0", Some("b")),
            (&all, &[text("service.version", "2.0")], "2.0", Some("a")),
            (&all[1..], &[], "row", Some("a")),
            (&[], &[], "row", None),
        ] {
            assert_eq!(names(resource, exception), Release::of(Some(version), dist));
        }
    }

    // DECISIONS 14: the build of the trace itself, on any level.
    #[test]
    fn the_id_nearest_to_the_exception_wins() {
        let all = ["a1", "b2", "c3", "d4"].map(|id| [text(PROGUARD, id)]);
        for first in 0..4 {
            let at = |place: usize| if place >= first { Attributes(&all[place][..]) } else { Attributes::default() };
            let origin = Origin { resource: at(3), scope_name: "", scope: at(2), record: at(1) };
            let raw = RawStack { text: "", exception_type: "", origin, attributes: at(0) };
            let named = BuildHints::of(&raw);
            let expected = ["a1", "b2", "c3", "d4"][first];
            assert_eq!(named.debug_id, DebugId::parse(expected));
            assert_eq!(named.stored(), (first > 1).then(|| text(PROGUARD, expected)), "what the row lacks");
        }
    }

    #[test]
    fn ids_of_the_language_take_precedence() {
        let both = [text(PROGUARD, "a1"), text("app.debug.build_id", "b2"), text("app.debug.source_map_uuid", "c3")];
        for (language, expected) in [("dart", "b2"), ("kotlin", "a1"), ("webjs", "c3"), ("", "a1")] {
            let resource = [&both[..], &[text("telemetry.sdk.language", language)]].concat();
            let origin = Origin { resource: Attributes(&resource), ..Origin::default() };
            let raw = RawStack { text: "", exception_type: "", origin, attributes: Attributes::default() };
            assert_eq!(BuildHints::of(&raw).debug_id, DebugId::parse(expected), "{language}");
        }
    }

    #[test]
    fn debug_ids_of_scripts() {
        let by_script = [KeyValue { key: "a/index.js", value: AnyValue::Str("0a") }];
        let urls = [AnyValue::Str("https://c.d/a/index.js"), AnyValue::Str("b.js")];
        let ids = [AnyValue::Str("0a"), AnyValue::Str("")];
        let lists = [
            KeyValue { key: STACK_URLS, value: AnyValue::Array(&urls) },
            KeyValue { key: STACK_IDS, value: AnyValue::Array(&ids) },
        ];
        let id = DebugId::parse("0a").expect("an id");
        for (attributes, url) in [
            (&[KeyValue { key: IDS_BY_SCRIPT, value: AnyValue::Map(&by_script) }][..], "a/index.js"),
            (&[text(IDS_BY_SCRIPT, r#"{"a/index.js":"0a","b.js":7}"#)], "a/index.js"),
            (&lists, "https://c.d/a/index.js"),
        ] {
            assert_eq!(script_ids(Attributes(attributes)), [(url.to_owned(), id)]);
        }
        assert_eq!(script_ids(Attributes(&[text(IDS_BY_SCRIPT, "no JSON")])), []);
    }
}
