//! The step counter that bounds conversions: every loop over outside data pays for its turns.

use crate::{
    SymbolError,
    error::Result,
    limits::{WORK_BASE, WORK_PER_BYTE},
};

pub(super) struct Work {
    left: u64,
    limit: u64,
}

impl Work {
    pub(super) fn for_file(len: usize) -> Self {
        let limit = WORK_BASE + WORK_PER_BYTE * len as u64;
        Self { left: limit, limit }
    }

    #[inline]
    pub(super) fn pay(&mut self, steps: u64) -> Result<()> {
        match self.left.checked_sub(steps) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(SymbolError::TooLarge { what: "the work of reading the debug information", limit: self.limit }),
        }
    }
}
