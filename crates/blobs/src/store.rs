//! The interface.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, mpsc};

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStore, ObjectStoreExt, PutPayload};
use tidewatch_limits::{BLOB_CALLS_MAX, BLOB_PART_BYTES};
use tokio::runtime::{Builder, Runtime};

use crate::error::io_error;
use crate::folder::{Folder, Stores};

/// A store of blobs.
///
/// Names are paths: parts between `/`, without `.`, `..` and control characters. A name does not end with `#` and digits.
pub struct BlobStore {
    backend: Backend,
    /// Object stores are asynchronous. The calls of this interface block, so that they may be made where no runtime is.
    runtime: Option<Runtime>,
}

enum Backend {
    Folder(Folder),
    Memory(Stores),
}

/// A blob in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob {
    /// Its name.
    pub name: String,
    /// Its length in bytes.
    pub bytes: u64,
}

impl BlobStore {
    /// A store in a folder, which the first write creates. A blob is the file at its name.
    pub fn in_folder(root: impl Into<PathBuf>) -> io::Result<BlobStore> {
        BlobStore::over(Backend::Folder(Folder::new(root.into())))
    }

    /// A store in memory.
    pub fn in_memory() -> io::Result<BlobStore> {
        let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        BlobStore::over(Backend::Memory(Stores { durable: store.clone(), unsynced: store }))
    }

    fn over(backend: Backend) -> io::Result<BlobStore> {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(1).max_blocking_threads(BLOB_CALLS_MAX).thread_name("blobs").enable_all();
        Ok(BlobStore { backend, runtime: Some(builder.build()?) })
    }

    fn stores(&self, is_write: bool) -> io::Result<Option<Stores>> {
        match &self.backend {
            Backend::Folder(folder) => folder.stores(is_write),
            Backend::Memory(stores) => Ok(Some(stores.clone())),
        }
    }

    fn writable(&self) -> io::Result<Stores> {
        self.stores(true)?.ok_or_else(|| io::Error::other("the store of blobs cannot be created"))
    }

