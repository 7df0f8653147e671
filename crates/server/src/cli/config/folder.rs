//! The files of a folder.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use anyhow::{Context, ensure};
use tidewatch_alerts::config_files::Source;

/// The largest file.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Reads the files whose names end in `.yaml` or `.yml`, in the order of their names.
pub fn read(folder: &Path) -> anyhow::Result<Vec<Source>> {
    let cannot = || format!("cannot read {}", folder.display());
    let mut sources = Vec::new();
    for entry in fs::read_dir(folder).with_context(cannot)? {
        let path = entry.with_context(cannot)?.path();
        let is_yaml = path.extension().is_some_and(|end| end == "yaml" || end == "yml");
        if !is_yaml || !path.is_file() {
            continue;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let cannot = || format!("cannot read {}", path.display());
        let mut content = String::new();
        let file = File::open(&path).with_context(cannot)?;
        let read = file.take(FILE_BYTES_MAX + 1).read_to_string(&mut content).with_context(cannot)?;
        ensure!(read as u64 <= FILE_BYTES_MAX, "{} is larger than {} MiB", path.display(), FILE_BYTES_MAX >> 20);
        sources.push(Source { name, content });
    }
    sources.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(sources)
}

/// Writes a file of the folder, which is created if needed. Returns whether it had another content.
pub fn write(folder: &Path, file: &Source) -> anyhow::Result<bool> {
    let path = folder.join(&file.name);
    if fs::read(&path).is_ok_and(|content| content == file.content.as_bytes()) {
        return Ok(false);
    }
    let cannot = || format!("cannot write {}", path.display());
    fs::create_dir_all(folder).with_context(cannot)?;
    // A file of an interrupted export has the whole earlier content, or the whole new one.
    let temporary = folder.join(format!("{}.part", file.name));
    fs::write(&temporary, &file.content).with_context(cannot)?;
    fs::rename(&temporary, &path).with_context(cannot)?;
    Ok(true)
}
