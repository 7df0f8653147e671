//! The selected samples as a file in the format of pprof. WIRE 2.2.

use std::collections::HashMap;
use std::sync::Arc;

use tidewatch_accounts::Project;
use tidewatch_domain::encode::Message;
use tidewatch_domain::rules::profile_stack::Frame;
use xxhash_rust::xxh3::Xxh3Builder;

use super::names::address_name;
use super::selection::{Facts, Selection};
use super::stacks::{self, Frames, NativeNames, StackSum};
use crate::error::QueryError;
use crate::executor::Executor;
use crate::views::profile::ProfileSelection;

/// A file for download.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PprofFile {
    /// `<service>-<type>.pprof`, with characters that any file system takes.
    pub name: String,
    /// `profile.proto`, not compressed.
    pub body: Vec<u8>,
}

/// `POST /api/profiles/pprof`. [`QueryError::NotFound`] when no sample is selected.
pub async fn pprof(
    executor: &Executor,
    project: &Project,
    native: Arc<dyn NativeNames>,
    request: ProfileSelection,
) -> Result<PprofFile, QueryError> {
    let selection = Selection::read(&request, project, executor.context.clock.now_ns())?;
    let facts = selection.facts(executor).await?;
    let sums = stacks::sums(executor, &selection, &facts).await?.sums;
    if sums.is_empty() {
        return Err(QueryError::not_found("there are no samples of these profiles"));
    }
    let all = sums.iter().map(|sum| sum.stack);
    let mut frames = Frames::read(executor, selection.project, &[selection.range], all).await?;
    let encoded = tokio::task::spawn_blocking(move || {
        frames.name_addresses(&*native);
        encode(&facts, &sums, &frames)
    });
    let body = encoded.await.map_err(QueryError::internal)?;
    let safe = |text: &str| text.replace(|c: char| !c.is_ascii_alphanumeric() && !"._-".contains(c), "_");
    Ok(PprofFile { name: format!("{}-{}.pprof", safe(&request.service_name), safe(&request.profile_type)), body })
}

/// Strings, functions and locations of the file.
#[derive(Default)]
struct Tables {
    strings: HashMap<String, u64, Xxh3Builder>,
    /// By number.
    list: Vec<String>,
    /// Ids of locations, which are those of their functions too, by name and file.
    locations: HashMap<(u64, u64), u64, Xxh3Builder>,
    /// Encoded locations and functions.
    out: Vec<u8>,
}

impl Tables {
    fn string(&mut self, text: &str) -> u64 {
        if let Some(known) = self.strings.get(text) {
            return *known;
        }
        let number = self.list.len() as u64;
        self.strings.insert(text.to_owned(), number);
        self.list.push(text.to_owned());
        number
    }

    fn location(&mut self, frame: &Frame<'_>) -> u64 {
        let name = match frame.function {
            "" => self.string(&address_name(frame)),
            name => self.string(name),
        };
        let file = self.string(frame.file);
        let next = self.locations.len() as u64 + 1;
        let id = *self.locations.entry((name, file)).or_insert(next);
        if id == next {
            let mut message = Message(&mut self.out);
            message.message(4, |location| {
                location.uint(1, id);
                location.message(4, |line| line.uint(1, id));
            });
            message.message(5, |function| {
                function.uint(1, id);
                // No system name: with one that equals the name, `go tool pprof` takes the name for mangled and cuts it.
                function.uint(2, name);
                function.uint(4, file);
            });
        }
        id
    }
}

fn encode(facts: &Facts, sums: &[StackSum], frames: &Frames) -> Vec<u8> {
    let mut tables = Tables::default();
    // The first string of the table is empty.
    tables.string("");
    let (name, unit) = (tables.string(&facts.sample_type), tables.string(&facts.unit));
    let mut body = Vec::new();
    let mut message = Message(&mut body);
    message.message(1, |of| {
        of.uint(1, name);
        of.uint(2, unit);
    });
    let mut sorted: Vec<&StackSum> = sums.iter().collect();
    sorted.sort_by_key(|sum| sum.stack);
    for sum in sorted {
        let mut ids: Vec<u64> = match frames.of(sum.stack) {
            Some(frames) => frames.map(|frame| tables.location(&frame)).collect(),
            None => vec![tables.location(&Frame { function: "(unknown)", ..Frame::default() })],
        };
        // Leaf first.
        ids.reverse();
        message.message(2, |sample| {
            ids.iter().for_each(|id| sample.uint(1, *id));
            sample.uint(2, sum.value.round() as i64 as u64);
        });
    }
    message.0.extend(&tables.out);
    tables.list.iter().for_each(|string| message.text(6, string));
    message.uint(9, facts.first_ns.max(0) as u64);
    message.uint(10, facts.duration_ns.max(0) as u64);
    message.message(11, |of| {
        of.uint(1, name);
        of.uint(2, unit);
    });
    message.uint(12, 1);
    body
}
