//! A place in a store → its data files, by the same rules as in a folder.
//!
//! A key without a wildcard and without a slash at its end is first asked for itself, then listed as a folder, always
//! with its slash: `data` never takes in `data-old/`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use datafusion::catalog::Session;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::object_store::path::Path;
use datafusion::object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};
use futures::TryStreamExt;

use super::listing::{DataFile, Listing, WILD, is_hidden, matches, shown_root};
use super::place::Place;
use crate::error::Error;
use crate::source::Source;
use crate::source::store::named::{NamedStore, reason};
use crate::source::store::{Patience, Provider, Remote, client, wire};

/// Tells the stores of this process apart.
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// What a source in a store is read with.
pub(crate) type Opened = (Listing, Arc<dyn ObjectStore>, ObjectStoreUrl);

/// Builds the source's own client, lists, and registers the client with the session under a URL of its own.
///
/// # Errors
/// `source_unavailable` with the store's reason.
pub(crate) async fn list(
    source: &Source,
    remote: &Remote,
    patience: Patience,
    session: &dyn Session,
) -> Result<Opened, Error> {
    let wanted = Wanted::new(&remote.key);
    let shown = if wanted.pattern.is_some() { shown_root(&source.shown_uri()) } else { source.shown_uri() };
    let place = Arc::new(Place { table: source.name.clone(), shown, root: std::path::PathBuf::new() });
    let unavailable =
        |error: &datafusion::object_store::Error| place.unavailable("", &format!("cannot be read: {}", reason(error)));

    let (store, found) = if remote.provider == Provider::Http {
        web(source, remote, &wanted, patience, &place).await?
    } else {
        let mut store = client::build(remote, &source.store, patience, None)
            .map_err(|error| unavailable(&error).with_cause(error))?;
        let mut found = wanted.find(&store).await;
        if let Err(error) = &found
            && !client::has_region(&source.store)
            && let Some(region) = wire::refusal(error).as_ref().and_then(wire::Refusal::other_region)
        {
            store = client::build(remote, &source.store, patience, Some(region))
                .map_err(|error| unavailable(&error).with_cause(error))?;
            found = wanted.find(&store).await;
        }
        let found = found.map_err(|error| unavailable(&error).with_cause(error))?;
        (store, found)
    };

    let prefix = format!("source-{}", NEXT.fetch_add(1, Ordering::Relaxed));
    let url = ObjectStoreUrl::parse(format!("{prefix}://store"))
        .map_err(|error| place.unavailable("", "cannot be given a name in the engine").with_cause(error))?;
    let (objects, single) = found;
    let root = if single { remote.key.clone() } else { wanted.root.clone() };
    let named = NamedStore { inner: store, prefix, root, place: Arc::clone(&place) };

    let (mut files, mut empty) = (Vec::new(), 0usize);
    for mut meta in objects {
        let Some(relative) = (if single { Some("") } else { wanted.below(&meta) }) else { continue };
        if !single && !wanted.takes(relative) {
            continue;
        }
        if meta.size == 0 {
            empty += 1;
            continue;
        }
        let relative = relative.to_owned();
        meta.location = named.outside(&meta.location);
        files.push(DataFile { relative, meta });
    }
    if files.is_empty() {
        return Err(place.unavailable(
            "",
            match (single, empty, &wanted.pattern) {
                (true, ..) => "is an empty file",
                (_, 0, Some(_)) => {
                    "has no data file that matches the pattern (names starting with `.` or `_` are left out)"
                }
                (_, 0, None) => "does not exist or holds no data file (names starting with `.` or `_` are left out)",
                _ => "holds only empty files",
            },
        ));
    }
    files.sort_by(|a, b| a.relative.cmp(&b.relative));
    let store: Arc<dyn ObjectStore> = Arc::new(named);
    session.runtime_env().register_object_store(url.as_ref(), Arc::clone(&store));
    Ok((Listing { place, files, single }, store, url))
}

/// Objects, and whether the location named one of them.
type Found = (Vec<ObjectMeta>, bool);

struct Wanted<'a> {
    key: &'a str,
    /// The part of the key that has no wildcard, without slashes at its ends.
    root: String,
    pattern: Option<Vec<String>>,
}

