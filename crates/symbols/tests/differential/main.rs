//! Differential tests on generated files: against LLVM's symbolizer for Mach-O and ELF images, and against Mozilla's
//! `source-map` for bundles of esbuild, webpack and Vite. `scripts/setup.sh` installs LLVM; npm packages are locked.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::allow_attributes,
    reason = "tests say what went wrong, and may fail"
)]

mod images;
mod source_maps;

use std::process::Command;

fn run(command: &mut Command) -> Vec<u8> {
    let output = command.output().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed: {text}\n{}", String::from_utf8_lossy(&output.stdout));
    output.stdout
}