    /// Runs a call on the runtime, and blocks until it is done.
    fn wait<T: Send + 'static>(
        &self,
        call: impl Future<Output = Result<T, object_store::Error>> + Send + 'static,
    ) -> io::Result<T> {
        let runtime = self.runtime.as_ref().ok_or_else(|| io::Error::other("the store of blobs is closed"))?;
        let (sender, receiver) = mpsc::sync_channel(1);
        runtime.spawn(async move { sender.send(call.await) });
        receiver.recv().map_err(|_| io::Error::other("the store of blobs panicked"))?.map_err(io_error)
    }

    /// Stores a blob, which replaces the one of this name. It is durable when the call returns.
    pub fn put(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let (store, path) = (self.writable()?.durable, path(name)?);
        if bytes.len() <= BLOB_PART_BYTES {
            let payload = PutPayload::from(Bytes::copy_from_slice(bytes));
            return self.wait(async move { store.put(&path, payload).await.map(drop) });
        }
        let mut upload = self.wait(async move { store.put_multipart(&path).await })?;
        for part in bytes.chunks(BLOB_PART_BYTES) {
            upload = self.part(upload, Bytes::copy_from_slice(part))?;
        }
        self.wait(async move { upload.complete().await.map(drop) })
    }

    /// Adds a part; a failed upload leaves nothing.
    fn part(&self, mut upload: Box<dyn MultipartUpload>, part: Bytes) -> io::Result<Box<dyn MultipartUpload>> {
        self.wait(async move {
            match upload.put_part(part.into()).await {
                Ok(()) => Ok(upload),
                Err(error) => {
                    // The error of the part is the one to report.
                    let _ = upload.abort().await;
                    Err(error)
                }
            }
        })
    }

    /// Stores a blob of little worth: after a power cut it may have its old content, or none.
    pub fn put_unsynced(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let (store, path) = (self.writable()?.unsynced, path(name)?);
        let payload = PutPayload::from(Bytes::copy_from_slice(bytes));
        self.wait(async move { store.put(&path, payload).await.map(drop) })
    }

    /// Reads a blob. `None`: it does not exist.
    pub fn get(&self, name: &str) -> io::Result<Option<Bytes>> {
        let Some(Stores { durable: store, .. }) = self.stores(false)? else { return Ok(None) };
        let path = path(name)?;
        if_exists(self.wait(async move { store.get(&path).await?.bytes().await }))
    }

    /// Reads several blobs, concurrently. `None` for those that do not exist.
    pub fn get_all(&self, names: Vec<String>) -> io::Result<Vec<Option<Bytes>>> {
        let Some(Stores { durable: store, .. }) = self.stores(false)? else { return Ok(vec![None; names.len()]) };
        let paths: Vec<Path> = names.iter().map(|name| path(name)).collect::<io::Result<_>>()?;
        self.wait(async move {
            let read = |path: Path| {
                let store = store.clone();
                async move {
                    match store.get(&path).await {
                        Ok(found) => found.bytes().await.map(Some),
                        Err(object_store::Error::NotFound { .. }) => Ok(None),
                        Err(error) => Err(error),
                    }
                }
            };
            stream::iter(paths).map(read).buffered(BLOB_CALLS_MAX).try_collect().await
        })
    }

    /// Reads a blob in parts, in order. Returns false when it does not exist.
    pub fn read(&self, name: &str, mut each: impl FnMut(&[u8])) -> io::Result<bool> {
        let Some(length) = self.len(name)? else { return Ok(false) };
        let Some(Stores { durable: store, .. }) = self.stores(false)? else { return Ok(false) };
        let path = path(name)?;
        let mut at = 0;
        while at < length {
            let range = at..length.min(at + BLOB_PART_BYTES as u64);
            at = range.end;
            let (store, path) = (store.clone(), path.clone());
            each(&self.wait(async move { store.get_range(&path, range).await })?);
        }
        Ok(true)
    }

    /// Length of a blob in bytes. `None`: it does not exist.
    pub fn len(&self, name: &str) -> io::Result<Option<u64>> {
        let Some(Stores { durable: store, .. }) = self.stores(false)? else { return Ok(None) };
        let path = path(name)?;
        if_exists(self.wait(async move { store.head(&path).await.map(|meta| meta.size) }))
    }

    /// The blobs directly in a folder of names, by name.
    pub fn list(&self, folder: &str) -> io::Result<Vec<Blob>> {
        let Some(Stores { durable: store, .. }) = self.stores(false)? else { return Ok(Vec::new()) };
        let path = path(folder)?;
        let found = self.wait(async move { store.list_with_delimiter(Some(&path)).await })?;
        let blob = |meta: object_store::ObjectMeta| Blob { name: meta.location.to_string(), bytes: meta.size };
        let mut found: Vec<Blob> = found.objects.into_iter().map(blob).collect();
        found.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(found)
    }

    /// Deletes a blob. Returns whether it existed. The deletion is durable when the call returns.
    pub fn delete(&self, name: &str) -> io::Result<bool> {
        let Some(Stores { durable: store, .. }) = self.stores(false)? else { return Ok(false) };
        let path = path(name)?;
        // Object stores of clouds do not say whether there was one.
        let existed = self.len(name)?.is_some();
        let deleted = if_exists(self.wait(async move { store.delete(&path).await }))?.is_some();
        // Also when it did not exist: an earlier call may have failed between the deletion and the sync.
        if let Backend::Folder(folder) = &self.backend {
            folder.sync_above(name)?;
        }
        Ok(deleted && existed)
    }

    /// Removes the writes that a crash or a full disk left incomplete, and returns their number. No write may run.
    pub fn remove_pending(&self) -> io::Result<u64> {
        match &self.backend {
            Backend::Folder(folder) => folder.remove_pending(),
            Backend::Memory(_) => Ok(0),
        }
    }

    /// Deletes every blob below a folder of names. The deletion is durable when the call returns.
    pub fn delete_below(&self, folder: &str) -> io::Result<()> {
        let Some(Stores { durable: store, .. }) = self.stores(false)? else { return Ok(()) };
        let below = path(folder)?;
        self.wait(async move {
            let names: Vec<_> = store.list(Some(&below)).map_ok(|meta| meta.location).try_collect().await?;
            let deleted = store.delete_stream(stream::iter(names.into_iter().map(Ok)).boxed());
            // One that another call deleted is deleted.
            let ignored = |error| match error {
                object_store::Error::NotFound { .. } => Ok(Path::default()),
                other => Err(other),
            };
            deleted.or_else(|error| async move { ignored(error) }).try_for_each(|_| async { Ok(()) }).await
        })?;
        match &self.backend {
            Backend::Folder(root) => root.remove(folder),
            Backend::Memory(_) => Ok(()),
        }
    }
}

impl Drop for BlobStore {
    fn drop(&mut self) {
        // It may be dropped on an async thread, which must not wait.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn path(name: &str) -> io::Result<Path> {
    Path::parse(name).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))
}

fn if_exists<T>(done: io::Result<T>) -> io::Result<Option<T>> {
    match done {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
