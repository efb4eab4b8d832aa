//! The store of one source: its paths lie below a prefix of their own, and its errors name table and object.
//!
//! The prefix keeps apart what DataFusion's metadata cache, which knows paths alone, must not mix up: objects of one
//! name in two buckets, or in one bucket under two credentials.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

use super::wire::{Refusal, refusal};
use crate::source::files::Place;

/// Reads the objects of a source; it writes and lists nothing.
#[derive(Debug)]
pub(crate) struct NamedStore {
    /// The provider's client.
    pub(crate) inner: Arc<dyn ObjectStore>,
    /// The first segment of every path.
    pub(crate) prefix: String,
    /// The key of the source's root, without slashes at its ends.
    pub(crate) root: String,
    /// How errors name what they are about.
    pub(crate) place: Arc<Place>,
}

impl NamedStore {
    /// A key of the store as this source's path.
    pub(crate) fn outside(&self, key: &Path) -> Path {
        Path::from_iter([self.prefix.as_str()]).parts().chain(key.parts()).collect()
    }

    fn inside(&self, path: &Path) -> Path {
        path.parts().skip(1).collect()
    }

    fn error(&self, path: &Path, error: object_store::Error) -> object_store::Error {
        let key = self.inside(path);
        let key = key.as_ref();
        let relative = key.strip_prefix(&self.root).unwrap_or(key).trim_start_matches('/');
        let named = self.place.unavailable(relative, &format!("cannot be read: {}", reason(&error)));
        object_store::Error::Generic { store: "source", source: Box::new(named) }
    }

    fn read_only(operation: &str) -> object_store::Error {
        object_store::Error::NotImplemented { operation: operation.to_owned(), implementer: "a source".to_owned() }
    }
}

/// Why a store did not give what it was asked for, in one short line.
pub(crate) fn reason(error: &object_store::Error) -> String {
    if let Some(refusal) = refusal(error) {
        return refusal.to_string();
    }
    match error {
        object_store::Error::NotFound { .. } => {
            Refusal::Status { status: 404, code: None, region: None, retry_after: None }.to_string()
        }
        object_store::Error::InvalidPath { .. } => {
            "it holds a key with an empty or relative segment (`//`, `/./`), which cannot be read; rename it".to_owned()
        }
        object_store::Error::Precondition { .. } => "it changed while it was read; try again".to_owned(),
        _ => "the store's answer is not understood, or its settings are not right; check `store`".to_owned(),
    }
}

impl fmt::Display for NamedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.prefix)
    }
}

#[async_trait]
impl ObjectStore for NamedStore {
    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let got = self.inner.get_opts(&self.inside(location), options).await;
        let mut got = got.map_err(|error| self.error(location, error))?;
        got.meta.location = location.clone();
        if let GetResultPayload::Stream(stream) = got.payload {
            let this = Self {
                inner: Arc::clone(&self.inner),
                prefix: self.prefix.clone(),
                root: self.root.clone(),
                place: Arc::clone(&self.place),
            };
            let path = location.clone();
            got.payload = GetResultPayload::Stream(stream.map_err(move |error| this.error(&path, error)).boxed());
        }
        Ok(got)
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<bytes::Bytes>> {
        let got = self.inner.get_ranges(&self.inside(location), ranges).await;
        got.map_err(|error| self.error(location, error))
    }

    async fn put_opts(&self, _: &Path, _: PutPayload, _: PutOptions) -> Result<PutResult> {
        Err(Self::read_only("put"))
    }

    async fn put_multipart_opts(&self, _: &Path, _: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        Err(Self::read_only("put"))
    }

    fn delete_stream(&self, _: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        futures::stream::once(async { Err(Self::read_only("delete")) }).boxed()
    }

    fn list(&self, _: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        futures::stream::once(async { Err(Self::read_only("list")) }).boxed()
    }

    async fn list_with_delimiter(&self, _: Option<&Path>) -> Result<ListResult> {
        Err(Self::read_only("list"))
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> Result<()> {
        Err(Self::read_only("copy"))
    }
}
