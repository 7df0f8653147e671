//! JavaScript stacks of V8, SpiderMonkey, JavaScriptCore, Hermes and React Native, and the two-line form of the web SDK.
//!
//! A resolved frame keeps the syntax of its engine; function, file, line and column are replaced. Columns are one-based
//! in stacks and zero-based in maps; the offsets of Hermes bytecode are zero-based in both.
//!
//! Frames of a RAM bundle (React Native) name a module, `12.js` or `seg-1_12.js`, and a line within the module. The map
//! belongs to the whole bundle, which is found by another frame, by a debug id, or by the file names of React Native.

use std::fmt::Write as _;

use super::{
    ArtifactRequest, ArtifactSet, Hints, Resolved,
    artifact_set::file_name,
    context::{self, SourceContext},
    out::Out,
};
use crate::{
    DebugId,
    js::{Place, Script},
    limits::FRAMES_MAX,
};

#[derive(Debug)]
pub(super) struct ScriptTrace<'t> {
    text: &'t str,
    lines: Vec<Line<'t>>,
}

#[derive(Debug)]
enum Line<'t> {
    Frame { raw: &'t str, frame: RawFrame<'t>, id: Option<DebugId> },
    Other(&'t str),
}

/// The syntax of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `    at fn (url:l:c)`: V8 and Hermes.
    At,
    /// `fn@url:l:c`.
    Sign,
    /// `fn()`, then on the next line four spaces and `file:l:c`.
    TwoLines,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RawFrame<'t> {
    form: Form,
    indent: &'t str,
    /// For example `async ` or `new `.
    prefix: &'t str,
    /// Empty if the engine prints none.
    function: &'t str,
    url: &'t str,
    line: u32,
    /// One-based; zero-based for bytecode.
    column: u32,
    is_bytecode: bool,
}

/// The original position of a frame.
struct Original<'a> {
    /// The script whose map contains the position.
    script: Script<'a>,
    place: Place<'a>,
    function: Option<&'a str>,
}

const LANGUAGES: [&str; 16] = [
    "javascript",
    "nodejs",
    "webjs",
    "typescript",
    "node",
    "react",
    "svelte",
    "vuejs",
    "jquery",
    "nextjs",
    "nestjs",
    "express",
    "remix",
    "react-native",
    "hermes",
    "js",
];

impl<'t> ScriptTrace<'t> {
    pub(super) fn read(text: &'t str, language: Option<&str>, hints: &Hints<'_>) -> Option<Self> {
        if language.is_some_and(|l| !LANGUAGES.contains(&l)) {
            return None;
        }
        let mut lines: Vec<Line<'t>> = Vec::new();
        let mut frames = 0;
        for raw in text.lines() {
            let frame = if frames < FRAMES_MAX { frame(raw) } else { None };
            let Some(mut frame) = frame else {
                lines.push(Line::Other(raw));
                continue;
            };
            frames += 1;
            if frame.form == Form::TwoLines
                && let Some(Line::Other(above)) = lines.last()
                && let Some(function) = above.strip_suffix("()")
            {
                // Both lines are one frame.
                frame.function = function;
                lines.pop();
            }
            lines.push(Line::Frame { raw, frame, id: script_id(hints, frame.url).or(hints.debug_id) });
        }
        (frames > 0).then_some(Self { text, lines })
    }

    fn frames(&self) -> impl Iterator<Item = (&RawFrame<'t>, Option<DebugId>)> {
        self.lines.iter().filter_map(|line| match line {
            Line::Frame { frame, id, .. } => Some((frame, *id)),
            Line::Other(_) => None,
        })
    }

    pub(super) fn requests(&self, add: &mut dyn FnMut(ArtifactRequest)) {
        for (frame, debug_id) in self.frames() {
            add(request(frame, debug_id));
        }
        self.usual_bundles().into_iter().for_each(add);
    }

