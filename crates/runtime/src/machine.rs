//! The memory that this process may use: that of the machine, or the limit of its control groups.
//!
//! The smallest limit of the nested groups counts.

use std::fs;
use std::path::Path;

/// Assumed when neither can be read.
const UNKNOWN_BYTES: u64 = 2 << 30;

/// Returns the smallest of the machine's memory and the limits of the control groups of this process, bytes; 2 GiB if
/// neither can be read.
pub fn memory_bytes() -> u64 {
    memory_under(Path::new("/"))
}

fn memory_under(root: &Path) -> u64 {
    let read = |path: &str| fs::read_to_string(root.join(path)).ok();
    let machine = read("proc/meminfo").and_then(|text| total_of(&text));
    let groups = read("proc/self/cgroup").unwrap_or_default();
    let limits = groups.lines().filter_map(group_of).flat_map(|(folder, file, group)| {
        // The limit of a group applies to its descendants. In a container the mount shows the container's group as the
        // root.
        let ancestors = Path::new(group.trim_start_matches('/')).ancestors().map(Path::to_path_buf);
        ancestors.filter_map(move |group| limit_of(&read(Path::new(folder).join(group).join(file).to_str()?)?))
    });
    limits.chain(machine).min().unwrap_or(UNKNOWN_BYTES)
}

/// Parses the line `MemTotal:  16384000 kB`. Bytes.
fn total_of(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The mount point, the file name of the limit, and the group of a line of `/proc/self/cgroup`. Version 2 has one line
/// without controllers, version 1 one for the controller `memory`.
fn group_of(line: &str) -> Option<(&'static str, &'static str, &str)> {
    let mut fields = line.splitn(3, ':');
    let (_, controllers, group) = (fields.next()?, fields.next()?, fields.next()?);
    match controllers {
        "" => Some(("sys/fs/cgroup", "memory.max", group)),
        list if list.split(',').any(|name| name == "memory") => {
            Some(("sys/fs/cgroup/memory", "memory.limit_in_bytes", group))
        }
        _ => None,
    }
}

/// Parses a limit in bytes. `max` and numbers of 2^60 or more mean no limit.
fn limit_of(text: &str) -> Option<u64> {
    text.trim().parse::<u64>().ok().filter(|bytes| *bytes > 0 && *bytes < 1 << 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(files: &[(&str, &str)], expected: u64) {
        let root = tempfile::tempdir().expect("a temporary directory");
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        assert_eq!(memory_under(root.path()), expected, "{files:?}");
    }

    #[test]
    fn the_smallest_limit_applies() {
        const MACHINE: (&str, &str) = ("proc/meminfo", "MemFree: 1 kB\nMemTotal:       8388608 kB\n");
        let (gib, own) = (1 << 30, "proc/self/cgroup");
        check(&[], 2 * gib);
        check(&[MACHINE], 8 * gib);
        check(&[MACHINE, (own, "0::/\n"), ("sys/fs/cgroup/memory.max", "max\n")], 8 * gib);
        check(&[MACHINE, (own, "0::/\n"), ("sys/fs/cgroup/memory.max", "1073741824\n")], gib);
        check(
            &[
                MACHINE,
                (own, "0::/a/b\n"),
                ("sys/fs/cgroup/a/memory.max", "1073741824"),
                ("sys/fs/cgroup/a/b/memory.max", "max"),
            ],
            gib,
        );
        check(
            &[
                MACHINE,
                (own, "9:cpu,cpuacct:/x\n4:memory:/x\n"),
                ("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "2147483648\n"),
                ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
            ],
            2 * gib,
        );
    }
}
