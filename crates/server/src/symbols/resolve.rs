//! A raw stack trace and the artifacts it needs, to a symbolic one. Spec: symbolication; WIRE 4.3; DECISIONS 14.
//!
//! What is not at hand is not waited for: an artifact that has to be made first is asked for, and the trace stays raw.

use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tidewatch_domain::model::{AnyValue, Attributes};
use tidewatch_domain::rules::exception::{RawStack, Symbolicate};
use tidewatch_symbols::{Artifact, DebugId, Hints, Need, Resolved, Shelf, SourceContext, Trace};
use uuid::Uuid;

use super::Symbols;
use super::cache::Cached;
use super::keys::{FileName, SymbolKey};

/// The stack traces of one project.
pub struct Stacks<'s> {
    pub symbols: &'s Symbols,
    pub project: Uuid,
    /// When they came. Nanoseconds since the epoch.
    pub now_ns: i64,
    /// What is left of the time that one request may take for this.
    pub left: Cell<Duration>,
}

impl Symbolicate for Stacks<'_> {
    fn resolve(&self, raw: &RawStack<'_, '_>) -> Option<String> {
        if self.left.get().is_zero() {
            // Stored raw, and looked at again when there is time.
            self.symbols.again.add(self.project);
            return None;
        }
        let start = Instant::now();
        let hints = Hints { language: language(raw), debug_id: build_id(raw), ..Hints::default() };
        let resolved = self.symbols.resolve(self.project, raw.text, &hints, self.now_ns);
        self.left.set(self.left.get().saturating_sub(start.elapsed()));
        let (resolved, missing) = resolved?;
        for need in missing {
            self.symbols.missing.add(self.project, need, self.now_ns);
        }
        (resolved.resolved > 0).then_some(resolved.text)
    }
}

/// `telemetry.sdk.language`, else what the scope's name gives away. WIRE 4.3.
fn language<'a>(raw: &RawStack<'_, 'a>) -> Option<&'a str> {
    let is_npm = raw.scope_name == "next.js" || (raw.scope_name.starts_with('@') && raw.scope_name.contains('/'));
    text(raw.resource, "telemetry.sdk.language").or(is_npm.then_some("javascript"))
}

/// Where the trace itself does not say which build it is from.
fn build_id(raw: &RawStack<'_, '_>) -> Option<DebugId> {
    let names = ["app.debug.proguard_uuid", "app.debug.build_id"];
    names
        .iter()
        .find_map(|name| text(raw.attributes, name).or_else(|| text(raw.resource, name)))
        .and_then(DebugId::parse)
}

fn text<'a>(attributes: Attributes<'_, 'a>, key: &str) -> Option<&'a str> {
    match attributes.get(key) {
        Some(AnyValue::Str(text)) => Some(text),
        _ => None,
    }
}

/// An artifact on its way to the shelf.
struct Held {
    place: Place,
    bytes: Arc<[u8]>,
}

enum Place {
    Native(DebugId),
    OnlyDart,
    Mapping(DebugId),
    Script(DebugId),
    ScriptFile(String),
}

impl Symbols {
    /// The trace resolved as far as the project's uploads go, and what is missing for the rest. `None`: it is symbolic
    /// already, or of no known form. Reads artifacts that are not in memory from the disk.
    pub fn resolve(&self, project: Uuid, text: &str, hints: &Hints<'_>, now_ns: i64) -> Option<(Resolved, Vec<Need>)> {
        let trace = Trace::read(text, hints)?;
        let (held, missing) = self.gather(project, &trace, now_ns);
        Some((trace.resolve(&shelf(&held)), missing))
    }

    /// The source around the frames of a raw trace, where maps embed it.
    pub fn context(&self, project: Uuid, text: &str, hints: &Hints<'_>, now_ns: i64) -> Vec<SourceContext> {
        let Some(trace) = Trace::read(text, hints) else { return Vec::new() };
        let (held, _) = self.gather(project, &trace, now_ns);
        trace.context(&shelf(&held))
    }