    /// The bundles of which modules are, if no frame names one.
    fn usual_bundles(&self) -> Vec<ArtifactRequest> {
        let is_bundle = |frame: &RawFrame<'_>| module(frame.url).is_none();
        if !self.frames().any(|(frame, _)| !is_bundle(frame)) || self.frames().any(|(frame, _)| is_bundle(frame)) {
            return Vec::new();
        }
        let named = |name: &&str| ArtifactRequest::Script { debug_id: None, path: (*name).to_owned() };
        RAM_BUNDLES.iter().map(named).collect()
    }

    pub(super) fn unresolved_requests(&self, artifacts: &ArtifactSet<'_>) -> Vec<ArtifactRequest> {
        let ram = self.ram_bundle(artifacts);
        let unresolved = self.lines.iter().filter(|line| original(line, artifacts, ram).is_none());
        let frames = unresolved.filter_map(|line| match line {
            Line::Frame { frame, id, .. } => Some((frame, *id)),
            Line::Other(_) => None,
        });
        let mut requests: Vec<ArtifactRequest> = frames.map(|(frame, id)| request(frame, id)).collect();
        if ram.is_none() {
            requests.extend(self.usual_bundles());
        }
        requests
    }

    /// The script of the RAM bundle that contains the modules.
    fn ram_bundle<'s, 'a>(&self, artifacts: &'s ArtifactSet<'a>) -> Option<&'s Script<'a>> {
        let named = self.frames().filter_map(|(frame, id)| artifacts.script(id, url_path(frame.url)));
        let usual = RAM_BUNDLES.iter().filter_map(|name| artifacts.script(None, name));
        named.chain(usual).find(|script| script.has_modules())
    }

    pub(super) fn further_requests(&self, artifacts: &ArtifactSet<'_>) -> Vec<ArtifactRequest> {
        let mut requests = Vec::new();
        for (frame, id) in self.frames().filter(|(frame, _)| frame.is_bytecode) {
            if let Some(place) = artifacts.script(id, url_path(frame.url)).and_then(|s| look_up(s, frame)) {
                let request = ArtifactRequest::Script { debug_id: None, path: url_path(place.source()).to_owned() };
                if !requests.contains(&request) {
                    requests.push(request);
                }
            }
        }
        requests
    }

    pub(super) fn context(&self, artifacts: &ArtifactSet<'_>) -> Vec<SourceContext> {
        let ram = self.ram_bundle(artifacts);
        let originals = self.lines.iter().filter_map(|line| original(line, artifacts, ram));
        context::around(originals.map(|original| (original.script, original.place)))
    }

    pub(super) fn resolve(&self, artifacts: &ArtifactSet<'_>) -> Resolved {
        let ram = self.ram_bundle(artifacts);
        let originals: Vec<Option<Original<'_>>> =
            self.lines.iter().map(|line| original(line, artifacts, ram)).collect();
        let mut out = Out::new(self.text.len());
        for (number, line) in self.lines.iter().enumerate() {
            match (line, &originals[number]) {
                (Line::Other(raw), _) => out.verbatim(raw),
                (Line::Frame { raw, frame, .. }, None)
                    if frame.form == Form::TwoLines && !frame.function.is_empty() =>
                {
                    out.raw_frame(&format!("{}()\n{raw}", frame.function));
                }
                (Line::Frame { raw, .. }, None) => out.raw_frame(raw),
                (Line::Frame { raw, .. }, Some(_)) if out.is_full() => out.raw_frame(raw),
                (Line::Frame { frame, .. }, Some(original)) => {
                    let caller = originals.get(number + 1).and_then(Option::as_ref);
                    out.resolved_frame(&printed(frame, original, caller));
                }
            }
        }
        out.finish(self.text)
    }
}

fn request(frame: &RawFrame<'_>, debug_id: Option<DebugId>) -> ArtifactRequest {
    ArtifactRequest::Script { debug_id, path: url_path(frame.url).to_owned() }
}

fn look_up<'a>(script: &Script<'a>, frame: &RawFrame<'_>) -> Option<Place<'a>> {
    let column = if frame.is_bytecode { frame.column } else { frame.column.checked_sub(1)? };
    script.place(frame.line, column)
}

