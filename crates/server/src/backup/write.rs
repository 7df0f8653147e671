//! Writes a backup. Parts are hard links where the file system supports them, because parts never change.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use tidewatch_journal::DurableSegment;
use tidewatch_lake::check::{ListedFile, listed_files};

use super::source::Source;
use crate::backup::manifest::{self, Entry, Manifest};
use tidewatch_ingest::symbols::check::is_upload;
use tidewatch_ingest::symbols::info::Info;
use tidewatch_runtime::files::copy_hashed;

const CATALOG: &str = "catalog.sqlite";
/// Attempts to copy a file that may be renamed or replaced in between.
const TRIES: usize = 3;

/// Writes a backup to `target`: an absolute path that does not exist or is an empty directory. Returns its manifest.
/// Blocks.
pub fn write(
    source: &dyn Source,
    data: &Path,
    target: &Path,
    with_secrets: bool,
    made_ns: i64,
) -> anyhow::Result<Manifest> {
    make_empty(data, target)?;
    let mut copy = Copy { data, target, parts: HashMap::new(), others: Vec::new() };
    // Most parts are copied before the journal is pinned, to limit its growth meanwhile.
    {
        let _files = source.hold_files();
        copy.listed_parts(source)?;
    }
    copy.copy_tree(Path::new("blobs"))?;
    copy.copy_torn_uploads_again()?;
    copy.copy_if_exists(Path::new("ai-prices.json"))?;
    // Tables that journal records were priced with.
    copy.copy_tree(Path::new("ai-prices"))?;
    if with_secrets {
        copy.copy_tree(Path::new("secrets"))?;
    }
    let control_database = copy.control(source)?;

    let _journal = source.hold_journal();
    let _files = source.hold_files();
    copy.listed_parts(source)?;
    for segment in source.segments()? {
        copy.segment(&segment)?;
    }
    copy.catalog()?;

    let mut files: Vec<Entry> = copy.parts.into_values().chain(copy.others).collect();
    files.sort_by(|one, other| one.path.cmp(&other.path));
    sync_folders(target)?;
    let manifest = Manifest::new(made_ns, with_secrets, control_database, files);
    manifest.write(target)?;
    Ok(manifest)
}

struct Copy<'a> {
    data: &'a Path,
    target: &'a Path,
    /// Parts and key files, by path relative to the data directory.
    parts: HashMap<PathBuf, Entry>,
    others: Vec<Entry>,
}

