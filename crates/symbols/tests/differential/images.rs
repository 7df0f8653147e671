//! Compares every instruction of generated images with LLVM's symbolizer.

use std::path::{Path, PathBuf};
use std::process::Command;

use object::{Object, ObjectSection};
use serde::Deserialize;
use tidewatch_symbols::{Artifact, Native, Upload, convert_native, demangle, detect};

use crate::run;

/// A tool of LLVM, from the newest installed version that has all required tools.
fn tool(name: &str) -> PathBuf {
    let mut folders: Vec<PathBuf> = std::fs::read_dir("/usr/lib")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join("bin"))
        .filter(|bin| {
            ["clang", "ld64.lld", "ld.lld", "dsymutil", "llvm-symbolizer"].iter().all(|t| bin.join(t).exists())
        })
        .collect();
    folders.sort();
    folders.last().map_or_else(|| PathBuf::from(name), |bin| bin.join(name))
}

struct Built {
    folder: tempfile::TempDir,
    image: PathBuf,
}

/// Compiles each source separately and links them; for Mach-O dsymutil runs too, as in Xcode.
fn build(target: &str, flags: &[&str], link: impl Fn(&Path, &[PathBuf]) -> PathBuf) -> Built {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/differential/native");
    let mut objects = Vec::new();
    for source in ["engine.cpp", "plain.c"] {
        let object = folder.path().join(source).with_extension("o");
        let language: &[&str] =
            if source.ends_with("cpp") { &["-std=c++17", "-fno-exceptions", "-fno-rtti"] } else { &[] };
        run(Command::new(tool("clang"))
            .args(["-target", target, "-g", "-ffreestanding", "-fno-asynchronous-unwind-tables", "-c"])
            .args(flags)
            .args(language)
            .arg(sources.join(source))
            .arg("-o")
            .arg(&object));
        objects.push(object);
    }
    let image = link(folder.path(), &objects);
    Built { folder, image }
}

fn mach_o(arch: &'static str, flags: &[&str]) -> Built {
    build(&format!("{arch}-apple-macos11"), flags, |folder, objects| {
        let image = folder.join("Engine");
        run(Command::new(tool("ld64.lld"))
            .args([
                "-arch",
                arch,
                "-platform_version",
                "macos",
                "11.0",
                "12.0",
                "-undefined",
                "dynamic_lookup",
                "-dylib",
            ])
            .args(["-install_name", "@rpath/Engine", "-o"])
            .arg(&image)
            .args(objects));
        run(Command::new(tool("dsymutil")).arg(&image).arg("-o").arg(folder.join("Engine.dSYM")));
        folder.join("Engine.dSYM/Contents/Resources/DWARF/Engine")
    })
}