fn original<'a>(line: &Line<'_>, artifacts: &ArtifactSet<'a>, ram: Option<&Script<'a>>) -> Option<Original<'a>> {
    let Line::Frame { frame, id, .. } = line else { return None };
    let own = artifacts
        .script(*id, url_path(frame.url))
        .filter(|script| module(frame.url).is_none() || !script.has_modules());
    if own.is_none()
        && let (Some((segment, number)), Some(script)) = (module(frame.url), ram)
    {
        let line = frame.line.checked_add(script.module_line(segment, number)?)?;
        let column = frame.column.checked_sub(1)?;
        let place = script.place(line, column)?;
        let function = script.function_of(&place).or_else(|| script.function(line, column));
        return Some(Original { script: *script, place, function });
    }
    let script = own?;
    let place = look_up(script, frame)?;
    if frame.is_bytecode
        && let Some(bundle) = artifacts.script(None, url_path(place.source()))
        && let Some(inner) = bundle.place(place.line, place.column)
    {
        let function = bundle.function_of(&inner).or_else(|| bundle.function(place.line, place.column));
        return Some(Original { script: *bundle, place: inner, function });
    }
    let by_scope = || script.function(frame.line, frame.column.saturating_sub(1)).filter(|_| !frame.is_bytecode);
    Some(Original { script: *script, place, function: script.function_of(&place).or_else(by_scope) })
}

fn printed(frame: &RawFrame<'_>, original: &Original<'_>, caller: Option<&Original<'_>>) -> String {
    // Without the script's content, the name at the call in the caller is the function's. Unnamed frames stay unnamed.
    let by_token = || {
        let token = caller?.place.name()?;
        (frame.form == Form::At && !frame.function.is_empty() && is_identifier(token)).then_some(token)
    };
    let function = original.function.or_else(by_token).unwrap_or(frame.function);
    let (source, line, column) = (original.place.source(), original.place.line, original.place.column + 1);
    let RawFrame { indent, prefix, .. } = frame;
    let mut text = String::with_capacity(source.len() + function.len() + 32);
    let written = match frame.form {
        Form::At if function.is_empty() => write!(text, "{indent}at {prefix}{source}:{line}:{column}"),
        Form::At => write!(text, "{indent}at {prefix}{function} ({source}:{line}:{column})"),
        Form::Sign => write!(text, "{indent}{prefix}{function}@{source}:{line}:{column}"),
        Form::TwoLines if function.is_empty() => write!(text, "    {source}:{line}:{column}"),
        Form::TwoLines => write!(text, "{function}()\n    {source}:{line}:{column}"),
    };
    debug_assert!(written.is_ok(), "writing to a string cannot fail");
    text
}

fn is_identifier(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$' | '#'))
        && token.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '#'))
}

/// The path of a URL or file without leading slashes.
pub(super) fn url_path(url: &str) -> &str {
    let url = url.split(['?', '#']).next().unwrap_or(url);
    let path = match url.split_once("://") {
        Some((_, rest)) => rest.split_once('/').map_or(rest, |(_, path)| path),
        None => url,
    };
    path.trim_start_matches(['/', '\\'])
}

/// The debug id reported for a script: by URL, otherwise by file name if the file name is unambiguous.
fn script_id(hints: &Hints<'_>, url: &str) -> Option<DebugId> {
    let exact = hints.script_ids.iter().find(|(known, _)| *known == url || url_path(known) == url_path(url));
    if let Some((_, id)) = exact {
        return Some(*id);
    }
    let mut named = hints.script_ids.iter().filter(|(known, _)| file_name(known) == file_name(url)).map(|(_, id)| *id);
    let first = named.next()?;
    named.all(|id| id == first).then_some(first)
}

/// Default file names of bundles in React Native.
const RAM_BUNDLES: [&str; 4] = ["main.jsbundle", "index.android.bundle", "index.ios.bundle", "index.bundle"];