    fn gather(&self, project: Uuid, trace: &Trace<'_>, now_ns: i64) -> (Vec<Held>, Vec<Need>) {
        let (mut held, mut missing) = (Vec::new(), Vec::new());
        for need in trace.needs() {
            self.hold((project, now_ns), need, &mut held, &mut missing);
        }
        let after = trace.needs_after(&shelf(&held));
        for need in after {
            self.hold((project, now_ns), need, &mut held, &mut missing);
        }
        (held, missing)
    }

    fn hold(&self, (project, now_ns): (Uuid, i64), need: Need, held: &mut Vec<Held>, missing: &mut Vec<Need>) {
        let before = held.len();
        let mut add = |key: SymbolKey, place: Place| {
            if let Some(bytes) = self.artifact(project, key.clone()) {
                self.uses.add(project, &key, now_ns);
                held.push(Held { place, bytes });
            }
        };
        match &need {
            Need::Native { id, arch } => {
                for key in [SymbolKey::MachO(*id), SymbolKey::Elf(*id), SymbolKey::Dart(*id, *arch)] {
                    add(key, Place::Native(*id));
                }
            }
            Need::Mapping { id } => add(SymbolKey::Mapping(*id), Place::Mapping(*id)),
            Need::Script { debug_id, file } => {
                if let Some(id) = debug_id {
                    add(SymbolKey::SourceMapById(*id), Place::Script(*id));
                }
                if let Some(name) = FileName::of(file) {
                    add(SymbolKey::SourceMap(name.with(".map")), Place::ScriptFile(file.clone()));
                }
            }
            Need::OnlyDart { arch } => {
                let images = self.store.dart_images(project).unwrap_or_default();
                let mut fitting = images.into_iter().filter(|key| match key {
                    SymbolKey::Dart(_, known) => *arch == tidewatch_symbols::Arch::Unknown || known == arch,
                    _ => false,
                });
                if let (Some(key), None) = (fitting.next(), fitting.next()) {
                    add(key, Place::OnlyDart);
                }
            }
        }
        if held.len() > before {
            self.missing.found(project, &need);
        } else {
            missing.push(need);
        }
    }

    /// From memory or from the disk; what is not made yet, or stale, is asked for.
    fn artifact(&self, project: Uuid, key: SymbolKey) -> Option<Arc<[u8]>> {
        let since = match self.cache.find(project, &key) {
            Cached::Artifact(bytes) => return Some(bytes),
            Cached::Missing => return None,
            Cached::Unknown(since) => since,
        };
        let loaded = self.load(project, &key);
        match &loaded {
            Some(bytes) => self.cache.put(project, key, bytes.clone(), since),
            None => self.cache.put_missing(project, key, since),
        }
        loaded
    }

    fn load(&self, project: Uuid, key: &SymbolKey) -> Option<Arc<[u8]>> {
        let info = self.store.info(project, key)?;
        let found = self.store.artifact(project, key).unwrap_or_else(|error| {
            tracing::warn!(%error, "a symbol artifact cannot be read: {error}");
            None
        });
        let is_fresh = |bytes: &[u8]| {
            let hash = u128::from_str_radix(&info.hash, 16).unwrap_or_default();
            let opened = Artifact::open(bytes).and_then(Artifact::verify);
            opened.and_then(|artifact| artifact.made_from(info.bytes, hash)).is_ok()
        };
        let fresh = found.filter(|bytes| is_fresh(bytes));
        if fresh.is_none() {
            self.builder.ask(project, key.clone());
        }
        fresh.map(Arc::from)
    }
}

fn shelf(held: &[Held]) -> Shelf<'_> {
    let mut shelf = Shelf::new();
    for Held { place, bytes } in held {
        let Ok(artifact) = Artifact::open(bytes) else { continue };
        match place {
            Place::Native(id) => shelf.add_native(*id, artifact),
            Place::OnlyDart => shelf.add_only_dart(artifact),
            Place::Mapping(id) => shelf.add_mapping(*id, artifact),
            Place::Script(id) => shelf.add_script(*id, artifact),
            Place::ScriptFile(file) => shelf.add_script_file(file, artifact),
        }
    }
    shelf
}
