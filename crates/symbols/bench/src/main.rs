//! Benchmark of symbolication, compared with the `addr2line` crate, SymCache (`--features symcache`) and LLVM's
//! symbolizer (if installed): `cargo run --release --manifest-path crates/symbols/bench/Cargo.toml [--features symcache]`.
//!
//! The inputs are `fixtures/symbols/rust/RustBig.arm64.dwarf` (19.6 MB, 4.2 frames per address on average) and the source
//! map `js/huge` (14.5 MB, 702,937 segments). Results are the best of several rounds on one thread.

use std::{
    fmt::Write as _,
    hint::black_box,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

use tidewatch_symbols::{
    Artifact, ArtifactSet, Hints, Native, Script, Trace, Upload, convert_native, convert_source_map, detect, source_hash,
};

/// Look-ups per round.
const LOOKUPS: usize = 200_000;

fn fixture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/symbols").join(name);
    zstd::decode_all(&*std::fs::read(path).expect("a fixture")).expect("valid zstd")
}

/// The shortest of `rounds` runs, in nanoseconds.
fn best(rounds: usize, mut run: impl FnMut()) -> f64 {
    let round = || {
        let start = Instant::now();
        run();
        start.elapsed().as_nanos() as f64
    };
    std::iter::repeat_with(round).take(rounds).fold(f64::INFINITY, f64::min)
}

/// A deterministic random number generator.
fn random(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut random = fastrand::Rng::with_seed(seed);
    move |below| random.u64(..below)
}

/// Peak resident bytes of a child that converts a file.
fn peak_of_child(path: &Path) -> Option<u64> {
    let output = Command::new(std::env::current_exe().ok()?).arg("peak").arg(path).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmHWM:")).unwrap_or_default();
    line.split_ascii_whitespace().nth(1).and_then(|k| k.parse::<u64>().ok()).unwrap_or(0) * 1024
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, mode, path] = &arguments[..]
        && mode == "peak"
    {
        let before = peak();
        let bytes = std::fs::read(path).expect("the file of the parent");
        let Ok(Upload::Native { slices, .. }) = detect(&bytes, None) else { return };
        black_box(convert_native(&bytes, &slices[0]).expect("it converts"));
        println!("{}", peak() - before);
        return;
    }
    println!("| {:<58} | {:>10} | {:<27} |", "symbol files", "measured", "wanted, or beside ours");
    println!("|{}|{}:|{}|", "-".repeat(60), "-".repeat(11), "-".repeat(29));
    native();
    script();
}

/// A row of the table.
fn report(what: &str, value: String, goal: &str) {
    println!("| {what:<58} | {value:>10} | {goal:<27} |");
}