/// The segment and module of a RAM bundle in a name like `12.js`, `seg-1_12.js` or `seg-1.js`.
fn module(url: &str) -> Option<(u32, Option<u32>)> {
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?;
    let name = file_name(url).strip_suffix(".js")?;
    let Some(segment) = name.strip_prefix("seg-") else { return Some((0, Some(number(name)?))) };
    match segment.split_once('_') {
        Some((segment, module)) => Some((number(segment)?, Some(number(module)?))),
        None => Some((number(segment)?, None)),
    }
}

fn frame(line: &str) -> Option<RawFrame<'_>> {
    let trimmed = line.trim_start();
    let indent = &line[..line.len() - trimmed.len()];
    let trimmed = trimmed.trim_end();
    if let Some(rest) = trimmed.strip_prefix("at ") {
        return at_frame(indent, rest);
    }
    if indent == "    " && !trimmed.contains('@') {
        let (url, line, column) = location(trimmed)?;
        return Some(RawFrame {
            form: Form::TwoLines,
            indent,
            prefix: "",
            function: "",
            url,
            line,
            column,
            is_bytecode: false,
        });
    }
    let (function, at) = trimmed.split_once('@')?;
    // The paths of scoped packages contain `@` too, so the function ends at the first one.
    let (url, line, column) = location(at)?;
    if function.contains(['(', ' '])
        && !matches!(function, "global code" | "eval code" | "module code")
        && !function.starts_with("get ")
        && !function.starts_with("set ")
    {
        return None;
    }
    let prefix_len = ["async*", "setTimeout handler*", "promise callback*"]
        .iter()
        .find(|p| function.starts_with(**p))
        .map_or(0, |p| p.len());
    let (prefix, function) = function.split_at(prefix_len);
    Some(RawFrame { form: Form::Sign, indent, prefix, function, url, line, column, is_bytecode: false })
}

fn at_frame<'t>(indent: &'t str, rest: &'t str) -> Option<RawFrame<'t>> {
    let mut name_from = 0;
    for word in ["async ", "new "] {
        if rest[name_from..].starts_with(word) {
            name_from += word.len();
        }
    }
    let (prefix, rest) = rest.split_at(name_from);
    let (function, at) = match rest.strip_suffix(')').and_then(|r| r.rsplit_once(" (")) {
        // In `eval at f (url:l:c), <anonymous>:1:1` the position is inside generated code, not inside the script.
        Some((function, _)) if function.contains("(eval at ") => return None,
        Some((function, at)) => (function, at),
        None => ("", rest),
    };
    let bytecode = at.strip_prefix("address at ");
    let (url, line, column) = location(bytecode.unwrap_or(at))?;
    Some(RawFrame { form: Form::At, indent, prefix, function, url, line, column, is_bytecode: bytecode.is_some() })
}