impl<'a> Wanted<'a> {
    fn new(key: &'a str) -> Self {
        let segments: Vec<&str> = key.trim_end_matches('/').split('/').collect();
        let wild = segments.iter().position(|segment| segment.contains(WILD));
        let root = segments[..wild.unwrap_or(segments.len())].join("/");
        let pattern = wild.map(|at| segments[at..].iter().map(|segment| (*segment).to_owned()).collect());
        Self { key, root, pattern }
    }

    async fn find(&self, store: &Arc<dyn ObjectStore>) -> datafusion::object_store::Result<Found> {
        let parse =
            |key: &str| Path::parse(key).map_err(|source| datafusion::object_store::Error::InvalidPath { source });
        let mut denied = None;
        if self.pattern.is_none() && !self.key.is_empty() && !self.key.ends_with('/') {
            match store.head(&parse(self.key)?).await {
                Ok(meta) => return Ok((vec![meta], true)),
                Err(error) if wire::refusal(&error).is_some_and(|refusal| refusal.is_missing()) => {}
                // Such an answer has no body; the listing's error says more.
                Err(error) => denied = Some(error),
            }
            if let Some(error) = &denied
                && wire::refusal(error).is_some_and(|refusal| !matches!(refusal, wire::Refusal::Status { .. }))
            {
                return Err(denied
                    .take()
                    .unwrap_or(datafusion::object_store::Error::NotSupported { source: "no answer".into() }));
            }
        }
        let root = parse(&self.root)?;
        let objects: Vec<ObjectMeta> = store.list(Some(&root)).try_collect().await?;
        match (denied, objects.is_empty()) {
            (Some(error), true) => return Err(error),
            _ if self.pattern.is_some() => {
                // A key that is really there wins over its reading as a pattern.
                if let Some(meta) = objects.iter().find(|meta| meta.location.as_ref() == self.key) {
                    return Ok((vec![meta.clone()], true));
                }
            }
            _ => {}
        }
        Ok((objects, false))
    }

    /// The path below the root.
    fn below<'m>(&self, meta: &'m ObjectMeta) -> Option<&'m str> {
        let key = meta.location.as_ref();
        if self.root.is_empty() { Some(key) } else { key.strip_prefix(&self.root)?.strip_prefix('/') }
    }

    fn takes(&self, relative: &str) -> bool {
        let pattern = self.pattern.as_deref();
        !relative.is_empty()
            && !relative.split('/').any(|segment| is_hidden(segment, pattern))
            && matches(relative, pattern)
    }
}

#[cfg(feature = "http")]
async fn web(
    source: &Source,
    remote: &Remote,
    wanted: &Wanted<'_>,
    patience: Patience,
    place: &Arc<Place>,
) -> Result<(Arc<dyn ObjectStore>, Found), Error> {
    use crate::source::store::web::Web;
    if remote.key.is_empty() || remote.key.ends_with('/') {
        return Err(place.unavailable("", "is a folder of a web server, which cannot be listed; name one file"));
    }
    if wanted.pattern.as_ref().is_some_and(|pattern| pattern.iter().any(|segment| segment.contains('*'))) {
        return Err(place.unavailable("", "is a pattern, but a web server cannot be listed; name one file"));
    }
    let location = Path::parse(&remote.key)
        .map_err(|_| place.unavailable("", "has an empty or relative segment in its path; name the file's own path"))?;
    let opened = Web::open(&remote.bucket, location, &source.store, patience).await;
    let web = opened.map_err(|error| {
        let too_large = matches!(&error, datafusion::object_store::Error::Generic { source, .. }
            if source.is::<crate::source::store::web::TooLarge>());
        let why = if too_large { crate::source::store::web::TooLarge.to_string() } else { reason(&error) };
        place.unavailable("", &format!("cannot be read: {why}")).with_cause(error)
    })?;
    let meta = web.meta.clone();
    Ok((Arc::new(web), (vec![meta], true)))
}

#[cfg(not(feature = "http"))]
async fn web(
    _: &Source,
    _: &Remote,
    _: &Wanted<'_>,
    _: Patience,
    place: &Arc<Place>,
) -> Result<(Arc<dyn ObjectStore>, Found), Error> {
    Err(place.unavailable("", "cannot be read: this build has no client for it; build with the feature `http`"))
}
