//! Checks of monitors by a browser: scripts for Playwright, in processes of their own. Decision 0017; `docs/monitors.md`.
//!
//! - [`settings`]: what the operator chooses. [`installation`]: Node, Playwright and Chromium of this machine.
//! - [`job`]: what a worker receives and reports. [`checks`]: in the server; starts a worker per check, bounded in number
//!   and time.
//! - [`worker`]: the worker process; starts Chromium and the process of the script, and connects both. [`devtools`]: what
//!   a script may send to the browser. [`output`]: what a script prints. [`proxy`]: the only way of the browser to a network. [`processes`]: memory and
//!   end of the processes of a check.
//! - [`sandbox`]: what a process gives up before it becomes Chromium or Node.

pub mod checks;
pub mod devtools;
pub mod installation;
pub mod job;
mod output;
mod processes;
mod proxy;
pub mod sandbox;
pub mod settings;
pub mod worker;
