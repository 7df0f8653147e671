//! The projects whose stack traces are to be resolved again. Durable: one empty file a project.
//!
//! A project is marked before its upload is acknowledged, and its mark goes when everything stored until then was looked
//! at. So an upload is applied to what is stored, whenever the server ends.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::PathBuf;

use parking_lot::Mutex;
use tokio::sync::Notify;
use uuid::Uuid;

use super::disk::{if_there, remove_if_there, write_whole};

pub struct Waiting {
    folder: PathBuf,
    state: Mutex<State>,
    added: Notify,
}

#[derive(Default)]
struct State {
    /// To be looked at.
    projects: HashSet<Uuid>,
    /// On disk. The number grows with each mark.
    marks: HashMap<Uuid, u64>,
}

/// A project whose turn it is, with its mark as it was then.
#[derive(Debug, Clone, Copy)]
pub struct Turn {
    pub project: Uuid,
    mark: Option<u64>,
}

impl Waiting {
    /// With what a server that ended had not got to.
    pub fn open(folder: PathBuf) -> io::Result<Waiting> {
        let mut state = State::default();
        for entry in if_there(fs::read_dir(&folder))?.into_iter().flatten() {
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
        Ok(Waiting { folder, state: Mutex::new(state), added })
    }

    /// In memory; [`Waiting::save`] makes it durable.
    pub fn add(&self, project: Uuid) {
        self.state.lock().projects.insert(project);
        self.added.notify_one();
    }

    /// Durable when it returns. The project is looked at once it is added too. Blocks.
    pub fn mark(&self, project: Uuid) -> io::Result<()> {
        let mut state = self.state.lock();
        match state.marks.get_mut(&project) {
            Some(mark) => *mark += 1,
            None => {
                write_whole(&self.folder.join(project.to_string()), &[])?;
                state.marks.insert(project, 1);
            }
        }
        Ok(())
    }

    /// Marks what was added. Blocks.
    pub fn save(&self) -> io::Result<()> {
        let added: Vec<Uuid> = self.state.lock().projects.iter().copied().collect();
        added.into_iter().try_for_each(|project| self.mark(project))
    }

    /// Until something is added.
    pub async fn added(&self) {
        self.added.notified().await;
    }

    pub fn projects(&self) -> Vec<Uuid> {
        self.state.lock().projects.iter().copied().collect()
    }

    /// Everything that waits: nothing does from then on.
    pub fn take(&self) -> Vec<Turn> {
        let mut state = self.state.lock();
        let projects = std::mem::take(&mut state.projects);
        projects.into_iter().map(|project| Turn { project, mark: state.marks.get(&project).copied() }).collect()
    }

    /// What had waited was looked at. The mark stays if the project was marked again meanwhile. Blocks.
    pub fn done(&self, turn: Turn) -> io::Result<()> {
        let mut state = self.state.lock();
        if state.projects.contains(&turn.project) || state.marks.get(&turn.project).copied() != turn.mark {
            return Ok(());
        }
        state.marks.remove(&turn.project);
        remove_if_there(&self.folder.join(turn.project.to_string())).map(|_| ())
    }

    /// Of a project that is no more. Blocks.
    pub fn forget(&self, project: Uuid) -> io::Result<()> {
        let mut state = self.state.lock();
        state.projects.remove(&project);
        state.marks.remove(&project);
        remove_if_there(&self.folder.join(project.to_string())).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_looked_at_waits_after_a_restart() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let open = || Waiting::open(folder.path().join("again")).expect("the disk works");
        let (one, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let waiting = open();
        waiting.mark(one).expect("the disk works");
        waiting.add(other);
        waiting.save().expect("the disk works");
        let mut known = open().projects();
        known.sort();
        assert_eq!(known, [one, other]);
        // Looked at, but for one that was marked again meanwhile.
        let waiting = open();
        let turns = waiting.take();
        waiting.mark(one).expect("the disk works");
        turns.into_iter().try_for_each(|turn| waiting.done(turn)).expect("the disk works");
        assert_eq!(waiting.projects(), Vec::<Uuid>::new());
        assert_eq!(open().projects(), [one]);
        waiting.forget(one).expect("the disk works");
        assert_eq!(open().projects(), Vec::<Uuid>::new());
    }
}
