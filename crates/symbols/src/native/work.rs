//! The step counter that bounds conversions: every loop over outside data pays for its turns.

use crate::{
    SymbolError,
    error::Result,
    limits::{WORK_BASE, WORK_PER_BYTE},
};

pub(super) struct Work<'s> {
    left: u64,
    limit: u64,
    /// `stop` is asked again when fewer steps than this are left.
    ask_at: u64,
    stop: &'s dyn Fn() -> bool,
}

/// Steps between two questions to `stop`: about a millisecond.
const ASK_EVERY: u64 = 1 << 16;

impl<'s> Work<'s> {
    /// `stop`: whether the conversion is to end without a result.
    pub(super) fn for_file(len: usize, stop: &'s dyn Fn() -> bool) -> Self {
        let limit = WORK_BASE + WORK_PER_BYTE * len as u64;
        Self { left: limit, limit, ask_at: limit, stop }
    }

    #[inline]
    pub(super) fn pay(&mut self, steps: u64) -> Result<()> {
        match self.left.checked_sub(steps) {
            Some(left) => {
                self.left = left;
                if left <= self.ask_at { self.ask() } else { Ok(()) }
            }
            None => Err(SymbolError::TooLarge { what: "the work of reading the debug information", limit: self.limit }),
        }
    }

    #[cold]
    fn ask(&mut self) -> Result<()> {
        self.ask_at = self.left.saturating_sub(ASK_EVERY);
        if (self.stop)() { Err(SymbolError::Interrupted) } else { Ok(()) }
    }
}
