//! Limits of checks by a browser.

use std::time::Duration;

use crate::units::{KB, MIB, seconds};

/// Bytes of the script of a check by a browser. WIRE 6.
pub const BROWSER_SCRIPT_BYTES_MAX: usize = 100 * KB;
/// Bytes of the configuration of such a monitor, as JSON.
pub const BROWSER_CONFIG_BYTES_MAX: usize = 256 * KB;
/// Bytes of such a check for a browser runner, as JSON.
pub const BROWSER_JOB_BYTES_MAX: usize = 2 * BROWSER_CONFIG_BYTES_MAX;
/// Variables of a script.
pub const BROWSER_ENV_MAX: usize = 50;
/// Bytes of the name of a variable, and of its value.
pub const BROWSER_ENV_BYTES_MAX: (usize, usize) = (64, 4 * KB);
/// Checks by a browser that run at the same time.
pub const BROWSER_CHECKS_CONCURRENT: usize = 2;
/// Memory of the processes of a check together, bytes.
pub const BROWSER_MEMORY_BYTES_MAX: u64 = 1 << 30;
/// Pause between two looks at their memory.
pub const BROWSER_MEMORY_PAUSE: Duration = Duration::from_millis(200);
/// Objects of a script, mebibytes.
pub const BROWSER_SCRIPT_HEAP_MIB: u64 = 256;
/// Size of a file that a browser writes.
pub const BROWSER_FILE_BYTES_MAX: u64 = 64 << 20;
/// Files that a process of a check has open.
pub const BROWSER_OPEN_FILES_MAX: u64 = 4096;
/// Open connections of a browser runner.
pub const BROWSER_RUNNER_CONNECTIONS_MAX: usize = 100;
/// Connections of a browser.
pub const BROWSER_CONNECTIONS_MAX: usize = 128;
/// Size of a message of a script for its browser, which is parsed.
pub const BROWSER_REQUEST_BYTES_MAX: usize = 8 * MIB;
/// Size of a message of a browser for a script.
pub const BROWSER_MESSAGE_BYTES_MAX: usize = 32 * MIB;
/// Bytes of what a script prints.
pub const BROWSER_OUTPUT_BYTES_MAX: usize = 4 * KB;
/// The niceness of the processes of a check.
pub const BROWSER_NICE: i32 = 10;
/// Time after its limit in which a worker ends its processes and reports.
pub const BROWSER_GRACE: Duration = seconds(10);
