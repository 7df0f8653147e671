//! The step counter that bounds conversions: every iteration over uploaded data is charged.

use crate::{
    SymbolError,
    error::Result,
    limits::{WORK_BASE, WORK_PER_BYTE},
};

pub(super) struct Work<'s> {
    left: u64,
    limit: u64,
    /// `stop` is called again when at most this many steps are left.
    next_stop_check: u64,
    stop: &'s dyn Fn() -> bool,
}

/// Steps between two calls of `stop`: about a millisecond.
const STOP_CHECK_STEPS: u64 = 1 << 16;

impl<'s> Work<'s> {
    /// `stop` returns whether the conversion should end without a result.
    pub(super) fn for_file(len: usize, stop: &'s dyn Fn() -> bool) -> Self {
        let limit = WORK_BASE + WORK_PER_BYTE * len as u64;
        Self { left: limit, limit, next_stop_check: limit, stop }
    }

    #[inline]
    pub(super) fn pay(&mut self, steps: u64) -> Result<()> {
        match self.left.checked_sub(steps) {
            Some(left) => {
                self.left = left;
                if left <= self.next_stop_check { self.check_stop() } else { Ok(()) }
            }
            None => Err(SymbolError::TooLarge { what: "the work of reading the debug information", limit: self.limit }),
        }
    }

    #[cold]
    fn check_stop(&mut self) -> Result<()> {
        self.next_stop_check = self.left.saturating_sub(STOP_CHECK_STEPS);
        if (self.stop)() { Err(SymbolError::Interrupted) } else { Ok(()) }
    }
}
