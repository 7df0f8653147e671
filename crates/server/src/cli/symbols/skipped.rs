//! Files of folders that an upload passes over.

use super::find::Refused;
use crate::cli::terminal::{counted, remark};

/// Number of skipped files to list.
const SKIPPED_SHOWN: usize = 50;

/// Prints skipped files of folders and why. Build folders may have thousands: some are listed, the rest is counted.
pub fn remark_skipped(files: &[Refused]) {
    for file in files.iter().take(SKIPPED_SHOWN) {
        remark(&format!("passed over: {}: {}", file.name, file.why));
    }
    if let Some(rest) = files.len().checked_sub(SKIPPED_SHOWN).filter(|rest| *rest > 0) {
        remark(&format!("passed over: {} more", counted(rest, "file")));
    }
}