/// Parses `url:line:column`. Rejects positions inside an engine or without a file.
fn location(text: &str) -> Option<(&str, u32, u32)> {
    let (rest, column) = text.rsplit_once(':')?;
    let (url, line) = rest.rsplit_once(':')?;
    let number = |digits: &str| digits.parse::<u32>().ok().filter(|_| digits.bytes().all(|b| b.is_ascii_digit()));
    let (line, column) = (number(line).filter(|l| *l > 0)?, number(column)?);
    let is_file = !url.is_empty()
        && !url.starts_with("node:")
        && !url.starts_with('<')
        && !url.starts_with('[')
        && !url.contains(['\t', '(', ')'])
        && file_name(url).chars().any(|c| c.is_alphanumeric());
    is_file.then_some((url, line, column))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<(&str, &str, &str, u32, u32)>) {
        let got = frame(line).map(|f| (f.prefix, f.function, f.url, f.line, f.column));
        assert_eq!(got, expected, "{line}");
    }

    #[test]
    fn every_engine_is_read() {
        check("    at s (https://c.d/app.min.js:1:633)", Some(("", "s", "https://c.d/app.min.js", 1, 633)));
        check("    at https://c.d/app.min.js?v=1:1:999", Some(("", "", "https://c.d/app.min.js?v=1", 1, 999)));
        check("    at async new t [as u] (a.js:2:3)", Some(("async new ", "t [as u]", "a.js", 2, 3)));
        check("    at get total [as total] (a.js:1:987)", Some(("", "get total [as total]", "a.js", 1, 987)));
        check("get total/<@https://c.d/a.js:1:999", Some(("", "get total/<", "https://c.d/a.js", 1, 999)));
        check("@https://c.d/a.js:1:2", Some(("", "", "https://c.d/a.js", 1, 2)));
        check("async*f@https://c.d/a.js:1:2", Some(("async*", "f", "https://c.d/a.js", 1, 2)));
        check("global code@https://c.d/a.js:1:2", Some(("", "global code", "https://c.d/a.js", 1, 2)));
        check("    app.min.js:1:2", Some(("", "", "app.min.js", 1, 2)));
        check("    at fail (address at main.hbc:1:3366)", Some(("", "fail", "main.hbc", 1, 3366)));
        check(
            "    at f (http://h:8081/index.bundle?platform=ios&dev=true:123:45)",
            Some(("", "f", "http://h:8081/index.bundle?platform=ios&dev=true", 123, 45)),
        );
        for line in [
            "    at Array.map (<anonymous>)",
            "    at call (native)",
            "    at async Promise.all (index 0)",
            "    at Module._compile (node:internal/modules/cjs/loader:1521:14)",
            "    at eval (eval at f (a.js:1:2), <anonymous>:1:1)",
            "map@[native code]",
            "wasm-function[3]@[wasm code]",
            "AppError: failed: 12:30:45",
            "\tat a.b.c(SourceFile:12)",
            "me@example.com",
            "",
        ] {
            check(line, None);
        }
    }

    #[test]
    fn files_are_named_without_their_query() {
        assert_eq!(file_name("http://h:8081/a/index.bundle?platform=ios&x=a/b#c"), "index.bundle");
        assert_eq!(file_name("C:\\app\\main.js"), "main.js");
        for (url, path) in [
            ("https://c.d/a/b.js?x=/y", "a/b.js"),
            ("b.js", "b.js"),
            ("/srv/a/b.js", "srv/a/b.js"),
            ("https://c.d", "c.d"),
            ("webpack://name/./lib/x.ts", "./lib/x.ts"),
        ] {
            assert_eq!(url_path(url), path);
        }
    }

    #[test]
    fn modules_of_ram_bundles() {
        for (url, expected) in [
            ("12.js", Some((0, Some(12)))),
            ("seg-1_7.js", Some((1, Some(7)))),
            ("seg-3.js", Some((3, None))),
            ("a12.js", None),
            (".js", None),
            ("seg-.js", None),
            ("seg-1_.js", None),
            ("seg-a_7.js", None),
            ("99999999999.js", None),
        ] {
            assert_eq!(module(url), expected, "{url}");
        }
    }

    // URLs take precedence over file names; an ambiguous file name gives no id.
    #[test]
    fn reported_debug_ids() {
        let id = |text| DebugId::parse(text).expect("an id");
        let ids = [("https://c.d/a/index.js", id("a1")), ("https://c.d/b/index.js", id("b2")), ("one.js", id("c3"))];
        let hints = Hints { script_ids: &ids, ..Hints::default() };
        for (url, expected) in [
            ("https://c.d/b/index.js", Some(id("b2"))),
            ("https://e.f/b/index.js", Some(id("b2"))),
            ("https://c.d/c/index.js", None),
            ("https://c.d/x/one.js", Some(id("c3"))),
        ] {
            assert_eq!(script_id(&hints, url), expected, "{url}");
        }
    }

    #[test]
    fn a_stack_without_maps_is_untouched() {
        let text = "E: x\nf()\n    app.min.js:1:2\n<anonymous>()\n    app.min.js:1:9\n";
        let trace = ScriptTrace::read(text, Some("javascript"), &Hints::default()).unwrap();
        assert_eq!(trace.resolve(&ArtifactSet::new()).text, text);
    }
}
