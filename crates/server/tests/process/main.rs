//! The real binary as its own process: killed at any moment, restarted, with data from real SDKs.

mod admin;
mod backup;
mod bench;
mod browser_checks;
mod browser_runner;
mod config_all;
mod config_files;
mod corpus_kill;
mod damaged;
mod deletion;
mod export;
mod full_disk;
mod kill;
mod log;
mod memory;
mod parquet_readers;
#[path = "../support/ports.rs"]
mod ports;
mod protocols;
mod refused;
mod sdk;
mod secrets;
mod server;
mod small_disk;
mod sso;
mod sso_browser;
mod sso_kinds;
mod symbols;
mod upgrade;