impl Copy<'_> {
    /// Copies the catalog and every listed file that is not copied yet, and removes copies of files that are not listed
    /// any longer.
    fn listed_parts(&mut self, source: &dyn Source) -> anyhow::Result<()> {
        let catalog = self.target.join(CATALOG);
        if catalog.exists() {
            fs::remove_file(&catalog).with_context(|| format!("cannot replace {}", catalog.display()))?;
        }
        source.copy_catalog(&catalog).context("cannot copy the catalog")?;
        let listed = listed_files(&catalog).context("cannot read the copy of the catalog")?;
        for file in &listed {
            if !self.parts.contains_key(&file.path) {
                let entry = self.part(file)?;
                self.parts.insert(file.path.clone(), entry);
            }
        }
        let unlisted: Vec<PathBuf> =
            self.parts.keys().filter(|path| !listed.iter().any(|file| file.path == **path)).cloned().collect();
        for path in unlisted {
            let place = self.target.join(&path);
            fs::remove_file(&place).with_context(|| format!("cannot remove {}", place.display()))?;
            self.parts.remove(&path);
        }
        Ok(())
    }

    fn part(&self, file: &ListedFile) -> anyhow::Result<Entry> {
        let names = [&file.path, &file.temporary];
        for name in names.into_iter().cycle().take(2 * TRIES) {
            match self.link_or_copy(name, &file.path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                done => return done.with_context(|| format!("cannot copy {}", self.data.join(name).display())),
            }
        }
        bail!(
            "{} is listed, but missing; see docs/operate/operations.md, Missing part",
            self.data.join(&file.path).display()
        )
    }

    fn link_or_copy(&self, from: &Path, to: &Path) -> io::Result<Entry> {
        let (source, place) = (self.data.join(from), self.target.join(to));
        make_parent(&place)?;
        if fs::hard_link(&source, &place).is_ok() {
            return Entry::of(to, File::open(&place)?);
        }
        copy_bytes(&source, &place, to, u64::MAX)
    }

    /// Copies every file below a folder of the data directory. Files that are removed meanwhile are skipped.
    fn copy_tree(&mut self, folder: &Path) -> anyhow::Result<()> {
        let mut folders = vec![folder.to_path_buf()];
        while let Some(folder) = folders.pop() {
            let path = self.data.join(&folder);
            let entries = match fs::read_dir(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                entries => entries.with_context(|| format!("cannot list {}", path.display()))?,
            };
            for entry in entries {
                let entry = entry.with_context(|| format!("cannot list {}", path.display()))?;
                let name = folder.join(entry.file_name());
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders.push(name),
                    // A hidden file is a temporary one, not yet renamed.
                    Ok(kind) if kind.is_file() && !is_hidden(&name) => self.copy_if_exists(&name)?,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Copies uploads again that changed between the copies of a file and of its `.info`, which records its hash.
    fn copy_torn_uploads_again(&mut self) -> anyhow::Result<()> {
        for _ in 0..TRIES {
            let hashes = self.others.iter().map(|entry| (entry.path.as_str(), entry.xxh3.as_str())).collect();
            let is_torn = |original: &String| self.is_torn(original, &hashes);
            let torn: Vec<String> = self.originals().into_iter().filter(is_torn).collect();
            if torn.is_empty() {
                break;
            }
            for original in torn {
                for path in [info_of(&original), original] {
                    self.others.retain(|entry| entry.path != path);
                    match fs::remove_file(self.target.join(&path)) {
                        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
                        _ => self.copy_if_exists(Path::new(&path))?,
                    }
                }
            }
        }
        Ok(())
    }

    /// Uploads whose file or `.info` is copied.
    fn originals(&self) -> BTreeSet<String> {
        let paths = self.others.iter().map(|entry| entry.path.as_str());
        let uploads = paths.filter(|path| is_upload(Path::new("blobs"), Path::new(path)));
        uploads.map(|path| path.strip_suffix(".info").unwrap_or(path).to_owned()).collect()
    }

    /// Whether the copied file does not match the hash in the copied `.info`. `hashes`: of the copies, by path.
    fn is_torn(&self, original: &str, hashes: &HashMap<&str, &str>) -> bool {
        let info = fs::read(self.target.join(info_of(original))).ok();
        let info = info.and_then(|text| serde_json::from_slice::<Info>(&text).ok());
        info.is_none_or(|info| hashes.get(original) != Some(&info.hash.as_str()))
    }

    fn copy_if_exists(&mut self, name: &Path) -> anyhow::Result<()> {
        let place = self.target.join(name);
        make_parent(&place).with_context(|| format!("cannot make the folder of {}", place.display()))?;
        match copy_bytes(&self.data.join(name), &place, name, u64::MAX) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => {
                self.others.push(done.with_context(|| format!("cannot copy {}", self.data.join(name).display()))?);
                Ok(())
            }
        }
    }

    /// Copies the control database. Returns its kind for the manifest.
    fn control(&mut self, source: &dyn Source) -> anyhow::Result<&'static str> {
        let name = Path::new("control.sqlite");
        if !source.copy_control(&self.target.join(name)).context("cannot copy the control database")? {
            return Ok(manifest::POSTGRESQL);
        }
        self.add_written_file(name)?;
        Ok(manifest::SQLITE)
    }

    fn catalog(&mut self) -> anyhow::Result<()> {
        self.add_written_file(Path::new(CATALOG))
    }

    /// Adds a file that SQLite wrote to the copy.
    fn add_written_file(&mut self, name: &Path) -> anyhow::Result<()> {
        let place = self.target.join(name);
        let read = || -> io::Result<Entry> {
            let file = File::open(&place)?;
            file.sync_all()?;
            Entry::of(name, file)
        };
        self.others.push(read().with_context(|| format!("cannot read {}", place.display()))?);
        Ok(())
    }

    fn segment(&mut self, segment: &DurableSegment) -> anyhow::Result<()> {
        let name = segment.path.file_name().context("a segment has a name")?;
        let name = Path::new("journal").join(name);
        let place = self.target.join(&name);
        let copied = make_parent(&place).and_then(|()| copy_bytes(&segment.path, &place, &name, segment.bytes));
        self.others.push(copied.with_context(|| format!("cannot copy {}", segment.path.display()))?);
        Ok(())
    }
}

/// Creates the target directory, readable only to its owner. An error if it is not empty.
fn make_empty(data: &Path, target: &Path) -> anyhow::Result<()> {
    let data = fs::canonicalize(data).with_context(|| format!("cannot find {}", data.display()))?;
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(target)
        .with_context(|| format!("cannot make {}", target.display()))?;
    let target = fs::canonicalize(target).with_context(|| format!("cannot find {}", target.display()))?;
    ensure!(!target.starts_with(&data), "{} lies in the data directory itself", target.display());
    let mut entries = fs::read_dir(&target).with_context(|| format!("cannot list {}", target.display()))?;
    ensure!(entries.next().is_none(), "{} is not empty", target.display());
    Ok(())
}

/// Creates the parent folders of a file, readable only to their owner.
pub fn make_parent(place: &Path) -> io::Result<()> {
    let folder = place.parent().ok_or_else(|| io::Error::other("a file lies in a folder"))?;
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Copies the first `bytes_max` bytes of a file with its permissions, and syncs the copy.
pub fn copy_bytes(from: &Path, to: &Path, name: &Path, bytes_max: u64) -> io::Result<Entry> {
    let source = File::open(from)?;
    let mut copy = File::create_new(to)?;
    copy.set_permissions(source.metadata()?.permissions())?;
    let (bytes, xxh3) = copy_hashed(source.take(bytes_max), &mut copy)?;
    copy.sync_all()?;
    Ok(Entry::new(name, bytes, xxh3))
}

/// Syncs every folder below a directory, which makes the names of files durable.
pub fn sync_folders(root: &Path) -> anyhow::Result<()> {
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let sync = || -> io::Result<Vec<PathBuf>> {
            let mut inner = Vec::new();
            for entry in fs::read_dir(&folder)? {
                let entry = entry?;
                if entry.file_type()?.is_dir() {
                    inner.push(entry.path());
                }
            }
            File::open(&folder)?.sync_all()?;
            Ok(inner)
        };
        folders.extend(sync().with_context(|| format!("cannot sync {}", folder.display()))?);
    }
    Ok(())
}

fn info_of(original: &str) -> String {
    format!("{original}.info")
}

fn is_hidden(name: &Path) -> bool {
    name.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}
