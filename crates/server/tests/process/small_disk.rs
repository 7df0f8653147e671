//! A file system of 48 MB for the data directory of a server under test.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A small file system in its own mount namespace, which exists as long as the process `holder`.
pub struct SmallDisk {
    holder: Child,
    mount: PathBuf,
}

impl SmallDisk {
    const SCRIPT: &str = "mount -t tmpfs -o size=48m tmpfs \"$0\" && head -c 16000000 /dev/zero > \"$0/ballast\" \
        && echo mounted && exec sleep 600";

    /// Returns `None` if this process may not mount.
    pub fn mount(at: &Path) -> Option<SmallDisk> {
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", SmallDisk::SCRIPT]).arg(at).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut holder = command.spawn().ok()?;
        let mut said = String::new();
        let out = holder.stdout.take().expect("a pipe");
        let read = std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut said);
        let disk = SmallDisk { holder, mount: at.to_owned() };
        (read.is_ok() && said == "mounted\n").then_some(disk)
    }

    /// The command that starts a program in the mount namespace, with standard error appended to `log` on that disk.
    pub fn entering(&self) -> Vec<String> {
        let log = self.mount.join("log").display().to_string();
        let holder = self.holder.id().to_string();
        let words = ["nsenter", "--target", &holder, "--mount", "sh", "-c", "exec \"$@\" 2>> \"$0\"", &log];
        words.map(str::to_owned).to_vec()
    }

    /// Writes a file with this name until the file system is full.
    pub fn fill(&self, name: &str) {
        let mut file = File::create(self.seen_from_outside(name)).expect("a file system that is there");
        while file.write(&[7; 512]).is_ok_and(|written| written > 0) {}
    }

    pub fn seen_from_outside(&self, name: &str) -> PathBuf {
        let root = PathBuf::from(format!("/proc/{}/root", self.holder.id()));
        root.join(self.mount.strip_prefix("/").expect("an absolute path")).join(name)
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        self.holder.kill().ok();
        self.holder.wait().ok();
    }
}