fn native() {
    let bytes = fixture("rust/RustBig.arm64.dwarf.zst");
    let megabytes = bytes.len() as f64 / 1e6;
    let Ok(Upload::Native { slices, .. }) = detect(&bytes, None) else { panic!("not a Mach-O") };
    let artifact = convert_native(&bytes, &slices[0]).expect("it converts");
    let build = best(3, || {
        black_box(convert_native(&bytes, &slices[0]).expect("it converts"));
    });
    report(
        "artifact of the dSYM",
        format!("{:.1} %", artifact.len() as f64 * 100.0 / bytes.len() as f64),
        "at most 30 %",
    );
    report("build", format!("{:.0} MB/s", megabytes / (build / 1e9)), "at least 40 MB/s");
    let path: PathBuf = std::env::temp_dir().join(format!("tidewatch-symbols-bench-{}", std::process::id()));
    std::fs::write(&path, &bytes).expect("a temporary file");
    if let Some(peak) = peak_of_child(&path) {
        report(
            "peak memory of a build, the file included",
            format!("{:.1} x", peak as f64 / bytes.len() as f64),
            "at most 3 x",
        );
    }
    let open = best(100, || {
        black_box(Native::open(Artifact::open(black_box(&artifact)).expect("just written")));
    });
    report("open an artifact", format!("{:.2} us", open / 1e3), "at most 20 us");
    let verify = best(5, || {
        black_box(Artifact::open(&artifact).and_then(Artifact::verify).expect("just written"));
    });
    report("checksum", format!("{:.1} GB/s", artifact.len() as f64 / verify), "at least 2 GB/s");
    black_box(source_hash(&bytes));

    let native = Native::open(Artifact::open(&artifact).expect("just written")).expect("native");
    let mut next = random(7);
    let addresses: Vec<u64> = std::iter::repeat_with(|| 0x4000 + next(0xbd230 / 4) * 4)
        .filter(|a| native.frames(*a).next().is_some())
        .take(LOOKUPS)
        .collect();
    let frames: usize = addresses.iter().map(|a| native.frames(*a).count()).sum();
    let with_names = best(5, || {
        let mut bytes = 0;
        for address in &addresses {
            for frame in native.frames(*address) {
                bytes += frame.function().len() + frame.file().len() + frame.line as usize + frame.column as usize;
            }
        }
        black_box(bytes);
    }) / LOOKUPS as f64;
    let average = frames as f64 / LOOKUPS as f64;
    let ours = best(5, || {
        let mut total = 0;
        for address in &addresses {
            total += native.frames(*address).map(|f| f.line as usize + f.column as usize).sum::<usize>();
        }
        black_box(total);
    }) / LOOKUPS as f64;
    report(&format!("look-up, {average:.1} frames on average"), format!("{ours:.0} ns"), "at most 250 ns");
    report("the same, reading all names as text", format!("{with_names:.0} ns"), "");
    let four: Vec<u64> = addresses.iter().copied().filter(|a| native.frames(*a).count() == 4).collect();
    let chain = best(5, || {
        for address in &four {
            native.frames(*address).for_each(|frame| {
                black_box(frame);
            });
        }
    }) / four.len() as f64;
    report("look-up with a chain of 4 frames", format!("{chain:.0} ns"), "at most 250 ns");

    let their = with_addr2line(&bytes, &addresses);
    report("addr2line, warm", format!("{their:.0} ns"), &format!("{:.1} x ours", their / ours));
    #[cfg(feature = "symcache")]
    {
        let (places, names) = with_symcache(&bytes, &addresses);
        let beside = format!("{:.1} x ours, at least 3 x", places / ours);
        report("symbolic-symcache (no columns)", format!("{places:.0} ns"), &beside);
        let beside = format!("{:.1} x ours", names / with_names);
        report("the same, reading all names as text", format!("{names:.0} ns"), &beside);
    }
    if let Some(their) = with_llvm(&path, &addresses[..20_000]) {
        report("llvm-symbolizer", format!("{their:.0} ns"), &format!("{:.0} x ours", their / ours));
    }
    let _ = std::fs::remove_file(&path);

    let id = slices[0].id.expect("a Mach-O has one");
    let mut text = format!("Fatal Signal SIGSEGV (11)\n{}\nos: ios arch: arm64", ["***"; 16].join(" "));
    for (number, address) in addresses[..50].iter().enumerate() {
        let _ = write!(text, "\n#{number:02} {id} 0x{address:x} RustBig");
    }
    let mut artifacts = ArtifactSet::new();
    artifacts.add_native(id, Artifact::open(&artifact).expect("just written"));
    let trace = best(200, || {
        black_box(Trace::read(&text, &Hints::default()).expect("recognized").resolve(&artifacts));
    });
    let lines = Trace::read(&text, &Hints::default()).expect("recognized").resolve(&artifacts).text.lines().count();
    report(
        &format!("an iOS trace of 50 frames ({lines} lines out)"),
        format!("{:.1} us", trace / 1e3),
        "at most 50 us",
    );
}

