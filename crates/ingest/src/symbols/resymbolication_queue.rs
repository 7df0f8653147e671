//! The queue of projects whose stored raw stack traces are to be resolved again. Durable: one empty file per project.
//!
//! A project is marked before its upload is acknowledged. The mark is removed once every trace stored before was
//! processed. So an upload is applied to stored traces even if the server ends in between.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::PathBuf;

use parking_lot::Mutex;
use tokio::sync::Notify;
use uuid::Uuid;

use super::disk::{if_exists, remove_if_exists, write_atomically};

/// Projects to process, by id.
pub struct ResymbolicationQueue {
    folder: PathBuf,
    state: Mutex<State>,
    added: Notify,
}

#[derive(Default)]
struct State {
    /// Queued projects.
    projects: HashSet<Uuid>,
    /// Marks on disk. The number increases with each mark of the project.
    marks: HashMap<Uuid, u64>,
}

/// A project taken from the queue, with its mark at that time.
#[derive(Debug, Clone, Copy)]
pub struct QueuedProject {
    /// The project's id.
    pub project: Uuid,
    mark: Option<u64>,
}

impl ResymbolicationQueue {
    /// Opens the queue, with the projects that an earlier process did not finish.
    pub fn open(folder: PathBuf) -> io::Result<ResymbolicationQueue> {
        let mut state = State::default();
        for entry in if_exists(fs::read_dir(&folder))?.into_iter().flatten() {
            let name = entry?.file_name();
            if let Some(project) = name.to_str().and_then(|name| Uuid::parse_str(name).ok()) {
                state.projects.insert(project);
                state.marks.insert(project, 0);
            }
        }
        let added = Notify::new();
        if !state.projects.is_empty() {
            added.notify_one();
        }
        Ok(ResymbolicationQueue { folder, state: Mutex::new(state), added })
    }

    /// Queues a project in memory; [`ResymbolicationQueue::save`] makes it durable.
    pub fn add(&self, project: Uuid) {
        self.state.lock().projects.insert(project);
        self.added.notify_one();
    }

    /// Marks a project durably. It is processed only after [`ResymbolicationQueue::add`]. Blocks.
    pub fn mark(&self, project: Uuid) -> io::Result<()> {
        let mut state = self.state.lock();
        match state.marks.get_mut(&project) {
            Some(mark) => *mark += 1,
            None => {
                write_atomically(&self.folder.join(project.to_string()), &[])?;
                state.marks.insert(project, 1);
            }
        }
        Ok(())
    }

    /// Marks all queued projects. Blocks.
    pub fn save(&self) -> io::Result<()> {
        let added: Vec<Uuid> = self.state.lock().projects.iter().copied().collect();
        added.into_iter().try_for_each(|project| self.mark(project))
    }

    /// Waits until a project is added.
    pub async fn added(&self) {
        self.added.notified().await;
    }

    /// Queued projects.
    pub fn projects(&self) -> Vec<Uuid> {
        self.state.lock().projects.iter().copied().collect()
    }

    /// Takes all queued projects; the queue is empty afterwards.
    pub fn take(&self) -> Vec<QueuedProject> {
        let mut state = self.state.lock();
        let projects = std::mem::take(&mut state.projects);
        projects
            .into_iter()
            .map(|project| QueuedProject { project, mark: state.marks.get(&project).copied() })
            .collect()
    }

    /// Removes the mark of a processed project, unless the project was queued or marked again meanwhile. Blocks.
    pub fn done(&self, queued: QueuedProject) -> io::Result<()> {
        let mut state = self.state.lock();
        if state.projects.contains(&queued.project) || state.marks.get(&queued.project).copied() != queued.mark {
            return Ok(());
        }
        state.marks.remove(&queued.project);
        remove_if_exists(&self.folder.join(queued.project.to_string())).map(|_| ())
    }

    /// Removes a deleted project. Blocks.
    pub fn forget(&self, project: Uuid) -> io::Result<()> {
        let mut state = self.state.lock();
        state.projects.remove(&project);
        state.marks.remove(&project);
        remove_if_exists(&self.folder.join(project.to_string())).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unprocessed_projects_are_queued_after_a_restart() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let open = || ResymbolicationQueue::open(folder.path().join("again")).expect("the disk works");
        let (one, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let waiting = open();
        waiting.mark(one).expect("the disk works");
        waiting.add(other);
        waiting.save().expect("the disk works");
        let mut known = open().projects();
        known.sort();
        assert_eq!(known, [one, other]);
        // Both are processed, but one was marked again meanwhile.
        let waiting = open();
        let turns = waiting.take();
        waiting.mark(one).expect("the disk works");
        turns.into_iter().try_for_each(|queued| waiting.done(queued)).expect("the disk works");
        assert_eq!(waiting.projects(), Vec::<Uuid>::new());
        assert_eq!(open().projects(), [one]);
        waiting.forget(one).expect("the disk works");
        assert_eq!(open().projects(), Vec::<Uuid>::new());
    }
}
