//! Checks of monitors by a browser: scripts for Playwright, in processes of their own. Decision 0017;
//! `docs/use/monitors.md`.
//!
//! - [`settings`]: what the operator chooses. [`installation`]: Node, Playwright and Chromium of this machine.
//! - [`checks`]: in the server; makes checks, bounded in number, either on this machine ([`local`]: a worker per check) or
//!   by a runner elsewhere ([`remote`]), which is [`crate::browser_runner`].
//! - [`job`]: what a worker or a runner receives and reports.
//! - [`worker`]: the worker process; starts Chromium and the process of the script, and connects both. [`devtools`]: what
//!   a script may send to the browser. [`output`]: what a script prints. [`proxy`]: the only way of the browser to a network. [`processes`]: memory and
//!   end of the processes of a check.
//! - [`sandbox`]: what a process gives up before it becomes Chromium or Node.
//!
//! Invariants: a script has no files, sockets or children; Chromium contacts only what the policy allows; no process
//! outlives its check or the server; a check that was not made is missed, not down.

pub mod checks;
pub mod devtools;
pub mod installation;
pub mod job;
pub mod local;
mod output;
mod processes;
mod proxy;
mod remote;
pub mod sandbox;
pub mod settings;
pub mod worker;