fn elf(target: &str, flags: &[&str]) -> Built {
    let flags: Vec<&str> = flags.iter().copied().chain(["-fPIC"]).collect();
    build(target, &flags, |folder, objects| {
        let image = folder.join("libengine.so");
        run(Command::new(tool("ld.lld")).args(["-shared", "--build-id=sha1", "-o"]).arg(&image).args(objects));
        image
    })
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Answer {
    address: String,
    #[serde(default)]
    symbol: Vec<Expected>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Expected {
    function_name: String,
    file_name: String,
    line: u32,
    column: u32,
}

impl Expected {
    fn is_nothing(&self) -> bool {
        self.function_name.is_empty() && self.file_name.is_empty() && self.line == 0
    }

    /// Whether only the symbol table or only the line table covers the address.
    fn is_bare(&self) -> bool {
        self.file_name.is_empty() || self.function_name.is_empty()
    }
}

fn llvm(image: &Path, addresses: &[u64], demangle: &str) -> Vec<Answer> {
    let output = run(Command::new(tool("llvm-symbolizer"))
        .arg(format!("--obj={}", image.display()))
        .args(["--output-style=JSON", "--inlines", demangle])
        .args(addresses.iter().map(|address| format!("{address:#x}"))));
    let answers: Vec<Answer> = serde_json::from_slice(&output).expect("JSON");
    assert_eq!(answers.len(), addresses.len());
    answers
}

/// Compares the inline chain of every instruction: function, file, line and column.
fn check(name: &str, built: &Built, step: usize) {
    let bytes = std::fs::read(&built.image).expect("it was built");
    let Ok(Upload::Native { slices, .. }) = detect(&bytes, None) else { panic!("{name}: not an image") };
    assert!(slices.len() == 1 && slices[0].has_debug_info, "{name}");
    let artifact = convert_native(&bytes, &slices[0]).expect(name);
    let artifact = Artifact::open(&artifact).and_then(Artifact::verify).expect(name);
    let native = Native::open(artifact).expect(name);
    let file = object::File::parse(&*bytes).expect(name);
    let code = file.sections().find(|s| matches!(s.name(), Ok("__text" | ".text"))).expect("code");
    let addresses: Vec<u64> = (code.address()..code.address() + code.size()).step_by(step).collect();
    let (linkage, readable) =
        (llvm(&built.image, &addresses, "--no-demangle"), llvm(&built.image, &addresses, "--demangle"));
    let (mut wrong, mut frames, mut inlined) = (0, 0, 0);
    for ((address, linkage), readable) in addresses.iter().zip(&linkage).zip(&readable) {
        assert_eq!(u64::from_str_radix(linkage.address.trim_start_matches("0x"), 16).ok(), Some(*address));
        let expected: Vec<(&Expected, &Expected)> =
            linkage.symbol.iter().zip(&readable.symbol).filter(|(frame, _)| !frame.is_nothing()).collect();
        let ours: Vec<_> = native.frames(address - artifact.base()).collect();
        let same = ours.len() == expected.len()
            && ours.iter().zip(&expected).all(|(frame, (linkage, readable))| {
                (frame.function() == readable.function_name || frame.function() == demangle(&linkage.function_name))
                    && frame.file() == linkage.file_name
                    && (frame.line, frame.column) == (linkage.line, linkage.column)
            });
        frames += ours.len();
        inlined += usize::from(ours.len() > 1);
        let tolerated = ours.is_empty() && expected.iter().any(|(frame, _)| frame.is_bare());
        if !same && !tolerated {
            wrong += 1;
            if wrong < 6 {
                let ours: Vec<_> = ours.iter().map(|f| (f.function(), f.file(), f.line, f.column)).collect();
                eprintln!("{name} {address:#x}\n  got      {ours:?}\n  expected {expected:?}");
            }
        }
    }
    eprintln!("{name}: {} addresses, {frames} frames, {inlined} with inlined calls", addresses.len());
    assert_eq!(wrong, 0, "{name}: {wrong} of {} addresses differ from LLVM's answer", addresses.len());
    assert!(addresses.len() > 50 && frames > 50, "{name}");
    assert!(built.folder.path().exists());
}

// DWARF 4, because dsymutil of LLVM 14 (Debian 12) loses the lines of DWARF 5. `fixtures/symbols` has Mach-O with
// DWARF 5 and results of LLVM 19.
#[test]
fn llvm_agrees_on_mach_o() {
    for (arch, step) in [("arm64", 4), ("x86_64", 1)] {
        for flags in [&["-O2", "-gdwarf-4"][..], &["-Os", "-gdwarf-4"], &["-O0", "-gdwarf-4"]] {
            check(&format!("Mach-O {arch} {flags:?}"), &mach_o(arch, flags), step);
        }
    }
}

#[test]
fn llvm_agrees_on_elf() {
    for (target, step) in [("x86_64-linux-gnu", 1), ("aarch64-linux-android21", 4), ("armv7a-linux-androideabi21", 2)] {
        for flags in [&["-O2", "-gdwarf-5"][..], &["-O1", "-gdwarf-4"], &["-O0", "-gdwarf-5"]] {
            check(&format!("ELF {target} {flags:?}"), &elf(target, flags), step);
        }
    }
}
