//! Debug files and source maps that stack traces requested and that are not uploaded. In memory, and in one small file
//! per project.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tidewatch_symbols::{Arch, ArtifactRequest, DebugId};
use uuid::Uuid;

use super::disk::{remove_if_exists, write_atomically};
use super::release::Release;
use tidewatch_limits as limits;

/// Missing files by project.
pub struct Missing {
    folder: PathBuf,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    projects: HashMap<Uuid, ProjectRequests>,
    /// Projects whose file is out of date.
    changed: HashSet<Uuid>,
}

#[derive(Default)]
struct ProjectRequests {
    requests: HashMap<MissingFile, WaitingTraces>,
    /// Time of the latest request that was counted. Nanoseconds since the epoch.
    counted_ns: i64,
    /// `counted_ns` when the server started: requests up to it were counted before the journal's replay.
    replayed_ns: i64,
}

/// A missing file: a request, and the version of the app if the request does not identify the build by itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MissingFile {
    /// The requested file.
    pub request: ArtifactRequest,
    /// The version that the traces name.
    pub version: Option<String>,
}

impl MissingFile {
    /// The file that a trace of this release requests.
    pub fn of(request: &ArtifactRequest, release: &Release) -> MissingFile {
        let is_by_id =
            matches!(request, ArtifactRequest::Native { .. } | ArtifactRequest::Script { debug_id: Some(_), .. });
        let version = if is_by_id { None } else { release.version.clone() };
        MissingFile { request: request.clone(), version }
    }
}

impl From<ArtifactRequest> for MissingFile {
    fn from(request: ArtifactRequest) -> MissingFile {
        MissingFile { request, version: None }
    }
}

/// Stack traces that an upload would resolve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingTraces {
    /// Number of stack traces.
    pub traces: u64,
    /// Time of the first one. Nanoseconds since the epoch.
    pub first_ns: i64,
    /// Time of the latest one. Nanoseconds since the epoch.
    pub last_ns: i64,
}

/// The content of a project's file.
#[derive(Debug, Serialize, Deserialize)]
struct Written {
    counted_ns: i64,
    waiting: Vec<Line>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Line {
    kind: Kind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    name: String,
    /// `None` also in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(flatten)]
    waiting: WaitingTraces,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Native,
    OnlyDart,
    Mapping,
    Script,
}

impl Missing {
    /// Reads the files in this folder. Unreadable files are ignored: later traces request the same files again.
    pub fn open(folder: PathBuf) -> Missing {
        let mut projects = HashMap::new();
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let project = path.file_stem().and_then(|stem| Uuid::parse_str(stem.to_str()?).ok());
            if let Some(project) = project
                && let Some(of_project) = read(&path)
            {
                projects.insert(project, of_project);
            }
        }
        Missing { folder, state: Mutex::new(State { projects, changed: HashSet::new() }) }
    }

    /// Counts a request. When a project has [`limits::MISSING_SYMBOLS_MAX`], the one with the oldest latest request is
    /// removed.
    pub fn add(&self, project: Uuid, request: MissingFile, now_ns: i64) {
        let mut state = self.state.lock();
        let of_project = state.projects.entry(project).or_default();
        if now_ns <= of_project.replayed_ns {
            return;
        }
        of_project.counted_ns = of_project.counted_ns.max(now_ns);
        let requests = &mut of_project.requests;
        if !requests.contains_key(&request)
            && requests.len() >= limits::MISSING_SYMBOLS_MAX
            && let Some(oldest) =
                requests.iter().min_by_key(|(_, waiting)| waiting.last_ns).map(|(request, _)| request.clone())
        {
            requests.remove(&oldest);
        }
        let waiting = requests.entry(request).or_insert(WaitingTraces { traces: 0, first_ns: now_ns, last_ns: now_ns });
        waiting.traces += 1;
        waiting.last_ns = waiting.last_ns.max(now_ns);
        state.changed.insert(project);
    }

    /// Removes a request whose file was found.
    pub fn found(&self, project: Uuid, request: &MissingFile) {
        let mut state = self.state.lock();
        let known = state.projects.get_mut(&project).and_then(|of_project| of_project.requests.remove(request));
        if known.is_some() {
            state.changed.insert(project);
        }
    }

    /// Missing files of a project, the latest request first.
    pub fn list(&self, project: Uuid) -> Vec<(MissingFile, WaitingTraces)> {
        let state = self.state.lock();
        let requests = state.projects.get(&project).map(|of_project| &of_project.requests);
        let mut list: Vec<_> =
            requests.into_iter().flatten().map(|(request, waiting)| (request.clone(), *waiting)).collect();
        list.sort_by_key(|(_, waiting)| std::cmp::Reverse(waiting.last_ns));
        list
    }

    /// Removes a deleted project and its file.
    pub fn forget(&self, project: Uuid) -> io::Result<()> {
        let mut state = self.state.lock();
        state.projects.remove(&project);
        state.changed.remove(&project);
        remove_if_exists(&self.path(project)).map(|_| ())
    }

