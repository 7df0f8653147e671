//! Reads and writes of one open file.

use std::io;

use parking_lot::MutexGuard;

use super::SimDisk;
use super::fate::{Change, FileState, write};
use super::state::{State, due, eio};
use crate::disk::DiskFile;

/// Unit of unreadable ranges.
pub(super) const PAGE_BYTES: u64 = 4096;

/// An open file of a [`SimDisk`].
pub(super) struct SimFile {
    pub disk: SimDisk,
    pub id: usize,
}

impl SimFile {
    fn state(&self) -> io::Result<MutexGuard<'_, State>> {
        let state = self.disk.state.lock();
        state.alive()?;
        Ok(state)
    }
}

impl DiskFile for SimFile {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut state = self.state()?;
        let mut keep = bytes.len();
        let mut outcome = Ok(());
        let dies = state.changeable().is_err();
        if dies || due(&mut state.faults.write) {
            keep = state.random.below(bytes.len() as u64 + 1) as usize;
            outcome = Err(eio());
        }
        if let Some(capacity) = state.capacity {
            let length = state.files[self.id].live.len() as u64;
            let room = capacity.saturating_sub(state.used());
            let fits = (length + room).saturating_sub(offset).min(keep as u64) as usize;
            if fits < keep {
                keep = fits;
                outcome = Err(io::ErrorKind::StorageFull.into());
            }
        }
        let file = &mut state.files[self.id];
        write(&mut file.live, offset, &bytes[..keep]);
        file.pending.push(Change::Write { offset, bytes: bytes[..keep].to_vec() });
        outcome
    }

    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut state = self.state()?;
        if due(&mut state.faults.read) {
            return Err(eio());
        }
        let FileState { live, broken_pages, .. } = &state.files[self.id];
        let pages = offset / PAGE_BYTES..(offset + into.len() as u64).div_ceil(PAGE_BYTES);
        if broken_pages.range(pages).next().is_some() {
            return Err(eio());
        }
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(live.len());
        let read = into.len().min(live.len() - start);
        into[..read].copy_from_slice(&live[start..start + read]);
        Ok(read)
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut state = self.state()?;
        state.changeable()?;
        let failed = due(&mut state.faults.sync);
        let State { files, random, .. } = &mut *state;
        let file = &mut files[self.id];
        if failed {
            file.after_failed_sync(random);
            return Err(eio());
        }
        for change in std::mem::take(&mut file.pending) {
            change.apply(&mut file.durable);
        }
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.state()?.files[self.id].live.len() as u64)
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        let mut state = self.state()?;
        state.changeable()?;
        let file = &mut state.files[self.id];
        file.live.resize(bytes as usize, 0);
        file.pending.push(Change::SetLen(bytes));
        Ok(())
    }
}
