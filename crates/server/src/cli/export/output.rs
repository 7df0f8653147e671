//! The file that an export is written to.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;

/// A file under a temporary name until it is complete, or standard output.
pub struct Output {
    writer: Box<dyn Write>,
    file: Option<PendingFile>,
    bytes: u64,
}

/// A temporary file, removed on drop unless it was renamed.
struct PendingFile {
    file: Arc<File>,
    temporary: PathBuf,
    path: PathBuf,
    is_whole: bool,
}

impl Output {
    /// Creates the temporary file. `None`: standard output.
    pub fn create(path: Option<&Path>) -> anyhow::Result<Output> {
        let Some(path) = path else {
            return Ok(Output { writer: Box::new(io::stdout().lock()), file: None, bytes: 0 });
        };
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(".part");
        let temporary = PathBuf::from(temporary);
        let cannot = || format!("cannot create {}", temporary.display());
        let file = Arc::new(File::create(&temporary).with_context(cannot)?);
        let pending = PendingFile { file, temporary: temporary.clone(), path: path.to_path_buf(), is_whole: false };
        let writer = Box::new(BufWriter::new(Arc::clone(&pending.file)));
        Ok(Output { writer, file: Some(pending), bytes: 0 })
    }

    /// Appends bytes.
    pub fn write(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.bytes += bytes.len() as u64;
        let written = self.writer.write_all(bytes);
        written.with_context(|| self.cannot_write())
    }

    /// Syncs the file and renames it to its final name. Returns its size in bytes.
    pub fn finish(mut self) -> anyhow::Result<u64> {
        let flushed = self.writer.flush();
        flushed.with_context(|| self.cannot_write())?;
        if let Some(pending) = &mut self.file {
            let cannot = || format!("cannot write {}", pending.path.display());
            pending.file.sync_all().with_context(cannot)?;
            std::fs::rename(&pending.temporary, &pending.path).with_context(cannot)?;
            pending.is_whole = true;
        }
        Ok(self.bytes)
    }

    fn cannot_write(&self) -> String {
        match &self.file {
            Some(pending) => format!("cannot write {}; nothing of it was kept", pending.path.display()),
            None => "cannot write to standard output".to_owned(),
        }
    }
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        if !self.is_whole {
            let _ = std::fs::remove_file(&self.temporary);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_gets_its_final_name_when_it_is_complete() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("spans.csv");
        let names = || std::fs::read_dir(folder.path()).expect("a folder").count();
        std::fs::write(&path, "of yesterday").expect("a file");
        let mut output = Output::create(Some(&path)).expect("a file");
        output.write(b"half").expect("space");
        drop(output);
        assert_eq!((std::fs::read(&path).expect("it stays"), names()), (b"of yesterday".to_vec(), 1));

        let mut output = Output::create(Some(&path)).expect("a file");
        output.write(b"who").expect("space");
        output.write(b"le").expect("space");
        assert_eq!(output.finish().expect("space"), 5);
        assert_eq!((std::fs::read(&path).expect("it is there"), names()), (b"whole".to_vec(), 1));
    }

    #[test]
    fn a_full_disk_leaves_no_file() {
        // Writes to this device fail for lack of space.
        let error = File::options().write(true).open("/dev/full").map(|full| {
            let full = Arc::new(full);
            let folder = tempfile::tempdir().expect("a temporary folder");
            let temporary = folder.path().join("spans.csv.part");
            std::fs::write(&temporary, "").expect("a file");
            let pending = PendingFile {
                file: Arc::clone(&full),
                temporary: temporary.clone(),
                path: folder.path().join("spans.csv"),
                is_whole: false,
            };
            let mut output = Output { writer: Box::new(full), file: Some(pending), bytes: 0 };
            let error = output.write(b"half").expect_err("there is no space");
            drop(output);
            assert!(!temporary.exists());
            format!("{error:#}")
        });
        let error = error.expect("Linux has such a device");
        assert!(error.contains("spans.csv; nothing of it was kept") && error.contains("No space left"), "{error}");
    }
}