    /// Writes the files of changed projects. Blocks.
    pub fn save(&self) -> io::Result<()> {
        let changed = std::mem::take(&mut self.state.lock().changed);
        let mut saved = Ok(());
        for project in changed {
            let text = self.state.lock().projects.get(&project).map(written);
            if let Some(text) = text
                && let Err(error) = text.and_then(|text| write_atomically(&self.path(project), &text))
            {
                self.state.lock().changed.insert(project);
                saved = Err(error);
            }
        }
        saved
    }

    fn path(&self, project: Uuid) -> PathBuf {
        self.folder.join(format!("{project}.json"))
    }
}

/// Whether [`Missing::open`] can read the file.
pub fn is_readable(path: &Path) -> bool {
    read(path).is_some()
}

fn read(path: &Path) -> Option<ProjectRequests> {
    let written: Written = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    let requests = written.waiting.iter().filter_map(|line| Some((line.request()?, line.waiting)));
    let requests = requests.take(limits::MISSING_SYMBOLS_MAX).collect();
    Some(ProjectRequests { requests, counted_ns: written.counted_ns, replayed_ns: written.counted_ns })
}

fn written(of_project: &ProjectRequests) -> io::Result<Vec<u8>> {
    let waiting = of_project.requests.iter().map(|(request, waiting)| Line::of(request, *waiting)).collect();
    serde_json::to_vec(&Written { counted_ns: of_project.counted_ns, waiting }).map_err(io::Error::other)
}

impl Line {
    fn of(file: &MissingFile, waiting: WaitingTraces) -> Line {
        let (kind, id, name) = match &file.request {
            ArtifactRequest::Native { id, arch } => (Kind::Native, Some(*id), arch.as_str()),
            ArtifactRequest::OnlyDart { arch } => (Kind::OnlyDart, None, arch.as_str()),
            ArtifactRequest::Mapping { id } => (Kind::Mapping, Some(*id), ""),
            ArtifactRequest::Script { debug_id, path } => (Kind::Script, *debug_id, path.as_str()),
        };
        Line { kind, id: id.map(|id| id.to_string()), name: name.to_owned(), version: file.version.clone(), waiting }
    }

    /// `None`: not a line that this version writes.
    fn request(&self) -> Option<MissingFile> {
        let id = self.id.as_deref().and_then(DebugId::parse);
        let arch = || Arch::parse(&self.name).unwrap_or(Arch::Unknown);
        let request = match self.kind {
            Kind::Native => ArtifactRequest::Native { id: id?, arch: arch() },
            Kind::OnlyDart => ArtifactRequest::OnlyDart { arch: arch() },
            Kind::Mapping => ArtifactRequest::Mapping { id: id? },
            Kind::Script => ArtifactRequest::Script { debug_id: id, path: self.name.clone() },
        };
        Some(MissingFile { request, version: self.version.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saved_requests_are_read_back_and_not_counted_twice() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let open = || Missing::open(folder.path().join("missing"));
        let (missing, project) = (open(), Uuid::from_u128(7));
        let id = DebugId::parse("4c4c44dd55553144a1e29109d2cd8082").expect("an id");
        let requests = [
            ArtifactRequest::Native { id, arch: Arch::Arm64 },
            ArtifactRequest::OnlyDart { arch: Arch::Unknown },
            ArtifactRequest::Mapping { id },
            ArtifactRequest::Script { debug_id: Some(id), path: "a/app.min.js".into() },
            ArtifactRequest::Script { debug_id: None, path: "vendor.js".into() },
        ]
        .map(|request| MissingFile::of(&request, &Release::of(Some("1.0"), None)));
        assert_eq!(
            requests.each_ref().map(|file| file.version.is_some()),
            [false, true, true, false, true],
            "an id identifies the build by itself"
        );
        for (at, request) in (1..).zip(&requests) {
            missing.add(project, request.clone(), at);
        }
        missing.add(project, requests[0].clone(), 9);
        missing.found(project, &requests[1]);
        missing.save().expect("the disk works");
        let again = open();
        assert_eq!(again.list(project), missing.list(project));
        assert_eq!(again.list(project)[0], (requests[0].clone(), WaitingTraces { traces: 2, first_ns: 1, last_ns: 9 }));
        // The journal is replayed, then a new trace comes.
        again.add(project, requests[0].clone(), 9);
        again.add(project, requests[0].clone(), 10);
        assert_eq!(again.list(project)[0].1, WaitingTraces { traces: 3, first_ns: 1, last_ns: 10 });
        again.forget(project).expect("the disk works");
        assert_eq!(open().list(project), []);
    }

    #[test]
    fn the_request_that_is_oldest_is_removed_first() {
        let missing = Missing::open(PathBuf::new());
        let script =
            |number: usize| MissingFile::from(ArtifactRequest::Script { debug_id: None, path: format!("{number}.js") });
        for number in 0..=limits::MISSING_SYMBOLS_MAX {
            missing.add(Uuid::nil(), script(number), number as i64 + 1);
        }
        let list = missing.list(Uuid::nil());
        assert_eq!(list.len(), limits::MISSING_SYMBOLS_MAX);
        assert!(list.iter().all(|(request, _)| *request != script(0)));
    }
}
