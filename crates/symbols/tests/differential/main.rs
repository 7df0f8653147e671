//! Our look-ups against those of others, on files made here: LLVM's symbolizer on Mach-O and ELF images, Mozilla's
//! `source-map` on bundles of esbuild, webpack and Vite. `scripts/setup.sh` installs LLVM; npm packages come as locked.

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