fn with_addr2line(bytes: &[u8], addresses: &[u64]) -> f64 {
    use object::{Object as _, ObjectSection as _};
    let file = object::File::parse(bytes).expect("Mach-O");
    let load = |id: gimli::SectionId| -> Result<_, gimli::Error> {
        let data = file.section_by_name(id.name()).and_then(|s| s.data().ok()).unwrap_or_default();
        Ok(gimli::EndianSlice::new(data, gimli::LittleEndian))
    };
    let context = addr2line::Context::from_dwarf(gimli::Dwarf::load(load).expect("DWARF")).expect("DWARF");
    let look_up = || {
        let mut total = 0;
        for address in addresses {
            let Ok(mut frames) = context.find_frames(*address).skip_all_loads() else { continue };
            while let Ok(Some(frame)) = frames.next() {
                total += frame.location.map_or(0, |l| l.line.unwrap_or(0) as usize);
            }
        }
        black_box(total);
    };
    look_up();
    best(3, look_up) / addresses.len() as f64
}

/// Nanoseconds per address: only lines, and with the names of functions and files.
#[cfg(feature = "symcache")]
fn with_symcache(bytes: &[u8], addresses: &[u64]) -> (f64, f64) {
    use symbolic_symcache::{SymCache, SymCacheConverter};
    let object = symbolic_debuginfo::Object::parse(bytes).expect("Mach-O");
    let mut cache = Vec::new();
    let build = best(1, || {
        cache.clear();
        let mut converter = SymCacheConverter::new();
        converter.process_object(&object).expect("it converts");
        converter.serialize(&mut cache).expect("it is written");
    });
    report(
        "symbolic-symcache: size, build",
        format!("{:.1} %", cache.len() as f64 * 100.0 / bytes.len() as f64),
        &format!("{:.0} MB/s", bytes.len() as f64 / 1e6 / (build / 1e9)),
    );
    let cache = SymCache::parse(&cache).expect("just written");
    let places = best(3, || {
        let mut total = 0;
        for address in addresses {
            total += cache.lookup(*address).map(|l| l.line() as usize).sum::<usize>();
        }
        black_box(total);
    });
    let names = best(3, || {
        let mut total = 0;
        for address in addresses {
            for place in cache.lookup(*address) {
                let file = place.file().map_or(0, |file| file.full_path().len());
                total += place.function().name().len() + file + place.line() as usize;
            }
        }
        black_box(total);
    });
    (places / addresses.len() as f64, names / addresses.len() as f64)
}

fn with_llvm(path: &Path, addresses: &[u64]) -> Option<f64> {
    use std::io::Write as _;
    let run = |addresses: &[u64]| {
        let start = Instant::now();
        let mut child = Command::new("llvm-symbolizer")
            .arg(format!("--obj={}", path.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .ok()?;
        let input: String = addresses.iter().fold(String::new(), |mut text, a| {
            let _ = writeln!(text, "0x{a:x}");
            text
        });
        child.stdin.take()?.write_all(input.as_bytes()).ok()?;
        child.wait().ok()?;
        Some(start.elapsed().as_nanos() as f64)
    };
    // Excludes start-up and indexing.
    let start = run(&addresses[..1])?;
    Some((run(addresses)? - start) / addresses.len() as f64)
}

fn script() {
    let map = fixture("js/huge/app.min.js.map.zst");
    let build = best(3, || {
        black_box(convert_source_map(&map, None, None).expect("it converts"));
    });
    report("source map of 14.5 MB, 702,937 segments: build", format!("{:.0} ms", build / 1e6), "at most 300 ms");
    let artifact = convert_source_map(&map, None, None).expect("it converts");
    let script = Script::open(Artifact::open(&artifact).expect("just written")).expect("a script");
    let mut next = random(11);
    let positions: Vec<(u32, u32)> = std::iter::repeat_with(|| (next(3000) as u32 + 1, next(3_600_000) as u32))
        .filter(|(l, c)| script.place(*l, *c).is_some())
        .take(LOOKUPS)
        .collect();
    let look_up = best(5, || {
        let mut total = 0;
        for (line, column) in &positions {
            total += script
                .place(*line, *column)
                .map_or(0, |p| p.source_number as usize + p.line as usize + p.column as usize);
        }
        black_box(total);
    }) / LOOKUPS as f64;
    report("source map: look-up", format!("{look_up:.0} ns"), "at most 150 ns");
}
